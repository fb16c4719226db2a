/** Applies commands that change the log itself, and logs the readings that commands requested. */
import { reasonOf } from '../../base/errors.ts'
import { ConfigError, type LoadedConfig } from '../../config/loadConfig.ts'
import type { Log } from '../../monitor/log/log.ts'
import type { OperatorCommand } from '../../operator/commands/index.ts'
import type { OperatorAnswer } from '../../operator/operatorAnswer.ts'

/** The log that commands change, and how the settings are read anew. */
export interface ChangedLog {
  readonly log: Log
  readonly reload: () => LoadedConfig
}

/**
 * Sets the level that was asked for; with limits that were read anew, the levels of the settings. Settings that cannot be read now, as while somebody
 * saves their file, leave the levels as they are: the limits were read before, and the daemon goes on.
 */
export function changeLog(command: OperatorCommand, by: string, { log, reload }: ChangedLog): void {
  const { levels } = log
  const before = levels.text()
  if (command.type === 'log') levels.set(command.level, command.component)
  else if (command.type === 'limits' && command.isPreview !== true) {
    try {
      levels.take(reload().config.log)
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      log.note('log.levels', 'warn', `levels of the log stay ${before}: ${reasonOf(error)}`)
    }
  }
  const after = levels.text()
  if (after !== before)
    log.note('log.levels', 'warn', `levels of the log are ${after} (${before} before), set by ${by}`)
}

/** Tells whether an event already reported it with the same words: changed limits, and the person who changed them. */
export function isToldByEvent(answer: OperatorAnswer): boolean {
  return answer.ok && answer.isChanged === true
}

/** Says that limits or strategy files were read anew and what came of it, unless an event told that. */
export function noteReading(command: OperatorCommand, by: string, answer: OperatorAnswer, log: Log): void {
  if ((command.type !== 'limits' && command.type !== 'reload') || command.isPreview === true) return
  if (isToldByEvent(answer)) return
  const what = command.type === 'limits' ? 'limits' : 'strategy files'
  const text = answer.ok ? answer.statement : answer.reason
  log.note(
    'operator.readAnew',
    answer.ok ? 'info' : 'warn',
    `${what} were reloaded at the request of ${by}: ${text}`,
  )
}
