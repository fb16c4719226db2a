/**
 * The engine: resumes the journal's open intents, runs strategies at their cadence, follows open orders, and drains.
 *
 * starting    the venue is not reached yet; strategies get no turns, `/readyz` says why.
 * recovering  open intents are looked at once each, and the account is read.
 * running     every strategy ticks at its own cadence, aligned to the clock; a strategy that throws or is slow hurts
 *             only itself.
 * draining    no new decisions; open orders are followed until they close or `drainMs` is over. Either end is safe: the
 *             journal was written before everything that left.
 */

import { createUnprotectedPositions } from '../account/holdings/unprotectedPositions.ts'
import { deskRows, limitRows } from '../account/liveLimits.ts'
import { type DeskUse, deskUseNow } from '../account/watch/deskUse.ts'
import { lookAgain } from '../account/watch/lookAgain.ts'
import { usedNow } from '../account/watch/usedLimits.ts'
import { defined } from '../base/defined.ts'
import { bookRows } from '../books/bookView.ts'
import type { Decision } from '../domain/order/decision.ts'
import type { Denial, Intent } from '../domain/order/intent.ts'
import type { Snapshot } from '../domain/snapshot.ts'
import { createLifecycle } from '../engine/lifecycle.ts'
import type { OrderManager } from '../execution/orderManager.ts'
import { createReads } from '../operator/operatorReads.ts'
import type { EngineApi } from '../operator/port/engineStatus.ts'
import { createLabelledOrders } from '../operator/port/labelledOrders.ts'
import { operate } from '../operator/port/operate.ts'
import { createCandleReads } from '../operator/port/readCandles.ts'
import { createSignalInbox } from '../operator/port/signalInbox.ts'
import { statusOf, withStopLooks } from '../operator/port/statusReport.ts'
import { createReload } from '../operator/reloadStrategies.ts'
import type { Usd } from '../protocol/units.ts'
import type { LoadedStrategy } from '../strategy/files/load.ts'
import type { EngineParts } from './wiring/engineParts.ts'
import { wireAccount } from './wiring/wireAccount.ts'
import { wireBase } from './wiring/wireBase.ts'
import { wireProcesses } from './wiring/wireProcesses.ts'
import { wireRoad } from './wiring/wireRoad.ts'
import { wireTurns } from './wiring/wireTurns.ts'

/** A running engine. */
export interface Engine extends EngineApi {
  /** Recovers, then runs; resolves when it runs. Rejects when the first reads show a mistake of the configuration. */
  start(): Promise<void>
  /** First call: no new decisions, follow open orders for `drainMs`. Resolves when done. `abort()` ends it at once. */
  stop(signal: string): Promise<void>
  abort(): void
  /**
   * The size that an accepted increase may have by everything that is read anew, at most `atMostUsd` less headroom; or why
   * there is none. Rejects as reading does.
   */
  resize(intent: Intent, atMostUsd: Usd): Promise<Usd | Denial>
  /** Looks at the use of limits that the desk deals out; undefined while the account is not read, or no longer. */
  deskUse(): Promise<DeskUse | undefined>
  /** Lists the running strategies; whoever stops the engine ends their threads. */
  strategies(): readonly LoadedStrategy[]
  /** The order machine under it. */
  readonly orders: OrderManager
}

/** Makes an engine, with the order machine under it. Each part is wired of those before it. */
export function createEngine(given: EngineParts): Engine {
  const base = wireBase(given)
  const { context, ending, isDeciding, isRunning, moves, parts, phase, startedAtMs } = base
  const account = wireAccount(base)
  const { breakers, feeds, holdings, live, realized, reconciler, unmanaged, watch } = account
  const road = wireRoad(base, account)
  const { orderManager } = road
  const processes = wireProcesses(base, account, road)
  const { byOperator, executors, kill, taskRoad, unwinder, windDown, withWallet } = processes
  const instances = wireTurns(base, account, road, processes)

  // Commands of the operator, and the life of it all.
  const { clock, journal } = context
  const { living } = ending
  const reload = createReload({
    ...{ ...context, instances, windDown, isRunning },
    ...defined({ files: parts.strategyFiles }),
  })
  const unprotectedPositions = createUnprotectedPositions()
  const life = createLifecycle(context, {
    account: withStopLooks(context, { account: watch, unprotectedPositions, reconciler, executors }),
    ...{ breakers, ending, phase, orderManager, startedAtMs },
    countDay: realized,
    keepRoster: reload.begin,
    loops: () => [
      lookAgain(
        { clock, moves, look: () => account.look(living.signal), isSettled: account.isSettled },
        living.signal,
      ),
      kill.run(living.signal),
      unwinder.run(living.signal),
      windDown.run(living.signal),
      executors.run(living.signal),
      instances.run(),
    ],
    ...defined({ onMarkets: parts.onMarkets }),
  })
  const labelled = createLabelledOrders({ ...context, holdings })
  const inbox = createSignalInbox({ ...context, isTaking: isDeciding })
  const operatorContext = {
    ...{ ...context, orderManager, kill, unwinder, reconciler, reload },
    byHand: { ...context, ...byOperator, ...withWallet },
    tasks: {
      ...context,
      ...withWallet,
      executors,
      denialOf: (snapshot: Snapshot, decision: Decision) => taskRoad.denialOf(false, snapshot, decision),
    },
    equity: breakers.equity,
    isTaking: isDeciding,
  }
  const usedOf = () => usedNow({ ...context, ...live }, { account: watch, breakers, realized })
  return {
    start: life.start,
    stop: life.stop,
    abort: life.abort,
    resize: road.resize,
    strategies: context.strategies,
    orders: orderManager,
    status: () =>
      statusOf(context, {
        ...{ breakers, feeds, instances, kill, labelled, life, phase, reconciler, startedAtMs },
        ...{ unmanaged, unprotectedPositions, unwinder, windDown },
        labels: parts.labels,
        account: watch,
      }),
    operate: (command, commander) => operate(operatorContext, command, commander),
    signal: inbox.receive,
    ...createReads(context),
    ...createCandleReads(context, instances),
    tasks: () => executors.list(),
    clockSkewMs: (host) => context.api.clockSkewMs(host),
    limits: () => [...limitRows(context.limits.current(), usedOf()), ...deskRows(context.limits.desk())],
    // In its turn: whatever was admitted before is accepted, and counts.
    deskUse: () =>
      road.accept.inTurn(async () =>
        isRunning()
          ? deskUseNow({ ...context, account: watch, holdings, reconciler, usedOf: usedOf() })
          : undefined,
      ),
    fileOf: instances.fileOf,
    books: () => bookRows(journal.books().all(), watch.positions()),
    intents: labelled.intents,
    story: labelled.story,
  }
}
