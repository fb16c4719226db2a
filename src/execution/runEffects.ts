/**
 * Effects that a commit permits: an attempt is begun, prepared and signed, sent once, and followed. Each runs next to the queue of its intent, and
 * its result is fed back as an event.
 */
import { defined } from '../base/defined.ts'
import { reasonOf } from '../base/errors.ts'
import { GuardError } from '../domain/guardTable.ts'
import type { Effect } from '../domain/machine/conclude.ts'
import type { HostAnswer, Observation } from '../domain/machine/observation.ts'
import type { MachineEvent } from '../domain/machine/step.ts'
import { withheldRestMs } from '../domain/machine/withheldRest.ts'
import { type Intent, lastAttempt } from '../domain/order/intent.ts'
import type { WarnedFacts } from '../domain/order/warnedFacts.ts'
import type { ExecutionContext } from './context/executionContext.ts'
import { type Armed, armedBy } from './lanes/armed.ts'
import type { Lanes } from './lanes/lane.ts'
import { timed } from './lanes/timed.ts'
import { type BegunAttempt, makeAttempt } from './makeAttempt.ts'
import { submit } from './submit.ts'
import { createFollower } from './track/follow.ts'
import type { TrackedOrder, TrackedOrders } from './trackedOrders.ts'

/** Refusals of a price: another host may have another idea of it. */
const otherPrices: ReadonlySet<string> = new Set(['PRICE_CONTESTED', 'PRICE_OUT_OF_BOUNDS'])

/** For an attempt that the journal has. */
const recorded = Promise.resolve()

/** Parts of the order manager that running effects needs. */
export interface EffectsOptions {
  readonly lanes: Lanes
  readonly orders: TrackedOrders
  /** Takes an event in its turn. */
  readonly feed: (tracked: TrackedOrder, event: MachineEvent) => Promise<void>
  /** The host that a new attempt asks. */
  readonly chooseHost: () => string
  /** A host prepared a message at a price that is not signed: others are preferred for a while. */
  readonly passOver: (host: string) => void
  /** No effect begins after it. */
  readonly signal: AbortSignal
}

/** Runs effects. What fails in one of them goes to `context.fatal`. */
export interface Effects {
  /** Begins one. */
  run(tracked: TrackedOrder, effect: Effect): void
  /**
   * Asks a host for the first attempt of an intent whose J1 and J2 are being written. Nothing is done with the answer before the effect `prepare`,
   * which their commit permits, goes on with it; where that never comes it is dropped.
   */
  askAhead(
    tracked: TrackedOrder,
    intent: Intent,
    attempt: { readonly n: number; readonly host: string },
  ): void
  /** Something was written of an intent: it is looked at soon. */
  markActive(intentId: string): void
  /** Looks once at every intent that is open. */
  pollAll(): Promise<void>
}

