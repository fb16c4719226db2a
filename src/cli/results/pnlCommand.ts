/** `perpd pnl`: what every strategy brought, after all costs, by its book. Works with the daemon running or not. */
import { defined } from '../../base/defined.ts'
import { systemClock } from '../../base/systemClock.ts'
import { bookName, type Results, resultsOf, sumOf } from '../../books/bookView.ts'
import type { Figures } from '../../books/figures.ts'
import { CommandError, exitCodes } from '../../config/exit.ts'
import { withJournal } from '../../daemon/journalFile.ts'
import type { PositionSide } from '../../domain/accountRecords/accountRecord.ts'
import { toPlain } from '../../domain/summaries/orderView.ts'
import { hexKey } from '../../protocol/address.ts'
import type { Facts } from '../../protocol/catalogue.ts'
import { formatUnits, USD_DECIMALS, type Usd } from '../../protocol/units.ts'
import type { Call } from '../call/command.ts'
import { csvText } from '../output/csv.ts'
import { type Column, fitTable } from '../output/fitTable.ts'
import { moneyCell } from '../output/moneyCell.ts'
import { wrapped } from '../output/screen.ts'
import { sinceOf } from './sinceFlag.ts'

/** Groupings of the rows. */
const groupings = ['strategy', 'market', 'day'] as const
type Grouping = (typeof groupings)[number]

/** One row: results of a strategy, a market, or a day. */
export interface PnlRow extends Results {
  readonly name: string
  /** Size held now, USD; absent when rows are days, or cover some days alone. */
  readonly heldUsd?: Usd
}

interface Item extends PositionSide {
  readonly strategy: string
  readonly dayMs?: number
  readonly sizeUsd?: Usd
  readonly figures: Figures
}

/** Shows results, as text, with `--json`, or with `--csv`. */
export async function pnl({ loaded, flags, width, out }: Call): Promise<number> {
  const by = groupingOf(flags.get('by'))
  const nowMs = systemClock.now()
  const sinceMs = sinceOf(flags.get('since'), nowMs)
  const items = await withJournal(loaded.config, async (journal): Promise<readonly Item[]> => {
    // Only a reading of all records knows every day.
    if (by !== 'day' && sinceMs === undefined) return (await journal.books()).all()
    return (await journal.bookHistory()).days(sinceMs ?? 0)
  })
  const rows = pnlRows(items, by, loaded.config.venue.chain.facts)
  if (flags.has('json')) out(JSON.stringify(toPlain(rows), undefined, 2))
  else if (flags.has('csv')) out(pnlCsv(rows, by))
  else out(pnlText(rows, by, width))
  return exitCodes.ok
}

function groupingOf(word: string | true | undefined): Grouping {
  const found = groupings.find((each) => each === (word ?? 'strategy'))
  if (found !== undefined) return found
  throw new CommandError(`--by is ${String(word)}; expected strategy, market or day.`, exitCodes.error)
}

/** Rows of what is not nothing, in the order of their names; days from the oldest on. */
export function pnlRows(items: readonly Item[], by: Grouping, { markets }: Facts): readonly PnlRow[] {
  const nameOf = ({ strategy, marketToken, dayMs = 0 }: Item): string => {
    if (by === 'day') return new Date(dayMs).toISOString().slice(0, 10)
    if (by === 'strategy') return bookName(strategy)
    return markets.get(hexKey(marketToken))?.symbol ?? marketToken
  }
  return [...Map.groupBy(items, nameOf)]
    .map(([name, group]): PnlRow => {
      const isHeld = group.every(({ sizeUsd }) => sizeUsd !== undefined)
      const heldUsd = group.reduce((sum, { sizeUsd = 0n }) => sum + sizeUsd, 0n)
      return {
        name,
        ...defined({ heldUsd: isHeld ? heldUsd : undefined }),
        ...resultsOf(sumOf(group.map(({ figures }) => figures))),
      }
    })
    .filter((row) => isSomething(row))
    .sort((one, other) => (one.name < other.name ? -1 : 1))
}

function isSomething({ name: _, ...figures }: PnlRow): boolean {
  return Object.values(figures).some((value) => value !== 0n && value !== 0)
}

const TOTAL = 'all'

const columnsBy = (by: Grouping): readonly Column<PnlRow>[] => [
  { title: by.toUpperCase(), rank: 0, wraps: true, isName: true, of: ({ name }) => name },
  { title: 'PNL', rank: 0, isFigure: true, of: ({ pnlUsd }) => moneyCell(pnlUsd) },
  { title: 'PRICE', rank: 3, isFigure: true, of: ({ pricePnlUsd }) => moneyCell(pricePnlUsd) },
  { title: 'IMPACT', rank: 6, isFigure: true, of: ({ impactUsd }) => moneyCell(impactUsd) },
  { title: 'FEES', rank: 4, isFigure: true, of: ({ positionFeesUsd }) => moneyCell(-positionFeesUsd) },
  {
    title: 'FUNDING',
    rank: 5,
    isFigure: true,
    of: ({ fundingUsd, borrowingUsd }) => moneyCell(-fundingUsd - borrowingUsd),
  },
  { title: 'SENDING', rank: 5, isFigure: true, of: ({ relayFeesUsd }) => moneyCell(-relayFeesUsd) },
  {
    title: 'SWAPS',
    rank: 7,
    isFigure: true,
    of: ({ swapUsd }) => (swapUsd === 0n ? '' : moneyCell(swapUsd)),
  },
  {
    title: 'WON',
    rank: 1,
    isFigure: true,
    of: ({ wins, trades }) => (trades === 0 ? '' : `${wins} of ${trades}`),
  },
  {
    title: 'HELD',
    rank: 2,
    isFigure: true,
    of: ({ heldUsd }) => (heldUsd === undefined ? '' : moneyCell(heldUsd)),
  },
]

/** The table, and what its figures are. */
export function pnlText(rows: readonly PnlRow[], by: Grouping, width: number): string {
  if (rows.length === 0) return 'No results yet.'
  const all: PnlRow = { name: TOTAL, ...resultsOf(sumOf(rows)) }
  const legend = wrapped(
    '',
    'PnL is realized PnL after all costs: price impact, fees, funding, borrowing, and sending messages. Strategies that share a position each have the PnL from their own entry. Figures are rounded one by one, so parts can differ from their sum by a cent; --json has the exact ones. For unrealized PnL: perpd positions.',
    Math.min(width, 80),
  )
  return [fitTable(columnsBy(by), rows.length === 1 ? rows : [...rows, all], width), '', ...legend].join('\n')
}

function pnlCsv(rows: readonly PnlRow[], by: Grouping): string {
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
  return csvText(
    names,
    rows.map((row) => [
      row.name,
      ...[row.pnlUsd, row.pricePnlUsd, row.impactUsd, row.positionFeesUsd].map(dollars),
      ...[row.fundingUsd, row.borrowingUsd, row.relayFeesUsd, row.swapUsd].map(dollars),
      row.trades,
      row.wins,
      row.heldUsd === undefined ? null : dollars(row.heldUsd),
    ]),
  )
}
