/** The free space of a disk, for the journal and for whoever judges its place. */
import { statfsSync } from 'node:fs'
import { dirname } from 'node:path'

/** Bytes of the disk that are reserved for records that must be written; below them increases wait. */
export const KEPT_OF_DISK_BYTES = 64 * 1024 * 1024

/** Free bytes of the file system that a path is on, for this user; undefined where the system does not say. */
export function freeBytesBeside(path: string): number | undefined {
  try {
    const { bavail, bsize } = statfsSync(dirname(path))
    return bavail * bsize
  } catch {
    return undefined
  }
}
