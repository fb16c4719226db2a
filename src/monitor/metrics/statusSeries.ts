/** The series that are states and ages: read from the engine's status at the scrape, so that none is older than it. */
import type { Counter, Gauge } from 'prom-client'
import type { StrategyBooks } from '../../books/bookView.ts'
import type { AwaitedServer } from '../../domain/journalServer.ts'
import type { Label } from '../../domain/order/intent.ts'
import type { Feed } from '../../domain/venueEvent.ts'
import { incidentKinds } from '../events/notice.ts'
import type { MonitoredStatus } from '../monitoredStatus.ts'
import type { SeriesMaker } from '../seriesMaker.ts'
import { asNumber } from '../seriesNumber.ts'

/** The engine's status of the scrape that is under way; undefined before there is an engine. */
export type ScrapedStatus = () => MonitoredStatus | undefined

const openLabels: readonly Label[] = ['planned', 'pending', 'resting', 'unknown']
const tradingStates = ['active', 'reducing', 'halted'] as const

/** Creates the series of trading: open orders, ages of feeds, exposure, trading state, equity, readiness. */
export function statusSeries(maker: SeriesMaker, status: ScrapedStatus): void {
  const { gauge } = maker
  const figure = figures(maker, status)
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
    'Age of the oldest signed order with an unproven fate, seconds; 0 when there is none.',
    ({ oldestUnresolvedSeconds }) => oldestUnresolvedSeconds,
  )
  const ofFeeds = (
    name: string,
    help: string,
    of: (current: MonitoredStatus) => MonitoredStatus['feedAgesMs'],
  ) =>
    gauge(name, help, ['feed'], (self) => {
      self.reset()
      const current = status()
      if (current === undefined) return
      for (const [feed, ms] of Object.entries(of(current))) self.set({ feed: feed as Feed }, ms / 1_000)
    })
  ofFeeds(
    'perpd_data_age_seconds',
    'Age of the newest reading of each feed, seconds. Feeds that only strategies read age between turns and while none runs.',
    ({ feedAgesMs }) => feedAgesMs,
  )
  ofFeeds(
    'perpd_data_overdue_seconds',
    'Time since the newest reading of a feed became too old for increases, seconds: older than `risk.maxDataAgeMs` or its own limit, and than two readings when it is read less often. 0 while it is fresh, absent while nothing reads it.',
    ({ feedsOverdueMs }) => feedsOverdueMs,
  )
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
      for (const { scope, cause, state } of status()?.halts ?? []) {
        self.set({ scope, cause }, state === 'halted' ? 2 : 1)
      }
    },
  )
  figure('perpd_equity_usd', 'Equity of the account, USD; absent before the first reading.', ({ equity }) =>
    equity === undefined ? undefined : asNumber(equity.equityUsd),
  )
  figure(
    'perpd_equity_peak_usd',
    'Peak equity of the account, USD; absent before the first reading.',
    ({ equity }) => (equity === undefined ? undefined : asNumber(equity.peakUsd)),
  )
  figure(
    'perpd_equity_age_seconds',
    'Age of `perpd_equity_usd`, seconds. The figure needs consistent lists and does not change while they settle after a fill.',
    ({ equity, nowMs }) =>
      equity?.equityAtMs === undefined || nowMs === undefined
        ? undefined
        : Math.max(0, nowMs - equity.equityAtMs) / 1_000,
  )
  figure(
    'perpd_ready',
    '1 while perpd makes new orders, else 0. Absent while it waits for its journal.',
    ({ state, tradingState, notReady }) =>
      state === 'running' && tradingState === 'active' && notReady.length === 0 ? 1 : 0,
  )
}

/** Creates the series of the strategies' books: sizes and results. */
export function bookSeries({ gauge, counter }: SeriesMaker, status: ScrapedStatus): void {
  const set = (self: Gauge<'strategy'>, of: (books: StrategyBooks) => number): void => {
    self.reset()
    for (const books of status()?.books ?? []) self.set({ strategy: books.strategy }, of(books))
  }
  const count = (self: Counter<'strategy'>, of: (books: StrategyBooks) => number): void => {
    self.reset()
    for (const books of status()?.books ?? []) self.inc({ strategy: books.strategy }, of(books))
  }
  const whose = '`unattributed`: no strategy of ours; `other`: strategies that do not run.'
  gauge(
    'perpd_strategy_pnl_usd',
    `Realized result of a strategy after all costs, by its books, USD. ${whose}`,
    ['strategy'],
    (self) => set(self, ({ pnlUsd }) => asNumber(pnlUsd)),
  )
  gauge(
    'perpd_strategy_exposure_usd',
    'Size of a strategy’s parts of positions, USD.',
    ['strategy'],
    (self) => set(self, ({ heldUsd }) => asNumber(heldUsd)),
  )
  counter(
    'perpd_strategy_trades_total',
    'Reductions of a strategy’s parts, by any source.',
    ['strategy'],
    (self) => count(self, ({ trades }) => trades),
  )
  counter(
    'perpd_strategy_wins_total',
    'Reductions of a strategy’s parts with a profit after all costs.',
    ['strategy'],
    (self) => count(self, ({ wins }) => wins),
  )
  gauge(
    'perpd_strategy_win_ratio',
    'Wins by trades of a strategy so far, 0 to 1; absent before its first trade.',
    ['strategy'],
    (self) => {
      self.reset()
      for (const { strategy, trades, wins } of status()?.books ?? []) {
        if (trades > 0) self.set({ strategy }, wins / trades)
      }
    },
  )
}

