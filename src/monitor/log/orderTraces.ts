/**
 * An order's road as a trace: decide, accept, prepare, verify, sign, arm, submit, what the venue said until its end, and the end
 * itself. Made from events alone, so that no part of the road knows of it. What is told has no free text, in which anything could
 * stand: names, states, codes and hosts.
 */
import type { Emit, Event } from '../../domain/event.ts'
import { redactUrl } from './redact.ts'

/** Names and values of a span, short and without secrets. */
export type SpanFacts = Readonly<Record<string, string | number>>

/** A span that has begun. Times are Unix ms. */
export interface OpenSpan {
  child(name: string, startMs: number, facts?: SpanFacts): OpenSpan
  /** Something that happened during it. */
  note(name: string, atMs: number, facts?: SpanFacts): void
  end(atMs: number, facts?: SpanFacts): void
}

/** Begins the first span of a trace. */
export type StartTrace = (name: string, startMs: number, facts: SpanFacts) => OpenSpan

/** Orders that are followed at once, and wishes that wait for their order; the oldest is let go. */
export const MOST_TRACES = 1_000

interface Road {
  readonly order: OpenSpan
  /** From the end of the submit to the end of the order. */
  status?: OpenSpan
}

/** Listens for the events of orders; `close` ends what is still open. */
export function createOrderTraces(
  start: StartTrace,
  now: () => number,
): { readonly listen: Emit; readonly close: () => void } {
  /** When a decision was made, by its key. */
  const wishes = new Map<string, number>()
  const roads = new Map<string, Road>()

  const leave = (intentId: string, why: string): void => {
    const road = roads.get(intentId)
    roads.delete(intentId)
    road?.status?.end(now())
    road?.order.end(now(), { left: why })
  }
  const admitted = ({ intent }: Extract<Event, { type: 'decision.admitted' }>): void => {
    const atMs = now()
    const madeAtMs = wishes.get(intent.decisionKey) ?? atMs
    wishes.delete(intent.decisionKey)
    const order = start('order', madeAtMs, {
      'perpd.intent_id': intent.intentId,
      'perpd.strategy': intent.strategy,
      'perpd.market': intent.terms.symbol,
      'perpd.direction': intent.terms.direction,
      'perpd.kind': intent.kind,
    })
    order.child('decide', madeAtMs).end(atMs)
    bound(roads, (oldest) => leave(oldest, 'too many orders are open'))
    roads.set(intent.intentId, { order })
  }
  const step = (event: Extract<Event, { type: 'order.timing' }>): void => {
    const road = roads.get(event.intentId)
    if (road === undefined || event.step === 'total') return
    const atMs = now()
    road.order.child(event.step, atMs - event.durationMs).end(atMs)
    if (event.step === 'submit') road.status ??= road.order.child('status', atMs)
  }
  const observed = ({ intent, status, host, attempt }: Extract<Event, { type: 'order.observed' }>): void => {
    const span = roads.get(intent.intentId)
    const facts = { 'perpd.status': status, 'perpd.host': redactUrl(host), 'perpd.attempt': attempt }
    ;(span?.status ?? span?.order)?.note('status', now(), facts)
  }
  const moved = ({ intent, to, state }: Extract<Event, { type: 'order.moved' }>): void => {
    const road = roads.get(intent.intentId)
    if (road === undefined) return
    const atMs = now()
    const { closing } = state
    if (closing === undefined) {
      road.order.note(to, atMs)
      return
    }
    roads.delete(intent.intentId)
    road.status?.end(atMs)
    road.order.child(to, atMs).end(atMs)
    road.order.end(atMs, { 'perpd.outcome': closing.outcome, 'perpd.code': closing.code })
  }
  return {
    listen(event) {
      switch (event.type) {
        case 'decision.made':
          bound(wishes, (oldest) => wishes.delete(oldest))
          wishes.set(event.decisionKey, now())
          return
        case 'decision.denied':
          wishes.delete(event.decisionKey)
          return
        case 'decision.admitted':
          admitted(event)
          return
        case 'order.timing':
          step(event)
          return
        case 'order.observed':
          observed(event)
          return
        case 'order.moved':
          moved(event)
          return
        default:
          return
      }
    },
    close() {
      for (const intentId of [...roads.keys()]) leave(intentId, 'perpd stopped')
    },
  }
}

/** Lets go of the oldest where there is no room for one more. */
function bound(all: ReadonlyMap<string, unknown>, leave: (oldest: string) => unknown): void {
  const oldest = all.size >= MOST_TRACES ? all.keys().next().value : undefined
  if (oldest !== undefined) leave(oldest)
}
