/** Positions as a table, the same one in `perpd positions`, `status` and `top`. Pure. */
import type { StatusBody } from '../../control/routes.ts'
import { ownersText, shortMarkets } from '../../monitor/restingText.ts'
import { money } from '../../monitor/text.ts'
import { formatUnits } from '../../protocol/units.ts'
import { type Column, fitTable } from '../output/fitTable.ts'
import { moneyCell, sumOfShown } from '../output/moneyCell.ts'
import { type PriceText, pricesIn } from '../output/pricePlaces.ts'

type Position = StatusBody['positions'][number]
/** Notes on a position, as the daemon tells them. */
export type PlainHeld = StatusBody['held'][number]

/** A position with its notes; a daemon that has not looked yet gives none. */
export interface HeldPosition {
  readonly position: Position
  readonly note: PlainHeld | undefined
  /** The market's symbol. */
  readonly market: string
}

/** Title of the entry's column. */
export const ENTRY = 'ENTRY'

/** Positions of a status with their notes, in its order. */
export function heldPositions({ positions, held, symbols }: StatusBody): readonly HeldPosition[] {
  return positions.map((position, at) => {
    const note = held[at]
    const market = symbols[position.marketToken.toLowerCase()] ?? note?.market ?? position.marketToken
    return { position, note, market }
  })
}

/** Result of closing a position now, after the fee and price impact of closing where the venue says them, USD. */
function closedPnlUsd({ pnlAfterAllFeesUsd, pnlAfterFeesUsd }: Position): bigint {
  return BigInt(pnlAfterAllFeesUsd ?? pnlAfterFeesUsd)
}

/** States which costs the column PNL has, and its sum. */
export function pnlText(positions: readonly Position[]): string {
  const sum = money(sumOfShown(positions.map(closedPnlUsd)))
  const lacking = positions.filter(({ pnlAfterAllFeesUsd }) => pnlAfterAllFeesUsd === undefined).length
  const costs =
    lacking === 0
      ? 'after the fee and price impact of closing now'
      : lacking === positions.length
        ? 'before closing costs'
        : `after the fee and price impact of closing now, but for ${lacking} of ${positions.length} before them`
  return `PNL is ${costs}: ${sum} in all.`
}

/** Layout of a table: its width, and true for one that names what the width left out. */
export interface TableLayout {
  readonly width: number
  readonly isNoted: boolean
}

/** The table. */
export function positionsTable(rows: readonly HeldPosition[], { width, isNoted }: TableLayout): string {
  const price = pricesIn(
    rows,
    ({ market }) => market,
    ({ position, note }) => [
      position.entryPrice,
      position.markPrice,
      position.liquidationPrice,
      note?.stops.nearest,
      note?.targets.nearest,
    ],
  )
  const nameOf = shortMarkets(rows.map(({ market }) => market))
  const readable = width < COMMON ? LEAST_EXIT : UNBOUNDED
  const columns = columnsOf({ price, nameOf, readable })
  const always = columns.filter(({ rank }) => rank <= OWNER.rank)
  const isOwnerBelow = width >= COMMON && widthOf(fitTable(always, rows, UNBOUNDED, false)) > width
  const shown = isOwnerBelow ? columnsOf({ price, nameOf, readable, isOwnerBelow }) : columns
  return fitTable(shown, rows, width, isNoted)
}

/** Width of a common terminal; in a narrower one an exit takes two lines. */
const COMMON = 80
/** Least width of the exits there. */
const LEAST_EXIT = 14
/** A width that leaves out and wraps nothing. */
const UNBOUNDED = Number.MAX_SAFE_INTEGER

function widthOf(text: string): number {
  return Math.max(...text.split('\n').map(({ length }) => length))
}

function ownerOf({ note }: HeldPosition): string {
  return note === undefined ? '' : ownersText(note.owners)
}

/** Where it is too wide beside the others, it stands below the market: exits have two lines anyhow, and none of them is broken. */
const OWNER: Column<HeldPosition> = { title: 'OWNER', rank: 1, wraps: true, isName: true, of: ownerOf }

