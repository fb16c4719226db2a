/**
 * Alive and ready, and why not. Judged at the moment somebody asks, from the engine's status, the open incidents and the turns heard of. Where status
 * and incidents disagree the daemon is not ready: either of them is enough.
 */
import { haltsOn } from '../domain/accountRecords/tradingState.ts'
import type { Emit } from '../domain/event.ts'
import type { MonitoredStatus } from './monitoredStatus.ts'
import { span, tradingText } from './text.ts'

/** An answer of health: `reasons` is empty exactly when it is good. */
export interface Verdict {
  readonly ok: boolean
  readonly reasons: readonly string[]
  /** Kinds of the open incidents, of readiness alone; absent: none. No texts: this answer may be open to everyone. */
  readonly incidents?: readonly string[]
}

/** Two questions an orchestrator asks, of the engine's status now; undefined before there is an engine. */
export interface Health {
  /** Hears of every strategy's turns. */
  readonly listen: Emit
  /** Tells whether the process does its work; when it does not, a restart is right, and safe. */
  live(status: MonitoredStatus | undefined): Verdict
  /** Tells whether new orders are made; when they are not, waiting is right. */
  ready(status: MonitoredStatus | undefined): Verdict
}

/** A strategy without any turn (done, failed or skipped) for this many of its cadences, and this long, is stuck. */
const STUCK_CADENCES = 10
const STUCK_LEAST_MS = 60_000
/** One that is asked once an hour is missed this long after its turn, not after ten hours. */
const STUCK_BEYOND_CADENCE_MS = 120_000
/** The watch over the account comes round every few seconds, also while nothing can be read; its reads end by themselves. */
const STUCK_WATCH_MS = 120_000

/** Health over the engine's status; `now` is any clock in ms, default the process's monotonic one: only differences count. */
export function createHealth(now: () => number = () => performance.now()): Health {
  const turnAtMs = new Map<string, number>()
  let readyAtMs: number | undefined

  const stuck = (current: MonitoredStatus): readonly string[] => {
    // Strategies are asked from the moment it runs, also while increases wait for hosts; before that silence is right.
    if (current.state !== 'running' || readyAtMs === undefined) return []
    const sinceMs = readyAtMs
    const { watchedAgoMs = 0 } = current
    const watch =
      watchedAgoMs <= STUCK_WATCH_MS ? [] : [`the account check has not run for ${span(watchedAgoMs)}`]
    const silent = current.strategies.flatMap(({ name, cadenceMs }) => {
      const silentMs = now() - Math.max(turnAtMs.get(name) ?? sinceMs, sinceMs)
      const allowedMs = Math.max(
        STUCK_LEAST_MS,
        Math.min(STUCK_CADENCES * cadenceMs, cadenceMs + STUCK_BEYOND_CADENCE_MS),
      )
      return silentMs <= allowedMs
        ? []
        : [`strategy ${name} has had no turn for ${span(silentMs)}; its cadence is ${span(cadenceMs)}`]
    })
    return [...watch, ...silent]
  }
  return {
    listen: (event) => {
      if (event.type === 'daemon.ready') readyAtMs = now()
      if (event.type === 'tick.done' || event.type === 'tick.failed' || event.type === 'tick.skipped') {
        turnAtMs.set(event.strategy, now())
      }
    },
    live: (current) => {
      if (current === undefined) return verdict([])
      if (current.state === 'stopped') return verdict(['the engine has stopped'])
      return verdict(stuck(current))
    },
    ready: (current) => {
      if (current === undefined) return verdict(['starting'])
      const state = current.state === 'running' ? [] : [current.state]
      const incidents = [...new Set(current.incidents?.map(({ kind }) => kind))]
      const known = [
        ...state,
        ...current.notReady.filter((reason) => reason !== current.state),
        ...haltsOn(current.halts).map(
          ({ scope, state: held, cause, by, reason }) =>
            `${tradingText(scope, held)} by ${cause}, ${by}: ${reason}`,
        ),
        ...stuck(current),
      ]
      // The status says more; the incidents alone are named only where it says nothing.
      const alone = known.length === 0 ? [...new Set(current.blocking)] : []
      const judged = verdict([...known, ...alone.map((kind) => `an open incident stops new orders: ${kind}`)])
      return incidents.length === 0 ? judged : { ...judged, incidents }
    },
  }
}

function verdict(reasons: readonly string[]): Verdict {
  return { ok: reasons.length === 0, reasons }
}
