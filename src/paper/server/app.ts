/**
 * The routes of a venue behind one `fetch`: hosts told apart by path prefix, cache windows, faults of a host, headers and trace
 * ids, and the failing answers that every route shares.
 */
import { type Context, Hono } from 'hono'
import { answerAgeMs, changesAnswer, shapedAnswer } from '../http/answerShape.ts'
import {
  apiCacheWindows,
  type CacheWindow,
  oracleCacheWindows,
  otherCacheWindows,
  questionOf,
} from '../http/cacheWindows.ts'
import { dateHeader } from '../http/dateHeader.ts'
import {
  type BodySource,
  HttpFailure,
  JsonBytes,
  JsonText,
  JsonValue,
  notFound,
  stringify,
} from '../http/http.ts'
import type { ResponseCache } from '../http/responseCache.ts'
import { hostAndRoute } from '../http/wireFaultRule.ts'
import { timedOutBody, timeoutOf, type WireFaults } from '../http/wireFaults.ts'
import { addAccountReads, addTransactionRoutes } from '../reads/accountRoutes.ts'
import { addMarketRoutes } from '../reads/marketRoutes.ts'
import { addReadRoutes } from '../reads/readRoutes.ts'
import type { Neighbour, RouteHandler, RouteKit } from '../reads/routeKit.ts'
import { neverAnswer } from '../requests/orderRoutes.ts'
import { mountRpc, rpcText } from '../rpc/rpcRoutes.ts'
import { RPC_ENDPOINTS, rpcPathOf } from '../state/rpcEndpoints.ts'
import { advanceVenue } from '../transactions/advance.ts'
import { ConnectionCut, type VenueParts } from '../venue/venueParts.ts'
import { guardControl, mountControl } from './controlRoutes.ts'

/** Oracle hosts of a venue: the primary and its fallbacks. */
export const ORACLE_HOSTS = 3

/** Parts that the routes use. */
export interface AppParts {
  readonly state: VenueParts
  /** Put before every path; empty for a venue that has the port to itself. */
  readonly prefix: string
  readonly wire: WireFaults
  readonly responseCache: ResponseCache
  readonly neighbours: () => readonly Neighbour[]
}

/** A route as it is mounted. */
interface Mounted {
  readonly handler: RouteHandler
  /** Absent: every request is answered anew. */
  readonly window: CacheWindow | undefined
}

/** A request as routes are asked: over `fetch`, or a body that came whole. */
interface Asked {
  readonly url: string
  readonly request: BodySource
  readonly param: (name: string) => string
}

/** An answer that is no Response yet. */
export interface PlainAnswer<Body = string | Uint8Array<ArrayBuffer>> {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Body
}

/** An answer for who is in this process: most of those with status 200 are no text yet. */
type DirectAnswer = PlainAnswer<PlainAnswer['body'] | JsonValue>

/** Answers a body that was posted. */
export type Posted = (body: string) => Promise<PlainAnswer | Response>

/** The same for who is in this process. */
export type Direct = (body: string) => Promise<DirectAnswer | Response>

/** The routes of a venue. */
export interface App {
  readonly fetch: (request: Request) => Response | Promise<Response>
  /** Answers bodies posted to a path without a query as `fetch` does, only faster; undefined: ask `fetch`. */
  posted(path: string): Posted | undefined
  /** The same for who is in this process: reads too, with a query, and the endpoints of the chain; undefined: ask `fetch`. */
  direct(method: string, path: string): Direct | undefined
}

/** Path and query of an address. */
function pathOf(url: string): string {
  return url.startsWith('/') ? url : url.slice(url.indexOf('/', url.indexOf('//') + 2))
}

