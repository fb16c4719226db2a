/**
 * The order manager around the pure machine: it commits the record that a step gives, folds it into the live state, runs the
 * effects, and feeds their results back as events. Start-up and steady state are this one path.
 *
 * Order of things: events of one intent are taken one at a time, in order (`takeEvents.ts`); events of different intents run
 * side by side, and their records share commits. Effects (`runEffects.ts`) run after the commit that permits them and never before.
 * A host is asked to prepare a new order beside the commit of J1 and J2; its answer waits for that commit.
 *
 * What is not in the journal is not believed after a restart: signatures in memory, the venue's last word, timers
 * (`trackedOrders.ts`).
 */

import type { AccountRecord } from '../domain/accountRecords/accountRecord.ts'
import type { MachineEvent } from '../domain/machine/step.ts'
import { type Intent, type IntentState, isOpen, isUnresolved, lastAttempt } from '../domain/order/intent.ts'
import { withholdingHosts } from '../domain/order/withheld.ts'
import { DuplicateDecisionError } from '../journal/journal.ts'
import type { ExecutionContext } from './context/executionContext.ts'
import type { HasApi, HasClock, HasSettings } from './context/executionParts.ts'
import type { Lanes } from './lanes/lane.ts'
import { shippedLanes } from './lanes/shippedLanes.ts'
import { inOneCommit, throwFirst } from './oneCommit.ts'
import type { OpenOrders } from './openOrders.ts'
import { createEffects } from './runEffects.ts'
import { createEventTaker } from './takeEvents.ts'
import { createTrackedOrders, inTurn, type TrackedOrders } from './trackedOrders.ts'

/** The running machine over all open intents. */
export interface OrderManager extends OpenOrders {
  /**
   * J1: resolves when the acceptance is durable; execution then continues in the background. False when the same decision was accepted before:
   * nothing happened. `beside` writes records that must be durable in the same commit; it does not run for a decision that is known already.
   */
  accept(intent: Intent, beside?: () => Promise<void>): Promise<boolean>
  /**
   * J1 of several intents and records of the account in one commit: a crash leaves all or none. False when perpd is stopping:
   * nothing was written.
   *
   * @throws TypeError when one of the decisions was accepted before; the caller asked `Journal.hasDecision`.
   */
  acceptTogether(intents: readonly Intent[], beside: readonly AccountRecord[]): Promise<boolean>
  /** Registers the journal's open intents, before the venue is reached, and remembers its newest fills. Nothing is requested or sent yet. */
  restore(open: readonly IntentState[], closed: readonly IntentState[]): void
  /** Follows the restored intents; resolves when each was looked at once. */
  recover(): Promise<void>
  /**
   * Resolves an order that no evidence closes, by an operator's statement. False when there is no such open order, or it was never signed and ends by
   * itself.
   */
  resolve(intentId: string, as: 'dead' | 'executed' | 'cancelled', by: string): Promise<boolean>
  /** Resolves when the intent's newest attempt was answered by its one send, or was seen to land, or when it closed. */
  settled(intentId: string): Promise<void>
  /**
   * Stops: no effect begins after this; the next start handles effects in flight. Resolves when pending writes are done, so that the journal may be
   * closed.
   */
  stop(): Promise<void>
}

