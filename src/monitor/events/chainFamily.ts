/** Events of chain endpoints and the evidence that they give. */
import type { VenueEvent } from '../../domain/venueEvent.ts'
import { answerBuckets, type SeriesMaker } from '../seriesMaker.ts'
import { counted, ended, span } from '../text.ts'
import type { EventFamily } from './eventRow.ts'

function series({ counter, gauge, histogram }: SeriesMaker, now: () => number) {
  const endpoints = gauge(
    'perpd_evidence_endpoints',
    'Chain endpoints that must agree before an order closes; 0 in API-only mode.',
  )
  const reads = counter(
    'perpd_chain_reads_total',
    'Polls of a chain endpoint by outcome: ok, catching-up, or the code of the fault.',
    ['endpoint', 'outcome'],
  )
  const took = histogram(
    'perpd_chain_read_duration_seconds',
    'Duration of one poll of a chain endpoint until its response or timeout, seconds.',
    ['endpoint'],
    answerBuckets,
  )
  const block = gauge(
    'perpd_chain_block',
    'Newest block at the last poll, by endpoint: `latest`, and `final` at the finality that evidence needs.',
    ['endpoint', 'level'],
  )
  const blockAges = new Map<string, { readonly ageSeconds: number; readonly atMs: number }>()
  gauge(
    'perpd_chain_block_age_seconds',
    'Age of the latest block at the last poll, seconds.',
    ['endpoint'],
    (self) => {
      for (const [endpoint, { ageSeconds, atMs }] of blockAges) {
        self.set({ endpoint }, ageSeconds + (now() - atMs) / 1_000)
      }
    },
  )
  const lag = gauge(
    'perpd_chain_lag_blocks',
    'Blocks that an endpoint was behind the newest one at the last poll.',
    ['endpoint'],
  )
  const skew = gauge(
    'perpd_chain_skew_seconds',
    "Our clock minus the chain's time when they last differed by more than a block or two, seconds.",
  )
  const ahead = gauge(
    'perpd_chain_ahead_seconds',
    "How many seconds an endpoint's newest block was ahead of our clock or the hosts' (behind: negative) when an order was last about to be signed.",
    ['endpoint'],
  )
  // Before the first word on them there is nothing to show.
  for (const each of [endpoints, skew]) each.remove()
  return { endpoints, reads, took, block, blockAges, lag, skew, ahead, now }
}

/** Events of chain endpoints. */
export const chainFamily: EventFamily<
  Extract<VenueEvent, { type: `${'evidence' | 'chain'}.${string}` }>,
  ReturnType<typeof series>
> = {
  series,
  rows: {
    'evidence.chosen': {
      levels: ['info', 'warn'],
      level: ({ isWeak }) => (isWeak ? 'warn' : 'info'),
      meaning: 'The source of evidence in this run.',
      word: 'evidence',
      text: ({ source, isWeak, text }) => {
        if (isWeak) return `NO CHAIN ENDPOINT: orders close by ${text}. Set rpc.http for proof of their ends`
        return source === 'chain' ? `the end of each order is read from ${text}` : `orders close by ${text}`
      },
      fields: ['source', 'endpoints', 'is_weak'],
      moves: (all, { endpoints }) => all.endpoints.set(endpoints),
    },
    'chain.read': {
      levels: ['debug', 'warn'],
      level: ({ error }) => (error === undefined ? 'debug' : 'warn'),
      meaning: 'One request to a chain endpoint; at warn, it failed.',
      word: 'chain',
      text: ({ endpoint, error, durationMs, latest, final }) =>
        error === undefined
          ? `${endpoint} read in ${span(durationMs)}${latest === undefined ? '' : `, block ${latest}, final ${final ?? 'unknown'}`}`
          : `${ended(error)} Orders that need its evidence stay open`,
      fields: [
        ...(['endpoint', 'outcome'] as const),
        ['latency_ms', ({ durationMs }) => durationMs],
        ['latest_block', ({ latest }) => latest],
        ['final_block', ({ final }) => final],
        'lag_blocks',
        ['block_age_seconds', ({ latestAgeSeconds }) => latestAgeSeconds],
        ['reason', ({ error }) => error],
      ],
      isFromOutside: true,
      repeats: ({ endpoint, error }) => (error === undefined ? undefined : [`chain ${endpoint}`, error]),
      ends: ({ endpoint }) => ({
        topic: `chain ${endpoint}`,
        text: (count) => `${endpoint} responds again after ${counted(count, 'fault')}`,
      }),
      moves({ reads, took, block, blockAges, lag, now }, event) {
        const { endpoint, outcome, durationMs, latest, final, lagBlocks, latestAgeSeconds } = event
        reads.inc({ endpoint, outcome })
        took.observe({ endpoint }, durationMs / 1_000)
        if (latest !== undefined) block.set({ endpoint, level: 'latest' }, Number(latest))
        if (final !== undefined) block.set({ endpoint, level: 'final' }, Number(final))
        if (lagBlocks !== undefined) lag.set({ endpoint }, lagBlocks)
        if (latestAgeSeconds !== undefined)
          blockAges.set(endpoint, { ageSeconds: latestAgeSeconds, atMs: now() })
      },
    },
    'chain.skew': {
      levels: ['warn'],
      meaning: "The chain's time and our clock differ.",
      word: 'chain',
      text: ({ skewSeconds, isTooLarge }) =>
        `our clock is ${Math.abs(Math.round(skewSeconds))} s ${skewSeconds > 0 ? 'ahead of' : 'behind'} the chain's time${isTooLarge ? '. Nothing that adds risk is signed until they agree' : ''}. Check this machine's clock and the lag of the endpoints`,
      fields: ['skew_seconds', 'is_too_large'],
      isFromOutside: true,
      repeats: ({ isTooLarge }) => ['skew', String(isTooLarge)],
      moves: ({ skew }, { skewSeconds }) => skew.set(skewSeconds),
    },
    'chain.time': {
      levels: ['debug', 'warn'],
      level: ({ isSetAside }) => (isSetAside ? 'warn' : 'debug'),
      meaning: "An endpoint's time; at warn, perpd ignores it.",
      word: 'chain',
      text({ endpoint, aheadSeconds, isSetAside, healthy }) {
        const apart = `${span(Math.abs(aheadSeconds) * 1000)} ${aheadSeconds > 0 ? 'ahead of' : 'behind'} our clock and the hosts'`
        if (!isSetAside) return `the newest block of ${endpoint} is ${apart}`
        const next =
          healthy > 0
            ? 'Another endpoint gives the time, and orders continue; no end is proven before this one agrees'
            : 'No endpoint gives the time: increases wait, reductions continue, and no end is proven before it agrees'
        return `${endpoint} is ignored for the time: its newest block is ${apart}. ${next}. Check this endpoint, or remove it from the configuration and restart perpd`
      },
      fields: ['endpoint', 'ahead_seconds', 'is_set_aside', 'healthy'],
      isFromOutside: true,
      repeats: ({ endpoint, aheadSeconds, healthy, isSetAside }) =>
        isSetAside ? [`time ${endpoint}`, `${aheadSeconds > 0} ${healthy === 0}`] : undefined,
      ends: ({ endpoint }) => ({
        topic: `time ${endpoint}`,
        text: (count) =>
          `${endpoint} gives the right time again; it was ignored for ${counted(count, 'order')}`,
      }),
      moves: ({ ahead }, { endpoint, aheadSeconds }) => ahead.set({ endpoint }, aheadSeconds),
    },
  },
}
