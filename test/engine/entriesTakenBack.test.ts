/** Entries that rest when a closing of the file comes near, over real sockets to the paper venue: they are cancelled, and laid anew after it. */
import { afterEach, expect, test } from 'vitest'
import type { ClosingMoment } from '../../src/domain/account/closingTimes.ts'
import { usualMoves, usualRange } from '../../src/domain/order/exitPlan.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { usd } from '../../src/protocol/units.ts'
import { collateralTokenOf, defineStrategy, type Strategy, z } from '../../src/strategy/strategy.ts'
import { engineOver } from '../support/engine.ts'
import { ann, opening, restingAt } from '../support/janitor.ts'
import { ethSymbol, type KindsBench, kindsBench } from '../support/kinds.ts'
import { loadedOf } from '../support/loaded.ts'

let bench: KindsBench | undefined
let engine: Engine | undefined
afterEach(async () => {
  engine?.abort()
  await bench?.close()
})

/** Opens a long, and keeps a limit below the price and a stop-market above it at rest. */
const layer = defineStrategy({
  kind: 'layer',
  description: 'Keeps entries at rest.',
  params: z.strictObject({}),
  needs: (_params, symbols) => ({ symbols }),
  decide(view) {
    const market = view.market(ethSymbol)
    if (market === undefined) return []
    const entry = {
      kind: 'increase' as const,
      marketToken: market.market.marketToken,
      direction: 'long' as const,
      sizeDeltaUsd: usd(200),
      leverageBps: 20_000,
      collateralToken: collateralTokenOf(market, 'short'),
      reason: 'laid',
    }
    const isUnderWay = view.openIntents.some(({ onlyExitsRest }) => !onlyExitsRest)
    if (view.ownPositions(ethSymbol).length === 0) return isUnderWay ? [] : [entry]
    const rests = (type: string) =>
      view.openIntents.some(({ kind, orderType }) => kind === 'increase' && orderType === type)
    return [
      ...(rests('limit')
        ? []
        : [{ ...entry, orderType: 'limit' as const, triggerPrice: usd(1_900), tpsl: [] }]),
      ...(rests('stop-market')
        ? []
        : [{ ...entry, orderType: 'stop-market' as const, triggerPrice: usd(2_300), tpsl: [] }]),
    ]
  },
}) as Strategy

/** The wall clock of UTC so many minutes from now. */
function momentIn(nowMs: number, minutes: number): ClosingMoment {
  const [date = '', time = ''] = new Date(nowMs + minutes * 60_000).toISOString().split('T')
  return { date, minute: Number(time.slice(0, 2)) * 60 + Number(time.slice(3, 5)) }
}

test("an instance's entries that rest are cancelled once when its closing comes near, its exits and a hand's entry stay, and they are laid anew after it", {
  timeout: 240_000,
}, async () => {
  bench = await kindsBench({ path: [[0, 2_000]] })
  const { clock, journal } = bench
  const closings = {
    timeZone: 'UTC',
    spans: [{ from: momentIn(clock.now(), 4), to: momentIn(clock.now(), 6) }],
    beforeMs: 120_000,
    afterMs: 60_000,
  }
  const exits = { takeProfits: [], ...usualMoves, range: usualRange, stopLoss: { bps: 2_000 } }
  const strategy = loadedOf(layer, 'layer', [ethSymbol], { cadenceMs: 2_000, exits, protect: { closings } })
  const at = engineOver(bench, { strategies: [strategy] })
  engine = at.engine
  await engine.start()
  expect(
    await engine.operate({ ...opening, id: 'by-hand', direction: 'long', limit: '1500' }, ann),
  ).toMatchObject({
    ok: true,
  })
  await clock.advance(60_000)
  const before = await restingAt(bench)
  expect(before.filter((row) => !row.startsWith('long 6'))).toEqual([
    'long 3 1500 500',
    'long 3 1900 200',
    'long 8 2300 200',
  ])
  const cancels = () =>
    journal
      .recentIntents({ strategy: 'layer' })
      .filter(({ intent: { decision } }) => decision.reason.startsWith('By its file '))
  expect(cancels()).toEqual([])

  await clock.advance(90_000)
  const within = await restingAt(bench)
  expect(within.filter((row) => !row.startsWith('long 6'))).toEqual(['long 3 1500 500'])
  expect(within.filter((row) => /^long 6 \S+ 200$/.test(row)).length).toBeGreaterThan(0)
  const [first, ...more] = cancels()
  expect(more).toEqual([])
  expect(first?.intent.terms.cancelOrderKeys).toHaveLength(2)
  expect(first?.intent.decision.reason).toMatch(
    /^By its file its markets close in \d+ s: what waits to add is cancelled\.$/,
  )

  await clock.advance(150_000)
  expect(at.codes()).toContain('AROUND_CLOSING')
  const late = await restingAt(bench)
  expect(late.filter((row) => !row.startsWith('long 6'))).toEqual(['long 3 1500 500'])
  await clock.advance(150_000)
  const after = await restingAt(bench)
  expect(after.filter((row) => !row.startsWith('long 6'))).toEqual([
    'long 3 1500 500',
    'long 3 1900 200',
    'long 8 2300 200',
  ])
})
