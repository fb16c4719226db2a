import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { csvText } from '../../src/base/csvText.ts'
import { main } from '../../src/cli/main.ts'
import { booksTable } from '../../src/cli/results/booksTable.ts'
import { sinceOf } from '../../src/cli/results/sinceFlag.ts'
import { positionRows, positionsCsv } from '../../src/cli/verbs/positionsCommand.ts'
import type { StatusBody } from '../../src/control/routes.ts'
import { isAccountRecord } from '../../src/domain/records.ts'
import { orderRow, toPlain } from '../../src/domain/summaries/orderView.ts'
import { createSqliteJournal } from '../../src/journal/sqlite/openSqlite.ts'
import { usd } from '../../src/protocol/units.ts'
import { closed, executed, type Fill, raised } from '../books/history.ts'
import { engine, status } from '../control/door.ts'
import { symbol } from '../monitor/events.ts'
import { ethMarket, intentOf, startMs, usdc } from '../support/intents.ts'
import { perpd } from './run.ts'

let cwd: string
const eth = 10n ** 18n
const hour = 3_600_000
const { terms } = intentOf()

/** Two strategies on one side; a guard reduces both, grid closes its rest, and trend is liquidated the day after. */
const fills: readonly Fill[] = [
  {
    n: 1,
    strategy: 'trend',
    atMs: startMs,
    settlement: { sizeDeltaUsd: usd(2_000), sizeDeltaInTokens: eth, feesUsd: usd(1) },
  },
  {
    n: 2,
    strategy: 'grid',
    atMs: startMs + hour,
    settlement: { sizeDeltaUsd: usd(2_000), sizeDeltaInTokens: eth, feesUsd: usd(1) },
  },
  {
    n: 3,
    strategy: 'guard',
    kind: 'decrease',
    atMs: startMs + 2 * hour,
    settlement: {
      sizeDeltaUsd: usd(2_000),
      sizeDeltaInTokens: eth,
      basePnlUsd: usd(100),
      pnlUsd: usd(98),
      feesUsd: usd(2),
    },
  },
  {
    n: 4,
    strategy: 'grid',
    kind: 'decrease',
    atMs: startMs + 3 * hour,
    settlement: {
      sizeDeltaUsd: usd(1_000),
      sizeDeltaInTokens: eth / 2n,
      basePnlUsd: usd(50),
      pnlUsd: usd(45),
      feesUsd: usd(4),
      fundingFeeUsd: usd(2),
    },
  },
].map((fill) => ({ ...fill, kind: 'increase', terms, relayFeeAmount: 500_000n, ...fill }) as Fill)

beforeAll(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'perpd-pnl-'))
  const journal = createSqliteJournal({
    path: join(cwd, 'var/paper/journal.db'),
    clockNow: () => startMs,
    holder: 'test',
  })
  const liquidation = raised('trade:9', 'liquidation', usd(-1_000), {
    pnlUsd: usd(-80),
    atMs: startMs + 24 * hour,
    on: { marketToken: ethMarket, direction: 'long', collateralToken: usdc },
  })
  for (const record of [...fills.flatMap((fill) => [...executed(fill), closed(fill)]), liquidation]) {
    if (isAccountRecord(record)) await journal.appendAccount(record)
    else await journal.append(record)
  }
  await journal.close()
})
afterAll(() => rmSync(cwd, { recursive: true }))

/** As a person reads it, in 80 columns. */
async function shown(...argv: readonly string[]): Promise<string> {
  const out: string[] = []
  const code = await main(argv, {
    env: {},
    cwd,
    width: 80,
    out: (text) => void out.push(text),
    err: () => undefined,
  })
  expect(code).toBe(0)
  return out.join('\n')
}

test('pnl tells what each strategy brought after all costs, in 80 columns', async () => {
  const out = await shown('pnl')
  expect(out).toMatchInlineSnapshot(`
    "STRATEGY      PNL    PRICE  IMPACT    FEES  FUNDING  SENDING     WON   HELD
    grid       $93.00  $100.00  -$1.00  -$4.00   -$1.00   -$1.00  2 of 2  $0.00
    guard      -$0.50    $0.00   $0.00   $0.00    $0.00   -$0.50          $0.00
    trend     -$33.50  -$30.00   $0.00  -$2.00   -$1.00   -$0.50  1 of 2  $0.00
    all        $59.00   $70.00  -$1.00  -$6.00   -$2.00   -$2.00  3 of 4

    PnL is realized PnL after all costs: price impact, fees, funding, borrowing, and
    sending messages. A partial close counts on its day (UTC), and as one in WON;
    perpd trades --round-trips counts closed trades. Strategies that share a
    position each have the PnL from their own entry. Cents are rounded so that rows
    and columns add up; --json has the exact amounts. For unrealized PnL: perpd
    positions."
  `)
  for (const line of out.split('\n')) expect(line.length).toBeLessThanOrEqual(80)
})

