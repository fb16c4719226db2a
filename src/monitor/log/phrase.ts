/**
 * How every event reads: its level, one word, one plain sentence, and its fields. The only place that phrases a line.
 * Pure. What a sentence repeats too often is thinned out by `repeatFilter.ts`, not here.
 */

import type { Event } from '../../domain/event.ts'
import { counted, money, plain, shortId, sourceTexts, span } from '../text.ts'
import { type Line, line, usdField } from './line.ts'
import { attemptFields } from './orderWords.ts'
import { accountLine } from './phraseAccount.ts'
import { marketLine } from './phraseMarket.ts'
import { orderLine } from './phraseOrder.ts'

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
      return line('info', 'perpd', 'ready: strategies are running')
    case 'daemon.draining':
      return line(
        'info',
        'perpd',
        event.underWay === 0
          ? `${event.signal}: no new orders; ${event.openIntents === 0 ? 'none is open' : `${counted(event.openIntents, 'order')} only ${event.openIntents === 1 ? 'rests' : 'rest'} at the venue`}`
          : `${event.signal}: no new orders; following ${counted(event.underWay, 'order')} under way for up to ${span(event.drainMs)}. A second signal leaves at once; both are safe`,
        { signal: event.signal, open_intents: event.openIntents, drain_ms: event.drainMs },
      )
    case 'daemon.stopped': {
      const { openIntents, positions } = event
      const text = [
        openIntents === 0
          ? `stopped after ${span(event.uptimeMs)}, no order open`
          : `stopped after ${span(event.uptimeMs)} with ${counted(openIntents, 'order')} open; the next start follows ${openIntents === 1 ? 'it' : 'them'}`,
        ...(positions.length === 0
          ? []
          : [
              `${counted(positions.length, 'position')} stay${positions.length === 1 ? 's' : ''} open, and nobody manages ${positions.length === 1 ? 'it' : 'them'} until the next start:`,
              ...positions.map(plain),
            ]),
      ].join('\n')
      return line(positions.length === 0 ? 'info' : 'warn', 'perpd', text, {
        open_intents: openIntents,
        positions,
        uptime_ms: Math.round(event.uptimeMs),
      })
    }
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
      return line('debug', 'tick', `${event.strategy}: tick skipped: ${plain(event.reason)}`, {
        strategy: event.strategy,
        reason: event.reason,
      })
    case 'tick.failed':
      return line(
        'error',
        'tick',
        `${event.strategy} failed (${event.failures} in a row): ${plain(event.reason)}. Other strategies go on; it runs again at its next tick`,
        {
          strategy: event.strategy,
          reason: event.reason,
          failures: event.failures,
          ...(event.ended !== undefined && { thread_ended: event.ended }),
          ...(event.facts && { facts: event.facts }),
        },
      )
    case 'decision.invalid': {
      const { strategy, denial, field, place } = event
      return line(
        'error',
        'denied',
        `${strategy}: ${place === undefined ? '' : `${place}: `}${plain(denial.reason)} (${denial.code}); nothing of it was done`,
        {
          strategy,
          code: denial.code,
          reason: denial.reason,
          ...(field !== undefined && { field }),
          ...(place !== undefined && { place }),
        },
      )
    }
    case 'strategy.paused':
      return line(
        'error',
        'tick',
        `${event.strategy} pauses for ${span(event.forMs)}: it failed ${event.failures} times in a row, last with ${plain(event.reason)}. What it holds stays as it is; other strategies go on`,
        {
          strategy: event.strategy,
          failures: event.failures,
          pause_ms: event.forMs,
          reason: event.reason,
        },
      )
    case 'strategy.said':
      return line('info', 'said', `${event.strategy}: ${plain(event.text)}`, { strategy: event.strategy })
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
    case 'host.cooldown':
      return line(
        'warn',
        'host',
        `${event.host} is in cooldown for ${span(event.cooldownMs)}: ${plain(event.reason)}. Other hosts are used meanwhile`,
        { host: event.host, cooldown_ms: event.cooldownMs, reason: event.reason },
      )
    case 'host.prices':
      return event.isStale
        ? line(
            'warn',
            'host',
            `the prices of ${event.host} are stale: the newest is ${span(event.ageMs)} old. The fallback hosts are used; it is checked again less and less often`,
            { host: event.host, age_ms: Math.round(event.ageMs) },
          )
        : line('info', 'host', `the prices of ${event.host} are fresh again`, {
            host: event.host,
            age_ms: Math.round(event.ageMs),
          })
    case 'rows.foreign':
      return line(
        'warn',
        'host',
        `${event.host} ${event.route}: ${counted(event.rows, 'row')} of another account ${event.rows === 1 ? 'was' : 'were'} dropped`,
        { host: event.host, route: event.route, rows: event.rows },
      )
    case 'rows.missing': {
      const [first] = event.rows
      const all = event.rows.length === 1 ? 'a row' : `${event.rows.length} rows`
      return line(
        'warn',
        'host',
        `${event.host} ${event.route}: ${all} cannot be read: ${first?.problem ?? ''}. The rest is used; increases wait on the markets that it may be of, reductions go on`,
        {
          host: event.host,
          route: event.route,
          rows: event.rows.length,
          problem: first?.problem ?? '',
          ...(first?.marketToken === undefined ? {} : { market_token: first.marketToken }),
          ...(first?.token === undefined ? {} : { token: first.token }),
        },
      )
    }
    case 'price.fallback':
      return line(
        'warn',
        'price',
        `a reduction on ${event.symbol} uses ${sourceTexts[event.source]}, ${span(event.ageMs)} old: no host of the oracle has a fresh price. Increases wait`,
        { market: event.symbol, source: event.source, age_ms: Math.round(event.ageMs) },
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
        `capacity left for a ${event.direction} on ${event.symbol}: ${money(event.roomUsd)}`,
        {
          market: event.symbol,
          direction: event.direction,
          room_usd: usdField(event.roomUsd),
        },
      )
    case 'decision.made':
    case 'decision.denied':
    case 'decision.admitted':
    case 'order.moved':
    case 'order.filled':
    case 'order.exits':
    case 'order.warned':
    case 'order.payload_rejected':
    case 'order.not_signed':
    case 'order.observed':
    case 'order.timing':
    case 'unwind.requested':
    case 'unwind.waits':
    case 'unwind.ended':
      return orderLine(event)
    case 'evidence.chosen':
    case 'chain.read':
    case 'chain.skew':
    case 'chain.time':
    case 'account.positions':
    case 'account.unmanaged':
    case 'account.discrepancy':
    case 'account.discrepancySettled':
    case 'account.discrepanciesDeferred':
    case 'account.equityJumped':
    case 'subaccount.read':
    case 'subaccount.unread':
    case 'subaccount.low':
    case 'limits.started':
    case 'trading.state':
      return accountLine(event)
    case 'market.contradicted':
    case 'market.settled':
    case 'market.proven':
    case 'market.trusted':
      return marketLine(event)
  }
}

/** Whether a request was answered as a healthy host answers: a refusal is an answer. */
export function isGood(event: Extract<Event, { type: 'host.attempt' }>): boolean {
  return event.outcome === 'ok' || event.outcome === 'refused'
}
