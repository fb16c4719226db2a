/**
 * Watches whether a strategy that paused itself has resumed. It notifies once the turns were in good order for a while, so a strategy that fails
 * again and again is one story. Pure but for its state.
 */
import type { Event } from '../domain/event.ts'
import type { Notice, NoticeKind } from './notice.ts'

/** Time that turns must be in good order, ms. */
const CALM_MS = 600_000

/** Notified pause of a strategy: its causes by kind, and the time of its last failure, monotonic ms. */
interface Told {
  readonly causes: ReadonlyMap<NoticeKind, string>
  readonly failedMs: number
}

/** Takes events in their order, with their monotonic ms; gives what ends. */
export function createPauseWatch(): (event: Event, nowMs: number) => readonly Notice[] {
  const told = new Map<string, Told>()

  function begin(strategy: string, kind: NoticeKind, cause: string, nowMs: number): void {
    const causes = new Map(told.get(strategy)?.causes).set(kind, cause)
    told.set(strategy, { causes, failedMs: nowMs })
  }

  function goOn(strategy: string, { causes, failedMs }: Told, nowMs: number): readonly Notice[] {
    if (nowMs - failedMs < CALM_MS) return []
    told.delete(strategy)
    return [...causes].map(([kind, cause]) => ({
      ...{ kind, cause, level: 'info', isEnd: true },
      text: `${strategy} has resumed: no turn failed for ten minutes`,
    }))
  }

  return (event, nowMs) => {
    switch (event.type) {
      case 'strategy.paused':
        begin(event.strategy, 'strategy-paused', pausedCause(event.strategy), nowMs)
        return []
      case 'strategy.unfit':
        begin(event.strategy, 'strategy-unfit', unfitCause(event.strategy), nowMs)
        return []
      case 'strategy.switched':
        if (event.to === 'running') told.delete(event.strategy)
        return []
      case 'tick.failed':
      case 'tick.done': {
        const { strategy } = event
        const before = told.get(strategy)
        if (before === undefined) return []
        const isGood = event.type === 'tick.done' && event.isSlow !== true && (event.invalid ?? 0) === 0
        if (isGood) return goOn(strategy, before, nowMs)
        told.set(strategy, { ...before, failedMs: nowMs })
        return []
      }
      default:
        return []
    }
  }
}

/** The cause of a strategy that pauses, by itself or by an operator. */
export function pausedCause(strategy: string): string {
  return `paused:${strategy}`
}

/** The cause of a strategy whose memory does not fit its kind. */
export function unfitCause(strategy: string): string {
  return `unfit:${strategy}`
}
