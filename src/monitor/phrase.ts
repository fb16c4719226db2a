/**
 * How every event reads: its level, one word, one plain sentence, and its fields. The only place that phrases a line.
 * Pure. What a sentence repeats too often is thinned out by `quiet.ts`, not here.
 */

import type { Finding } from '../domain/accountRecord.ts'
import { shortHex } from '../domain/address.ts'
import type { Decision } from '../domain/decision.ts'
import type { Event } from '../domain/event.ts'
import { type Intent, type IntentState, type Label, lastAttempt } from '../domain/intent.ts'
import type { Position } from '../domain/position.ts'
import { formatUsd, type Usd } from '../domain/units.ts'
import { counted, money, plain, shortId, span, termsOf } from './text.ts'

/** How much a line matters. */
export type Level = 'debug' | 'info' | 'warn' | 'error'

/** One line, before it is written. */
export interface Line {
  readonly level: Level
  /** What the line is about, one word for the eye. */
  readonly word: string
  /** A plain sentence without full stop at its end. */
  readonly text: string
  /** Fields for machines; names are stable and in snake case. Bigints become decimal text. */
  readonly fields: Readonly<Record<string, unknown>>
}

function wish(decision: Decision, symbol: string): string {
  const { direction } = decision
  switch (decision.kind) {
    case 'increase':
      return `open a ${direction} of ${money(decision.sizeDeltaUsd)} on ${symbol}${how(decision)}`
    case 'decrease':
      return `reduce the ${direction} on ${symbol} by ${money(decision.sizeDeltaUsd)}${how(decision)}`
    case 'close':
      return `close the ${direction} on ${symbol}`
    case 'swap':
      return `${direction === 'long' ? 'buy' : 'sell'} the long token of ${symbol} by a swap`
    case 'edit':
      return `edit the order ${shortHex(decision.orderKey)} of the ${direction} on ${symbol}`
    case 'cancel':
      return `cancel ${counted(decision.orderKeys.length, 'order')} of the ${direction} on ${symbol}`
    case 'collateral-in':
      return `pay collateral into the ${direction} on ${symbol}`
    case 'collateral-out':
      return `take collateral out of the ${direction} on ${symbol}`
    case 'batch':
      return `send a batch of its own for the ${direction} on ${symbol}`
  }
}

/** How an order waits: ` at $1,900.00 (limit)`, ` in 4 parts (twap)`; nothing for a market order. */
function how(order: {
  readonly orderType?: string
  readonly triggerPrice?: Usd
  readonly twap?: { readonly parts: number }
}): string {
  if (order.orderType === undefined || order.orderType === 'market') return ''
  const where = order.triggerPrice === undefined ? '' : ` at ${formatUsd(order.triggerPrice)}`
  const parts = order.twap === undefined ? '' : ` in ${order.twap.parts} parts`
  return `${where}${parts} (${order.orderType})`
}

function orderFields(intent: Intent): Record<string, unknown> {
  return {
    intent_id: intent.intentId,
    strategy: intent.strategy,
    market: intent.terms.symbol,
    direction: intent.terms.direction,
    kind: intent.kind,
    size_delta_usd: intent.terms.sizeDeltaUsd,
  }
}

function attemptFields(state: IntentState): Record<string, unknown> {
  const attempt = lastAttempt(state)
  if (attempt === undefined) return {}
  return {
    host: attempt.host,
    ...(attempt.armed && { request_id: attempt.armed.requestId, digest: attempt.armed.digest }),
    ...(attempt.send?.taskId !== undefined && { task_id: attempt.send.taskId }),
    ...(attempt.send?.traceId !== undefined && { trace_id: attempt.send.traceId }),
  }
}

const labelWords: Readonly<Record<Label, string>> = {
  planned: 'is planned',
  pending: 'is on its way',
  resting: 'rests at the venue',
  executed: 'executed',
  cancelled: 'was cancelled by the venue',
  reverted: 'reverted on chain',
  failed: 'failed',
  unknown: 'has an unknown outcome',
  expired: 'expired',
  refused: 'was not sent',
}

