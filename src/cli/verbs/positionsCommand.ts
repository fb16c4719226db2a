/** `perpd positions`: what is held, by the running daemon's newest lists. */

import { csvText } from '../../base/csvText.ts'
import { defined } from '../../base/defined.ts'
import { exitCodes } from '../../config/exit.ts'
import type { StatusBody } from '../../control/routes.ts'
import { sideKeyOf } from '../../domain/accountRecords/accountRecord.ts'
import { unlistedText } from '../../monitor/events/accountFamily.ts'
import { ownersText } from '../../monitor/restingText.ts'
import { money, span } from '../../monitor/text.ts'
import { formatUnits, ONE_USD, USD_DECIMALS } from '../../protocol/units.ts'
import type { Call } from '../call/command.ts'
import { queryDaemon, queryStatus } from '../call/daemonClient.ts'
import { hasColumn } from '../output/fitTable.ts'
import { sumOfShown } from '../output/moneyCell.ts'
import { restingTable } from '../output/restingTable.ts'
import { wrapped } from '../output/screen.ts'
import { booksOf, booksTable, isBooks, managesIt, type PlainBook } from '../results/booksTable.ts'
import {
  ENTRY,
  type HeldPosition,
  heldPositions,
  type PlainHeld,
  pnlText,
  positionsTable,
} from '../results/positionsTable.ts'
import { noStopText } from '../results/statusParts.ts'
import { changeText } from './ordersCommand.ts'

/** One row: the daemon's own with what it is called, who manages it, its notes, and the orders that rest on its side. */
type PositionRow = StatusBody['positions'][number] & {
  readonly market: string
  /** Owners, nearest exits and collateral; absent where the daemon gave none. */
  readonly note?: PlainHeld
  /** Orders that rest on its side, other clients' too. */
  readonly restingOrders: StatusBody['restingOrders']
  /** Strategies that have a part of it by their books, and keepers that watch its market; none: nobody manages it. */
  readonly managers: readonly string[]
  /**
   * PnL less what closing all of it now costs too, its fee and price impact, by the venue's figures; null where it does not say.
   * What sending the close costs, and what opening cost, is in no PnL of a position.
   */
  readonly netPnlUsd: string | null
  /** Since the list was read. */
  readonly ageMs: number | null
}

/** Lists positions, as text, with `--json`, or with `--csv`. Exit code 3 when no daemon answers. */
export async function positions({ loaded, flags, width, out }: Call): Promise<number> {
  const status = await queryStatus(loaded)
  const books = await queryDaemon(loaded, '/api/books', isBooks)
  const rows = positionRows(status, books)
  if (flags.has('json')) {
    out(
      JSON.stringify(
        rows.map((row) => ({ ...row, books: booksOf(row, books) })),
        undefined,
        2,
      ),
    )
    return exitCodes.ok
  }
  if (flags.has('csv')) {
    out(positionsCsv(rows, books))
    return exitCodes.ok
  }
  const parts = booksTable(rows, books, width)
  const { restingOrders, nowMs } = status
  const resting =
    restingOrders.length === 0 ? '' : restingTable(restingOrders, nowMs, { width, isNoted: true })
  out([positionsText(rows, status, width), parts, resting].filter((text) => text !== '').join('\n\n'))
  return exitCodes.ok
}

/** The rows of a status; without books nothing is known to be a strategy's own. */
export function positionRows(status: StatusBody, books: readonly PlainBook[] = []): readonly PositionRow[] {
  const { strategies, feedAgesMs, restingOrders } = status
  return heldPositions(status).map(({ position, note, market }) => {
    const side = sideKeyOf(position)
    return {
      ...position,
      market,
      ...defined({ note }),
      restingOrders: restingOrders.filter((row) => sideKeyOf(row) === side),
      netPnlUsd: position.pnlAfterAllFeesUsd ?? null,
      managers: strategies
        .filter((each) => managesIt(each, { ...position, market }, books))
        .map(({ name }) => name),
      ageMs: feedAgesMs.positions ?? null,
    }
  })
}

function heldOf({ note, market, ...position }: PositionRow): HeldPosition {
  return { position, note, market }
}

/** Columns of a position, and those of a part of one, after what both are of. */
const csvOfPosition = [
  'size_usd',
  'entry_price',
  'mark_price',
  'liquidation_price',
  'pnl_usd',
  'net_pnl_usd',
  'collateral_usd',
  'leverage',
  'managed_by',
  'stop_price',
  'target_price',
  'uncovered_usd',
  'owners',
  'collateral_token',
  'collateral_amount',
]
/** Amount of the collateral token as a plain decimal; null where no list names the token. */
function collateralAmount({ collateral: { amount, decimals } }: PlainHeld): string | null {
  return decimals === null ? null : formatUnits(BigInt(amount), decimals)
}

const csvOfPart = ['part_strategy', 'part_size_usd', 'part_share', 'part_entry_price', 'part_pnl_usd']

/**
 * The same for a spreadsheet; amounts and prices are plain decimals. Below each position a row for the part of each strategy, in columns of its
 * own, so that sums of a column count nothing twice.
 */
