/** Replaces a file whole or not at all. */
import {
  closeSync,
  fchmodSync,
  fsyncSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'

/**
 * Writes a text in the place of what a file holds: beside it first, then by a rename, with the same mode; a link stays one. Throws what
 * the file system throws, and then the file is as it was.
 */
export function replaceFile(file: string, text: string): void {
  const path = realpathSync(file)
  const { mode } = statSync(path)
  const beside = join(dirname(path), `.${basename(path)}.new`)
  try {
    const handle = openSync(beside, 'w', mode)
    try {
      fchmodSync(handle, mode)
      writeSync(handle, text)
      fsyncSync(handle)
    } finally {
      closeSync(handle)
    }
    renameSync(beside, path)
  } catch (error) {
    rmSync(beside, { force: true })
    throw error
  }
}
