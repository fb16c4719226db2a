/**
 * Every limit of every scope, judged as the daemon judges a decision: what is admitted is above none of them, a tighter one
 * never admits more, and each can be the one that says no. The tables name every limit of `Limits`: a new one does not
 * compile without its row.
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createLiveLimits } from '../../src/account/liveLimits.ts'
import type { Ending } from '../../src/domain/accountRecords/spend.ts'
import { type Limits, limitRows, limitsWith, tighten } from '../../src/domain/limits/limits.ts'
import { type LimitUnit, limitTable } from '../../src/domain/limits/limitTable.ts'
import type { Decision } from '../../src/domain/order/decision.ts'
import type { Intent } from '../../src/domain/order/intent.ts'
import { absOf, BPS_ONE, ONE_USD, type Usd, usd, usdOfAmount } from '../../src/protocol/units.ts'
import { admit } from '../../src/risk/admit.ts'
import { checkBudget } from '../../src/risk/breakers/budget.ts'
import { ownExposureOf } from '../../src/risk/exposure/accountExposure.ts'
import { distanceAfterBps } from '../../src/risk/sizing/liquidation.ts'
import {
  ACCOUNT,
  capacity,
  close,
  type DeskParts,
  desk,
  increase,
  intentState,
  MARKET,
  marketView,
  NOW_MS,
  OTHER_MARKET,
  oraclePrice,
  order,
  position,
  SYMBOL,
  snapshot,
  ticker,
  USDC,
} from './world.ts'

const SEED = 20_261_122
const STRATEGY = 'eth-trend'
type Scope = 'account' | 'market' | 'strategy'
const scopes: readonly Scope[] = ['account', 'market', 'strategy']

/** What a scope has used up. */
interface Used {
  readonly orders: number
  readonly resultUsd: Usd
  readonly executionFee: bigint
  readonly relayFee: bigint
  /** Endings by one cause of the same decision. */
  readonly failures: number
}

/** All that a decision is judged by. */
interface World {
  readonly decision: Decision
  readonly longUsd: Usd
  readonly shortUsd: Usd
  /** The strategy's own part of both sides, bps. */
  readonly ownBps: number
  readonly restingUsd: Usd
  readonly capacityUsd: Usd
  readonly equityUsd: Usd
  readonly agesMs: Readonly<Record<'ticker' | 'capacity' | 'oracle' | 'account', number>>
  readonly markPrice: Usd
  readonly skewMs: number
  readonly slippageBps: number
  readonly reducingForMs?: number
  /** By the strategy here and `away`, by others on this market, and by others elsewhere. */
  readonly used: Readonly<Record<Scope | 'away', Used>>
  readonly limits: Readonly<Record<Scope, Limits>>
}

const nothing: Used = { orders: 0, resultUsd: 0n, executionFee: 0n, relayFee: 0n, failures: 0 }
const calm: World = {
  decision: increase(),
  longUsd: 0n,
  shortUsd: 0n,
  ownBps: BPS_ONE,
  restingUsd: 0n,
  capacityUsd: usd(100_000),
  equityUsd: usd(10_000),
  agesMs: { ticker: 5_000, capacity: 5_000, oracle: 5_000, account: 5_000 },
  markPrice: usd(2_010),
  skewMs: 900,
  slippageBps: 100,
  used: { account: nothing, market: nothing, strategy: nothing, away: nothing },
  limits: { account: {}, market: {}, strategy: {} },
}

/** Endings that make up what each scope used. */
function endingsOf({ used, decision }: World): readonly Ending[] {
  const parts = [
    { strategy: STRATEGY, marketToken: MARKET, of: used.strategy },
    { strategy: STRATEGY, marketToken: OTHER_MARKET, of: used.away },
    { strategy: 'other', marketToken: MARKET, of: used.market },
    { strategy: 'other', marketToken: OTHER_MARKET, of: used.account },
  ] as const
  return parts.flatMap(({ strategy, marketToken, of }) => {
    const ending = {
      strategy,
      kind: decision.kind,
      marketToken,
      direction: 'long',
      closedAtMs: NOW_MS,
    } as const
    const failed = { ...ending, cause: 'DEAD unseen', executionFee: 0n, relayFee: 0n }
    const paid = { ...ending, cause: 'executed', executionFee: of.executionFee, relayFee: of.relayFee }
    return [paid, ...Array<Ending>(of.failures).fill(failed)]
  })
}

