/** The records that one writer knows to be durable: the end of their chain, and the newest of them, which repair a server that lost some. */
import type { SignEntry } from '../../domain/guardTable.ts'
import type { StoreEntry } from '../journalStore.ts'
import { hashOf, type Tail } from '../sqlite/hashChain.ts'
import { rowsOf } from '../sqlite/recordRows.ts'
import type { ChainedRecord } from './sharedServer.ts'

/** Least number of the newest records in memory, once there are as many. */
const KEPT_RECORDS = 1_000

/** The chain as its writer knows it. */
export class KnownRecords {
  #tail: Tail
  /** End of the chain before the first record in memory. */
  #before: Tail
  #kept: ChainedRecord[] = []
  /** Entries of the signing guard that wait for the record that arms them, by digest. */
  readonly #signed = new Map<string, SignEntry>()

  constructor(tail: Tail) {
    this.#tail = tail
    this.#before = tail
  }

  /** The newest record that is durable. */
  get tail(): Tail {
    return this.#tail
  }

  /** Adds an entry of the signing guard; it is written with the record that arms its digest. */
  claimed(entry: SignEntry): void {
    this.#signed.set(entry.digest, entry)
  }

  /** Numbers and hashes records after the end of the chain. */
  chained(entries: readonly StoreEntry[]): readonly ChainedRecord[] {
    let { seq, hash } = this.#tail
    return entries.map((entry) => {
      seq += 1
      hash = hashOf(hash, seq, entry.body)
      const record = { seq, hash, rows: rowsOf(entry) }
      const signed = this.#signedOf(entry)
      return signed === undefined ? record : { ...record, signed }
    })
  }

  /** Adds records that are durable now. */
  add(records: readonly ChainedRecord[]): void {
    this.#kept.push(...records)
    this.#tail = records.at(-1) ?? this.#tail
    for (const { signed } of records) if (signed !== undefined) this.#signed.delete(signed.entry.digest)
    if (this.#kept.length <= 2 * KEPT_RECORDS) return
    const dropped = this.#kept.splice(0, this.#kept.length - KEPT_RECORDS)
    this.#before = dropped.at(-1) ?? this.#before
  }

  /** Returns the durable records after `end`, for a chain that ends there. Undefined where `end` is no place of this chain, or lies too far back. */
  missingAfter(end: Tail): readonly ChainedRecord[] | undefined {
    const from = [this.#before, ...this.#kept].findIndex((each) => isSamePlace(each, end))
    return from < 0 ? undefined : this.#kept.slice(from)
  }

  /** Returns the guard's entry of an arming record: the one that was added for its digest or came with it, else one made of the record. */
  #signedOf({ record, signed }: StoreEntry): ChainedRecord['signed'] {
    if (record.kind !== 'attempt.armed') return undefined
    const { intentId, attempt, atMs, armed } = record
    const digest = armed.digest.toLowerCase() as SignEntry['digest']
    const atSeconds = Math.floor(atMs / 1000)
    const entry = this.#signed.get(digest) ??
      signed ?? {
        ...{ intentId, attempt, digest, atSeconds, addsUsd: 0n },
        deadlineSeconds: armed.deadlineSeconds,
      }
    return { router: armed.router.toLowerCase(), entry }
  }
}

/** Tells whether two ends of a chain are the same. */
export function isSamePlace(one: Tail, other: Tail): boolean {
  return one.seq === other.seq && one.hash === other.hash
}
