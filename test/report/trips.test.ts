/** Trades that a report builds from fills. */
import { expect, test } from 'vitest'
import { type TripFill, tradesOf } from '../../src/report/figures/trips.ts'
import { start, usd } from './subjects.ts'

/** A fill, minutes after the beginning. */
function fill(
  minute: number,
  action: TripFill['action'],
  size: number,
  more: Partial<TripFill> = {},
): TripFill {
  return {
    second: start + minute * 60,
    market: 'ETH/USD [WETH-USDC]',
    side: 'long',
    action,
    sizeUsd: usd(size),
    price: usd(2000),
    impactUsd: 0n,
    feesUsd: usd(1),
    pnlUsd: 0n,
    strategy: 'one',
    intentId: `id-${minute}`,
    reason: `reason ${minute}`,
    ...more,
  }
}

test('a trade lasts from nothing to nothing, with prices by size and all of its costs', () => {
  const [trade, ...others] = tradesOf([
    fill(0, 'increase', 100, { price: usd(2000) }),
    fill(1, 'increase', 300, { price: usd(2400) }),
    fill(2, 'decrease', 100, { price: usd(2500), pnlUsd: usd(20), impactUsd: usd(-2), intentId: 'id-0' }),
    fill(3, 'decrease', 300, { price: usd(2100), pnlUsd: usd(-30) }),
  ])
  expect(others).toEqual([])
  expect(trade).toMatchObject({
    openedSecond: start,
    closedSecond: start + 180,
    sizeUsd: usd(400),
    entryPrice: usd(2300),
    exitPrice: usd(2200),
    costsUsd: usd(6),
    resultUsd: usd(-16),
    openReason: 'reason 0',
    closeReason: 'reason 3',
    intentIds: ['id-0', 'id-1', 'id-3'],
  })
})

test('sides, markets and strategies are apart, and what is left is open', () => {
  const trades = tradesOf([
    fill(0, 'increase', 100),
    fill(1, 'increase', 100, { side: 'short' }),
    fill(2, 'increase', 100, { strategy: 'two' }),
    fill(3, 'decrease', 100, { strategy: 'two' }),
  ])
  expect(trades.map(({ strategy, side, closedSecond }) => [strategy, side, closedSecond === null])).toEqual([
    ['one', 'long', true],
    ['one', 'short', true],
    ['two', 'long', false],
  ])
})

test('a liquidation closes what every strategy holds of its side, and its loss counts once', () => {
  const trades = tradesOf([
    fill(0, 'increase', 100, { feesUsd: 0n }),
    fill(1, 'increase', 100, { strategy: 'two', feesUsd: 0n }),
    fill(2, 'increase', 100, { side: 'short', feesUsd: 0n }),
    fill(3, 'liquidation', 200, { strategy: '', intentId: '', pnlUsd: usd(-50), reason: 'liquidation' }),
  ])
  expect(trades.map(({ side, closeReason }) => [side, closeReason])).toEqual([
    ['long', 'liquidation'],
    ['long', 'liquidation'],
    ['short', ''],
  ])
  expect(trades.reduce((sum, { resultUsd }) => sum + resultUsd, 0n)).toBe(usd(-51))
})

test('a reduction of what no fill opened begins no trade', () => {
  expect(tradesOf([fill(0, 'decrease', 100)])).toEqual([])
})
