/** Reports the steps of a kill, once each: orders that add risk are cancelled, positions are being closed, it is stuck, it is over. */

import type { MonotonicClock } from '../base/clock.ts'
import type { LeftPosition } from '../domain/accountEvent.ts'
import type { Emit } from '../domain/event.ts'

/** Time without progress after which a kill counts as stuck, ms. */
const STUCK_MS = 60_000

/** Result of a look. */
export interface KillLook {
  readonly close: boolean
  /** Resting orders, positions (0 when they stay) and orders in flight. */
  readonly left: { readonly orders: number; readonly positions: number; readonly inFlight: number }
  /** Number of resting orders to cancel now: exits that stay until their position is closed do not count. */
  readonly toCancel: number
  /** Positions that it leaves, and the protection of each; none when it closes. */
  readonly stays: readonly LeftPosition[]
  /** The problem that stopped progress; absent: none. */
  readonly problem?: string | undefined
}

/** Reporter of the steps. */
export interface KillSteps {
  /** Another kill begins. */
  restart(): void
  look(look: KillLook): void
  /** A look failed, so that nobody knows the rest. */
  failed(reason: string): void
  done(close: boolean): void
  /** It is over, and the end of its messages is not proven: `reason`. */
  unproven(close: boolean, reason: string): void
  abandoned(): void
}

/** Steps over an emit; `clock` says how long nothing became less. */
export function createKillSteps({
  emit,
  clock,
}: {
  readonly emit: Emit
  readonly clock: MonotonicClock
}): KillSteps {
  let isCancelledTold = false
  let isClosingTold = false
  let isStuckTold = false
  /** The exits that the newest look saw stay. */
  let stays: readonly LeftPosition[] = []
  /** Remainder at the previous look, and the time from which it has been the same. */
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
      stays = []
      before = undefined
    },
    look({ close, left, toCancel, stays: staying, problem }) {
      stays = staying
      const { orders, positions, inFlight } = left
      if (toCancel === 0 && !isCancelledTold) {
        isCancelledTold = true
        emit({ type: 'kill.step', step: 'cancelled', close, stays })
      }
      if (close && positions > 0 && !isClosingTold) {
        isClosingTold = true
        emit({ type: 'kill.step', step: 'closing', positions })
      }
      watchStuck(
        `${orders} ${positions} ${inFlight}`,
        problem ??
          `${orders} orders, ${positions} positions and ${inFlight} messages remain without progress`,
      )
    },
    failed(reason) {
      // The previous remainder still counts: a failed look shows no progress.
      watchStuck(before?.key ?? 'unread', reason)
    },
    done: (close) => emit({ type: 'kill.step', step: 'done', close, stays }),
    unproven: (close, reason) => emit({ type: 'kill.step', step: 'unproven', close, stays, reason }),
    abandoned: () => emit({ type: 'kill.step', step: 'abandoned' }),
  }
}
