/** The life of an engine: it starts, recovers, runs its loops, drains and ends. `engine.ts` describes the states. */

import type {
  HasCatalogue,
  HasEngineSettings,
  HasLimits,
  HasOrders,
  HasTrading,
} from '../account/accountParts.ts'
import { recordStartLimits } from '../account/recordedLimits.ts'
import type { AccountWatch } from '../account/watch/accountWatch.ts'
import type { Breakers } from '../account/watch/breakerWatch.ts'
import { unresolvedOf } from '../account/watch/unresolved.ts'
import { DecodeError, RefusedError, UnreachableError } from '../api/transport/apiErrors.ts'
import { BaseError, reasonOf } from '../base/errors.ts'
import type { ExecutionContext } from '../execution/context/executionContext.ts'
import type { HasApi, HasClock, HasEmit } from '../execution/context/executionParts.ts'
import type { OrderManager } from '../execution/orderManager.ts'
import type { Market } from '../protocol/market.ts'
import type { Ending, Phase } from './phase.ts'

/** Time that a stop waits for pending reads, beyond the drain, ms. */
const stopGraceMs = 1_000
const [retryStartMs, retryMaxMs] = [1_000, 15_000]
const drainPollMs = 50

/** Parts of an engine's life. */
export interface LifecycleParts {
  readonly account: AccountWatch
  readonly breakers: Breakers
  readonly ending: Ending
  readonly phase: Phase
  readonly orderManager: OrderManager
  readonly startedAtMs: number
  /** Counts the day's results with everything that is known now. */
  readonly countDay: () => void
  /** Records at a start the fate of strategies whose files appeared or disappeared. */
  readonly keepRoster: () => Promise<void>
  /** Loops that run as long as the engine lives, started when it is ready. */
  readonly loops: () => readonly Promise<void>[]
  /** Receives the venue's markets once, before the first tick; an error ends the start. */
  readonly onMarkets?: (markets: readonly Market[]) => void
}

/** Parts of the engine that its life uses. */
export interface LifecycleContext
  extends HasApi,
    HasCatalogue,
    HasClock,
    HasEmit,
    HasEngineSettings,
    HasLimits,
    HasOrders,
    HasTrading {
  /** Takes a mistake of ours. */
  readonly fatal: ExecutionContext['fatal']
}

/** An engine's life. */
export interface Lifecycle {
  /** See `Engine`. */
  start(): Promise<void>
  stop(signal: string): Promise<void>
  abort(): void
  /** Reasons why the engine is not ready for new orders; empty when it is. */
  notReady(): readonly string[]
  /** Returns the time of the latest round of the watch over the account, monotonic ms; undefined before its first round. */
  watchedAtMs(): number | undefined
}

