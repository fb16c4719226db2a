/** Answers of the routes of results, as the daemon makes them and the page reads them. */
import type { Results } from '../../books/bookView.ts'
import type { ClosedTrade, TradeSums } from '../../books/closedTrades.ts'
import type { PnlRow } from '../../books/pnlRows.ts'
import type { BookFill } from '../../books/tradingHistory.ts'
import type { Usd } from '../../protocol/units.ts'

/** PnL of a row in whole cents, which add up to the rounded sum of all rows, USD. */
interface InCents {
  readonly centsUsd: Usd
}

/** `GET /api/round-trips`. */
export interface RoundTripsBody {
  readonly rows: readonly (ClosedTrade & InCents)[]
  /** Sums of all trades that the filters let through. */
  readonly sums: TradeSums
  /** Results of all strategies that are in no closed trade, USD, signed. */
  readonly besides: { readonly openUsd: Usd; readonly outsideUsd: Usd }
  /** Names among which filters choose. */
  readonly strategies: readonly string[]
  readonly markets: readonly string[]
}

/** `GET /api/pnl`. */
export interface PnlBody {
  readonly rows: readonly (PnlRow & InCents)[]
  readonly sums: Results
}

/** `GET /api/fills`. */
export interface FillsBody {
  readonly rows: readonly (Omit<BookFill, 'atMs'> & { readonly filledAt: string; readonly market: string })[]
  /** Cost of the day's messages less what came back, whatever became of them, USD. */
  readonly sendingUsd: Usd
  /** PnL of the day, USD, signed. */
  readonly pnlUsd: Usd
}
