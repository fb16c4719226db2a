/**
 * Prometheus series. Counters and durations come from events; everything that is a state or an age is read from the
 * engine's status when somebody scrapes, so that it is never older than the scrape. No label ever holds an order's id.
 */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { marked } from '../base/shownText.ts'
import type { DiscrepancyKind } from '../domain/account/accountRecord.ts'
import type { Emit, Event, Feed } from '../domain/event.ts'
import type { Label } from '../domain/order/intent.ts'
import type { UnwindOutcome } from '../domain/tasks/unwindState.ts'
import { toDecimal, USD_DECIMALS, type Usd } from '../protocol/units.ts'
import type { MonitoredStatus } from './monitoredStatus.ts'

/** What metrics are made of. */
export interface MetricsOptions {
  readonly version: string
  readonly profile: string
  readonly chain: string
  /** Any clock in ms, default the process's monotonic one; only differences count. */
  readonly now?: () => number
}

/** The daemon's series. */
export interface Metrics {
  readonly listen: Emit
  /** All series in the text format, by the engine's status now; absent before there is an engine. */
  render(status?: MonitoredStatus): Promise<string>
  readonly contentType: string
  /** Name, type, labels and help of every series of ours, for docs/metrics.md. */
  describe(): readonly SeriesDescription[]
}

/** One series, described. */
export interface SeriesDescription {
  readonly name: string
  readonly type: string
  readonly help: string
  readonly labels: readonly string[]
}

const openLabels: readonly Label[] = ['planned', 'pending', 'resting', 'unknown']
const closedLabels: readonly Label[] = ['executed', 'cancelled', 'reverted', 'failed', 'expired', 'refused']
const tradingStates = ['active', 'reducing', 'halted'] as const
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

