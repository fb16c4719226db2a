/** Finds decisions that must wait for an order of ours on the same side of a market: one increase at a time, and one reduction of each sort. */

import { LIST_LAG_MS } from '../../domain/accountRecords/listLag.ts'
import type { Limits } from '../../domain/limits/limits.ts'
import type { Decision } from '../../domain/order/decision.ts'
import type { Denial } from '../../domain/order/intent.ts'
import type { LaneName } from '../../domain/order/laneTable.ts'
import { isWithheld, MOST_CLOSES_AT_ONCE } from '../../domain/order/withheld.ts'
import { sameHex } from '../../protocol/address.ts'
import type { InFlight, SideExposure } from '../exposure/accountExposure.ts'
import type { ClassifiedDecision } from './checks.ts'

/** Time for which an unresolved reduction blocks another one of the same position when `reduceAgainAfterMs` is absent. */
const REDUCE_AGAIN_DEFAULT_MS = 120_000

/** Describes what an executed order still waits for, and for how long; undefined where its end is unknown. */
function awaited(
  { intentId, strategy, executed }: SideExposure['increases'][number],
  what: string,
): string | undefined {
  if (executed === undefined) return undefined
  const order = `Order ${intentId} of ${strategy} executed`
  return executed === 'unlisted'
    ? `${order}, but the venue's list does not show it yet; ${what} waits for the list: retry in a few seconds.`
    : `${order} in a block that is not final yet; ${what} waits for finality: retry in a few seconds.`
}

/**
 * Denies with SLOT_BUSY while an order in flight may add on this side of the market: its fate must be known first. Resting orders are known, and
 * count in full.
 */
export function checkSlot(classified: ClassifiedDecision, side: SideExposure): Denial | undefined {
  const holder = side.increases[0]
  if (!classified.adds || classified.decision.kind === 'swap' || holder === undefined) return undefined
  return {
    code: 'SLOT_BUSY',
    reason:
      awaited(holder, 'a second increase') ??
      `Intent ${holder.intentId} of ${holder.strategy} still holds this side of the market; a second increase waits for its end.`,
    wanted: '1 more open increase',
    allowed: '1 open increase at a time',
  }
}

/**
 * REDUCE_IN_FLIGHT: a reduction of this position is in flight. An increase on the side waits for its end; another reduction
 * of the same sort waits `reduceAgainAfterMs` from the newest one, after which it may go: it cannot add risk whatever
 * became of the first. A whole close waits `withheldMs` for messages that are withheld and for proofs that are missing (`needsNoWait`). Exits that rest
 * at the venue keep nothing away.
 */
export function checkReduceInFlight(
  { decision, adds }: ClassifiedDecision,
  side: SideExposure,
  limits: Limits,
  nowMs: number,
  withheldMs?: number,
): Denial | undefined {
  if (decision.kind === 'swap') return undefined
  if (adds) {
    const first = side.reductions.find(({ sort }) => sort !== 'collateral-in')
    if (first === undefined) return undefined
    return {
      code: 'REDUCE_IN_FLIGHT',
      reason:
        awaited(first, 'an increase') ??
        `Intent ${first.intentId} of ${first.strategy} is reducing this side of the market; an increase waits for its end.`,
    }
  }
  const sort = sortOf(decision)
  if (sort === undefined || !('collateralToken' in decision)) return undefined
  const newest = sameSort(side, decision.collateralToken, sort).at(-1)
  if (newest === undefined) return undefined
  if (needsNoWait(decision, side, nowMs, withheldMs)) return undefined
  const waitMs = limits.reduceAgainAfterMs ?? REDUCE_AGAIN_DEFAULT_MS
  const agoMs = Math.max(0, nowMs - newest.sinceMs)
  if (agoMs >= waitMs) return undefined
  return {
    code: 'REDUCE_IN_FLIGHT',
    reason:
      sort === 'collateral-in'
        ? `Intent ${newest.intentId} of ${newest.strategy} is already paying into this position.`
        : `Intent ${newest.intentId} of ${newest.strategy} is already reducing this position.`,
    wanted: `again after ${agoMs} ms`,
    allowed: `again after ${waitMs} ms`,
  }
}

/**
 * Tells whether a whole close may go beside the reductions of its position in flight: each of them is withheld, or it executed and its proof is
 * missing, and not too many may still land. A second close is harmless whichever of them lands or is taken back: the contract closes no more than
 * there is.
 */
function needsNoWait(
  decision: Decision,
  side: SideExposure,
  nowMs: number,
  withheldMs: number | undefined,
): boolean {
  if (decision.kind !== 'close' || withheldMs === undefined) return false
  const open = sameSort(side, decision.collateralToken, 'market')
  const mayLand = open.filter(({ executed }) => executed === undefined)
  return (
    mayLand.length < MOST_CLOSES_AT_ONCE &&
    mayLand.every((each) => isWithheld(each.unprovenSinceMs, nowMs, withheldMs)) &&
    open.every((each) => each.executed === undefined || lacksProof(each, nowMs, withheldMs))
  )
}

/** Tells whether an executed reduction has waited long enough for its proof; where the list does not show it, for as long as a list may lag. */
function lacksProof({ executed, sinceMs }: InFlight, nowMs: number, withheldMs: number): boolean {
  return isWithheld(sinceMs, nowMs, executed === 'unlisted' ? Math.max(withheldMs, LIST_LAG_MS) : withheldMs)
}

/** Returns the withheld reductions that a whole close replaces. */
export function withheldBy(
  decision: Decision,
  side: SideExposure,
  nowMs: number,
  withheldMs: number | undefined,
): readonly InFlight[] {
  if (decision.kind !== 'close' || !needsNoWait(decision, side, nowMs, withheldMs)) return []
  return sameSort(side, decision.collateralToken, 'market').filter(({ executed }) => executed === undefined)
}

/** The lane of a whole close: of those that it may take, the first that the fewest withheld messages were handed to. */
export function closeLaneOf(lanes: readonly LaneName[], withheld: readonly InFlight[]): LaneName | undefined {
  const taken = (lane: LaneName) => withheld.filter((each) => each.lane === lane).length
  return lanes.toSorted((one, other) => taken(one) - taken(other))[0]
}

function sameSort(
  side: SideExposure,
  collateralToken: InFlight['collateralToken'],
  sort: string,
): readonly InFlight[] {
  return side.reductions.filter(
    (open) => open.sort === sort && sameHex(open.collateralToken, collateralToken),
  )
}

/** Returns the sort under which a reduction stands in the exposure; undefined for decisions that reduce nothing. */
function sortOf(decision: Decision): string | undefined {
  switch (decision.kind) {
    case 'close':
      return 'market'
    case 'decrease':
      return decision.orderType ?? 'market'
    case 'collateral-in':
      return decision.kind
    default:
      return undefined
  }
}
