/**
 * Deliberate faults of the venue: a plain object of switches, changed at any time; off by default. It is no part of the wire format; tests and
 * operators set it at the control address.
 */

import { isObject } from '../../base/isObject.ts'
import type { PayloadMismatch } from '../prepare/payloadMismatch.ts'
import { type DataFaults, isDataFault, noDataFaults, wrongDataFault } from '../state/dataFaults.ts'

/** Switches of a venue. */
export interface Faults extends DataFaults {
  /**
   * `accept-and-never-answer`: the submit works, the answer never comes. `503-after-work`: it works, 503 is answered.
   * `500-before-work`: nothing happens, 500 is answered.
   */
  submit: 'none' | 'accept-and-never-answer' | '503-after-work' | '500-before-work'
  /**
   * `foreign-receiver`: prepared orders pay somebody else. `batch-copy`, `relay-copy`: the copy of the batch, or of the relay
   * parameters, beside the message says something else than the message. `unavailable`: 503.
   */
  prepare: 'none' | PayloadMismatch | 'unavailable'
  /** `unavailable`: 503. `not-found`: 404 for what is known. */
  status: 'none' | 'unavailable' | 'not-found'
  /** Added to every answer, ms. */
  latencyMs: number
  /** Hosts whose connections are cut: `api/0`, `api/1`, `oracle/0`, ... */
  down: string[]
  /** Market tokens that `/markets/state` calls closed. */
  closedMarkets: string[]
  /** Market tokens whose status `/markets/state` does not know. */
  unknownMarkets: string[]
  /** `unavailable`: `/ping` of every oracle host answers 500, `db is unavailable`. */
  oracleDatabase: 'available' | 'unavailable'
  /** Times each of submit, prepare and status faults still applies; -1 = until changed. */
  times: number
}

/** No faults. */
export function noFaults(): Faults {
  return {
    submit: 'none',
    prepare: 'none',
    status: 'none',
    latencyMs: 0,
    down: [],
    closedMarkets: [],
    unknownMarkets: [],
    oracleDatabase: 'available',
    times: -1,
    ...noDataFaults(),
  }
}

const choices = {
  submit: ['none', 'accept-and-never-answer', '503-after-work', '500-before-work'],
  prepare: ['none', 'foreign-receiver', 'batch-copy', 'relay-copy', 'unavailable'],
  status: ['none', 'unavailable', 'not-found'],
  oracleDatabase: ['available', 'unavailable'],
} as const

function isChoice(name: string): name is keyof typeof choices {
  return Object.hasOwn(choices, name)
}

function texts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string')
}

/** Applies the given switches; the others stay. Returns what is wrong with the change, or undefined. */
export function applyFaults(faults: Faults, change: unknown): string | undefined {
  if (!isObject(change)) return 'faults must be an object'
  for (const [name, value] of Object.entries(change)) {
    if (isChoice(name)) {
      if (!(choices[name] as readonly unknown[]).includes(value)) {
        return `${name} must be one of ${choices[name].join(', ')}`
      }
    } else if (name === 'latencyMs' || name === 'times') {
      if (typeof value !== 'number' || !Number.isInteger(value)) return `${name} must be an integer`
    } else if (name === 'down' || name === 'closedMarkets' || name === 'unknownMarkets') {
      if (!texts(value)) return `${name} must be a list of texts`
    } else if (isDataFault(name)) {
      const wrong = wrongDataFault(name, value)
      if (wrong !== undefined) return wrong
    } else {
      return `unknown fault ${name}`
    }
  }
  Object.assign(faults, change)
  return undefined
}

/** Switches that change markets themselves: reads show them when their windows end, as on the live hosts. */
const marketSwitches = new Set(['closedMarkets', 'unknownMarkets', 'disabledMarkets', 'unlistedMarkets'])

/** Tells whether a change of switches must take effect at once, despite cached responses. */
export function showsAtOnce(change: unknown): boolean {
  return isObject(change) && Object.keys(change).some((name) => !marketSwitches.has(name))
}

/** The fault of a route that applies now, counted against `times`; `none` when it is used up. */
export function takeFault<K extends 'submit' | 'prepare' | 'status'>(faults: Faults, name: K): Faults[K] {
  const fault = faults[name]
  if (fault === 'none' || faults.times === 0) return 'none' as Faults[K]
  if (faults.times > 0) faults.times -= 1
  return fault
}
