/** The series that are states and ages: read from the engine's status at the scrape, so that none is older than it. */
import type { Counter, Gauge } from 'prom-client'
import type { Label } from '../domain/order/intent.ts'
import type { Feed } from '../domain/venueEvent.ts'
import type { StrategyBooks } from '../domain/views/bookView.ts'
import type { MonitoredStatus } from './monitoredStatus.ts'
import { asNumber, type SeriesMaker } from './seriesMaker.ts'

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
    'Age of the oldest order that was signed and whose fate is not proven, seconds; 0 when there is none.',
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
    'Age of the newest reading of each feed, seconds. What only strategies read grows old between their turns and while none is asked.',
    ({ feedAgesMs }) => feedAgesMs,
  )
  ofFeeds(
    'perpd_data_overdue_seconds',
    'For how many seconds the newest reading of a feed has been older than increases may stand on: than `risk.maxDataAgeMs` or its own limit, and than two readings where it is read more seldom; 0 while it is not, absent while nobody reads it.',
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
    'Age of the figure in `perpd_equity_usd`, seconds: it is of lists that belong together, and stands while they settle after a fill.',
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
  const whose = "`unattributed`: nobody's of ours; `other`: strategies that do not run."
  gauge(
    'perpd_strategy_pnl_usd',
    `What a strategy realized so far after all costs, by its books, USD. ${whose}`,
    ['strategy'],
    (self) => set(self, ({ pnlUsd }) => asNumber(pnlUsd)),
  )
  gauge(
    'perpd_strategy_exposure_usd',
    'Size of the parts of positions that are a strategy’s, USD.',
    ['strategy'],
    (self) => set(self, ({ heldUsd }) => asNumber(heldUsd)),
  )
  counter(
    'perpd_strategy_trades_total',
    'Reductions of a strategy’s parts, whoever made them.',
    ['strategy'],
    (self) => count(self, ({ trades }) => trades),
  )
  counter(
    'perpd_strategy_wins_total',
    'Reductions of a strategy’s parts that brought more than all their costs.',
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
  figure(
    'perpd_discrepancies_open',
    'Open discrepancies that nobody settled yet.',
    ({ discrepancies }) => discrepancies.length,
  )
  figure(
    'perpd_contradictions_open',
    'Rows of hosts that contradict what a market or a token is.',
    ({ contradictions }) => contradictions.length,
  )
  figure(
    'perpd_unwinds_open',
    'Orders to unwind: cancelled or closed if they land.',
    ({ unwinds }) => unwinds.length,
  )
  maker.gauge('perpd_tasks_running', 'Tasks that run, by kind.', ['kind'], (self) => {
    self.reset()
    for (const [kind, running] of Object.entries(status()?.tasksRunning ?? {})) self.set({ kind }, running)
  })
}

/** Positions without stop-losses for all of them, for how much, and for how long. */
export function stopSeries(maker: SeriesMaker, status: ScrapedStatus): void {
  const figure = figures(maker, status)
  figure(
    'perpd_positions_without_stop',
    'Positions of which the stop-losses that rest at the venue and would fire before the liquidation would not close all, but for 2 % or a dollar; absent before the first look at the orders.',
    ({ withoutStop }) => withoutStop?.length,
  )
  figure(
    'perpd_positions_without_stop_usd',
    'What no stop-loss would close of positions that lack stop-losses for all of them, USD, together; 0 when each is covered.',
    ({ withoutStop }) =>
      withoutStop === undefined
        ? undefined
        : asNumber(withoutStop.reduce((sum, { uncoveredUsd }) => sum + uncoveredUsd, 0n)),
  )
  figure(
    'perpd_positions_without_stop_seconds',
    'For how long the position that has lacked stop-losses for all of it the longest has done so, in seconds since the fill that opened it or the end of its last stop, over restarts too; 0 when each position is covered.',
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
