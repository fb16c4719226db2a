/** Sets the threshold of the log: `level` of one component, or of all components without a separate level. */
import { z } from 'zod'
import { logComponents, logLevels } from '../../../domain/logLevels.ts'
import { byFlag, json } from '../commandLine.ts'
import type { CommandOf, CommandRow } from '../commandRow.ts'
import { done } from '../operatorAnswer.ts'

const body = z.strictObject({ component: z.enum(logComponents).exactOptional(), level: z.enum(logLevels) })

/** The command. */
type LogCommand = CommandOf<'log', typeof body>

/** Its row. */
export const setLogLevel: CommandRow<LogCommand> = {
  type: 'log',
  route: '/api/log/level',
  body,
  // Recorded here; the daemon sets the level of its log after this answer.
  async run(_, { component, level }) {
    const what =
      component === undefined ? 'components without a level of their own write' : `${component} writes`
    return done(`${what} lines from ${level} on, until the settings are read anew or perpd starts again`)
  },
  api: {
    example: { component: 'host', level: 'debug' },
    note: 'without a component: all that have no level of their own',
  },
  cli: [
    {
      name: 'log level',
      isForRunning: true,
      summary:
        'Show or change what the running daemon writes into its log, of one component or of all others.',
      details:
        'Without arguments it shows the level of every component now. Levels are debug, info, warn and error; components are the first words of events (docs/reference/events.md).\nIt holds until the settings are read anew (perpd limits apply, SIGHUP) or the daemon starts again; what is to\nstay is log.level and log.levels.',
      positional: { name: 'component', doc: 'a component, and a level; or a level alone', isOptional: true },
      more: [{ name: 'level', doc: 'debug, info, warn or error', isOptional: true }],
      flags: [byFlag, json],
      examples: ['perpd log level', 'perpd log level host debug', 'perpd log level warn --by ann'],
    },
  ],
}
