/**
 * The ledger as a snapshot keeps it: a head with the folds at one record, written anew each time, and parts with what is only
 * ever added (decisions, digests, created orders), each for the records since the part before. So a snapshot costs what is
 * new, however long the history is.
 */

import { type BooksState, noBooks } from '../books/booksState.ts'
import { type AccountState, emptyAccountState } from '../domain/accountRecords/accountRecord.ts'
import type { Fill } from '../domain/accountRecords/fills.ts'
import type { IntentState } from '../domain/order/intent.ts'
import type { OrderChange } from '../domain/order/signedOrder.ts'
import { decodeExact, encodeExact } from '../domain/records.ts'
import type { OwnEvents } from './journal.ts'

/** Raised whenever the same records fold to something else than before: snapshots of other versions are left aside. */
const SNAPSHOT_VERSION = 1

/** The folds at one record. */
export interface LedgerHead {
  /** Time of the newest record, Unix ms. */
  readonly newestAtMs: number
  /** Intents that were ever accepted. */
  readonly intents: number
  readonly account: AccountState
  /** Oldest first. */
  readonly open: readonly IntentState[]
  readonly fills: readonly Fill[]
  readonly changes: readonly (readonly [orderKey: string, change: OrderChange])[]
  /** Events that instances with a memory have not received yet. */
  readonly ownEvents: readonly (readonly [strategy: string, events: OwnEvents])[]
  /** Whose part of each position is whose, and what it brought. */
  readonly books: BooksState
}

/** Identities that may occur only once, as they were added. */
export interface Identities {
  /** Keys of decisions, by strategy. */
  readonly decisions: Readonly<Record<string, readonly string[]>>
  /** Digests, each followed by the intent that armed it, by router. */
  readonly digests: Readonly<Record<string, readonly string[]>>
  /** Orders, each followed by the intent that created it. */
  readonly orders: readonly string[]
}

/** A whole ledger: what it goes on from. */
export interface LedgerState extends LedgerHead {
  /** Number of the newest record in it. */
  readonly seq: number
  readonly identities: readonly Identities[]
}

/** Before the first record. */
export const emptyLedger: LedgerState = {
  seq: 0,
  newestAtMs: 0,
  intents: 0,
  account: emptyAccountState,
  open: [],
  fills: [],
  changes: [],
  ownEvents: [],
  books: noBooks,
  identities: [],
}

/** Snapshot that a store persists. */
export interface LedgerSnapshot {
  readonly seq: number
  /** Replaces the head before. */
  readonly head: string
  /** Additions of the records after `fromSeq`; with `fromSeq` 0 it replaces all parts before. */
  readonly part: string
  readonly fromSeq: number
}

/** Snapshot that a store returns: the newest head, and all parts, the oldest first. */
export interface KeptSnapshot {
  readonly seq: number
  readonly head: string
  readonly parts: readonly string[]
}

/** Text of a head: equal folds give equal text. */
export function encodeHead(head: LedgerHead): string {
  const { newestAtMs, intents, account, open, fills, changes, ownEvents, books } = head
  return encodeExact({
    v: SNAPSHOT_VERSION,
    newestAtMs,
    intents,
    account,
    open,
    fills,
    changes,
    ownEvents,
    books,
  })
}

/** Text of a part. */
export function encodePart({ decisions, digests, orders }: Identities): string {
  return JSON.stringify({ decisions, digests, orders })
}

/** Text of one part for all of these, the oldest first. */
export function joinParts(parts: readonly Identities[]): string {
  const decisions = new Map<string, string[]>()
  const digests = new Map<string, string[]>()
  for (const part of parts) {
    for (const [strategy, keys] of Object.entries(part.decisions)) append(decisions, strategy, keys)
    for (const [router, pairs] of Object.entries(part.digests)) append(digests, router, pairs)
  }
  return encodePart({
    decisions: Object.fromEntries(decisions),
    digests: Object.fromEntries(digests),
    orders: parts.flatMap(({ orders }) => orders),
  })
}

function append(to: Map<string, string[]>, key: string, more: readonly string[]): void {
  const found = to.get(key)
  if (found === undefined) to.set(key, [...more])
  else for (const each of more) found.push(each)
}

/** The ledger's state in a snapshot, or undefined when it is none of this version. Its records are there, so nothing is lost with it. */
export function decodeSnapshot({ seq, head, parts }: KeptSnapshot): LedgerState | undefined {
  try {
    const body = decodeExact(head)
    const identities: unknown[] = parts.map((part) => JSON.parse(part))
    return isHead(body) && identities.every(isPart) ? { ...body, seq, identities } : undefined
  } catch (error) {
    // A map that is none of pairs is a TypeError.
    if (error instanceof SyntaxError || error instanceof TypeError) return undefined
    throw error
  }
}

function isHead(value: unknown): value is LedgerHead {
  if (!isObject(value) || value.v !== SNAPSHOT_VERSION) return false
  const { newestAtMs, intents, account, open, fills, changes, ownEvents, books } = value
  return (
    typeof newestAtMs === 'number' &&
    typeof intents === 'number' &&
    isObject(account) &&
    account.discrepancies instanceof Map &&
    isObject(account.trading) &&
    [open, fills, changes, ownEvents].every(Array.isArray) &&
    isObject(books) &&
    [books.sides, books.totals, books.days, books.tracks].every(Array.isArray) &&
    (open as unknown[]).every(isState)
  )
}

function isState(value: unknown): boolean {
  return (
    isObject(value) &&
    isObject(value.intent) &&
    typeof value.intent.intentId === 'string' &&
    Array.isArray(value.attempts)
  )
}

function isPart(value: unknown): value is Identities {
  if (!isObject(value)) return false
  const { decisions, digests, orders } = value
  const lists = isObject(decisions) && isObject(digests) ? [decisions, digests].flatMap(Object.values) : [0]
  return Array.isArray(orders) && lists.every(Array.isArray)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
