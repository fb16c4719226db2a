/**
 * The account's distance from the breakers of its losses: where one might open, and at each height from which they count, the daemon looks itself.
 */
import type { Usd } from '../../protocol/units.ts'

const DAY_SECONDS = 86_400

/** Limits of an account's losses; absent: none. */
export interface AccountLosses {
  /** Fall below the highest worth, bps of it. */
  readonly maxDrawdownBps?: number | undefined
  readonly maxDailyLossUsd?: Usd | undefined
  readonly maxDailyLossEquityBps?: number | undefined
}

/** The worth of an account over time, with regard to its breakers. */
export interface LossWatch {
  /**
   * Tells whether no breaker of losses is near at a Unix second, and whether the second before it, at which the daemon would not look either, was no
   * height that the breakers count from.
   */
  isCalm(second: number, beforeSecond: number): boolean
  /** Tells whether the account is worth more at a second than at any that the daemon looked at. */
  isAbove(second: number): boolean
  /** The daemon looked at the account at a second. */
  looked(second: number): void
}

/** Makes a watch of an account whose highest worth so far is `highestUsd`, and whose worth is `worthAt`; half of a limit counts as near to it. */
export function createLossWatch(
  { maxDrawdownBps, maxDailyLossUsd, maxDailyLossEquityBps }: AccountLosses,
  highestUsd: Usd,
  worthAt: (second: number) => Usd,
): LossWatch {
  const hasDaily = maxDailyLossUsd !== undefined || maxDailyLossEquityBps !== undefined
  const isOff = maxDrawdownBps === undefined && !hasDaily
  let [peakUsd, day, dayUsd]: [Usd, number, Usd] = [highestUsd, -1, 0n]
  let last = { second: -1, worthUsd: 0n }

  function isNear(worthUsd: Usd): boolean {
    const [fallenUsd, lostUsd] = [peakUsd - worthUsd, dayUsd - worthUsd]
    const isBeyond = (usd: Usd, ofUsd: Usd, limitBps: number | undefined): boolean =>
      limitBps !== undefined && usd * 20_000n >= ofUsd * BigInt(limitBps)
    return (
      isBeyond(fallenUsd, peakUsd, maxDrawdownBps) ||
      (maxDailyLossUsd !== undefined && lostUsd * 2n >= maxDailyLossUsd) ||
      isBeyond(lostUsd, dayUsd, maxDailyLossEquityBps)
    )
  }

  return {
    isCalm(second, beforeSecond) {
      if (isOff) return true
      if (Math.floor(second / DAY_SECONDS) !== day) return false
      const before = last.second === beforeSecond ? last.worthUsd : worthAt(beforeSecond)
      const worthUsd = worthAt(second)
      last = { second, worthUsd }
      const isHeight = before > peakUsd && worthUsd < before
      return !isHeight && !isNear(worthUsd)
    },
    isAbove: (second) => !isOff && (last.second === second ? last.worthUsd : worthAt(second)) > peakUsd,
    looked(second) {
      if (isOff) return
      const worthUsd = worthAt(second)
      if (worthUsd > peakUsd) peakUsd = worthUsd
      const today = Math.floor(second / DAY_SECONDS)
      if (today === day) return
      day = today
      dayUsd = worthUsd
    },
  }
}
