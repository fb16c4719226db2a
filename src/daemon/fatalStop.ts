/** The end of a run by a fault. */
import { BaseError, codeField, reasonOf } from '../base/errors.ts'
import { CommandError, exitCodes } from '../config/exit.ts'
import type { Log } from '../monitor/log/log.ts'

/**
 * One clear line, then the end: an order is never made without its journal, and a mistake of ours is never lived with. `subject` is what stops: the process,
 * or one account of it.
 */
export function fatalStop(
  log: Log,
  end: (code: number, error: unknown) => void,
  tell: (reason: string) => void,
  subject = 'perpd',
): { readonly fatal: (error: unknown) => void; readonly isOver: () => boolean } {
  let isOver = false
  const fatal = (error: unknown): void => {
    if (isOver) return
    isOver = true
    if (error instanceof CommandError) {
      log.note('daemon.failed', 'error', error.message)
      tell(error.message)
      end(error.exitCode, error)
      return
    }
    const text =
      error instanceof BaseError
        ? error.message
        : error instanceof Error
          ? (error.stack ?? error.message)
          : String(error)
    log.note('daemon.failed', 'error', `${subject} stops: ${text}`, codeField(error))
    // The stack is for the log alone.
    tell(reasonOf(error))
    end(exitCodes.error, error)
  }
  return { fatal, isOver: () => isOver }
}