/** What a scope used with all that is inside it. */
function usedBy({ used }: World, scope: Scope): Used {
  const inside = {
    strategy: [used.strategy, used.away],
    market: [used.strategy, used.market],
    account: Object.values(used),
  }
  return inside[scope].reduce((sum, each) => ({
    orders: sum.orders + each.orders,
    resultUsd: sum.resultUsd + each.resultUsd,
    executionFee: sum.executionFee + each.executionFee,
    relayFee: sum.relayFee + each.relayFee,
    failures: Math.max(sum.failures, each.failures),
  }))
}

/** Judges as `engine/tick.ts` does: the budget, then admission. The intent, or the code of the refusal. */
function judge(venueState: World): Intent | string {
  const { decision, agesMs, limits, longUsd, shortUsd, restingUsd } = venueState
  const live = createLiveLimits({
    account: limits.account,
    markets: { [SYMBOL]: limits.market },
    strategies: { [STRATEGY]: limits.strategy },
    breakers: { sets: {} },
  })
  const on = live.on(SYMBOL, STRATEGY)
  const { attemptsPerCause } = on
  const budget = {
    ...(attemptsPerCause === undefined ? {} : { attemptsPerCause }),
    strategy: limits.strategy,
    market: live.countedOn(SYMBOL),
    account: limits.account,
  }
  const units = { nativeDecimals: 18, feeTokenDecimals: 6 }
  const spent = checkBudget(decision, STRATEGY, endingsOf(venueState), budget, units, NOW_MS)
  if (spent !== undefined) return spent.code
  const view = marketView({
    ticker: { value: ticker({ markPrice: venueState.markPrice }), atMs: NOW_MS - agesMs.ticker },
    oraclePrice: { value: oraclePrice(), atMs: NOW_MS - agesMs.oracle },
    capacityLong: {
      value: capacity({ availableLiquidity: venueState.capacityUsd }),
      atMs: NOW_MS - agesMs.capacity,
    },
  })
  const there = snapshot({
    view,
    positions: [
      ...(longUsd > 0n ? [heldLong(longUsd)] : []),
      ...(shortUsd > 0n ? [position({ direction: 'short', sizeInUsd: shortUsd })] : []),
    ],
    orders: restingUsd > 0n ? [order({ sizeDeltaUsd: restingUsd })] : [],
    positionsAtMs: NOW_MS - agesMs.account,
  })
  const intents =
    venueState.reducingForMs === undefined
      ? []
      : [
          intentState({
            decision: close(),
            reservationUsd: 0n,
            acceptedAtMs: NOW_MS - venueState.reducingForMs,
          }),
        ]
  const parts = (['long', 'short'] as const).map((direction) => ({
    marketToken: MARKET,
    collateralToken: USDC,
    direction,
    sizeUsd: ownPart(direction === 'long' ? longUsd : shortUsd, venueState),
  }))
  const held = parts.filter(({ sizeUsd }) => sizeUsd > 0n)
  const facts: DeskParts = {
    snapshot: there,
    intents,
    limits: on,
    own: {
      limits: live.ownOn(STRATEGY),
      exposure: ownExposureOf(STRATEGY, there, [], held, held),
    },
    accountLimits: limits.account,
    marketLimits: live.countedOn(SYMBOL),
    equityUsd: venueState.equityUsd,
    dayResultUsd: usedBy(venueState, 'strategy').resultUsd,
    marketDayResultUsd: usedBy(venueState, 'market').resultUsd,
    clockSkewMs: venueState.skewMs,
    slippageBps: venueState.slippageBps,
    account: ACCOUNT,
    acceptedLastHour: {
      strategy: usedBy(venueState, 'strategy').orders,
      market: usedBy(venueState, 'market').orders,
      account: usedBy(venueState, 'account').orders,
    },
  }
  const admitted = admit(decision, desk(facts))
  return admitted.kind === 'denial' ? admitted.denial.code : admitted.intent
}

