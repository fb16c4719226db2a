/** The series of orders, strategies, hosts and the account: each function makes those of a subject, and listens for their events. */
import type { DiscrepancyKind } from '../domain/accountRecords/accountRecord.ts'
import type { Emit, Event } from '../domain/event.ts'
import { untidyCauses } from '../domain/order/decision.ts'
import { type Intent, type Label, lastAttempt } from '../domain/order/intent.ts'
import { isFillTold } from '../domain/order/orderLegs.ts'
import type { UnwindOutcome } from '../domain/taskStates/unwindState.ts'
import { absOf } from '../protocol/units.ts'
import { answerBuckets, asNumber, type SeriesMaker } from './seriesMaker.ts'

const closedLabels: readonly Label[] = ['executed', 'cancelled', 'reverted', 'failed', 'expired', 'refused']
const discrepancyKinds: readonly DiscrepancyKind[] = [
  'liquidation',
  'adl',
  'external-close',
  'manual-decrease',
  'manual-increase',
  'unexplained-order',
  'changed-order',
  'unexplained-position',
]
const unwindOutcomes: readonly UnwindOutcome[] = ['nothing-landed', 'flat', 'given-up']
const steps = ['accept', 'prepare', 'verify', 'sign', 'arm', 'submit', 'total'] as const
const decisionResults = ['admitted', 'denied'] as const
const hotBuckets = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1]
const networkBuckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

const MOST_CODES = 50

/** Orders that came to an end. */
export function endedOrderSeries({ counter }: SeriesMaker): Emit {
  const ended = counter('perpd_orders_total', 'Ended orders, by their final label.', ['outcome'])
  for (const outcome of closedLabels) ended.inc({ outcome }, 0)
  const filled = counter(
    'perpd_fills_total',
    'Filled orders of ours, exits and parts included, each once. A fill that a reorganisation removed counts again when the order fills again.',
    ['market', 'strategy'],
  )
  return (event: Event): void => {
    if (event.type === 'order.moved' && closedLabels.includes(event.to)) ended.inc({ outcome: event.to })
    const fills = fillsIn(event)
    if (fills === undefined || fills.count === 0) return
    const { terms, strategy } = fills.intent
    filled.inc({ market: terms.symbol, strategy }, fills.count)
  }
}

/** The intent of an event and the number of its orders that are filled for the first time. */
function fillsIn(event: Event): { readonly intent: Intent; readonly count: number } | undefined {
  if (event.type === 'order.filled') return { intent: event.intent, count: event.isTakenBack ? 0 : 1 }
  if (event.type !== 'order.moved' || event.to !== 'executed') return undefined
  // For a single order that hosts show, only its end is reported.
  const { intent, state } = event
  const untold = (lastAttempt(state)?.children ?? []).filter(
    (child) => child.phase === 'EXECUTED' && !isFillTold(state, child),
  )
  return { intent, count: ['cancel', 'edit'].includes(intent.kind) ? 0 : untold.length }
}

