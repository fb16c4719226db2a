/** Closed trades for a spreadsheet. Pure. */
import { csvText } from '../base/csvText.ts'
import { formatUnits, USD_DECIMALS, type Usd } from '../protocol/units.ts'
import { type ClosedTrade, type TradeSums, tradeSums } from './closedTrades.ts'

/** Names of the columns of a spreadsheet, and each cell. */
const csvCells: readonly (readonly [name: string, of: (trade: ClosedTrade) => string | number | null])[] = [
  ['id', ({ id }) => id],
  ['closed_at', ({ closedAt }) => closedAt],
  ['opened_at', ({ openedAt }) => openedAt],
  ['duration_seconds', ({ durationSeconds }) => durationSeconds],
  ['market', ({ market }) => market],
  ['market_token', ({ marketToken }) => marketToken],
  ['direction', ({ direction }) => direction],
  ['strategy', ({ strategy }) => strategy],
  ['largest_usd', ({ largestUsd }) => dollars(largestUsd)],
  ['size_usd', ({ sizeUsd }) => dollars(sizeUsd)],
  ['entry_price', ({ entryPrice }) => dollars(entryPrice)],
  ['exit_price', ({ exitPrice }) => dollars(exitPrice)],
  ['reason', ({ reason }) => reason],
  ['why', ({ why }) => why],
  ['price_pnl_usd', ({ pricePnlUsd }) => dollars(pricePnlUsd)],
  ['price_impact_usd', ({ impactUsd }) => dollars(impactUsd)],
  ['fees_usd', ({ feesUsd }) => dollars(feesUsd)],
  ['funding_usd', ({ fundingUsd }) => dollars(fundingUsd)],
  ['borrowing_usd', ({ borrowingUsd }) => dollars(borrowingUsd)],
  ['sending_usd', ({ sendingUsd }) => dollars(sendingUsd)],
  ['pnl_usd', ({ pnlUsd }) => dollars(pnlUsd)],
  ['risk_usd', ({ riskUsd }) => dollars(riskUsd)],
  ['r', ({ r }) => r],
  ['opened_by', ({ openedBy }) => openedBy],
  ['closed_by', ({ closedBy }) => closedBy],
]

/** Sums under the columns of amounts that add up. */
const csvSums: Readonly<Record<string, (sums: TradeSums) => Usd>> = {
  size_usd: ({ sizeUsd }) => sizeUsd,
  price_pnl_usd: ({ pricePnlUsd }) => pricePnlUsd,
  price_impact_usd: ({ impactUsd }) => impactUsd,
  fees_usd: ({ feesUsd }) => feesUsd,
  funding_usd: ({ fundingUsd }) => fundingUsd,
  borrowing_usd: ({ borrowingUsd }) => borrowingUsd,
  sending_usd: ({ sendingUsd }) => sendingUsd,
  pnl_usd: ({ pnlUsd }) => pnlUsd,
}

function dollars(amount: Usd | null): string | null {
  return amount === null ? null : formatUnits(amount, USD_DECIMALS)
}

/** Closed trades for a spreadsheet: all digits, ISO times, ids, and the sum of the rows last. */
export function closedTradesCsv(trades: readonly ClosedTrade[]): string {
  const sums = tradeSums(trades)
  const last = csvCells.map(([name]) => (name === 'id' ? 'all' : dollars(csvSums[name]?.(sums) ?? null)))
  return csvText(
    csvCells.map(([name]) => name),
    [...trades.map((trade) => csvCells.map(([, of]) => of(trade))), last],
  )
}