/** Makes the routes of a venue. */
export function createApp({ state, prefix, wire, responseCache, neighbours }: AppParts): App {
  const { venueState, faults, peers } = state
  const app = prefix === '' ? new Hono() : new Hono().basePath(prefix)
  let traces = 0

  const plain = <Body>(status: number, body: Body): PlainAnswer<Body> => {
    const headers: Record<string, string> = {
      'Access-Control-Allow-Origin': '*',
      'Access-Control-Expose-Headers': 'X-Trace-Id',
      'Content-Type': 'application/json',
      Date: dateHeader(venueState.clock.now()),
    }
    if (status >= 400) {
      traces += 1
      headers['X-Trace-Id'] =
        `paper-${venueState.chain.name}-${venueState.clock.now().toString(36)}-${traces}`
    }
    return { status, headers, body }
  }
  const answer = (status: number, body: PlainAnswer['body']): Response => whole(plain(status, body))
  async function respond(asked: Asked, host: string, mounted: Mounted): Promise<PlainAnswer | Response>
  async function respond(
    asked: Asked,
    host: string,
    mounted: Mounted,
    form: 'value',
  ): Promise<DirectAnswer | Response>
  async function respond(
    asked: Asked,
    host: string,
    mounted: Mounted,
    form: 'value' | 'text' = 'text',
  ): Promise<DirectAnswer | Response> {
    if (faults.down.includes(host)) throw new ConnectionCut()
    const path = pathOf(asked.url)
    const queryAt = path.indexOf('?')
    const place = queryAt === -1 ? path : path.slice(0, queryAt)
    const { route } = hostAndRoute(place.slice(prefix.length))
    const timeoutMs = timeoutOf(host, route)
    if (faults.latencyMs > 0) await venueState.clock.sleep(Math.min(faults.latencyMs, timeoutMs))
    try {
      if (faults.latencyMs >= timeoutMs) throw new HttpFailure(503, timedOutBody(host))
      advanceVenue(venueState)
      const peer = peers.find((one) => one.host === host) ?? peers[0]
      if (peer === undefined) throw notFound('Not Found')
      const query = queryAt === -1 ? noQuery : new URLSearchParams(path.slice(queryAt + 1))
      const isShaped = changesAnswer(faults, host, route)
      const window = isShaped ? undefined : mounted.window
      const nowMs = venueState.clock.now() - answerAgeMs(faults, host, route)
      // Peers and fallbacks are equal: what one answers within a window, all of them do.
      const question =
        window === undefined ? '' : questionOf(place.replace(/\/\d+(?=\/)/, ''), query, window.names)
      if (window !== undefined) {
        const value = form === 'value' ? responseCache.valueAt(question, nowMs) : undefined
        if (value !== undefined) return plain(200, new JsonValue(value))
        const known = responseCache.at(question, nowMs)
        if (known !== undefined) {
          responseCache.lead(path, question)
          return plain(200, known)
        }
      }
      const result = await mounted.handler({
        ...asked,
        query,
        nowMs,
        peer,
        family: Math.max(0, peers.indexOf(peer)),
      })
      if (result === neverAnswer) return await new Promise<Response>(() => undefined)
      if (result instanceof Response) return result
      if (isShaped) {
        return plain(200, stringify(shapedAnswer(faults, host, route, JSON.parse(stringify(result)))))
      }
      if (form === 'value' && !(result instanceof JsonBytes) && !(result instanceof JsonText)) {
        if (window !== undefined) responseCache.keepValue(question, result, nowMs, window.ms(query))
        return plain(200, new JsonValue(result))
      }
      const made = result instanceof JsonBytes ? result.bytes : stringify(result)
      if (window === undefined) return plain(200, made)
      const body = responseCache.keep(question, made, nowMs, window.ms(query))
      responseCache.lead(path, question)
      return plain(200, body)
    } catch (error) {
      if (error instanceof HttpFailure) return plain(error.status, stringify(error.body))
      throw error
    }
  }

  const respondTo = async (context: Context, host: string, mounted: Mounted): Promise<Response> => {
    const { url, raw } = context.req
    const made = await respond(
      { url, request: raw, param: (name) => context.req.param(name) ?? '' },
      host,
      mounted,
    )
    return made instanceof Response ? made : whole(made)
  }
  const posted = new Map<string, Posted>()
  const reads = new Map<string, { readonly host: string; readonly mounted: Mounted }>()
  const noBody = bodyText('')

  const kit: RouteKit = {
    neighbours,
    api: (method, path, handler) => {
      const window = method === 'GET' ? apiCacheWindows[path] : undefined
      if (method === 'GET')
        for (const { host } of peers)
          reads.set(`${prefix}/${host}/v1${path}`, { host, mounted: { handler, window } })
      if (method === 'POST') {
        for (const { host } of peers) {
          const url = `${prefix}/${host}/v1${path}`
          posted.set(url, (body) =>
            respond({ url, request: bodyText(body), param: () => '' }, host, { handler, window: undefined }),
          )
        }
      }
      app.on(method, `/api/:host{[0-9]+}/v1${path}`, (context) => {
        const host = `api/${context.req.param('host')}`
        const isKnown = peers.some((peer) => peer.host === host)
        return respondTo(context, host, isKnown ? { handler, window } : unknownHost)
      })
    },
    oracle: (path, handler) => {
      const mounted = { handler, window: oracleCacheWindows[path] }
      for (let one = 0; one < ORACLE_HOSTS; one += 1)
        reads.set(`${prefix}/oracle/${one}${path}`, { host: `oracle/${one}`, mounted })
      app.get(`/oracle/:host{[0-${ORACLE_HOSTS - 1}]}${path}`, (context) =>
        respondTo(context, `oracle/${context.req.param('host')}`, mounted),
      )
    },
    at: (path, host, handler) => {
      const mounted = { handler, window: otherCacheWindows[path] }
      app.get(path, (context) =>
        respondTo(context, host.replace(':host', context.req.param('host') ?? ''), mounted),
      )
    },
  }
  guardControl(app, answer)
  addMarketRoutes(state, kit)
  addAccountReads(state, kit)
  addTransactionRoutes(state, kit)
  addReadRoutes(venueState, kit)
  mountControl(app, { state, wire, kept: responseCache, answer })
  const rpcSource = {
    venueState,
    faults,
    cut: () => {
      throw new ConnectionCut()
    },
  }
  mountRpc(app, { ...rpcSource, answer })
  const endpoints = new Map(
    Array.from({ length: RPC_ENDPOINTS }, (_unused, index): [string, Posted] => [
      prefix + rpcPathOf('rpc', index),
      async (body) => plain(200, await rpcText(rpcSource, index, body)),
    ]),
  )
  app.options('*', () => {
    const allowed = answer(200, '{}')
    allowed.headers.set('Access-Control-Allow-Methods', 'GET, POST, OPTIONS')
    allowed.headers.set('Access-Control-Allow-Headers', 'Content-Type')
    return allowed
  })
  app.notFound(() => answer(404, '{"message":"Not Found"}'))
  app.onError((error) => {
    throw error
  })
  return {
    fetch: app.fetch,
    posted: (path) => posted.get(path),
    direct(method, path) {
      if (method === 'POST') return posted.get(path) ?? endpoints.get(path)
      const queryAt = path.indexOf('?')
      // Paths with a parameter in them stand in no table.
      const read = reads.get(queryAt === -1 ? path : path.slice(0, queryAt))
      if (method !== 'GET' || read === undefined) return undefined
      const { host, mounted } = read
      return () => respond({ url: path, request: noBody, param: () => '' }, host, mounted, 'value')
    },
  }
}

/** A Response of an answer. */
function whole({ status, headers, body }: PlainAnswer): Response {
  return new Response(body, { status, headers })
}

/** A body that came whole; its length was looked at. */
function bodyText(text: string): BodySource {
  return { headers: noHeaders, body: null, text: () => Promise.resolve(text) }
}

const noQuery = new URLSearchParams()

const noHeaders: BodySource['headers'] = { get: (name) => (name === 'content-length' ? '0' : null) }

const unknownHost: Mounted = {
  handler: () => {
    throw notFound('Not Found')
  },
  window: undefined,
}