interface ColumnTexts {
  readonly price: PriceText<HeldPosition>
  readonly nameOf: (symbol: string) => string
  /** Least width of the exits. */
  readonly readable: number
  /** True where the owner stands below the market; else it has a column. */
  readonly isOwnerBelow?: boolean
}

const columnsOf = ({
  price,
  nameOf,
  readable,
  isOwnerBelow = false,
}: ColumnTexts): readonly Column<HeldPosition>[] => [
  {
    title: 'MARKET',
    rank: 0,
    wraps: true,
    isName: isOwnerBelow,
    of: (row) => `${nameOf(row.market)}${isOwnerBelow ? `\n${ownerOf(row)}` : ''}`,
  },
  { title: 'SIDE', rank: 0, of: ({ position }) => position.direction },
  { title: 'SIZE', rank: 0, isFigure: true, of: ({ position }) => moneyCell(BigInt(position.sizeInUsd)) },
  { title: 'MARK', rank: 0, isFigure: true, of: (row) => price(row, row.position.markPrice) },
  { title: 'LEV', rank: 0, isFigure: true, of: ({ position }) => times(position.leverageBps) },
  { title: 'PNL', rank: 0, isFigure: true, of: ({ position }) => moneyCell(closedPnlUsd(position)) },
  // A line is one exit, broken by a very narrow terminal alone.
  { title: 'EXITS', rank: 0, wraps: true, readable, of: (row) => exitsText(row, price) },
  ...(isOwnerBelow ? [] : [OWNER]),
  { title: 'LIQUIDATION', rank: 2, isFigure: true, of: (row) => price(row, row.position.liquidationPrice) },
  { title: ENTRY, rank: 3, isFigure: true, of: (row) => price(row, row.position.entryPrice) },
  { title: 'COLLATERAL', rank: 4, isFigure: true, of: ({ note }) => collateralText(note) },
  {
    title: 'WORTH',
    rank: 5,
    isFigure: true,
    of: ({ position }) => moneyCell(BigInt(position.remainingCollateralUsd)),
  },
]

/** `stop $1,600.00` over `target $1,900.00 (2)`, and NO STOP with the size that no stop would close. */
function exitsText(row: HeldPosition, price: PriceText<HeldPosition>): string {
  const { position, note } = row
  if (note === undefined) return '-'
  const bareUsd = BigInt(note.uncoveredUsd ?? '0')
  const isAll = bareUsd >= BigInt(position.sizeInUsd)
  const exitText = (word: string, { nearest, count }: PlainHeld['stops']): string[] => {
    const at = nearest === null ? '' : ` ${price(row, nearest)}`
    return count === 0 ? [] : [`${word}${at}${count > 1 ? ` (${count})` : ''}`]
  }
  const lines = [
    ...(bareUsd === 0n ? [] : [isAll ? 'NO STOP' : `NO STOP ${money(bareUsd)}`]),
    ...exitText('stop', note.stops),
    ...exitText('target', note.targets),
  ]
  return lines.length === 0 ? '-' : lines.join('\n')
}

/** `0.25 ETH`; the token's address where no list names it. */
function collateralText(note: PlainHeld | undefined): string {
  if (note === undefined || note.collateral.decimals === null) return '-'
  const { amount, decimals, symbol } = note.collateral
  const [whole = '0', fraction = ''] = formatUnits(BigInt(amount), decimals).split('.')
  // Six digits tell amounts of a token apart; the rest is in the JSON.
  const places = Math.max(2, 6 - whole.length)
  const shown = fraction.slice(0, places)
  return `${whole}${shown === '' ? '' : `.${shown}`} ${symbol}`
}

/** `1.99x`; empty where the venue does not say it. */
function times(leverageBps: string | undefined): string {
  return leverageBps === undefined ? '' : `${(Number(leverageBps) / 10_000).toFixed(2)}x`
}
