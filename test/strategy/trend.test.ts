import { expect, test } from 'vitest'
import { isOrderDecision } from '../../src/domain/order/decision.ts'
import type { MarketView } from '../../src/domain/snapshot.ts'
import type { Position } from '../../src/protocol/position.ts'
import { usd } from '../../src/protocol/units.ts'
import { admit } from '../../src/risk/admit.ts'
import { trend } from '../../src/strategy/kinds/trend.ts'
import { openIntentsOf } from '../../src/strategy/resting.ts'
import { type OpenIntent, viewOf } from '../../src/strategy/strategy.ts'
import {
  candles,
  capacity,
  desk,
  intentState,
  MARKET,
  marketView,
  NOW_MS,
  oraclePrice,
  position,
  SYMBOL,
  snapshot,
  USDC,
} from '../risk/world.ts'

const size = { usd: usd(500), leverageBps: 30_000, collateral: 'short' } as const

/** 220 closes that move by `step` a candle and end at `end`. */
function path(step: number, end = 2000): number[] {
  return Array.from({ length: 220 }, (_, index) => end - (219 - index) * step)
}

function decide(
  closes: readonly number[],
  parts: {
    readonly positions?: readonly Position[]
    readonly openIntents?: readonly OpenIntent[]
    readonly view?: Partial<MarketView>
    readonly params?: Record<string, unknown>
    readonly priceUsd?: number
  } = {},
) {
  const price = usd(parts.priceUsd ?? Math.round(closes.at(-1) ?? 0))
  const view = marketView({
    candles: candles(closes),
    oraclePrice: { value: oraclePrice({ medianPrice: price }), atMs: NOW_MS },
    ...parts.view,
  })
  const world = snapshot({ view, positions: parts.positions ?? [] })
  const params = trend.params.parse(parts.params ?? {})
  const instance = { name: 'eth-trend', symbols: [SYMBOL], size }
  return {
    world,
    decisions: trend
      .decide(viewOf({ snapshot: world, params, instance, openIntents: parts.openIntents ?? [] }))
      .filter(isOrderDecision),
  }
}

test('a rising market is bought at once, with the reason and its numbers', () => {
  const { decisions } = decide(path(1))
  expect(decisions).toEqual([
    {
      kind: 'increase',
      marketToken: MARKET,
      direction: 'long',
      sizeDeltaUsd: usd(500),
      leverageBps: 30_000,
      collateralToken: USDC,
      reason:
        'The 1m trend of ETH/USD [WETH-USDC] is up: the average of 12 candles is 6.00 average ranges above that of 48.',
      facts: { price: 2000, fast: 1993.5, slow: 1975.5, atr: 3, strength: 5.99911, extension: 2.16667 },
    },
  ])
})

test('a falling market is sold', () => {
  expect(decide(path(-1)).decisions).toMatchObject([{ kind: 'increase', direction: 'short' }])
})

test('a market without trend, without movement, with too few or old candles is left alone', () => {
  const flicker = path(0).map((close, index) => close + (index % 2))
  expect(decide(flicker).decisions).toEqual([])
  const still = candles(path(0))
  const motionless = {
    ...still,
    value: {
      ...still.value,
      candles: still.value.candles.map((c) => ({ ...c, high: c.close, low: c.close })),
    },
  }
  expect(decide(path(0), { view: { candles: motionless } }).decisions).toEqual([])
  expect(decide(path(1).slice(-40)).decisions).toEqual([])

  const rising = candles(path(1))
  const old = {
    ...rising,
    value: {
      ...rising.value,
      candles: rising.value.candles.map((c) => ({ ...c, timestampSeconds: c.timestampSeconds - 240 })),
    },
  }
  expect(decide(path(1), { view: { candles: old } }).decisions).toEqual([])
  const otherPeriod = { ...rising, value: { ...rising.value, period: '5m' as const } }
  expect(decide(path(1), { view: { candles: otherPeriod } }).decisions).toEqual([])
})

test('the running candle does not sway it', () => {
  const calm = path(1)
  const spiked = [...calm.slice(0, -1), 1500]
  expect(decide(spiked, { priceUsd: 2000 }).decisions).toEqual(decide(calm).decisions)
})

test('a market that is closed is not entered', () => {
  expect(decide(path(1), { view: { status: 'closed' } }).decisions).toEqual([])
})

test('a price that has run away, or fallen back hard, is not followed', () => {
  expect(decide(path(1), { priceUsd: 2030 }).decisions).toEqual([])
  expect(decide(path(1), { priceUsd: 1980 }).decisions).toEqual([])
})

test('while an order of its own is open in the market it opens nothing, but still closes what turned', () => {
  const openIntents = openIntentsOf([intentState()])
  expect(decide(path(1), { openIntents }).decisions).toEqual([])
  const turned = position({ entryPrice: usd(2000) })
  expect(decide(path(-1), { openIntents, positions: [turned] }).decisions).toMatchObject([
    { kind: 'close', direction: 'long' },
  ])
})

