/**
 * Routes of a process with several accounts: each account has the routes of a process with one, below `/accounts/NAME`; probes, metrics and the console's
 * pages are the process's. A path of an account without its name is refused with the names.
 */
import { Hono } from 'hono'
import { visible } from '../base/shownText.ts'
import type { Verdict } from '../monitor/health.ts'
import { type AccountSeries, withAccountLabels } from '../monitor/metrics/accountLabels.ts'
import type { RunDesk } from './console/runDesk.ts'
import type { WebConsole } from './console/webConsole.ts'
import { json } from './controlReads.ts'
import { type AccountRow, accountPath } from './guard/accountRefusals.ts'
import { no, type Proven, type ServerRules } from './guard/requestGuard.ts'
import { guardedApp } from './guardedApp.ts'
import {
  type AccountContext,
  accountRoutes,
  answer,
  type ControlContext,
  consoleSources,
  monitored,
  withIncidents,
} from './routes.ts'
import { signalPath } from './signalRoutes.ts'

/** One of several accounts. */
export interface DeskAccount {
  readonly name: string
  /** Parts that its routes answer from; absent: a fault kept it from opening. */
  readonly served?: AccountContext
  /** Reason why its trader does not run; undefined: it runs. */
  readonly fault: () => string | undefined
}

/** Parts that the routes of a process with several accounts use. */
export interface DeskContext extends ServerRules {
  /** The accounts in their order; at least one. */
  readonly accounts: readonly DeskAccount[]
  /** The process's own series. */
  readonly metrics: Omit<ControlContext['metrics'], 'render'> & { render(): Promise<string> }
  /** The console; absent: no browser gets anything. */
  readonly console?: WebConsole
  /** Makes backtests for the console; absent: it has none. */
  readonly runDesk?: RunDesk
}

/** The routes as a handler `Request -> Response`. */
export function deskRoutes(context: DeskContext): Hono<Proven> {
  const { accounts, console, runDesk } = context
  const signals = new Map(
    accounts.map(({ name, served }) => [`${accountPath(name)}${signalPath}`, served?.signals]),
  )
  const app = guardedApp(context, console?.door, (path) => signals.get(path))
  const names = accounts.map(({ name }) => name)
  const fileOf = (strategy: string) =>
    accounts.map(({ served }) => served?.engine.fileOf(strategy)).find((file) => file !== undefined)
  console?.mountPages(app, runDesk === undefined ? undefined : { desk: runDesk, fileOf })
  for (const { name, served, fault } of accounts) {
    const own = new Hono<Proven>()
    if (served !== undefined) {
      accountRoutes(own, served, context)
      console?.mountAccount(own, consoleSources(served))
    }
    app.route(accountPath(name), own)
    // After its own routes: those of an account that did not open have this answer alone.
    if (served === undefined)
      app.all(`${accountPath(name)}/*`, (c) =>
        no(c, 503, 'ACCOUNT_FAILED', `The account ${name} does not run: ${fault() ?? 'it did not start'}`),
      )
  }
  probeRoutes(app, context)
  app.get('/api/accounts', () => json(accounts.map(rowOf)))
  app.all('/accounts/:name/*', (c) =>
    names.includes(c.req.param('name'))
      ? c.notFound()
      : no(
          c,
          404,
          'ACCOUNT_UNKNOWN',
          `There is no account ${visible(c.req.param('name'))}; there are ${names.join(', ')}.`,
        ),
  )
  app.all('/api/*', (c) =>
    no(
      c,
      409,
      'ACCOUNT_REQUIRED',
      `This perpd has several accounts: ${names.join(', ')}. Name one: --account ${names[0]}, or ${accountPath(names[0] ?? '')}${c.req.path}.`,
      { accounts: names },
    ),
  )
  return app
}

function rowOf({ name, fault }: DeskAccount): AccountRow {
  const reason = fault()
  return { name, isRunning: reason === undefined, ...(reason !== undefined && { fault: reason }) }
}

/** Adds the probes and the metrics of the process: it is ready when all accounts are, and alive while each one that runs is. */
function probeRoutes(app: Hono<Proven>, { accounts, metrics }: DeskContext): void {
  app.get('/metrics', async (c) => {
    const series = accounts.map(
      async ({ name, served }): Promise<AccountSeries> => ({
        name,
        text: served === undefined ? '' : await served.metrics.render(monitored(served)),
      }),
    )
    const text = withAccountLabels(await metrics.render(), await Promise.all(series))
    return c.body(text, 200, { 'Content-Type': metrics.contentType })
  })
  for (const path of ['/livez', '/healthz']) app.get(path, (c) => answer(c, liveVerdict(accounts)))
  app.get('/readyz', (c) =>
    answer(
      c,
      verdictOfAll(accounts, ({ fault, served }) => {
        const reason = fault()
        if (reason !== undefined || served === undefined) return notRunning(reason)
        return served.health.ready(withIncidents(served))
      }),
    ),
  )
}

/** Judges whether the process does its work: an account that a fault stopped does none, and a restart would stop the others too. */
function liveVerdict(accounts: readonly DeskAccount[]): Verdict {
  return verdictOfAll(
    accounts.filter(({ fault, served }) => served !== undefined && fault() === undefined),
    ({ served }) => (served === undefined ? notRunning() : served.health.live(served.engine.status())),
  )
}

function notRunning(reason = 'it did not start'): Verdict {
  return { ok: false, reasons: [reason] }
}

/** One verdict of all, its reasons with the accounts' names. */
function verdictOfAll(
  accounts: readonly DeskAccount[],
  verdictOf: (account: DeskAccount) => Verdict,
): Verdict {
  const all = accounts.map((account) => ({ name: account.name, ...verdictOf(account) }))
  const incidents = [...new Set(all.flatMap((each) => each.incidents ?? []))]
  return {
    ok: all.every(({ ok }) => ok),
    reasons: all.flatMap(({ name, reasons }) => reasons.map((reason) => `${name}: ${reason}`)),
    ...(incidents.length > 0 && { incidents }),
  }
}
