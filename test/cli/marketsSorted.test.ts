/** `perpd markets`: what it is sorted by, and the figures of the last day. */
import { expect, test } from 'vitest'
import {
  filteredMarkets,
  type MarketRow,
  marketsText,
  sortedMarkets,
} from '../../src/cli/verbs/marketsCommand.ts'
import { toPlain } from '../../src/domain/summaries/orderView.ts'
import { usd } from '../../src/protocol/units.ts'
import { engine } from '../control/door.ts'

async function rows(): Promise<readonly MarketRow[]> {
  const [one] = toPlain(await engine.markets())
  if (one === undefined) throw new Error('no market')
  const row = (symbol: string, over: Partial<MarketRow>): MarketRow => ({ ...one, symbol, ...over })
  return [
    row('A/USD', {
      interestLongUsd: usd(1).toString(),
      change24hBps: '-900',
      capacityLongUsd: usd(5).toString(),
    }),
    row('B/USD', { interestLongUsd: usd(9).toString(), change24hBps: '300', capacityLongUsd: null }),
    row('C/USD', { interestLongUsd: null, change24hBps: null, capacityLongUsd: usd(7).toString() }),
  ]
}

test('markets are sorted by open interest, change or capacity, the largest first, and by symbol without a wish', async () => {
  const all = await rows()
  const order = (sort?: 'oi' | 'change' | 'capacity') =>
    sortedMarkets(all.toReversed(), sort).map(({ symbol }) => symbol[0])
  expect(order()).toEqual(['A', 'B', 'C'])
  expect(order('oi')).toEqual(['B', 'A', 'C'])
  expect(order('change')).toEqual(['A', 'B', 'C'])
  expect(order('capacity')).toEqual(['C', 'A', 'B'])
})

test('a market shows its change of 24 hours and the open interest of both sides', async () => {
  const text = marketsText(toPlain(await engine.markets()), 0, 200)
  expect(text).toMatch(/24H.*INTEREST/)
  expect(text).toContain('-1.52%')
  expect(text).toContain('$2.0M')
})

test('a rate that four places hide shows two digits of what it is', async () => {
  const [one] = await rows()
  const shown = (rate: string) => marketsText([{ ...one, borrowingLong: rate } as MarketRow], 0, 200)
  expect(shown((10n ** 30n / 10n ** 7n).toString())).toContain('0.000010%')
  expect(shown((10n ** 30n / 10n ** 5n).toString())).toContain('0.0010%')
})

test('markets are filtered by the capacity of their better side, and by whether increases may use them', async () => {
  const [one, two] = await rows()
  if (one === undefined || two === undefined) throw new Error('two markets')
  const all = [
    {
      ...one,
      symbol: 'deep',
      status: 'open',
      state: 'shipped',
      capacityLongUsd: null,
      capacityShortUsd: usd(5).toString(),
    },
    { ...one, symbol: 'shut', status: 'closed', state: 'shipped', capacityLongUsd: usd(9).toString() },
    { ...two, symbol: 'doubted', status: 'open', state: 'contradicted', capacityLongUsd: usd(9).toString() },
    {
      ...two,
      symbol: 'unread',
      status: 'open',
      state: 'proven',
      capacityLongUsd: null,
      capacityShortUsd: null,
    },
  ] as MarketRow[]
  const found = (isOpen: boolean, least: number) =>
    filteredMarkets(all, { isOpen, leastUsd: usd(least) }).map(({ symbol }) => symbol)
  expect(found(false, 0)).toEqual(['deep', 'shut', 'doubted', 'unread'])
  expect(found(true, 0)).toEqual(['deep', 'unread'])
  expect(found(false, 5)).toEqual(['deep', 'shut', 'doubted'])
  expect(found(true, 6)).toEqual([])
})

test.each([
  ['change', '24H'],
  ['oi', 'INTEREST'],
  ['capacity', 'CAPACITY'],
] as const)('a list sorted by %s shows that column in 80 columns', async (sort, title) => {
  const [one] = await rows()
  const titles = marketsText([one as MarketRow], 0, 80, sort).split('\n')[0] ?? ''
  expect(titles.split(/ {2,}/)).toContain(title)
  expect(titles.length).toBeLessThanOrEqual(80)
})
