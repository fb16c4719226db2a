/** The console as the control port has it: its files, its sessions and its stream, of one run of the daemon. */
import type { Socket } from 'node:net'
import type { Hono } from 'hono'
import type { Clocks } from '../../base/clock.ts'
import { defined } from '../../base/defined.ts'
import { createRoles, type Role, type Tokens } from '../guard/access.ts'
import type { ConsoleDoor } from '../guard/browserRules.ts'
import type { Proven } from '../guard/requestGuard.ts'
import { createAssets } from './assets.ts'
import { type ConsoleLink, consoleRoutes, linkTo } from './consoleRoutes.ts'
import { createEquitySeries, type EquityPoint } from './equitySeries.ts'
import { createLiveStream, type StreamSources } from './liveStream.ts'
import { createLoginThrottle } from './loginThrottle.ts'
import type { RunParts } from './runRoutes.ts'
import { cookieNameOf, createSessions } from './sessions.ts'
import { type Beat, streamRoutes, systemBeat } from './streamRoutes.ts'

/** Settings of the console's server. */
export interface ConsoleSettings {
  /** Where browsers reach it through a proxy that ends TLS, without a slash at its end; absent: at the port itself. */
  readonly publicUrl?: string
  readonly clock: Clocks
  /** Share of the equity above which the page asks to type the size of an order, bps; default 0: it asks for each. */
  readonly typedSizeBps?: number
  /** Folder of the page; default the package's own. */
  readonly pageFolder?: string
  /** When the stream looks for what is new; default by a timer. */
  readonly beat?: Beat
}

/** Keeps the curve of the equity. */
export interface EquityStore {
  /** Returns the persisted curve, oldest first; empty when there is none or it is broken. */
  read(): readonly EquityPoint[]
  /** Keeps these in the place of all before; never fails, and says elsewhere what went wrong. */
  keep(points: readonly EquityPoint[]): Promise<void>
}

/** Sources of the console's data. */
export interface ConsoleSources extends StreamSources {
  /** Equity of the account as people see it; undefined before the first figure. */
  readonly equity: () => EquityPoint | undefined
  /** Where the curve of the equity is kept over restarts; absent: it begins with each run. */
  readonly equityStore?: EquityStore
}

/** The console. */
export interface WebConsole {
  /** The console's interface to the request guard. */
  readonly door: ConsoleDoor
  /** Adds the routes of its files and sessions, and of backtests; absent: it has none of these. */
  mountPages(app: Hono<Proven>, runs: Omit<RunParts, 'sessions'> | undefined): void
  /** Adds the routes of one account's stream and curve; the returned function ends them, and resolves when the curve is kept. */
  mountAccount(app: Hono<Proven>, sources: ConsoleSources): () => Promise<void>
  /** A link that is good once. */
  link(role: Role): ConsoleLink
  /** Where the port serves, once it does. */
  servedAt(url: string, port: number): void
  /** Tells whether a connection stays open on purpose. */
  holds(socket: Socket): boolean
  /** Ends the streams at once; resolves when the curve is kept. */
  close(): Promise<void>
}

/** Interval between readings of the account's equity, ms. */
const equityEveryMs = 5_000
/** Interval between saves of the curve, ms; a crash loses at most this much of it. */
const keepEveryMs = 60_000

/** A console without sessions. */
export function createConsole(settings: ConsoleSettings, tokens: Tokens): WebConsole {
  const { publicUrl, clock, typedSizeBps = 0, pageFolder, beat = systemBeat } = settings
  const held = new WeakSet<Socket>()
  const mounted = new Set<() => Promise<void>>()
  let servedUrl = ''
  let servedPort = 0
  const sessions = createSessions(clock, () => cookieNameOf(servedPort))
  const baseUrl = (): string => publicUrl ?? servedUrl
  return {
    door: {
      sessionOf: sessions.of,
      used: sessions.use,
      ...defined({ publicUrl }),
    },
    mountPages(app, runs) {
      consoleRoutes(app, {
        sessions,
        assets: createAssets(pageFolder),
        throttle: {
          tokens: createLoginThrottle(clock.monotonicMs),
          links: createLoginThrottle(clock.monotonicMs),
        },
        roles: createRoles(tokens),
        baseUrl,
        typedSizeBps,
        ...defined({ runs }),
      })
    },
    mountAccount(app, sources) {
      const stream = createLiveStream(sources)
      const curve = keptCurve(clock, sources.equity, sources.equityStore)
      const look = async (): Promise<void> => {
        curve.look()
        await stream.beat()
      }
      const endBeats = beat(look)
      const close = async (): Promise<void> => {
        mounted.delete(close)
        endBeats()
        stream.close()
        await curve.close()
      }
      mounted.add(close)
      app.get('/api/equity', (c) => {
        curve.look()
        return c.json(curve.points().map(({ atMs, equityUsd }) => ({ atMs, equityUsd: String(equityUsd) })))
      })
      streamRoutes(app, { stream, sessions, hold: (socket) => held.add(socket) })
      return close
    },
    link: (role) => linkTo(sessions, baseUrl(), role),
    servedAt(url, port) {
      servedUrl = url
      servedPort = port
    },
    holds: (socket) => held.has(socket),
    async close() {
      await Promise.all([...mounted].map((close) => close()))
    },
  }
}

/** The curve of the equity, as it grows and is kept. One write of it goes on at a time. */
function keptCurve(
  clock: ConsoleSettings['clock'],
  equity: ConsoleSources['equity'],
  store: EquityStore | undefined,
) {
  // Figures of a time that is still to come were taken by a clock that was wrong: they would hold off all that follow.
  const series = createEquitySeries(store?.read().filter(({ atMs }) => atMs <= clock.now()))
  let lookedMs = Number.NEGATIVE_INFINITY
  let keptMs = clock.monotonicMs()
  let writing: Promise<void> | undefined
  const keep = async (): Promise<void> => {
    keptMs = clock.monotonicMs()
    await store?.keep(series.points())
    writing = undefined
  }
  return {
    look(): void {
      if (clock.monotonicMs() - lookedMs < equityEveryMs) return
      lookedMs = clock.monotonicMs()
      const point = equity()
      if (point !== undefined) series.take(point)
      if (writing === undefined && clock.monotonicMs() - keptMs >= keepEveryMs) writing = keep()
    },
    points: series.points,
    async close(): Promise<void> {
      await writing
      if (series.points().length > 0) await keep()
    },
  }
}
