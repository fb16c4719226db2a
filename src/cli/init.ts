/** `perpd init`: puts the shipped strategy files where a daemon that was installed as a package looks for its own. */
import { constants, copyFileSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Call } from './command.ts'
import { exitCodes } from './exit.ts'

const shipped = fileURLToPath(new URL('../../strategies/', import.meta.url))

/**
 * Copies the shipped files into `strategies/` of the working directory. A file that is there is left as it is and named.
 *
 * @throws what the file system refuses, but for files that are there.
 */
export async function init({ cwd, out }: Call): Promise<number> {
  const folder = join(cwd, 'strategies')
  mkdirSync(folder, { recursive: true })
  for (const name of readdirSync(shipped).sort()) {
    try {
      copyFileSync(join(shipped, name), join(folder, name), constants.COPYFILE_EXCL)
      out(`wrote strategies/${name}`)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      out(`strategies/${name} is there already; left as it is`)
    }
  }
  out('Next: perpd run')
  return exitCodes.ok
}
