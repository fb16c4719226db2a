/** Formats the log lines about the responses of hosts and chain endpoints, and readings of the venue. */

import { defined } from '../../base/defined.ts'
import type { VenueEvent } from '../../domain/venueEvent.ts'
import { formatPrice } from '../../protocol/priceText.ts'
import { isGood } from '../hostFigures.ts'
import { contestedText, counted, ended, money, sourceTexts, span } from '../text.ts'
import { line, type Phrases, usdField } from './line.ts'

/** The line of each event of the venue. */
export const venuePhrases: Phrases<VenueEvent['type']> = {
  'host.attempt': (event) =>
    line(
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
    ),
  'host.cooldown': (event) =>
    line(
      'warn',
      'host',
      `${event.host} is in cooldown for ${span(event.cooldownMs)}: ${ended(event.reason)} ${event.isLast === true ? 'No other host is left: increases wait until one responds' : 'Other hosts are used meanwhile'}`,
      { host: event.host, cooldown_ms: event.cooldownMs, reason: event.reason },
    ),
  'host.prices': (event) =>
    event.isStale
      ? line(
          'warn',
          'host',
          `the prices of ${event.host} are stale: the newest is ${span(event.ageMs)} old. perpd uses the fallback hosts and checks this one at growing intervals`,
          { host: event.host, age_ms: Math.round(event.ageMs) },
        )
      : line('info', 'host', `the prices of ${event.host} are fresh again`, {
          host: event.host,
          age_ms: Math.round(event.ageMs),
        }),
  'rows.missing': (event) => {
    const [first] = event.rows
    const all = event.rows.length === 1 ? 'a row' : `${event.rows.length} rows`
    return line(
      'warn',
      'host',
      `${event.host} ${event.route}: ${all} cannot be read: ${first?.problem ?? ''}. perpd uses the other rows; increases wait on the possible markets, reductions continue`,
      {
        host: event.host,
        route: event.route,
        rows: event.rows.length,
        problem: first?.problem ?? '',
        ...defined({ market_token: first?.marketToken, token: first?.token }),
      },
    )
  },
  'rows.foreign': (event) =>
    line(
      'warn',
      'host',
      `${event.host} ${event.route}: ${counted(event.rows, 'row')} of another account ${event.rows === 1 ? 'was' : 'were'} dropped`,
      { host: event.host, route: event.route, rows: event.rows },
    ),
  'price.fallback': (event) =>
    line(
      'warn',
      'price',
      `a reduction on ${event.symbol} uses ${sourceTexts[event.source]}, ${span(event.ageMs)} old: no host of the oracle has a fresh price. Increases wait`,
      { market: event.symbol, source: event.source, age_ms: Math.round(event.ageMs) },
    ),
  'price.contested': ({ symbol, contested: { lowest, highest, words } }) =>
    line(
      'warn',
      'price',
      `a reduction on ${symbol} is signed around ${formatPrice(lowest)}${lowest === highest ? '' : ` to ${formatPrice(highest)}`}: hosts differ on the price (${contestedText(words)}). Increases wait until they agree`,
      {
        market: symbol,
        lowest: formatPrice(lowest),
        highest: formatPrice(highest),
        taken: words.filter(({ isTaken }) => isTaken).length,
        left_out: words.filter(({ isTaken }) => !isTaken).length,
      },
    ),
  'evidence.chosen': (event) =>
    line(
      event.isWeak ? 'warn' : 'info',
      'evidence',
      event.isWeak
        ? `NO CHAIN ENDPOINT: orders close by ${event.text}. Set rpc.http for proof of their ends`
        : event.source === 'chain'
          ? `how an order ended is read from ${event.text}`
          : `orders close by ${event.text}`,
      { source: event.source, endpoints: event.endpoints, is_weak: event.isWeak },
    ),
  'chain.read': (event) => {
    const heads =
      event.latest === undefined ? '' : `, block ${event.latest}, final ${event.final ?? 'unknown'}`
    return line(
      event.error === undefined ? 'debug' : 'warn',
      'chain',
      event.error === undefined
        ? `${event.endpoint} read in ${span(event.durationMs)}${heads}`
        : `${ended(event.error)} Orders that need its evidence stay open`,
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
  },
  'chain.skew': (event) =>
    line(
      'warn',
      'chain',
      `our clock is ${Math.abs(Math.round(event.skewSeconds))} s ${event.skewSeconds > 0 ? 'before' : 'behind'} the chain's time${event.isTooLarge ? '. Nothing that adds risk is signed until they agree' : ''}. Check this machine's clock and the lag of the endpoints`,
      { skew_seconds: event.skewSeconds, is_too_large: event.isTooLarge },
    ),
  'chain.time': (event) => {
    const { endpoint, aheadSeconds, isSetAside, healthy } = event
    const apart = `${span(Math.abs(aheadSeconds) * 1000)} ${aheadSeconds > 0 ? 'ahead of' : 'behind'} our clock and the hosts'`
    const next =
      healthy > 0
        ? 'Another endpoint gives the time, and orders continue; no end is proven before this one agrees'
        : 'No endpoint gives the time: increases wait, reductions continue, and no end is proven before it agrees'
    return line(
      isSetAside ? 'warn' : 'debug',
      'chain',
      isSetAside
        ? `${endpoint} is ignored for the time: its newest block is ${apart}. ${next}. Check this endpoint, or remove it from the configuration and restart perpd`
        : `the newest block of ${endpoint} is ${apart}`,
      { endpoint, ahead_seconds: aheadSeconds, is_set_aside: isSetAside, healthy },
    )
  },
  'feed.read': (event) =>
    line('debug', 'feed', `${event.feed} read, ${span(event.ageMs)} old`, {
      feed: event.feed,
      age_ms: event.ageMs,
    }),
  'capacity.read': (event) =>
    line(
      'debug',
      'feed',
      `capacity left for a ${event.direction} on ${event.symbol}: ${money(event.roomUsd)}`,
      {
        market: event.symbol,
        direction: event.direction,
        room_usd: usdField(event.roomUsd),
      },
    ),
}