/** Makes the runner of effects, with the follower under it. */
export function createEffects(context: ExecutionContext, options: EffectsOptions): Effects {
  const { lanes, orders, feed, chooseHost, passOver, signal } = options
  let isPolling = false
  const follower = createFollower(context, {
    lanes,
    open: () => orders.byId,
    heard(intentId, answer) {
      const tracked = orders.byId.get(intentId)
      if (tracked !== undefined) note(tracked, answer)
    },
    async observed(intentId, observation) {
      const tracked = orders.byId.get(intentId)
      if (tracked === undefined || signal.aborted) return
      restWithholder(tracked, observation)
      await feed(tracked, { type: 'observed', nowMs: context.clock.now(), observation })
    },
    signal,
  })
  orders.hintTo(follower)

  /** Puts a host into cooldown that accepted a message which no block contains: its other messages may wait as long. */
  function restWithholder({ state }: TrackedOrder, { chain }: Observation): void {
    const { withheldMs } = context.settings
    const host = state === undefined ? undefined : lastAttempt(state)?.armed?.host
    if (state === undefined || host === undefined || withheldMs === undefined) return
    if (context.api.isCoolingDown(host)) return
    const restMs = withheldRestMs(state, chain, context.clock.now(), withheldMs)
    if (restMs !== undefined) context.api.coolDown(host, restMs, 'it accepted a message that is in no block')
  }

  /** Feeds an event from an effect: nobody waits for it, so a failure is fatal here. */
  function dispatch(tracked: TrackedOrder, event: MachineEvent): void {
    // After a stop the journal may be closed. What is not written now is found again at the next start.
    if (signal.aborted) return
    feed(tracked, event).catch((error: unknown) => {
      if (!signal.aborted) context.fatal(error)
    })
  }

  async function prepareAndSign(tracked: TrackedOrder, again: boolean): Promise<void> {
    const { state } = tracked
    const attempt = state === undefined ? undefined : lastAttempt(state)
    if (state === undefined || attempt === undefined) throw new TypeError('prepare: no attempt')
    if (again) await context.clock.sleep(context.settings.prepareRetryMs, signal)
    if (signal.aborted) return
    // Until it is armed an attempt may change host; a repeated prepare asks the next one.
    const host = again ? chooseHost() : attempt.host
    const { ahead } = tracked
    tracked.ahead = undefined
    ahead?.release()
    const shrinks = attempt.warned?.filter(({ action }) => action === 'shrink').length ?? 0
    const begun = { intent: state.intent, n: attempt.n, host, log: logOf(tracked, shrinks), recorded }
    const made = await (ahead?.made ?? makeAttempt(context, lanes, begun))
    if (made === undefined) return
    const { event } = made
    if (event.type === 'refused' && otherPrices.has(event.code)) passOver(host)
    tracked.signed = made.signed
    dispatch(tracked, made.event)
  }

  function logOf(tracked: TrackedOrder, shrinks: number): BegunAttempt['log'] {
    return { shrinks, write: (warned) => writeWarned(tracked, warned) }
  }

  /** Writes an attempt's warnings before it continues; false when perpd stops, and it must not. */
  async function writeWarned(tracked: TrackedOrder, warned: WarnedFacts): Promise<boolean> {
    if (signal.aborted) return false
    try {
      await feed(tracked, { type: 'warned', nowMs: context.clock.now(), warned })
    } catch (error) {
      if (!signal.aborted) throw error
    }
    return !signal.aborted
  }

  function saveUnsent(tracked: TrackedOrder, message: string): void {
    const send = { result: 'not-sent', message } as const
    feed(tracked, { type: 'sent', nowMs: context.clock.now(), send }).catch(context.fatal)
  }

  async function send(tracked: TrackedOrder): Promise<void> {
    const { intentId, signed, armedRecord } = tracked
    if (signed === undefined || armedRecord === undefined) throw new TypeError('submit: nothing is armed')
    // The right to send is used up here, before the first byte.
    tracked.signed = undefined
    tracked.armedRecord = undefined
    const atMs = context.clock.monotonicMs()
    let armed: Armed
    try {
      armed = await armedBy(armedRecord, signed)
    } catch (error) {
      if (!(error instanceof GuardError)) throw error
      saveUnsent(tracked, `it was not sent: ${reasonOf(error)}`)
      return
    }
    const facts = await submit(context, lanes, armed)
    timed(context, intentId, 'submit', atMs)
    if (tracked.acceptedMs > 0) timed(context, intentId, 'total', tracked.acceptedMs)
    dispatch(tracked, { type: 'sent', nowMs: context.clock.now(), send: facts })
  }

  /** Follows an intent until it closes. */
  async function follow(tracked: TrackedOrder): Promise<void> {
    if (tracked.following) return
    tracked.following = true
    if (!isPolling) {
      isPolling = true
      follower.run().catch((error: unknown) => {
        if (!signal.aborted) context.fatal(error)
      })
    }
    await follower.follow(tracked.intentId)
  }

  /** Reports the venue's status when it is a new one. */
  function note(tracked: TrackedOrder, answer: HostAnswer): void {
    if (tracked.state === undefined) return
    const status = answer.kind === 'status' ? answer.status : answer.kind
    const reason = answer.kind === 'status' ? answer.error : answer.reason
    if (status === tracked.observedStatus && reason === tracked.observedReason) return
    // Silence is no word: the last one stands.
    orders.heard(tracked, answer.kind === 'status' ? status : undefined, reason)
    context.emit({
      type: 'order.observed',
      intent: tracked.state.intent,
      attempt: lastAttempt(tracked.state)?.n ?? 0,
      status,
      host: answer.host,
      ...defined({ traceId: answer.kind !== 'status' ? answer.traceId : undefined, reason }),
    })
  }

  return {
    askAhead(tracked, intent, { n, host }) {
      // The approval that goes with a delegated key's order hangs on the orders that the journal has.
      if (signal.aborted || context.delegation !== undefined) return
      const { promise, resolve } = Promise.withResolvers<void>()
      const begun = { intent, n, host, log: logOf(tracked, 0), recorded: promise }
      const made = makeAttempt(context, lanes, begun)
      // Where no effect goes on with it nobody hears of its failure.
      made.catch(() => undefined)
      tracked.ahead = { made, release: resolve }
    },
    run(tracked, effect) {
      if (signal.aborted) {
        // This process knows that no byte left, and says so while it can: found armed, the order would count as sent.
        if (effect.type === 'submit') saveUnsent(tracked, 'perpd was stopping and did not send it')
        return
      }
      switch (effect.type) {
        case 'begin':
          dispatch(tracked, { type: 'begin', nowMs: context.clock.now(), host: chooseHost() })
          return
        case 'prepare':
          prepareAndSign(tracked, effect.again).catch(context.fatal)
          return
        case 'submit':
          send(tracked).catch(context.fatal)
          return
        case 'follow':
          follow(tracked).catch(context.fatal)
          return
      }
    },
    markActive: (intentId) => follower.markActive(intentId),
    pollAll: () => follower.pollAll(),
  }
}