/** From a market's room over the turns of strategies to what became of their decisions, and the steps of orders. */
export function loopSeries({ counter, gauge, histogram }: SeriesMaker): Emit {
  const headroom = gauge(
    'perpd_capacity_headroom_usd',
    'Available capacity for increases on one side of a market at the last reading, after our headroom, USD.',
    ['market', 'direction'],
  )
  const loop = histogram(
    'perpd_loop_duration_seconds',
    "One turn of a strategy's loop, seconds: snapshot, decision, admission.",
    ['strategy'],
    networkBuckets,
  )
  const viewBytes = gauge(
    'perpd_strategy_view_bytes',
    "Size of the last view sent to the thread of a user's own kind, bytes.",
    ['strategy'],
  )
  const threadEnds = counter(
    'perpd_strategy_thread_ends_total',
    "Ended threads of users' own kinds, by cause: timeout, memory, exit or crash.",
    ['strategy', 'cause'],
  )
  const slowTurns = counter(
    'perpd_strategy_slow_turns_total',
    "Turns of users' own kinds that used more processor time than strategies.slowDecideMs.",
    ['strategy'],
  )
  const turns = counter(
    'perpd_ticks_total',
    "Turns of a strategy's loop by result: done, failed or skipped.",
    ['strategy', 'result'],
  )
  const step = histogram(
    'perpd_order_step_duration_seconds',
    'Duration of one step of an order, seconds; `total` runs from the decision to the response to the submit.',
    ['step'],
    networkBuckets,
  )
  for (const each of steps) step.zero({ step: each })
  const decisions = counter('perpd_decisions_total', 'Decisions by result: admitted or denied.', [
    'strategy',
    'result',
  ])
  const denials = counter('perpd_denials_total', 'Decisions denied, by the code of the reason.', ['code'])
  return (event: Event): void => {
    switch (event.type) {
      case 'order.timing':
        step.observe({ step: event.step }, event.durationMs / 1_000)
        return
      case 'tick.done':
        turns.inc({ strategy: event.strategy, result: 'done' })
        loop.observe({ strategy: event.strategy }, event.durationMs / 1_000)
        if (event.viewBytes !== undefined) viewBytes.set({ strategy: event.strategy }, event.viewBytes)
        return
      case 'strategy.slow':
        slowTurns.inc({ strategy: event.strategy })
        return
      case 'tick.failed':
        turns.inc({ strategy: event.strategy, result: 'failed' })
        if (event.ended !== undefined) threadEnds.inc({ strategy: event.strategy, cause: event.ended })
        return
      case 'tick.skipped':
        turns.inc({ strategy: event.strategy, result: 'skipped' })
        return
      case 'decision.invalid':
      case 'decision.denied':
        denials.inc({ code: event.denial.code })
        decisions.inc({ strategy: event.strategy, result: 'denied' })
        return
      case 'decision.admitted':
        decisions.inc({ strategy: event.intent.strategy, result: 'admitted' })
        return
      case 'capacity.read':
        headroom.set({ market: event.symbol, direction: event.direction }, asNumber(event.roomUsd))
        return
      case 'daemon.started':
        for (const strategy of event.strategies) {
          for (const result of decisionResults) decisions.inc({ strategy, result }, 0)
        }
        return
      default:
        return
    }
  }
}

/** Counts the responses of hosts, their rows that were left out or wait, and the prices used in place of theirs. */
export function hostSeries({ counter, gauge, histogram }: SeriesMaker): Emit {
  const attempts = counter(
    'perpd_http_attempts_total',
    'HTTP requests by route, host and outcome; each retry counts.',
    ['route', 'host', 'outcome'],
  )
  const took = histogram(
    'perpd_http_attempt_duration_seconds',
    'Duration of an HTTP request until its response or timeout, seconds, by host; each retry counts.',
    ['host'],
    answerBuckets,
  )
  const missingRows = counter(
    'perpd_missing_rows_total',
    'Unreadable rows of polled lists, by route and host; perpd used the rest of the list.',
    ['route', 'host'],
  )
  const foreignRows = counter(
    'perpd_foreign_rows_total',
    'Rows of another account in our lists, by route and host; perpd dropped them.',
    ['route', 'host'],
  )
  const heldDiscrepancies = gauge(
    'perpd_discrepancies_deferred',
    'Discrepancies beyond the journal rate limit that are not recorded yet.',
  )
  const stalePrices = gauge(
    'perpd_oracle_stale',
    '1 while the prices of an oracle host are stale and its fallbacks are used, 0 when they are fresh again.',
    ['host'],
  )
  const standIns = counter(
    'perpd_fallback_prices_total',
    "Reductions admitted without a fresh oracle price, by source: old-oracle, or the venue's mark price in ticker or position.",
    ['source'],
  )
  return (event: Event): void => {
    switch (event.type) {
      case 'host.attempt':
        attempts.inc({ route: event.route, host: hostName(event.host), outcome: event.outcome })
        took.observe({ host: hostName(event.host) }, event.durationMs / 1_000)
        return
      case 'rows.missing':
        missingRows.inc({ route: event.route, host: hostName(event.host) }, event.rows.length)
        return
      case 'rows.foreign':
        foreignRows.inc({ route: event.route, host: hostName(event.host) }, event.rows)
        return
      case 'account.discrepanciesDeferred':
        heldDiscrepancies.set(event.held)
        return
      case 'host.prices':
        stalePrices.set({ host: hostName(event.host) }, event.isStale ? 1 : 0)
        return
      case 'price.fallback':
        standIns.inc({ source: event.source })
        return
      default:
        return
    }
  }
}