const labelLevels: Readonly<Record<Label, Level>> = {
  planned: 'debug',
  pending: 'info',
  resting: 'info',
  executed: 'info',
  cancelled: 'warn',
  reverted: 'warn',
  failed: 'warn',
  unknown: 'warn',
  expired: 'warn',
  refused: 'warn',
}

function moved(event: Extract<Event, { type: 'order.moved' }>): Line {
  const { intent, from, to, state } = event
  const settlement = state.closing?.settlement
  const facts: string[] = []
  if (to === 'executed') {
    if (settlement?.executionPrice !== undefined) facts.push(`at ${formatUsd(settlement.executionPrice)}`)
    if (settlement?.feesUsd !== undefined) facts.push(`fees ${money(settlement.feesUsd)}`)
    if (settlement?.pnlUsd !== undefined && intent.kind !== 'increase') {
      facts.push(`PnL ${money(settlement.pnlUsd)}`)
    }
  }
  // A price belongs to the verb; everything else follows after a comma.
  const [first, ...rest] = facts
  const price = first === undefined ? '' : first.startsWith('at ') ? ` ${first}` : `, ${first}`
  const more = rest.map((fact) => `, ${fact}`).join('')
  const next =
    to === 'unknown'
      ? '. It counts as exposure, is looked at until there is proof, and is never sent again'
      : ''
  const why = to === 'executed' || to === 'planned' || event.reason === '' ? '' : `: ${plain(event.reason)}`
  return {
    level: labelLevels[to],
    word: 'order',
    text: `${shortId(intent.intentId)} ${labelWords[to]}${price}${more} (${termsOf(intent)})${why}${next}`,
    fields: {
      ...orderFields(intent),
      ...attemptFields(state),
      ...(from !== undefined && { state_from: from }),
      state_to: to,
      reason: event.reason,
      ...(state.closing && { outcome: state.closing.outcome, code: state.closing.code }),
      ...(settlement && { settlement }),
      ...(to !== 'planned' && { latency_ms: Math.max(0, state.updatedAtMs - intent.acceptedAtMs) }),
    },
  }
}

/** `long ETH/USD [WETH-USDC] $500.00, PnL $1.20`. */
export function positionText(position: Position, symbols: Readonly<Record<string, string>>): string {
  const symbol = symbols[position.marketToken.toLowerCase()] ?? shortHex(position.marketToken)
  const pnl = position.pnlAfterFeesUsd
  return `${position.direction} ${symbol} ${money(position.sizeInUsd)}, PnL after fees ${money(pnl)}`
}

function positionsText(event: Extract<Event, { type: 'account.positions' }>): string {
  if (event.positions.length === 0) return 'the account has no positions'
  return event.positions.map((position) => positionText(position, event.symbols)).join('; ')
}

function line(
  level: Level,
  word: string,
  text: string,
  fields: Readonly<Record<string, unknown>> = {},
): Line {
  return { level, word, text, fields }
}

function usdField(value: Usd): string {
  return value.toString()
}

function findingFields(finding: Finding): Readonly<Record<string, unknown>> {
  return {
    finding_id: finding.findingId,
    finding_kind: finding.kind,
    market_token: finding.marketToken,
    direction: finding.direction,
    size_delta_usd: usdField(finding.sizeDeltaUsd),
    ...(finding.orderKey === undefined ? {} : { order_key: finding.orderKey }),
    ...(finding.transactionHash === undefined ? {} : { tx_hash: finding.transactionHash }),
  }
}

