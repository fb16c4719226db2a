/** `perpd positions`: what is held, by the running daemon's newest lists. */
import { exitCodes } from '../../config/exit.ts'
import type { StatusBody } from '../../control/routes.ts'
import { money, span } from '../../monitor/text.ts'
import { managersOf } from '../../protocol/marketName.ts'
import { formatUsd } from '../../protocol/units.ts'
import type { Call } from '../call/command.ts'
import { queryStatus } from '../call/daemonClient.ts'
import { type Column, fitTable, hasColumn } from '../output/fitTable.ts'
import { wrapped } from '../output/screen.ts'
import { changeText } from './ordersCommand.ts'

/** One row: the daemon's own with what it is called and who looks at it. */
type PositionRow = StatusBody['positions'][number] & {
  readonly market: string
  /** Strategies that look at positions of the market; none: nobody manages it. */
  readonly managers: readonly string[]
  /** Since the list was read. */
  readonly ageMs: number | null
}

/** Lists positions, as text or with `--json`. Exit code 3 when no daemon answers. */
export async function positions({ loaded, flags, width, out }: Call): Promise<number> {
  const status = await queryStatus(loaded)
  const rows = positionRows(status)
  if (flags.has('json')) out(JSON.stringify(rows, undefined, 2))
  else out(positionsText(rows, status, width))
  return exitCodes.ok
}

/** The rows of a status. */
export function positionRows({
  positions: held,
  symbols,
  strategies,
  feedAgesMs,
}: StatusBody): readonly PositionRow[] {
  return held.map((position) => {
    const market = symbols[position.marketToken.toLowerCase()] ?? position.marketToken
    return {
      ...position,
      market,
      managers: managersOf(strategies, market),
      ageMs: feedAgesMs.positions ?? null,
    }
  })
}

const ENTRY = 'ENTRY'

const columns: readonly Column<PositionRow>[] = [
  { title: 'MARKET', rank: 0, wraps: true, of: ({ market }) => market },
  { title: 'SIDE', rank: 0, of: ({ direction }) => direction },
  { title: 'SIZE', rank: 0, isFigure: true, of: ({ sizeInUsd }) => money(BigInt(sizeInUsd)) },
  { title: ENTRY, rank: 3, isFigure: true, of: ({ entryPrice }) => price(entryPrice) },
  { title: 'MARK', rank: 4, isFigure: true, of: ({ markPrice }) => price(markPrice) },
  { title: 'LIQUIDATION', rank: 1, isFigure: true, of: ({ liquidationPrice }) => price(liquidationPrice) },
  { title: 'PNL', rank: 0, isFigure: true, of: ({ pnlAfterFeesUsd }) => money(BigInt(pnlAfterFeesUsd)) },
  {
    title: 'COLLATERAL',
    rank: 5,
    isFigure: true,
    of: ({ remainingCollateralUsd }) => money(BigInt(remainingCollateralUsd)),
  },
  { title: 'LEVERAGE', rank: 6, isFigure: true, of: ({ leverageBps }) => times(leverageBps) },
  {
    title: 'MANAGED BY',
    rank: 2,
    wraps: true,
    of: ({ managers }) => (managers.length === 0 ? 'no strategy' : managers.join(', ')),
  },
]

/** The table, and the age of what it shows. */
export function positionsText(
  rows: readonly PositionRow[],
  { feedAgesMs, state, hidden: contradictions, unlistedFills, openIntents }: StatusBody,
  width: number,
): string {
  const ageMs = feedAgesMs.positions
  const read = ageMs === undefined ? `not read yet: perpd is ${state}` : `read ${span(ageMs)} ago`
  const unlisted = unlistedFills.flatMap((each) => wrapped('', each))
  const notes = [...contradictions, ...unlisted, ...changedExits(openIntents, width)]
  const hidden = notes.length === 0 ? '' : `\n${notes.join('\n')}`
  if (rows.length === 0) return `No positions (${read}).${hidden}`
  const sum = rows.reduce((all, { pnlAfterFeesUsd }) => all + BigInt(pnlAfterFeesUsd), 0n)
  const text = fitTable(columns, rows, width)
  const entry = hasColumn(text, ENTRY)
    ? ' Entry is the price of the oracle at the fills; their price impact, which perpd trades has in its prices, is settled when the position closes.'
    : ''
  const legend = wrapped('', `PnL is after pending fees: ${money(sum)} in all; ${read}.${entry}`)
  return `${text}\n\n${legend.join('\n')}${hidden}`
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

function price(value: string | undefined): string {
  return value === undefined ? '' : formatUsd(BigInt(value))
}

function times(leverageBps: string | undefined): string {
  return leverageBps === undefined ? '' : `${(Number(leverageBps) / 10_000).toFixed(2)}x`
}
