/** Says in words what a kill in progress has left to do. */
import type { Status } from './pageWire.ts'
import { texts } from './texts.ts'

const { attention: words } = texts

/** Says what a kill has left to do. A kill that does not close positions leaves them and their exits: they are named and do not count as done. */
export function killLeftText(
  { left, close, stays = [] }: NonNullable<Status['kill']>,
  { positions }: Status,
): string {
  if (left === undefined) return words.killLooking
  return close
    ? words.killLeft(left.orders, left.positions, left.inFlight)
    : words.killStays(
        left.orders,
        positions.length,
        stays.filter(({ uncoveredUsd }) => BigInt(uncoveredUsd) > 0n).length,
        left.inFlight,
      )
}
