/** `perpd trades --round-trips`: closed trades, newest first. */

import { type ClosedTrade, sumsOfAll, type TradeSums, tradeSums } from '../../books/closedTrades.ts'
import type { TripSums } from '../../books/roundTrips.ts'
import { tableOfCents } from '../../books/wholeCents.ts'
import { authorText } from '../../domain/accountRecords/operatorName.ts'

import { span } from '../../monitor/text.ts'
import type { Usd } from '../../protocol/units.ts'
import { type Column, fitTable } from '../output/fitTable.ts'
import { centsCell, moneyCell } from '../output/moneyCell.ts'
import { type PriceText, pricesIn } from '../output/pricePlaces.ts'
import { wrapped } from '../output/screen.ts'

/** A row of the table: a trade, or the sum of all; amounts in cents that add up. */
interface ShownTrade {
  readonly trade?: ClosedTrade
  readonly sums: TradeSums
  readonly parts: readonly Usd[]
  readonly sumUsd: Usd
}

/** Parts of the PnL that the table shows, signed as they count in it. */
const partsOf: readonly ((sums: TradeSums) => Usd)[] = [
  ({ pricePnlUsd, impactUsd }) => pricePnlUsd + impactUsd,
  ({ feesUsd }) => -feesUsd,
  ({ fundingUsd, borrowingUsd }) => -fundingUsd - borrowingUsd,
  ({ sendingUsd }) => -sendingUsd,
]

const part = (title: string, rank: number, at: number): Column<ShownTrade> => ({
  title,
  rank,
  isFigure: true,
  of: ({ sums, parts }) => centsCell(partsOf[at]?.(sums) ?? 0n, parts[at] ?? 0n),
})

const columnsOf = (priceText: PriceText<ClosedTrade>): readonly Column<ShownTrade>[] => {
  const ofTrade = (text: (trade: ClosedTrade) => string) => (row: ShownTrade) =>
    row.trade === undefined ? '' : text(row.trade)
  return [
    {
      title: 'CLOSED (UTC)',
      rank: 0,
      wraps: true,
      of: ({ trade, sums }) =>
        trade === undefined ? `all ${sums.trades}` : trade.closedAt.slice(0, 16).replace('T', ' '),
    },
    { title: 'STRATEGY', rank: 2, isName: true, of: ofTrade(({ strategy }) => authorText(strategy)) },
    {
      title: 'MARKET',
      rank: 0,
      wraps: true,
      of: ofTrade(({ market, direction }) => `${market} ${direction}`),
    },
    { title: 'SIZE', rank: 1, isFigure: true, of: ofTrade(({ largestUsd }) => moneyCell(largestUsd)) },
    {
      title: 'ENTRY',
      rank: 3,
      isFigure: true,
      of: ofTrade((trade) => priceText(trade, trade.entryPrice?.toString())),
    },
    {
      title: 'EXIT',
      rank: 3,
      isFigure: true,
      of: ofTrade((trade) => priceText(trade, trade.exitPrice?.toString())),
    },
    part('PRICE', 5, 0),
    part('FEES', 5, 1),
    part('FUNDING', 6, 2),
    part('SENDING', 6, 3),
    { title: 'PNL', rank: 0, isFigure: true, of: ({ sums, sumUsd }) => centsCell(sums.pnlUsd, sumUsd) },
    { title: 'R', rank: 4, isFigure: true, of: ofTrade(({ r }) => (r === null ? '' : r.toFixed(2))) },
    {
      title: 'FOR',
      rank: 4,
      isFigure: true,
      of: ofTrade(({ durationSeconds }) => span(durationSeconds * 1_000)),
    },
    { title: 'BY', rank: 1, of: ofTrade(({ reason }) => reason) },
    { title: 'WHY', rank: 7, wraps: true, readable: 20, of: ofTrade(({ why }) => why) },
  ]
}

/**
 * The table with the sum of all filtered trades, and the meaning of its figures. `shown`: the newest of `trades`, which are listed. `sums`: results
 * that are in no row; absent where filters leave some trades out.
 */
export function closedTradesText(
  trades: readonly ClosedTrade[],
  {
    shown = trades,
    width,
    sums,
  }: { shown?: readonly ClosedTrade[]; width: number; sums?: readonly TripSums[] },
): string {
  if (trades.length === 0) return 'No closed trades: no strategy has closed all of a position it opened.'
  const all = trades.map((trade) => tradeSums([trade]))
  const cents = tableOfCents(
    all.map((each) => ({ parts: partsOf.map((of) => of(each)), sumUsd: each.pnlUsd })),
  )
  const lines = shown.flatMap((trade, at): readonly ShownTrade[] => {
    const [own, of] = [cents.rows[at], all[at]]
    return own === undefined || of === undefined ? [] : [{ trade, sums: of, ...own }]
  })
  const legend = wrapped(
    '',
    [
      "A closed trade is a round trip: a strategy's part of a position, from opening to nothing left. PNL is after all costs: price with impact, fees, funding and borrowing, and sending its messages less what came back. Entry and exit are without price impact. R is PnL by the risk at its first stop.",
      ...(sums === undefined ? [] : besides(sums)),
    ].join(' '),
    Math.min(width, 80),
  )
  const priceText = pricesIn(
    shown,
    ({ market }) => market,
    ({ entryPrice, exitPrice }) => [entryPrice, exitPrice].map((price) => price?.toString()),
  )
  const total: ShownTrade = { sums: tradeSums(trades), ...cents.total }
  const rows = trades.length === 1 ? lines : [...lines, total]
  return [fitTable(columnsOf(priceText), rows, width), '', ...legend].join('\n')
}

/** Says which results `perpd pnl` counts in addition to closed trades. */
function besides(sums: readonly TripSums[]): readonly string[] {
  const { openUsd, outsideUsd } = sumsOfAll(sums)
  const parts = [
    ...(openUsd === 0n ? [] : [`${moneyCell(openUsd)} of what is still held`]),
    ...(outsideUsd === 0n ? [] : [`${moneyCell(outsideUsd)} outside of round trips`]),
  ]
  return parts.length === 0 ? [] : [`perpd pnl also counts ${parts.join(' and ')}.`]
}
