/**
 * Faults between client and venue: what a road and its proxies do to requests and answers. Rules say which requests they hit,
 * how often and how many times; every draw comes from the seed and every hit is kept in a log, so that a run repeats.
 */
import type { Clock } from '../../base/clock.ts'
import { hashText, unit } from '../math/random.ts'
import { editedAnswer } from './answerEdit.ts'
import { stringify } from './http.ts'
import {
  fitsPattern,
  hostAndRoute,
  readWireFault,
  type WireFault,
  type WireFaultKind,
} from './wireFaultRule.ts'

/** One hit. */
export interface WireFaultHit {
  readonly atMs: number
  readonly id: string
  readonly kind: WireFaultKind
  readonly method: string
  readonly path: string
}

/** A change of the switches: with the seed, all that is needed to have the same faults again. */
export interface SwitchChange {
  readonly atMs: number
  readonly kind: 'switch'
  readonly set: Readonly<Record<string, unknown>>
}

/** Most entries kept; the oldest go first. */
const MAX_FAULT_LOG = 10_000
/** Most rules at once. */
const MAX_WIRE_FAULTS = 200

/** A request to any other route that takes longer is answered 503 (docs/reference/api-coverage.md A34 to A37). */
const SERVER_TIMEOUT_MS = 60_000

/** Oracle routes with a timeout of their own (docs/reference/api-coverage.md O12). */
const timedRoutes: ReadonlySet<string> = new Set([
  '/prices/tickers',
  '/signed_prices/latest',
  '/prices/candles',
])
const ROUTE_TIMEOUT_MS = 10_000

/** Longest that a host works on a request to a route, ms; what takes longer is answered 503. */
export function timeoutOf(host: string, route: string): number {
  return host.startsWith('oracle/') && timedRoutes.has(route) ? ROUTE_TIMEOUT_MS : SERVER_TIMEOUT_MS
}

/** Body of a 503 for what took too long: each service has its own form of failures. */
export function timedOutBody(host: string): { readonly [name: string]: string | readonly string[] } {
  const text = 'Service Unavailable'
  return host.startsWith('oracle/') ? { errors: [text] } : { message: text }
}

/** The rules of a venue and what they did. */
export interface WireFaults {
  readonly rules: WireFault[]
  /** Requests that a rule hit and switches that changed, in order. */
  readonly log: (WireFaultHit | SwitchChange)[]
  /** Keeps a change of the switches in the log. */
  note(set: Readonly<Record<string, unknown>>): void
  /** Adds a rule; a text says what is wrong with it. */
  add(value: unknown): WireFault | string
  remove(id: string): void
  /** Does a request with the faults that hit it. `work` makes the venue's own answer. */
  around(request: Request, prefix: string, work: (request: Request) => Promise<Response>): Promise<Response>
}

