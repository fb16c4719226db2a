/** What the page computes from what the daemon says. */
import { expect, test } from 'vitest'
import { drawdowns, lessDeposits, transferSteps } from '../../src/control/console/page/shownCurve.ts'
import {
  dayPnlOf,
  drawdownTextOf,
  isCancellable,
  limitBars,
  limitScope,
  limitText,
  orderPnlOf,
  partFilledUsd,
  shownLines,
  shownMarkets,
  shownPositions,
  tradable,
} from '../../src/control/console/page/shownFigures.ts'
import { killLeftText } from '../../src/control/console/page/shownKill.ts'
import { emptyPage } from '../../src/control/console/page/store/pageState.ts'
import { limitTable } from '../../src/domain/limits/limitTable.ts'
import { pnlIfClosed } from '../../src/protocol/position.ts'
import { ETH, line, market, order, positionRow, status, usd } from './rows.ts'

const side = {
  marketToken: ETH,
  direction: 'long',
  collateralToken: positionRow().collateralToken,
  sinceMs: 0,
  uncoveredUsd: usd(400),
} as const

test('a position says how far it is from its liquidation, to either side, and 0 where that is reached', () => {
  const distances = [
    positionRow(),
    positionRow({ direction: 'short', liquidationPrice: usd(2_500) }),
    positionRow({ liquidationPrice: usd(2_001) }),
    positionRow({ liquidationPrice: undefined } as never),
  ].map((row) => shownPositions(status({ positions: [row] }), [], [])[0]?.distanceBps)
  expect(distances).toEqual([2_500, 2_500, 0, undefined])
})

test('a position without a stop is told from one with it, and from one that was not looked at', () => {
  const stopOf = (over: Parameters<typeof status>[0]) =>
    shownPositions(status({ positions: [positionRow()], ...over }), [], [])[0]?.bareUsd
  const lower = { ...side, marketToken: side.marketToken.toLowerCase() as typeof side.marketToken }
  expect([stopOf({ withoutStop: [lower] }), stopOf({ withoutStop: [] }), stopOf({})]).toEqual([
    10n ** 30n * 400n,
    0n,
    undefined,
  ])
})

test('the PnL of a position is after all costs where the venue says them, and says so where it is not', () => {
  const whole = shownPositions(status({ positions: [positionRow()] }), [], [])[0]
  const part = shownPositions(
    status({ positions: [positionRow({ pnlAfterAllFeesUsd: undefined } as never)] }),
    [],
    [],
  )[0]
  expect([whole?.pnlUsd, whole?.isAfterAllCosts]).toEqual([BigInt(usd(1)), true])
  expect([part?.pnlUsd, part?.isAfterAllCosts]).toEqual([BigInt(usd(2)), false])
  // The figure that chats and summaries of days tell.
  const told = [
    pnlIfClosed({ pnlAfterFeesUsd: BigInt(usd(2)), pnlAfterAllFeesUsd: BigInt(usd(1)) }),
    pnlIfClosed({ pnlAfterFeesUsd: BigInt(usd(2)) }),
  ]
  expect(told.map((each) => [each.usd, each.hasClosingCosts])).toEqual(
    [whole, part].map((each) => [each?.pnlUsd, each?.isAfterAllCosts]),
  )
})

const marked = (equity: number, peak: number, start: number) =>
  status({
    equity: {
      equityUsd: usd(equity),
      peakUsd: usd(peak),
      dayStartMs: 0,
      dayStartUsd: usd(start),
      isEquitySettling: false,
    },
  })

test('the day and the drawdown are differences of exact figures', () => {
  expect(dayPnlOf(marked(90, 120, 100))).toBe(BigInt(`-${usd(10)}`))
  expect(drawdownTextOf(marked(90, 120, 100))).toBe('25.00%')
  expect([dayPnlOf(status()), drawdownTextOf(status())]).toEqual([undefined, undefined])
})

test('the drawdown of a curve is from its highest figure so far', () => {
  const points = [100, 80, 110, 99].map((dollars, atMs) => ({ atMs, equityUsd: usd(dollars) }))
  expect(drawdowns(points)).toEqual([0, 200_000, 0, 100_000])
  expect(drawdowns(points, BigInt(usd(200)))[0]).toBe(500_000)
})

