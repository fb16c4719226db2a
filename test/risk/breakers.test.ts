/** Each breaker opens at its threshold and not before, is silent without one, and ends as its kind says. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Ending } from '../../src/domain/accountRecords/spend.ts'
import { breakerNames, haltKey, type TradingHalt } from '../../src/domain/accountRecords/tradingState.ts'
import { ONE_USD, usd } from '../../src/protocol/units.ts'
import {
  type BreakerFacts,
  type BreakerSettings,
  dayStartOf,
  isOver,
  receivedFromMs,
  releaseOf,
  type Trip,
  tripsOf,
} from '../../src/risk/breakers/circuitBreakers.ts'
import { MARKET, NOW_MS } from './world.ts'

const day = dayStartOf(NOW_MS)
const calm: BreakerFacts = {
  nowMs: NOW_MS,
  equity: { equityUsd: usd(1_000), peakUsd: usd(1_000), dayStartMs: day, dayStartUsd: usd(1_000) },
  endings: [],
  releasedAtMs: {},
  oldestUnresolvedMs: 0,
  accountAgeMs: 0,
  openDiscrepancies: 0,
}
const all: BreakerSettings = {
  maxDailyLossUsd: usd(100),
  maxDrawdownBps: 2_000,
  rejectsInRow: 3,
  payloadMismatchesPerDay: 2,
  unknownAgeMs: 60_000,
  staleMs: 30_000,
  openDiscrepancies: 2,
  sets: {},
}

function ending(cause: string, agoMs = 1_000, strategy = 'eth-trend'): Ending {
  return {
    strategy,
    kind: 'increase',
    marketToken: MARKET,
    direction: 'long',
    closedAtMs: NOW_MS - agoMs,
    cause,
    executionFee: 0n,
    relayFee: 0n,
  }
}

const worth = (equityUsd: bigint, peakUsd = usd(1_000), dayStartUsd = usd(1_000), dayStartMs = day) => ({
  equity: { equityUsd, peakUsd, dayStartMs, dayStartUsd },
})
const causes = (facts: Partial<BreakerFacts>, settings = all) =>
  tripsOf({ ...calm, ...facts }, settings).map(({ scope, cause }) => `${scope} ${cause}`)

test('nothing opens while all is well, and nothing without a threshold', () => {
  expect(causes({})).toEqual([])
  const bad: Partial<BreakerFacts> = {
    ...worth(0n),
    endings: Array.from({ length: 9 }, () => ending('REFUSED_LOCAL TYPED_DATA_MISMATCH')),
    oldestUnresolvedMs: 1e9,
    accountAgeMs: 1e9,
    openDiscrepancies: 99,
  }
  expect(causes(bad, { sets: {} })).toEqual([])
  expect(causes(bad).sort()).toEqual(
    [
      'account daily-loss',
      'account drawdown',
      'strategy:eth-trend rejects',
      'account payload-mismatch',
      'account unknowns',
      'account stale-data',
      'account unexplained',
    ].sort(),
  )
})

test('losses open at the threshold exactly, never a unit before', () => {
  expect(causes(worth(usd(900) + 1n))).toEqual([])
  expect(causes(worth(usd(900)))).toEqual(['account daily-loss'])
  // Yesterday's first figure says nothing about today.
  expect(causes(worth(usd(900), usd(1_000), usd(1_000), day - 86_400_000))).toEqual([])
  expect(causes(worth(usd(800) + 1n, usd(1_000), usd(800)))).toEqual([])
  expect(causes(worth(usd(800), usd(1_000), usd(800)))).toEqual(['account drawdown'])
})

test('a breaker of loss is open exactly when the loss has reached its limit, for every figure', () => {
  const money = fc.bigInt({ min: 1n, max: 10_000_000n * ONE_USD })
  fc.assert(
    fc.property(money, money, money, fc.integer({ min: 1, max: 10_000 }), (now, peak, limit, shareBps) => {
      const peakUsd = peak > now ? peak : now
      const open = causes(worth(now, peakUsd, peakUsd), {
        sets: {},
        maxDailyLossUsd: limit,
        maxDrawdownBps: shareBps,
      })
      const lost = peakUsd - now
      expect(open.includes('account daily-loss')).toBe(lost >= limit)
      expect(open.includes('account drawdown')).toBe(
        lost > 0n && lost * 10_000n >= peakUsd * BigInt(shareBps),
      )
    }),
    { seed: 6, numRuns: 2_000 },
  )
})

test('rejects count in a row, for each strategy, from the last success and the last lift on', () => {
  const bad = (agoMs: number, strategy?: string) => ending('DEAD unseen', agoMs, strategy)
  expect(causes({ endings: [bad(9), bad(8)] })).toEqual([])
  expect(causes({ endings: [bad(9), bad(8), bad(7)] })).toEqual(['strategy:eth-trend rejects'])
  expect(causes({ endings: [bad(9), bad(8), ending('executed', 7), bad(6)] })).toEqual([])
  expect(causes({ endings: [bad(9), bad(8, 'guard'), bad(7)] })).toEqual([])
  // What an operator or the strategy itself asked for is no failure, and no success either.
  const cancel = ending('CANCELLED USER_INITIATED_CANCEL', 5)
  expect(causes({ endings: [bad(9), cancel, bad(7)] })).toEqual([])
  expect(causes({ endings: [bad(9), cancel, bad(7), bad(6)] })).toEqual(['strategy:eth-trend rejects'])
  // Nor is an endpoint that lags.
  const lag = ending('REFUSED_LOCAL CHAIN_CLOCK_SKEW', 5)
  expect(causes({ endings: [lag, lag, lag, lag] })).toEqual([])
  // Nor is a host that takes closes and relays none; an increase that it withholds counts.
  const withheld = ending('DEAD withheld', 5)
  const close = { ...withheld, kind: 'close' as const }
  expect(causes({ endings: [close, close, close, close] })).toEqual([])
  expect(causes({ endings: [withheld, withheld, withheld] })).toEqual(['strategy:eth-trend rejects'])
  const unseen = { ...bad(5), kind: 'close' as const }
  expect(causes({ endings: [unseen, unseen, unseen] })).toEqual(['strategy:eth-trend rejects'])
  const releasedAtMs = { [haltKey({ scope: 'strategy:eth-trend', cause: 'rejects' })]: NOW_MS - 8 }
  expect(causes({ endings: [bad(9), bad(8), bad(7)], releasedAtMs })).toEqual([])
})

test('what a breaker sets is configured, and reducing when it is not', () => {
  const sets = { unexplained: 'halted' } as const
  const [drift, stale] = tripsOf(
    { ...calm, openDiscrepancies: 2, accountAgeMs: 30_000 },
    { ...all, sets },
  ).toReversed()
  expect([drift?.cause, drift?.state]).toEqual(['unexplained', 'halted'])
  expect([stale?.cause, stale?.state]).toEqual(['stale-data', 'reducing'])
})

test('a hold ends as its breaker says: by its cause, by the day, or by nothing but an operator', () => {
  for (const cause of breakerNames) {
    const releasedBy = releaseOf[cause]
    const trip: Trip = { scope: 'account', cause, state: 'reducing', reason: 'x', releasedBy }
    const halt: TradingHalt = { ...trip, by: 'perpd', sinceMs: NOW_MS }
    expect([cause, isOver(halt, [trip], NOW_MS)]).toEqual([cause, false])
    expect([cause, isOver(halt, [], NOW_MS)]).toEqual([cause, releasedBy === 'itself'])
    expect([cause, isOver(halt, [trip], day + 86_400_000)]).toEqual([cause, releasedBy === 'next-day'])
  }
})

test('the approval of a delegated key keeps what closing needs, and the time for it', () => {
  const settings = { sets: {}, reserveActions: 20, reserveSeconds: 3_600 }
  const nowSeconds = Math.floor(NOW_MS / 1000)
  const left = (remainingActions: number, secondsLeft: number, neededActions = 3, isActive = true) => {
    const address = '0x1563915e194D8CfBA1943570603F7606A3115508' as const
    const expiresAtSeconds = nowSeconds + secondsLeft
    const known = { address, isActive, isApprovalWaiting: false }
    return causes({ subaccount: { ...known, remainingActions, neededActions, expiresAtSeconds } }, settings)
  }
  expect(left(24, 3_601)).toEqual([])
  expect(left(23, 3_601)).toEqual(['account subaccount'])
  expect(left(24, 3_601, 4)).toEqual(['account subaccount'])
  expect(left(24, 3_600)).toEqual(['account subaccount'])
  expect(left(0, -5)).toEqual(['account subaccount'])
  expect(left(500, 86_400, 0, false)).toEqual(['account subaccount'])
  expect(releaseOf.subaccount).toBe('itself')
})

test('a day is lost by what settlements realized too, whatever hosts show, and by the larger of the two', () => {
  const settings: BreakerSettings = { maxDailyLossUsd: usd(100), sets: {} }
  const equity = {
    equityUsd: usd(1_000),
    peakUsd: usd(1_000),
    dayStartMs: dayStartOf(calm.nowMs),
    dayStartUsd: usd(1_000),
  }
  const reasons = (facts: Partial<BreakerFacts>) =>
    tripsOf({ ...calm, equity, ...facts }, settings).map(({ reason }) => reason)
  expect(reasons({ realizedUsd: -usd(99) })).toEqual([])
  expect(reasons({ realizedUsd: usd(500) })).toEqual([])
  expect(reasons({ realizedUsd: -usd(150) })).toEqual([
    'orders of the account realized a loss of $150.00 since 00:00 UTC; the limit is $100.00',
  ])
  const fell = { ...equity, equityUsd: usd(700) }
  expect(reasons({ realizedUsd: -usd(150), equity: fell })).toEqual([
    'the account lost $300.00 since 00:00 UTC; the limit is $100.00',
  ])
})

test('funding that was put aside since the first figure of the day is no loss that lists show, in USD and as a share', () => {
  const fell = { equityUsd: usd(900), peakUsd: usd(1_000), dayStartMs: day, dayStartUsd: usd(1_000) }
  const trips = (receivedUsd: bigint, settings: BreakerSettings) =>
    tripsOf({ ...calm, equity: fell, realizedUsd: receivedUsd, receivedUsd }, settings).length
  for (const settings of [
    { maxDailyLossUsd: usd(100), sets: {} },
    { maxDailyLossEquityBps: 1_000, sets: {} },
  ]) {
    expect(trips(0n, settings)).toBe(1)
    expect(trips(1n, settings)).toBe(0)
    expect(trips(usd(30), settings)).toBe(0)
  }
  // What came before the figure, or before an operator accepted the loss, is in neither.
  expect(receivedFromMs({ dayFirstAtMs: 50 }, undefined)).toBe(50)
  expect(receivedFromMs({ dayFirstAtMs: 50 }, 70)).toBe(70)
  expect(receivedFromMs({}, 70)).toBe(Number.POSITIVE_INFINITY)
  expect(receivedFromMs(undefined, undefined)).toBe(Number.POSITIVE_INFINITY)
})
