/** One warning for each way in which a file beside the journal goes wrong. */
import { reasonOf } from './errors.ts'

/**
 * Makes what warns of a file that costs no order: a warning for each text, once.
 *
 * @param path the file, which the warning names
 */
export function warnOnce(path: string, warn: (text: string) => void): (what: string, error: unknown) => void {
  const said = new Set<string>()
  return (what, error) => {
    if (said.has(what)) return
    said.add(what)
    warn(`${what} (${path}): ${reasonOf(error)}. Orders are not affected.`)
  }
}