test('pnl by day has a row for each day, and --since leaves out what is older', async () => {
  const rows = async (...argv: string[]) =>
    JSON.parse((await perpd(cwd, ['pnl', '--json', ...argv])).out).map(
      ({ name, pnlUsd }: { name: string; pnlUsd: string }) => [name, Number(pnlUsd) / 1e30],
    )
  expect(await rows('--by', 'day')).toEqual([
    ['2027-01-15', 139],
    ['2027-01-16', -80],
  ])
  expect(await rows('--by', 'market', '--since', '2027-01-16')).toEqual([[symbol, -80]])
  expect(await rows('--by', 'market')).toEqual([[symbol, 59]])
})

test('pnl --csv is for a spreadsheet: plain decimals, a line of names', async () => {
  const out = await shown('pnl', '--csv', '--by', 'day')
  expect(out.split('\n')).toEqual([
    'day,pnl_usd,price_pnl_usd,price_impact_usd,position_fees_usd,funding_usd,borrowing_usd,sending_usd,swaps_usd,trades,wins,held_usd',
    '2027-01-15,139,150,-1,6,2,0,2,0,3,3,',
    '2027-01-16,-80,-80,0,0,0,0,0,0,1,0,',
    'all,59,70,-1,6,2,0,2,0,4,3,',
  ])
})

test('pnl refuses what it does not know', async () => {
  expect(await perpd(cwd, ['pnl', '--by', 'year'])).toMatchObject({
    code: 1,
    err: '--by is year; expected strategy, market, day, week or month.',
  })
  expect(await perpd(cwd, ['pnl', '--since', 'monday'])).toMatchObject({
    code: 1,
    err: '--since is monday; expected a day as 2027-01-15, or 7d for the last seven.',
  })
})

test('a day is of the calendar, and so many days end with today', () => {
  expect(sinceOf('2027-01-15', startMs)).toBe(Date.UTC(2027, 0, 15))
  expect(sinceOf('1d', startMs)).toBe(Date.UTC(2027, 0, 15))
  expect(sinceOf('7d', startMs)).toBe(Date.UTC(2027, 0, 9))
  expect(() => sinceOf('2027-02-31', startMs)).toThrow('--since is 2027-02-31')
})

test('trades --round-trips tells each book’s way from nothing to nothing, in 80 columns', async () => {
  const out = await shown('trades', '--round-trips')
  expect(out).toMatchInlineSnapshot(`
    "CLOSED (UTC)   STRATEGY  MARKET            SIZE      ENTRY      PNL  BY
    2027-01-16     trend     ETH/USD      $2,000.00  $2,000.00  -$33.50  liquidation
    08:00                    [WETH-USDC]
                             long
    2027-01-15     grid      ETH/USD      $2,000.00  $2,000.00   $93.00  signal
    11:00                    [WETH-USDC]
                             long
    all 2                                                        $59.50

    Not shown in 80 columns: EXIT, PRICE, FEES, FUNDING, SENDING, FOR, WHY. A
    terminal of 159 shows all; so does --json.

    A closed trade is a round trip: a strategy's part of a position, from opening to
    nothing left. PNL is after all costs: price with impact, fees, funding and
    borrowing, and sending its messages less what came back. Entry and exit are
    without price impact. R is PnL by the risk at its first stop. perpd pnl also
    counts -$0.50 outside of round trips."
  `)
  for (const line of out.split('\n')) expect(line.length).toBeLessThanOrEqual(80)
  const trips = JSON.parse((await perpd(cwd, ['trades', '--round-trips', '--json'])).out)
  expect(trips).toMatchObject([
    { strategy: 'trend', reason: 'liquidation', durationSeconds: 86_400 },
    { strategy: 'grid', durationSeconds: 7_200 },
  ])
  // What the trips brought is what the books brought, less what guard paid for its message.
  const sum = trips.reduce((all: bigint, { pnlUsd }: { pnlUsd: string }) => all + BigInt(pnlUsd), 0n)
  expect(sum).toBe(usd('59.5'))
})

test('trades --round-trips filters by exit time, side, strategy, reason and outcome; a wrong value and a filter of fills are refused', async () => {
  const names = async (...argv: string[]) =>
    JSON.parse((await perpd(cwd, ['trades', '--round-trips', '--json', ...argv])).out).map(
      ({ strategy }: { strategy: string }) => strategy,
    )
  expect(await names('--from', '2027-01-16')).toEqual(['trend'])
  expect(await names('--to', '2027-01-15', '--outcome', 'won')).toEqual(['grid'])
  expect(await names('--reason', 'liquidation', '--market', 'eth', '--side', 'long')).toEqual(['trend'])
  expect(await names('--strategy', 'grid', '--outcome', 'lost')).toEqual([])
  expect(await perpd(cwd, ['trades', '--round-trips', '--reason', 'luck'])).toMatchObject({ code: 1 })
  expect(await perpd(cwd, ['trades', '--reason', 'stop'])).toMatchObject({ code: 1 })
})

