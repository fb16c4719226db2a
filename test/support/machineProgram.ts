/** Programs that a few tests try the daemon with, and that no package of npm brings: `.ci/run` installs them. */
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

/**
 * Path of the first of these programs on this machine. Where there is none, its tests are left out and standard error says so;
 * in CI, where nobody would read that, it is an error.
 *
 * @param debianPackage what brings it there
 * @throws Error in CI, when it is not there
 */
export function machineProgram(names: readonly string[], debianPackage: string): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter)
  const found = names.flatMap((name) => folders.map((folder) => join(folder, name))).find(isRunnable)
  if (found !== undefined) return found
  const what = `${names.join(' or ')} is not here, so its tests are left out (Debian: apt-get install ${debianPackage}).`
  if (process.env.CI === 'true') throw new Error(`${what} In CI they must run: .ci/run installs it as root.`)
  process.stderr.write(`${what}\n`)
  return undefined
}

function isRunnable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
