/**
 * Routes of the control port. Closed by default: a token identifies the sender, showing the account requires the role `read`, and any change requires
 * the role `operate`. Pages of other origins and foreign host names get nothing at all.
 */
import type { Hono } from 'hono'
import { defined } from '../base/defined.ts'
import { strategyBooks } from '../books/bookView.ts'
import { type OrderRow, orderRow, orderStory, type Plain, toPlain } from '../domain/summaries/orderView.ts'
import type { ExplainedOrder } from '../monitor/explain/explainParts.ts'
import type { Verdict } from '../monitor/health.ts'
import { type SilentHost, silentHosts } from '../monitor/hostFigures.ts'
import type { Incident } from '../monitor/incidents/incidents.ts'
import type { Metrics } from '../monitor/metrics/metrics.ts'
import type { MonitoredStatus } from '../monitor/monitoredStatus.ts'
import type { EngineApi, EngineStatus } from '../operator/port/engineStatus.ts'
import { hexKey } from '../protocol/address.ts'
import { commandRoutes } from './commandRoutes.ts'
import type { RunDesk } from './console/runDesk.ts'
import type { StartReport } from './console/startReport.ts'
import type { ConsoleSources, EquityStore, WebConsole } from './console/webConsole.ts'
import { json, type Recent, readRoutes } from './controlReads.ts'
import type { Proven, ServerRules } from './guard/requestGuard.ts'
import { guardedApp } from './guardedApp.ts'
import { type ResultSource, resultRoutes } from './resultRoutes.ts'
import { type SignalSettings, signalPath, signalRoutes } from './signalRoutes.ts'

/** The body of `/api/status`. */
export type StatusBody = Plain<
  Omit<EngineStatus, 'openIntents'> & {
    readonly openIntents: readonly OrderRow[]
    /** Hosts and endpoints that did not answer when they were asked last; a daemon of before does not say. */
    readonly silentHosts?: readonly SilentHost[]
    /** Open incidents, oldest first. */
    readonly incidents: readonly Incident[]
  }
>

/** Sources of the routes of one account. */
export interface AccountContext {
  readonly engine: EngineApi
  readonly metrics: { render(status?: MonitoredStatus): Promise<string>; readonly contentType: string }
  readonly health: {
    live(status: MonitoredStatus | undefined): Verdict
    ready(status: MonitoredStatus | undefined): Verdict
  }
  /** Recent log lines and decisions. */
  readonly recent: Recent
  /** Closed trades and PnL by the journal. */
  readonly results: ResultSource
  /** Reports what a start would take now. */
  readonly nextStart: () => StartReport
  /** The story of an order in words, as `perpd explain` tells it; absent: the records alone are told. */
  readonly explain?: (intentId: string) => Promise<ExplainedOrder | undefined>
  /** Settings of the intake of outside signals; absent: none are accepted. */
  readonly signals?: SignalSettings
  /** Keeps the console's curve of the equity over restarts; absent: it begins with each run. */
  readonly equityStore?: EquityStore
}

/** Parts that the routes of a process with one account use. */
export interface ControlContext extends ServerRules, AccountContext {
  /** The console; absent: no browser gets anything. */
  readonly console?: WebConsole
  /** Makes backtests for the console; absent: it has none. */
  readonly runDesk?: RunDesk
}

const DEFAULT_LIMIT = 100
const MOST_ROWS = 10_000

/** The routes of a process with one account, as a handler `Request -> Response`. */
export function controlRoutes(context: ControlContext): Hono<Proven> {
  const { console, health, metrics, runDesk, engine } = context
  const app = guardedApp(context, console?.door, (path) =>
    path === signalPath ? context.signals : undefined,
  )
  accountRoutes(app, context, context)
  if (console !== undefined) {
    const fileOf = (strategy: string, account: string | undefined) =>
      account === undefined ? engine.fileOf(strategy) : undefined
    console.mountPages(app, runDesk === undefined ? undefined : { desk: runDesk, fileOf })
    console.mountAccount(app, consoleSources(context))
  }
  app.get('/metrics', async (c) =>
    c.body(await metrics.render(monitored(context)), 200, { 'Content-Type': metrics.contentType }),
  )
  app.get('/livez', (c) => answer(c, health.live(engine.status())))
  app.get('/healthz', (c) => answer(c, health.live(engine.status())))
  app.get('/readyz', (c) => answer(c, health.ready(withIncidents(context))))
  app.get('/api/accounts', () => json([]))
  return app
}

