/** Tables that fit: columns that matter less go first, and no word is broken. */
import { expect, test } from 'vitest'
import { closingsOf } from '../../src/cli/commands/closeAllCommand.ts'
import { closeText, isYes, quoteText } from '../../src/cli/commands/manualOrderCommand.ts'
import { marketsText } from '../../src/cli/commands/marketsCommand.ts'
import { positionsText } from '../../src/cli/commands/positionsCommand.ts'
import { statusText } from '../../src/cli/commands/statusCommand.ts'
import { strategiesText, strategyRows } from '../../src/cli/commands/strategiesCommand.ts'
import { tradesText } from '../../src/cli/commands/tradesCommand.ts'
import { type Column, fitTable } from '../../src/cli/output/fitTable.ts'
import type { StatusBody } from '../../src/control/routes.ts'
import { orderRow, toPlain } from '../../src/domain/views/orderView.ts'
import { tradeRows } from '../../src/domain/views/tradeView.ts'
import { createLogRing } from '../../src/monitor/log/logRing.ts'
import { marketsNamed } from '../../src/protocol/marketName.ts'
import { usd } from '../../src/protocol/units.ts'
import { engine, status } from '../control/door.ts'
import { armedState, executedState, symbol } from '../monitor/events.ts'

interface Row {
  readonly name: string
  readonly note: string
}
const columns: readonly Column<Row>[] = [
  { title: 'NAME', rank: 0, of: ({ name }) => name },
  { title: 'MORE', rank: 2, of: () => 'x'.repeat(30) },
  { title: 'LESS', rank: 1, of: () => 'y'.repeat(30) },
  { title: 'NOTE', rank: 0, wraps: true, of: ({ note }) => note },
]
const row = { name: 'one', note: 'words that are wrapped between each other and never inside of one' }
const longest = (text: string) => Math.max(...text.split('\n').map(({ length }) => length))

test('columns are left out by rank until the rest fits, texts are wrapped, and wider terminals show all', () => {
  const narrow = fitTable(columns, [row], 60)
  expect(narrow).toMatchInlineSnapshot(`
    "NAME  LESS                            NOTE
    one   yyyyyyyyyyyyyyyyyyyyyyyyyyyyyy  words that are wrapped
                                          between each other and
                                          never inside of one

    Not shown in 60 columns: MORE. A terminal of 77 shows all;
    so does --json."
  `)
  expect(fitTable(columns, [row], 30)).not.toContain('LESS  ')
  expect(fitTable(columns, [row], 77)).not.toContain('Not shown')
  const wide = fitTable(columns, [row], 200)
  expect(wide).toContain('MORE')
  expect(wide.split('\n')).toHaveLength(2)
})

const body: StatusBody = toPlain({ ...status, openIntents: status.openIntents.map(orderRow) })

test('positions and status say which fill the list lacks, and that an exposure is the careful reading', () => {
  const unlisted = 'long ETH/USD is $500.00 by its fills and $0.00 in the list, which does not show it yet'
  const settling = {
    ...body,
    positions: [],
    unlistedFills: [unlisted],
    exposureMaybeTwiceUsd: usd(500).toString(),
  }
  const said = (text: string) => text.replaceAll(/\s+/g, ' ')
  expect(said(positionsText([], settling, 80))).toContain(unlisted)
  expect(said(statusText(settling))).toContain(unlisted)
  expect(said(statusText(settling))).toContain(
    'exposure at most $1,000.00 ($500.00 of it may be one fill counted twice)',
  )
  expect(statusText(body)).toContain('exposure $1,000.00,')
})

