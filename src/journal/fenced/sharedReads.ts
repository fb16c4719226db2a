/** Reads of a journal on a server: each record is held against its hash, and what only waits for the network is asked again. */
import type { Ending } from '../../domain/accountRecords/spend.ts'
import { foldRecords } from '../../domain/machine/fold.ts'
import type { IntentState } from '../../domain/order/intent.ts'
import { decodeAnyRecord, isAccountRecord, type StoredRecord } from '../../domain/records.ts'
import type { HistoryReads, IntentQuery } from '../journal.ts'
import { corruptFault, recordFault } from '../journalFaults.ts'
import type { KeptRecord } from '../journalStore.ts'
import type { KeptSnapshot } from '../ledgerState.ts'
import { GENESIS_HASH, hashOf } from '../sqlite/hashChain.ts'
import { checksum } from '../sqlite/writeSnapshot.ts'
import type { SharedServer, StoredPart, StoredRow, StoredSnapshot } from './sharedServer.ts'
import type { Steady } from './steady.ts'

/** Records of a page. */
const PAGE = 1_000

/** Reads of a store, without its lease. */
export class SharedReads implements HistoryReads {
  readonly #server: SharedServer
  readonly #steady: Steady

  constructor(server: SharedServer, steady: Steady) {
    this.#server = server
    this.#steady = steady
  }

  /** Reads records in pages, each against the hash before it. Throws JournalFaultError JOURNAL_CORRUPT or JOURNAL_NEWER. */
  async *read(afterSeq: number): AsyncIterable<readonly KeptRecord[]> {
    let hash = await this.hashAt(afterSeq)
    let seq = afterSeq
    for (;;) {
      const rows = await this.#steady(() => this.#server.records(seq, PAGE))
      if (rows.length === 0) return
      yield rows.map((row): KeptRecord => {
        seq += 1
        if (row.seq !== seq || hash === undefined) throw this.#corrupt(seq, 'the record is missing')
        hash = hashOf(hash, seq, row.body)
        if (row.hash !== hash) throw this.#corrupt(seq, 'the record does not match its hash')
        return { seq, record: this.#decoded(row) }
      })
    }
  }

  /** The hash of a record, that of the beginning for 0, undefined when there is no such record. */
  async hashAt(seq: number): Promise<string | undefined> {
    if (seq === 0) return GENESIS_HASH
    const [row] = await this.#steady(() => this.#server.records(seq - 1, 1))
    return row?.seq === seq ? row.hash : undefined
  }

  /** The newest snapshot, where it fits its sums and the chain. */
  async snapshot(): Promise<KeptSnapshot | undefined> {
    const found = await this.#steady(() => this.#server.snapshot())
    return found === undefined ? undefined : fitting(found)
  }

  async records(intentId: string): Promise<readonly StoredRecord[]> {
    const rows = await this.#steady(() => this.#server.stories([intentId]))
    return rows.flatMap((row) => this.#storedOf(row))
  }

  async intent(intentId: string): Promise<IntentState | undefined> {
    return foldRecords((await this.records(intentId)).map(({ record }) => record))
  }

  async intents(query: IntentQuery = {}): Promise<readonly IntentState[]> {
    const ids = await this.#steady(() => this.#server.intentIds(query))
    const rows = await this.#steady(() => this.#server.stories(ids))
    const stories = Map.groupBy(rows, ({ intentId }) => intentId)
    return ids.map((intentId) => {
      const records = (stories.get(intentId) ?? []).flatMap((row) => this.#storedOf(row))
      const state = foldRecords(records.map(({ record }) => record))
      if (state === undefined)
        throw corruptFault(this.#server.name, { intentId, reason: 'it has no records' })
      return state
    })
  }

  async endingsSince(sinceMs: number): Promise<readonly Ending[]> {
    return await this.#steady(() => this.#server.endings(sinceMs))
  }

  #storedOf(row: StoredRow): readonly StoredRecord[] {
    const { seq, body, hash } = row
    const previous = seq === 1 ? GENESIS_HASH : row.previousHash
    if (previous === undefined || hash !== hashOf(previous, seq, body))
      throw this.#corrupt(seq, 'the record does not match its hash')
    const record = this.#decoded(row)
    if (record.intentId !== row.intentId) throw this.#corrupt(seq, `the row says intent ${row.intentId}`)
    return isAccountRecord(record) ? [] : [{ seq, record }]
  }

  #decoded({ seq, body }: StoredRow) {
    try {
      return decodeAnyRecord(body)
    } catch (cause) {
      throw recordFault(this.#server.name, seq, cause)
    }
  }

  #corrupt(seq: number, reason: string) {
    return corruptFault(this.#server.name, { seq, reason })
  }
}

/** Returns a stored snapshot as it is kept; undefined where it does not fit its sums or the chain. */
export function fitting({ head, parts }: StoredSnapshot): KeptSnapshot | undefined {
  let fromSeq = 0
  for (const part of parts) {
    if (part.fromSeq !== fromSeq || !fits(part)) return undefined
    fromSeq = part.toSeq
  }
  if (fromSeq !== head.toSeq || !fits(head)) return undefined
  return { seq: head.toSeq, head: head.body, parts: parts.map(({ body }) => body) }
}

function fits({ fromSeq, toSeq, sum, body, recordHash }: StoredPart): boolean {
  return recordHash !== undefined && checksum(recordHash, fromSeq, toSeq, body) === sum
}