function heldLong(sizeInUsd: Usd) {
  return position({
    sizeInUsd,
    sizeInTokens: sizeInUsd / (2_000n * 10n ** 12n),
    markPrice: usd(2_000),
    remainingCollateralUsd: sizeInUsd / 5n,
    netValueUsd: sizeInUsd / 5n,
  })
}

/** Whether an increase that was admitted keeps a limit of a scope. */
const keeps: Readonly<
  Record<keyof Limits, (limit: bigint, intent: Intent, venueState: World, scope: Scope) => boolean>
> = {
  maxPositionSizeUsd: (most, intent, venueState, scope) => longAfter(intent, venueState, scope) <= most,
  maxPositionEquityBps: (share, intent, venueState, scope) =>
    isShare(longAfter(intent, venueState, scope), share, venueState.equityUsd),
  maxMarketExposureUsd: (most, intent, venueState, scope) => bothAfter(intent, venueState, scope) <= most,
  maxMarketExposureEquityBps: (share, intent, venueState, scope) =>
    isShare(bothAfter(intent, venueState, scope), share, venueState.equityUsd),
  // There is one market: all exposure is there.
  maxTotalExposureUsd: (most, intent, venueState, scope) => bothAfter(intent, venueState, scope) <= most,
  maxExposureEquityBps: (share, intent, venueState, scope) =>
    isShare(bothAfter(intent, venueState, scope), share, venueState.equityUsd),
  maxWishEquityBps: (share, { sizing }, { equityUsd }) => isShare(sizing.wantedUsd ?? 0n, share, equityUsd),
  maxWishCollateralEquityBps: (share, _intent, { decision, equityUsd }) =>
    decision.kind !== 'increase' ||
    isShare((decision.sizeDeltaUsd * BigInt(BPS_ONE)) / BigInt(decision.leverageBps), share, equityUsd),
  maxOrderSizeUsd: (most, { terms }) => terms.sizeDeltaUsd <= most,
  minOrderSizeUsd: (least, { terms }) => terms.sizeDeltaUsd >= least,
  maxUnboundedOrderUsd: (most, { terms }) => terms.orderType !== 'stop-market' || terms.sizeDeltaUsd <= most,
  maxCapacityShareBps: (share, { terms }, { capacityUsd }) => isShare(terms.sizeDeltaUsd, share, capacityUsd),
  capacityHeadroomBps: (headroom, { terms }, { capacityUsd, restingUsd }) =>
    isShare(terms.sizeDeltaUsd + restingUsd, BigInt(BPS_ONE) - headroom, capacityUsd),
  maxLeverageBps: (most, { terms }) =>
    terms.sizeDeltaUsd * BigInt(BPS_ONE) <= usdOfAmount(terms.collateralDelta, usd('0.9997'), 6) * most,
  minLiquidationDistanceBps: (least, { terms }, venueState) => {
    const view = marketView()
    const size = terms.sizeDeltaUsd
    const after = distanceAfterBps(
      {
        position: venueState.longUsd > 0n ? heldLong(venueState.longUsd) : undefined,
        direction: 'long',
        addedUsd: size,
        addedMarginUsd: usdOfAmount(terms.collateralDelta, usd('0.9997'), 6) - (size * 20n) / 10_000n,
        isStable: true,
      },
      view,
    )
    // Each of the two parts was rounded down once.
    return after + 1n >= least
  },
  maxSlippageBps: (most, { terms }) => BigInt(terms.slippageBps) <= most,
  maxOrdersPerHour: (most, _intent, venueState, scope) => BigInt(usedBy(venueState, scope).orders) < most,
  attemptsPerCause: (most, _intent, venueState) => BigInt(venueState.used.strategy.failures) < most,
  executionFeesPerDay: (most, _intent, venueState, scope) => usedBy(venueState, scope).executionFee < most,
  // Of reductions alone, and not of admission: test/risk/budget.test.ts.
  reductionFeesPerDayUsd: () => true,
  relayFeesPerDayUsd: (most, _intent, venueState, scope) =>
    usedBy(venueState, scope).relayFee * 10n ** 24n < most,
  // The account's own loss is a breaker's: test/risk/breakers.test.ts.
  maxDailyLossUsd: (most, _intent, venueState, scope) =>
    scope === 'account' || -usedBy(venueState, scope).resultUsd < most,
  maxDailyLossEquityBps: (share, _intent, venueState, scope) => {
    const lostUsd = -usedBy(venueState, scope).resultUsd
    return scope === 'account' || lostUsd <= 0n || lostUsd * BigInt(BPS_ONE) < venueState.equityUsd * share
  },
  maxDataAgeMs: (most, _intent, { agesMs }) => BigInt(Math.max(...Object.values(agesMs))) <= most,
  maxTickerAgeMs: (most, _intent, { agesMs }) => BigInt(agesMs.ticker) <= most,
  maxCapacityAgeMs: (most, _intent, { agesMs }) => BigInt(agesMs.capacity) <= most,
  maxOracleAgeMs: (most, _intent, { agesMs }) => BigInt(agesMs.oracle) <= most,
  maxAccountAgeMs: (most, _intent, { agesMs }) => BigInt(agesMs.account) <= most,
  maxPriceDivergenceBps: (most, _intent, { markPrice }) =>
    isShare(absOf(markPrice - usd(2_000)), most, usd(2_000)),
  maxClockSkewMs: (most, _intent, { skewMs }) => BigInt(skewMs) <= most,
  // Of reductions alone.
  reduceAgainAfterMs: () => true,
}

