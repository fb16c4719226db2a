/**
 * The api of an account whose lists are not read again while nothing happens to it. An account without positions, orders and tasks changes only by an event of
 * its own on the chain. While every endpoint shows none, an empty list is handed out again for up to a minute, as old as the endpoints' look is. In any
 * doubt the host is asked: nothing waits for an endpoint.
 *
 * Lists with rows are always read: their figures change with prices. A list that has just become empty is too: a host that leaves rows out for a moment must
 * not have them missing for a minute.
 */
import type { Api } from '../api/client.ts'
import type { CallOptions, Read } from '../api/transport/route.ts'
import { ageMsOf, type Clock, type Moment, momentOf } from '../base/clock.ts'
import { LIST_LAG_MS } from '../domain/accountRecords/listLag.ts'
import type { IntentState } from '../domain/order/intent.ts'
import type { HasJournal } from '../execution/context/executionParts.ts'
import { withReads } from '../market/pinnedApi.ts'
import type { Address } from '../protocol/address.ts'
import { lastSides } from './holdings/lastSides.ts'

/** Longest time from a reading to its last use, ms. Beside it, the lag of lists and the age of a look fit into the time that a look reaches back. */
const HELD_MS = 60_000
/** Time after its last reading for which an answer is remembered, ms. */
const FORGOTTEN_MS = 2 * HELD_MS
/** Greatest age that an answer may have, ms. */
const MOST_AGE_MS = 5_000
/** The limits on the age of an account's data must be this many times that: time passes between a reading and its use. */
const SPARE = 2

/** Facts that decide about a list that is held. */
export interface HeldListsParts {
  readonly api: Api
  readonly account: Address
  readonly clock: Clock
  readonly journal: HasJournal['journal']
  /** Gives the age of the newest look of all endpoints that saw no event of the account for two minutes, ms; undefined without one. */
  readonly quietAgoMs: (account: Address) => number | undefined
  /** The least of the limits in force on the age of positions and orders, ms. */
  readonly leastAgeLimitMs: () => number
}

interface Held {
  readonly read: Read<unknown>
  readonly at: Moment
  readonly intents: number
}

/** The newest answer to a question in a few words, and the first reading in a row that gave it. */
interface Steady {
  readonly words: string
  readonly since: Moment
  readonly at: Moment
}

/** Makes the api. */
export function heldLists(parts: HeldListsParts): Api {
  const { api, account, clock, journal } = parts
  const held = new Map<string, Held>()
  const steady = new Map<string, Steady>()
  const sidesOf = lastSides()

  /** Number of intents so far, while none is open, no task runs and the journal knows of no position; undefined: something may be under way. */
  function restingIntents(): number | undefined {
    const { intents, openIntents } = journal.summary()
    if (openIntents > 0) return undefined
    const state = journal.account()
    if ([...(state.tasks?.values() ?? [])].some(({ end }) => end === undefined)) return undefined
    const sides = sidesOf(journal.closedFills(), noneOpen, state)
    return [...sides.values()].some(({ sizeUsd }) => sizeUsd !== 0n) ? undefined : intents
  }

  /** Returns what is held for a question, as old as it may be called now. */
  function stillTrue(key: string, intents: number | undefined): Read<unknown> | undefined {
    const known = held.get(key)
    if (known === undefined) return undefined
    const readAgoMs = ageMsOf(known.at, clock)
    if (intents !== known.intents || readAgoMs > HELD_MS) {
      held.delete(key)
      return undefined
    }
    if (parts.leastAgeLimitMs() < SPARE * MOST_AGE_MS) return undefined
    const quietAgoMs = parts.quietAgoMs(account)
    if (quietAgoMs === undefined) return undefined
    const agoMs = Math.max(0, Math.min(readAgoMs, quietAgoMs))
    return agoMs > MOST_AGE_MS ? undefined : { ...known.read, readAtMs: clock.now() - agoMs }
  }

  async function read<Query, T>(
    name: string,
    query: Query,
    options: CallOptions | undefined,
    ask: (query: Query, options?: CallOptions) => Promise<Read<T>>,
    wordsOf: (value: T) => string | undefined,
  ): Promise<Read<T>> {
    const key = JSON.stringify([name, query, options?.host])
    const intents = restingIntents()
    const known = options?.isFresh === true ? undefined : stillTrue(key, intents)
    if (known !== undefined) return known as Read<T>
    const begun = momentOf(clock)
    const answer = await ask(query, options)
    held.delete(key)
    for (const kept of [held, steady])
      for (const [other, { at }] of kept) if (ageMsOf(at, clock) > FORGOTTEN_MS) kept.delete(other)
    const words = answer.missing === undefined ? wordsOf(answer.value) : undefined
    if (words === undefined) {
      steady.delete(key)
      return answer
    }
    // An answer that several share was asked for before some of them asked.
    const at = momentOf(clock, Math.max(ageMsOf(begun, clock), clock.now() - answer.readAtMs))
    const before = steady.get(key)
    const since = before?.words === words ? before.since : at
    steady.set(key, { words, since, at })
    if (intents !== undefined && ageMsOf(since, clock) >= LIST_LAG_MS)
      held.set(key, { read: answer, at, intents })
    return answer
  }

  return withReads(api, {
    getPositions: (query, options) => read('positions', query, options, api.getPositions, empty),
    getOrders: (query, options) => read('orders', query, options, api.getOrders, empty),
    // Trades are what was: none of a page changes, and a new one has its event.
    searchTrades: (query, options) =>
      read('trades', query, options, api.searchTrades, ({ trades }) => trades.map(({ id }) => id).join(' ')),
  })
}

const noneOpen: readonly IntentState[] = []

/** The words of an empty list; one with rows has none. */
function empty({ length }: readonly unknown[]): string | undefined {
  return length === 0 ? '' : undefined
}
