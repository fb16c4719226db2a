/** The way inside a candle of a run: the extreme that hurts what is held comes first, over all markets of its asset. */
import { expect, test } from 'vitest'
import { stopFirst } from '../../src/backtest/candleWay.ts'
import type { VenueState } from '../../src/paper/state/venueState.ts'
import type { Address } from '../../src/protocol/address.ts'
import { usd } from '../../src/protocol/units.ts'

const account: Address = `0x${'ab'.repeat(20)}`

/** A venue with positions alone: its market, side and dollars. */
function venueWith(...held: readonly (readonly [market: string, side: 'long' | 'short', dollars: number])[]) {
  const rows = held.map(([marketKey, side, dollars], at) => [
    String(at),
    { marketKey, state: { side, sizeInUsd: usd(dollars) } },
  ])
  const token = (symbol: string) => ({ indexToken: { symbol } })
  return {
    positionKeysByAccount: new Map([[account, rows.map(([key]) => key)]]),
    positions: new Map(rows as never),
    marketByKey: new Map([
      ['one', token('ETH')],
      ['two', token('ETH')],
      ['btc', token('BTC')],
    ]),
  } as unknown as VenueState
}

test.each([
  [venueWith(['one', 'long', 100]), 'low first'],
  [venueWith(['two', 'short', 100]), 'high first'],
  [venueWith(['one', 'long', 100], ['two', 'short', 150]), 'high first'],
  [venueWith(['btc', 'short', 900]), 'nearer first'],
  [venueWith(), 'nearer first'],
  [undefined, 'nearer first'],
])('by what is held of the asset: %#', (venue, way) => {
  expect(
    stopFirst(
      () => venue,
      () => 60,
      account,
      'ETH',
      60,
    )(60),
  ).toBe(way)
})

test('a candle keeps its way whatever is held later; of one to come nobody can say, and of one that is over the ends matter', () => {
  let [now, venue] = [60, venueWith(['one', 'long', 100])]
  const way = stopFirst(
    () => venue,
    () => now,
    account,
    'ETH',
    60,
  )
  expect([way(120), way(60), way(0)]).toEqual(['unknown', 'low first', 'nearer first'])
  venue = venueWith(['one', 'short', 100])
  now = 90
  expect(way(60)).toBe('low first')
  now = 120
  expect(way(120)).toBe('high first')
})