test('a position with the trend is kept and not added to', () => {
  expect(decide(path(1), { positions: [position({ entryPrice: usd(1995) })] }).decisions).toEqual([])
})

test('a position against the trend is closed first; the other side opens only when it is gone', () => {
  const short = position({ direction: 'short', entryPrice: usd(1995) })
  const { decisions } = decide(path(1), { positions: [short] })
  expect(decisions).toMatchObject([
    {
      kind: 'close',
      direction: 'short',
      collateralToken: USDC,
      reason: 'The 1m trend turned against the short position, by 6.00 average ranges.',
    },
  ])
  expect(decide(path(1)).decisions).toMatchObject([{ kind: 'increase', direction: 'long' }])
})

test('a weak turn neither closes nor opens: the band holds', () => {
  const turning = path(0.02)
  const short = position({ direction: 'short', entryPrice: usd(2000) })
  expect(decide(turning, { positions: [short], params: { entryStrength: 0.1 } }).decisions).toEqual([])
})

test('the stop closes a position with the trend still standing, and the take closes a winner', () => {
  const loser = position({ entryPrice: usd(2037) })
  expect(decide(path(1), { positions: [loser] }).decisions).toMatchObject([
    {
      kind: 'close',
      reason: 'The price went 12.3 average ranges against the long position; the stop is 12.',
    },
  ])
  const winner = position({ entryPrice: usd(1963) })
  expect(decide(path(1), { positions: [winner] }).decisions).toEqual([])
  expect(decide(path(1), { positions: [winner], params: { takeAtr: 12 } }).decisions).toMatchObject([
    {
      kind: 'close',
      reason: 'The price went 12.3 average ranges in favour of the long position; the take is 12.',
    },
  ])
})

test('pyramiding adds to a winner up to its number of orders', () => {
  const winner = position({ entryPrice: usd(1990), sizeInUsd: usd(500) })
  const params = { pyramid: 2 }
  expect(decide(path(1), { positions: [winner], params }).decisions).toMatchObject([{ kind: 'increase' }])
  const full = position({ entryPrice: usd(1990), sizeInUsd: usd(1000) })
  expect(decide(path(1), { positions: [full], params }).decisions).toEqual([])
  const even = position({ entryPrice: usd(1999), sizeInUsd: usd(500) })
  expect(decide(path(1), { positions: [even], params }).decisions).toEqual([])
})

test('a part that another token backs than the file says now is its own all the same', () => {
  const { longToken } = marketView().market
  const short = position({ direction: 'short', collateralToken: longToken })
  expect(decide(path(1), { positions: [short] }).decisions).toMatchObject([
    { kind: 'close', direction: 'short', collateralToken: longToken },
  ])
  const long = position({ entryPrice: usd(1999), collateralToken: longToken })
  expect(decide(path(1), { positions: [long] }).decisions).toEqual([])
})

test('the same view always gives the same decisions', () => {
  expect(decide(path(1)).decisions).toEqual(decide(path(1)).decisions)
})

test('what it wishes with no capacity, stale capacity or an unknown market status is denied by risk', () => {
  const codeWith = (view: Partial<MarketView>): string => {
    const { world, decisions } = decide(path(1), { view })
    const [decision] = decisions
    if (decision === undefined) throw new Error('the trend should have wished')
    const admission = admit(decision, desk({ snapshot: world, limits: { maxDataAgeMs: 10_000 } }))
    return admission.kind === 'denial' ? admission.denial.code : 'admitted'
  }
  const at = (value: ReturnType<typeof capacity>, atMs = NOW_MS) => ({ capacityLong: { value, atMs } })
  expect(codeWith({})).toBe('admitted')
  expect(codeWith(at(capacity({ availableLiquidity: 0n })))).toBe('NO_CAPACITY')
  expect(codeWith(at(capacity({ marketDataStatus: 'stale' })))).toBe('MARKET_DATA_STALE')
  expect(codeWith(at(capacity(), NOW_MS - 10_001))).toBe('DATA_TOO_OLD')
  expect(codeWith({ status: 'unknown' })).toBe('MARKET_NOT_OPEN')
})

test('its needs name the candles of every market, long enough for the slow average to settle', () => {
  const params = trend.params.parse({ period: '5m', slowCandles: 100 })
  expect(trend.needs(params, [SYMBOL, 'BTC/USD [BTC-USDC]'])).toEqual({
    symbols: [SYMBOL, 'BTC/USD [BTC-USDC]'],
    candles: [
      { symbol: SYMBOL, period: '5m', limit: 415 },
      { symbol: 'BTC/USD [BTC-USDC]', period: '5m', limit: 415 },
    ],
  })
})
