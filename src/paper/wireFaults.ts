/**
 * Faults between client and venue: what a road and its proxies do to requests and answers. Rules say which requests they hit,
 * how often and how many times; every draw comes from the seed and every hit is kept in a log, so that a run repeats.
 */
import type { Clock } from '../domain/clock.ts'
import { isObject, stringify } from './http.ts'
import { hashText, unit } from './random.ts'

/** What a rule does to a request. */
export const wireFaultKinds = [
  'latency',
  'timeout-before',
  'timeout-after',
  'drop-before',
  'drop-after',
  'duplicate',
  'status',
  'backend-unavailable',
  'html',
  'truncated',
  'garbage',
  'clock-skew',
] as const

/** A kind of wire fault. */
export type WireFaultKind = (typeof wireFaultKinds)[number]

/** One rule. */
export interface WireFault {
  /** Names the rule in the log and in the draws. */
  readonly id: string
  readonly kind: WireFaultKind
  /** Pattern of the path behind the host, `*` for any text: `/orders/txns/*`. Default `*`. */
  readonly route: string
  /** Pattern of the host: `api/0`, `oracle/*`, `rpc`. Default `*`. */
  readonly host: string
  /** `GET`, `POST`, or `*`. */
  readonly method: string
  /** 0 to 1. Default 1. */
  readonly probability: number
  /** Hits left; -1 = without end. */
  times: number
  /** Status of `status` and `html`: 429, 500, 502, 503 or 504. */
  readonly status: number
  /** `Retry-After` of a 429 or 503, seconds; 0 = none. */
  readonly retryAfterSeconds: number
  /** Of `latency`, ms. */
  readonly latencyMs: number
  /** Of `clock-skew`: added to the Date header, ms, signed. */
  readonly skewMs: number
}

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
export const MAX_FAULT_LOG = 10_000
/** Most rules at once. */
export const MAX_WIRE_FAULTS = 200

/** A request that takes longer is answered 503 (application document, "Limits"). */
export const SERVER_TIMEOUT_MS = 60_000

const statuses = [429, 500, 502, 503, 504]
const fields = new Set([
  'id',
  'kind',
  'route',
  'host',
  'method',
  'probability',
  'times',
  'status',
  'retryAfterSeconds',
  'latencyMs',
  'skewMs',
])

/** Reads one rule; a text says what is wrong with it. */
export function readWireFault(value: unknown, fallbackId: string): WireFault | string {
  if (!isObject(value)) return 'a wire fault must be an object'
  for (const name of Object.keys(value)) {
    if (!fields.has(name)) return `unknown field ${name} of a wire fault; known are ${[...fields].join(', ')}`
  }
  const { kind } = value
  if (typeof kind !== 'string' || !(wireFaultKinds as readonly string[]).includes(kind)) {
    return `kind must be one of ${wireFaultKinds.join(', ')}`
  }
  const text = (name: string, initial: string): string | undefined => {
    const given = value[name] ?? initial
    return typeof given === 'string' && given !== '' && given.length <= 200 ? given : undefined
  }
  const whole = (name: string, initial: number, least: number, most: number): number | undefined => {
    const given = value[name] ?? initial
    return typeof given === 'number' && Number.isInteger(given) && given >= least && given <= most
      ? given
      : undefined
  }
  const id = text('id', fallbackId)
  const route = text('route', '*')
  const host = text('host', '*')
  const method = text('method', '*')
  if (id === undefined || route === undefined || host === undefined || method === undefined) {
    return 'id, route, host and method must be texts'
  }
  const probability = value.probability ?? 1
  if (typeof probability !== 'number' || !(probability >= 0 && probability <= 1)) {
    return 'probability must be a number from 0 to 1'
  }
  const times = whole('times', -1, -1, 1_000_000_000)
  if (times === undefined) return 'times must be a whole number, -1 for without end'
  const status = whole('status', kind === 'html' ? 502 : 503, 429, 504)
  if (status === undefined || !statuses.includes(status))
    return `status must be one of ${statuses.join(', ')}`
  if (kind === 'backend-unavailable' && status !== 503) return 'status of backend-unavailable is 503'
  const retryAfterSeconds = whole('retryAfterSeconds', status === 429 ? 1 : 0, 0, 86_400)
  const latencyMs = whole('latencyMs', kind === 'latency' ? 1000 : 0, 0, 600_000)
  const skewMs = whole('skewMs', 0, -31_536_000_000, 31_536_000_000)
  if (retryAfterSeconds === undefined) return 'retryAfterSeconds must be a whole number from 0 to 86400'
  if (latencyMs === undefined) return 'latencyMs must be a whole number from 0 to 600000'
  if (skewMs === undefined) return 'skewMs must be a whole number'
  return {
    id,
    kind: kind as WireFaultKind,
    route,
    host,
    method: method.toUpperCase(),
    probability,
    times,
    status,
    retryAfterSeconds,
    latencyMs,
    skewMs,
  }
}

