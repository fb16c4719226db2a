/** The orders that the page keeps: all from one moment on, and of before it those that are open. Pure. */
import type { Order } from '../pageWire.ts'
import { sameWhereEqual } from './sameRows.ts'

/** The orders that the page has read. */
export interface KnownOrders {
  /** Newest first. */
  readonly orders: readonly Order[]
  /** True once the page has every order there is. */
  readonly isAllOrders: boolean
  /** From when on none is missing, by when they were accepted, ISO 8601; absent before any was read. */
  readonly allSince?: string
}

/** Most orders that the page keeps, but for open ones. */
export const mostOrders = 2_000
/** Orders that are read when the page begins, and told of whenever one of them changes. */
const newestOrders = 100

/** With the newest, as the stream tells them. Where more came in between than it tells of, those of before are not kept: nobody would see the gap. */
export function withNewest(known: KnownOrders, came: readonly Order[]): KnownOrders {
  const { orders, isAllOrders, allSince } = known
  const isWhole = came.length < newestOrders
  const ids = new Set(came.map(({ intentId }) => intentId))
  const isJoined =
    isWhole ||
    allSince === undefined ||
    orders.some(({ intentId, acceptedAt }) => acceptedAt >= allSince && ids.has(intentId))
  return isJoined
    ? bounded({
        orders: merged(orders, came),
        isAllOrders: isAllOrders || isWhole,
        ...sinceOf(came, allSince),
      })
    : bounded({ orders: merged(orders.filter(isOpen), came), isAllOrders: false, ...sinceOf(came) })
}

/** With those that were asked for, the newest so many. */
export function withOlder(known: KnownOrders, came: readonly Order[], asked: number): KnownOrders {
  return bounded({
    orders: merged(known.orders, came),
    isAllOrders: came.length < asked,
    ...sinceOf(came, known.allSince),
  })
}

/**
 * With all that are open, oldest first, as the status tells them. What was open and is not any more, and is too old for the stream to tell
 * how it ended, is not kept: it would be shown as one that rests.
 */
export function withOpen(known: KnownOrders, open: readonly Order[]): KnownOrders {
  const { orders, allSince } = known
  const ids = new Set(open.map(({ intentId }) => intentId))
  const toldSince = orders[newestOrders - 1]?.acceptedAt ?? ''
  const ended = new Set(
    orders.filter((each) => isOpen(each) && !ids.has(each.intentId) && each.acceptedAt < toldSince),
  )
  const rest = ended.size === 0 ? orders : orders.filter((each) => !ended.has(each))
  const isLacking = allSince !== undefined && [...ended].some(({ acceptedAt }) => acceptedAt >= allSince)
  return {
    orders: merged(rest, open.toReversed()),
    isAllOrders: known.isAllOrders && !isLacking,
    ...(allSince === undefined ? {} : { allSince: isLacking ? toldSince : allSince }),
  }
}

function isOpen({ closedAt }: Order): boolean {
  return closedAt === null
}

/** From when on all are known, with a list of the newest. */
function sinceOf(came: readonly Order[], before?: string): { readonly allSince?: string } {
  const since = [came.at(-1)?.acceptedAt, before].filter((each) => each !== undefined).toSorted()[0]
  return since === undefined ? {} : { allSince: since }
}

/** No more than the page keeps. */
function bounded(known: KnownOrders): KnownOrders {
  const { orders } = known
  const last = orders[mostOrders - 1]
  const kept = orders.filter((each, index) => index < mostOrders || isOpen(each))
  if (last === undefined || kept.length === orders.length) return known
  const { acceptedAt } = last
  const { allSince = acceptedAt } = known
  return { orders: kept, isAllOrders: false, allSince: allSince < acceptedAt ? acceptedAt : allSince }
}

/** Those that came over those that are known. A row that says the same stays the same value; the others stay as they were. */
function merged(known: readonly Order[], came: readonly Order[]): readonly Order[] {
  const fresh = sameWhereEqual(known, came, ({ intentId }) => intentId)
  const ids = new Set(fresh.map(({ intentId }) => intentId))
  const rest = known.filter(({ intentId }) => !ids.has(intentId))
  const all = rest.length === 0 ? fresh : [...fresh, ...rest].toSorted(newestFirst)
  return all.length === known.length && all.every((row, index) => row === known[index]) ? known : all
}

function newestFirst(one: Order, other: Order): number {
  return one.acceptedAt < other.acceptedAt ? 1 : one.acceptedAt > other.acceptedAt ? -1 : 0
}
