/**
 * Prometheus series. Counters and durations come from events; everything that is a state or an age is read from the
 * engine's status when somebody scrapes, so that it is never older than the scrape. No label ever holds an order's id.
 */
import type { Registry } from 'prom-client'
import { marked } from '../../base/shownText.ts'
import type { Emit } from '../../domain/event.ts'
import type { AwaitedServer } from '../../domain/journalServer.ts'
import { eventSeries } from '../events/eventRegister.ts'
import type { MonitoredStatus } from '../monitoredStatus.ts'
import { createSeriesMaker, type SeriesDescription, type SeriesMaker } from '../seriesMaker.ts'
import { bookSeries, journalSeries, openCaseSeries, statusSeries, stopSeries } from './statusSeries.ts'

/** Options of the metrics. */
export interface MetricsOptions {
  readonly version: string
  readonly profile: string
  readonly chain: string
  /** Name of the account's rows in the database of the journal; absent: a file keeps it. */
  readonly journalAccount?: string
  /** True for the series of one of several accounts: those of the process itself are in the process's. */
  readonly isOfAccount?: boolean
  /** Tells of each of several accounts whether its trader runs; absent: there is one without a name. */
  readonly accounts?: () => readonly { readonly name: string; readonly isRunning: boolean }[]
  /** Any clock in ms, default the process's monotonic one; only differences count. */
  readonly now?: () => number
}

/** The daemon's series. */
export interface Metrics {
  readonly listen: Emit
  /** All series in the text format, by the engine's status now; absent before there is an engine. `server`: the journal's, while perpd waits for it. */
  render(status?: MonitoredStatus, server?: AwaitedServer): Promise<string>
  readonly contentType: string
  /** Name, type, labels and help of every series of ours, for docs/reference/metrics.md. */
  describe(): readonly SeriesDescription[]
}

/** Gauges of prom-client with a counter's name; `nodejs_active_handles` and the like say the same by type. */
const misnamed = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
]

/** The daemon's metrics, in a registry of their own. */
export function createMetrics(options: MetricsOptions): Metrics {
  const maker = createSeriesMaker()
  const { registry, described } = maker
  const { now = () => performance.now() } = options
  /** The engine's status of the scrape that is under way; undefined before there is an engine. */
  let scraped: MonitoredStatus | undefined
  let waitedFor: AwaitedServer | undefined
  const status = () => scraped
  if (options.isOfAccount !== true) buildSeries(maker, options)
  // Series are shown in the order they are made.
  statusSeries(maker, status)
  stopSeries(maker, status)
  bookSeries(maker, status)
  openCaseSeries(maker, status)
  journalSeries(maker, options.journalAccount ?? '', () => scraped?.journal?.server ?? waitedFor)
  const listen = eventSeries(maker, now)
  accountSeries(maker, options)
  // Those of the process are made by the first scrape: they load much, and time each collection of garbage.
  let processSeries: Promise<void> | undefined
  return {
    listen,
    // A market's name is a host's word; the format knows no escape for what cannot be seen.
    async render(status, server) {
      // Where their code cannot be read just now, as while perpd is installed anew, all others are served.
      processSeries ??= options.isOfAccount === true ? Promise.resolve() : addProcessSeries(registry)
      await processSeries.catch(() => {
        processSeries = undefined
      })
      scraped = status
      waitedFor = server
      return marked(await registry.metrics())
    },
    contentType: registry.contentType,
    describe: () => described,
  }
}

/** Adds the series of this process, under the names that dashboards of Node processes know. */
async function addProcessSeries(registry: Registry): Promise<void> {
  const { default: collectDefaultMetrics } = await import('prom-client/lib/defaultMetrics.js')
  collectDefaultMetrics({ register: registry })
  for (const name of misnamed) registry.removeSingleMetric(name)
}

/** Series of the accounts of a process that has several. */
function accountSeries({ gauge }: SeriesMaker, { accounts }: MetricsOptions): void {
  gauge(
    'perpd_account_running',
    'With several accounts: 1 while the trader of an account runs, 0 after a fault stopped it.',
    ['account'],
    (self) => {
      for (const { name, isRunning } of accounts?.() ?? []) self.set({ account: name }, isRunning ? 1 : 0)
    },
  )
}

/** Series of this daemon's version and profile. */
function buildSeries({ gauge }: SeriesMaker, options: MetricsOptions): void {
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
}