/** Counts the faults and warnings of prepared messages, and the time that their records took. */
export function payloadSeries({ counter, histogram }: SeriesMaker): Emit {
  const poisoned = counter(
    'perpd_payload_mismatches_total',
    'Payload mismatches: prepared messages that differ from the order; perpd signed none.',
  )
  const notSigned = counter(
    'perpd_payloads_not_signed_total',
    'Payloads not signed because price, fee, position or time moved beyond a limit, by code: PRICE_OUT_OF_BOUNDS, PRICE_CONTESTED, FEE_ABOVE_LIMIT, POSITION_MOVED, OFFER_EXPIRED.',
    ['code'],
  )
  const warned = counter(
    'perpd_validation_warnings_total',
    "The venue's warnings before signing, by code and by action: sign, shrink or drop.",
    ['code', 'action'],
  )
  const commit = histogram(
    'perpd_journal_commit_duration_seconds',
    'Time from appending a record until it is durable, seconds.',
    [],
    hotBuckets,
  )
  // These codes come from a server; a label must not grow with what it makes up.
  const codes = new Set<string>()
  const boundedCode = (code: string): string => {
    if (codes.size < MOST_CODES) codes.add(code)
    return codes.has(code) ? code : 'other'
  }
  return (event: Event): void => {
    switch (event.type) {
      case 'order.payload_rejected':
        poisoned.inc()
        return
      case 'order.not_signed':
        notSigned.inc({ code: event.code })
        return
      case 'order.warned':
        for (const { code } of event.warnings) warned.inc({ code: boundedCode(code), action: event.action })
        return
      case 'journal.committed':
        commit.observe(event.commitMs / 1_000)
        return
      default:
        return
    }
  }
}

/** Counts discrepancies of the account and of hosts, and unwinds that ended. */
export function caseSeries({ counter, gauge }: SeriesMaker): Emit {
  const drift = counter('perpd_discrepancies_total', 'Discrepancies found on the account, by kind.', ['kind'])
  for (const kind of discrepancyKinds) drift.inc({ kind }, 0)
  const contradicted = counter(
    'perpd_contradictions_total',
    'Rows of hosts that contradicted the pinned facts of a market or a token, each counted once.',
    [],
  )
  const unwound = counter(
    'perpd_unwinds_total',
    'Finished unwinds, by outcome: nothing-landed, flat or given-up.',
    ['outcome'],
  )
  for (const outcome of unwindOutcomes) unwound.inc({ outcome }, 0)
  const transfers = counter(
    'perpd_account_transfers_total',
    'Deposits (in) and withdrawals (out) that no order explains.',
    ['direction'],
  )
  const moved = counter(
    'perpd_account_transferred_usd_total',
    'Sums of deposits (in) and withdrawals (out) that no order explains, US dollars at the prices of the time.',
    ['direction'],
  )
  for (const direction of ['in', 'out']) {
    transfers.inc({ direction }, 0)
    moved.inc({ direction }, 0)
  }
  const untidy = counter(
    'perpd_untidy_orders_total',
    'Resting orders that an order janitor reported, by problem.',
    ['cause'],
  )
  for (const cause of untidyCauses) untidy.inc({ cause }, 0)
  const claimable = gauge(
    'perpd_claimable_usd',
    'Claimable amounts at the last check of a claimer, US dollars; absent before the first check.',
  )
  return (event: Event): void => {
    switch (event.type) {
      case 'claim.read':
        claimable.set({}, asNumber(event.worthUsd))
        return
      case 'order.untidy':
        if (!event.isOver) untidy.inc({ cause: event.cause })
        return
      case 'unwind.ended':
        unwound.inc({ outcome: event.outcome })
        return
      case 'account.discrepancy':
        drift.inc({ kind: event.discrepancy.kind })
        return
      case 'account.transferred': {
        const direction = event.amountUsd > 0n ? 'in' : 'out'
        transfers.inc({ direction })
        moved.inc({ direction }, asNumber(absOf(event.amountUsd)))
        return
      }
      case 'market.contradicted':
        contradicted.inc(event.contradictions.length)
        return
      default:
        return
    }
  }
}

/** A base address without its scheme; peers may differ by path alone. Credentials never get here: settings refuse them. */
function hostName(base: string): string {
  return base.replace(/^[a-z]+:\/\//, '')
}