/** Adds the routes of one account: its commands, its signals, and what is read of it. */
export function accountRoutes(app: Hono<Proven>, context: AccountContext, rules: ServerRules): void {
  const { engine, signals } = context
  commandRoutes(app, engine)
  if (signals !== undefined) signalRoutes(app, engine, signals, rules)
  app.get('/api/status', () => json(statusBody(context)))
  readRoutes(app, context)
  resultRoutes(app, context.results)
  app.get('/api/orders', async (c) => {
    const limit = c.req.query('limit') ?? String(DEFAULT_LIMIT)
    if (!/^[1-9]\d{0,8}$/.test(limit)) {
      return c.json(
        { error: 'BAD_LIMIT', message: `limit is ${limit}; expected a whole number from 1.` },
        400,
      )
    }
    const strategy = c.req.query('strategy')
    const rows = await context.engine.intents({
      openOnly: c.req.query('open') === 'true',
      limit: Math.min(Number(limit), MOST_ROWS),
      ...defined({ strategy }),
    })
    return json(rows.map(orderRow))
  })
  app.get('/api/orders/:intentId', async (c) => {
    const intentId = c.req.param('intentId')
    const story = await context.engine.story(intentId)
    if (story === undefined) {
      return c.json({ error: 'NOT_FOUND', message: `There is no order ${intentId}.` }, 404)
    }
    const explained = await context.explain?.(intentId)
    return json({
      ...orderStory(story.intent, story.records),
      ...defined({ explained }),
    })
  })
}

/** The engine, and what is kept in memory besides. */
interface Served {
  readonly engine: EngineApi
  readonly recent: Recent
}

/** The status as it is told to whoever asks. */
function statusBody({ engine, recent }: Served): StatusBody {
  const status = engine.status()
  return toPlain({
    ...status,
    symbols: symbolsOf(status),
    openIntents: status.openIntents.map(orderRow),
    silentHosts: silentHosts(recent.hosts.all()),
    incidents: recent.incidents.open(),
  })
}

/** Interval after which the status is sent again although only time has passed, ms. */
const AGES_MS = 10_000

/** Interval after which orders and tasks are read again although the journal has not grown, ms: no record holds the venue's view of them. */
const REREAD_MS = 5_000

/** Returns the sources of the console's stream: the bodies of three routes, the log, and the account's equity. */
export function consoleSources({ engine, recent, equityStore }: AccountContext): ConsoleSources {
  const text = (value: unknown): string => JSON.stringify(toPlain(value))
  const reading = (read: () => Promise<unknown>) => {
    let known: { readonly turn: string; readonly body: string } | undefined
    return async () => {
      const { journal, nowMs } = engine.status()
      const turn = `${journal.records} ${Math.floor(nowMs / REREAD_MS)}`
      if (known?.turn !== turn) known = { turn, body: text(await read()) }
      return { text: known.body, key: known.body }
    }
  }
  return {
    log: recent.log,
    ...defined({ equityStore }),
    equity() {
      const { equity } = engine.status()
      return equity?.equityAtMs === undefined
        ? undefined
        : { atMs: equity.equityAtMs, equityUsd: equity.equityUsd }
    },
    read: {
      status() {
        const { nowMs, watchedAgoMs, feedAgesMs, feedsOverdueMs, oldestUnresolvedSeconds, ...same } =
          statusBody({ engine, recent })
        const body = { ...same, nowMs, watchedAgoMs, feedAgesMs, feedsOverdueMs, oldestUnresolvedSeconds }
        const key = text({ ...same, turn: Math.floor(nowMs / AGES_MS) })
        return Promise.resolve({ text: text(body), key })
      },
      orders: reading(async () => (await engine.intents({ limit: DEFAULT_LIMIT })).map(orderRow)),
      tasks: reading(() => engine.tasks()),
    },
  }
}

/** Returns the inputs of the metrics, including the books and the incidents. */
export function monitored({ engine, recent }: AccountContext): Parameters<Metrics['render']>[0] {
  const status = withIncidents({ engine, recent })
  return { ...status, books: strategyBooks(engine.books(), status.strategies) }
}

/** Returns the status with the open incidents, by which readiness is judged too. */
export function withIncidents({ engine, recent: { incidents } }: Served) {
  return { ...engine.status(), incidents: incidents.open(), blocking: incidents.blocking() }
}

/** Symbols of the markets that the status speaks of; a venue lists far more. */
function symbolsOf({ positions, symbols }: EngineStatus): Readonly<Record<string, string>> {
  const held = new Set(positions.map(({ marketToken }) => hexKey(marketToken)))
  return Object.fromEntries(Object.entries(symbols).filter(([marketToken]) => held.has(marketToken)))
}

/** Answers a probe by a verdict. */
export function answer(
  c: { json: (value: unknown, status: 200 | 503) => Response },
  verdict: Verdict,
): Response {
  return c.json(verdict, verdict.ok ? 200 : 503)
}
