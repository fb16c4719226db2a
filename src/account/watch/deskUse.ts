/** The account's use of the limits that the desk deals out, as the desk looks at it. */
import { type DeskLimitName, deskLimitRows } from '../../domain/limits/limits.ts'
import type { HasClock } from '../../execution/context/executionParts.ts'
import type { HasHoldings, HasOrders } from '../accountParts.ts'
import type { AccountWatch } from './accountWatch.ts'
import type { Reconciler } from './reconciler.ts'

/** Use of each limit that may be the desk's, in the limit's own unit. */
export type DeskUse = Readonly<Record<DeskLimitName, bigint>>

/** Parts that the count reads. */
interface DeskUseContext extends HasClock, HasHoldings, HasOrders {
  readonly account: AccountWatch
  readonly reconciler: Reconciler
  /** Use of a limit as people are shown it. */
  readonly usedOf: (scope: string, limit: string) => bigint | undefined
}

/** Counts the use of now. The exposure is the careful one of admission, of the newest list: everything held, and every open increase whole. */
export function deskUseNow({
  account,
  clock,
  holdings,
  openOrders,
  reconciler,
  usedOf,
}: DeskUseContext): DeskUse {
  const atMs = clock.now()
  const open = openOrders.open().map(({ state }) => state)
  const lists = {
    positions: { value: account.positions(), atMs },
    orders: { value: reconciler.othersOrders() ?? [], atMs },
  }
  const { totalExposureUsd } = holdings.exposure(lists, open)
  const use = deskLimitRows.map(([name]) => [
    name,
    name === 'maxTotalExposureUsd' ? totalExposureUsd : (usedOf('account', name) ?? 0n),
  ])
  return Object.fromEntries(use)
}