/** Whether a text fits a pattern in which `*` stands for any text. */
export function fitsPattern(pattern: string, text: string): boolean {
  const parts = pattern.split('*')
  const [first = ''] = parts
  if (parts.length === 1) return pattern === text
  if (!text.startsWith(first)) return false
  let at = first.length
  for (const [i, part] of parts.entries()) {
    if (i === 0) continue
    if (i === parts.length - 1) return text.length - part.length >= at && text.endsWith(part)
    const found = text.indexOf(part, at)
    if (found === -1) return false
    at = found + part.length
  }
  return true
}

/** The rules of a venue and what they did. */
export interface WireFaults {
  readonly rules: WireFault[]
  /** What was hit and what was switched, in order. */
  readonly log: (WireFaultHit | SwitchChange)[]
  /** Keeps a change of the switches in the log. */
  note(set: Readonly<Record<string, unknown>>): void
  /** Adds a rule; a text says what is wrong with it. */
  add(value: unknown): WireFault | string
  remove(id: string): void
  /** Does a request with the faults that hit it. `work` makes the venue's own answer. */
  around(request: Request, prefix: string, work: (request: Request) => Promise<Response>): Promise<Response>
}

/** Splits a path into host and route: `/api/0/v1/orders` is `api/0` and `/orders`. */
export function hostAndRoute(path: string): { readonly host: string; readonly route: string } {
  const api = /^\/(api\/\d+)\/v\d+(\/.*)?$/.exec(path)
  if (api !== null) return { host: api[1] ?? '', route: api[2] ?? '/' }
  const other = /^\/((?:oracle|pairs|rpc)\/\d+|[^/]+)(\/.*)?$/.exec(path)
  return { host: other?.[1] ?? '', route: other?.[2] ?? '/' }
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
    if (rules.length >= MAX_WIRE_FAULTS) return `no more than ${MAX_WIRE_FAULTS} wire faults at once`
    const rule = readWireFault(value, `fault-${added + 1}`)
    if (typeof rule === 'string') return rule
    if (rules.some(({ id }) => id === rule.id)) return `there is a wire fault ${rule.id} already`
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
      let waitedMs = 0
      for (const { kind, latencyMs } of hit) {
        const waitMs = Math.min(latencyMs, SERVER_TIMEOUT_MS - waitedMs)
        if (waitMs > 0) await clock.sleep(waitMs)
        waitedMs += waitMs
        if (waitedMs >= SERVER_TIMEOUT_MS) return refusalOf({ id: 'timeout', kind, status: 503 }, clock.now())
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
  rule: Pick<WireFault, 'id' | 'kind' | 'status'> & Partial<Pick<WireFault, 'retryAfterSeconds'>>,
  nowMs: number,
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
          : { message: text },
      )
  return new Response(body, { status: rule.status, headers })
}

async function damaged(response: Response, rule: WireFault, nowMs: number): Promise<Response> {
  if (rule.kind === 'clock-skew') {
    const headers = new Headers(response.headers)
    headers.set('Date', new Date(nowMs + rule.skewMs).toUTCString())
    return new Response(response.body, { status: response.status, headers })
  }
  if (rule.kind !== 'truncated' && rule.kind !== 'garbage') return response
  const text = await response.text()
  const body =
    rule.kind === 'truncated' ? text.slice(0, text.length >> 1) : `\u0000\u0001{]${text.slice(0, 16)}\uFFFD`
  return new Response(body, { status: response.status, headers: response.headers })
}
