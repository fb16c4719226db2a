/** The process ends before and after every record that is written while an unwind and a kill are under way. */
import { expect, test } from 'vitest'
import type { OperatorCommand } from '../../src/operator/commands/index.ts'
import { applyFaults } from '../../src/paper/venue/venueFaults.ts'
import { usd } from '../../src/protocol/units.ts'
import type { LoadedStrategy } from '../../src/strategy/files/load.ts'
import { collateralTokenOf, defineStrategy, type StrategyView, z } from '../../src/strategy/strategy.ts'
import { loadedOf } from '../support/loaded.ts'
import { mortalTrader } from '../support/mortalTrader.ts'
import { testSigner } from '../support/trader.ts'
import { settle, venueBench } from '../support/venue.ts'

const symbol = 'ETH/USD [WETH-USDC]'

/** Opens 500 dollars long while it is told to. */
function opener(isWanted: () => boolean): LoadedStrategy {
  const strategy = defineStrategy({
    kind: 'opener',
    description: 'Opens what it is told to.',
    params: z.strictObject({}),
    needs: () => ({ symbols: [symbol] }),
    decide(view: StrategyView) {
      const market = view.market(symbol)
      if (market === undefined || !isWanted()) return []
      const { marketToken } = market.market
      const collateralToken = collateralTokenOf(market, 'short')
      const base = {
        kind: 'increase',
        marketToken,
        direction: 'long',
        leverageBps: 50_000,
        collateralToken,
      } as const
      return [{ ...base, sizeDeltaUsd: usd(500), reason: 'it is told to' }]
    },
  })
  return loadedOf(strategy, 'opener', [symbol], { cadenceMs: 1_000 })
}

/** Tells the story with an end of the process at one boundary of it; gives how many there were, and what came of it. */
async function storyWith(what: 'unwind' | 'kill', diesAt: number) {
  const bench = venueBench({
    settings: { orderDeadlineSeconds: 60, keeperJitterMs: 0 },
    settled: () => settle(10),
  })
  const { clock, api, venue } = bench
  let isWanted = false
  const daemon = mortalTrader(diesAt, clock, () => ({ ...bench, strategies: [opener(() => isWanted)] }))
  const { journal } = daemon
  /** He asks until he is answered. */
  const ask = (command: OperatorCommand) => daemon.ask(command, () => true)
  const opened = () => journal.recentIntents({ strategy: 'opener' })

  await daemon.start()
  await clock.advance(1_000)
  applyFaults(venue.faults, { keeperExtraDelayMs: what === 'unwind' ? 3_000 : 0 })
  isWanted = true
  await daemon.goOn(() => opened().length === 1)
  isWanted = false
  if (what === 'kill') await daemon.goOn(() => opened()[0]?.closing !== undefined)
  daemon.count()
  if (what === 'unwind') {
    await ask({ type: 'unwind', intentId: opened()[0]?.intent.intentId ?? '', reason: 'not wanted' })
    applyFaults(venue.faults, { keeperExtraDelayMs: 0 })
    await daemon.goOn(() => {
      const { state, unwinds } = daemon.now().status()
      return state === 'running' && unwinds.length === 0
    })
  } else {
    await ask({ type: 'kill', close: true })
    await daemon.goOn(() => daemon.now().status().kill?.outcome === 'done')
  }
  daemon.abort()
  await clock.advance(1_000)
  const positions = await api.getPositions({ account: testSigner.address })
  const tasks = [...(journal.account().tasks?.values() ?? [])]
  return {
    boundaries: daemon.boundaries(),
    held: positions.value.length,
    sent: venue.record().length,
    tasks: tasks.map(({ taskKind, end }) => `${taskKind} ${end?.outcome}`),
    made: journal
      .recentIntents({ strategy: '@operator' })
      .toReversed()
      .map(
        ({ intent, closing }) =>
          `${intent.decisionKey.replace(opened()[0]?.intent.intentId ?? '', 'ID')} ${closing?.outcome}`,
      ),
  }
}

test.each([
  ['unwind', 'unwind flat', 'unwind:ID'],
  ['kill', 'kill done', 'kill:'],
] as const)(
  'a crash between any two steps of a task of the kind %s neither forgets what is to be done nor does it twice',
  { timeout: 240_000 },
  async (what, ended, key) => {
    const whole = await storyWith(what, 0)
    expect(whole).toMatchObject({ held: 0, tasks: [ended], made: [expect.stringContaining(key)] })
    expect(whole.boundaries).toBeGreaterThan(20)
    for (let at = 1; at <= whole.boundaries; at += 1) {
      const { held, tasks, made } = await storyWith(what, at)
      const executed = made.filter((each) => each.endsWith(' EXECUTED'))
      expect({ at, held, tasks, executed }).toEqual({
        at,
        held: 0,
        tasks: [ended],
        executed: [expect.stringContaining(key)],
      })
      expect(new Set(made.map((each) => each.split(' ')[0])).size).toBe(made.length)
    }
  },
)