/** The daemon's metrics, in a registry of their own. */
export function createMetrics(options: MetricsOptions): Metrics {
  const registry = new Registry()
  const { now = () => performance.now() } = options
  /** The engine's status of the scrape that is under way; undefined before there is an engine. */
  let scraped: MonitoredStatus | undefined
  const status = () => scraped
  const described: SeriesDescription[] = []
  const named = <T extends string>(
    type: string,
    name: string,
    help: string,
    labelNames: readonly T[],
  ): { name: string; help: string; labelNames: readonly T[]; registers: Registry[] } => {
    described.push({ name, type, help, labels: labelNames })
    return { name, help, labelNames, registers: [registry] }
  }
  const counter = <T extends string>(name: string, help: string, labels: readonly T[] = []): Counter<T> =>
    new Counter(named('counter', name, help, labels))
  const gauge = <T extends string>(
    name: string,
    help: string,
    labels: readonly T[] = [],
    collect?: (self: Gauge<T>) => void,
  ): Gauge<T> => {
    const made: Gauge<T> = new Gauge({
      ...named('gauge', name, help, labels),
      ...(collect && { collect: () => collect(made) }),
    })
    return made
  }
  const histogram = <T extends string>(
    name: string,
    help: string,
    labels: readonly T[],
    buckets: number[],
  ): Histogram<T> => new Histogram({ ...named('histogram', name, help, labels), buckets })

  /** A figure of the status; absent while there is none, because 0 would be a figure too. */
  const figure = (
    name: string,
    help: string,
    of: (current: MonitoredStatus) => number | undefined,
  ): Gauge<string> =>
    gauge(name, help, [], (self) => {
      const current = status()
      const value = current === undefined ? undefined : of(current)
      self.remove()
      if (value !== undefined) self.set(value)
    })
  const build = gauge('perpd_build_info', 'Version and profile of this daemon; always 1.', [
    'version',
    'node',
    'profile',
    'chain',
  ])
  build.set(
    { version: options.version, node: process.versions.node, profile: options.profile, chain: options.chain },
    1,
  )
  const ended = counter('perpd_orders_total', 'Orders that came to an end, by the label they ended with.', [
    'outcome',
  ])
  for (const outcome of closedLabels) ended.inc({ outcome }, 0)
  gauge('perpd_orders', 'Open orders by label.', ['state'], (self) => {
    self.reset()
    const current = status()
    if (current === undefined) return
    for (const state of openLabels) {
      self.set({ state }, current.openIntents.filter(({ label }) => label === state).length)
    }
  })
  figure(
    'perpd_order_oldest_unresolved_seconds',
    'Age of the oldest order that was signed and whose fate is not proven; 0 when there is none.',
    ({ oldestUnresolvedSeconds }) => oldestUnresolvedSeconds,
  )
  gauge('perpd_data_age_seconds', 'Age of the newest reading of each feed.', ['feed'], (self) => {
    self.reset()
    for (const [feed, ageMs] of Object.entries(status()?.feedAgesMs ?? {})) {
      self.set({ feed: feed as Feed }, ageMs / 1_000)
    }
  })
  figure('perpd_exposure_usd', 'Positions and open increases at worst, USD.', ({ exposureUsd }) =>
    asNumber(exposureUsd),
  )
  gauge('perpd_trading_state', '1 for the trading state in force, 0 for the others.', ['state'], (self) => {
    self.reset()
    const current = status()
    if (current === undefined) return
    for (const state of tradingStates) self.set({ state }, current.tradingState === state ? 1 : 0)
  })
  gauge(
    'perpd_trading_halts',
    'Halts in force, by scope and cause: 1 for reducing, 2 for halted.',
    ['scope', 'cause'],
    (self) => {
      self.reset()
      for (const { scope, cause, state } of status()?.holds ?? []) {
        self.set({ scope, cause }, state === 'halted' ? 2 : 1)
      }
    },
  )
  figure(
    'perpd_equity_usd',
    'What the account is worth, USD; absent before the first reading.',
    ({ equity }) => (equity === undefined ? undefined : asNumber(equity.equityUsd)),
  )
  figure(
    'perpd_equity_peak_usd',
    'The highest that the account was worth, USD; absent before the first reading.',
    ({ equity }) => (equity === undefined ? undefined : asNumber(equity.peakUsd)),
  )
  figure(
    'perpd_equity_age_seconds',
    'Age of the figure in `perpd_equity_usd`: it is of lists that belong together, and stands while they settle after a fill.',
    ({ equity, nowMs }) =>
      equity?.equityAtMs === undefined || nowMs === undefined
        ? undefined
        : Math.max(0, nowMs - equity.equityAtMs) / 1_000,
  )
  gauge('perpd_ready', '1 while new orders are made, 0 while not.', [], (self) => {
    const current = status()
    const isOpen = current?.tradingState === 'active' && current.notReady.length === 0
    self.set(current?.state === 'running' && isOpen ? 1 : 0)
  })
  const headroom = gauge(
    'perpd_capacity_headroom_usd',
    'Available capacity for increases on one side of a market at the last reading, after our own headroom, USD.',
    ['market', 'direction'],
  )
  const loop = histogram(
    'perpd_loop_duration_seconds',
    "One turn of a strategy's loop: snapshot, decision, admission.",
    ['strategy'],
    networkBuckets,
  )
  const viewBytes = gauge(
    'perpd_strategy_view_bytes',
    "Size of the view that was last handed to the thread of a kind of the user's own.",
    ['strategy'],
  )
  const threadEnds = counter(
    'perpd_strategy_thread_ends_total',
    "Threads of kinds of the user's own that ended: timeout, memory, exit or crash.",
    ['strategy', 'cause'],
  )
  const turns = counter(
    'perpd_ticks_total',
    "Turns of a strategy's loop by result: done, failed or skipped.",
    ['strategy', 'result'],
  )
  const step = histogram(
    'perpd_order_step_duration_seconds',
    'One step of an order; `total` runs from the decision to the answer to the submit.',
    ['step'],
    networkBuckets,
  )
  for (const each of steps) step.zero({ step: each })
  const decisions = counter(
    'perpd_decisions_total',
    'Decisions by what became of them: admitted or denied.',
    ['strategy', 'result'],
  )
  const denials = counter('perpd_denials_total', 'Decisions denied, by the code of the reason.', ['code'])
  const attempts = counter(
    'perpd_http_attempts_total',
    'HTTP requests sent or tried, by route, host and outcome; each try of a repeated read counts.',
    ['route', 'host', 'outcome'],
  )
  const missingRows = counter(
    'perpd_missing_rows_total',
    'Rows of polled lists that could not be read, by route and host; the lists were used without them.',
    ['route', 'host'],
  )
  const foreignRows = counter(
    'perpd_foreign_rows_total',
    'Rows of another account in lists of ours, by route and host; they were dropped.',
    ['route', 'host'],
  )
  const heldFindings = gauge(
    'perpd_discrepancies_deferred',
    'Things on the account that cannot be explained and are not written down yet: more than may be in a time.',
  )
  const stalePrices = gauge(
    'perpd_oracle_stale',
    '1 while the prices of an oracle host are stale and its fallbacks are used, 0 when they are fresh again.',
    ['host'],
  )
  const standIns = counter(
    'perpd_fallback_prices_total',
    "Reductions admitted on another price than a fresh one of the oracle: old-oracle, or the venue's mark in ticker or position.",
    ['source'],
  )
  const poisoned = counter(
    'perpd_payload_mismatches_total',
    'Payload mismatches: prepared messages that differ from the order; none was signed.',
  )
  const notSigned = counter(
    'perpd_payloads_not_signed_total',
    'Payloads not signed because price, fee, position or time moved beyond a limit, by code: PRICE_OUT_OF_BOUNDS, FEE_ABOVE_LIMIT, POSITION_MOVED, OFFER_EXPIRED.',
    ['code'],
  )
  const warned = counter(
    'perpd_validation_warnings_total',
    "The venue's warnings before signing, by code and by what was done with the order: sign, shrink or drop.",
    ['code', 'action'],
  )
  const commit = histogram(
    'perpd_journal_commit_duration_seconds',
    'From appending a record to its being durable.',
    [],
    hotBuckets,
  )
  const drift = counter(
    'perpd_reconcile_drift_total',
    'Things found on the account that the journal cannot explain, by kind.',
    ['kind'],
  )
  for (const kind of discrepancyKinds) drift.inc({ kind }, 0)
  figure(
    'perpd_discrepancies_open',
    'Open discrepancies that nobody settled yet.',
    ({ findings }) => findings.length,
  )
  figure(
    'perpd_contradictions_open',
    'Rows of hosts that contradict what a market or a token is.',
    ({ contradictions }) => contradictions.length,
  )
  const contradicted = counter(
    'perpd_contradictions_total',
    'Rows of hosts that contradicted what a market or a token is, each told once.',
    [],
  )
  figure(
    'perpd_unwinds_open',
    'Orders to unwind: cancelled or closed if they land.',
    ({ flattens }) => flattens.length,
  )
  const flattened = counter(
    'perpd_unwinds_total',
    'Orders to unwind that are done, by outcome: nothing-landed, flat or given-up.',
    ['outcome'],
  )
  for (const outcome of unwindOutcomes) flattened.inc({ outcome }, 0)
  const evidenceEndpoints = gauge(
    'perpd_evidence_endpoints',
    'Chain endpoints whose data closes orders, and which must agree; 0 in API-only mode.',
  )
  const chainReads = counter(
    'perpd_chain_reads_total',
    'Polls of a chain endpoint by outcome: ok, catching-up, or the code of the fault.',
    ['endpoint', 'outcome'],
  )
  const chainBlock = gauge(
    'perpd_chain_block',
    'Newest block at the last look, by endpoint: `latest`, and `final` at the finality that evidence needs.',
    ['endpoint', 'level'],
  )
  const blockAges = new Map<string, { readonly ageSeconds: number; readonly atMs: number }>()
  gauge('perpd_chain_block_age_seconds', 'Age of the latest block that was seen.', ['endpoint'], (self) => {
    for (const [endpoint, { ageSeconds, atMs }] of blockAges) {
      self.set({ endpoint }, ageSeconds + (now() - atMs) / 1_000)
    }
  })
  const chainLag = gauge(
    'perpd_chain_lag_blocks',
    'Blocks that an endpoint was behind the newest one at the last look.',
    ['endpoint'],
  )
  const chainSkew = gauge(
    'perpd_chain_skew_seconds',
    "Our clock minus the chain's time when it was last found to differ by more than a block or two.",
  )
  const chainAhead = gauge(
    'perpd_chain_ahead_seconds',
    "How far an endpoint's newest block was ahead of our clock or the hosts' (behind: negative) when an order was last about to be signed.",
    ['endpoint'],
  )
  const subaccountActions = gauge(
    'perpd_subaccount_actions',
    'Actions of the approval of the delegated key: `left`, and `needed` to close what is open.',
    ['which'],
  )
  const subaccountExpiry = gauge(
    'perpd_subaccount_expiry_timestamp_seconds',
    'When the approval of the delegated key ends, Unix seconds.',
  )
  // Before the first word on them there is nothing to show.
  for (const each of [evidenceEndpoints, chainSkew, subaccountExpiry]) each.remove()
  // Under the names that dashboards of Node processes know.
  collectDefaultMetrics({ register: registry })

  // These codes come from a server; a label must not grow with what it makes up.
  const codes = new Set<string>()
  const boundedCode = (code: string): string => {
    if (codes.size < MOST_CODES) codes.add(code)
    return codes.has(code) ? code : 'other'
  }
  const listen = (event: Event): void => {
    switch (event.type) {
      case 'order.moved':
        if (closedLabels.includes(event.to)) ended.inc({ outcome: event.to })
        return
      case 'unwind.ended':
        flattened.inc({ outcome: event.outcome })
        return
      case 'order.timing':
        step.observe({ step: event.step }, event.durationMs / 1_000)
        return
      case 'order.payload_rejected':
        poisoned.inc()
        break
      case 'order.not_signed':
        notSigned.inc({ code: event.code })
        return
      case 'account.discrepancy':
        drift.inc({ kind: event.finding.kind })
        return
      case 'market.contradicted':
        contradicted.inc(event.contradictions.length)
        return
      case 'order.warned':
        for (const { code } of event.warnings) warned.inc({ code: boundedCode(code), action: event.action })
        return
      case 'tick.done':
        turns.inc({ strategy: event.strategy, result: 'done' })
        loop.observe({ strategy: event.strategy }, event.durationMs / 1_000)
        if (event.viewBytes !== undefined) viewBytes.set({ strategy: event.strategy }, event.viewBytes)
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
      case 'host.attempt':
        attempts.inc({ route: event.route, host: hostName(event.host), outcome: event.outcome })
        return
      case 'rows.missing':
        missingRows.inc({ route: event.route, host: hostName(event.host) }, event.rows.length)
        return
      case 'rows.foreign':
        foreignRows.inc({ route: event.route, host: hostName(event.host) }, event.rows)
        return
      case 'account.discrepanciesDeferred':
        heldFindings.set(event.held)
        return
      case 'host.prices':
        stalePrices.set({ host: hostName(event.host) }, event.isStale ? 1 : 0)
        return
      case 'price.fallback':
        standIns.inc({ source: event.source })
        return
      case 'evidence.chosen':
        evidenceEndpoints.set(event.endpoints)
        return
      case 'chain.read': {
        const { endpoint, outcome, latest, final, lagBlocks, latestAgeSeconds } = event
        chainReads.inc({ endpoint, outcome })
        if (latest !== undefined) chainBlock.set({ endpoint, level: 'latest' }, Number(latest))
        if (final !== undefined) chainBlock.set({ endpoint, level: 'final' }, Number(final))
        if (lagBlocks !== undefined) chainLag.set({ endpoint }, lagBlocks)
        if (latestAgeSeconds !== undefined) {
          blockAges.set(endpoint, { ageSeconds: latestAgeSeconds, atMs: now() })
        }
        return
      }
      case 'subaccount.read':
        subaccountActions.set({ which: 'left' }, event.report.remainingActions)
        subaccountActions.set({ which: 'needed' }, event.report.neededActions)
        subaccountExpiry.set(event.report.expiresAtSeconds)
        return
      case 'chain.skew':
        chainSkew.set(event.skewSeconds)
        return
      case 'chain.time':
        chainAhead.set({ endpoint: event.endpoint }, event.aheadSeconds)
        return
      case 'capacity.read':
        headroom.set({ market: event.symbol, direction: event.direction }, asNumber(event.roomUsd))
        return
      case 'journal.committed':
        commit.observe(event.commitMs / 1_000)
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
  return {
    listen,
    // A market's name is a host's word; the format knows no escape for what cannot be seen.
    async render(status) {
      scraped = status
      return marked(await registry.metrics())
    },
    contentType: registry.contentType,
    describe: () => described,
  }
}

/** A series is a float by nature; nothing is ever computed from it again. */
function asNumber(amount: Usd): number {
  return toDecimal(amount, USD_DECIMALS).toNumber()
}

/** A base address without its scheme; peers may differ by path alone. Credentials never get here: settings refuse them. */
function hostName(base: string): string {
  return base.replace(/^[a-z]+:\/\//, '')
}
