/**
 * Measures the space left for the journal, by its size limit and on its disk. The last part of both is reserved for records that must be written:
 * results of sent orders, closes, an operator's commands. Records that add risk, or only note an observation of a host, are stopped before that.
 */
import type { DatabaseSync } from 'node:sqlite'
import { KEPT_OF_DISK_BYTES } from '../freeSpace.ts'

/** Part of the largest size that is kept, and at most this much of it, bytes. */
const KEPT_PART = 8
const MOST_KEPT_BYTES = 64 * 1024 * 1024

/** Time for which a reading of the disk counts, ms: hundreds of strategies ask in each second. */
const DISK_SAID_MS = 250

/** Reads the disk's free space at most once in each quarter of a second. `nowMs`: monotonic. */
export function askedSeldom(
  ask: () => number | undefined,
  nowMs: () => number = () => performance.now(),
): () => number | undefined {
  let askedMs = Number.NEGATIVE_INFINITY
  let free: number | undefined
  return () => {
    if (nowMs() - askedMs >= DISK_SAID_MS) {
      askedMs = nowMs()
      free = ask()
    }
    return free
  }
}

/** The check of the space that is left. */
export interface SpaceCheck {
  /** Tells whether only what must be written may still be. */
  isShort(): boolean
  /** Takes in that something is about to be written, or may have been: the file's size is read again. */
  wrote(): void
}

/** Makes the check. `freeBytes`: of the disk. */
export function createSpaceCheck(
  db: DatabaseSync,
  maxBytes: number | undefined,
  freeBytes: () => number | undefined,
): SpaceCheck {
  const pages = db.prepare('PRAGMA page_count')
  const pageBytes = Number(Object.values(db.prepare('PRAGMA page_size').get() ?? {})[0])
  const keptBytes = Math.min((maxBytes ?? 0) / KEPT_PART, MOST_KEPT_BYTES)
  /** Size of the file; absent after something was written. */
  let usedBytes: number | undefined
  return {
    isShort() {
      if ((freeBytes() ?? Number.POSITIVE_INFINITY) < KEPT_OF_DISK_BYTES) return true
      if (maxBytes === undefined) return false
      usedBytes ??= Number(Object.values(pages.get() ?? {})[0]) * pageBytes
      return usedBytes > maxBytes - keptBytes
    },
    wrote() {
      usedBytes = undefined
    },
  }
}
