/** `perpd kill`: stops everything in the running daemon, and reports until nothing is left. */
import { systemClock } from '../api/systemClock.ts'
import type { Call } from './command.ts'
import { askStatus, command } from './daemon.ts'
import { CommandError, exitCodes } from './exit.ts'
import { killText } from './status.ts'
import { commander } from './trading.ts'

const lookMs = 1_000

/** Asks for the kill and follows it; resolves when it is done. Exit code 3 when no daemon answers: it says what to do then. */
export async function kill(call: Call): Promise<number> {
  const { loaded, flags, out } = call
  const body = { close: flags.has('close'), by: commander(call) }
  try {
    out(`${await command(loaded, '/api/kill', body)}.`)
  } catch (error) {
    if (error instanceof CommandError && error.exitCode === exitCodes.notRunning) {
      throw new CommandError(
        `${error.message}\n  A daemon that does not run makes no orders; what rests at the venue stays there. Start it and kill again at once: perpd run & perpd kill${flags.has('close') ? ' --close' : ''}. If it runs and cannot be asked, halt it with: kill -USR2 PID`,
        exitCodes.notRunning,
      )
    }
    throw error
  }
  let shown = ''
  for (;;) {
    const { kill: report } = await askStatus(loaded)
    if (report === undefined) throw new CommandError('The daemon knows of no kill any more.', exitCodes.error)
    const text = killText(report)
    if (text !== shown) out(text)
    shown = text
    if (report.endedAtMs !== undefined) {
      return report.outcome === 'done' ? exitCodes.ok : exitCodes.error
    }
    await systemClock.sleep(lookMs)
  }
}
