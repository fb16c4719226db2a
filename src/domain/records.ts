/**
 * The journal's records, J1 to J7 (docs/architecture.md, "The pipeline"). Append-only; each is durable before the side effect that follows it. Every
 * record carries its version, so that a daemon never misreads a newer one's records.
 */
import { checkDepth, ownBounds, parseBounded, shownValue } from '../base/boundedJson.ts'
import { defined } from '../base/defined.ts'
import { BaseError } from '../base/errors.ts'
import type { Hex } from '../protocol/address.ts'
import type { Usd } from '../protocol/units.ts'
import { type AccountRecord, accountRecordKinds } from './accountRecords/accountRecord.ts'
import { RECORD_VERSION } from './accountRecords/recordVersion.ts'
import type {
  ArmedFacts,
  ChildRole,
  Closing,
  Evidence,
  Intent,
  SendFacts,
  Settlement,
} from './order/intent.ts'
import type { LaneName } from './order/laneTable.ts'
import type { WarnedFacts } from './order/warnedFacts.ts'

interface RecordBase {
  readonly v: typeof RECORD_VERSION
  /** Wall clock, Unix ms; stamps only. */
  readonly atMs: number
  readonly intentId: string
}

/** J1: admitted; the reservation is held from here. */
export interface IntentAccepted extends RecordBase {
  readonly kind: 'intent.accepted'
  readonly intent: Intent
}

/** J2: durable before anything is done with what a host prepared. */
export interface AttemptPreparing extends RecordBase {
  readonly kind: 'attempt.preparing'
  readonly attempt: number
  readonly lane: LaneName
  readonly host: string
}

/** The venue warned when it prepared, and policy decided about the order: shown and durable before anything is signed. */
export interface AttemptWarned extends RecordBase {
  readonly kind: 'attempt.warned'
  readonly attempt: number
  readonly warned: WarnedFacts
}

/** J3: verified and signed; from here the digest counts as sent. */
export interface AttemptArmed extends RecordBase {
  readonly kind: 'attempt.armed'
  readonly attempt: number
  readonly armed: ArmedFacts
}

/** J4: the result of the one submit. May be lost; recovery writes `unanswered` in its place. */
export interface SendResult extends RecordBase {
  readonly kind: 'send.result'
  readonly attempt: number
  readonly send: SendFacts
}

/** The venue says that it gave up an attempt it had accepted: the attempt is unresolved until proof. Written once. */
export interface AttemptDoubted extends RecordBase {
  readonly kind: 'attempt.doubted'
  readonly attempt: number
  readonly evidence: Evidence
}

/** J5: the attempt's orders exist. Written again, with the same keys, when the chain shows it final. */
export interface Landed extends RecordBase {
  readonly kind: 'landed'
  readonly attempt: number
  readonly orderKeys: readonly Hex[]
  /** The purpose of each order, in the order of the keys. */
  readonly roles: readonly ChildRole[]
  readonly evidence: Evidence
  /** The part of the message's fee that the relay gave back, USD, by the chain; absent: not shown, so the fee counts whole. */
  readonly feeReturnedUsd?: Usd
}

/** J5 taken back: the chain was reorganised, and the attempt is unresolved again. */
export interface Unlanded extends RecordBase {
  readonly kind: 'attempt.unlanded'
  readonly attempt: number
  readonly evidence: Evidence
}

/**
 * J5: one order reached its end, froze, or is open again. An end that the chain shows in its latest block is provisional;
 * it is written again when it is final.
 */
export interface ChildMoved extends RecordBase {
  readonly kind: 'child.executed' | 'child.cancelled' | 'child.frozen' | 'child.reopened'
  readonly attempt: number
  readonly child: number
  readonly orderKey: Hex
  readonly evidence: Evidence
  readonly settlement?: Settlement
  readonly cancelReason?: string
}

/** J6: the attempt can never land (dead), or its digest was used up by somebody else (void). */
export interface AttemptDead extends RecordBase {
  readonly kind: 'attempt.dead' | 'attempt.void'
  readonly attempt: number
  readonly evidence: Evidence
  readonly observedStatus?: string
}

/** J7: the intent is over; the reservation is released. */
export interface IntentClosed extends RecordBase {
  readonly kind: 'intent.closed'
  readonly closing: Closing
}

/** One durable line of an intent's story. */
export type JournalRecord =
  | IntentAccepted
  | AttemptPreparing
  | AttemptWarned
  | AttemptArmed
  | SendResult
  | AttemptDoubted
  | Landed
  | Unlanded
  | ChildMoved
  | AttemptDead
  | IntentClosed

/** Kinds of records. */
export type RecordKind = JournalRecord['kind']

/** Every line of a journal: of an intent, or of the account. */
export type AnyRecord = JournalRecord | AccountRecord

