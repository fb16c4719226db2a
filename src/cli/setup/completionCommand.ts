/** `perpd completion`: the words of the command line, for a shell. */
import { settings } from '../../config/configSchema.ts'
import { CommandError, exitCodes } from '../../config/exit.ts'
import { didYouMean } from '../../config/suggest.ts'
import { type CommandLine, liveSubjects } from '../../operator/commandLine.ts'
import { isSwapOnly } from '../../protocol/catalogue.ts'
import { chainNames, chains } from '../../protocol/chains/index.ts'
import { builtInNames } from '../../strategy/kinds/builtInKind.ts'
import { taskRows } from '../../tasks/taskRows.ts'
import type { BareCall } from '../call/command.ts'
import { completionScript, shells, type ValueWords } from './completionScript.ts'

/** Prints the script of a shell. */
export async function completion(
  { positionals: [word = ''], out }: BareCall,
  commands: readonly CommandLine[],
): Promise<number> {
  const shell = shells.find((each) => each === word)
  if (shell === undefined) {
    throw new CommandError(
      `perpd has no completion for ${word}, but for ${shells.join(', ')}.${didYouMean(word, [...shells, ...liveSubjects])}`,
      exitCodes.configuration,
    )
  }
  out(completionScript(shell, commands, valueWords()))
  return exitCodes.ok
}

/** Values of flags and arguments that are known without asking anybody. */
function valueWords(): ValueWords {
  // The name before the slash is enough where one market has it, and else it is answered with whole symbols.
  const markets = [
    ...new Set(
      Object.values(chains).flatMap(({ facts }) =>
        [...facts.markets.values()]
          .filter((market) => !isSwapOnly(market))
          .map(({ symbol }) => symbol.split('/')[0] ?? ''),
      ),
    ),
  ].filter((name) => /^[\w.-]+$/.test(name))
  return {
    profile: ['paper', ...chainNames],
    level: ['debug', 'info', 'warn', 'error'],
    kind: builtInNames,
    'task-kind': taskRows.map(({ name }) => name),
    KIND: builtInNames,
    market: markets,
    direction: ['long', 'short'],
    state: ['active', 'reducing', 'halted'],
    shell: shells,
    SETTING: [...new Set(settings.flatMap(({ key }) => [key.split('.')[0] ?? key, key]))],
  }
}
