/**
 * A disk with an end, under the product's own journal and without a change in it: the file system's calls and sqlite's statements
 * of this thread find no space below one folder. It must be the first module that is loaded: some modules take the calls when
 * they are loaded themselves.
 */
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import type { DatabaseSync } from 'node:sqlite'
import { tapSqlite } from '../simulation/sqliteTap.ts'

const PAGE_BYTES = 4_096
/** The most that one commit may add to the log: sqlite says afterwards alone how much it was. */
const COMMIT_BYTES = 16 * (PAGE_BYTES + 24)
const WAL_HEADER_BYTES = 32
/** Where the index of the log holds the number of its last frame. */
const LAST_FRAME_AT = 16
const SQLITE_FULL = 13

/** A disk with an end. */
export interface EndingDisk {
  /** Takes all but this many bytes, for good: what becomes free stays free for whoever comes first. */
  fill(leftBytes: number): void
  /** Takes what became free since. */
  takeFreed(): void
  /** Cuts the log of the journal at `path` to what is in it, as hours on a full disk leave it. */
  useUpLog(path: string): void
  /** Does something that the disk does not count. */
  uncounted<T>(work: () => Promise<T>): Promise<T>
  /** Puts the calls back. */
  close(): void
}

const real = { ...fs }
const paths = new Map<number, string>()
let limited: { folder: string; freeBytes: number } | undefined

const isLimited = (path: unknown): path is string =>
  limited !== undefined && typeof path === 'string' && path.startsWith(limited.folder)

function sizeOf(path: string): number {
  return real.statSync(path, { throwIfNoEntry: false })?.size ?? 0
}

/** Takes from the disk what a file grows by, to the byte, or throws what `full` makes. */
function take(fromBytes: number, toBytes: number, full: () => Error): void {
  if (limited === undefined) return
  const more = toBytes - fromBytes
  if (more > limited.freeBytes) throw full()
  limited.freeBytes -= more
}

function noSpace(syscall: string): Error {
  return Object.assign(new Error(`ENOSPC: no space left on device, ${syscall}`), {
    code: 'ENOSPC',
    errno: -28,
    syscall,
  })
}

const sqliteFull = (): Error =>
  Object.assign(new Error('database or disk is full'), {
    code: 'ERR_SQLITE_ERROR',
    errcode: SQLITE_FULL,
    errstr: 'database or disk is full',
  })

/** What `write` and `writeSync` are handed behind the descriptor: a text with a position, or bytes with offset, length and position. */
function takeForWrite(fd: number, [data, second, third, fourth]: readonly unknown[]): void {
  const path = paths.get(fd)
  if (path === undefined || !isLimited(path)) return
  const size = sizeOf(path)
  const isText = typeof data === 'string'
  const whole = isText ? Buffer.byteLength(data) : (data as Uint8Array).byteLength
  const offset = isText || typeof second !== 'number' ? 0 : second
  const length = isText || typeof third !== 'number' ? whole - offset : third
  const at = isText ? second : fourth
  take(size, Math.max(size, (typeof at === 'number' ? at : size) + length), () => noSpace('write'))
}

function takeForFile(path: unknown, data: unknown): void {
  if (isLimited(path)) take(0, Buffer.byteLength(data as string | Uint8Array), () => noSpace('write'))
}

/** Puts calls in the place of the real ones, with what marks them for `promisify`. */
function replace(calls: Readonly<Record<string, (...given: never[]) => unknown>>): void {
  for (const [name, call] of Object.entries(calls)) {
    const before = real[name as keyof typeof real] as object
    Object.defineProperties(call, Object.getOwnPropertyDescriptors(before))
    Object.assign(fs, { [name]: call })
  }
  syncBuiltinESMExports()
}

