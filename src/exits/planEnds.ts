/** Judges whether the part that an operator planned exits for is gone, so that its plan ends with it. */
import type { MonotonicClock } from '../base/clock.ts'
import type { BookReads } from '../books/books.ts'
import { sideKeyOf } from '../domain/accountRecords/accountRecord.ts'
import type { HandPlan } from '../domain/accountRecords/handPlan.ts'
import { LIST_LAG_MS } from '../domain/accountRecords/listLag.ts'
import { OPERATOR } from '../domain/accountRecords/operatorName.ts'
import { positionOf, type Snapshot } from '../domain/snapshot.ts'
import { lacksMarket } from '../protocol/missing.ts'

/** Knowledge about one plan since this process saw it first. */
interface Seen {
  /** The books held a part of the position. */
  isBooked?: boolean
  isGone?: boolean | undefined
  /** Monotonic ms of the first of the newest looks that all lacked the position. */
  missingMs?: number | undefined
}

/** Tells whether the part of a plan is gone by these facts. */
export type PlanEnds = (plan: HandPlan, snapshot: Snapshot, books: BookReads) => boolean

/**
 * Makes the judgement. The operator's own part is gone when its book is empty. A whole position is gone when the books are empty and the list shows none:
 * at once where this process saw the books hold it, else after the time that lists may lag. A part that was gone once stays gone, whatever opens there.
 */
export function createPlanEnds(clock: MonotonicClock): PlanEnds {
  const known = new WeakMap<HandPlan, Seen>()
  return (plan, snapshot, books) => {
    const seen = known.get(plan) ?? {}
    known.set(plan, seen)
    seen.isGone ??= isGone(plan, seen, snapshot, books, clock.monotonicMs()) || undefined
    return seen.isGone === true
  }
}

function isGone(plan: HandPlan, seen: Seen, snapshot: Snapshot, books: BookReads, atMs: number): boolean {
  if (plan.part === 'own') return books.heldBy(OPERATOR, plan) <= 0n
  const key = sideKeyOf(plan)
  const bookedUsd = books
    .all()
    .reduce((sum, book) => (sideKeyOf(book) === key ? sum + book.sizeUsd : sum), 0n)
  if (bookedUsd > 0n) seen.isBooked = true
  const isHere =
    bookedUsd > 0n ||
    positionOf(snapshot, plan) !== undefined ||
    lacksMarket(snapshot.positions.missing, plan.marketToken)
  seen.missingMs = isHere ? undefined : (seen.missingMs ?? atMs)
  if (seen.missingMs === undefined) return false
  return seen.isBooked === true || atMs - seen.missingMs >= LIST_LAG_MS
}
