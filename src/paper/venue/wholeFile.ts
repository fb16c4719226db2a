/** Files that are written whole or not at all. */
import { closeSync, constants, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'

const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants
const NEW_FILE = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW

/** The name that a file has until it is whole; nothing lies there. */
function newNameOf(path: string): string {
  const temporary = `${path}.new`
  rmSync(temporary, { force: true })
  return temporary
}

/**
 * Writes a file beside its place, for its owner alone, forces it to disk and renames it into place. What lies under the other
 * name, a leftover of a kill or a link that somebody planted, is removed and never written through. Throws what the file
 * system throws.
 */
export function writeWhole(path: string, text: string): void {
  const temporary = newNameOf(path)
  const file = openSync(temporary, NEW_FILE, 0o600)
  try {
    writeFileSync(file, text)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(temporary, path)
}

/**
 * As `writeWhole`, with the text in slices: each is made when the one before it is written, and the process serves others meanwhile.
 * False: it was cancelled, and what lies in the place stays, whatever became of the other name: who cancelled may be writing under it. From the last look at `isCancelled` to the renaming nothing comes between.
 */
export async function writeWholeInSlices(
  path: string,
  slices: Iterable<string>,
  isCancelled: () => boolean,
): Promise<boolean> {
  const temporary = newNameOf(path)
  const file = await open(temporary, NEW_FILE, 0o600).catch((error: unknown) => {
    if (isCancelled()) return undefined
    throw error
  })
  if (file === undefined) return false
  try {
    for (const slice of slices) {
      if (isCancelled()) return false
      await file.writeFile(slice)
    }
    await file.sync()
  } finally {
    await file.close()
  }
  if (isCancelled()) return false
  renameSync(temporary, path)
  return true
}
