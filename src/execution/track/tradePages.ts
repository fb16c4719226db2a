/** The account's trades, page by page, newest first. */
import type { TradesPage } from '../../api/accounts/accountReads.ts'
import type { Read } from '../../api/transport/route.ts'
import { defined } from '../../base/defined.ts'
import { longestLifeSeconds } from '../../domain/machine/apiEvidence.ts'
import { type IntentState, lastAttempt } from '../../domain/order/intent.ts'
import type { MissingRow } from '../../protocol/missing.ts'
import type { Trade } from '../../protocol/position.ts'

/** Rows asked of a page: enough for everything one account does in the minutes an order lives. */
const tradesLimit = 200
/** Pages of trades read in one look. */
const tradesPagesMax = 10

/** Trades of one look; `complete` is false when there are more than were read. */
export interface TradesRead {
  readonly trades: readonly Trade[]
  readonly complete: boolean
  readonly missing: readonly MissingRow[]
}

/** From when on trades may be an attempt's: shortly before it was armed, Unix seconds of the venue. */
export function tradesSinceSeconds(state: IntentState): number {
  const deadlineSeconds = lastAttempt(state)?.armed?.deadlineSeconds ?? longestLifeSeconds
  return Math.max(0, deadlineSeconds - longestLifeSeconds)
}

/** Reads page after page until there are no more, ten were read, or `isEnough` says so of those that came. */
export async function walkPages(
  read: (paged: { readonly limit: number; readonly cursor?: string }) => Promise<Read<TradesPage>>,
  isEnough: (page: readonly Trade[]) => boolean = () => false,
): Promise<TradesRead> {
  const trades: Trade[] = []
  const lacking: MissingRow[] = []
  let cursor: string | undefined
  for (let page = 0; page < tradesPagesMax; page += 1) {
    const { value, missing = [] } = await read({
      limit: tradesLimit,
      ...defined({ cursor }),
    })
    trades.push(...value.trades)
    lacking.push(...missing)
    cursor = value.nextCursor
    if (!value.hasMore || cursor === undefined) return { trades, complete: true, missing: lacking }
    if (isEnough(value.trades)) break
  }
  return { trades, complete: false, missing: lacking }
}