/** Makes the order manager over these lanes and open orders. Faults of the journal and mistakes of ours go to `context.fatal`. */
export function createOrderManager(
  context: ExecutionContext,
  lanes: Lanes = shippedLanes,
  orders: TrackedOrders = createTrackedOrders(context),
): OrderManager {
  const stopping = new AbortController()
  const { signal } = stopping
  const waiters = new Map<string, (() => void)[]>()
  const { chooseHost, passOver } = createHostChoice(context, orders)
  const { feed, take, takeNew, takeAllNew } = createEventTaker(context, orders, {
    run: (tracked, effect) => effects.run(tracked, effect),
    askAhead: (tracked, intent, attempt) => effects.askAhead(tracked, intent, attempt),
    markActive: (intentId) => effects.markActive(intentId),
    wake,
    chooseHost,
  })
  const effects = createEffects(context, { lanes, orders, feed, chooseHost, passOver, signal })

  function wake(intentId: string): void {
    for (const resolve of waiters.get(intentId) ?? []) resolve()
    waiters.delete(intentId)
  }

  return {
    async accept(intent, beside = async () => undefined) {
      if (orders.byId.has(intent.intentId)) return false
      const tracked = orders.register(intent.intentId, undefined)
      try {
        const event: MachineEvent = { type: 'accept', nowMs: context.clock.now(), intent }
        // A decision that was accepted before is refused alone: its story must not be gone on with.
        const isKnown = context.journal.hasDecision(intent.strategy, intent.decisionKey)
        const mayBegin = !isKnown && !signal.aborted
        await inTurn(tracked, async () => {
          if (mayBegin) return takeNew(tracked, event, beside)
          if (isKnown) return take(tracked, event)
          throwFirst(await inOneCommit(() => take(tracked, event), beside))
        })
        return true
      } catch (error) {
        orders.drop(intent.intentId)
        if (error instanceof DuplicateDecisionError) return false
        context.fatal(error)
        throw error
      }
    },
    async acceptTogether(intents, beside) {
      if (signal.aborted) return false
      const nowMs = context.clock.now()
      const news = intents.map((intent) => {
        const { intentId, strategy, decisionKey } = intent
        if (orders.byId.has(intentId) || context.journal.hasDecision(strategy, decisionKey))
          throw new TypeError(`the decision ${decisionKey} of ${strategy} was accepted before`)
        const event: MachineEvent = { type: 'accept', nowMs, intent }
        return { tracked: orders.register(intentId, undefined), event }
      })
      const taken = takeAllNew(news, beside)
      // Later events of each of these orders wait for it.
      for (const { tracked } of news) inTurn(tracked, () => taken).catch(() => undefined)
      try {
        await taken
        return true
      } catch (error) {
        for (const { intentId } of intents) orders.drop(intentId)
        context.fatal(error)
        throw error
      }
    },
    restore(open, closed) {
      for (const state of open) orders.register(state.intent.intentId, state)
      orders.remember(closed)
    },
    async recover() {
      await Promise.all(
        [...orders.byId.values()].map((tracked) =>
          feed(tracked, { type: 'recovered', nowMs: context.clock.now() }),
        ),
      )
      await effects.pollAll()
    },
    open: orders.open,
    recentlyLanded: orders.recentlyLanded,
    closedAgoMs: orders.closedAgoMs,
    pollSoon: orders.pollSoon,
    sawOrders: orders.sawOrders,
    async resolve(intentId, as, by) {
      const tracked = orders.byId.get(intentId)
      if (tracked === undefined) return false
      return await inTurn(tracked, async () => {
        const attempt = tracked.state === undefined ? undefined : lastAttempt(tracked.state)
        // Evidence may have closed it while the word waited its turn.
        if (tracked.state === undefined || !isOpen(tracked.state) || attempt === undefined) return false
        if (!isUnresolved(attempt) && attempt.phase !== 'LANDED') return false
        await take(tracked, { type: 'resolved', nowMs: context.clock.now(), as, by })
        return true
      })
    },
    settled(intentId) {
      const tracked = orders.byId.get(intentId)
      if (tracked === undefined) return Promise.resolve()
      const attempt = tracked.state === undefined ? undefined : lastAttempt(tracked.state)
      if (attempt?.send !== undefined || attempt?.phase === 'LANDED') return Promise.resolve()
      return new Promise((resolve) => {
        waiters.set(intentId, [...(waiters.get(intentId) ?? []), resolve])
      })
    },
    async stop() {
      stopping.abort()
      // A record that is being written may bring one more behind it.
      const waited = new Set<Promise<unknown>>()
      for (;;) {
        const tails = [...orders.byId.values()].map(({ tail }) => tail).filter((tail) => !waited.has(tail))
        if (tails.length === 0) return
        for (const tail of tails) waited.add(tail)
        await Promise.all(tails)
      }
    },
  }
}

/** Time for which other hosts are preferred after a price that was not signed, ms. */
const PASS_OVER_MS = 60_000

/**
 * Chooses the host of each attempt in rotation. It prefers hosts that are not in cooldown. Among these it prefers one that withholds no message, then
 * one that was not passed over a moment ago.
 */
function createHostChoice(
  { api: client, clock, settings }: HasApi & HasClock & HasSettings,
  orders: TrackedOrders,
): {
  readonly chooseHost: () => string
  readonly passOver: (host: string) => void
} {
  let nextHost = 0
  const passedUntilMs = new Map<string, number>()
  const preferred = (hosts: readonly string[], isGood: (host: string) => boolean) => {
    const good = hosts.filter(isGood)
    return good.length > 0 ? good : hosts
  }
  return {
    chooseHost() {
      const nowMs = clock.monotonicMs()
      const awake = preferred(client.hosts.api, (host) => !client.isCoolingDown(host))
      const withholding = withholdingHosts(orders.unproven.values(), clock.now(), settings.withheldMs)
      const clean = preferred(awake, (host) => !withholding.has(host))
      const hosts = preferred(clean, (host) => (passedUntilMs.get(host) ?? 0) <= nowMs)
      const host = hosts[nextHost % hosts.length]
      nextHost += 1
      if (host === undefined) throw new TypeError('no application host is configured')
      return host
    },
    passOver: (host) => void passedUntilMs.set(host, clock.monotonicMs() + PASS_OVER_MS),
  }
}
