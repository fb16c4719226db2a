/** The trader as the control port asks it, with the lines that the log has of commands. */

import { JournalFaultError } from '../../journal/journal.ts'
import type { EngineApi } from '../../operator/port/engineStatus.ts'
import { type ChangedLog, changeLog, noteReading } from './changeLog.ts'

/** The trader's door, with what the log should say of commands: a reading of limits or strategies, and a journal that cannot be written, which ends the daemon. */
export function loggedEngineApi(
  trader: EngineApi,
  { log, reload }: ChangedLog,
  fail: (error: unknown) => void,
): EngineApi {
  return {
    ...trader,
    async operate(command, commander) {
      try {
        const answer = await trader.operate(command, commander)
        noteReading(command, commander.by, answer, log)
        if (answer.ok) changeLog(command, commander.by, { log, reload })
        return answer
      } catch (error) {
        if (!(error instanceof JournalFaultError)) throw error
        // Told to whoever commands first: what comes after has no door any more.
        setImmediate(fail, error)
        return { ok: false, code: error.code, reason: `the command failed. ${error.message}` }
      }
    },
    async signal(message) {
      try {
        return await trader.signal(message)
      } catch (error) {
        if (error instanceof JournalFaultError) setImmediate(fail, error)
        throw error
      }
    },
  }
}