/** A resting order is nobody's: it is in no strategy's own part. */
function longAfter({ terms }: Intent, world: World, scope: Scope): Usd {
  const { longUsd, restingUsd } = world
  return terms.sizeDeltaUsd + (scope === 'strategy' ? ownPart(longUsd, world) : longUsd + restingUsd)
}

function bothAfter(intent: Intent, world: World, scope: Scope): Usd {
  const { shortUsd } = world
  return longAfter(intent, world, scope) + (scope === 'strategy' ? ownPart(shortUsd, world) : shortUsd)
}

function ownPart(sizeUsd: Usd, { ownBps }: World): Usd {
  return (sizeUsd * BigInt(ownBps)) / BigInt(BPS_ONE)
}

function isShare(part: Usd, shareBps: bigint, whole: Usd): boolean {
  return part * BigInt(BPS_ONE) <= whole * shareBps
}

const money = (maxUsd: number) => fc.bigInt({ min: 0n, max: BigInt(maxUsd) * ONE_USD })
const age = fc.integer({ min: 0, max: 10_000 })
const used: fc.Arbitrary<Used> = fc.record({
  orders: fc.nat(12),
  resultUsd: fc.bigInt({ min: -100n * ONE_USD, max: 60n * ONE_USD }),
  executionFee: fc.bigInt({ min: 0n, max: 30n }),
  relayFee: fc.bigInt({ min: 0n, max: 4_000_000n }),
  failures: fc.nat(3),
})
const bps = (min: number, max = 10_000) => fc.integer({ min, max })
/** Values by unit, for limits that are not told below. */
const valuesOf: Readonly<Record<LimitUnit, fc.Arbitrary<number | bigint>>> = {
  usd: money(30_000),
  native: fc.bigInt({ min: 20n, max: 120n }),
  bps: bps(0),
  times: bps(5_000, 200_000),
  count: fc.integer({ min: 2, max: 60 }),
  ms: fc.integer({ min: 5_000, max: 15_000 }),
}
/** Values around what the worlds hold, so that each limit is sometimes the tightest, where those of its unit are not. */
const closer: { readonly [K in keyof Limits]?: fc.Arbitrary<number | bigint> } = {
  maxPositionEquityBps: bps(1_000, 100_000),
  maxMarketExposureUsd: money(40_000),
  maxMarketExposureEquityBps: bps(1_000, 100_000),
  maxTotalExposureUsd: money(40_000),
  maxExposureEquityBps: bps(1_000, 100_000),
  maxWishEquityBps: bps(1_000, 100_000),
  maxWishCollateralEquityBps: bps(500, 30_000),
  maxOrderSizeUsd: money(10_000),
  minOrderSizeUsd: money(200),
  maxUnboundedOrderUsd: money(5_000),
  maxCapacityShareBps: bps(500),
  minLiquidationDistanceBps: bps(0, 2_500),
  maxSlippageBps: bps(60, 300),
  maxOrdersPerHour: fc.integer({ min: 10, max: 60 }),
  attemptsPerCause: fc.integer({ min: 2, max: 6 }),
  reductionFeesPerDayUsd: fc.bigInt({ min: ONE_USD, max: 16n * ONE_USD }),
  relayFeesPerDayUsd: fc.bigInt({ min: 3n * ONE_USD, max: 16n * ONE_USD }),
  maxDailyLossUsd: fc.bigInt({ min: 30n * ONE_USD, max: 300n * ONE_USD }),
  maxDailyLossEquityBps: bps(20, 400),
  maxDataAgeMs: fc.integer({ min: 6_000, max: 15_000 }),
  maxPriceDivergenceBps: bps(50, 300),
  maxClockSkewMs: fc.integer({ min: 500, max: 30_000 }),
  reduceAgainAfterMs: fc.integer({ min: 1_000, max: 600_000 }),
}
const values = Object.fromEntries(
  limitRows.map(([name, { unit }]) => [name, closer[name] ?? valuesOf[unit]]),
) as Readonly<Record<keyof Limits, fc.Arbitrary<number | bigint>>>
const names = limitRows.map(([name]) => name)
/** A few limits at a time: with all of them nothing would ever be admitted. */
const limits = fc
  .subarray(names, { maxLength: 4 })
  .chain((some) =>
    fc.record(Object.fromEntries(some.map((name) => [name, values[name]]))),
  ) as fc.Arbitrary<unknown> as fc.Arbitrary<Limits>
