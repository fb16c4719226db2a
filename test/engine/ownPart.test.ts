/** Two instances on one side of one market: each reduces its own part, and keepers and the operator all of it. */
import { afterEach, expect, test } from 'vitest'
import { strategyDayUsd } from '../../src/account/watch/dayResult.ts'
import { wrongSums } from '../../src/books/bookSums.ts'
import { usd } from '../../src/protocol/units.ts'
import type { LoadedStrategy } from '../../src/strategy/files/load.ts'
import {
  collateralTokenOf,
  defineStrategy,
  type Strategy,
  type StrategyView,
  z,
} from '../../src/strategy/strategy.ts'
import type { StrategyDecision } from '../../src/strategy/strategyDecision.ts'
import { engineOver } from '../support/engine.ts'
import { ethSymbol, type KindsBench, kindsBench, signer } from '../support/kinds.ts'

let bench: KindsBench
let abort = (): void => undefined
afterEach(async () => {
  abort()
  await bench.close()
})

type Wish = (view: StrategyView) => StrategyDecision | undefined

/** What each instance decides at its next turn, once. */
const wishes = new Map<string, Wish>()

function instance(name: string, opensPositions = true): LoadedStrategy {
  const strategy = defineStrategy({
    kind: name,
    description: 'Does what the test wants.',
    opensPositions,
    params: z.object({}),
    needs: () => ({ symbols: [ethSymbol] }),
    decide(view): readonly StrategyDecision[] {
      const wish = wishes.get(name)
      wishes.delete(name)
      const decision = wish?.(view as StrategyView)
      return decision === undefined ? [] : [decision]
    },
  }) as Strategy
  return {
    name,
    path: `${name}.yaml`,
    symbols: [ethSymbol],
    symbolPlaces: [],
    onRemove: 'keep' as const,
    written: {},
    params: {},
    strategy,
    needs: { symbols: [ethSymbol] },
    cadenceMs: 2_000,
    limits: {},
    instance: { name, symbols: [ethSymbol] },
  }
}

const opens =
  (
    sizeUsd: number,
    leverageBps = 20_000,
    more: Partial<Extract<StrategyDecision, { kind: 'increase' }>> = {},
  ): Wish =>
  (view) => {
    const market = view.market(ethSymbol)
    return (
      market && {
        kind: 'increase',
        marketToken: market.market.marketToken,
        direction: 'long',
        sizeDeltaUsd: usd(sizeUsd),
        leverageBps,
        collateralToken: collateralTokenOf(market, 'short'),
        reason: 'the test wants it',
        ...more,
      }
    )
  }

const reduces =
  (sizeUsd?: number): Wish =>
  (view) => {
    const [position] = view.positions(ethSymbol)
    if (position === undefined) return undefined
    const { marketToken, direction, collateralToken } = position
    const base = { marketToken, direction, collateralToken, reason: 'the test wants it' }
    if (sizeUsd === undefined) return { kind: 'close', ...base }
    return { kind: 'decrease', ...base, sizeDeltaUsd: usd(sizeUsd), keepLeverage: true }
  }

async function start(limits: Parameters<typeof engineOver>[1] = {}) {
  wishes.clear()
  bench = await kindsBench({ isByChain: true })
  const strategies = [instance('one'), instance('two'), instance('keeper', false)]
  const at = engineOver(bench, { strategies, ...limits })
  abort = () => at.engine.abort()
  await at.engine.start()
  return {
    ...at,
    /** Lets an instance decide, and everything of it end. */
    async lets(name: string, wish: Wish): Promise<void> {
      wishes.set(name, wish)
      await bench.clock.advance(40_000)
      expect(wrongSums(bench.journal)).toEqual([])
    },
    sizes(): Readonly<Record<string, string>> {
      return Object.fromEntries(
        bench.journal
          .books()
          .all()
          .map(({ strategy, sizeUsd }) => [strategy, String(sizeUsd / 10n ** 30n)]),
      )
    },
    listedUsd: async () =>
      (await bench.api.getPositions({ account: signer.address })).value.reduce(
        (sum, { sizeInUsd }) => sum + sizeInUsd,
        0n,
      ),
    newest: () => bench.journal.recentIntents()[0]?.intent,
  }
}

test('a close of an instance takes its own part of a shared position; the last one closes it whole', async () => {
  const at = await start()
  await at.lets('one', opens(500))
  await at.lets('two', opens(300))
  expect(at.sizes()).toEqual({ one: '500', two: '300' })
  await at.lets('one', reduces())
  expect(at.newest()).toMatchObject({ strategy: 'one', kind: 'decrease', terms: { sizeDeltaUsd: usd(500) } })
  expect(at.sizes()).toEqual({ one: '0', two: '300' })
  expect(await at.listedUsd()).toBe(usd(300))
  // Nothing is its own any more.
  await at.lets('one', reduces())
  expect(at.codes().at(-1)).toBe('BEYOND_BOOK')
  const denied = at.events.findLast(({ type }) => type === 'decision.denied')
  expect(denied).toMatchObject({ denial: { wanted: '$300.00', allowed: '$0.00' } })
  await at.lets('two', reduces())
  expect(at.newest()).toMatchObject({ strategy: 'two', kind: 'close' })
  expect(await at.listedUsd()).toBe(0n)
})

