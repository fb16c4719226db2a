/** Checks of decisions that must be whole or are denied: an order by hand is never made smaller than requested. */
import type { Limits } from '../../domain/limits/limits.ts'
import type { Decision } from '../../domain/order/decision.ts'
import type { Denial, Intent } from '../../domain/order/intent.ts'
import type { Market } from '../../protocol/market.ts'
import { BPS_ONE, formatDollars } from '../../protocol/units.ts'

/** Bounds on the leverage of an increase. */
export interface LeverageBounds {
  /** All limits that it is held to, tightened into one. */
  readonly limits: Limits
  /** Those of the account alone. */
  readonly accountLimits: Limits
  /** Absent where it is not known. */
  readonly market?: Market
}

/** MAX_LEVERAGE: a setting or the venue does not allow the leverage of an increase. The request is judged before anything is made smaller by it. */
export function checkWholeLeverage(
  decision: Decision,
  { limits, accountLimits, market }: LeverageBounds,
): Denial | undefined {
  if (decision.kind !== 'increase') return undefined
  const ours = limits.maxLeverageBps ?? Number.POSITIVE_INFINITY
  const venues = market?.maxLeverageBps ?? Number.POSITIVE_INFINITY
  if (decision.leverageBps <= Math.min(ours, venues)) return undefined
  const ourSetting =
    ours === accountLimits.maxLeverageBps ? 'risk.maxLeverage' : 'maxLeverage of risk.markets'
  return {
    code: 'MAX_LEVERAGE',
    reason: `leverage ${times(decision.leverageBps)}; ${venues < ours ? 'the venue' : ourSetting} allows ${times(Math.min(ours, venues))}`,
  }
}

/** SIZE_NOT_WHOLE: less of an increase would be admitted than requested; it is refused, and nothing of it is made smaller. */
export function checkWholeSize({ sizing }: Intent, adds: boolean): Denial | undefined {
  const { wantedUsd, sizeDeltaUsd, cuts } = sizing
  if (!adds || sizeDeltaUsd >= wantedUsd) return undefined
  const causes = cuts.map(({ by }) => (by === 'capacity' ? "the venue's capacity" : `the limit ${by}`))
  return {
    code: 'SIZE_NOT_WHOLE',
    reason: `${causes.join(' and ')} allows a smaller order only, and perpd places a manual order whole or not at all`,
    wanted: formatDollars(wantedUsd),
    allowed: `at most ${formatDollars(sizeDeltaUsd)}`,
  }
}

/** `2.5x`. */
function times(leverageBps: number): string {
  return `${leverageBps / BPS_ONE}x`
}