const worlds: fc.Arbitrary<World> = fc.record({
  decision: fc
    .record({
      sizeDeltaUsd: fc.bigInt({ min: ONE_USD, max: 20_000n * ONE_USD }),
      leverageBps: bps(10_000, 150_000),
      shape: fc.constantFrom({}, { orderType: 'stop-market', triggerPrice: usd(2_100) } as const),
    })
    .map(({ shape, ...parts }) => increase({ ...parts, ...shape })),
  longUsd: fc.oneof(fc.constant(0n), fc.bigInt({ min: 50n * ONE_USD, max: 8_000n * ONE_USD })),
  shortUsd: fc.oneof(fc.constant(0n), money(5_000)),
  ownBps: fc.oneof(fc.constantFrom(0, BPS_ONE), fc.integer({ min: 0, max: BPS_ONE })),
  restingUsd: fc.oneof(fc.constant(0n), money(3_000)),
  capacityUsd: money(40_000),
  equityUsd: fc.bigInt({ min: usd(2_000), max: usd(30_000) }),
  agesMs: fc.record({ ticker: age, capacity: age, oracle: age, account: age }),
  markPrice: fc.bigInt({ min: usd(1_960), max: usd(2_040) }),
  skewMs: fc.integer({ min: 0, max: 5_000 }),
  slippageBps: bps(10, 200),
  used: fc.record({ account: used, market: used, strategy: used, away: used }),
  limits: fc.record({ account: limits, market: limits, strategy: limits }),
})

test('what is admitted is above no limit of any scope', () => {
  let admitted = 0
  fc.assert(
    fc.property(worlds, (venueState) => {
      const intent = judge(venueState)
      if (typeof intent === 'string') return
      admitted += 1
      for (const scope of scopes) {
        for (const [name, value] of Object.entries(venueState.limits[scope]) as [
          keyof Limits,
          bigint | number,
        ][]) {
          const isKept = keeps[name](BigInt(value), intent, venueState, scope)
          if (!isKept) throw new Error(`${name} of ${scope}: ${value} is not kept`)
        }
      }
    }),
    { seed: SEED, numRuns: 3_000 },
  )
  expect(admitted).toBeGreaterThan(300)
})

