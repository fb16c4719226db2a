/**
 * The ledger as a snapshot keeps it: a head with the folds at one record, written anew each time, and parts with what is only
 * ever added (decisions, digests, created orders), each for the records since the part before. So a snapshot costs what is
 * new, however long the history is.
 */
import { type AccountState, emptyAccountState } from '../domain/account/accountRecord.ts'
import type { Fill } from '../domain/account/fills.ts'
import type { Ending } from '../domain/account/spend.ts'
import type { IntentState } from '../domain/order/intent.ts'
import type { OrderChange } from '../domain/order/signedOrder.ts'
import { decodeExact, encodeExact } from '../domain/records.ts'

/** Raised whenever the same records fold to something else than before: snapshots of other versions are left aside. */
const SNAPSHOT_VERSION = 2

/** What may come once: a decision of a strategy, a digest for a router with its intent, an order with the intent that created it. */
export type Identity =
  | readonly [what: 'decision', strategy: string, decisionKey: string]
  | readonly [what: 'digest', router: string, digest: string, intentId: string]
  | readonly [what: 'order', orderKey: string, intentId: string]

/** The folds at one record. */
export interface LedgerHead {
  /** Intents that were ever accepted. */
  readonly intents: number
  readonly account: AccountState
  /** Oldest first. */
  readonly open: readonly IntentState[]
  /** In the order in which they were accepted. */
  readonly recent: readonly IntentState[]
  readonly endings: readonly Ending[]
  readonly accepted: readonly (readonly [atMs: number, strategy: string])[]
  readonly fills: readonly Fill[]
  readonly changes: readonly (readonly [orderKey: string, change: OrderChange])[]
}

/** A whole ledger: what it goes on from. */
export interface LedgerState extends LedgerHead {
  /** Number of the newest record in it. */
  readonly seq: number
  readonly identities: Iterable<Identity>
}

/** Before the first record. */
export const emptyLedger: LedgerState = {
  seq: 0,
  intents: 0,
  account: emptyAccountState,
  open: [],
  recent: [],
  endings: [],
  accepted: [],
  fills: [],
  changes: [],
  identities: [],
}

/** What a store is given to keep. */
export interface LedgerSnapshot {
  readonly seq: number
  /** Replaces the head before. */
  readonly head: string
  /** What the records after `fromSeq` added; with `fromSeq` 0 it replaces all parts before. */
  readonly part: string
  readonly fromSeq: number
}

/** What a store gives back: the newest head, and all parts, the oldest first. */
export interface KeptSnapshot {
  readonly seq: number
  readonly head: string
  readonly parts: readonly string[]
}

/** Text of a head: equal folds give equal text. */
export function encodeHead(head: LedgerHead): string {
  const { intents, account, open, recent, endings, accepted, fills, changes } = head
  // An open intent stands once: among the open ones.
  const isOpen = new Set(open.map(({ intent }) => intent.intentId))
  const rest = recent.map((state) => (isOpen.has(state.intent.intentId) ? state.intent.intentId : state))
  return encodeExact({
    v: SNAPSHOT_VERSION,
    intents,
    account,
    open,
    recent: rest,
    endings,
    accepted,
    fills,
    changes,
  })
}

/** Text of a part. */
export function encodePart(identities: readonly Identity[]): string {
  return JSON.stringify(identities)
}

/** The ledger's state in a snapshot, or undefined when it is none of this version. Its records are there, so nothing is lost with it. */
export function decodeSnapshot({ seq, head, parts }: KeptSnapshot): LedgerState | undefined {
  try {
    const body = decodeExact(head) as Omit<LedgerHead, 'recent'> & {
      readonly v: number
      readonly recent: readonly (IntentState | string)[]
    }
    if (body.v !== SNAPSHOT_VERSION) return undefined
    const { v: _, recent, ...rest } = body
    const open = new Map(body.open.map((state) => [state.intent.intentId, state]))
    return {
      ...rest,
      seq,
      recent: recent.map((each) => (typeof each === 'string' ? held(open.get(each)) : each)),
      identities: parts.flatMap((part) => JSON.parse(part) as readonly Identity[]),
    }
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return undefined
    throw error
  }
}

function held(state: IntentState | undefined): IntentState {
  if (state === undefined) throw new TypeError('an intent is named as open and is not there')
  return state
}