test('a deposit or a withdrawal is marked on the curve and is no fall, and hides none', () => {
  const at = (atMs: number, dollars: number) => ({ atMs, equityUsd: usd(dollars) })
  const points = [at(0, 1_000), at(10, 900), at(20, 450), at(30, 405), at(40, 4_050)]
  const transfers = [
    { atMs: 15, amountUsd: `-${usd(450)}` },
    { atMs: 40, amountUsd: usd(3_645) },
  ]
  expect(drawdowns(points, 0n, transfers)).toEqual([0, 100_000, 100_000, 190_000, 190_000])
  expect(transferSteps(points, transfers)).toEqual([
    ...[undefined, undefined, -BigInt(usd(450)), undefined],
    BigInt(usd(3_645)),
  ])
  // The highest of before the first point, as it counts after both.
  expect(drawdowns(points, BigInt(usd(10_000)), transfers)).toEqual([
    500_000, 550_000, 550_000, 595_000, 595_000,
  ])
  // All of it left: the curve begins anew.
  expect(
    drawdowns([at(0, 100), at(10, 0), at(20, 50)], 0n, [
      { atMs: 5, amountUsd: `-${usd(100)}` },
      { atMs: 15, amountUsd: usd(50) },
    ]),
  ).toEqual([0, 0, 0])
})

test('a deposit of $5,000 moves neither PnL nor drawdown: the equity without deposits goes on as if there had been none', () => {
  const before = [1_000, 1_010, 1_005].map((dollars, atMs) => ({ atMs, equityUsd: usd(dollars) }))
  const after = [6_005, 6_008, 6_012].map((dollars, at) => ({ atMs: 3 + at, equityUsd: usd(dollars) }))
  const points = [...before, ...after]
  const transfers = [{ atMs: 3, amountUsd: usd(5_000) }]
  const dollars = lessDeposits(points, transfers).map((each) => Number(each / 10n ** 30n))
  expect(dollars).toEqual([1_000, 1_010, 1_005, 1_005, 1_008, 1_012])
  const falls = drawdowns(points, 0n, transfers)
  expect(falls[3]).toBe(falls[2])
  expect(transferSteps(points, transfers)[3]).toBe(BigInt(usd(5_000)))
  // One before the curve begins is on no point of it.
  expect(lessDeposits(points, [{ atMs: 0, amountUsd: usd(700) }])[5]).toBe(BigInt(usd(6_012)))
})

test('limits show what the daemon counted of them, and nothing where it counts nothing', () => {
  const bars = limitBars([
    { scope: 'account', limit: 'executionFeesPerDay', value: '0.02', used: '0.005', usedShareBps: 2_500 },
    { scope: 'breakers', limit: 'maxDrawdownBps', value: '2000', used: '2100', usedShareBps: 10_500 },
    { scope: 'account', limit: 'maxPositionSizeUsd', value: '$400.00' },
    { scope: 'account', limit: 'maxSlippageBps', value: '100' },
  ])
  expect(bars.map((bar) => bar.shareBps)).toEqual([2_500, 10_500, undefined, undefined])
  expect(bars.map((bar) => bar.used)).toEqual(['0.005', '2100', undefined, undefined])
})

test('a limit reads in the unit that its name says', () => {
  const read = (limit: string, value: string) => limitText({ limit, value })
  // What is used of the chain's coin has eighteen decimals.
  expect(read('executionFeesPerDay', '0.000428223628350001')).toBe('0.000428')
  expect(read('executionFeesPerDay', '0.2')).toBe('0.2')
  expect([
    read('maxSlippageBps', '100'),
    read('maxLeverageBps', '50000'),
    read('staleMs', '120000'),
    read('reserveSeconds', '3600'),
    read('maxOrdersPerHour', '60'),
    read('maxOrderSizeUsd', '$2,500.00'),
  ]).toEqual(['1.00%', '5.00x', '2 min 0 s', '1 h 0 min', '60', '$2,500.00'])
})

test('a limit in the coin of the chain says so, since its name does not', () => {
  for (const [limit, { unit }] of Object.entries(limitTable)) {
    const expected = unit === 'native' ? "account, in the chain's coin" : 'account'
    expect(limitScope({ scope: 'account', limit }), limit).toBe(expected)
  }
})

