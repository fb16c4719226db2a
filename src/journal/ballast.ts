/**
 * A file of real bytes next to the journal, so that a disk which another user filled stops no way out: where a write finds no
 * space, the file gives up a part of its bytes, and the write is made. It is filled again when there is room.
 *
 * A write that found no space (ENOSPC, SQLITE_FULL) wrote nothing that counts: sqlite rolls the transaction back before anything is
 * flushed, and nobody was told that it holds. So it is made again once room was made. A failed flush is another thing: after that
 * nobody knows what the disk holds, and nothing is tried again.
 */
import { randomBytes } from 'node:crypto'
import { closeSync, constants, fchmodSync, fstatSync, ftruncateSync, openSync, writeSync } from 'node:fs'
import { freeBytesBeside, KEPT_OF_DISK_BYTES } from './freeSpace.ts'

/**
 * Size of the ballast. A commit takes some 25 KiB of the WAL: these are about 300, where a kill that closes a position takes 20.
 * With what the WAL has reserved it stays below 16 MiB, from where sqlite would need space for its index as well.
 */
export const BALLAST_BYTES = 8 * 1024 * 1024
/**
 * The part of the ballast that a checkpoint leaves to records, where whoever fills the disk takes all that is given up before the
 * checkpoint can: over a hundred commits, where a kill that closes a position takes 20.
 */
export const LEFT_TO_RECORDS_BYTES = BALLAST_BYTES / 2
/** Bytes of the WAL that are taken from the disk before they are needed: frames are written over them. */
export const WAL_RESERVED_BYTES = 4 * 1024 * 1024
/** The bytes given up at once: whoever fills the disk may be faster than we are. */
const STEP_BYTES = 512 * 1024
const SQLITE_FULL = 13
/** SQLITE_IOERR_SHMSIZE: the index of the WAL found no space. */
const SQLITE_NO_INDEX = 4_874
const noSpace: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT'])
const { O_RDWR, O_CREAT, O_APPEND, O_NOFOLLOW } = constants

/** Where the ballast of the journal at `path` is. */
export function ballastOf(path: string): string {
  return `${path}.ballast`
}

/** Judges whether an error, or its cause, says that there is no space. */
export function isDiskFull(error: unknown): boolean {
  for (let each = error; each instanceof Error; each = each.cause) {
    if ('code' in each && noSpace.has(each.code)) return true
    if (!('errcode' in each) || typeof each.errcode !== 'number') continue
    if ((each.errcode & 0xff) === SQLITE_FULL || each.errcode === SQLITE_NO_INDEX) return true
  }
  return false
}

/**
 * Gives up a part of the ballast for what failed with `error`. False when the disk was not the cause, or no more than `leftBytes` are left
 * to give: then the error stands.
 */
export function makeRoom(ballast: string, error: unknown, leftBytes = 0): boolean {
  if (!isDiskFull(error)) return false
  // A journal that reached its own largest size says the same.
  if ((freeBytesBeside(ballast) ?? 0) >= KEPT_OF_DISK_BYTES) return false
  return opened(ballast, O_RDWR, (fd) => {
    const { size } = fstatSync(fd)
    if (size <= leftBytes) return false
    ftruncateSync(fd, Math.max(leftBytes, size - STEP_BYTES))
    return true
  })
}

/** Does something that may find no space, and does it again as long as `makesRoom` gives some for its error. */
export function withRoom<T>(work: () => T, makesRoom: (error: unknown) => boolean): T {
  for (;;) {
    try {
      return work()
    } catch (error) {
      if (!makesRoom(error)) throw error
    }
  }
}

/**
 * Fills the ballast up where the disk has more than is kept of it; false while the ballast lacks bytes that may come. Where the
 * process may not write a file of that size (`ulimit -f`) no wait brings them, and nothing waits.
 */
export function fillBallast(ballast: string): boolean {
  const fill = (fd: number): boolean => {
    fchmodSync(fd, 0o600)
    // Random bytes: some file systems store what repeats once, and zeros not at all.
    return grow(fd, BALLAST_BYTES, ballast, KEPT_OF_DISK_BYTES, randomBytes)
  }
  return opened(ballast, O_RDWR | O_CREAT | O_APPEND, fill, isTooLarge)
}

/** Takes from the disk what the WAL of the journal at `path` has reserved, where it has more than is kept of it; false as of `fillBallast`. */
export function reserveWal(path: string): boolean {
  return growWal(path, WAL_RESERVED_BYTES, KEPT_OF_DISK_BYTES, isTooLarge)
}

/** Takes what the ballast gave up for the WAL, before anybody else does. */
export function takeForWal(path: string): void {
  growWal(path, Number.POSITIVE_INFINITY, 0)
}

/**
 * Appends zeros to the WAL. sqlite writes the next frames over them, and a reading ends at the first frame that does not bear the
 * file's salt, as it ends at what an earlier turn of the WAL left there.
 */
function growWal(path: string, toBytes: number, keptBytes: number, judge?: FailureJudge): boolean {
  const take = (fd: number): boolean => {
    const most = Math.min(toBytes, fstatSync(fd).size + STEP_BYTES)
    return grow(fd, toBytes === Number.POSITIVE_INFINITY ? most : toBytes, path, keptBytes, Buffer.alloc)
  }
  return opened(`${path}-wal`, O_RDWR | O_APPEND, take, judge)
}

function grow(
  fd: number,
  toBytes: number,
  path: string,
  keptBytes: number,
  made: (bytes: number) => Buffer,
): boolean {
  for (;;) {
    const missing = toBytes - fstatSync(fd).size
    if (missing <= 0) return true
    if (keptBytes > 0 && (freeBytesBeside(path) ?? 0) < missing + keptBytes) return false
    if (writeSync(fd, made(Math.min(missing, STEP_BYTES))) === 0) return false
  }
}

/** Judges whether the process may not write a file of that size. */
function isTooLarge(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EFBIG'
}

/** Gives the answer of a file that could not be opened or written, by its error. */
type FailureJudge = (error: unknown) => boolean

/** A file that cannot be opened or written makes no room; the write that needs it says why it fails. */
function opened(
  path: string,
  flags: number,
  use: (fd: number) => boolean,
  judge: FailureJudge = () => false,
): boolean {
  let fd: number | undefined
  try {
    fd = openSync(path, flags | O_NOFOLLOW, 0o600)
    return use(fd)
  } catch (error) {
    return judge(error)
  } finally {
    if (fd !== undefined) closeSync(fd)
  }
}
