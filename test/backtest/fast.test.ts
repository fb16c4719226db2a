/** Fast mode against exact: random cases, of which nothing may differ. More of them by hand: `node test/backtest/fastByHand.ts 1 200`. */
import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import type { ShownScene } from '../../src/backtest/check/recordedTurns.ts'
import type { WallClock } from '../../src/base/clock.ts'
import { differenceOf, type FastCase, fastCase, type Lived, liveCase, sumsOf } from './fastCases.ts'
import { market, runFor, startSeconds, strategyOf, testFolder, writeMinutes } from './runKit.ts'

/**
 * A trend with exits, a ladder beside a breakout, a keeper's memory, a trailing stop, a grid, one that is asked for its own size, and one whose exits are
 * denied again and again; then candles that jump.
 */
const numbers = [4, 8, 10, 12, 13, 24, 41, 357, 1_007, 1_012]

/** Lives a case that fills something in both modes, and finds no difference. */
async function expectSame(given: FastCase): Promise<void> {
  const exact = await liveCase(given, 'exact')
  const fast = await liveCase(given, 'fast')
  expect(exact.fills.length).toBeGreaterThan(0)
  expect(differenceOf(exact, fast)).toBeUndefined()
}

test.each(numbers)(
  'case %i comes to the same fills, orders, equity and balances in both modes',
  async (number) => {
    const given = fastCase(number)
    const exact = await liveCase(given, 'exact')
    const fast = await liveCase(given, 'fast')
    expect(differenceOf(exact, fast)).toBeUndefined()
    const { fills, decisions, balances } = sumsOf(fast)
    expect(sumsOf(exact)).toMatchObject({ fills, decisions, balances })
  },
)

test.each([8, 10, 12])(
  'case %i comes to the same in both modes where the daemon starts again every two hours',
  (number) => expectSame({ ...fastCase(number), segmentSeconds: 7_200 }),
)

test.each([22, 35])(
  'case %i comes to the same in both modes where each file has turns as long as its candles',
  (number) => expectSame({ ...fastCase(number), turnSeconds: undefined }),
)

test.each([8, 10, 13])(
  'case %i comes to the same in both modes where pools, open interest and rates follow a recording',
  (number) => expectSame({ ...fastCase(number), isRecorded: true }),
)

test('fast mode takes the turn of an order, the one after it, and where the account is worth most', async () => {
  const folder = testFolder()
  const turned = { exact: [] as number[], fast: [] as number[] }
  let clock: WallClock | undefined
  const minuteOf = (atMs: number): number => Math.floor((atMs / 1000 - startSeconds) / 60)
  const once = await strategyOf(folder, 'once', (view) => {
    const row = view.market(market)
    if (row === undefined || minuteOf(view.snapshot.atMs) !== 60) return []
    const { marketToken, shortToken } = row.market
    const of = { marketToken, direction: 'long', collateralToken: shortToken, reason: 'opens once' }
    return [{ kind: 'increase', ...of, sizeDeltaUsd: 1000n * 10n ** 30n, leverageBps: 20_000 }]
  })
  const rising = writeMinutes(folder, 240, (minute) => 2000 + (minute < 150 ? minute : 300 - minute) / 10)
  for (const mode of ['exact', 'fast'] as const)
    await runFor(folder, rising, 240, [once], {
      ...{ mode, turnSeconds: 300, out: mode },
      begin: ({ clock: given }) => {
        clock = given
      },
      listen: (event) => {
        if (event.type === 'tick.done') turned[mode].push(minuteOf(clock?.now() ?? 0))
      },
    })
  expect(turned.exact).toHaveLength(49)
  expect(turned.fast).toEqual([0, 5, 60, 65, 150, 240])
})

test('a case is the same each time, and names the first line that differs with the facts on both sides', async () => {
  expect(fastCase(13)).toEqual(fastCase(13))
  const turnAt = (second: number, atMs: number) => ({ second, facts: { snapshot: { atMs } } as ShownScene })
  const lived: Lived = {
    fills: ['100,1', '200,2'],
    decisions: ['60,a,[]'],
    balances: ['USDC,5'],
    orders: ['a'],
    equity: ['e'],
    end: ['{}'],
    turns: [turnAt(60, 60_000), turnAt(260, 260_000)],
    spentMs: 0,
  }
  expect(differenceOf(lived, lived)).toBeUndefined()
  const later = { ...lived, fills: ['100,1', '201,2'], turns: [turnAt(60, 61_000)] }
  expect(differenceOf(lived, later)?.split('\n')).toEqual([
    'fills, line 2:',
    '  exact 200,2',
    '  fast  201,2',
    '  decided last until then: exact 1970-01-01T00:01:00.000Z, fast 1970-01-01T00:01:00.000Z',
    '  snapshot.atMs: exact 60000, fast 61000',
  ])
  expect(differenceOf(lived, { ...lived, orders: ['a', 'b'] })).toMatch(
    /^orders, line 2:\n {2}exact \(none\)/,
  )
  for (const name of ['decisions', 'balances', 'equity', 'end'] as const)
    expect(differenceOf(lived, { ...lived, [name]: ['70,other'] })).toMatch(new RegExp(`^${name}, line 1:`))
  const sums = sumsOf(lived)
  expect(sums.fills).toBe(createHash('sha256').update('100,1\n200,2').digest('hex'))
  expect(new Set(Object.values(sums)).size).toBe(6)
})