test('every table fits 80 columns and has its figures', async () => {
  const positions = positionsText(
    body.positions.map((each) => ({ ...each, market: symbol, managers: [], ageMs: 1_000 })),
    body,
    80,
  )
  const trades = tradesText(
    [executedState, armedState].flatMap((state) => tradeRows(state)),
    80,
  )
  const markets = marketsText(toPlain(await engine.markets()), 0, 80)
  const quote = quoteText({
    market: symbol,
    direction: 'long',
    orderType: 'market',
    sizeUsd: usd(500).toString(),
    leverageBps: 20_000,
    collateral: '250 USDC',
    referencePrice: usd(3_000).toString(),
    triggerPrice: null,
    exits: [{ type: 'stop-loss', triggerPrice: usd(2_800).toString() }],
    worstPrice: usd(3_060).toString(),
    worstPriceUsd: usd(10).toString(),
    venueFeesUsd: usd('0.5').toString(),
    venueFeeBps100: 1_000,
    orderFeesUsd: usd(5).toString(),
    worstCostUsd: usd('15.5').toString(),
    managers: ['eth-trend'],
    guardWarnings: [
      'guard would reduce it at once: its liquidation would be about 7.9% away, and guard keeps it 8% away; take less leverage',
    ],
  })
  for (const text of [positions, trades, markets, quote]) expect(longest(text), text).toBeLessThanOrEqual(80)
  expect(positions).toContain('PNL')
  expect(markets).toContain('CAPACITY')
  expect(markets).toMatch(/FEE \(BPS\)[\s\S]* \d+\/\d+\b/)
  expect(markets.replace(/\s+/g, ' ')).toContain('the first figure where the order balances longs and shorts')
  expect(quote).toContain('worst cost  at most $15.50')
  expect(quote.replace(/\s+/g, ' ')).toContain("the venue's fee is at most $0.50 (10 bps)")
  expect(quote).toContain('eth-trend trades this market too')
  expect(quote).toContain('WARNING     guard would reduce it at once')
  const close = (positions: typeof body.positions, shareBps: number) =>
    closeText({ positions, symbols: body.symbols }, { market: 'ETH', direction: 'long', shareBps })
  expect(close(body.positions, 10_000).replace(/\s+/g, ' ')).toBe(
    `close all of the long ${symbol} of $500.00, at the market; its PnL is $0.99 now`,
  )
  expect(close(body.positions, 5_000)).toContain('50% of the long')
  expect(close([], 10_000)).toBe('close       all of the long ETH, at the market')
})

test('a question is answered by the very word that it asks for', () => {
  expect(['yes', ' yes ', 'y', 'Y', 'ye', 'YES', '', 'yes please'].filter(isYes)).toEqual(['yes', ' yes '])
})

test('positions at 80 columns name what they leave out, and keep size, liquidation, PnL and who manages it', () => {
  const [one] = body.positions
  if (one === undefined) throw new Error('no position')
  const large = usd(1_234_567).toString()
  const row = {
    ...one,
    ...{ market: 'AVAX/USD [WAVAX-USDC]', managers: ['eth-trend', 'guard'], ageMs: 1_000 },
    ...{
      sizeInUsd: large,
      entryPrice: large,
      markPrice: large,
      liquidationPrice: large,
      pnlAfterFeesUsd: large,
    },
    ...{ remainingCollateralUsd: large, leverageBps: '20000' },
  }
  const narrow = positionsText([row], body, 80)
  expect(longest(narrow), narrow).toBeLessThanOrEqual(80)
  const [titles = ''] = narrow.split('\n')
  for (const title of ['MARKET', 'SIZE', 'LIQUIDATION', 'PNL', 'MANAGED BY']) expect(titles).toContain(title)
  const [, columnsNeeded] =
    /Not shown in 80 columns: ENTRY, MARK, COLLATERAL, LEVERAGE\. A terminal of (\d+) shows all; so does --json\./.exec(
      narrow.replaceAll('\n', ' '),
    ) ?? []
  const wide = positionsText([row], body, Number(columnsNeeded))
  expect(wide.split('\n')[0]).toMatch(/MARK .*COLLATERAL +LEVERAGE/)
  expect(wide).not.toContain('Not shown')
})

test('positions tell which exit another client changed, with what is in force and what was signed', () => {
  const [open] = body.openIntents
  if (open === undefined) throw new Error('no order')
  const leg = {
    ...({ role: 'stop-loss', status: 'resting', orderKey: '0x0e', isProvisional: false } as const),
    ...{ executionPrice: null, feesUsd: null, pnlUsd: null, inForceUsd: null },
    ...{ triggerPrice: usd(900).toString(), sizeDeltaUsd: usd(500).toString() },
  }
  const changedFrom = { triggerPrice: usd(1_200).toString(), sizeDeltaUsd: usd(500).toString() }
  const shown = (changed: typeof changedFrom | null) =>
    positionsText([], { ...body, openIntents: [{ ...open, legs: [{ ...leg, changedFrom: changed }] }] }, 80)
  expect(longest(shown(changedFrom))).toBeLessThanOrEqual(80)
  expect(shown(changedFrom).replace(/\s+/g, ' ')).toContain(
    `stop-loss of ${symbol} long: another client changed it: in force trigger $900.00, signed $1,200.00`,
  )
  expect(shown(null)).not.toContain('another client')
})

test('what a narrow screen leaves out is not explained below the table', async () => {
  const rows = toPlain(await engine.markets())
  const wide = marketsText(rows, 0, 200)
  const narrow = marketsText(rows, 0, 60)
  expect([/FEE \(BPS\) /.test(wide), wide.includes('The fee is in')]).toEqual([true, true])
  expect([/FEE \(BPS\) /.test(narrow), narrow.includes('The fee is in')]).toEqual([false, false])
  const held = body.positions.map((each) => ({ ...each, market: symbol, managers: [], ageMs: 1_000 }))
  expect(positionsText(held, body, 200).replace(/\s+/g, ' ')).toContain('Entry is the price')
  expect(positionsText(held, body, 60)).not.toContain('Entry is the price')
})

