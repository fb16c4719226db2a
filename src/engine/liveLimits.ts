/** The limits in force: read at the start, tightened while the daemon runs, loosened only when an operator confirms it. */
import { type LimitChange, type Limits, limitChanges, tighten } from '../domain/limits.ts'

/** The account's limits and those of single markets. */
export interface LimitSet {
  readonly account: Limits
  /** By market symbol. */
  readonly markets: Readonly<Record<string, Limits>>
}

/** One change of a limit; `market` is absent for the account's own. */
export interface AppliedChange extends LimitChange {
  readonly market?: string
  /** False for a looser value that nobody confirmed: the tighter one stays. */
  readonly isApplied: boolean
}

/** The limits in force. */
export interface LiveLimits {
  current(): LimitSet
  /** Limits of an order on a market: the account's, its market's and the strategy's own. */
  on(symbol: string | undefined, own: Limits): Limits
  /** What taking over `next` would change, in words for a record; nothing changes yet. */
  compare(next: LimitSet, isConfirmed: boolean): readonly AppliedChange[]
  /** Takes over what is tighter in `next`, or all of it when an operator confirmed. */
  replace(next: LimitSet, isConfirmed: boolean): void
}

/** Limits that begin with `first`. */
export function createLiveLimits(first: LimitSet): LiveLimits {
  let current = first
  return {
    current: () => current,
    on(symbol, own) {
      const ofMarket = symbol === undefined ? undefined : current.markets[symbol]
      return tighten(tighten(current.account, ofMarket ?? {}), own)
    },
    compare(next, isConfirmed) {
      const apply = (change: LimitChange) => ({ ...change, isApplied: isConfirmed || change.isTighter })
      return [
        ...limitChanges(current.account, next.account).map(apply),
        ...namesOf(current, next).flatMap((market) =>
          limitChanges(current.markets[market] ?? {}, next.markets[market] ?? {}).map((change) => ({
            ...apply(change),
            market,
          })),
        ),
      ]
    },
    replace(next, isConfirmed) {
      const take = (from: Limits, to: Limits): Limits => (isConfirmed ? to : tighten(from, to))
      current = {
        account: take(current.account, next.account),
        markets: Object.fromEntries(
          namesOf(current, next).map((market) => [
            market,
            take(current.markets[market] ?? {}, next.markets[market] ?? {}),
          ]),
        ),
      }
    },
  }
}

function namesOf(one: LimitSet, other: LimitSet): readonly string[] {
  return [...new Set([...Object.keys(one.markets), ...Object.keys(other.markets)])]
}
