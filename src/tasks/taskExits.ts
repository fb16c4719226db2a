/** The plan of the exits that a task manages: one target and one stop for its position. Pure. */
import { type ExitType, exitTypes, keepExits, type PlannedExits } from '../domain/exitKeeper.ts'
import type { Decision } from '../domain/order/decision.ts'
import { type Snapshot, triggerPriceOf } from '../domain/snapshot.ts'
import type { ExecutorParams } from '../domain/taskStates/executorState.ts'
import { sameHex } from '../protocol/address.ts'
import { formatPrice } from '../protocol/priceText.ts'
import { absOf, bps, maxOf, minOf, type Usd } from '../protocol/units.ts'
import type { Booked, ExecutorUse, ExecutorView, RestingChild } from './executorView.ts'
import { heldUsd, takenPrice } from './taskOrders.ts'

/** Interval between looks at the position and its exits while nothing happens, ms. */
const LOOK_MS = 300_000
/** Time without a listed position after which it counts as gone: an exit of our own may have closed it, ms. */
const GONE_MS = 60_000
/** The same where the owner's book says so: a fill may be written between two of the reads that a look is made of, and no longer, ms. */
const TAKEN_OFF_MS = 10_000
/** A target that is so near to where it belongs stays, bps. */
const NEAR_BPS = 1

/** Places of a task's exits, USD per whole index token. */
export interface WantedExits {
  readonly takeProfit?: Usd
  readonly stopLoss?: Usd
}

/** The latest look that found the exits of a task as they should be. */
export interface ExitSync {
  /** Unix ms. */
  readonly atMs: number
  /** Size to close as far as nobody else reduced it, USD. */
  readonly sizeUsd: Usd
  /** Part of the owner's book of the side at that time that its older tasks did not claim for their exits, USD. */
  readonly bookUsd: Usd
  /** Time from which the list shows no position, Unix ms: the report of its close may be late. Absent: the list shows it. */
  readonly goneMs?: number
}

/**
 * Returns the part of a task's position that is left to close, USD: a hand, a keeper or the venue may have reduced its owner's book. The size that
 * the list shows beyond others' books counts as the owner's too, because a fill's size may lack evidence. Among several tasks of one owner the older
 * ones have priority, so that all exits together do not exceed its part.
 */
export function leftToClose(params: ExecutorParams, use: ExecutorUse, view: ExitView): Usd {
  const { ownUsd, othersUsd, claimedUsd = 0n } = view.booked(params)
  const mostUsd = maxOf(ownUsd, heldUsd(params, view.snapshot) - othersUsd) - claimedUsd
  return maxOf(0n, minOf(use.doneUsd - use.exitedUsd, mostUsd))
}

/** The exits as they are found to be: kept so far as the books say now. */
export function keptExits(
  params: ExecutorParams,
  use: ExecutorUse,
  { nowMs, booked }: ExecutorView,
): ExitSync {
  return { atMs: nowMs, sizeUsd: use.doneUsd - use.exitedUsd, bookUsd: freeUsd(booked(params)) }
}

function freeUsd({ ownUsd, claimedUsd = 0n }: Booked): Usd {
  return maxOf(0n, ownUsd - claimedUsd)
}

/** Tells whether the exits must be checked now: one is missing, the size they close has changed, or the last look is long ago. */
export function isLookDue(
  params: ExecutorParams,
  wanted: WantedExits,
  use: ExecutorUse,
  kept: ExitSync | undefined,
  { nowMs, booked }: ExecutorView,
): boolean {
  const count = exitTypes.filter((type) => triggerOf(wanted, type) !== undefined).length
  const resting = use.resting.filter(({ isExit }) => isExit).length
  if (
    kept?.goneMs !== undefined ||
    kept === undefined ||
    resting < count ||
    kept.sizeUsd !== use.doneUsd - use.exitedUsd ||
    (kept.bookUsd !== undefined && kept.bookUsd !== freeUsd(booked(params)))
  )
    return true
  return nowMs < kept.atMs || nowMs - kept.atMs >= LOOK_MS
}

/** View for judging the exits. */
export type ExitView = Pick<ExecutorView, 'nowMs' | 'straightMs' | 'booked'> & { readonly snapshot: Snapshot }

/** Next step for the exits. */
export type ExitStep =
  /** They are as they are to be. */
  | { readonly kind: 'kept' }
  /** The position is gone: somebody else closed it. */
  | { readonly kind: 'gone' }
  | { readonly kind: 'wait'; readonly until: string; readonly kept?: ExitSync }
  | { readonly kind: 'order'; readonly decision: Decision }

