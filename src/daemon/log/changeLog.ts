/** What commands that were carried out change in the log itself. */
import type { LoadedConfig } from '../../config/loadConfig.ts'
import type { OperatorCommand } from '../../engine/operator/operatorCommand.ts'
import type { Log } from '../../monitor/log/log.ts'

/** Sets the level that was asked for; with limits that were read anew, the levels of the settings. */
export function changeLog(
  command: OperatorCommand,
  by: string,
  { log, reload }: { readonly log: Pick<Log, 'levels' | 'note'>; readonly reload: () => LoadedConfig },
): void {
  const { levels } = log
  const before = levels.text()
  if (command.type === 'log') levels.set(command.level, command.component)
  else if (command.type === 'limits' && command.isPreview !== true) levels.take(reload().config.log)
  const after = levels.text()
  if (after !== before)
    log.note('log.levels', 'warn', `levels of the log are ${after} (${before} before), set by ${by}`)
}
