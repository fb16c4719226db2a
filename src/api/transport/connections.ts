/**
 * The connections of a fetch, each of them an undici `Client` that makes one request after the other: the one that was used last is
 * taken first, and none that idled for too long.
 *
 * undici closes an idle connection by a timer, which fires late when the process was held up: stopped, starved of the processor,
 * waiting for a slow disk, on a machine that slept. Its next request would then leave by a connection that the other side has
 * closed long since, and a submit that leaves there is lost, with an outcome that nobody knows before its deadline. So the age of an
 * idle connection is looked at again when a request is about to take one.
 */
import { createRequire } from 'node:module'
import type { Socket } from 'node:net'
import type { Client, buildConnector as ConnectorBuilder } from 'undici'
import { ageMsOf, type Clocks, type Moment, momentOf } from '../../base/clock.ts'
import type { ConnectionLookup } from '../../base/networkAddress.ts'

/** Settings of the connections. */
export interface ConnectionOptions {
  readonly lookup: ConnectionLookup
  /** Longest idle time after which a connection is used again, ms; a server's own limit shortens it. */
  readonly idleMs: number
  /** Idle connections to one origin. */
  readonly idlePerHost: number
  readonly clock: Clocks
}

/** One connection, which a request has for itself until it is given back or closed. */
export interface Connection {
  readonly client: Client
  /** Makes it idle, for the next request; `keepAlive` is what the server said of its own limit. */
  release(keepAlive: string | undefined): void
  /** Closes it, whatever it does: a request on it fails, one that was not written never is. */
  close(): void
}

/** The connections of one fetch. */
export interface Connections {
  /** A connection to an origin, an idle one where there is one. */
  take(origin: string): Connection
  close(): void
}

/** The parts of undici that are used. The package as a whole takes ten times their time to load, and 12 MB. */
interface UndiciParts {
  readonly Client: typeof Client
  readonly buildConnector: typeof ConnectorBuilder
}

let undiciParts: UndiciParts | undefined

/** undici, loaded by the first request of the process. */
function undici(): UndiciParts {
  if (undiciParts === undefined) {
    const require = createRequire(import.meta.url)
    undiciParts = {
      Client: require('undici/lib/dispatcher/client.js'),
      buildConnector: require('undici/lib/core/connect.js'),
    }
  }
  return undiciParts
}

/** Longest way of an answer since its server began to count, ms. */
const ANSWER_MS = 1_000

/** undici's connector with its result, which the package's types leave out. */
type Connect = (...given: Parameters<ConnectorBuilder.connector>) => Socket

interface Idle extends Moment {
  readonly connection: Connection
  readonly mostMs: number
}

/** Makes the connections of one fetch. */
export function createConnections(options: ConnectionOptions): Connections {
  const { idleMs, idlePerHost, clock } = options
  /** By origin, the one that was used last at the end. */
  const idle = new Map<string, Idle[]>()
  const open = new Set<Connection>()
  let connect: Connect | undefined

  const isTooOld = (each: Idle): boolean => ageMsOf(each, clock) >= each.mostMs

  function dropIdle(origin: string, connection: Connection): boolean {
    const kept = idle.get(origin) ?? []
    const at = kept.findIndex((each) => each.connection === connection)
    if (at !== -1) kept.splice(at, 1)
    return at !== -1
  }

  function make(origin: string): Connection {
    const { Client, buildConnector } = undici()
    connect ??= buildConnector({
      allowH2: false,
      timeout: 0,
      lookup: options.lookup,
    } as never) as unknown as Connect
    const connectSocket = connect
    let socket: Socket | undefined
    const client = new Client(origin, {
      pipelining: 1,
      allowH2: false,
      // Whoever asks sets the time, of the whole request.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: idleMs,
      keepAliveMaxTimeout: idleMs,
      keepAliveTimeoutThreshold: ANSWER_MS,
      connect(target, done) {
        socket = connectSocket(target, done)
      },
    })
    const connection: Connection = {
      client,
      release(keepAlive) {
        const kept = idle.get(origin) ?? []
        const saidSeconds = /timeout=(\d+)/i.exec(keepAlive ?? '')?.[1]
        const saidMs =
          saidSeconds === undefined ? Number.POSITIVE_INFINITY : Number(saidSeconds) * 1000 - ANSWER_MS
        if (kept.length >= idlePerHost) return connection.close()
        kept.push({ connection, ...momentOf(clock), mostMs: Math.min(idleMs, saidMs) })
        idle.set(origin, kept)
      },
      close() {
        open.delete(connection)
        // A socket that is still connecting is no part of the client yet.
        socket?.destroy(closed)
        client.destroy(closed, () => {})
      },
    }
    open.add(connection)
    // One that is closed while it idles is no use; a request that waits on it connects anew, with not a byte written.
    client.on('disconnect', () => {
      if (dropIdle(origin, connection)) connection.close()
    })
    return connection
  }

  return {
    take(origin) {
      const kept = idle.get(origin) ?? []
      // All that are older than one that is too old are so too.
      const newest = kept.findLastIndex(isTooOld)
      for (const { connection } of kept.splice(0, newest + 1)) connection.close()
      return kept.pop()?.connection ?? make(origin)
    },
    close() {
      for (const connection of open) connection.close()
      idle.clear()
    },
  }
}

/** Why a connection ends when nothing went wrong on it. Made once; an error made each time is dear. */
const closed = new Error('the connection was closed')