export function positionsCsv(rows: readonly PositionRow[], books: readonly PlainBook[] = []): string {
  const plain = (amount: string | null | undefined): string | null =>
    amount === null || amount === undefined ? null : formatUnits(BigInt(amount), USD_DECIMALS)
  const lines = rows.flatMap((row) => {
    const position = [
      ...[row.sizeInUsd, row.entryPrice, row.markPrice, row.liquidationPrice].map(plain),
      ...[row.pnlAfterFeesUsd, row.netPnlUsd, row.remainingCollateralUsd].map(plain),
      row.leverageBps === undefined ? null : formatUnits(BigInt(row.leverageBps), 4),
      row.managers.join(' '),
      ...[row.note?.stops.nearest, row.note?.targets.nearest, row.note?.uncoveredUsd].map(plain),
      row.note === undefined ? null : ownersText(row.note.owners),
      row.note?.collateral.symbol ?? null,
      row.note === undefined ? null : collateralAmount(row.note),
    ]
    const parts = booksOf(row, books).map(({ strategy, sizeUsd, shareBps, entryPrice, unrealizedUsd }) => [
      strategy,
      plain(sizeUsd),
      shareBps === null ? null : formatUnits(BigInt(shareBps), 4),
      ...[entryPrice, unrealizedUsd].map(plain),
    ])
    const of = [row.market, row.direction]
    return [
      [...of, ...position, ...csvOfPart.map(() => null)],
      ...parts.map((part) => [...of, ...csvOfPosition.map(() => null), ...part]),
    ]
  })
  return csvText(['market', 'direction', ...csvOfPosition, ...csvOfPart], lines)
}

/** The table, and the age of what it shows. */
export function positionsText(rows: readonly PositionRow[], status: StatusBody, width: number): string {
  const { feedAgesMs, state, hidden: contradictions, unlistedFills, closedFills, openIntents } = status
  const ageMs = feedAgesMs.positions
  const read = ageMs === undefined ? `not read yet: perpd is ${state}` : `read ${span(ageMs)} ago`
  const unlisted = [...unlistedFills, ...closedFills].flatMap((each) => wrapped('', each))
  const noStop = noStopText(status).flatMap((text) => wrapped('', text, width))
  const unread = unreadText(status).flatMap((each) => wrapped('', each, width))
  const notes = [...unread, ...noStop, ...contradictions, ...unlisted, ...changedExits(openIntents, width)]
  const hidden = notes.length === 0 ? '' : `\n${notes.join('\n')}`
  if (rows.length === 0) {
    const none = unread.length > 0 ? 'No position whose row can be read' : 'No positions'
    return `${unlistedFills.length > 0 ? 'The venue lists no position yet' : none} (${read}).${hidden}`
  }
  const text = positionsTable(rows.map(heldOf), { width, isNoted: true })
  const entry = hasColumn(text, ENTRY)
    ? ' Entry is the oracle price at the fills, without price impact: the venue settles the impact when the position closes. The prices of perpd trades include it.'
    : ''
  const before = rows.some(({ netPnlUsd }) => netPnlUsd !== null)
    ? ` Before closing costs it is ${money(sumOfShown(rows.map(({ pnlAfterFeesUsd }) => BigInt(pnlAfterFeesUsd))))}.`
    : ''
  const legend = wrapped(
    '',
    `${pnlText(rows)}${before} Pending funding and borrowing are in it; the cost of opening, and of sending a close, is not. ${read.replace(/^./, (letter) => letter.toUpperCase())}.${entry}`,
    width,
  )
  const claimable = claimableText(rows).flatMap((each) => wrapped('', each, width))
  return `${text}\n\n${[...legend, ...claimable].join('\n')}${hidden}`
}

/** Names each position without a readable row: its figures are not known, and it can still be closed. */
function unreadText({ unlisted = [], symbols }: StatusBody): readonly string[] {
  return unlisted.map(
    (side) =>
      `${unlistedText(side, symbols)}. Its size and side are known, so perpd close works; increases on this market are blocked meanwhile.`,
  )
}

/** A cent: below it nothing is said of what can be claimed. */
const CENT_USD = ONE_USD / 100n

/** States the unclaimed funding that these positions earned; nothing when it is less than a cent, or the venue does not report it. */
function claimableText(rows: readonly PositionRow[]): readonly string[] {
  const said = rows.flatMap(({ pendingClaimableFundingFeesUsd: earned }) =>
    earned === undefined ? [] : [BigInt(earned)],
  )
  const sum = said.reduce((all, earned) => all + earned, 0n)
  if (sum < CENT_USD) return []
  const some = said.length === rows.length ? '' : ` by ${said.length} of ${rows.length} rows`
  return [
    `Claimable funding since these positions last changed: ${money(sum)}${some}. No PnL includes it until an order changes the position. A strategy of kind claimer prepares the claim; your wallet sends it (docs/keepers.md, Claims).`,
  ]
}

/** Resting orders of ours that another client changed: what is in force of them now. */
function changedExits(openIntents: StatusBody['openIntents'], width: number): readonly string[] {
  return openIntents.flatMap(({ market, direction, kind, legs }) =>
    legs.flatMap((leg) => {
      const text = changeText(leg)
      const name = leg.role === 'main' ? `${kind} order` : leg.role
      return text === undefined ? [] : wrapped('', `${name} of ${market} ${direction}: ${text}`, width)
    }),
  )
}
