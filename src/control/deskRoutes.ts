/**
 * Routes of a process with several accounts: each account has the routes of a process with one, below `/accounts/NAME`; probes, metrics and the console's
 * pages are the process's. A path of an account without its name is refused with the names.
 */
import { Hono } from 'hono'
import { defined } from '../base/defined.ts'
import { visible } from '../base/shownText.ts'
import type { Verdict } from '../monitor/health.ts'
import { type AccountSeries, withAccountLabels } from '../monitor/metrics/accountLabels.ts'
import type { Metrics } from '../monitor/metrics/metrics.ts'
import type { RunDesk } from './console/runDesk.ts'
import type { WebConsole } from './console/webConsole.ts'
import { json } from './controlReads.ts'
import { type FleetPort, fleetRoutes } from './fleetRoutes.ts'
import { type AccountRow, accountPath } from './guard/accountRefusals.ts'
import { no, type Proven, type ServerRules } from './guard/requestGuard.ts'
import { answerFaults, guardedApp } from './guardedApp.ts'
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
import { type StandbyStatus, serverOf, waits } from './standbyRoutes.ts'

/** Serves an account from now on; the returned function ends that, and resolves when what is kept of it is written. */
export type MountAccount = (served: AccountContext) => () => Promise<void>

/** One of several accounts. */
export interface DeskAccount {
  readonly name: string
  /** Takes the function to call whenever its trader comes. */
  readonly serve: (mount: MountAccount) => void
  /** Reason why a fault keeps it from running; undefined: none does. */
  readonly fault: () => string | undefined
  /** Its wait for a journal that another perpd has, and the series of that; absent, undefined: it does not wait. */
  readonly waiting?: () => { readonly status: StandbyStatus; readonly metrics: Metrics } | undefined
}

/** An account with what it is served from at the moment. */
interface Place extends DeskAccount {
  readonly mounted: () => { readonly served: AccountContext; readonly app: Hono<Proven> } | undefined
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
  /** The fleet that the process is a node of; absent: none. */
  readonly fleet?: FleetPort
}

/** The routes as a handler `Request -> Response`. */
export function deskRoutes(context: DeskContext): Hono<Proven> {
  const { accounts, console, runDesk } = context
  const places = accounts.map((account) => placeOf(account, context))
  const signals = new Map(places.map((place) => [`${accountPath(place.name)}${signalPath}`, place]))
  const app = guardedApp(context, console?.door, (path) => signals.get(path)?.mounted()?.served.signals)
  const names = accounts.map(({ name }) => name)
  const fileOf = (strategy: string, account: string | undefined) =>
    places
      .find(({ name }) => name === account)
      ?.mounted()
      ?.served.engine.fileOf(strategy)
  console?.mountPages(app, runDesk === undefined ? undefined : { desk: runDesk, fileOf })
  for (const { name, mounted, fault, waiting } of places)
    app.all(`${accountPath(name)}/*`, (c) => {
      const { asked, session, role } = c.var
      const proven: Proven['Variables'] = { asked, session, role }
      const own = mounted()
      if (own !== undefined) return own.app.fetch(c.req.raw, { ...(c.env as object), proven })
      const wait = waiting?.()
      if (wait !== undefined) return waits(c, wait.status)
      return no(
        c,
        503,
        'ACCOUNT_FAILED',
        `The account ${name} does not run: ${fault() ?? 'it did not start'}`,
      )
    })
  probeRoutes(app, context, places)
  app.get('/api/accounts', () => json(places.map(rowOf)))
  fleetRoutes(app, context.fleet)
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

/** Gives an account its place: it is served from the time on at which it says so. */
function placeOf(account: DeskAccount, context: DeskContext): Place {
  let mounted: ReturnType<Place['mounted']>
  account.serve((served) => {
    const app = new Hono<Proven>().basePath(accountPath(account.name))
    answerFaults(app)
    // The guard of all has proven who asks.
    app.use(async (c, next) => {
      const { proven } = c.env as { readonly proven: Proven['Variables'] }
      c.set('asked', proven.asked)
      c.set('session', proven.session)
      c.set('role', proven.role)
      await next()
    })
    accountRoutes(app, served, context)
    const close = context.console?.mountAccount(app, consoleSources(served))
    const own = { served, app }
    mounted = own
    return async () => {
      if (mounted === own) mounted = undefined
      await close?.()
    }
  })
  return { ...account, mounted: () => mounted }
}

function rowOf({ name, fault, waiting, mounted }: Place): AccountRow {
  const reason = fault()
  const status = waiting?.()?.status
  const server = status?.journal ?? mounted()?.served.engine.status().journal.server
  return {
    name,
    isRunning: reason === undefined && status === undefined,
    ...defined({ fault: reason, waits: status?.reason, holder: server?.holder, epoch: server?.epoch }),
  }
}

/**
 * Adds the probes and the metrics of the process: it is ready when all accounts are that are its own, and alive while each one that runs is. An account
 * that another perpd has is no fault; a process that has none is not ready.
 */
function probeRoutes(app: Hono<Proven>, { metrics }: DeskContext, places: readonly Place[]): void {
  app.get('/metrics', async (c) => {
    const series = places.map(
      async ({ name, mounted, waiting }): Promise<AccountSeries> => ({
        name,
        text: await seriesOf(mounted(), waiting?.()),
      }),
    )
    const text = withAccountLabels(await metrics.render(), await Promise.all(series))
    return c.body(text, 200, { 'Content-Type': metrics.contentType })
  })
  for (const path of ['/livez', '/healthz']) app.get(path, (c) => answer(c, liveVerdict(places)))
  app.get('/readyz', (c) => {
    const own = places.filter(({ waiting }) => waiting?.()?.status.journal.holder === undefined)
    return answer(c, verdictOfAll(own.length === 0 ? places : own, readyVerdict))
  })
}

async function seriesOf(
  own: ReturnType<Place['mounted']>,
  wait: ReturnType<NonNullable<DeskAccount['waiting']>>,
): Promise<string> {
  if (own !== undefined) return await own.served.metrics.render(monitored(own.served))
  return wait === undefined ? '' : await wait.metrics.render(undefined, serverOf(wait.status))
}

function readyVerdict({ fault, mounted, waiting }: Place): Verdict {
  const served = mounted()?.served
  const reason = fault() ?? waiting?.()?.status.reason
  if (reason !== undefined || served === undefined) return notRunning(reason)
  return served.health.ready(withIncidents(served))
}

/** Judges whether the process does its work: an account that a fault stopped does none, and a restart would stop the others too. */
function liveVerdict(places: readonly Place[]): Verdict {
  return verdictOfAll(
    places.filter(({ mounted, fault }) => mounted() !== undefined && fault() === undefined),
    ({ mounted }) => {
      const served = mounted()?.served
      return served === undefined ? notRunning() : served.health.live(served.engine.status())
    },
  )
}

function notRunning(reason = 'it did not start'): Verdict {
  return { ok: false, reasons: [reason] }
}

/** One verdict of all, its reasons with the accounts' names. */
function verdictOfAll(accounts: readonly Place[], verdictOf: (account: Place) => Verdict): Verdict {
  const all = accounts.map((account) => ({ name: account.name, ...verdictOf(account) }))
  const incidents = [...new Set(all.flatMap((each) => each.incidents ?? []))]
  return {
    ok: all.every(({ ok }) => ok),
    reasons: all.flatMap(({ name, reasons }) => reasons.map((reason) => `${name}: ${reason}`)),
    ...(incidents.length > 0 && { incidents }),
  }
}
