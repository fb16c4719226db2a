/** Files that decide what is traded must not be writable by every user of the machine, nor may they be swapped. */
import { statSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * The path that every user of the machine may write: the file, or the folder it can be swapped in; undefined when neither.
 * In a folder with the sticky bit, as /tmp, nobody may replace what is another's. Throws what the system says when the
 * file is not there.
 */
export function openToOthers(file: string): string | undefined {
  if ((statSync(file).mode & 0o002) !== 0) return file
  const folder = dirname(file)
  const { mode } = statSync(folder)
  return (mode & 0o002) !== 0 && (mode & 0o1000) === 0 ? folder : undefined
}
