/** Existence of a file, where a folder that keeps this user out is no "no". */
import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import { BaseError } from './errors.ts'

/** A folder keeps this user out: nothing can be said of what is in it. */
class HiddenPlaceError extends BaseError {
  constructor(path: string, cause: unknown) {
    const folder = keepsOut(path)
    const { uid, mode } = statSync(folder)
    super(`This user cannot read ${folder}, so perpd cannot check ${path}.`, {
      code: 'PLACE_HIDDEN',
      facts: { folder: `of user ${uid}, mode ${(mode & 0o7777).toString(8)}` },
      details: `A daemon may still run there, with its orders and keys. Run the command as its user: sudo -u '#${uid}' perpd ...`,
      cause,
    })
  }
}

/**
 * Says if a file or folder is there, as `existsSync` does.
 *
 * @throws HiddenPlaceError where this user may not look: such a "no" would say that no daemon runs.
 */
export function isThere(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'EACCES' || code === 'EPERM') throw new HiddenPlaceError(path, error)
    // A text that cannot be a path is not there; whoever opens it says why.
    return false
  }
}

/** The last folder on the way to a path that can be looked at. */
function keepsOut(path: string): string {
  const folder = dirname(path)
  try {
    statSync(folder)
    return folder
  } catch {
    return folder === path ? path : keepsOut(folder)
  }
}
