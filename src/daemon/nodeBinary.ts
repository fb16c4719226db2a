/** Which Node runs this process, which may hold the key, and whether it and perpd's own code are ours to trust. */
import { realpathSync } from 'node:fs'
import { dirname } from 'node:path'
import { type Machine, thisMachine, untrustedPart, untrustedText } from '../keys/trustedPath.ts'

/** Report on the running Node. */
export interface NodeReport {
  /** `v24.21.0 at /usr/bin/node, which only you and root can change`. */
  readonly text: string
  /** Warnings for an operator with real money, one sentence each; empty when there are none. */
  readonly warnings: readonly string[]
}

/**
 * Looks at the binary and at perpd's own folder, by the rule for every file that decides.
 *
 * @param path the binary, as `process.execPath`.
 */
export function nodeReport(
  path: string = process.execPath,
  machine: Machine = thisMachine,
  resolved: string = realpathSync(path),
): NodeReport {
  // The trust that perpd's own folder gives to its contents does not count here: that folder is what is checked.
  const strict = { ...machine, ownFolder: '/dev/null' }
  const binary = untrustedPart(path, strict)
  const code = untrustedPart(machine.ownFolder, strict)
  const warnings: string[] = []
  if (binary !== undefined) {
    const { what, fix } = untrustedText(binary)
    warnings.push(`the Node binary ${path} is not safe: ${what}. Anyone who changes it gets the key. ${fix}`)
  }
  if (code !== undefined) {
    const { what, fix } = untrustedText(code)
    warnings.push(
      `the code of perpd in ${machine.ownFolder} is not safe: ${what}. Anyone who changes it gets the key. ${fix}`,
    )
  }
  if (resolved.split('/').includes('node_modules')) {
    warnings.push(
      `the Node binary ${resolved} comes from a development package, which downloaded it without a hash in the lockfile. With real money use the Node of the system or the container (docs/hardening.md, "The Node that holds the key")`,
    )
  }
  const trust =
    machine.user === undefined
      ? ''
      : `, which ${binary === undefined ? 'only you and root' : 'others'} can change`
  return {
    text: `${process.version} at ${dirname(resolved) === dirname(path) ? path : resolved}${trust}`,
    warnings,
  }
}
