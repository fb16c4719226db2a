/** The prices that an instance decided by, over time: bounded whatever a kind names, and one a candle. */
import { expect, test } from 'vitest'
import { createDecidedPrices, MOST_POINTS } from '../../src/engine/decidedPrices.ts'
import { MOST_PRICES } from '../../src/strategy/kindStatus.ts'
import { priceOfLevel } from '../../src/strategy/levels.ts'

const market = 'ETH/USD [WETH-USDC]'
const minute = 60_000
const named = (level: number) => ({ [market]: { fast: priceOfLevel(level) } })

test('the last price of a minute counts, and in a candle that of its last minute, at its beginning', () => {
  const { take, lines } = createDecidedPrices()
  for (const [seconds, level] of [
    [300, 1],
    [330, 2],
    [540, 3],
    [600, 4],
  ] as const)
    take(named(level), seconds * 1_000)
  const points = (period: '1m' | '5m') => lines(market, period).map((line) => [line.name, ...line.points])
  expect(points('1m')).toEqual([['fast', [300, 2], [540, 3], [600, 4]]])
  expect(points('5m')).toEqual([['fast', [300, 3], [600, 4]]])
  expect(lines('BTC/USD [BTC-USDC]', '5m')).toEqual([])
})

test('a clock that is set back takes what came later away, and nothing is drawn twice', () => {
  const { take, lines } = createDecidedPrices()
  for (const [at, level] of [10, 11, 12, 11].entries()) take(named(at + 1), level * minute)
  expect(lines(market, '1m')[0]?.points).toEqual([
    [600, 1],
    [660, 4],
  ])
})

test('a line of two months reaches back to its beginning within its bound, in steps that are finer the newer they are', () => {
  const { take, lines } = createDecidedPrices()
  const minutes = 60 * 24 * 60
  for (let at = 0; at < minutes; at += 1) take(named(at + 1), at * minute)
  const points = lines(market, '1m')[0]?.points ?? []
  expect(points.length).toBeLessThanOrEqual(MOST_POINTS)
  expect(points[0]?.[0]).toBe(0)
  expect(points.slice(-300).map(([at]) => at)).toEqual(
    Array.from({ length: 300 }, (_, at) => (minutes - 300 + at) * 60),
  )
})

test('names that change at every turn push out those that were named least lately', () => {
  const { take, lines, clear } = createDecidedPrices()
  for (let at = 0; at < 1_000; at += 1)
    take({ [market]: { kept: priceOfLevel(5), [`f${at}`]: priceOfLevel(at + 1) } }, at * minute)
  const names = lines(market, '1m').map(({ name }) => name)
  expect(names).toHaveLength(MOST_PRICES)
  expect(names).toEqual(expect.arrayContaining(['kept', 'f999', `f${1_001 - MOST_PRICES}`]))
  clear()
  expect(lines(market, '1m')).toEqual([])
})