/** Refusals that ask for less leverage: with less, the same size brings more collateral. */
const wantsLessLeverage: readonly unknown[] = ['COLLATERAL_BELOW_MINIMUM', 'LIQUIDATION_TOO_NEAR']

test('a tighter limit of any scope never admits more, but less leverage where that is what was wanting', () => {
  let differed = 0
  fc.assert(
    fc.property(worlds, fc.constantFrom(...scopes), limits, (venueState, scope, more) => {
      const before = judge(venueState)
      const tightened = { ...venueState.limits, [scope]: tighten(venueState.limits[scope], more) }
      const after = judge({ ...venueState, limits: tightened })
      const sizeOf = (answer: Intent | string): Usd =>
        typeof answer === 'string' ? 0n : answer.terms.sizeDeltaUsd
      if (sizeOf(after) < sizeOf(before)) differed += 1
      const isMended = more.maxLeverageBps !== undefined && wantsLessLeverage.includes(before)
      expect(isMended || sizeOf(after) <= sizeOf(before)).toBe(true)
    }),
    { seed: SEED, numRuns: 3_000 },
  )
  expect(differed).toBeGreaterThan(100)
})

/** For each limit a value that a calm world, or one a little changed, does not keep. */
const bites: Readonly<Record<keyof Limits, readonly [value: number | bigint, world?: Partial<World>]>> = {
  maxPositionSizeUsd: [usd(900)],
  maxPositionEquityBps: [900],
  maxMarketExposureUsd: [usd(1_500), { shortUsd: usd(600) }],
  maxMarketExposureEquityBps: [1_500, { shortUsd: usd(600) }],
  maxTotalExposureUsd: [usd(900)],
  maxExposureEquityBps: [900],
  maxWishEquityBps: [999],
  maxWishCollateralEquityBps: [199],
  maxOrderSizeUsd: [usd(900)],
  minOrderSizeUsd: [usd(1_001)],
  maxUnboundedOrderUsd: [
    usd(900),
    { decision: increase({ orderType: 'stop-market', triggerPrice: usd(2_100) }) },
  ],
  maxCapacityShareBps: [90],
  capacityHeadroomBps: [9_950],
  maxLeverageBps: [40_000],
  minLiquidationDistanceBps: [2_500],
  maxSlippageBps: [99],
  maxOrdersPerHour: [3, { used: usedEverywhere({ orders: 3 }) }],
  attemptsPerCause: [2, { used: usedEverywhere({ failures: 2 }) }],
  executionFeesPerDay: [10n, { used: usedEverywhere({ executionFee: 10n }) }],
  reductionFeesPerDayUsd: [usd(2)],
  relayFeesPerDayUsd: [usd(2), { used: usedEverywhere({ relayFee: 2_000_000n }) }],
  maxDailyLossUsd: [usd(50), { used: usedEverywhere({ resultUsd: -usd(50) }) }],
  maxDailyLossEquityBps: [50, { used: usedEverywhere({ resultUsd: -usd(50) }) }],
  maxDataAgeMs: [4_999],
  maxTickerAgeMs: [4_999],
  maxCapacityAgeMs: [4_999],
  maxOracleAgeMs: [4_999],
  maxAccountAgeMs: [4_999],
  maxPriceDivergenceBps: [49],
  maxClockSkewMs: [899],
  reduceAgainAfterMs: [200_000, { decision: close(), longUsd: usd(1_000), reducingForMs: 150_000 }],
}

/** Of each scope as much: the strategy's own is within the other two. */
function usedEverywhere(part: Partial<Used>): World['used'] {
  return { ...calm.used, strategy: { ...nothing, ...part } }
}

