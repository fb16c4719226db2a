/** Rules of wire faults: what one does, which requests it fits, and how it is read from JSON. */

import { isObject } from '../../base/isObject.ts'
import { type AnswerEdit, readAnswerEdits } from './answerEdit.ts'

/** Effects that a rule can have on a request. */
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
  'edit',
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
  /** Delay of the kind `latency`, ms. */
  readonly latencyMs: number
  /** Added to the Date header by the kind `clock-skew`, ms, signed. */
  readonly skewMs: number
  /** Changes that the kind `edit` makes in the JSON of a good response. */
  readonly edits: readonly AnswerEdit[]
}

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
  'edits',
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
  if (times === undefined) return 'times must be a whole number, -1 for no end'
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
  const edits = value.edits === undefined ? [] : readAnswerEdits(value.edits)
  if (typeof edits === 'string') return edits
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
    edits,
  }
}

/** Tells whether a text fits a pattern in which `*` stands for any text. */
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

/** Splits a path into host and route: `/api/0/v1/orders` is `api/0` and `/orders`. */
export function hostAndRoute(path: string): { readonly host: string; readonly route: string } {
  const api = /^\/(api\/\d+)\/v\d+(\/.*)?$/.exec(path)
  if (api !== null) return { host: api[1] ?? '', route: api[2] ?? '/' }
  const other = /^\/((?:oracle|pairs|rpc)\/\d+|[^/]+)(\/.*)?$/.exec(path)
  return { host: other?.[1] ?? '', route: other?.[2] ?? '/' }
}