/** Makes the faults of a venue; `cut` throws what the server takes for a cut connection. */
export function createWireFaults(options: {
  readonly seed: number
  readonly clock: Clock
  readonly cut: () => never
}): WireFaults {
  const { seed, clock, cut } = options
  const rules: WireFault[] = []
  const log: (WireFaultHit | SwitchChange)[] = []
  const tell = (entry: WireFaultHit | SwitchChange): void => {
    log.push(entry)
    if (log.length > MAX_FAULT_LOG) log.splice(0, log.length - MAX_FAULT_LOG)
  }
  const draws = new Map<string, number>()
  let added = 0

  const hits = (method: string, path: string): WireFault[] => {
    const { host, route } = hostAndRoute(path)
    return rules.filter((rule) => {
      if (rule.times === 0) return false
      if (rule.method !== '*' && rule.method !== method) return false
      if (!fitsPattern(rule.host, host) || !fitsPattern(rule.route, route)) return false
      const draw = (draws.get(rule.id) ?? 0) + 1
      draws.set(rule.id, draw)
      if (unit(hashText(`${seed}:wire:${rule.id}`), draw) >= rule.probability) return false
      if (rule.times > 0) rule.times -= 1
      tell({ atMs: clock.now(), id: rule.id, kind: rule.kind, method, path })
      return true
    })
  }
  const add = (value: unknown): WireFault | string => {
    if (rules.length >= MAX_WIRE_FAULTS) return `at most ${MAX_WIRE_FAULTS} wire faults at once`
    const rule = readWireFault(value, `fault-${added + 1}`)
    if (typeof rule === 'string') return rule
    if (rules.some(({ id }) => id === rule.id)) return `a wire fault ${rule.id} exists already`
    added += 1
    rules.push(rule)
    return rule
  }
  return {
    rules,
    log,
    note: (set) => tell({ atMs: clock.now(), kind: 'switch', set }),
    add,
    remove: (id) => {
      const at = rules.findIndex((rule) => rule.id === id)
      if (at !== -1) rules.splice(at, 1)
    },
    around: async (request, prefix, work) => {
      if (rules.length === 0) return work(request)
      const path = new URL(request.url).pathname.slice(prefix.length)
      if (path.startsWith('/__control')) return work(request)
      const hit = hits(request.method, path)
      if (hit.length === 0) return work(request)
      // However the latencies add up, the server gives the request up at its timeout.
      const { host, route } = hostAndRoute(path)
      const timeoutMs = timeoutOf(host, route)
      let waitedMs = 0
      for (const { kind, latencyMs } of hit) {
        const waitMs = Math.min(latencyMs, timeoutMs - waitedMs)
        if (waitMs > 0) await clock.sleep(waitMs)
        waitedMs += waitMs
        if (waitedMs >= timeoutMs) {
          return refusalOf({ id: 'timeout', kind, status: 503 }, clock.now(), timedOutBody(host))
        }
        if (kind === 'timeout-before') return never()
        if (kind === 'drop-before') cut()
      }
      const refusal = hit.find(({ kind }) => refusing.has(kind))
      if (refusal !== undefined) return refusalOf(refusal, clock.now())
      // A proxy that sends a request again: the work is done twice, the second answer arrives.
      if (hit.some(({ kind }) => kind === 'duplicate')) await work(request.clone() as Request)
      let response = await work(request)
      for (const rule of hit) {
        if (rule.kind === 'timeout-after') return never()
        if (rule.kind === 'drop-after') cut()
        response = await damaged(response, rule, clock.now())
      }
      return response
    },
  }
}

function never(): Promise<Response> {
  return new Promise(() => undefined)
}

const statusTexts: Readonly<Record<number, string>> = {
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Time-out',
}

/** Kinds that answer instead of the venue. */
const refusing: ReadonlySet<WireFaultKind> = new Set(['status', 'backend-unavailable', 'html'])

function refusalOf(
  rule: Pick<WireFault, 'id' | 'kind' | 'status'> & Partial<{ readonly retryAfterSeconds: number }>,
  nowMs: number,
  given?: object,
): Response {
  const text = statusTexts[rule.status] ?? 'Error'
  const isHtml = rule.kind === 'html'
  const headers: Record<string, string> = {
    'Content-Type': isHtml ? 'text/html' : 'application/json',
    'Access-Control-Allow-Origin': '*',
    'Access-Control-Expose-Headers': 'X-Trace-Id',
    'X-Trace-Id': `paper-fault-${rule.id}`,
    Date: new Date(nowMs).toUTCString(),
  }
  const { retryAfterSeconds = 0 } = rule
  if (retryAfterSeconds > 0) headers['Retry-After'] = String(retryAfterSeconds)
  const body = isHtml
    ? `<html>\r\n<head><title>${rule.status} ${text}</title></head>\r\n<body><center><h1>${rule.status} ${text}</h1></center></body>\r\n</html>\r\n`
    : stringify(
        rule.kind === 'backend-unavailable'
          ? { code: 'BACKEND_UNAVAILABLE', message: text }
          : (given ?? { message: text }),
      )
  return new Response(body, { status: rule.status, headers })
}

async function damaged(response: Response, rule: WireFault, nowMs: number): Promise<Response> {
  if (rule.kind === 'clock-skew') {
    const headers = new Headers(response.headers)
    headers.set('Date', new Date(nowMs + rule.skewMs).toUTCString())
    return new Response(response.body, { status: response.status, headers })
  }
  if (rule.kind === 'edit') {
    if (!response.ok) return response
    const body = editedAnswer(await response.text(), rule.edits)
    return new Response(body, { status: response.status, headers: response.headers })
  }
  if (rule.kind !== 'truncated' && rule.kind !== 'garbage') return response
  const text = await response.text()
  const body =
    rule.kind === 'truncated' ? text.slice(0, text.length >> 1) : `\u0000\u0001{]${text.slice(0, 16)}\uFFFD`
  return new Response(body, { status: response.status, headers: response.headers })
}
