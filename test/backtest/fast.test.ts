/** Fast mode against exact: random cases, of which nothing may differ. More of them by hand: `node test/backtest/fastByHand.ts 1 200`. */
import { expect, test } from 'vitest'
import { differenceOf, fastCase, liveCase } from './fastCases.ts'

/** A trend with exits, a ladder beside a breakout, a keeper's memory, a trailing stop, a grid, and one that is asked for its own size. */
const numbers = [4, 8, 10, 12, 13, 24, 41]

test.each(numbers)(
  'case %i comes to the same fills, orders, equity and balances in both modes',
  async (number) => {
    const given = fastCase(number)
    const exact = await liveCase(given, 'exact')
    const fast = await liveCase(given, 'fast')
    expect(differenceOf(exact, fast)).toBeUndefined()
  },
)

test.each([8, 10, 13])(
  'case %i comes to the same in both modes where pools, open interest and rates follow a recording',
  async (number) => {
    const given = { ...fastCase(number), isRecorded: true }
    const exact = await liveCase(given, 'exact')
    const fast = await liveCase(given, 'fast')
    expect(exact.fills.length).toBeGreaterThan(0)
    expect(differenceOf(exact, fast)).toBeUndefined()
  },
)

test('a case is the same each time, and names the first line that differs', async () => {
  expect(fastCase(13)).toEqual(fastCase(13))
  const lived = { fills: ['1', '2'], orders: ['a'], equity: ['e'], end: '{}', spentMs: 0 }
  expect(differenceOf(lived, lived)).toBeUndefined()
  expect(differenceOf(lived, { ...lived, fills: ['1', '3'] })).toMatch(
    /fills, line 2:\n {2}exact 2\n {2}fast {2}3/,
  )
  expect(differenceOf(lived, { ...lived, orders: ['a', 'b'] })).toMatch(/orders, line 2:\n {2}exact \(none\)/)
  expect(differenceOf(lived, { ...lived, end: '{"turns":1}' })).toMatch(/^end:/)
})
