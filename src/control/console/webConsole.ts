/** The console as the control port has it: its files, its sessions and its stream, of one run of the daemon. */
import type { Socket } from 'node:net'
import type { Hono } from 'hono'
import type { Clock } from '../../base/clock.ts'
import { createRoles, type Role, type Tokens } from '../guard/access.ts'
import type { ConsoleDoor } from '../guard/browserRules.ts'
import type { Proven } from '../guard/requestGuard.ts'
import { createAssets } from './assets.ts'
import { type ConsoleLink, consoleRoutes, linkTo } from './consoleRoutes.ts'
import { createEquitySeries, type EquityPoint } from './equitySeries.ts'
import { createLiveStream, type StreamSources } from './liveStream.ts'
import { createLoginThrottle } from './loginThrottle.ts'
import { cookieNameOf, createSessions } from './sessions.ts'
import { type Beat, streamRoutes, systemBeat } from './streamRoutes.ts'

/** How the console is served. */
export interface ConsoleSettings {
  /** Where browsers reach it through a proxy that ends TLS, without a slash at its end; absent: at the port itself. */
  readonly publicUrl?: string
  readonly clock: Pick<Clock, 'now' | 'monotonicMs'>
  /** Folder of the page; default the package's own. */
  readonly pageFolder?: string
  /** When the stream looks for what is new; default by a timer. */
  readonly beat?: Beat
}

/** What the console tells of. */
export interface ConsoleSources extends StreamSources {
  /** What the account is worth, as people are shown it; undefined before the first figure. */
  readonly equity: () => EquityPoint | undefined
}

/** The console. */
export interface WebConsole {
  /** What the guard knows of it. */
  readonly door: ConsoleDoor
  /** Adds its routes. */
  mount(app: Hono<Proven>, sources: ConsoleSources): void
  /** A link that is good once. */
  link(role: Role): ConsoleLink
  /** Where the port serves, once it does. */
  servedAt(url: string, port: number): void
  /** Whether a connection stays open on purpose. */
  holds(socket: Socket): boolean
  /** Ends the streams. */
  close(): void
}

/** How often the worth of the account is looked at, ms. */
const equityEveryMs = 5_000

/** A console without sessions. */
export function createConsole(settings: ConsoleSettings, tokens: Tokens): WebConsole {
  const { publicUrl, clock, pageFolder, beat = systemBeat } = settings
  const held = new WeakSet<Socket>()
  const closers: (() => void)[] = []
  let servedUrl = ''
  let servedPort = 0
  const sessions = createSessions(clock, () => cookieNameOf(servedPort))
  const baseUrl = (): string => publicUrl ?? servedUrl
  return {
    door: {
      sessionOf: sessions.of,
      used: sessions.use,
      ...(publicUrl === undefined ? {} : { publicUrl }),
    },
    mount(app, sources) {
      consoleRoutes(app, {
        sessions,
        assets: createAssets(pageFolder),
        throttle: {
          tokens: createLoginThrottle(clock.monotonicMs),
          links: createLoginThrottle(clock.monotonicMs),
        },
        roles: createRoles(tokens),
        baseUrl,
      })
      const stream = createLiveStream(sources)
      const series = createEquitySeries()
      let lookedMs = Number.NEGATIVE_INFINITY
      const takeEquity = (): void => {
        if (clock.monotonicMs() - lookedMs < equityEveryMs) return
        lookedMs = clock.monotonicMs()
        const point = sources.equity()
        if (point !== undefined) series.take(point)
      }
      const look = async (): Promise<void> => {
        takeEquity()
        await stream.beat()
      }
      closers.push(beat(look), stream.close)
      app.get('/api/equity', (c) => {
        takeEquity()
        return c.json(series.points().map(({ atMs, equityUsd }) => ({ atMs, equityUsd: String(equityUsd) })))
      })
      streamRoutes(app, { stream, sessions, hold: (socket) => held.add(socket) })
    },
    link: (role) => linkTo(sessions, baseUrl(), role),
    servedAt(url, port) {
      servedUrl = url
      servedPort = port
    },
    holds: (socket) => held.has(socket),
    close() {
      for (const close of closers.splice(0)) close()
    },
  }
}