/** The line of an event. */
export function phrase(event: Event): Line {
  switch (event.type) {
    case 'daemon.started': {
      const { strategies, notes } = event
      const text = [
        `perpd ${event.version} started: profile ${event.profile} on ${event.chain}`,
        `account ${event.account}, strategies ${strategies.join(', ')}`,
        `venue ${event.apiHosts.join(' and ')}`,
        `metrics and status at ${event.statusUrl} (/metrics, /api/status), journal ${event.journalPath}`,
        ...notes,
      ].join('\n')
      return line('info', 'perpd', text, {
        version: event.version,
        profile: event.profile,
        strategies,
        journal_path: event.journalPath,
        status_url: event.statusUrl,
        api_hosts: event.apiHosts,
        oracle_hosts: event.oracleHosts,
        notes,
      })
    }
    case 'daemon.resumed':
      return line(
        'info',
        'journal',
        `resumed from ${counted(event.records, 'record')} of ${counted(event.intents, 'order')} in ${span(event.tookMs)}: ${event.openIntents} open, ${event.unresolved} unresolved`,
        {
          records: event.records,
          intents: event.intents,
          open_intents: event.openIntents,
          unresolved: event.unresolved,
          latency_ms: Math.round(event.tookMs),
        },
      )
    case 'daemon.recovering':
      return line('info', 'perpd', `recovering, no new orders yet: ${plain(event.reason)}`, {
        reason: event.reason,
      })
    case 'daemon.ready':
      return line('info', 'perpd', 'ready: strategies are asked from now on')
    case 'daemon.draining':
      return line(
        'info',
        'perpd',
        event.openIntents === 0
          ? `${event.signal}: no new orders; none is open`
          : `${event.signal}: no new orders; following ${counted(event.openIntents, 'open order')} for up to ${span(event.drainMs)}. A second signal leaves at once; both are safe`,
        { signal: event.signal, open_intents: event.openIntents, drain_ms: event.drainMs },
      )
    case 'daemon.stopped':
      return line(
        'info',
        'perpd',
        event.openIntents === 0
          ? `stopped after ${span(event.uptimeMs)}, no order open`
          : `stopped after ${span(event.uptimeMs)} with ${counted(event.openIntents, 'order')} open; the next start follows them`,
        { open_intents: event.openIntents, uptime_ms: Math.round(event.uptimeMs) },
      )
    case 'daemon.heartbeat':
      return line(
        'debug',
        'alive',
        `${counted(event.positions, 'position')}, exposure ${money(event.exposureUsd)}, ${counted(event.openIntents, 'open order')}, ${event.unresolved} unresolved`,
        {
          positions: event.positions,
          exposure_usd: usdField(event.exposureUsd),
          open_intents: event.openIntents,
          unresolved: event.unresolved,
        },
      )
    case 'tick.done':
      return line(
        'debug',
        'tick',
        `${event.strategy} made ${counted(event.decisions, 'decision')} in ${span(event.durationMs)}`,
        { strategy: event.strategy, decisions: event.decisions, latency_ms: event.durationMs },
      )
    case 'tick.skipped':
      return line('info', 'tick', `${event.strategy} was not asked: ${plain(event.reason)}`, {
        strategy: event.strategy,
        reason: event.reason,
      })
    case 'tick.failed':
      return line(
        'error',
        'tick',
        `${event.strategy} failed (${event.failures} in a row): ${plain(event.reason)}. Other strategies go on; it is asked again at its next turn`,
        {
          strategy: event.strategy,
          reason: event.reason,
          failures: event.failures,
          ...(event.facts && { facts: event.facts }),
        },
      )
    case 'decision.made':
      return line(
        'info',
        'decision',
        `${event.strategy} wants to ${wish(event.decision, event.symbol)}: ${plain(event.decision.reason)}`,
        {
          strategy: event.strategy,
          market: event.symbol,
          decision_key: event.decisionKey,
          direction: event.decision.direction,
          kind: event.decision.kind,
          reason: event.decision.reason,
          ...(event.decision.facts && { facts: event.decision.facts }),
        },
      )
    case 'decision.denied': {
      const { denial } = event
      const sizes = [
        denial.wanted === undefined ? '' : `wanted ${denial.wanted}`,
        denial.allowed === undefined ? '' : `allowed ${denial.allowed}`,
      ].filter((part) => part !== '')
      return line(
        'info',
        'denied',
        `${event.strategy} may not ${wish(event.decision, event.symbol)}: ${plain(denial.reason)}${sizes.length === 0 ? '' : ` (${sizes.join(', ')})`}`,
        {
          strategy: event.strategy,
          market: event.symbol,
          decision_key: event.decisionKey,
          direction: event.decision.direction,
          kind: event.decision.kind,
          code: denial.code,
          reason: denial.reason,
          ...(denial.wanted !== undefined && { wanted: denial.wanted }),
          ...(denial.allowed !== undefined && { allowed: denial.allowed }),
        },
      )
    }
    case 'decision.admitted': {
      const { intent } = event
      const { sizing } = intent
      const cut =
        sizing.sizeDeltaUsd < sizing.wantedUsd
          ? `, cut from ${money(sizing.wantedUsd)} by ${sizing.cuts.map((each) => each.by).join(', ')}`
          : ''
      return line('info', 'order', `${shortId(intent.intentId)} admitted: ${termsOf(intent)}${cut}`, {
        ...orderFields(intent),
        decision_key: intent.decisionKey,
        wanted_usd: usdField(sizing.wantedUsd),
      })
    }
    case 'journal.committed':
      return line(
        'debug',
        'journal',
        `${shortId(event.record.intentId)} ${event.record.kind} is durable after ${span(event.commitMs)}`,
        {
          intent_id: event.record.intentId,
          record: event.record.kind,
          ...attemptFields(event.state),
          latency_ms: event.commitMs,
        },
      )
    case 'order.moved':
      return moved(event)
    case 'order.warned':
      return line(
        'warn',
        'order',
        `${shortId(event.intent.intentId)} (${termsOf(event.intent)}) the venue warns before signing: ${event.warnings.map(({ code, message }) => (message === '' ? code : `${plain(message)} [${code}]`)).join('; ')}`,
        {
          ...orderFields(event.intent),
          host: event.host,
          request_id: event.requestId,
          warnings: event.warnings,
        },
      )
    case 'order.poisoned':
      return line(
        'error',
        'order',
        `${shortId(event.intent.intentId)} (${termsOf(event.intent)}) NOT SIGNED: ${event.host} prepared something else than was asked: ${event.differences.map((each) => `${each.field} is ${each.found}, expected ${each.expected}`).join('; ')}. The order was dropped and the host rests; look at that host before trusting it again`,
        {
          ...orderFields(event.intent),
          host: event.host,
          request_id: event.requestId,
          differences: event.differences,
        },
      )
    case 'order.observed':
      return line(
        'debug',
        'order',
        `${shortId(event.intent.intentId)} ${event.host} says ${event.status}${event.reason === undefined ? '' : `: ${plain(event.reason)}`}`,
        {
          ...orderFields(event.intent),
          attempt: event.attempt,
          status: event.status,
          host: event.host,
          ...(event.traceId !== undefined && { trace_id: event.traceId }),
          ...(event.reason !== undefined && { reason: event.reason }),
        },
      )
    case 'order.timing':
      return line(
        'debug',
        'order',
        `${shortId(event.intentId)} ${event.step} took ${span(event.durationMs)}`,
        {
          intent_id: event.intentId,
          step: event.step,
          latency_ms: event.durationMs,
        },
      )
    case 'host.attempt':
      return line(
        isGood(event) ? 'debug' : 'warn',
        'host',
        `${event.host} ${event.method} ${event.route}: ${event.outcome}${event.status === undefined ? '' : ` (HTTP ${event.status})`} after ${span(event.durationMs)}, attempt ${event.attempt}`,
        {
          host: event.host,
          route: event.route,
          method: event.method,
          attempt: event.attempt,
          outcome: event.outcome,
          ...(event.status !== undefined && { status: event.status }),
          ...(event.traceId !== undefined && { trace_id: event.traceId }),
          latency_ms: event.durationMs,
        },
      )
    case 'host.rested':
      return line(
        'warn',
        'host',
        `${event.host} rests for ${span(event.restMs)}: ${plain(event.reason)}. Other hosts are asked meanwhile`,
        { host: event.host, rest_ms: event.restMs, reason: event.reason },
      )
    case 'evidence.chosen':
      return line(
        event.isWeak ? 'warn' : 'info',
        'evidence',
        event.isWeak
          ? `NO CHAIN ENDPOINT: orders close by ${event.text}. Set rpc.http to prove how they end`
          : `orders close by ${event.text}`,
        { source: event.source, endpoints: event.endpoints, is_weak: event.isWeak },
      )
    case 'chain.read': {
      const heads =
        event.latest === undefined ? '' : `, block ${event.latest}, final ${event.final ?? 'unknown'}`
      return line(
        event.error === undefined ? 'debug' : 'warn',
        'chain',
        event.error === undefined
          ? `${event.endpoint} read in ${span(event.durationMs)}${heads}`
          : `${plain(event.error)}. Orders that need its word stay open`,
        {
          endpoint: event.endpoint,
          outcome: event.outcome,
          latency_ms: event.durationMs,
          ...(event.latest !== undefined && { latest_block: event.latest }),
          ...(event.final !== undefined && { final_block: event.final }),
          ...(event.lagBlocks !== undefined && { lag_blocks: event.lagBlocks }),
          ...(event.latestAgeSeconds !== undefined && { block_age_seconds: event.latestAgeSeconds }),
          ...(event.error !== undefined && { reason: event.error }),
        },
      )
    }
    case 'chain.skew':
      return line(
        'warn',
        'chain',
        `our clock is ${Math.abs(Math.round(event.skewSeconds))} s ${event.skewSeconds > 0 ? 'before' : 'behind'} the chain's time${event.isTooLarge ? '. Nothing that adds risk is signed until they agree' : ''}. Look at this machine's clock, and at how far the endpoints lag`,
        { skew_seconds: event.skewSeconds, is_too_large: event.isTooLarge },
      )
    case 'feed.read':
      return line('debug', 'feed', `${event.feed} read, ${span(event.ageMs)} old`, {
        feed: event.feed,
        age_ms: event.ageMs,
      })
    case 'capacity.read':
      return line(
        'debug',
        'feed',
        `room for a ${event.direction} on ${event.symbol}: ${money(event.roomUsd)}`,
        {
          market: event.symbol,
          direction: event.direction,
          room_usd: usdField(event.roomUsd),
        },
      )
    case 'account.positions':
      return line('info', 'position', positionsText(event), {
        positions: event.positions.map((position) => ({
          market: event.symbols[position.marketToken.toLowerCase()] ?? position.marketToken,
          direction: position.direction,
          size_in_usd: position.sizeInUsd,
          pnl_after_fees_usd: position.pnlAfterFeesUsd,
        })),
      })
    case 'account.finding': {
      const { finding, isPausing } = event
      const next = isPausing
        ? `. Increases on this market wait: say \`perpd findings adopt|ignore ${finding.findingId} --by NAME\``
        : ''
      return line(
        isPausing ? 'error' : 'warn',
        'account',
        `${plain(finding.statement)}${next}`,
        findingFields(finding),
      )
    }
    case 'account.findingSettled':
      return line('info', 'account', `${event.as}: ${plain(event.finding.statement)}`, {
        ...findingFields(event.finding),
        settled_as: event.as,
      })
    case 'subaccount.read':
      return line('debug', 'account', `${event.report.remainingActions} actions of the approval left`, {
        remaining_actions: event.report.remainingActions,
        needed_actions: event.report.neededActions,
        expires_at_s: event.report.expiresAtSeconds,
      })
    case 'subaccount.unread':
      return line('error', 'account', `the approval is not used: ${plain(event.reason)}`, {
        reason: event.reason,
      })
    case 'subaccount.low': {
      const { remainingActions, neededActions, address } = event.report
      return line(
        'warn',
        'account',
        `the approval of the delegated key ${address} comes to its end: ${remainingActions} actions left, ${neededActions} of them to close what is open, and ${Math.max(0, event.secondsLeft)} s. Renew it: perpd subaccount approve`,
        {
          remaining_actions: remainingActions,
          needed_actions: neededActions,
          seconds_left: event.secondsLeft,
        },
      )
    }
    case 'trading.state':
      return line(
        event.state === 'active' ? 'info' : 'warn',
        'trading',
        `${event.scope} is ${event.state}: ${plain(event.reason)}`,
        {
          scope: event.scope,
          state_to: event.state,
          reason: event.reason,
        },
      )
  }
}

/** Whether a request was answered as a healthy host answers: a refusal is an answer. */
export function isGood(event: Extract<Event, { type: 'host.attempt' }>): boolean {
  return event.outcome === 'ok' || event.outcome === 'refused'
}
