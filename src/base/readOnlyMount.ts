/** Places on a file system that is mounted read-only: no owner and no mode of a file makes them writable. */
import { accessSync, constants, existsSync } from 'node:fs'
import { dirname } from 'node:path'

/** The remedy for such a place; it stands behind the place's name. */
export const readOnlyRemedy =
  'It is mounted read-only: mount it writable (a volume of a container without :ro, ReadWritePaths= of a systemd unit), or name another place'

/**
 * Judges whether an access failed because of the mount that a file lies on, or will be made on. Making folders below such a mount fails as
 * if their parent were missing, so the place is asked too.
 */
export function isReadOnlyMount(error: unknown, path: string): boolean {
  return isRefusedByMount(error) || [path, dirname(path)].some(liesReadOnly)
}

function isRefusedByMount(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EROFS'
}

function liesReadOnly(path: string): boolean {
  try {
    accessSync(nearestThere(path), constants.W_OK)
    return false
  } catch (error) {
    return isRefusedByMount(error)
  }
}

function nearestThere(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearestThere(dirname(path))
}
