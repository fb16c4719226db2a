/** What a kill that goes on has left, in words. */
import type { Status } from './pageWire.ts'
import { texts } from './texts.ts'

const { attention: words } = texts

/** What is left of a kill. One that does not close leaves positions and their exits: they are told, and not counted as done. */
export function killLeftText(
  { left, close, stays = [] }: NonNullable<Status['kill']>,
  { positions }: Pick<Status, 'positions'>,
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
