import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { bookRows, strategyBooks } from '../../src/books/bookView.ts'
import { noFigures } from '../../src/books/figures.ts'
import { noPart, UNATTRIBUTED } from '../../src/books/sideParts.ts'
import type { Event } from '../../src/domain/event.ts'
import type { IntentState } from '../../src/domain/order/intent.ts'
import { createHealth } from '../../src/monitor/health.ts'
import { createMetrics } from '../../src/monitor/metrics/metrics.ts'
import type { MonitoredStatus } from '../../src/monitor/monitoredStatus.ts'
import { usd } from '../../src/protocol/units.ts'
import { ethMarket } from '../support/intents.ts'
import { machineProgram } from '../support/machineProgram.ts'
import { conventionBreaches } from './conventions.ts'
import { everyEvent, executedState, host, intent } from './events.ts'

const running: MonitoredStatus = {
  state: 'running',
  notReady: [],
  tradingState: 'active',
  halts: [],
  strategies: [{ name: 'eth-trend', cadenceMs: 5_000 }],
  openIntents: [{ label: 'pending' }, { label: 'unknown' }, { label: 'unknown' }],
  oldestUnresolvedSeconds: 12.5,
  exposureUsd: usd('500.25'),
  discrepancies: [],
  contradictions: [],
  unwinds: [],
  tasksRunning: {
    kill: 0,
    unwind: 1,
    'wind-down': 0,
    twap: 2,
    accumulate: 0,
    ladder: 0,
    chase: 0,
    bracket: 0,
    rebalance: 0,
  },
  feedAgesMs: { tickers: 1_500, oracle: 250 },
  feedsOverdueMs: { tickers: 500, positions: 0 },
}

async function render(status: MonitoredStatus | undefined, events: readonly Event[] = []) {
  const metrics = createMetrics({
    version: '1.2.3',
    profile: 'paper',
    chain: 'arbitrum',
  })
  for (const event of events) metrics.listen(event)
  const text = await metrics.render(status)
  const lines = text.split('\n')
  return { text, metrics, ours: lines.filter((line) => /^perpd_(?!process|nodejs)/.test(line)) }
}

test('states and ages are those of the moment of the scrape', async () => {
  const { ours } = await render(running)
  expect(ours.filter((line) => !line.includes('_bucket'))).toEqual(
    expect.arrayContaining([
      `perpd_build_info{version="1.2.3",node="${process.versions.node}",profile="paper",chain="arbitrum"} 1`,
      'perpd_orders{state="pending"} 1',
      'perpd_orders{state="unknown"} 2',
      'perpd_orders{state="planned"} 0',
      'perpd_orders_total{outcome="executed"} 0',
      'perpd_order_oldest_unresolved_seconds 12.5',
      'perpd_data_age_seconds{feed="tickers"} 1.5',
      'perpd_data_age_seconds{feed="oracle"} 0.25',
      'perpd_data_overdue_seconds{feed="tickers"} 0.5',
      'perpd_data_overdue_seconds{feed="positions"} 0',
      'perpd_exposure_usd 500.25',
      'perpd_trading_state{state="active"} 1',
      'perpd_trading_state{state="halted"} 0',
      'perpd_ready 1',
    ]),
  )
})

test('equity and its peak are two series, and what has no value yet is absent instead of 0', async () => {
  const equity = { equityUsd: usd(900), peakUsd: usd(1_000) }
  expect((await render({ ...running, equity })).ours).toEqual(
    expect.arrayContaining(['perpd_equity_usd 900', 'perpd_equity_peak_usd 1000']),
  )
  const absent = (lines: readonly string[], ...names: string[]) =>
    expect(lines.filter((line) => names.some((name) => line.startsWith(name)))).toEqual([])
  absent((await render(running)).ours, 'perpd_equity')
  const early = (await render(undefined)).ours
  absent(
    early,
    'perpd_equity',
    'perpd_exposure',
    'perpd_trading_state',
    'perpd_orders{',
    'perpd_discrepancies_open',
  )
  absent(
    early,
    'perpd_order_oldest',
    'perpd_subaccount_expiry',
    'perpd_chain_skew',
    'perpd_evidence_endpoints',
  )
})