test.each(names.filter((name) => name !== 'reductionFeesPerDayUsd'))(
  '%s says no, or cuts, in every scope',
  (name) => {
    const [value, changes] = bites[name]
    const world = { ...calm, ...changes }
    const free = judge(world)
    if (typeof free === 'string') throw new Error(`denied without the limit: ${free}`)
    for (const scope of scopes) {
      const intent = judge({ ...world, limits: { ...calm.limits, [scope]: { [name]: value } } })
      const isLoss = name === 'maxDailyLossUsd' || name === 'maxDailyLossEquityBps'
      // The account's own loss is its breaker's.
      const isBitten = typeof intent === 'string' || intent.terms.sizeDeltaUsd < free.terms.sizeDeltaUsd
      expect([scope, isBitten]).toEqual([scope, !(isLoss && scope === 'account')])
    }
    // One unit looser in each scope, and it is as if there were none.
    const loose = BigInt(value) + (limitTable[name].tighter === 'less' ? 1n : -1n)
    const counted = ['maxOrdersPerHour', 'attemptsPerCause', 'executionFeesPerDay', 'relayFeesPerDayUsd']
    if (counted.includes(name) || name.startsWith('maxDailyLoss') || name.endsWith('Ms')) {
      const set = { [name]: typeof value === 'bigint' ? loose : Number(loose) }
      const isReduce = name === 'reduceAgainAfterMs'
      const intent = judge({ ...world, limits: { account: set, market: set, strategy: set } })
      expect(typeof intent === 'string').toBe(isReduce)
    }
  },
)

test('what is counted on a market is that market’s alone, and of a strategy its own', () => {
  const elsewhere: World = {
    ...calm,
    used: { ...calm.used, account: { ...nothing, orders: 9, executionFee: 9n, resultUsd: -usd(90) } },
  }
  const tight: Limits = { maxOrdersPerHour: 5, executionFeesPerDay: 5n, maxDailyLossUsd: usd(50) }
  for (const scope of ['market', 'strategy'] as const) {
    expect(judge({ ...elsewhere, limits: { ...calm.limits, [scope]: tight } })).toMatchObject({
      kind: 'increase',
    })
  }
  expect(judge({ ...elsewhere, limits: { ...calm.limits, account: tight } })).toBe('FEES_PER_DAY')
  const away: World = { ...calm, used: { ...calm.used, away: elsewhere.used.account } }
  expect(judge({ ...away, limits: { ...calm.limits, market: tight } })).toMatchObject({ kind: 'increase' })
  expect(judge({ ...away, limits: { ...calm.limits, strategy: tight } })).toBe('FEES_PER_DAY')
  const others: World = { ...elsewhere, used: { ...elsewhere.used, market: elsewhere.used.account } }
  expect(judge({ ...others, limits: { ...calm.limits, strategy: tight } })).toMatchObject({
    kind: 'increase',
  })
  expect(judge({ ...others, limits: { ...calm.limits, market: tight } })).toBe('FEES_PER_DAY')
})

test("a strategy's limit of exposure counts its own part; the same limit of account or market counts everything", () => {
  const exposure = limitsWith('isExposure')
  expect(exposure).toHaveLength(6)
  // All of it but a tenth is another's: $100 of the long and $60 of the short are its own.
  const shared: World = { ...calm, longUsd: usd(1_000), shortUsd: usd(600), ownBps: 1_000 }
  for (const name of exposure) {
    // $1,500 of $10,000: room for $1,340 or more of its own, and for nothing where everything counts.
    const set = { [name]: name.endsWith('Bps') ? 1_500 : usd(1_500) } as Limits
    const sized = (scope: Scope, world: World = shared) => {
      const intent = judge({ ...world, limits: { ...calm.limits, [scope]: set } })
      return typeof intent === 'string' ? intent : intent.terms.sizeDeltaUsd
    }
    expect([name, sized('strategy')]).toEqual([name, usd(1_000)])
    for (const scope of ['account', 'market'] as const) {
      const isWhole = name !== 'maxPositionSizeUsd' && name !== 'maxPositionEquityBps'
      expect([name, sized(scope)]).toEqual([name, isWhole ? limitTable[name].denies.code : usd(500)])
    }
    // Its own $1,500 leave nothing.
    const own: World = { ...calm, longUsd: usd(1_500), ownBps: BPS_ONE }
    expect([name, sized('strategy', own)]).toEqual([name, limitTable[name].denies.code])
  }
})