replace({
  openSync(...given: Parameters<typeof fs.openSync>) {
    const fd = real.openSync(...given)
    if (isLimited(given[0])) paths.set(fd, given[0])
    return fd
  },
  closeSync(fd: number) {
    paths.delete(fd)
    real.closeSync(fd)
  },
  writeSync(fd: number, ...rest: unknown[]) {
    takeForWrite(fd, rest)
    return (real.writeSync as (...given: unknown[]) => number)(fd, ...rest)
  },
  write(fd: number, ...rest: unknown[]) {
    try {
      takeForWrite(fd, rest)
    } catch (error) {
      const done = rest.at(-1) as (error: unknown) => void
      process.nextTick(done, error)
      return
    }
    ;(real.write as (...given: unknown[]) => void)(fd, ...rest)
  },
  writeFileSync(...given: Parameters<typeof fs.writeFileSync>) {
    takeForFile(given[0], given[1])
    real.writeFileSync(...given)
  },
  ftruncateSync(fd: number, bytes: number) {
    const path = paths.get(fd)
    if (isLimited(path)) take(sizeOf(path), bytes, () => noSpace('ftruncate'))
    real.ftruncateSync(fd, bytes)
  },
  rmSync(...given: Parameters<typeof fs.rmSync>) {
    const [path] = given
    if (isLimited(path)) take(sizeOf(path), 0, () => noSpace('rm'))
    real.rmSync(...given)
  },
  unlinkSync(path: fs.PathLike) {
    if (isLimited(path)) take(sizeOf(path), 0, () => noSpace('unlink'))
    real.unlinkSync(path)
  },
  statfsSync(...given: Parameters<typeof fs.statfsSync>) {
    const said = real.statfsSync(...given)
    const [path] = given
    if (limited === undefined || !`${String(path)}/`.startsWith(limited.folder)) return said
    return Object.assign(said, { bsize: 1, bavail: limited.freeBytes, bfree: limited.freeBytes })
  },
})

/** Bytes of the log that frames stand in; 0 where there is none. */
function usedOfLog(path: string): number {
  const index = `${path}-shm`
  if (sizeOf(index) === 0) return 0
  const frames = real.readFileSync(index).readUInt32LE(LAST_FRAME_AT)
  return WAL_HEADER_BYTES + frames * (PAGE_BYTES + 24)
}

/** A statement of a connection, on the disk: what it may write must find its place before it does. */
function around(db: DatabaseSync, sql: string, run: () => void): void {
  const path = db.isOpen ? db.location() : null
  if (limited === undefined || path === null || !isLimited(path)) {
    run()
    return
  }
  const log = `${path}-wal`
  const before = { log: sizeOf(log), db: sizeOf(path) }
  const freeBytes = limited.freeBytes
  if (sql === 'COMMIT') {
    take(before.log, Math.max(before.log, usedOfLog(path) + COMMIT_BYTES), sqliteFull)
  } else if (sql.startsWith('PRAGMA wal_checkpoint')) {
    const pages = Number(Object.values(db.prepare('PRAGMA page_count').get() ?? {})[0])
    take(before.db, Math.max(before.db, pages * PAGE_BYTES), sqliteFull)
  }
  limited.freeBytes = freeBytes
  run()
  const grown = sizeOf(log) - before.log + sizeOf(path) - before.db
  limited.freeBytes = Math.max(0, freeBytes - grown)
}

/** Gives the folder a disk of its own, which has room without end until it is filled. One at a time. */
export function endDisk(folder: string): EndingDisk {
  if (limited !== undefined) throw new TypeError(`the disk of ${limited.folder} ends already`)
  const disk = { folder: `${folder}/`, freeBytes: Number.MAX_SAFE_INTEGER }
  limited = disk
  const untap = tapSqlite(around)
  let isFilled = false
  return {
    fill(leftBytes) {
      isFilled = true
      disk.freeBytes = leftBytes
    },
    takeFreed() {
      if (isFilled) disk.freeBytes = 0
    },
    useUpLog(path) {
      real.truncateSync(`${path}-wal`, Math.min(sizeOf(`${path}-wal`), usedOfLog(path)))
    },
    async uncounted(work) {
      limited = undefined
      try {
        return await work()
      } finally {
        limited = disk
      }
    },
    close() {
      untap()
      limited = undefined
    },
  }
}
