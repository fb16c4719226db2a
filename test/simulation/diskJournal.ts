/**
 * The journal of one process over the modelled disk: the encoding, the hash chain, the admission and the fold of the real
 * one, without its file.
 */

import { epochMs } from '../../src/backtest/lab/timeline.ts'
import { BaseError } from '../../src/base/errors.ts'
import {
  type AnyRecord,
  decodeAnyRecord,
  encodeRecord,
  isAccountRecord,
  type JournalRecord,
  type StoredRecord,
} from '../../src/domain/records.ts'
import type { LedgerReads } from '../../src/journal/journal.ts'
import { writeFault } from '../../src/journal/journalFaults.ts'
import { createLedger } from '../../src/journal/journalLedger.ts'
import { admitRecord } from '../../src/journal/recordAdmission.ts'
import { hashOf } from '../../src/journal/sqlite/hashChain.ts'
import { takeLease } from '../../src/journal/sqlite/lease.ts'
import { createHistoryFold } from '../../src/journal/tradeHistory.ts'
import { type Disk, lineOf, recoverDisk } from './disk.ts'
import type { DiskJournal, JournalHooks } from './storage.ts'
import { InvariantBroken } from './truth.ts'

/**
 * Opens the journal of one process. Everything durable is admitted and folded again, by the real rules.
 *
 * @throws JournalFaultError as `recoverDisk` does, and whatever a story that cannot have happened throws.
 */
export function openDiskJournal(disk: Disk, hooks: JournalHooks): DiskJournal {
  const opened = recoverDisk(disk)
  const lostAt = disk.acknowledged.findIndex((line, index) => disk.durable[index] !== line)
  if (lostAt >= 0) {
    const text = `record ${lostAt + 1} of ${disk.acknowledged.length} was acknowledged and is not there as it was`
    throw new InvariantBroken({ invariant: 'I12', text, atMs: hooks.wallMs() - epochMs })
  }
  disk.acknowledged = [...disk.durable]
  // Records that outlived their crash unacknowledged are as good as the others from now on.
  disk.head = opened.tail
  const lease = takeLease(disk.leases, 'disk', 'simulated', hooks.wallMs())
  let { tail } = opened
  let fault: BaseError | undefined
  const ledger = createLedger()
  const stories = new Map<string, StoredRecord[]>()

  /** Takes in an admitted record, as it would be read back. */
  function keep(body: string): StoredRecord | undefined {
    const record = decodeAnyRecord(body)
    ledger.fold(record)
    if (isAccountRecord(record)) return undefined
    const stored = { seq: ledger.seq, record }
    const story = stories.get(record.intentId)
    if (story === undefined) stories.set(record.intentId, [stored])
    else story.push(stored)
    return stored
  }

  for (const { record } of opened.records) {
    if (!isAccountRecord(record)) admitRecord(ledger, record)
    keep(encodeRecord(record))
  }

  /** Brings a line to the disk; undefined when the process ended on the way. */
  function writeLine(record: AnyRecord): string | undefined {
    const body = encodeRecord(record)
    const seq = tail.seq + 1
    const hash = hashOf(tail.hash, seq, body)
    disk.cached.push(lineOf(seq, hash, body))
    if (hooks.boundary(`unsynced ${record.kind}`)) return undefined
    disk.durable.push(...disk.cached.splice(0))
    disk.acknowledged.push(lineOf(seq, hash, body))
    tail = { seq, hash }
    disk.head = tail
    return body
  }

  /** Brings the lines of one commit to the disk: the process may end before all of them or after. Gives their numbers. */
  function writeLines(records: readonly AnyRecord[]): readonly number[] | undefined {
    if (hooks.boundary('unsynced commit')) return undefined
    const lines = records.map((record) => {
      const body = encodeRecord(record)
      const seq = tail.seq + 1
      tail = { seq, hash: hashOf(tail.hash, seq, body) }
      return { record, body, seq, line: lineOf(seq, tail.hash, body) }
    })
    disk.durable.push(...lines.map(({ line }) => line))
    disk.acknowledged.push(...lines.map(({ line }) => line))
    disk.head = tail
    const states = lines.map(({ record, body }) => {
      const state = isAccountRecord(record) ? undefined : admitRecord(ledger, record)
      return { stored: keep(body), state }
    })
    for (const [index, { record, body }] of lines.entries()) {
      const { stored, state } = states[index] ?? {}
      if (isAccountRecord(record)) hooks.onAccount?.(record, body)
      else if (stored !== undefined && state !== undefined) hooks.onDurable(stored.record, state, body)
    }
    return hooks.boundary('after commit') ? undefined : lines.map(({ seq }) => seq)
  }

  /** Whether the process ended before a record is written; a full disk is a fault for good. */
  function hasEndedBefore(record: AnyRecord): boolean {
    if (fault !== undefined) throw fault
    if (hooks.boundary(`before ${record.kind}`)) return true
    try {
      lease.check()
    } catch (error) {
      if (error instanceof BaseError) fault = error
      throw error
    }
    if (!disk.isFull) return false
    fault = writeFault('disk', 1, Object.assign(new Error('no space is left'), { errcode: 13 }))
    throw fault
  }

  function commit(record: JournalRecord): StoredRecord | undefined {
    if (hasEndedBefore(record)) return undefined
    const state = admitRecord(ledger, record)
    const body = writeLine(record)
    if (body === undefined) return undefined
    const stored = keep(body)
    if (stored === undefined) throw new Error('an intent record reads as one of the account')
    hooks.onDurable(stored.record, state, body)
    if (hooks.boundary(`after ${record.kind}`)) return undefined
    return stored
  }

  const own: Omit<DiskJournal, keyof LedgerReads> = {
    path: 'disk',
    lease: { epoch: lease.epoch, lost: () => undefined, renew: async () => lease.check() },
    commit,
    append: async (record) => commit(record) ?? new Promise<never>(() => {}),
    async appendAccount(record) {
      if (hasEndedBefore(record)) return new Promise<never>(() => {})
      const body = writeLine(record)
      if (body === undefined) return new Promise<never>(() => {})
      keep(body)
      hooks.onAccount?.(record, body)
      if (hooks.boundary(`after ${record.kind}`)) return new Promise<never>(() => {})
    },
    async appendTogether(records) {
      const [first] = records
      if (first === undefined) return []
      if (hasEndedBefore(first)) return new Promise<never>(() => {})
      const written = writeLines(records)
      if (written === undefined) return new Promise<never>(() => {})
      return written
    },
    intents: async (query) => ledger.recentIntents(query),
    records: async (intentId) => [...(stories.get(intentId) ?? [])],
    intent: async (intentId) => ledger.recentIntent(intentId),
    tradingHistory: async () => {
      const fold = createHistoryFold()
      for (const { record } of recoverDisk(disk).records) fold.fold(record)
      return fold.read()
    },
    failed: new Promise(() => {}),
    isShort: () => false,
    openGuardTable: () => {
      throw new TypeError('the modelled disk has no guard')
    },
    close: async () => {},
  }
  return new Proxy(own as DiskJournal, {
    get: (target, name: keyof DiskJournal) => {
      if (name in target) return target[name]
      const member: unknown = ledger[name as keyof LedgerReads]
      return typeof member === 'function' ? member.bind(ledger) : member
    },
  })
}
