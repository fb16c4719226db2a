/** Checks that files which a live daemon writes and trusts at its next start lie in places that nobody else can change. */
import type { Config } from '../config/configTypes.ts'
import { CommandError, exitCodes } from '../config/exit.ts'
import { untrustedPart, untrustedText } from '../keys/trustedPath.ts'

/** Why the configured places are not used, one sentence each; empty on paper, where they hold play money. */
export function stateProblems({ isPaper, journal, account }: Config): readonly string[] {
  if (isPaper) return []
  const places: readonly (readonly [setting: string, path: string | undefined])[] = [
    ['journal.path', journal.path === 'memory:' ? undefined : journal.path.replace(/^sqlite:/, '')],
    ['journal.headPath', journal.headPath],
    ['account.approvalFile', account.approvalFile],
  ]
  return places.flatMap(([setting, path]) => {
    const found = path === undefined ? undefined : untrustedPart(path)
    if (found === undefined) return []
    const { what, fix } = untrustedText(found)
    return [`${setting} is ${path}, which is not used with real money: ${what}. ${fix}`]
  })
}

/** Throws CommandError with exit code 4 when a place that a live daemon believes can be changed by another user. */
export function refuseUntrustedState(config: Config): void {
  const problems = stateProblems(config)
  if (problems.length === 0) return
  throw new CommandError(`${problems.join('\n')}\n  Nothing was done.`, exitCodes.configuration)
}
