/** Events of hosts: their answers, their rows, their prices, and what is read of the venue. */
import type { VenueEvent } from '../../domain/venueEvent.ts'
import { formatPrice } from '../../protocol/priceText.ts'
import { isGood } from '../hostFigures.ts'
import { answerBuckets, type SeriesMaker } from '../seriesMaker.ts'
import { asNumber } from '../seriesNumber.ts'
import { contestedText, counted, ended, money, sourceTexts, span } from '../text.ts'
import type { EventFamily, EventOf, NoticeFacts, Seen } from './eventRow.ts'

function series({ counter, gauge, histogram }: SeriesMaker) {
  return {
    attempts: counter(
      'perpd_http_attempts_total',
      'HTTP requests by route, host and outcome; each retry counts.',
      ['route', 'host', 'outcome'],
    ),
    took: histogram(
      'perpd_http_attempt_duration_seconds',
      'Duration of an HTTP request until its response or timeout, seconds, by host; each retry counts.',
      ['host'],
      answerBuckets,
    ),
    missingRows: counter(
      'perpd_missing_rows_total',
      'Unreadable rows of polled lists, by route and host; perpd used the rest of the list.',
      ['route', 'host'],
    ),
    foreignRows: counter(
      'perpd_foreign_rows_total',
      'Rows of another account in our lists, by route and host; perpd dropped them.',
      ['route', 'host'],
    ),
    stalePrices: gauge(
      'perpd_oracle_stale',
      '1 while the prices of an oracle host are stale and its fallbacks are used, 0 when they are fresh again.',
      ['host'],
    ),
    standIns: counter(
      'perpd_fallback_prices_total',
      "Reductions admitted without a fresh oracle price, by source: old-oracle, or the venue's mark price in ticker or position.",
      ['source'],
    ),
    headroom: gauge(
      'perpd_capacity_headroom_usd',
      'Available capacity for increases on one side of a market at the last reading, after our headroom, USD.',
      ['market', 'direction'],
    ),
  }
}

