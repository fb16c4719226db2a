/** `limits.maxDailyLossUsd` of a strategy, over the paper venue: what its open parts lost in the day counts, and over restarts. */
import { afterEach, expect, test } from 'vitest'
import { dayPartNames } from '../../src/books/bookView.ts'
import { toCents } from '../../src/books/wholeCents.ts'
import type { Engine } from '../../src/daemon/engine.ts'
import type { Limits } from '../../src/domain/limits/limits.ts'
import { usd } from '../../src/protocol/units.ts'
import { defineStrategy, type Strategy, type StrategyDecision, z } from '../../src/strategy/strategy.ts'
import { engineOver } from '../support/engine.ts'
import { usdc } from '../support/intents.ts'
import { ethSymbol, type KindsBench, kindsBench, type PricePath } from '../support/kinds.ts'
import { loadedOf } from '../support/loaded.ts'

let bench: KindsBench | undefined
let running: Engine | undefined
afterEach(async () => {
  running?.abort()
  await bench?.close()
})

const dayMs = 86_400_000

/** An engine whose one strategy adds $200 to a long every half a minute while `isAdding`. */
async function adding(path: PricePath, limits: Limits) {
  const over = await kindsBench({ path })
  bench = over
  const marketToken = await over.marketToken(ethSymbol)
  let isAdding = true
  const strategy = defineStrategy({
    kind: 'adder',
    description: 'Adds every half a minute.',
    params: z.object({}),
    needs: () => ({ symbols: [ethSymbol] }),
    decide: (view): readonly StrategyDecision[] =>
      isAdding
        ? [
            {
              ...{ kind: 'increase', marketToken, direction: 'long', sizeDeltaUsd: usd(200) },
              ...{ leverageBps: 20_000, collateralToken: usdc },
              reason: `half a minute is over at ${view.snapshot.atMs}`,
            },
          ]
        : [],
  }) as Strategy
  const loaded = loadedOf(strategy, 'adder', [ethSymbol], { cadenceMs: 30_000 })
  const start = async () => {
    running?.abort()
    const { engine, codes } = engineOver(over, { strategies: [loaded], limits: { adder: limits } })
    running = engine
    await engine.start()
    return { engine, codes }
  }
  return {
    clock: over.clock,
    start,
    entries: () => over.journal.recentIntents().length,
    adds: (to: boolean) => {
      isAdding = to
    },
    opens: () => over.journal.account().trading.equity?.dayOpenUsd,
  }
}

const used = (engine: Engine) =>
  engine.limits().find(({ scope, limit }) => scope === 'strategy adder' && limit === 'maxDailyLossUsd')?.used

test('a strategy whose open parts lost its limit of the day adds no more, over a restart neither, and adds when they recovered', async () => {
  const { clock, start, entries } = await adding(
    [
      [0, 1_800],
      [60, 1_800],
      [61, 1_600],
      [180, 1_600],
      [181, 1_790],
    ],
    { maxDailyLossUsd: usd(30) },
  )
  const first = await start()
  await clock.advance(65_000)
  const early = entries()
  expect([early >= 2, first.codes()]).toEqual([true, []])
  await clock.advance(40_000)
  expect([entries(), new Set(first.codes())]).toEqual([early, new Set(['MAX_DAILY_LOSS'])])
  expect(Number(used(first.engine)?.replace(/[$,]/g, ''))).toBeGreaterThan(30)
  const { equity } = first.engine.status()
  const parts = equity?.dayParts
  expect(dayPartNames.reduce((sum, name) => sum + (parts?.[name] ?? 0n), 0n)).toBe(
    toCents((equity?.equityUsd ?? 0n) - (equity?.dayStartUsd ?? 0n)),
  )
  expect(parts?.openUsd).toBeLessThan(-usd(30))
  expect([parts?.closedUsd, (parts?.costsUsd ?? 0n) < 0n]).toEqual([0n, true])
  const second = await start()
  await clock.advance(65_000)
  expect([entries(), second.codes().at(-1)]).toEqual([early, 'MAX_DAILY_LOSS'])
  await clock.advance(65_000)
  expect(entries()).toBeGreaterThan(early)
})

test('what an open part lost on an earlier day is not of this one, over a restart either, and what it loses now is', async () => {
  // The bench begins at noon.
  const midnight = 43_200
  const { clock, start, entries, adds, opens } = await adding(
    [
      [0, 1_800],
      [60, 1_800],
      [61, 1_600],
      [midnight + 150, 1_600],
      [midnight + 151, 1_400],
    ],
    { maxDailyLossUsd: usd(30) },
  )
  const beganMs = clock.now()
  const goTo = async (second: number): Promise<void> =>
    await clock.advance(beganMs + second * 1_000 - clock.now())
  await start()
  await goTo(65)
  expect(opens()).toEqual({})
  const early = entries()
  running?.abort()
  await goTo(midnight - 60)
  expect(clock.now() % dayMs).toBe(dayMs - 60_000)
  const second = await start()
  await goTo(midnight - 5)
  expect([entries(), second.codes().at(-1)]).toEqual([early, 'MAX_DAILY_LOSS'])
  await goTo(midnight + 70)
  const later = entries()
  expect(later).toBeGreaterThan(early)
  expect(opens()?.adder).toBeLessThan(-usd(30))
  const third = await start()
  await goTo(midnight + 105)
  expect([entries() > later, third.codes().includes('MAX_DAILY_LOSS')]).toEqual([true, false])
  adds(false)
  await goTo(midnight + 160)
  adds(true)
  const before = entries()
  await goTo(midnight + 230)
  expect([entries(), third.codes().at(-1)]).toEqual([before, 'MAX_DAILY_LOSS'])
})