/** Returns the next step for the exits of the rest of a task's position; the stop comes first. */
export function nextExit(
  params: ExecutorParams,
  wanted: WantedExits,
  use: ExecutorUse,
  kept: ExitSync | undefined,
  view: ExitView,
  taskId: string,
): ExitStep {
  const { snapshot } = view
  const side = { ...params, action: 'decrease' as const }
  const sizeUsd = leftToClose(params, use, view)
  if (heldUsd(side, snapshot) === 0n || sizeUsd === 0n)
    return missing(kept, view, freeUsd(view.booked(params)))
  const price = takenPrice(side, snapshot)
  const { marketToken, direction, collateralToken } = params
  const owner = `the task ${taskId}`
  const part = { owner, side: { marketToken, direction, collateralToken }, sizeUsd, toleranceBps: 0 }
  for (const type of exitTypes) {
    const triggerPrice = triggerOf(wanted, type)
    if (triggerPrice === undefined) continue
    const own = use.resting.filter((each) => each.isExit && typeOf(each) === type)
    if (own.length === 0 && price === undefined)
      return { kind: 'wait', until: 'the oracle has no fresh price of the market' }
    const resting = own.flatMap((each) => listedAs(each, type, snapshot) ?? [])
    if (resting.length < own.length) continue
    const facts = { task: taskId, exit: type }
    const planned: PlannedExits = {
      ...{
        type,
        isOne: true,
        levels: [{ triggerPrice, facts: () => facts }],
        note: `; ${owner} asks for one`,
      },
      past: {
        ...{ action: 'reduce', keepsLeverage: true },
        why: () => ({
          reason: `the price passed the ${type} of ${owner} at ${formatPrice(triggerPrice)}: it closes at the market`,
          facts,
        }),
      },
      // A stop stays where it is: the average of more rungs would move it away from the price.
      moves: resting
        .filter((order) => type === 'take-profit' && isFar(order.triggerPrice, triggerPrice))
        .map(({ orderKey }) => ({ orderKey, triggerPrice })),
    }
    const [decision] = keepExits({ ...part, exits: [planned] }, { resting, price: price ?? triggerPrice })
    if (decision !== undefined) return { kind: 'order', decision }
  }
  return { kind: 'kept' }
}

/** An order of a task as the list shows it; undefined: it does not. */
function listedAs({ orderKey }: RestingChild, orderType: ExitType, snapshot: Snapshot) {
  const row = snapshot.orders.value.find((order) => sameHex(order.orderKey, orderKey))
  const triggerPrice = row === undefined ? undefined : triggerPriceOf(row, snapshot)
  return row === undefined || triggerPrice === undefined
    ? undefined
    : { orderKey, orderType, sizeDeltaUsd: row.sizeDeltaUsd, triggerPrice, isFrozen: row.isFrozen }
}

function isFar(standsAt: Usd, triggerPrice: Usd): boolean {
  return absOf(standsAt - triggerPrice) > bps(triggerPrice, NEAR_BPS)
}

/**
 * Judges a position that the list does not show. For a new position that is no proof of its end: it must have been seen with its exits once. A size
 * that the book has lost was reduced, whoever has the rest of the position: its exits would close that.
 */
function missing(
  kept: ExitSync | undefined,
  { nowMs, straightMs = Number.POSITIVE_INFINITY }: ExitView,
  bookUsd: Usd,
): ExitStep {
  if (kept === undefined) return { kind: 'wait', until: 'its position is not in the list yet' }
  // A clock that was set back begins the wait anew, and no longer one.
  const goneMs = Math.min(kept.goneMs ?? nowMs, nowMs)
  const isTakenOff = kept.bookUsd !== undefined && kept.bookUsd > 0n && bookUsd === 0n
  // One that was set forth makes it no shorter.
  const waitedMs = Math.min(nowMs - goneMs, straightMs)
  if (waitedMs >= (isTakenOff ? TAKEN_OFF_MS : GONE_MS)) return { kind: 'gone' }
  return { kind: 'wait', until: 'its position is no longer in the list', kept: { ...kept, goneMs } }
}

function triggerOf({ takeProfit, stopLoss }: WantedExits, type: ExitType): Usd | undefined {
  return type === 'stop-loss' ? stopLoss : takeProfit
}

function typeOf({ child, state }: RestingChild): string {
  const { role } = child
  return role === 'main' ? state.intent.terms.orderType : role
}
