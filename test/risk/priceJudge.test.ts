/** The price that reductions are judged by: with one bad host of each kind the band is honest, and a crash that all see is taken. */
import { expect, test } from 'vitest'
import { usd } from '../../src/protocol/units.ts'
import { judgePrice, type LastPrice, type PriceWord } from '../../src/risk/checks/priceJudge.ts'

const nowMs = 1_800_000_000_000
const atMs = nowMs - 1_000

function word(kind: PriceWord['kind'], host: string, price: number): PriceWord {
  return { kind, host, minPrice: usd(price), maxPrice: usd(price), medianPrice: usd(price), atMs }
}

const oracles = (...prices: readonly number[]) => prices.map((price, at) => word('oracle', `o${at}`, price))
const marks = (...prices: readonly number[]) => prices.map((price, at) => word('mark', `a${at}`, price))
const lastAt = (price: number, agoMs = 5_000): LastPrice => ({ price: usd(price), atMs: nowMs - agoMs })
const judge = (words: readonly PriceWord[], last?: LastPrice) => judgePrice(words, last, 100, nowMs)

/** Hosts of the live profiles, of MegaETH, and the least that can be configured. */
const setups = [
  { name: 'three oracle hosts and two of the API', oracle: 3, api: 2 },
  { name: 'two and two', oracle: 2, api: 2 },
  { name: 'one oracle host and two of the API', oracle: 1, api: 2 },
  { name: 'two oracle hosts and one of the API', oracle: 2, api: 1 },
  { name: 'one and one', oracle: 1, api: 1 },
] as const

const lies = [1.03, 1.04, 0.96, 2, 0.5, 100, 0.01]

test.each(setups)('$name: one oracle host and one API host with one lie move no band', ({ oracle, api }) => {
  for (const lie of lies) {
    const honest = (count: number) => Array.from({ length: count - 1 }, () => 2_000)
    const words = [...oracles(2_000 * lie, ...honest(oracle)), ...marks(2_000 * lie, ...honest(api))]
    const found = judge(words, lastAt(2_000))
    expect(found?.isContested, `${lie}`).toBe(oracle + api > 2 || lie >= 1.2 || lie <= 0.8)
    if (oracle + api === 2) {
      // Nobody else says anything but the last good price: no further than a market moves in a minute.
      expect(found?.lowest).toBeGreaterThanOrEqual(usd(1_600))
      expect(found?.highest).toBeLessThanOrEqual(usd(2_400))
    } else expect([found?.lowest, found?.highest], `${lie}`).toEqual([usd(2_000), usd(2_000)])
  }
})

test.each(setups)('$name: one bad host of either kind moves no band', ({ oracle, api }) => {
  for (const lie of lies)
    for (const kind of ['oracle', 'mark'] as const) {
      const of = (count: number, isBad: boolean) =>
        Array.from({ length: count }, (_, at) => (isBad && at === 0 ? 2_000 * lie : 2_000))
      const words = [...oracles(...of(oracle, kind === 'oracle')), ...marks(...of(api, kind === 'mark'))]
      const found = judge(words, lastAt(2_000))
      expect([found?.lowest, found?.highest], `${kind} ${lie}`).toEqual([usd(2_000), usd(2_000)])
    }
})

test('without a last good price three hosts still outvote two, and two against two leave the widest band', () => {
  const most = judge([...oracles(1_000, 2_000, 2_000), ...marks(1_000, 2_000)])
  expect([most?.lowest, most?.highest]).toEqual([usd(2_000), usd(2_000)])
  const even = judge([...oracles(1_960, 2_000), ...marks(1_960, 2_000)])
  expect([even?.lowest, even?.highest, even?.isGood]).toEqual([usd(1_960), usd(2_000), false])
})

test('a crash that all hosts see is taken at once, however deep', () => {
  const found = judge([...oracles(900, 901, 902), ...marks(900, 903)], lastAt(2_000))
  expect(found).toMatchObject({ lowest: usd(900), highest: usd(903), isContested: false, isGood: true })
})

test('a crash that three hosts see while one lags and the last price is the old one is taken', () => {
  const found = judge([...oracles(1_400, 1_401), ...marks(1_402, 2_000)], lastAt(2_000))
  expect([found?.lowest, found?.highest]).toEqual([usd(1_400), usd(1_402)])
})

test('a crash that only two hosts can see is taken as far as a market moves, further with each minute', () => {
  const at = (agoMs: number) => judge([...oracles(1_000), ...marks(1_000)], lastAt(2_000, agoMs))?.lowest
  expect([at(5_000), at(61_000), at(121_000)]).toEqual([usd(1_600), usd(1_200), usd(1_000)])
})

test('feeds one percent apart are one band, and nobody is left out', () => {
  const found = judge([...oracles(2_000, 2_010, 2_020), ...marks(2_004, 2_016)], lastAt(2_010))
  expect(found).toMatchObject({ lowest: usd(2_000), highest: usd(2_020), isContested: false, isGood: true })
})

test('a host that stands still does not keep the last good price where it was', () => {
  const found = judge([...oracles(2_100, 2_100), ...marks(2_100, 2_000)], lastAt(2_000))
  expect(found).toMatchObject({ lowest: usd(2_100), medianPrice: usd(2_100), isGood: true })
})

test('without any word there is nothing to judge by', () => {
  expect(judge([], lastAt(2_000))).toBeUndefined()
})
