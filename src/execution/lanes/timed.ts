/** Durations of an order's steps. */

import type { Event } from '../../domain/event.ts'
import type { HasClock, HasEmit } from '../context/executionParts.ts'

/** Reports how long a step took since `sinceMs` (monotonic), and gives the time now. */
export function timed(
  context: HasClock & HasEmit,
  intentId: string,
  step: Extract<Event, { type: 'order.timing' }>['step'],
  sinceMs: number,
): number {
  const nowMs = context.clock.monotonicMs()
  context.emit({ type: 'order.timing', intentId, step, durationMs: nowMs - sinceMs })
  return nowMs
}
