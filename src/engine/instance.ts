/**
 * One running strategy: asked at its own cadence, counted, and contained. One that throws, or whose reads fail, is told of
 * and hurts nobody but itself.
 */
import { BaseError, reasonOf } from '../domain/errors.ts'
import type { LoadedStrategy } from '../strategy/load.ts'
import type { EngineContext } from './context.ts'
import { scheduledTickMs } from './ids.ts'
import type { StrategyStatus } from './status.ts'
import type { TickReport } from './tick.ts'

/** A strategy instance of the engine. */
export interface Instance {
  /** Ticks until the signal; never rejects for what the strategy or the venue did. */
  run(): Promise<void>
  status(): StrategyStatus
}

/** Makes one; `tickOnce` runs the tick of a scheduled instant (Unix ms). */
export function createInstance(
  loaded: LoadedStrategy,
  { clock, emit, trading }: Pick<EngineContext, 'clock' | 'emit' | 'trading'>,
  deciding: AbortSignal,
  tickOnce: (tickMs: number) => Promise<TickReport>,
): Instance {
  const counts = { ticks: 0, decisions: 0, admitted: 0, denied: 0, failures: 0 }
  let last: Pick<StrategyStatus, 'lastTickAtMs' | 'lastTickMs' | 'lastError'> = {}

  async function runTick(tickMs: number): Promise<void> {
    const startMs = clock.monotonicMs()
    const lastTickAtMs = clock.now()
    last = { ...last, lastTickAtMs }
    try {
      const report = await tickOnce(tickMs)
      counts.ticks += 1
      counts.decisions += report.decisions
      counts.admitted += report.admitted
      counts.denied += report.denied
      counts.failures = 0
      const durationMs = clock.monotonicMs() - startMs
      last = { lastTickAtMs, lastTickMs: durationMs }
      emit({ type: 'tick.done', strategy: loaded.name, durationMs, decisions: report.decisions })
    } catch (error) {
      counts.failures += 1
      last = { ...last, lastError: reasonOf(error) }
      emit({
        type: 'tick.failed',
        strategy: loaded.name,
        reason: reasonOf(error),
        failures: counts.failures,
        ...(error instanceof BaseError ? { facts: error.facts } : {}),
      })
    }
  }

  return {
    async run() {
      let lastTick = -1
      while (!deciding.aborted) {
        const tickMs = scheduledTickMs(clock.now(), loaded.cadenceMs)
        if (tickMs !== lastTick) {
          lastTick = tickMs
          await runTick(tickMs)
        }
        // Never longer than a cadence: the wall clock may be set back, and a guard must not sleep through it.
        const waitMs = Math.min(loaded.cadenceMs, Math.max(1, lastTick + loaded.cadenceMs - clock.now()))
        await clock.sleep(waitMs, deciding)
      }
    },
    status: () => ({
      name: loaded.name,
      kind: loaded.strategy.kind,
      symbols: loaded.symbols,
      cadenceMs: loaded.cadenceMs,
      ...counts,
      tradingState: trading.holdOn(loaded.name)?.state ?? 'active',
      ...last,
    }),
  }
}
