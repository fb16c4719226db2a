/**
 * A disk with a page cache: what was written is not durable until it is synced, and a crash keeps any part of the rest, the
 * last line torn or doubled. It can be full, and it can be set back to an older backup. Lines carry the hash chain of the
 * real journal, and are read back by its rules.
 */
import { DatabaseSync } from 'node:sqlite'
import { type AnyRecord, decodeAnyRecord } from '../../src/domain/records.ts'
import { journalFault } from '../../src/journal/journalFaults.ts'
import { GENESIS_HASH, hashOf, type Tail } from '../../src/journal/sqlite/hashChain.ts'
import { leaseTable } from '../../src/journal/sqlite/sqliteSchema.ts'
import { openDiskJournal } from './diskJournal.ts'
import type { Random } from './random.ts'
import type { Storage } from './storage.ts'

/** The modelled disk as a world uses it. */
export function createModelStorage(): Storage {
  const disk = createDisk()
  let backup: readonly string[] | undefined
  let newest: readonly string[] | undefined
  const putInPlace = (lines: readonly string[]) => disk.durable.splice(0, Number.POSITIVE_INFINITY, ...lines)
  return {
    takesTwo: true,
    open: (_epoch, hooks) => {
      const journal = openDiskJournal(disk, hooks)
      newest = undefined
      return journal
    },
    crash: (random, losesTail) => cutPower(disk, random, losesTail),
    setFull: (isFull) => {
      disk.isFull = isFull
    },
    backUp: () => {
      backup = [...disk.durable]
    },
    get hasBackup() {
      return backup !== undefined
    },
    putBackupBack: () => {
      newest = [...disk.durable]
      putInPlace(backup ?? newest)
      backup = undefined
    },
    flipBit: (random) => {
      if (disk.durable.length === 0) return
      newest = [...disk.durable]
      const at = random.int(0, newest.length - 1)
      const bytes = Buffer.from(newest[at] ?? '')
      const place = random.int(0, bytes.length - 1)
      bytes[place] = (bytes[place] ?? 0) ^ (1 << random.int(0, 6))
      disk.durable[at] = bytes.toString()
    },
    dropBackup: () => {
      backup = undefined
    },
    restoreNewest: () => {
      if (newest === undefined) return false
      putInPlace(newest)
      newest = undefined
      return true
    },
    // A process that was frozen may go on while the operator has the newest copy in his hands.
    isOnDisk: (digest) =>
      [...disk.durable, ...(newest ?? [])].some((line) => line.includes(`"digest":"${digest}"`)),
    contains: (text) => disk.durable.some((line) => line.includes(text)),
    discard: () => disk.leases.close(),
  }
}

/** The disk. */
export interface Disk {
  /** Lines that survive anything. */
  readonly durable: string[]
  /** Lines in the page cache. */
  readonly cached: string[]
  /** Lines whose commit returned: they may not be lost. */
  acknowledged: string[]
  /** The high-water mark in a second file. */
  head: Tail
  /** No space is left. */
  isFull: boolean
  /** Holds the lease alone, in the product's own table. */
  readonly leases: DatabaseSync
}

/** An empty disk. */
function createDisk(): Disk {
  const leases = new DatabaseSync(':memory:')
  leases.exec(leaseTable)
  return {
    durable: [],
    cached: [],
    acknowledged: [],
    head: { seq: 0, hash: GENESIS_HASH },
    isFull: false,
    leases,
  }
}

/** The power fails: of what was not synced any prefix survives, its last line perhaps torn or doubled. */
function cutPower(disk: Disk, random: Random, losesTail: boolean): string {
  const { cached } = disk
  const kept = losesTail ? random.int(0, cached.length) : cached.length
  const lines = cached.splice(0)
  disk.durable.push(...lines.slice(0, kept))
  const last = disk.durable.at(-1)
  if (kept < lines.length && losesTail && random.chance(0.5)) {
    const torn = lines[kept] ?? ''
    disk.durable.push(torn.slice(0, random.int(1, Math.max(1, torn.length - 1))))
    return 'torn'
  }
  if (last !== undefined && losesTail && random.chance(0.2)) {
    disk.durable.push(last)
    return 'doubled'
  }
  return kept < lines.length ? 'lost' : 'kept'
}

/** A record as it stands on the disk. */
export function lineOf(seq: number, hash: string, body: string): string {
  return `${seq} ${hash} ${body}`
}

interface Line {
  readonly seq: number
  readonly hash: string
  readonly body: string
}

function parse(line: string): Line | undefined {
  const [, seq, hash, body] = /^(\d+) ([0-9a-f]{64}) (.*)$/s.exec(line) ?? []
  if (seq === undefined || hash === undefined || body === undefined) return undefined
  return { seq: Number(seq), hash, body }
}

/** What opening found. */
export interface Opened {
  readonly records: readonly { readonly seq: number; readonly record: AnyRecord }[]
  readonly tail: Tail
}

/**
 * Reads the disk as recovery does: a torn last line and a doubled one are dropped, the chain of hashes must hold, and the
 * journal must not be older than its mark.
 *
 * @throws JournalFaultError JOURNAL_ROLLED_BACK or JOURNAL_CORRUPT.
 */
export function recoverDisk(disk: Disk): Opened {
  const records: { readonly seq: number; readonly record: AnyRecord }[] = []
  let tail: Tail = { seq: 0, hash: GENESIS_HASH }
  const hashes = [GENESIS_HASH]
  const lines = [...disk.durable]
  disk.durable.length = 0
  for (const [at, text] of lines.entries()) {
    const line = parse(text)
    if (line !== undefined && line.seq === tail.seq && line.hash === tail.hash) continue
    const isNext =
      line !== undefined && line.seq === tail.seq + 1 && line.hash === hashOf(tail.hash, line.seq, line.body)
    if (!isNext) {
      if (at === lines.length - 1) break
      throw journalFault('JOURNAL_CORRUPT', 'disk', 'The journal file is damaged.', 'It is not read on.')
    }
    disk.durable.push(text)
    tail = { seq: line.seq, hash: line.hash }
    hashes.push(line.hash)
    records.push({ seq: line.seq, record: decodeAnyRecord(line.body) })
  }
  const { head } = disk
  const isBehind = head.seq > tail.seq || hashes[head.seq] !== head.hash
  if (isBehind) {
    throw journalFault('JOURNAL_ROLLED_BACK', 'disk', 'The journal has lost records.', 'It is not opened.')
  }
  return { records, tail }
}