test('trades --csv has a row for each fill', async () => {
  const { out } = await perpd(cwd, ['trades', '--csv'])
  const [names = '', ...rows] = out.split('\n')
  expect(names.split(',').slice(0, 7)).toEqual([
    'filled_at',
    'strategy',
    'market',
    'direction',
    'kind',
    'size_usd',
    'price',
  ])
  expect(rows).toHaveLength(4)
  expect(rows[0]).toContain(',grid,ETH/USD [WETH-USDC],long,decrease,1000,,4,,')
})

test('trades --round-trips --csv has a row for each round trip, newest first', async () => {
  const out = await shown('trades', '--round-trips', '--csv')
  expect(out).toMatchInlineSnapshot(`
    "id,closed_at,opened_at,duration_seconds,market,market_token,direction,strategy,largest_usd,size_usd,entry_price,exit_price,reason,why,price_pnl_usd,price_impact_usd,fees_usd,funding_usd,borrowing_usd,sending_usd,pnl_usd,risk_usd,r,opened_by,closed_by
    trade:9:trend,2027-01-16T08:00:00.000Z,2027-01-15T08:00:00.000Z,86400,ETH/USD [WETH-USDC],0x70d95587d40A2caf56bd97485aB3Eec10Bee6336,long,trend,2000,2000,2000,1970,liquidation,liquidation,-30,0,2,1,0,0.5,-33.5,,,intent-1,
    0x000000000000000000000000000000000000000000000000006f726465722d34:grid,2027-01-15T11:00:00.000Z,2027-01-15T09:00:00.000Z,7200,ETH/USD [WETH-USDC],0x70d95587d40A2caf56bd97485aB3Eec10Bee6336,long,grid,2000,2000,2000,2100,signal,"the price rose; {""$bigint"":""7""} is only text here",100,-1,4,1,0,1,93,,,intent-2,intent-4
    all,,,,,,,,,4000,,,,,70,-1,6,2,0,1.5,59.5,,,,"
  `)
})

test('positions --csv has a row for each position and below it one for each part, so that no column counts twice', () => {
  const body: StatusBody = toPlain({
    ...status,
    openIntents: status.openIntents.map(orderRow),
    incidents: [],
  })
  const books = toPlain(engine.books())
  const csv = positionsCsv(positionRows(body, books), books)
  expect(csv).toMatchInlineSnapshot(`
    "market,direction,size_usd,entry_price,mark_price,liquidation_price,pnl_usd,net_pnl_usd,collateral_usd,leverage,managed_by,stop_price,target_price,uncovered_usd,owners,collateral_token,collateral_amount,part_strategy,part_size_usd,part_share,part_entry_price,part_pnl_usd
    ETH/USD [WETH-USDC],long,500,1739.51,1744,900,0.99,,249.9,1.99,eth-trend,,,,,,,,,,,
    ETH/USD [WETH-USDC],long,,,,,,,,,,,,,,,,eth-trend,300,0.6,2999.99721522,-125.600044531497336807717865132186
    ETH/USD [WETH-USDC],long,,,,,,,,,,,,,,,,unattributed,200,0.4,3333.330239133333333333333333333333,-95.360026718898402084630719079312"
  `)
  const [names = [], ...rows] = csv.split('\n').map((line) => line.split(','))
  for (const row of rows) expect(row).toHaveLength(names.length)
  const sum = (name: string) => rows.reduce((all, row) => all + Number(row[names.indexOf(name)] ?? 0), 0)
  expect(sum('part_size_usd')).toBe(sum('size_usd'))
  expect(positionsCsv(positionRows(body)).split('\n')).toHaveLength(1 + body.positions.length)
  expect(positionsCsv([]).split('\n')).toHaveLength(1)
})

test('a cell that would be a formula, or has a comma, is told as text', () => {
  expect(
    csvText(
      ['a', 'b'],
      [
        ['=1+1', 'x, "y"'],
        ['-1.5', null],
      ],
    ),
  ).toBe('a,b\n\'=1+1,"x, ""y"""\n-1.5,')
})

test('a position that several books share says whose it is; one of a single strategy does not', () => {
  const books = toPlain(engine.books())
  const held = status.positions.map((position) => ({ ...position, market: symbol }))
  const table = booksTable(held, books, 80)
  expect(table).toMatchInlineSnapshot(`
    "PART OF                   STRATEGY         SIZE  SHARE      ENTRY       PNL
    ETH/USD [WETH-USDC] long  eth-trend     $300.00  60.0%  $3,000.00  -$125.60
    ETH/USD [WETH-USDC] long  unattributed  $200.00  40.0%  $3,333.33   -$95.36"
  `)
  for (const line of table.split('\n')) expect(line.length).toBeLessThanOrEqual(80)
  expect(booksTable(held, books.slice(0, 1), 80)).toBe('')
  expect(booksTable(held, books.slice(1), 80)).toContain('unattributed')
})