test('a decrease of an instance is cut to its own part, and a second one while it is under way is denied', async () => {
  const at = await start()
  await at.lets('one', opens(500))
  await at.lets('two', opens(300))
  wishes.set('one', reduces(700))
  await bench.clock.advance(2_000)
  expect(at.newest()).toMatchObject({ strategy: 'one', terms: { sizeDeltaUsd: usd(500) } })
  wishes.set('one', reduces(700))
  await bench.clock.advance(2_000)
  expect(at.codes().at(-1)).toBe('BEYOND_BOOK')
  await bench.clock.advance(40_000)
  expect(at.sizes()).toEqual({ one: '0', two: '300' })
})

test("a strategy's limit counts its own part: it is cut and refused at its own, and what another or a hand holds leaves it room", async () => {
  const at = await start({
    limits: { one: { maxPositionSizeUsd: usd(500) }, two: { maxPositionSizeUsd: usd(500) } },
    account: { maxPositionSizeUsd: usd(1_400), maxTotalExposureUsd: usd(1_400) },
  })
  const command = { type: 'open', id: 'by-hand', market: ethSymbol, direction: 'long' } as const
  const size = { collateral: 'short', size: '600', leverage: '2', isPreview: false } as const
  const ann = { by: 'ann', via: 'control' } as const
  expect(await at.engine.operate({ ...command, ...size }, ann)).toMatchObject({ ok: true })
  await bench.clock.advance(40_000)
  // The hand holds more than its whole limit.
  await at.lets('one', opens(400))
  expect(at.newest()).toMatchObject({ strategy: 'one', terms: { sizeDeltaUsd: usd(400) } })
  expect(at.engine.limits().filter(({ limit }) => limit === 'maxPositionSizeUsd')).toMatchObject([
    { scope: 'account', used: '$1,000.00' },
    { scope: 'strategy one', used: '$400.00', usedShareBps: 8_000 },
    { scope: 'strategy two', used: '$0.00', usedShareBps: 0 },
  ])
  // It is cut to what its own limit leaves, and then refused, while there is room on the account.
  await at.lets('one', opens(400))
  expect(at.newest()).toMatchObject({ strategy: 'one', terms: { sizeDeltaUsd: usd(100) } })
  await at.lets('one', opens(400))
  expect(at.codes()).toEqual(['MAX_POSITION_SIZE'])
  // The account's limit counts all of them: 600, 500, and what is left of 1,400.
  await at.lets('two', opens(400))
  expect(at.newest()).toMatchObject({ strategy: 'two', terms: { sizeDeltaUsd: usd(300) } })
  expect(at.sizes()).toEqual({ '@operator': '600', one: '500', two: '300' })
  // Its own reduction frees its own limit.
  await at.lets('one', reduces(200))
  await at.lets('one', opens(400))
  expect(at.newest()).toMatchObject({ strategy: 'one', terms: { sizeDeltaUsd: usd(200) } })
})

test('a keeper reduces everything, and what it lost counts for those whose parts it took', async () => {
  const at = await start()
  await at.lets('one', opens(500))
  await at.lets('two', opens(300))
  const before = strategyDayUsd(bench.journal.books(), 'one', bench.clock.now())
  await at.lets('keeper', reduces())
  expect(at.newest()).toMatchObject({ strategy: 'keeper', kind: 'close' })
  expect(at.sizes()).toEqual({ one: '0', two: '0', keeper: '0' })
  const results = ['one', 'two', 'keeper'].map((name) =>
    strategyDayUsd(bench.journal.books(), name, bench.clock.now()),
  )
  expect(results[0]).toBeLessThan(before)
  expect(results[2]).toBe(0n)
  const fees = bench.journal
    .recentIntents()
    .flatMap(({ attempts }) => attempts.flatMap(({ children }) => children))
    .reduce((sum, { settlement: { pnlUsd, feesUsd = 0n, fundingReceivedUsd = 0n } = {} }) => {
      return sum + (pnlUsd ?? -feesUsd) + fundingReceivedUsd
    }, 0n)
  expect(results.reduce((sum, each) => sum + each, 0n)).toBe(fees)
})

test('exits of an instance are cancelled when its part is gone, though another still holds the position', async () => {
  const at = await start()
  await at.lets('one', opens(500, 20_000, { tpsl: [{ type: 'stop-loss', triggerPrice: usd(1_000) }] }))
  await at.lets('two', opens(300, 20_000, { tpsl: [{ type: 'stop-loss', triggerPrice: usd(1_000) }] }))
  expect((await bench.api.getOrders({ account: signer.address })).value).toHaveLength(2)
  await at.lets('one', reduces())
  await bench.clock.advance(60_000)
  const resting = (await bench.api.getOrders({ account: signer.address })).value
  expect(resting.map(({ sizeDeltaUsd }) => sizeDeltaUsd)).toEqual([usd(300)])
  expect(at.sizes()).toMatchObject({ one: '0', two: '300' })
})

test('the limit of leverage holds for the whole position that two instances share', async () => {
  const at = await start({ account: { maxLeverageBps: 20_000 } })
  await at.lets('one', opens(500))
  await at.lets('two', opens(500, 100_000))
  const [position] = (await bench.api.getPositions({ account: signer.address })).value
  // Half of what it asked at ten times is not staked: the size gives way, and the whole stays below the limit and its fees.
  expect(at.newest()).toMatchObject({ strategy: 'two', terms: { sizeDeltaUsd: usd(100) } })
  expect(position?.sizeInUsd).toBe(usd(600))
  expect(position?.leverageBps).toBeLessThan(20_300n)
})
