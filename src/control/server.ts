/** The control port: status, orders, health and metrics over HTTP, on this machine by default. */

import type { AddressInfo, Socket } from 'node:net'
import { serve } from '@hono/node-server'
import type { Hono } from 'hono'
import { defined } from '../base/defined.ts'
import { BaseError } from '../base/errors.ts'
import { type ConsoleSettings, createConsole, type WebConsole } from './console/webConsole.ts'
import { type DeskContext, deskRoutes } from './deskRoutes.ts'
import type { Proven } from './guard/requestGuard.ts'
import { type ControlContext, controlRoutes } from './routes.ts'
import { type StandbyContext, standbyRoutes } from './standbyRoutes.ts'

/** Where to listen. */
export interface ControlPlace {
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
  /** Names, besides the loopback ones and `host`, by which the server may be addressed. */
  readonly hostNames?: readonly string[]
  /** Longest time for a client to send a whole request, ms; default 5,000. */
  readonly requestTimeoutMs?: number
  /**
   * Present: where the port cannot be opened, a free one of the same address is, and then one of this machine. Called with the server that has another
   * port, and with why.
   */
  readonly moved?: (server: ControlServer, facts: ControlPortError['facts']) => void
}

/** Where to listen, and what to answer from. */
export interface ControlOptions extends ControlPlace, Omit<ControlContext, 'hostNames' | 'now' | 'console'> {
  /** Settings of the console for browsers; absent: it is not served. */
  readonly console?: ConsoleSettings
}

/** The same for a process with several accounts. */
export interface DeskOptions extends ControlPlace, Omit<DeskContext, 'hostNames' | 'now' | 'console'> {
  /** Settings of the console for browsers; absent: it is not served. */
  readonly console?: ConsoleSettings
}

/** The same for a perpd that waits for its journal. */
export interface StandbyOptions extends ControlPlace, Omit<StandbyContext, 'hostNames' | 'now'> {}

/** Default of the longest time for a client's request, ms. */
const defaultTimeoutMs = 5_000
/** Connections at once; one more cuts the oldest: whoever holds many keeps no operator out. */
const mostConnections = 256
const mostHeaderBytes = 8_192

/** A listening control server. */
export interface ControlServer {
  /** `http://127.0.0.1:9464`. */
  readonly url: string
  /** The same by an address that a program of this machine can ask: the one that is bound, or the loopback one. */
  readonly localUrl: string
  readonly port: number
  /** The console; absent where it is not served. */
  readonly console?: WebConsole
  /** Stops listening and drops open connections; resolves when done. */
  close(): Promise<void>
}

/** The control port cannot be opened. */
export class ControlPortError extends BaseError {}

/**
 * Opens the control port.
 *
 * @throws ControlPortError when it is in use or may not be opened; the message says what to do.
 */
export async function createControlServer(options: ControlOptions): Promise<ControlServer> {
  const { console: settings, ...rest } = options
  const console = settings === undefined ? undefined : createConsole(settings, options.tokens)
  const routes = controlRoutes({ ...rest, ...guardOf(options), ...defined({ console }) })
  return await listen(options, routes.fetch, console)
}

/** Opens the control port of a process with several accounts. Throws as `createControlServer`. */
export async function createDeskServer(options: DeskOptions): Promise<ControlServer> {
  const { console: settings, ...rest } = options
  const console = settings === undefined ? undefined : createConsole(settings, options.tokens)
  const routes = deskRoutes({ ...rest, ...guardOf(options), ...defined({ console }) })
  return await listen(options, routes.fetch, console)
}

/** Opens the control port of a perpd that waits for its journal. Throws as `createControlServer`. */
export async function createStandbyServer(options: StandbyOptions): Promise<ControlServer> {
  return await listen(options, standbyRoutes({ ...options, ...guardOf(options) }).fetch)
}

function guardOf({ host, hostNames = [] }: ControlPlace) {
  return { hostNames: [host, ...hostNames], now: () => performance.now() }
}