test('markets that are in use come first, and others when they are looked for', () => {
  const markets = [
    market('BTC/USD [BTC-USDC]', { capacityLongUsd: usd(99) }),
    market('ETH/USD [WETH-USDC]', { marketToken: ETH }),
    market('SOL/USD [SOL-USDC]', { capacityLongUsd: null, capacityShortUsd: null }),
  ]
  const shown = (find: string, isAll: boolean) =>
    shownMarkets({ markets, find, status: status({ positions: [positionRow()] }) }, isAll).map(({ symbol }) =>
      symbol.slice(0, 3),
    )
  expect([shown('', false), shown('', true), shown('sol', false)]).toEqual([
    ['ETH'],
    ['ETH', 'BTC', 'SOL'],
    ['SOL'],
  ])
})

test('lines are filtered by level, by text, and by a strategy whose name is a whole word', () => {
  const lines = [
    line(1, { text: 'eth wants to open' }),
    line(2, { text: 'eth-trend wants to open', level: 'warn' }),
    line(3, { text: 'paused: eth', level: 'error' }),
  ]
  const seqs = (filter: Partial<Parameters<typeof shownLines>[1]>) =>
    shownLines(lines, { level: 'info', strategy: '', texts: [], ...filter }).map(({ seq }) => seq)
  expect([
    seqs({}),
    seqs({ level: 'warn' }),
    seqs({ strategy: 'eth' }),
    seqs({ texts: ['trend', 'wants'] }),
  ]).toEqual([[3, 2, 1], [3, 2], [3, 1], [2]])
})

test('the PnL of an order is that of all its fills, and there is none before the first', () => {
  const leg = { role: 'main', status: 'filled', pnlUsd: usd(2) } as never
  const open = { role: 'main', status: 'resting', pnlUsd: null } as never
  expect([orderPnlOf(order('a')), orderPnlOf(order('a', { legs: [leg, open, leg] }))]).toEqual([
    undefined,
    BigInt(usd(4)),
  ])
})

test('an order is cancelled while it is open and something of it may rest', () => {
  const leg = (is: string) => [{ status: is }] as never
  expect(
    [
      order('a'),
      order('a', { legs: leg('resting') }),
      order('a', { legs: leg('filled') }),
      order('a', { closedAt: '1970-01-01T00:00:00.000Z' }),
    ].map(isCancellable),
  ).toEqual([true, true, false, false])
})

test('an empty page computes nothing and fails at nothing', () => {
  expect(shownMarkets(emptyPage, false)).toEqual([])
  expect(limitBars([])).toEqual([])
})

test('an order of several parts that were not all filled says how much of it was', () => {
  const part = (status: 'filled' | 'cancelled', dollars: number) =>
    ({ role: 'part', status, sizeDeltaUsd: usd(dollars) }) as never
  const filled = (...legs: readonly never[]) => partFilledUsd(order('a', { legs, sizeDeltaUsd: usd(200) }))
  expect(filled(part('filled', 100), part('cancelled', 100))).toBe(BigInt(usd(100)))
  expect(filled(part('filled', 100), part('filled', 100))).toBeUndefined()
  expect(filled(part('filled', 200))).toBeUndefined()
  expect(filled()).toBeUndefined()
})

test('a kill that does not close says that positions stay and which lack stops, and one that closes how many are left', () => {
  const kill = (close: boolean) => ({
    close,
    by: 'ann',
    sinceMs: 0,
    left: { orders: 0, positions: close ? 1 : 0, inFlight: 0 },
  })
  const stays = (uncoveredUsd: string) => ({
    stays: [{ symbol: 'ETH/USD', direction: 'long' as const, sizeUsd: '5', exits: [], uncoveredUsd }],
  })
  const told = (close: boolean, uncoveredUsd = '0'): string =>
    killLeftText({ ...kill(close), ...stays(uncoveredUsd) }, status({ positions: [positionRow()] }))
  expect(told(false, '5')).toBe(
    'left: 0 orders, 0 in flight; 1 position stays, 1 without a stop-loss for all of it',
  )
  expect(told(false)).toBe(
    'left: 0 orders, 0 in flight; 1 position stays, each with a stop-loss for all of it',
  )
  expect(told(true)).toBe('left: 0 orders, 1 position, 0 in flight')
})

test('pools that only swap and delisted markets are not among those that a chart is chosen of', () => {
  const markets = [
    market('ETH/USD [WETH-USDC]', { marketToken: ETH }),
    market('SWAP-ONLY [USDC-USDT]', {}),
    market('OLD/USD [WETH-USDC]', { status: 'delisted' }),
  ]
  expect(tradable(markets)).toEqual(['ETH/USD [WETH-USDC]'])
})
