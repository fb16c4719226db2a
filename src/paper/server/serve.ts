/** Paper venues on a local port: real sockets, one server, a path prefix a chain and a host. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import { failing, refuseUnreadable } from '../http/portFailures.ts'
import { ConnectionCut } from '../venue/venueParts.ts'
import { answerPosted, answerQuick } from './quickAnswers.ts'
import { serveSockets } from './rpcSockets.ts'
import { saveNowAndThen } from './saves.ts'
import type { Venue } from './venue.ts'

/** A venue that listens. */
export interface ServedVenue {
  /** Base addresses, primary first. */
  readonly oracle: readonly string[]
  /** Base addresses of the peers, version segment included. */
  readonly api: readonly string[]
  /** Base addresses of the pair summaries: `{pairs}/api/{chain}/pairs`. */
  readonly pairs: readonly string[]
  /** Base addresses of the Solana feed, `{solana}/v1/pairs` and no other path; empty where it is not computed. */
  readonly solana: readonly string[]
  /** JSON-RPC endpoints over HTTP. */
  readonly rpc: readonly string[]
  /** JSON-RPC endpoints over WebSocket. */
  readonly ws: readonly string[]
  /** Base address of the control routes; no part of the wire. */
  readonly control: string
  readonly port: number
  /** Saves the venue, cuts what is open and frees the port. */
  close(): Promise<void>
}

/** Where to listen. */
export interface ServeOptions {
  readonly hostname: string
  /** 0 = any free port. */
  readonly port: number
  /** Milliseconds between turns of the venue without requests. Default 250. */
  readonly tickMs?: number
  /** Milliseconds between saves of the state file, at least (saves.ts). Default 5000. */
  readonly saveEveryMs?: number
  /** Told when a save or a turn fails; the venue goes on. */
  readonly onError?: (error: unknown) => void
}

/** Serves one venue. Rejects when the port is taken. */
export async function serveVenue(venue: Venue, options: ServeOptions): Promise<ServedVenue> {
  const [served] = await serveVenues([venue], options)
  if (served === undefined) throw new RangeError('no request was served')
  return served
}

/**
 * Serves several venues, told apart by their prefixes, on one port. The answers come in the order of the venues; closing
 * any of them closes the port for all.
 *
 * @throws what the socket throws when the port is taken
 */
export async function serveVenues(
  venues: readonly Venue[],
  options: ServeOptions,
): Promise<readonly ServedVenue[]> {
  const onError = options.onError ?? (() => undefined)
  const venueOf = (request: Request): Venue | undefined => {
    if (venues.length === 1) return venues[0]
    const { pathname } = new URL(request.url)
    return venues.find(({ paths }) => pathname.startsWith(`${paths.prefix}/`))
  }
  const listener = getRequestListener(
    async (request, { incoming }) => {
      const venue = venueOf(request)
      if (venue === undefined) return failing(404, 'Not Found')
      try {
        return await timed(venue, request)
      } catch (error) {
        if (error instanceof ConnectionCut) {
          incoming.socket?.destroy()
          return RESPONSE_ALREADY_SENT
        }
        // A mistake of the venue itself: said so to its owner, and as the live hosts do on the wire.
        onError(error)
        return failing(500, 'Internal Server Error')
      }
    },
    {
      overrideGlobalObjects: false,
      // HTTP/1.0 names no host.
      hostname: options.hostname,
      errorHandler: () => failing(400, 'The request cannot be read'),
    },
  )
  const server = createServer({ requireHostHeader: false }, (request, response) => {
    if (request.method === 'GET' && answerQuick(venues, request.url ?? '', response)) return
    if (request.method === 'POST' && answerPosted(venues, request, response, onError)) return
    void listener(request, response)
  })
  server.on('clientError', refuseUnreadable)
  const sockets = serveSockets(server, venues, onError)
  await listen(server, options)
  const { port } = server.address() as AddressInfo
  const base = `http://${options.hostname}:${port}`
  const attempt = (work: () => void): void => {
    try {
      work()
    } catch (error) {
      onError(error)
    }
  }
  const each = (work: (venue: Venue) => void): void => {
    for (const venue of venues) attempt(() => work(venue))
  }
  const tick = setInterval(() => {
    each((venue) => venue.advance())
    sockets.tell()
  }, options.tickMs ?? 250)
  const stopSaving = saveNowAndThen(venues, options.saveEveryMs ?? 5000, onError)
  tick.unref()
  const close = async (): Promise<void> => {
    clearInterval(tick)
    stopSaving()
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    sockets.close()
    server.closeAllConnections()
    await closed
    for (const venue of venues) venue.save()
  }
  return venues.map(({ paths }) => ({
    oracle: paths.oracle.map((path) => base + path),
    api: paths.api.map((path) => base + path),
    pairs: paths.pairs.map((path) => base + path),
    solana: paths.solana.map((path) => base + path),
    rpc: paths.rpc.map((path) => base + path),
    ws: paths.ws.map((path) => `ws://${options.hostname}:${port}${path}`),
    control: `${base}${paths.prefix}/__control`,
    port,
    close,
  }))
}

/** Says in a Server-Timing header how long the venue itself took, so that a benchmark can tell it from the road. */
async function timed(venue: Venue, request: Request): Promise<Response> {
  const startedMs = performance.now()
  const response = await venue.fetch(request)
  response.headers.set('Server-Timing', `venue;dur=${(performance.now() - startedMs).toFixed(3)}`)
  return response
}

function listen(server: Server, options: ServeOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port, options.hostname, () => {
      server.off('error', reject)
      resolve()
    })
  })
}
