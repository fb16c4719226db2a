/** `perpd log level`: what the running daemon writes into its log, shown, and changed while it runs. */
import { defined } from '../../base/defined.ts'
import { CommandError, exitCodes } from '../../config/exit.ts'
import { logComponents, logLevels } from '../../domain/logLevels.ts'
import type { LevelsInForce } from '../../monitor/log/levelTable.ts'
import { ended } from '../../monitor/text.ts'
import type { Call } from '../call/command.ts'
import { command, queryDaemon } from '../call/daemonClient.ts'
import { commander } from '../call/whoAsks.ts'
import { columns } from '../output/table.ts'

/** Shows the level of every component; with a level, sets that of one component or of all that have none of their own. */
export async function logLevel(call: Call): Promise<number> {
  const { loaded, flags, positionals, out } = call
  if (positionals.length === 0) return await showLevels(call)
  const [component, word] = positionals.length > 1 ? positionals : [undefined, positionals[0]]
  if (component !== undefined && !logComponents.some((each) => each === component)) {
    throw new CommandError(
      `${component} is not a component of the log; expected ${logComponents.join(', ')}.`,
      exitCodes.error,
    )
  }
  if (word === undefined || !logLevels.some((each) => each === word)) {
    throw new CommandError(
      `${String(word)} is not a level; expected ${logLevels.join(', ')}.`,
      exitCodes.error,
    )
  }
  const statement = await command(loaded, '/api/log/level', {
    ...defined({ component }),
    level: word,
    by: commander(call),
  })
  out(flags.has('json') ? JSON.stringify({ statement }) : ended(statement))
  return exitCodes.ok
}

async function showLevels({ loaded, flags, out }: Call): Promise<number> {
  const levels = await queryDaemon(loaded, '/api/log/levels', isLevels)
  if (flags.has('json')) out(JSON.stringify(levels))
  else {
    const rows = levels.components.map(({ component, level, isOwn }) => [
      component,
      level,
      isOwn ? 'own' : '',
    ])
    out(columns([['COMPONENT', 'LEVEL', ''], ...rows, ['all others', levels.level, '']]))
  }
  return exitCodes.ok
}

function isLevels(body: unknown): body is LevelsInForce {
  return typeof body === 'object' && body !== null && 'components' in body && Array.isArray(body.components)
}
