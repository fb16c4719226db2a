/**
 * The api of an account whose lists are not read again while nothing happens to it. An account without positions, orders and tasks changes only by an event of
 * its own on the chain. While every endpoint shows none, an empty list is handed out again for up to a minute, as old as the endpoints' look is. In any
 * doubt the host is asked: nothing waits for an endpoint.
 *
 * Lists with rows are always read: their figures change with prices.
 */
import type { Api } from '../api/client.ts'
import type { CallOptions, Read } from '../api/transport/route.ts'
import { ageMsOf, type Clock, type Moment, momentOf } from '../base/clock.ts'
import type { LedgerReads } from '../journal/journal.ts'
import type { Address } from '../protocol/address.ts'

/** Longest time from a reading to its last use, ms. Beside it, the lag of lists and the age of a look fit into the time that a look reaches back. */
const HELD_MS = 60_000
/** Greatest age that an answer may have, ms. */
const MOST_AGE_MS = 5_000
/** The limits on the age of an account's data must be this many times that: time passes between a reading and its use. */
const SPARE = 2

/** Facts that decide about a list that is held. */
export interface HeldListsParts {
  readonly api: Api
  readonly account: Address
  readonly clock: Clock
  readonly journal: Pick<LedgerReads, 'summary' | 'account'>
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

/** Makes the api. */
export function heldLists(parts: HeldListsParts): Api {
  const { api, account, clock, journal } = parts
  const held = new Map<string, Held>()

  /** Number of intents so far, while none is open and no task runs; undefined: orders may be under way. */
  function restingIntents(): number | undefined {
    const { intents, openIntents } = journal.summary()
    if (openIntents > 0) return undefined
    const tasks = journal.account().tasks?.values() ?? []
    return [...tasks].some(({ end }) => end === undefined) ? undefined : intents
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
    isEmpty: (value: T) => boolean,
  ): Promise<Read<T>> {
    const key = JSON.stringify([name, query, options?.host])
    const intents = restingIntents()
    const known = options?.isFresh === true ? undefined : stillTrue(key, intents)
    if (known !== undefined) return known as Read<T>
    const begun = momentOf(clock)
    const answer = await ask(query, options)
    held.delete(key)
    for (const [other, { at }] of held) if (ageMsOf(at, clock) > HELD_MS) held.delete(other)
    if (intents === undefined || answer.missing !== undefined || !isEmpty(answer.value)) return answer
    // An answer that several share was asked for before some of them asked.
    const agoMs = Math.max(ageMsOf(begun, clock), clock.now() - answer.readAtMs)
    held.set(key, { read: answer, at: momentOf(clock, agoMs), intents })
    return answer
  }

  return {
    ...api,
    getPositions: (query, options) =>
      read('positions', query, options, api.getPositions, ({ length }) => length === 0),
    getOrders: (query, options) =>
      read('orders', query, options, api.getOrders, ({ length }) => length === 0),
    // Trades are what was: none of a page changes, and a new one has its event.
    searchTrades: (query, options) => read('trades', query, options, api.searchTrades, () => true),
  }
}
