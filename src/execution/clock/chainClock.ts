/**
 * Judges whether the chain's time is known and our clock agrees with it, well enough to sign orders that add risk (docs/reference/asked.md).
 */

import { HEALTHY_SECONDS } from '../../domain/chainTime.ts'
import type { Intent } from '../../domain/order/intent.ts'
import type { HasEmit, HasRules } from '../context/executionParts.ts'
import type { ArmingTime } from './armingTime.ts'

/** Difference that is reported, seconds: more than blocks and a node's delay explain. */
const TOLD_SECONDS = 5

/** The reason why an order may not be signed now: for good, or until an endpoint answers. */
export type ClockProblem =
  | { readonly kind: 'no-chain-time'; readonly reason: string }
  | { readonly kind: 'skew'; readonly reason: string; readonly skewSeconds?: number }

/**
 * Returns the clock problem that forbids signing an intent at this time, or undefined. Without endpoints there is no chain time to compare with. An
 * intent that cannot add risk is signed all the same: a deadline too far away only keeps it open for longer.
 */
export function clockProblemOf(
  { emit, rules }: HasEmit & HasRules,
  intent: Intent,
  { answered, skewSeconds }: ArmingTime,
): ClockProblem | undefined {
  if (rules.source === 'api') return undefined
  const addsRisk = intent.reservationUsd > 0n
  if (answered === 0) {
    return addsRisk
      ? { kind: 'no-chain-time', reason: 'no chain endpoint answered with its time' }
      : undefined
  }
  if (skewSeconds === undefined) {
    if (!addsRisk) return undefined
    const reason = `the chain's time is unknown: no endpoint is within ${HEALTHY_SECONDS} s of our clock or the hosts' clocks, or these clocks differ and endpoints support each of them`
    return { kind: 'skew', reason }
  }
  if (Math.abs(skewSeconds) <= TOLD_SECONDS) return undefined
  const isTooLarge = Math.abs(skewSeconds) > HEALTHY_SECONDS
  emit({ type: 'chain.skew', skewSeconds, isTooLarge })
  if (!isTooLarge || !addsRisk) return undefined
  const reason = `our clock and the chain's time differ by ${Math.round(Math.abs(skewSeconds))} s`
  return { kind: 'skew', reason, skewSeconds }
}