/** A base address without its scheme; peers may differ by path alone. Credentials never get here: settings refuse them. */
function hostName(base: string): string {
  return base.replace(/^[a-z]+:\/\//, '')
}

/** Time that hosts and their prices must be well before that is notified, ms. */
const CALM_MS = 60_000

/** Stale prices of one host are a warning, of all an error, which is notified once for all of them. */
function pricesNotice(
  { host, isStale, ageMs }: EventOf<'host.prices'>,
  { oracleHosts, open, isWaiting, all }: Seen,
): NoticeFacts | undefined {
  const causeOf = (each: string): string => `prices:${each}`
  const common = { kind: 'prices-stale', cause: causeOf(host) } as const
  const known = open(common.cause)
  if (!isStale) return known === undefined ? undefined : { ...common, isEnd: true, calmMs: CALM_MS }
  const isLasting = (each: string): boolean => open(causeOf(each)) !== undefined && !isWaiting(causeOf(each))
  const isAll = oracleHosts.length > 0 && oracleHosts.every((each) => each === host || isLasting(each))
  const isSaid = all().some(({ kind, rank }) => kind === 'prices-stale' && rank === 2)
  if (known !== undefined && (!isAll || isSaid)) return { ...common, isSame: true }
  if (!isAll) return { ...common, level: 'warn', stage: 'one', rank: 1 }
  return {
    ...common,
    level: 'error',
    stage: 'all',
    rank: 2,
    text: `the prices of all oracle hosts are stale (${oracleHosts.join(', ')}). The last one was ${host}; its newest price is ${span(ageMs)} old. Increases wait, reductions may use the venue's mark price, and perpd keeps retrying`,
    action:
      'Check the network of this machine, and compare prices with another source: perpd markets. If they look wrong: perpd trading reducing --by NAME',
  }
}

/** Events of hosts. */
export const hostFamily: EventFamily<
  Extract<VenueEvent, { type: `${'host' | 'rows' | 'price' | 'feed' | 'capacity'}.${string}` }>,
  ReturnType<typeof series>
> = {
  series,
  rows: {
    'host.attempt': {
      levels: ['debug', 'warn'],
      level: (event) => (isGood(event) ? 'debug' : 'warn'),
      meaning: 'One request to a host; at warn, it failed.',
      word: 'host',
      text: (event) =>
        `${event.host} ${event.method} ${event.route}: ${event.outcome}${event.status === undefined ? '' : ` (HTTP ${event.status})`} after ${span(event.durationMs)}, attempt ${event.attempt}`,
      fields: [
        ...(['host', 'route', 'method', 'attempt', 'outcome', 'status', 'trace_id'] as const),
        ['latency_ms', ({ durationMs }) => durationMs],
      ],
      isFromOutside: true,
      repeats: (event) => (isGood(event) ? undefined : [`host ${event.host}`, event.outcome]),
      // A host that fails now and then would otherwise be reported as recovered after every failure.
      ends: ({ host }) => ({
        topic: `host ${host}`,
        leastMs: 30_000,
        text: (count) => `${host} responds again after ${counted(count, 'failed request')}`,
      }),
      moves({ attempts, took }, { route, host, outcome, durationMs }) {
        attempts.inc({ route, host: hostName(host), outcome })
        took.observe({ host: hostName(host) }, durationMs / 1_000)
      },
      // The first host that answers and is in no cooldown, once not all were for a minute.
      notice(event, { open, apiHosts }) {
        if (open('hosts') === undefined || !isGood(event) || event.isResting === true) return undefined
        if (!apiHosts.includes(event.host)) return undefined
        return {
          ...{ kind: 'hosts-up', level: 'info', cause: 'hosts', isEnd: true, quietMs: CALM_MS },
          text: `${event.host} responds again; new exposure is allowed again`,
        }
      },
    },
    'host.cooldown': {
      levels: ['warn'],
      meaning: 'A host is in cooldown.',
      word: 'host',
      text: ({ host, cooldownMs, reason, isLast }) =>
        `${host} is in cooldown for ${span(cooldownMs)}: ${ended(reason)} ${isLast === true ? 'No other host is left: increases wait until one responds' : 'Other hosts are used meanwhile'}`,
      fields: ['host', 'cooldown_ms', 'reason'],
      isFromOutside: true,
      repeats: ({ host, outcome, reason }) => [`rest ${host}`, outcome ?? reason],
      notice({ host, isLast, reason }, { apiHosts, open }) {
        // The oracle's own last one is none of the application API.
        if (isLast !== true || !apiHosts.includes(host)) return undefined
        const common = { kind: 'hosts-down', cause: 'hosts' } as const
        if (open('hosts') !== undefined) return { ...common, isSame: true }
        return {
          ...common,
          level: 'error',
          text: `all API hosts are in cooldown (${apiHosts.join(', ')}). The last one was ${host}: ${ended(reason)} New exposure is blocked until a host responds; perpd keeps retrying`,
          action:
            "Check the network and the name service of this machine. The hosts' answers: perpd status, perpd logs --level warn",
        }
      },
    },
    'host.prices': {
      levels: ['info', 'warn'],
      level: ({ isStale }) => (isStale ? 'warn' : 'info'),
      meaning: 'The prices of an oracle host are stale, or fresh again.',
      word: 'host',
      text: ({ host, isStale, ageMs }) =>
        isStale
          ? `the prices of ${host} are stale: the newest is ${span(ageMs)} old. perpd uses the fallback hosts and checks this one at growing intervals`
          : `the prices of ${host} are fresh again`,
      fields: ['host', ['age_ms', ({ ageMs }) => Math.round(ageMs)]],
      isFromOutside: true,
      moves: ({ stalePrices }, { host, isStale }) =>
        stalePrices.set({ host: hostName(host) }, isStale ? 1 : 0),
      notice: pricesNotice,
    },
    'rows.missing': {
      levels: ['warn'],
      meaning: 'Rows of a list cannot be read; perpd uses the others.',
      word: 'host',
      text: ({ host, route, rows }) =>
        `${host} ${route}: ${rows.length === 1 ? 'a row' : `${rows.length} rows`} cannot be read: ${rows[0]?.problem ?? ''}. perpd uses the other rows; increases wait on the possible markets, reductions continue`,
      fields: [
        ...(['host', 'route'] as const),
        ['rows', ({ rows }) => rows.length],
        ['problem', ({ rows }) => rows[0]?.problem ?? ''],
        ['market_token', ({ rows }) => rows[0]?.marketToken],
        ['token', ({ rows }) => rows[0]?.token],
      ],
      isFromOutside: true,
      repeats: ({ route, rows }) => {
        const problems = rows.map(({ problem }) => problem.replaceAll(/\[\d+\]/g, '[]')).sort()
        return [`rows ${route}`, [...new Set(problems)].join()]
      },
      moves: ({ missingRows }, { route, host, rows }) =>
        missingRows.inc({ route, host: hostName(host) }, rows.length),
    },
    'rows.foreign': {
      levels: ['warn'],
      meaning: 'Rows of another account were dropped.',
      word: 'host',
      text: ({ host, route, rows }) =>
        `${host} ${route}: ${counted(rows, 'row')} of another account ${rows === 1 ? 'was' : 'were'} dropped`,
      fields: ['host', 'route', 'rows'],
      isFromOutside: true,
      repeats: ({ host, route }) => [`foreign ${host}`, route],
      moves: ({ foreignRows }, { route, host, rows }) =>
        foreignRows.inc({ route, host: hostName(host) }, rows),
    },
    'price.fallback': {
      levels: ['warn'],
      meaning: 'A reduction uses a price other than a fresh oracle price.',
      word: 'price',
      text: ({ symbol, source, ageMs }) =>
        `a reduction on ${symbol} uses ${sourceTexts[source]}, ${span(ageMs)} old: no host of the oracle has a fresh price. Increases wait`,
      fields: [['market', ({ symbol }) => symbol], 'source', ['age_ms', ({ ageMs }) => Math.round(ageMs)]],
      isFromOutside: true,
      repeats: ({ symbol, source }) => [`price ${symbol}`, source],
      moves: ({ standIns }, { source }) => standIns.inc({ source }),
    },
    'price.contested': {
      levels: ['warn'],
      meaning: 'Hosts differ on the price of a reduction; it is signed within the band of those that agree.',
      word: 'price',
      text: ({ symbol, contested: { lowest, highest, words } }) =>
        `a reduction on ${symbol} is signed around ${formatPrice(lowest)}${lowest === highest ? '' : ` to ${formatPrice(highest)}`}: hosts differ on the price (${contestedText(words)}). Increases wait until they agree`,
      fields: [
        ['market', ({ symbol }) => symbol],
        ['lowest', ({ contested }) => formatPrice(contested.lowest)],
        ['highest', ({ contested }) => formatPrice(contested.highest)],
        ['taken', ({ contested }) => contested.words.filter(({ isTaken }) => isTaken).length],
        ['left_out', ({ contested }) => contested.words.filter(({ isTaken }) => !isTaken).length],
      ],
      isFromOutside: true,
      repeats: ({ symbol }) => [`contested ${symbol}`, 'differ'],
    },
    'feed.read': {
      levels: ['debug'],
      meaning: 'A feed was read.',
      word: 'feed',
      text: ({ feed, ageMs }) => `${feed} read, ${span(ageMs)} old`,
      fields: ['feed', 'age_ms'],
    },
    'capacity.read': {
      levels: ['debug'],
      meaning: 'Capacity for increases on one side of a market.',
      word: 'feed',
      text: ({ direction, symbol, roomUsd }) =>
        `capacity left for a ${direction} on ${symbol}: ${money(roomUsd)}`,
      fields: [['market', ({ symbol }) => symbol], 'direction', 'room_usd'],
      moves: ({ headroom }, { symbol: market, direction, roomUsd }) =>
        headroom.set({ market, direction }, asNumber(roomUsd)),
    },
  },
}