/** Makes it; nothing begins before `start`. */
export function createLifecycle(context: LifecycleContext, parts: LifecycleParts): Lifecycle {
  const { api, catalogue, clock, emit, engineSettings, openOrders } = context
  const { account, breakers, orderManager, phase, startedAtMs } = parts
  const { deciding, living } = parts.ending
  const loops: Promise<void>[] = []
  let notReady: readonly string[] = ['starting']
  let watchedAtMs: number | undefined

  /** Tries until it works or the engine ends; a fault is reported as why the engine is not ready. */
  async function untilDone(what: string, work: () => Promise<void>): Promise<void> {
    let waitMs = retryStartMs
    while (!living.signal.aborted) {
      try {
        await work()
        return
      } catch (error) {
        if (
          !(
            error instanceof RefusedError ||
            error instanceof UnreachableError ||
            error instanceof DecodeError
          )
        )
          throw error
        notReady = [`${what}: ${reasonOf(error)}`]
        emit({ type: 'daemon.recovering', reason: notReady[0] ?? what })
      }
      await clock.sleep(waitMs, living.signal)
      waitMs = Math.min(waitMs * 2, retryMaxMs)
    }
  }

  async function keepWatching(): Promise<void> {
    let heartbeatAtMs = clock.monotonicMs() + engineSettings.heartbeatMs
    while (!living.signal.aborted) {
      await clock.sleep(engineSettings.watchMs, living.signal)
      if (living.signal.aborted) return
      watchedAtMs = clock.monotonicMs()
      let isFresh = false
      try {
        await account.look()
        isFresh = true
      } catch (error) {
        if (!(error instanceof BaseError)) throw error
      }
      // A stop that came meanwhile closes the journal soon.
      if (living.signal.aborted) return
      await breakers.check(isFresh)
      parts.countDay()
      if (clock.monotonicMs() < heartbeatAtMs) continue
      heartbeatAtMs = clock.monotonicMs() + engineSettings.heartbeatMs
      emit({
        type: 'daemon.heartbeat',
        openIntents: openOrders.open().length,
        unresolved: unresolvedOf(openOrders.open()).length,
        positions: account.positions().length,
        exposureUsd: account.exposure().exposureUsd,
      })
    }
  }

  /** Open orders whose next word may come any moment; one that rests may wait for weeks, and nothing is gained by watching it. */
  function underWay(): ReturnType<typeof openOrders.open> {
    return openOrders.open().filter(({ label }) => label !== 'resting')
  }

  // Nothing is sent after the end, whoever brought it about.
  living.signal.addEventListener('abort', () => {
    orderManager.stop().catch(context.fatal)
  })

  function background(work: Promise<void>): void {
    loops.push(work.catch(context.fatal))
  }

  return {
    async start() {
      await untilDone('the venue does not respond', async () => {
        // A market that is not shipped is named by its tokens.
        await api.getTokensInfo()
        const markets = await api.getMarkets()
        catalogue.list(markets.value)
        parts.onMarkets?.(markets.value)
      })
      if (living.signal.aborted || deciding.signal.aborted) return
      phase.enter('recovering')
      notReady = ['recovering: open orders are checked before new ones are made']
      await recordStartLimits(context)
      await parts.keepRoster()
      await orderManager.recover()
      await untilDone('the account cannot be read', account.look)
      await breakers.check(true)
      // A signal may have arrived during the request to the venue.
      if (living.signal.aborted || deciding.signal.aborted) return
      phase.enter('running')
      notReady = []
      const halt = context.trading.haltOn()
      const held =
        halt === undefined
          ? {}
          : { held: `trading is ${halt.state} by ${halt.cause}, ${halt.by}: ${halt.reason}` }
      emit({ type: 'daemon.ready', ...held })
      background(keepWatching())
      for (const loop of parts.loops()) background(loop)
    },
    async stop(signal) {
      if (phase.state() === 'draining' || phase.state() === 'stopped') return
      notReady = ['draining']
      deciding.abort()
      const untilMs = clock.monotonicMs() + engineSettings.drainMs
      emit({
        type: 'daemon.draining',
        signal,
        openIntents: openOrders.open().length,
        underWay: underWay().length,
        drainMs: engineSettings.drainMs,
      })
      // Before recovery nothing is followed: there is nothing to wait for.
      const isFollowing = phase.state() !== 'starting'
      phase.enter('draining')
      while (
        isFollowing &&
        !living.signal.aborted &&
        underWay().length > 0 &&
        clock.monotonicMs() < untilMs
      ) {
        await clock.sleep(drainPollMs, living.signal)
      }
      living.abort()
      await orderManager.stop()
      const ended = new AbortController()
      const all = Promise.all(loops).finally(() => ended.abort())
      await Promise.race([all, clock.sleep(stopGraceMs, ended.signal)])
      phase.enter('stopped')
      emit({
        type: 'daemon.stopped',
        openIntents: openOrders.open().length,
        positions: account.heldWords(),
        uptimeMs: clock.now() - startedAtMs,
      })
    },
    abort: parts.ending.abort,
    notReady: () => notReady,
    watchedAtMs: () => watchedAtMs,
  }
}