/** Creates the series of open cases: discrepancies, contradictions, orders to unwind. */
export function openCaseSeries(maker: SeriesMaker, status: ScrapedStatus): void {
  const figure = figures(maker, status)
  figure('perpd_discrepancies_open', 'Open discrepancies.', ({ discrepancies }) => discrepancies.length)
  figure(
    'perpd_contradictions_open',
    'Rows of hosts that contradict the pinned facts of a market or a token.',
    ({ contradictions }) => contradictions.length,
  )
  figure(
    'perpd_unwinds_open',
    'Orders that perpd will cancel or close if they land.',
    ({ unwinds }) => unwinds.length,
  )
  maker.gauge(
    'perpd_incidents_open',
    'Open incidents, by kind: troubles of which people are notified and that last until their end.',
    ['kind'],
    (self) => {
      self.reset()
      const { incidents } = status() ?? {}
      if (incidents === undefined) return
      for (const kind of incidentKinds)
        self.set({ kind }, incidents.filter((each) => each.kind === kind).length)
    },
  )
  maker.gauge('perpd_tasks_running', 'Tasks that run, by kind.', ['kind'], (self) => {
    self.reset()
    for (const [kind, running] of Object.entries(status()?.tasksRunning ?? {})) self.set({ kind }, running)
  })
}

/** Creates the series of a journal in a database, absent where a file keeps it; `account` names its rows. */
export function journalSeries(
  { gauge }: SeriesMaker,
  account: string,
  server: () => AwaitedServer | undefined,
): void {
  const figure = (name: string, help: string, of: (current: AwaitedServer) => number | undefined) =>
    gauge(name, help, ['account'], (self) => {
      self.reset()
      const current = server()
      const value = current === undefined ? undefined : of(current)
      if (value !== undefined) self.set({ account }, value)
    })
  figure(
    'perpd_journal_held',
    '1 while this perpd has the right to write the journal in a database, 0 while it waits for it. Absent: a file keeps the journal.',
    ({ isHeld }) => (isHeld ? 1 : 0),
  )
  figure(
    'perpd_journal_epoch',
    'Epoch of the journal in a database: it grows with every takeover and start. Absent while it is not known.',
    ({ epoch }) => epoch,
  )
  figure(
    'perpd_journal_standbys',
    "Standbys that follow the journal's server, as the perpd that writes it sees them.",
    ({ replication }) => replication?.standbys,
  )
  figure(
    'perpd_journal_synchronous',
    "1 while each commit waits for a standby of the journal's server, 0 while none does.",
    ({ replication }) => (replication === undefined ? undefined : replication.isSynchronous ? 1 : 0),
  )
  figure(
    'perpd_journal_standby_lag_bytes',
    "Log of the journal's server that its nearest standby has not flushed, bytes; absent without a standby, or where the user lacks pg_monitor.",
    ({ replication }) => replication?.lagBytes,
  )
}

/** Positions without stop-losses for all of them, for how much, and for how long. */
export function stopSeries(maker: SeriesMaker, status: ScrapedStatus): void {
  const figure = figures(maker, status)
  figure(
    'perpd_positions_without_stop',
    'Unprotected positions: resting stop-losses that fire before the liquidation leave more than 2 % or a dollar open. Absent before the first reading of the orders.',
    ({ withoutStop }) => withoutStop?.length,
  )
  figure(
    'perpd_positions_without_stop_usd',
    'Total size that no stop-loss would close, USD; 0 when every position is covered.',
    ({ withoutStop }) =>
      withoutStop === undefined
        ? undefined
        : asNumber(withoutStop.reduce((sum, { uncoveredUsd }) => sum + uncoveredUsd, 0n)),
  )
  figure(
    'perpd_positions_without_stop_seconds',
    'Longest time that a position has been unprotected, seconds since its opening fill or the end of its last stop, across restarts; 0 when every position is covered.',
    ({ withoutStop, nowMs }) => {
      if (withoutStop === undefined || nowMs === undefined) return undefined
      return Math.max(0, ...withoutStop.map(({ sinceMs }) => nowMs - sinceMs)) / 1_000
    },
  )
}

/** A figure of the status; absent while there is none, because 0 would be a figure too. */
function figures({ gauge }: SeriesMaker, status: ScrapedStatus) {
  return (name: string, help: string, of: (current: MonitoredStatus) => number | undefined): Gauge<string> =>
    gauge(name, help, [], (self) => {
      const current = status()
      const value = current === undefined ? undefined : of(current)
      self.remove()
      if (value !== undefined) self.set(value)
    })
}
