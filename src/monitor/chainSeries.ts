/** The series of chain endpoints and of the approval of the delegated key; each function listens for their events. */
import type { Emit, Event } from '../domain/event.ts'
import { answerBuckets, type SeriesMaker } from './seriesMaker.ts'

/** Counts the results of chain endpoints, and their time against ours; `now` is any clock in ms. */
export function chainSeries({ counter, gauge, histogram }: SeriesMaker, now: () => number): Emit {
  const evidenceEndpoints = gauge(
    'perpd_evidence_endpoints',
    'Chain endpoints that must agree before an order closes; 0 in API-only mode.',
  )
  const chainReads = counter(
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
  const chainBlock = gauge(
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
  const chainLag = gauge(
    'perpd_chain_lag_blocks',
    'Blocks that an endpoint was behind the newest one at the last poll.',
    ['endpoint'],
  )
  const chainSkew = gauge(
    'perpd_chain_skew_seconds',
    "Our clock minus the chain's time when they last differed by more than a block or two, seconds.",
  )
  const chainAhead = gauge(
    'perpd_chain_ahead_seconds',
    "How many seconds an endpoint's newest block was ahead of our clock or the hosts' (behind: negative) when an order was last about to be signed.",
    ['endpoint'],
  )
  // Before the first word on them there is nothing to show.
  for (const each of [evidenceEndpoints, chainSkew]) each.remove()
  return (event: Event): void => {
    switch (event.type) {
      case 'evidence.chosen':
        evidenceEndpoints.set(event.endpoints)
        return
      case 'chain.read': {
        const { endpoint, outcome, durationMs, latest, final, lagBlocks, latestAgeSeconds } = event
        chainReads.inc({ endpoint, outcome })
        took.observe({ endpoint }, durationMs / 1_000)
        if (latest !== undefined) chainBlock.set({ endpoint, level: 'latest' }, Number(latest))
        if (final !== undefined) chainBlock.set({ endpoint, level: 'final' }, Number(final))
        if (lagBlocks !== undefined) chainLag.set({ endpoint }, lagBlocks)
        if (latestAgeSeconds !== undefined) {
          blockAges.set(endpoint, { ageSeconds: latestAgeSeconds, atMs: now() })
        }
        return
      }
      case 'chain.skew':
        chainSkew.set(event.skewSeconds)
        return
      case 'chain.time':
        chainAhead.set({ endpoint: event.endpoint }, event.aheadSeconds)
        return
      default:
        return
    }
  }
}

/** The approval of the delegated key. */
export function subaccountSeries({ gauge }: SeriesMaker): Emit {
  const subaccountActions = gauge(
    'perpd_subaccount_actions',
    'Actions of the approval of the delegated key: `left`, and `needed` to close what is open.',
    ['which'],
  )
  const subaccountExpiry = gauge(
    'perpd_subaccount_expiry_timestamp_seconds',
    'When the approval of the delegated key ends, Unix seconds.',
  )
  // Before the first word on it there is nothing to show.
  subaccountExpiry.remove()
  return (event: Event): void => {
    if (event.type !== 'subaccount.read') return
    subaccountActions.set({ which: 'left' }, event.report.remainingActions)
    subaccountActions.set({ which: 'needed' }, event.report.neededActions)
    subaccountExpiry.set(event.report.expiresAtSeconds)
  }
}
