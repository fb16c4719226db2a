/**
 * An order janitor over the paper venue on real sockets: it brings what nobody looks after back to use, and tells of what it may not touch.
 */
import { afterEach, expect, test } from 'vitest'
import type { Engine } from '../../src/daemon/engine.ts'
import type { Event } from '../../src/domain/event.ts'
import type { OperatorCommand } from '../../src/operator/commands/index.ts'
import { usd } from '../../src/protocol/units.ts'
import { collateralTokenOf, defineStrategy, type Strategy, z } from '../../src/strategy/strategy.ts'
import { ann, janitorWith, opening, restingAt } from '../support/janitor.ts'
import { ethSymbol, type KindsBench, kindsBench, signer } from '../support/kinds.ts'
import { loadedOf } from '../support/loaded.ts'
import { testTrader } from '../support/trader.ts'

let bench: KindsBench | undefined
let running: Engine | undefined
afterEach(async () => {
  running?.abort()
  await bench?.close()
  bench = undefined
})

/** Rests one short entry far from the price, once, and looks after it. */
const rester = defineStrategy({
  kind: 'rester',
  description: 'Rests one entry.',
  params: z.strictObject({}),
  memory: { version: 1, schema: z.strictObject({ placed: z.boolean() }), first: { placed: false } },
  needs: (_params, symbols) => ({ symbols }),
  decide(view, { placed }) {
    const market = view.market(ethSymbol)
    if (placed || market === undefined) return { decisions: [], memory: { placed } }
    const decision = {
      kind: 'increase' as const,
      marketToken: market.market.marketToken,
      direction: 'short' as const,
      sizeDeltaUsd: usd(200),
      leverageBps: 50_000,
      collateralToken: collateralTokenOf(market, 'short'),
      orderType: 'limit' as const,
      triggerPrice: usd(2_500),
      reason: 'once',
    }
    return { decisions: [decision], memory: { placed: true } }
  },
}) as Strategy

const untidy = (events: readonly Event[]) =>
  events.flatMap((event) => (event.type === 'order.untidy' ? [`${event.cause} ${event.isOver}`] : []))

test('an entry of nobody is moved to the distance, one that a strategy looks after is told of, and the exits stay', {
  timeout: 240_000,
}, async () => {
  bench = await kindsBench({ path: [[0, 1_800]] })
  const { clock, journal } = bench
  const janitor = janitorWith({
    ...{ unreachableBps: 1_500, onUnreachable: 'edit', entryDistanceBps: 300 },
    onOversized: 'edit',
  })
  const keeper = loadedOf(rester, 'keeper', [ethSymbol])
  const { trader, events, codes } = testTrader({ ...bench, signer, strategies: [janitor, keeper] })
  running = trader
  await trader.start()
  const ask = async (command: OperatorCommand) => {
    expect(await trader.operate(command, ann)).toMatchObject({ ok: true })
    await clock.advance(10_000)
  }
  await ask({ ...opening, id: 'ope-1', direction: 'long', limit: '1300', far: true })
  await clock.advance(100_000)
  expect(await restingAt(bench)).toEqual(['long 3 1746 500', 'short 3 2500 200'])
  expect(untidy(events)).toEqual(['unreachable false'])
  await clock.advance(100_000)
  const edits = () => journal.recentIntents().filter(({ intent }) => intent.kind === 'edit')
  expect(edits().map(({ intent, closing }) => [intent.strategy, closing?.outcome])).toEqual([
    ['janitor', 'EXECUTED'],
  ])
  expect([untidy(events), codes()]).toEqual([['unreachable false'], []])
})
