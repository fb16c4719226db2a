/**
 * One running strategy: it gets turns at its own cadence, is counted, and is contained. A strategy that throws, or whose reads fail, is reported and
 * hurts only itself.
 */

import type { HasTrading } from '../account/accountParts.ts'
import { scheduledTickMs } from '../account/ids.ts'
import { UnreachableError } from '../api/transport/apiErrors.ts'
import { defined, ifDefined, someOf } from '../base/defined.ts'
import { BaseError, reasonOf } from '../base/errors.ts'
import { createOnwardClock } from '../base/onwardClock.ts'
import type { KeptMemory } from '../domain/memory/memoryRecord.ts'
import { exitsHereOf } from '../domain/order/exitSettings.ts'
import type { HasClock, HasEmit } from '../execution/context/executionParts.ts'
import { KindFault } from '../strategy/files/hosted.ts'
import type { LoadedStrategy } from '../strategy/files/load.ts'
import { MemoryUnfitError } from '../strategy/kindMemory.ts'
import { createDecidedPrices, type DecidedLines } from './decidedPrices.ts'
import type { RunningInstance } from './roster/instances.ts'
import type { StrategyStatus } from './strategyStatus.ts'
import type { TickReport } from './tick.ts'

/** A strategy instance of the engine. */
export interface Instance extends RunningInstance {
  status(): StrategyStatus
  /** The prices that its kind named, over time. */
  readonly decidedPrices: DecidedLines
}

/** Limits for a kind of the user's own. */
export interface OwnKindLimits {
  /** Failures in a row after which it pauses; three when absent. A turn that is too slow counts as one. */
  readonly pauseAfterFailures?: number | undefined
  /** Time of the processor from which a turn is too slow, ms; 50 when absent. */
  readonly slowDecideMs?: number | undefined
}

/** The first pause, and the longest; each is twice the one before. */
const [pauseMs, mostPauseMs] = [60_000, 900_000]

