/** `perpd pnl`: what every strategy brought, after all costs, by its book. Works with the daemon running or not. */

import { csvText } from '../../base/csvText.ts'
import { systemClock } from '../../base/systemClock.ts'
import { resultsOf, sumOf } from '../../books/bookView.ts'
import {
  isOfDays,
  type PnlGrouping,
  type PnlItem,
  type PnlRow,
  pnlGroupings,
  pnlRows,
} from '../../books/pnlRows.ts'
import { tableOfCents } from '../../books/wholeCents.ts'
import { CommandError, exitCodes } from '../../config/exit.ts'
import { withJournal } from '../../daemon/journalFile.ts'
import { authorText } from '../../domain/accountRecords/operatorName.ts'
import { toPlain } from '../../domain/summaries/orderView.ts'

import { formatUnits, USD_DECIMALS, type Usd } from '../../protocol/units.ts'
import type { Call } from '../call/command.ts'
import { type Column, fitTable } from '../output/fitTable.ts'
import { centsCell, moneyCell } from '../output/moneyCell.ts'
import { wrapped } from '../output/screen.ts'
import { sinceOf } from './sinceFlag.ts'

/** Shows results, as text, with `--json`, or with `--csv`. */
export async function pnl({ loaded, flags, width, out }: Call): Promise<number> {
  const by = groupingOf(flags.get('by'))
  const nowMs = systemClock.now()
  const sinceMs = sinceOf(flags.get('since'), nowMs)
  const items = await withJournal(loaded.config, async (journal): Promise<readonly PnlItem[]> => {
    // Only a reading of all records knows every day.
    if (!isOfDays(by) && sinceMs === undefined) return (await journal.books()).all()
    return (await journal.tradingHistory()).books.days(sinceMs ?? 0)
  })
  const rows = pnlRows(items, by, loaded.config.venue.chain.facts)
  if (flags.has('json')) out(JSON.stringify(toPlain(rows), undefined, 2))
  else if (flags.has('csv')) out(pnlCsv(rows, by))
  else out(pnlText(rows, by, width))
  return exitCodes.ok
}

function groupingOf(word: string | true | undefined): PnlGrouping {
  const found = pnlGroupings.find((each) => each === (word ?? 'strategy'))
  if (found !== undefined) return found
  throw new CommandError(
    `--by is ${String(word)}; expected strategy, market, day, week or month.`,
    exitCodes.error,
  )
}

const TOTAL = 'all'

/** A column of dollars that is a part of the PnL, signed as it counts there. */
interface PartColumn {
  readonly title: string
  readonly rank: number
  readonly of: (row: PnlRow) => Usd
}

const partColumns: readonly PartColumn[] = [
  { title: 'PRICE', rank: 3, of: ({ pricePnlUsd }) => pricePnlUsd },
  { title: 'IMPACT', rank: 6, of: ({ impactUsd }) => impactUsd },
  { title: 'FEES', rank: 4, of: ({ positionFeesUsd }) => -positionFeesUsd },
  { title: 'FUNDING', rank: 5, of: ({ fundingUsd, borrowingUsd }) => -fundingUsd - borrowingUsd },
  { title: 'SENDING', rank: 5, of: ({ relayFeesUsd }) => -relayFeesUsd },
  { title: 'SWAPS', rank: 7, of: ({ swapUsd }) => swapUsd },
]

/** A row with its amounts in cents that add up. */
interface ShownRow {
  readonly row: PnlRow
  readonly parts: readonly Usd[]
  readonly sumUsd: Usd
}

const columnsBy = (by: PnlGrouping): readonly Column<ShownRow>[] => [
  { title: by.toUpperCase(), rank: 0, wraps: true, isName: true, of: ({ row }) => authorText(row.name) },
  { title: 'PNL', rank: 0, isFigure: true, of: ({ row, sumUsd }) => centsCell(row.pnlUsd, sumUsd) },
  ...partColumns.map(
    ({ title, rank, of }, at): Column<ShownRow> => ({
      title,
      rank,
      isFigure: true,
      of: ({ row, parts }) =>
        title === 'SWAPS' && row.swapUsd === 0n ? '' : centsCell(of(row), parts[at] ?? 0n),
    }),
  ),
  {
    title: 'WON',
    rank: 1,
    isFigure: true,
    of: ({ row: { wins, trades } }) => (trades === 0 ? '' : `${wins} of ${trades}`),
  },
  {
    title: 'HELD',
    rank: 2,
    isFigure: true,
    of: ({ row: { heldUsd } }) => (heldUsd === undefined ? '' : moneyCell(heldUsd)),
  },
]

/** The table, and what its figures are. */
export function pnlText(rows: readonly PnlRow[], by: PnlGrouping, width: number): string {
  if (rows.length === 0) return 'No results yet.'
  const all: PnlRow = { name: TOTAL, ...resultsOf(sumOf(rows)) }
  const cents = tableOfCents(
    rows.map((row) => ({ parts: partColumns.map(({ of }) => of(row)), sumUsd: row.pnlUsd })),
  )
  const shown = rows.flatMap((row, at): readonly ShownRow[] => {
    const own = cents.rows[at]
    return own === undefined ? [] : [{ row, ...own }]
  })
  const legend = wrapped(
    '',
    'PnL is realized PnL after all costs: price impact, fees, funding, borrowing, and sending messages. A partial close counts on its day (UTC), and as one in WON; perpd trades --round-trips counts closed trades. Strategies that share a position each have the PnL from their own entry. Cents are rounded so that rows and columns add up; --json has the exact amounts. For unrealized PnL: perpd positions.',
    Math.min(width, 80),
  )
  const lines = rows.length === 1 ? shown : [...shown, { row: all, ...cents.total }]
  return [fitTable(columnsBy(by), lines, width), '', ...legend].join('\n')
}

/** The same for a spreadsheet: all digits, and the sum of the rows last. */
function pnlCsv(rows: readonly PnlRow[], by: PnlGrouping): string {
  const dollars = (amount: Usd): string => formatUnits(amount, USD_DECIMALS)
  const names = [
    by,
    'pnl_usd',
    'price_pnl_usd',
    'price_impact_usd',
    'position_fees_usd',
    'funding_usd',
    'borrowing_usd',
    'sending_usd',
    'swaps_usd',
    'trades',
    'wins',
    'held_usd',
  ]
  const all: PnlRow = { name: TOTAL, ...resultsOf(sumOf(rows)) }
  return csvText(
    names,
    [...rows, all].map((row) => [
      row.name,
      ...[row.pnlUsd, row.pricePnlUsd, row.impactUsd, row.positionFeesUsd].map(dollars),
      ...[row.fundingUsd, row.borrowingUsd, row.relayFeesUsd, row.swapUsd].map(dollars),
      row.trades,
      row.wins,
      row.heldUsd === undefined ? null : dollars(row.heldUsd),
    ]),
  )
}