test('a strategy at 80 columns takes no more lines than its words need', () => {
  const rows = strategyRows(body, [], [], { enabled: new Map(), disabled: [], isWhole: false }).map(
    (each) => ({
      ...each,
      positions: ['long ETH/USD [WETH-USDC] $500.00', 'short BTC/USD [BTC-USDC] $1,500.00'],
      lastDecision: {
        ...{ strategy: each.name, atMs: body.nowMs, words: 'increase long ETH/USD [WETH-USDC] $500.00' },
        ...{ outcome: 'admitted' as const },
      },
    }),
  )
  const text = strategiesText(rows, body.nowMs, 80)
  expect(longest(text), text).toBeLessThanOrEqual(80)
  expect(text).toMatch(/long ETH\/USD \$500\.00$/m)
  expect(text).toMatch(/short BTC\/USD \$1,500\.00$/m)
  expect(text.split('\n').length, text).toBeLessThanOrEqual(1 + 3 * rows.length + 2)
})

test('two positions on one side of a market are closed by the token that backs each, and each has an id of its own', () => {
  const [one] = body.positions
  if (one === undefined) throw new Error('no position')
  const closings = closingsOf(
    { positions: [one, { ...one, collateralToken: '0xaf88' }, { ...one, sizeInUsd: '0' }], symbols: {} },
    { id: 'x', shareBps: 10_000, by: 'ann' },
  )
  expect(closings.map(({ body: sent }) => sent.collateral)).toEqual(['long', 'short'])
  expect(new Set(closings.map(({ body: sent }) => sent.id)).size).toBe(2)
  const [alone] = closingsOf({ positions: [one], symbols: {} }, { id: 'x', shareBps: 5_000, by: 'ann' })
  expect(alone?.body).not.toHaveProperty('collateral')
  expect(alone?.sizeUsd).toBe(BigInt(one.sizeInUsd) / 2n)
})

test('strategies are told apart: running, disabled, new in the files, and removed with what they left', () => {
  const left = {
    ...(body.openIntents[0] as NonNullable<(typeof body.openIntents)[number]>),
    strategy: 'old-one',
  }
  const rows = strategyRows(body, [], [left], {
    enabled: new Map([['newer', { kind: 'trend', symbols: [] }]]),
    disabled: ['asleep'],
    isWhole: true,
  })
  expect(rows.map(({ name, state }) => [name, state])).toEqual([
    ['eth-trend', 'enabled, removed at a restart'],
    ['newer', 'new, runs after a restart'],
    ['asleep', 'disabled'],
    ['old-one', 'removed'],
  ])
  expect(rows.at(-1)?.positions.join()).toContain(`long ${symbol}`)
})

test('a market is named by its symbol, its pair or its token, and a whole symbol wins', () => {
  const all = ['ETH/USD [WETH-USDC]', 'ETH/USD [WETH-WETH]', 'BTC/USD [BTC-USDC]'].map((each, at) => ({
    symbol: each,
    marketToken: `0x${at}`,
  }))
  expect(marketsNamed(all, 'eth').map(({ marketToken }) => marketToken)).toEqual(['0x0', '0x1'])
  expect(marketsNamed(all, 'eth/usd [weth-weth]').map(({ marketToken }) => marketToken)).toEqual(['0x1'])
  expect(marketsNamed(all, 'BTC/USD')).toHaveLength(1)
  expect(marketsNamed(all, '0x2')).toHaveLength(1)
  expect(marketsNamed(all, 'USDC')).toEqual([])
})

test('the ring keeps the newest lines, and gives those after a number and of a level', () => {
  const ring = createLogRing('run-1', 3)
  for (let at = 1; at <= 10; at += 1) {
    const level = at % 2 === 0 ? 'warn' : 'info'
    ring.keep({ atMs: at, level, word: 'order', text: `line ${at}`, event: 'note' })
  }
  const texts = (after: number, level: 'info' | 'warn') =>
    ring.read({ after, limit: 100, level }).lines.map(({ text }) => text)
  expect(texts(0, 'info')).toEqual(['line 8', 'line 9', 'line 10'])
  expect(texts(9, 'info')).toEqual(['line 10'])
  expect(texts(0, 'warn')).toEqual(['line 8', 'line 10'])
  expect(ring.read({ after: 0, limit: 1, level: 'info' })).toMatchObject({ newest: 10, lines: [{ seq: 10 }] })
})