/** Makes one; `tickOnce` runs the tick of a scheduled instant (Unix ms) for the strategy loaded then. */
export function createInstance(
  first: LoadedStrategy,
  { clock, emit, trading }: HasClock & HasEmit & HasTrading,
  deciding: AbortSignal,
  tickOnce: (tickMs: number, isAsked: boolean, loaded: LoadedStrategy) => Promise<TickReport>,
  { pauseAfterFailures = 3, slowDecideMs = 50 }: OwnKindLimits = {},
): Instance {
  let loaded = first
  let isEnded = false
  const isOver = () => deciding.aborted || isEnded
  /** Ends the wait for the next turn. */
  let waking = new AbortController()
  deciding.addEventListener('abort', () => waking.abort(), { once: true })
  // A turn, or a change: one at a time.
  let turn: Promise<unknown> = Promise.resolve()
  const counts = { ticks: 0, decisions: 0, admitted: 0, denied: 0, failures: 0 }
  /** Consecutive failures of the kind itself; failed reads do not count. */
  let ownFailures = 0
  /** By the monotonic clock. */
  let pausedUntilMs: number | undefined
  /** Saved memory that does not fit its kind: the kind gets no turn with it. */
  let unfit:
    | { readonly memory: KeptMemory | undefined; readonly reason: string; readonly sinceMs: number }
    | undefined
  const keptMemory = () => trading.accountJournal.state().memories?.get(loaded.name)
  const operatorPause = () => trading.accountJournal.state().strategies?.get(loaded.name)?.paused
  let failingSinceMs: number | undefined
  let lastUnserved: StrategyStatus['lastUnserved']
  let status: StrategyStatus['status']
  const decidedPrices = createDecidedPrices()
  let last: Pick<StrategyStatus, 'lastTickAtMs' | 'lastAskedAtMs' | 'lastTickMs' | 'lastError'> = {}

  function between<T>(work: () => Promise<T>): Promise<T> {
    const next = turn.then(work)
    turn = next.catch(() => undefined)
    return next
  }

  async function runTick(tickMs: number): Promise<void> {
    const startMs = clock.monotonicMs()
    const lastTickAtMs = clock.now()
    last = { ...last, lastTickAtMs }
    // An operator reset its memory.
    if (unfit !== undefined && unfit.memory !== keptMemory()) unfit = undefined
    const byOperator = operatorPause()
    const isPaused =
      byOperator !== undefined ||
      unfit !== undefined ||
      (pausedUntilMs !== undefined && startMs < pausedUntilMs)
    try {
      const report = await tickOnce(tickMs, !isPaused, loaded)
      // A stop came during its turn: it neither failed nor worked.
      if (deciding.aborted && report.decisions === 0) return
      // Count only turns that the kind got; perpd's maintenance while it pauses is none.
      if (!isPaused && !(report.failed instanceof MemoryUnfitError)) {
        counts.ticks += 1
        last = { ...last, lastAskedAtMs: lastTickAtMs }
      }
      counts.decisions += report.decisions
      counts.admitted += report.admitted
      counts.denied += report.denied
      if (report.unserved !== undefined) lastUnserved = { ...report.unserved, atMs: clock.now() }
      const durationMs = clock.monotonicMs() - startMs
      // A line from before a pause or a failure is not about now.
      status = ifDefined(report.status, ({ prices, ...line }) => {
        decidedPrices.take(prices, lastTickAtMs)
        return { ...line, atMs: lastTickAtMs }
      })
      if (isPaused) {
        const reason =
          byOperator !== undefined
            ? `${byOperator.by} paused it: ${byOperator.reason}`
            : unfit === undefined
              ? 'it is paused after failures'
              : 'its saved memory is incompatible with its kind'
        emit({ type: 'tick.skipped', strategy: loaded.name, reason })
        return
      }
      const { invalid, problem, failed, viewBytes, spentMs = 0 } = report
      const slow = spentMs > slowDecideMs ? slowText(spentMs, slowDecideMs) : undefined
      if (failed instanceof MemoryUnfitError) {
        pauseUnfit(failed)
        return
      }
      if (failed !== undefined) tellFailed(failed)
      else {
        const wrong = problem === undefined ? {} : { lastError: problem }
        last = { lastTickAtMs, lastAskedAtMs: lastTickAtMs, lastTickMs: durationMs, ...wrong }
        counts.failures = problem === undefined ? 0 : counts.failures + 1
        failingSinceMs = problem === undefined ? undefined : (failingSinceMs ?? lastTickAtMs)
        const { decisions } = report
        const told = {
          ...(invalid > 0 && { invalid }),
          ...(viewBytes !== undefined && { viewBytes }),
          ...(slow !== undefined && { isSlow: true as const }),
        }
        emit({ type: 'tick.done', strategy: loaded.name, durationMs, decisions, ...told })
      }
      if (slow !== undefined)
        emit({ type: 'strategy.slow', strategy: loaded.name, spentMs, limitMs: slowDecideMs })
      pauseOrGoOn(failed !== undefined || invalid > 0 || slow !== undefined, slow)
    } catch (error) {
      tellFailed(error)
    }
  }

  /** Pauses a kind whose memory does not fit: another turn would give the same answer. It waits for an operator, or for a corrected kind. */
  function pauseUnfit({ shortMessage, facts }: MemoryUnfitError): void {
    unfit = { memory: keptMemory(), reason: shortMessage, sinceMs: clock.now() }
    emit({ type: 'strategy.unfit', strategy: loaded.name, reason: shortMessage, facts })
  }

  function tellFailed(error: unknown): void {
    counts.failures += 1
    failingSinceMs ??= clock.now()
    last = { ...last, lastError: reasonOf(error) }
    const ended = error instanceof KindFault ? error.ended : undefined
    emit({
      type: 'tick.failed',
      strategy: loaded.name,
      reason: reasonOf(error),
      failures: counts.failures,
      ...defined({ facts: error instanceof BaseError ? error.facts : undefined }),
      ...(isUnanswered(error) ? { cause: 'unanswered' } : {}),
      ...defined({ ended }),
    })
  }

  /** Pauses a kind of the user's own that fails turn after turn, and resumes it after a while; perpd's built-in kinds never pause. */
  function pauseOrGoOn(hasFailed: boolean, slow: string | undefined): void {
    ownFailures = hasFailed ? ownFailures + 1 : 0
    pausedUntilMs = undefined
    if (loaded.hosted === undefined || ownFailures < pauseAfterFailures) return
    const forMs = Math.min(mostPauseMs, pauseMs * 2 ** Math.min(20, ownFailures - pauseAfterFailures))
    pausedUntilMs = clock.monotonicMs() + forMs
    const reason = last.lastError ?? slow ?? ''
    emit({ type: 'strategy.paused', strategy: loaded.name, failures: ownFailures, forMs, reason })
  }

  function listen(): void {
    loaded.hosted?.onSaid((text) => emit({ type: 'strategy.said', strategy: loaded.name, text }))
  }

  listen()
  return {
    loaded: () => loaded,
    replace: (next, durable) =>
      between(async () => {
        await durable()
        loaded = next
        status = undefined
        decidedPrices.clear()
        // The cause that paused it may be mended.
        ownFailures = 0
        pausedUntilMs = undefined
        unfit = undefined
        listen()
        const waiting = waking
        waking = new AbortController()
        waiting.abort()
      }),
    end: (durable) =>
      between(async () => {
        await durable()
        isEnded = true
        waking.abort()
      }),
    async run(phaseMs = 0) {
      // Decisions are known by their tick: where the clock is set back none comes twice.
      const time = createOnwardClock(clock)
      let lastTick = -1
      while (!isOver()) {
        const tickMs = scheduledTickMs(time.now() - (phaseMs % loaded.cadenceMs), loaded.cadenceMs)
        if (tickMs !== lastTick) {
          lastTick = tickMs
          await between(async () => (isOver() ? undefined : await runTick(tickMs)))
        }
        // Never longer than a cadence, whatever the clock does meanwhile.
        const waitMs = Math.min(
          loaded.cadenceMs,
          Math.max(1, lastTick + loaded.cadenceMs + (phaseMs % loaded.cadenceMs) - time.now()),
        )
        if (!isOver()) await clock.sleep(waitMs, waking.signal)
      }
    },
    status: () => statusNow(),
    decidedPrices,
  }

  function statusNow(): StrategyStatus {
    const byOperator = operatorPause()
    return {
      name: loaded.name,
      kind: loaded.strategy.kind,
      opensPositions: loaded.strategy.opensPositions,
      symbols: loaded.symbols,
      cadenceMs: loaded.cadenceMs,
      ...counts,
      tradingState: trading.haltOn(loaded.name)?.state ?? 'active',
      ...defined({ pausedBy: byOperator }),
      ...last,
      ...defined({ lastUnserved, status }),
      ...defined({ unfit: ifDefined(unfit, ({ reason, sinceMs }) => ({ reason, sinceMs })) }),
      ...defined({ failingSinceMs }),
      ...defined({ kindFile: loaded.hosted?.path }),
      ...defined({ exitsHere: someOf(exitsHereOf(loaded.exits)) }),
      ...(pausedUntilMs === undefined || pausedUntilMs <= clock.monotonicMs()
        ? {}
        : { pausedForMs: pausedUntilMs - clock.monotonicMs() }),
    }
  }
}

function slowText(spentMs: number, limitMs: number): string {
  return `decide used ${Math.round(spentMs)} ms of processor time; the limit is ${limitMs} (strategies.slowDecideMs)`
}

/** Tells whether no host answered a turn's reading: one cause for all strategies, whatever each of them requested. */
function isUnanswered(error: unknown): boolean {
  return error instanceof BaseError && error.walk((one) => one instanceof UnreachableError) !== undefined
}