test("the age of a chain's block grows until the scrape", async () => {
  let nowMs = 1_000
  const metrics = createMetrics({
    version: '1',
    profile: 'paper',
    chain: 'arbitrum',
    now: () => nowMs,
  })
  metrics.listen({
    type: 'chain.read',
    endpoint: 'one.example',
    outcome: 'ok',
    durationMs: 1,
    latestAgeSeconds: 2,
  })
  nowMs += 30_000
  expect(await metrics.render(running)).toContain('perpd_chain_block_age_seconds{endpoint="one.example"} 32')
})

test('each fill counts once, by market and strategy: one that hosts show by its end, others by their own event', async () => {
  const child = { index: 0, orderKey: `0x${'0c'.repeat(32)}`, phase: 'EXECUTED', role: 'main' } as const
  const leg = { ...child, isProvisional: true }
  const { intent } = executedState
  const of = (children: readonly object[]) =>
    ({ ...executedState, attempts: [{ ...executedState.attempts[0], children }] }) as unknown as IntentState
  const moved = { type: 'order.moved', from: 'pending', to: 'executed', reason: 'so', intent } as const
  const filled = { type: 'order.filled', intent, leg } as const
  const { ours } = await render(running, [
    { ...moved, state: of([child]) },
    { ...filled, isTakenBack: false },
    { ...filled, isTakenBack: true },
    // Its fills were told one by one.
    { ...moved, state: of([child, { ...child, index: 1 }]) },
    { ...moved, intent: { ...intent, kind: 'cancel' }, state: of([child]) },
  ])
  const { strategy, terms } = intent
  expect(ours.filter((line) => line.startsWith('perpd_fills_total{'))).toEqual([
    `perpd_fills_total{market="${terms.symbol}",strategy="${strategy}"} 2`,
  ])
})

test('events count', async () => {
  const { ours } = await render(running, everyEvent)
  expect(ours).toEqual(
    expect.arrayContaining([
      'perpd_orders_total{outcome="executed"} 1',
      'perpd_decisions_total{strategy="eth-trend",result="admitted"} 1',
      'perpd_decisions_total{strategy="eth-trend",result="denied"} 1',
      'perpd_decisions_total{strategy="guard",result="denied"} 0',
      'perpd_denials_total{code="EXCEEDS_AVAILABLE_LIQUIDITY"} 1',
      'perpd_http_attempts_total{route="/markets/tickers",host="arbitrum.gmxapi.io/v1",outcome="not-now"} 1',
      'perpd_http_attempt_duration_seconds_count{host="arbitrum.gmxapi.io/v1"} 1',
      'perpd_payload_mismatches_total 1',
      'perpd_account_transfers_total{direction="in"} 1',
      'perpd_account_transfers_total{direction="out"} 1',
      'perpd_account_transferred_usd_total{direction="in"} 250.5',
      'perpd_validation_warnings_total{code="HIGH_PRICE_IMPACT",action="sign"} 1',
      'perpd_capacity_headroom_usd{market="ETH/USD [WETH-USDC]",direction="long"} 1234567',
      'perpd_order_step_duration_seconds_count{step="submit"} 1',
      'perpd_order_step_duration_seconds_sum{step="submit"} 0.012',
      'perpd_loop_duration_seconds_count{strategy="eth-trend"} 1',
      'perpd_journal_commit_duration_seconds_count 1',
      'perpd_ticks_total{strategy="eth-trend",result="failed"} 1',
    ]),
  )
})

test('no series carries an id of an order, and codes of a server cannot grow the labels', async () => {
  const warned = Array.from(
    { length: 500 },
    (_, n): Event => ({
      type: 'order.warned',
      intent,
      host,
      requestId: 'r',
      warnings: [{ code: `CODE_${n}`, message: '', action: 'drop' }],
      action: 'drop',
    }),
  )
  const { text, ours } = await render(running, [...everyEvent, ...warned])
  expect(text).not.toContain(intent.intentId)
  const codes = ours.filter((line) => line.startsWith('perpd_validation_warnings_total'))
  expect(codes).toHaveLength(51)
  expect(codes).toContain('perpd_validation_warnings_total{code="other",action="drop"} 451')
})

