/**
 * What is on a disk when nothing runs: the files of a journal as bytes. Here is what crashes and power cuts leave of them: of
 * what was written and not synced any part may be lost, torn at any byte, or kept.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import type { Random } from './random.ts'

/** The files of a journal, by what is added to its path; a file that is not there is empty. */
export interface Image {
  readonly db: Buffer
  readonly wal: Buffer
  readonly head: Buffer
  /** The table of the guard. */
  readonly signed: Buffer
}

/** Names of the files. */
export const imageFiles: Readonly<Record<keyof Image, string>> = {
  db: '',
  wal: '-wal',
  head: '.head',
  signed: '.signed',
}

const nothing = Buffer.alloc(0)
/** A disk on which nothing was written. */
export const emptyImage: Image = { db: nothing, wal: nothing, head: nothing, signed: nothing }

/** The files at `path` as they are at this instant. */
export function readImage(path: string): Image {
  const read = (name: keyof Image) => {
    const file = path + imageFiles[name]
    return existsSync(file) ? readFileSync(file) : nothing
  }
  return { db: read('db'), wal: read('wal'), head: read('head'), signed: read('signed') }
}

/** Puts the files at `path`. */
export function writeImage(path: string, image: Image): void {
  for (const [name, suffix] of Object.entries(imageFiles)) {
    const bytes = image[name as keyof Image]
    if (bytes.length > 0) writeFileSync(path + suffix, bytes, { mode: 0o600 })
  }
}

const sectorBytes = 512
const walHeaderBytes = 32
const walFrameBytes = 24 + 4_096

/** A commit or a checkpoint was under way: the disk is somewhere between before and after. */
export function tornBetween(before: Image, after: Image, random: Random, isPowerCut: boolean): Image {
  const isCheckpointed = after.wal.length === 0 && before.wal.length > 0
  if (isCheckpointed) {
    // The log is removed when all of it is in the main file and that is synced.
    const isCopied = random.chance(0.3)
    return {
      ...after,
      db: isCopied ? after.db : mixed(before.db, after.db, random, 0),
      wal: isCopied && random.chance(0.5) ? after.wal : before.wal,
    }
  }
  return {
    ...after,
    db: before.db.equals(after.db) ? after.db : mixed(before.db, after.db, random, 0),
    wal: tornWal(before.wal, after.wal, random, isPowerCut),
  }
}

/** A write-ahead log of which a transaction was being written. Of a process that was killed a first part is there. */
function tornWal(before: Buffer, after: Buffer, random: Random, isPowerCut: boolean): Buffer {
  const from = firstDifference(before, after)
  if (from === after.length) return after
  if (!isPowerCut) {
    const any = random.int(from, after.length)
    const frame = walHeaderBytes + Math.ceil((any - walHeaderBytes) / walFrameBytes) * walFrameBytes
    return cutAt(before, after, random.chance(0.5) ? any : Math.min(frame, after.length))
  }
  // sqlite syncs a new header before the frames that follow it: a frame is never newer than its header.
  const isHeaderNew = from < walHeaderBytes
  if (isHeaderNew && random.chance(0.2)) return cutAt(before, after, random.int(0, walHeaderBytes))
  return mixed(before, after, random, walHeaderBytes)
}

/** The first bytes of `after`, and what stood behind them before. */
function cutAt(before: Buffer, after: Buffer, at: number): Buffer {
  return Buffer.concat([after.subarray(0, at), before.subarray(at)])
}

/** Each sector that changed is old or new, in no order, and the file may be as long as before; the first bytes are new. */
function mixed(before: Buffer, after: Buffer, random: Random, newBytes: number): Buffer {
  const share = random.pick([0.1, 0.5, 0.9, 1])
  const shortest = Math.max(Math.min(before.length, after.length), newBytes)
  const length = random.chance(0.5) ? after.length : random.int(shortest, Math.max(shortest, after.length))
  const bytes = Buffer.alloc(length)
  before.copy(bytes, 0, 0, Math.min(length, before.length))
  const from = Math.floor(firstDifference(before, after) / sectorBytes) * sectorBytes
  for (let at = from; at < length; at += sectorBytes) {
    if (random.chance(share)) after.copy(bytes, at, at, Math.min(at + sectorBytes, length))
  }
  after.copy(bytes, 0, 0, newBytes)
  return bytes
}

function firstDifference(one: Buffer, other: Buffer): number {
  const most = Math.min(one.length, other.length)
  if (one.subarray(0, most).equals(other.subarray(0, most))) return most
  let at = 0
  while (one[at] === other[at]) at += 1
  return at
}

/** The mark is not synced with each commit: any of those that were written may be what is left, torn with the next. */
export function cutHead(heads: readonly Buffer[], random: Random): Buffer {
  const kept = random.chance(0.3) ? heads.length - 1 : random.int(0, heads.length - 1)
  const head = heads[kept] ?? nothing
  const next = heads[kept + 1]
  if (next === undefined || random.chance(0.5)) return head
  const from = firstDifference(head, next)
  return cutAt(head, next, random.int(from, next.length))
}

/** A bit of one of the files flips, as a rule where something stands. */
export function flipBit(image: Image, random: Random): Image {
  const names = (['db', 'db', 'db', 'wal', 'head', 'signed'] as const).filter(
    (name) => image[name].length > 0,
  )
  if (names.length === 0) return image
  const name = random.pick(names)
  const bytes = Buffer.from(image[name])
  let at = random.int(0, bytes.length - 1)
  for (let tries = 0; tries < 6 && bytes[at] === 0; tries += 1) at = random.int(0, bytes.length - 1)
  bytes[at] = (bytes[at] ?? 0) ^ (1 << random.int(0, 7))
  return { ...image, [name]: bytes }
}
