/** Events for the machine when an attempt gets no message. */

import { defined } from '../../base/defined.ts'
import type { Difference } from '../../domain/orderEvent.ts'
import type { ClockProblem } from '../clock/chainClock.ts'
import type { HasClock } from '../context/executionParts.ts'
import type { Rejection } from '../verify/verify.ts'
import type { NotMade } from './lane.ts'

/** Nothing is signed for the intent any more. */
export function refused(
  { clock }: HasClock,
  code: string,
  reason: string,
  facts: Readonly<Record<string, string | number | boolean>>,
): NotMade {
  return { kind: 'not-made', event: { type: 'refused', nowMs: clock.now(), code, reason, facts } }
}

/** Somebody who is needed did not answer: it is tried again while the intent lasts. */
export function unreachable({ clock }: HasClock, reason: string): NotMade {
  return { kind: 'not-made', event: { type: 'prepare.unreachable', nowMs: clock.now(), reason } }
}

/** The chain's time is unknown, which is checked again while the intent lasts, or differs from ours, which ends it. */
export function doubted(context: HasClock, doubt: ClockProblem): NotMade {
  const { reason } = doubt
  if (doubt.kind !== 'skew') return unreachable(context, reason)
  const { skewSeconds } = doubt
  const facts = defined({ skewSeconds: skewSeconds === undefined ? undefined : Math.round(skewSeconds) })
  return refused(context, 'CHAIN_CLOCK_SKEW', reason, facts)
}

/** A message that perpd built and policy does not allow: no host is to blame. */
export function unfit(context: HasClock, { code, differences }: Rejection): NotMade {
  const reason = `the message breaks the signing rules: ${textOf(differences)}`
  return refused(context, code, reason, { differences: differences.length })
}

/** Differences in one sentence. */
export function textOf(differences: readonly Difference[]): string {
  return differences
    .map(({ field, expected, found }) => `${field}: expected ${expected}, found ${found}`)
    .join('; ')
}