/** Listens at the first place that can be opened. Routes and console are the same for each: what is mounted twice keeps two curves of one account. */
async function listen(
  place: ControlPlace,
  fetch: Hono<Proven>['fetch'],
  console?: WebConsole,
): Promise<ControlServer> {
  const others = [place.host, '127.0.0.1'].map((host) => ({ ...place, host, port: 0 }))
  let first: ControlPortError | undefined
  for (const each of place.moved === undefined ? [place] : [place, ...others]) {
    try {
      const server = await listenAt(each, fetch, console)
      if (first !== undefined) place.moved?.(server, first.facts)
      return server
    } catch (error) {
      if (!(error instanceof ControlPortError)) throw error
      first ??= error
    }
  }
  // A run that never served has no curve to keep, and what was kept stays.
  void console?.close()
  throw first
}

async function listenAt(
  { host, port, requestTimeoutMs: timeoutMs = defaultTimeoutMs }: ControlPlace,
  fetch: Hono<Proven>['fetch'],
  console?: WebConsole,
): Promise<ControlServer> {
  // Whoever sends slowly, headers or body, is cut off.
  const serverOptions = {
    requestTimeout: timeoutMs,
    headersTimeout: timeoutMs,
    keepAliveTimeout: timeoutMs,
    connectionsCheckingInterval: Math.min(1_000, timeoutMs),
    maxHeaderSize: mostHeaderBytes,
  }
  return await new Promise((resolve, reject) => {
    const server = serve({ fetch, hostname: host, port, serverOptions }, (info: AddressInfo) => {
      server.removeListener('error', failed)
      const localUrl = urlOf(localOf(info.address), info.port)
      console?.servedAt(localUrl, info.port)
      resolve({
        url: urlOf(host, info.port),
        localUrl,
        port: info.port,
        ...defined({ console }),
        async close() {
          const isKept = console?.close()
          await closed(server)
          await isKept
        },
      })
    })
    keepFew(server, (socket) => console?.holds(socket) === true)
    const failed = (error: Error): void => reject(portError(host, port, error))
    server.once('error', failed)
  })
}

function urlOf(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** Bound to every address of the machine, it is asked at the loopback one. */
function localOf(address: string): string {
  return address === '0.0.0.0' ? '127.0.0.1' : address === '::' ? '::1' : address
}

/**
 * Cuts the oldest connection for each that is one too many. Requests take milliseconds, so the oldest is one that is held;
 * `isMeant` tells those that are held on purpose, which are few and were let in.
 */
function keepFew(server: ReturnType<typeof serve>, isMeant: (socket: Socket) => boolean): void {
  const open = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
    const oldest = open.size <= mostConnections ? undefined : [...open].find((each) => !isMeant(each))
    if (open.size <= mostConnections || oldest === undefined) return
    open.delete(oldest)
    oldest.destroy()
  })
}

function closed(server: ReturnType<typeof serve>): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    if ('closeAllConnections' in server) server.closeAllConnections()
  })
}

function portError(host: string, port: number, cause: Error & { code?: string }): ControlPortError {
  const facts = { address: `${host}:${port}`, reason: cause.code ?? cause.message }
  switch (cause.code) {
    case 'EADDRINUSE':
      return new ControlPortError('The control port is in use.', {
        code: 'CONTROL_PORT_IN_USE',
        facts,
        details: `perpd did not start. Another program, perhaps another perpd, listens there: stop it, or choose another port with --control.port ${port + 1}`,
        cause,
      })
    case 'EACCES':
      return new ControlPortError('The control port may not be opened.', {
        code: 'CONTROL_PORT_DENIED',
        facts,
        details: 'perpd did not start. Choose a port above 1023 with --control.port 9464',
        cause,
      })
    default:
      return new ControlPortError('The control port cannot be opened.', {
        code: 'CONTROL_PORT_FAILED',
        facts,
        details: 'perpd did not start. Check control.host and control.port.',
        cause,
      })
  }
}
