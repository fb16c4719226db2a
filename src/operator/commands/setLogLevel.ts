/** Sets the threshold of the log: `level` of one component, or of all components without a separate level. */
import { z } from 'zod'
import { logComponents, logLevels } from '../../domain/logLevels.ts'
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
    const what = component === undefined ? 'components without their own level write' : `${component} writes`
    return done(`${what} lines from ${level} on, until the settings are reloaded or perpd restarts`)
  },
  api: {
    example: { component: 'host', level: 'debug' },
    note: 'without a component: all without their own level',
  },
  cli: [
    {
      name: 'log level',
      isForRunning: true,
      summary: 'Show or change the log level of the running daemon, for one component or all others.',
      details:
        'Without arguments it shows the level of every component. Levels are debug, info, warn and error; components are the first words of events (docs/reference/events.md).\nThe change lasts until the settings are reloaded (perpd limits apply, SIGHUP) or the daemon restarts; for a permanent\nchange set log.level and log.levels.',
      positional: { name: 'component', doc: 'a component, and a level; or a level alone', isOptional: true },
      more: [{ name: 'level', doc: 'debug, info, warn or error', isOptional: true }],
      flags: [byFlag, json],
      examples: ['perpd log level', 'perpd log level host debug', 'perpd log level warn --by ann'],
    },
  ],
}
