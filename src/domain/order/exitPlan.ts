/**
 * The exits of a strategy file (`exit:`): take-profits and a stop-loss that every increase of the instance brings with it, in the same
 * signed message, so that no position of it stands at the venue without them, whether perpd runs or not.
 */
import { BPS_ONE, bps, type Usd } from '../../protocol/units.ts'
import type { ExitRequest, IncreaseDecision } from './decision.ts'

/** How far from the entry an exit lies: a part of the entry price, or so many USD per whole index token. */
export type ExitDistance =
  | { readonly bps: number; readonly usd?: never }
  | { readonly usd: Usd; readonly bps?: never }

/** A take-profit, and the share of the order that it closes, bps; all of it when absent. */
export type PlannedTarget = ExitDistance & { readonly shareBps?: number }

/** What the file says; absent parts: the instance's increases bring none of them by the file. */
export interface ExitPlan {
  readonly stopLoss?: ExitDistance
  /** The nearest first. */
  readonly takeProfits: readonly PlannedTarget[]
}

/**
 * The increase with the file's exits, which lie around the price that it opens at, USD per whole index token. What the decision
 * brings itself stands: its own stop-loss keeps the file's away, and so do its own take-profits. A distance that is not less than the
 * price gives a trigger of 0, which sizing refuses.
 */
export function withPlannedExits(
  decision: IncreaseDecision,
  plan: ExitPlan | undefined,
  entryPrice: Usd,
): IncreaseDecision {
  if (plan === undefined) return decision
  const own = decision.tpsl ?? []
  const has = (type: ExitRequest['type']) => own.some((exit) => exit.type === type)
  const isLong = decision.direction === 'long'
  const above = (distance: ExitDistance) => entryPrice + usdOf(distance, entryPrice)
  const below = (distance: ExitDistance) => {
    const price = entryPrice - usdOf(distance, entryPrice)
    return price > 0n ? price : 0n
  }
  const targets = has('take-profit') ? [] : plan.takeProfits
  const stops = plan.stopLoss === undefined || has('stop-loss') ? [] : [plan.stopLoss]
  const planned: ExitRequest[] = [
    ...targets.map(
      (target): ExitRequest => ({
        type: 'take-profit',
        triggerPrice: isLong ? above(target) : below(target),
        ...(target.shareBps === undefined ? {} : { shareBps: target.shareBps }),
      }),
    ),
    ...stops.map(
      (stop): ExitRequest => ({ type: 'stop-loss', triggerPrice: isLong ? below(stop) : above(stop) }),
    ),
  ]
  return planned.length === 0 ? decision : { ...decision, tpsl: [...own, ...planned] }
}

/** Most exits of a file: a stop-loss, and take-profits up to what one increase may bring. */
export const MOST_TARGETS = 4

/** What the take-profits of a ladder close together, bps of the order; one without a share closes all of it. */
export function closedBps(targets: readonly { readonly shareBps?: number | undefined }[]): number {
  return targets.reduce((sum, { shareBps = BPS_ONE }) => sum + shareBps, 0)
}

function usdOf(distance: ExitDistance, entryPrice: Usd): Usd {
  return distance.usd ?? bps(entryPrice, distance.bps)
}
