/** Tells the steps of a kill, once each: every order is cancelled, positions are being closed, it is stuck, it is over. */
import type { Clock } from '../../base/clock.ts'
import type { Emit } from '../../domain/event.ts'
import type { KillOutcome } from '../../domain/tasks/killState.ts'

/** How long nothing becomes less before a kill counts as stuck, ms. */
const STUCK_MS = 60_000

/** What a look came to. */
export interface KillLook {
  readonly close: boolean
  /** Resting orders, positions (0 when they stay) and orders in flight. */
  readonly left: { readonly orders: number; readonly positions: number; readonly inFlight: number }
  /** What kept it from going on; absent: nothing did. */
  readonly problem?: string | undefined
}

/** Who tells the steps. */
export interface KillSteps {
  /** Another kill begins. */
  restart(): void
  look(look: KillLook): void
  /** A look failed, so that nobody knows what is left. */
  failed(reason: string): void
  ended(outcome: KillOutcome, close: boolean): void
}

/** Steps over an emit; `clock` says how long nothing became less. */
export function createKillSteps({
  emit,
  clock,
}: {
  readonly emit: Emit
  readonly clock: Pick<Clock, 'monotonicMs'>
}): KillSteps {
  let isCancelledTold = false
  let isClosingTold = false
  let isStuckTold = false
  /** What was left at the look before, and since when it is that much. */
  let before: { readonly key: string; readonly sinceMs: number } | undefined

  function watchStuck(key: string, reason: string): void {
    const nowMs = clock.monotonicMs()
    if (before === undefined || before.key !== key) {
      before = { key, sinceMs: nowMs }
      isStuckTold = false
    }
    if (isStuckTold || nowMs - before.sinceMs < STUCK_MS) return
    isStuckTold = true
    emit({ type: 'kill.step', step: 'stuck', reason })
  }

  return {
    restart() {
      isCancelledTold = false
      isClosingTold = false
      isStuckTold = false
      before = undefined
    },
    look({ close, left, problem }) {
      const { orders, positions, inFlight } = left
      if (orders === 0 && !isCancelledTold) {
        isCancelledTold = true
        emit({ type: 'kill.step', step: 'cancelled', close })
      }
      if (close && positions > 0 && !isClosingTold) {
        isClosingTold = true
        emit({ type: 'kill.step', step: 'closing', positions })
      }
      watchStuck(
        `${orders} ${positions} ${inFlight}`,
        problem ?? `${orders} orders, ${positions} positions and ${inFlight} messages do not become fewer`,
      )
    },
    failed(reason) {
      // What was left before counts on: a look that fails shows no progress.
      watchStuck(before?.key ?? 'unread', reason)
    },
    ended(outcome, close) {
      // The one that takes its place goes on telling.
      if (outcome !== 'replaced') emit({ type: 'kill.step', step: outcome, close })
    },
  }
}