/** A record as the journal keeps it: with its place in the order of all records. */
export interface StoredRecord {
  /** 1, 2, 3, ... without gaps. */
  readonly seq: number
  readonly record: JournalRecord
}

const kinds: ReadonlySet<string> = new Set<RecordKind>([
  'intent.accepted',
  'attempt.preparing',
  'attempt.warned',
  'attempt.armed',
  'send.result',
  'attempt.doubted',
  'landed',
  'attempt.unlanded',
  'child.executed',
  'child.cancelled',
  'child.frozen',
  'child.reopened',
  'attempt.dead',
  'attempt.void',
  'intent.closed',
])

/** Text of a record; see `encodeExact`. */
export function encodeRecord(record: AnyRecord): string {
  return encodeExact(record)
}

/**
 * JSON with bigints as `{"$bigint":"..."}` and maps as `{"$map":[[key,value],...]}`: unambiguous, so that no user text can be
 * taken for a number.
 */
export function encodeExact(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) => {
    if (typeof inner === 'bigint') return { $bigint: inner.toString() }
    return inner instanceof Map ? { $map: [...inner] } : inner
  })
}

/** Reads a text of `encodeExact`. Throws SyntaxError when it is no JSON, nests deeper than 64, or holds an invalid bigint. */
export function decodeExact(text: string): unknown {
  // A text this short takes hardly any memory, however it nests: only the walk over its values counts then, without one over its text.
  return revive(text.length > SHORT ? parseBounded(text, ownBounds) : JSON.parse(text), 0)
}

/** Characters of a text that is parsed before it is judged. */
const SHORT = 65_536

/**
 * Puts bigints and maps in their places; cheaper than a reviver of JSON.parse, which is called for every text too.
 *
 * @param depth lists and objects around the value
 */
function revive(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value
  checkDepth(depth + 1, ownBounds)
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) value[index] = revive(value[index], depth + 1)
    return value
  }
  const fields = value as Record<string, unknown>
  if (typeof fields.$bigint === 'string') return BigInt(fields.$bigint)
  for (const key in fields) {
    const inner = fields[key]
    if (typeof inner === 'object' && inner !== null) fields[key] = revive(inner, depth + 1)
  }
  return Array.isArray(fields.$map) ? new Map(fields.$map) : fields
}

/**
 * Reads a record's text.
 *
 * @throws BaseError JOURNAL_RECORD_UNREADABLE when the text is no record, JOURNAL_RECORD_NEWER when a newer daemon wrote it.
 */
export function decodeRecord(text: string): JournalRecord {
  const record = decodeAnyRecord(text)
  if (isAccountRecord(record)) throw unreadable('it belongs to the account, not to an intent', text)
  return record
}

/** Tells whether a record belongs to the account and not to an intent. */
export function isAccountRecord(record: AnyRecord): record is AccountRecord {
  return accountRecordKinds.has(record.kind)
}

/** As `decodeRecord`, for records of the account too. */
export function decodeAnyRecord(text: string): AnyRecord {
  let value: unknown
  try {
    value = decodeExact(text)
  } catch (cause) {
    throw unreadable('it is not JSON', text, cause)
  }
  return recordIn(value, text)
}

/** Takes a parsed value for a record. Throws as `decodeRecord` does. */
function recordIn(value: unknown, text: string): AnyRecord {
  if (typeof value !== 'object' || value === null) throw unreadable('it is not an object', text)
  const { v, kind, intentId, atMs } = value as Record<string, unknown>
  if (typeof v === 'number' && v > RECORD_VERSION) {
    throw new BaseError('The journal was written by a newer perpd.', {
      code: 'JOURNAL_RECORD_NEWER',
      facts: { version: v, readable: RECORD_VERSION },
      details: 'Nothing was changed. Run the newer perpd; an older one would misread open orders.',
    })
  }
  if (v !== RECORD_VERSION) throw unreadable(`its version is ${shownValue(v)}`, text)
  if (typeof kind !== 'string' || !(kinds.has(kind) || accountRecordKinds.has(kind)))
    throw unreadable(`its kind is ${shownValue(kind)}`, text)
  if (typeof intentId !== 'string' || typeof atMs !== 'number')
    throw unreadable('intentId or atMs is missing', text)
  return value as AnyRecord
}

function unreadable(why: string, text: string, cause?: unknown): BaseError {
  return new BaseError(`A journal record cannot be read: ${why}.`, {
    code: 'JOURNAL_RECORD_UNREADABLE',
    facts: { record: text.length > 200 ? `${text.slice(0, 200)}…` : text },
    details:
      'perpd does not start on a journal that it cannot read completely. Restore the file from a backup made while perpd was stopped.',
    ...defined({ cause }),
  })
}
