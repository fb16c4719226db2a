/** Files that are written whole or not at all. */
import { closeSync, constants, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs'

const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants

/**
 * Writes a file beside its place, for its owner alone, forces it to disk and renames it into place. What lies under the other
 * name, a leftover of a kill or a link that somebody planted, is removed and never written through. Throws what the file
 * system throws.
 */
export function writeWhole(path: string, text: string): void {
  const temporary = `${path}.new`
  rmSync(temporary, { force: true })
  const file = openSync(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600)
  try {
    writeFileSync(file, text)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(temporary, path)
}
