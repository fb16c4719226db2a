/** The paper venue on a local port: real sockets, one server, a path prefix a host. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import { ConnectionCut, type Venue } from './venue.ts'

/** A venue that listens. */
export interface ServedVenue {
  /** Base addresses, primary first. */
  readonly oracle: readonly string[]
  /** Base addresses of the peers, version segment included. */
  readonly api: readonly string[]
  /** Base address of the control routes; no part of the wire. */
  readonly control: string
  readonly port: number
  /** Saves the world, cuts what is open and frees the port. */
  close(): Promise<void>
}

/** Where to listen. */
export interface ServeOptions {
  readonly hostname: string
  /** 0 = any free port. */
  readonly port: number
  /** Milliseconds between turns of the world without requests. Default 250. */
  readonly tickMs?: number
  /** Milliseconds between saves of the state file. Default 5000. */
  readonly saveEveryMs?: number
  /** Told when a save or a turn fails; the venue goes on. */
  readonly onError?: (error: unknown) => void
}

/** Serves a venue. Rejects when the port is taken. */
export async function serveVenue(venue: Venue, options: ServeOptions): Promise<ServedVenue> {
  const onError = options.onError ?? (() => undefined)
  const listener = getRequestListener(
    async (request, { incoming }) => {
      try {
        return await timed(venue, request)
      } catch (error) {
        if (error instanceof ConnectionCut) {
          incoming.socket?.destroy()
          return RESPONSE_ALREADY_SENT
        }
        // A mistake of the venue itself: said so to its owner, and as the live hosts do on the wire.
        onError(error)
        return new Response('{"message":"Internal Server Error"}', {
          status: 500,
          headers: { 'Content-Type': 'application/json', 'X-Trace-Id': 'paper-fault' },
        })
      }
    },
    { overrideGlobalObjects: false },
  )
  const server = createServer(listener)
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
  const tick = setInterval(() => attempt(venue.advance), options.tickMs ?? 250)
  const save = setInterval(() => attempt(venue.save), options.saveEveryMs ?? 5000)
  tick.unref()
  save.unref()
  return {
    oracle: venue.paths.oracle.map((path) => base + path),
    api: venue.paths.api.map((path) => base + path),
    control: `${base}/__control`,
    port,
    close: async () => {
      clearInterval(tick)
      clearInterval(save)
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeAllConnections()
      await closed
      venue.save()
    },
  }
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
