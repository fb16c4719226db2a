/** `perpd log level`: what the running daemon writes into its log, changed while it runs. */
import { CommandError, exitCodes } from '../../config/exit.ts'
import { logComponents, logLevels } from '../../domain/logLevels.ts'
import { ended } from '../../monitor/text.ts'
import type { Call } from '../call/command.ts'
import { command } from '../call/daemonClient.ts'
import { commander } from './tradingCommand.ts'

/** Sets the level of one component, or of all that have none of their own. */
export async function logLevel(call: Call): Promise<number> {
  const { loaded, flags, positionals, out } = call
  const [component, word] = positionals.length > 1 ? positionals : [undefined, positionals[0]]
  if (component !== undefined && !logComponents.some((each) => each === component)) {
    throw new CommandError(
      `${component} is no component of the log; expected ${logComponents.join(', ')}.`,
      exitCodes.error,
    )
  }
  if (!logLevels.some((each) => each === word)) {
    const problem = word === undefined ? 'A level is needed' : `${word} is no level`
    throw new CommandError(`${problem}; expected ${logLevels.join(', ')}.`, exitCodes.error)
  }
  const statement = await command(loaded, '/api/log/level', {
    ...(component === undefined ? {} : { component }),
    level: word,
    by: commander(call),
  })
  out(flags.has('json') ? JSON.stringify({ statement }) : ended(statement))
  return exitCodes.ok
}