test('tasks that run are counted by kind, and positions without a stop with the time that the engine says, at the first scrape too', async () => {
  const metrics = createMetrics({ version: '1', profile: 'paper', chain: 'arbitrum' })
  const side = {
    ...{ marketToken: ethMarket, direction: 'long' as const, collateralToken: ethMarket },
    uncoveredUsd: usd(400),
  }
  const other = { ...side, direction: 'short' as const }
  const shown = async (withoutStop?: MonitoredStatus['withoutStop']) =>
    (await metrics.render({ ...running, nowMs: 1_020_000, ...(withoutStop && { withoutStop }) }))
      .split('\n')
      .filter((line) => /^perpd_positions_without|^perpd_tasks_running\{kind="(unwind|twap)/.test(line))
  const tasks = ['perpd_tasks_running{kind="unwind"} 1', 'perpd_tasks_running{kind="twap"} 2']
  const stops = (count: number, seconds: number, uncovered = count * 400) => [
    `perpd_positions_without_stop ${count}`,
    `perpd_positions_without_stop_usd ${uncovered}`,
    `perpd_positions_without_stop_seconds ${seconds}`,
    ...tasks,
  ]
  expect(await shown()).toEqual(tasks)
  expect(await shown([])).toEqual(stops(0, 0))
  expect(await shown([{ ...side, sinceMs: 0 }])).toEqual(stops(1, 1_020))
  const both = [
    { ...side, sinceMs: 1_000_000 },
    { ...other, sinceMs: 990_000 },
  ]
  expect(await shown(both)).toEqual(stops(2, 30))
  // A clock that was set back is no time below nothing.
  expect(await shown([{ ...side, sinceMs: 1_030_000 }])).toEqual(stops(1, 0))
})

test('series follow the conventions: help that says the unit, units in names, counters with _total, buckets that grow, no label of a thing without end', async () => {
  const { metrics, text } = await render({ ...running, withoutStop: [] }, everyEvent)
  expect(conventionBreaches(text)).toEqual([])
  // The daemon prints each of its own, so that none escapes the rules above.
  const typed = [...text.matchAll(/^# TYPE (perpd_\S+) (\S+)$/gm)].map(([, name, type]) => [name, type])
  expect(typed.sort()).toEqual(
    metrics
      .describe()
      .map(({ name, type }) => [name, type])
      .sort(),
  )
  for (const { type, name } of metrics.describe()) {
    if (type === 'histogram') expect(name).toMatch(/_duration_seconds$/)
  }
  // Whoever waits for its journal is not ready by design: no alert on the series may hear of it.
  expect((await render(undefined)).text).not.toMatch(/^perpd_ready/m)
  for (const name of [
    'process_cpu_seconds_total',
    'process_resident_memory_bytes',
    'process_start_time_seconds',
    'process_open_fds',
    'nodejs_heap_size_used_bytes',
    'nodejs_eventloop_lag_seconds',
    'nodejs_eventloop_lag_p99_seconds',
  ])
    expect(text).toMatch(new RegExp(`^${name} `, 'm'))
})

test('before the engine is built the daemon is alive and not ready', () => {
  const health = createHealth(() => 0)
  expect(health.live(undefined)).toEqual({ ok: true, reasons: [] })
  expect(health.ready(undefined)).toEqual({ ok: false, reasons: ['starting'] })
})

test('readiness says what it waits for', () => {
  const status = {
    ...running,
    state: 'recovering' as const,
    notReady: ['2 orders are unresolved', 'recovering'],
  }
  const health = createHealth(() => 0)
  expect(health.live(status).ok).toBe(true)
  expect(health.ready(status)).toEqual({ ok: false, reasons: ['recovering', '2 orders are unresolved'] })
})

test('readiness names the kinds of open incidents, each once and no text of them, and is judged by those that stop new orders', async () => {
  const incidents = [{ kind: 'hosts-down' }, { kind: 'order-untidy' }, { kind: 'order-untidy' }]
  const health = createHealth(() => 0)
  expect(health.ready({ ...running, incidents })).toEqual({
    ...{ ok: true, reasons: [] },
    incidents: ['hosts-down', 'order-untidy'],
  })
  expect(health.ready({ ...running, incidents: [] })).toEqual({ ok: true, reasons: [] })
  const blocking = ['trading-state', 'trading-state']
  expect(health.ready({ ...running, incidents, blocking })).toMatchObject({
    ...{ ok: false, reasons: [expect.stringContaining('trading-state')] },
  })
  // Where the status gives a reason, it alone is said.
  expect(health.ready({ ...running, notReady: ['why'], blocking }).reasons).toEqual(['why'])
  const { ours } = await render({ ...running, incidents })
  expect(ours).toEqual(
    expect.arrayContaining([
      ...['perpd_incidents_open{kind="hosts-down"} 1', 'perpd_incidents_open{kind="order-untidy"} 2'],
      'perpd_incidents_open{kind="claim"} 0',
    ]),
  )
})

test('what holds all of trading back makes the daemon unready and shows in the metrics; a hold on one strategy does not', async () => {
  const hold = {
    cause: 'drawdown',
    state: 'reducing',
    reason: 'it fell',
    by: 'perpd',
    sinceMs: 1,
    releasedBy: 'operator',
  } as const
  const own = { ...hold, scope: 'strategy:eth-trend', cause: 'rejects' } as const
  const equity = { equityUsd: usd(900), peakUsd: usd(1_000) }
  const held = {
    ...running,
    tradingState: 'reducing',
    halts: [{ ...hold, scope: 'account' }, own],
    equity,
  } as const
  const health = (status: MonitoredStatus) => createHealth(() => 0).ready(status)
  expect(health(held)).toEqual({
    ok: false,
    reasons: ['trading on the account is reducing by drawdown, perpd: it fell'],
  })
  expect(createHealth(() => 0).live(held).ok).toBe(true)
  expect(health({ ...running, halts: [own] }).ok).toBe(true)
  const { ours } = await render(held)
  expect(ours).toEqual(
    expect.arrayContaining([
      'perpd_ready 0',
      'perpd_trading_state{state="reducing"} 1',
      'perpd_trading_halts{scope="account",cause="drawdown"} 1',
      'perpd_trading_halts{scope="strategy:eth-trend",cause="rejects"} 1',
      'perpd_equity_usd 900',
      'perpd_equity_peak_usd 1000',
    ]),
  )
})

test('a strategy without a turn for ten of its cadences and a minute makes the daemon unhealthy', () => {
  let nowMs = 0
  const health = createHealth(() => nowMs)
  nowMs = 1_000_000
  expect(health.live(running).ok).toBe(true)
  health.listen({ type: 'daemon.ready' })
  nowMs += 60_000
  expect(health.live(running).ok).toBe(true)
  nowMs += 1
  expect(health.live(running)).toEqual({
    ok: false,
    reasons: ['strategy eth-trend has had no turn for 1 min 0 s; its cadence is 5 s'],
  })
  health.listen({ type: 'tick.failed', strategy: 'eth-trend', reason: 'No host answered.', failures: 9 })
  expect(health.live(running).ok).toBe(true)
})

test('an engine that has stopped is not alive', () => {
  expect(createHealth(() => 0).live({ ...running, state: 'stopped' })).toEqual({
    ok: false,
    reasons: ['the engine has stopped'],
  })
})

test('an instance of a long cadence is missed soon after its turn, and a watch that stands still is no life', () => {
  let nowMs = 0
  let status = { ...running, strategies: [{ name: 'daily', cadenceMs: 86_400_000 }] }
  const health = createHealth(() => nowMs)
  health.listen({ type: 'daemon.ready' })
  nowMs = 86_400_000 + 119_000
  expect(health.live(status).ok).toBe(true)
  nowMs += 2_000
  expect(health.live(status).reasons).toEqual([expect.stringContaining('strategy daily has had no turn')])
  status = { ...running, strategies: [], ...{ watchedAgoMs: 121_000 } }
  expect(health.live(status).reasons).toEqual(['the account check has not run for 2 min 1 s'])
})

test('books are series of running strategies and a few more names, however many ever ran', async () => {
  const book = (strategy: string, size: number, wins = 0) => ({
    strategy,
    marketToken: ethMarket,
    direction: 'long' as const,
    collateralToken: ethMarket,
    ...noPart,
    sizeUsd: usd(size),
    figures: { ...noFigures, pricePnlUsd: usd(12), relayFeesUsd: usd(2), trades: 2, wins },
  })
  const old = Array.from({ length: 50 }, (_, n) => book(`old-${n}`, 1))
  const rows = bookRows([book('eth-trend', 500, 1), book(UNATTRIBUTED, 100), ...old], [])
  const books = strategyBooks(rows, running.strategies)
  const { ours } = await render({ ...running, books })
  expect(ours.filter((line) => line.startsWith('perpd_strategy_'))).toEqual([
    'perpd_strategy_pnl_usd{strategy="eth-trend"} 10',
    'perpd_strategy_pnl_usd{strategy="unattributed"} 10',
    'perpd_strategy_pnl_usd{strategy="other"} 500',
    'perpd_strategy_exposure_usd{strategy="eth-trend"} 500',
    'perpd_strategy_exposure_usd{strategy="unattributed"} 100',
    'perpd_strategy_exposure_usd{strategy="other"} 50',
    'perpd_strategy_trades_total{strategy="eth-trend"} 2',
    'perpd_strategy_trades_total{strategy="unattributed"} 2',
    'perpd_strategy_trades_total{strategy="other"} 100',
    'perpd_strategy_wins_total{strategy="eth-trend"} 1',
    'perpd_strategy_wins_total{strategy="unattributed"} 0',
    'perpd_strategy_wins_total{strategy="other"} 0',
    'perpd_strategy_win_ratio{strategy="eth-trend"} 0.5',
    'perpd_strategy_win_ratio{strategy="unattributed"} 0',
    'perpd_strategy_win_ratio{strategy="other"} 0',
  ])
  const untraded = books.map((each) => ({ ...each, trades: 0, wins: 0 }))
  expect((await render({ ...running, books: untraded })).text).not.toContain('perpd_strategy_win_ratio{')
})

test('a series against the conventions is found: each rule by a text that breaks it', () => {
  const breaches = (help: string, name: string, type: string, sample = `${name} 1`) =>
    conventionBreaches(`# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${sample}\n`)
  expect(breaches('Orders.', 'perpd_orders_total', 'counter')).toEqual([])
  expect(breaches('', 'perpd_orders', 'gauge')).toEqual(['perpd_orders has no help'])
  expect(breaches('Orders.', 'perpd_orders_total', 'gauge')).toEqual([
    'perpd_orders_total ends in _total and is a gauge',
  ])
  expect(breaches('Orders.', 'perpd_orders', 'counter')).toEqual(['perpd_orders is a counter without _total'])
  expect(breaches('Age.', 'perpd_age_ms', 'gauge')).toEqual(['perpd_age_ms has not the base unit'])
  expect(breaches('Age.', 'perpd_seconds_age', 'gauge')).toEqual([
    'perpd_seconds_age has its unit not at its end',
  ])
  expect(breaches('Age.', 'perpdAge', 'gauge')).toEqual(['perpdAge is no snake_case'])
  expect(breaches('Orders.', 'perpd_orders', 'gauge', 'perpd_orders{intent_id="1"} 1')).toEqual([
    'perpd_orders has the unbounded label intent_id',
  ])
  expect(breaches('Age.', 'perpd_age_seconds', 'gauge')).toEqual(['perpd_age_seconds does not say its unit'])
  expect(breaches('Age, seconds.', 'perpd_age_seconds', 'gauge')).toEqual([])
  expect(breaches('Sums.', 'perpd_moved_usd_total', 'counter')).toEqual([
    'perpd_moved_usd_total does not say its unit',
  ])
  expect(breaches('Sums, US dollars.', 'perpd_moved_usd_total', 'counter')).toEqual([])
  const buckets = ['0.5', '0.1', '+Inf']
    .map((le) => `perpd_x_duration_seconds_bucket{le="${le}"} 1`)
    .join('\n')
  expect(breaches('Time, seconds.', 'perpd_x_duration_seconds', 'histogram', buckets)).toEqual([
    'perpd_x_duration_seconds has buckets that do not grow to +Inf',
  ])
})

const promtool = machineProgram(['promtool'], 'prometheus')

test.runIf(promtool !== undefined)('promtool finds nothing in what the daemon serves', async () => {
  const { text } = await render({ ...running, withoutStop: [] }, everyEvent)
  const checked = spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' })
  expect([checked.status, checked.stdout, checked.stderr]).toEqual([0, '', ''])
})
