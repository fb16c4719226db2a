/** `perpd logs`: the newest lines of the daemon's log, which it keeps in memory, and those that follow. */
import { systemClock } from '../../base/systemClock.ts'
import { CommandError, exitCodes } from '../../config/exit.ts'
import { logLevels } from '../../domain/logLevels.ts'
import type { KeptLine, KeptLines } from '../../monitor/log/logRing.ts'
import type { Call } from '../call/command.ts'
import { queryDaemon } from '../call/daemonClient.ts'
import { wordsIn } from '../output/fitTable.ts'

const DEFAULT_LINES = 50
const FOLLOW_MS = 500

/** Prints lines, oldest first; with `--follow` until it is interrupted or the daemon ends (exit code 3). */
export async function logs({ loaded, flags, width, out }: Call): Promise<number> {
  const level = logLevels.find((each) => each === (flags.get('level') ?? 'info'))
  if (level === undefined) {
    throw new CommandError(
      `--level is ${String(flags.get('level'))}; expected ${logLevels.join(', ')}.`,
      exitCodes.error,
    )
  }
  const word = flags.get('lines') ?? String(DEFAULT_LINES)
  if (typeof word !== 'string' || !/^[1-9]\d{0,5}$/.test(word)) {
    throw new CommandError(`--lines is ${String(word)}; expected a whole number from 1.`, exitCodes.error)
  }
  const read = (after: number, limit: number) =>
    queryDaemon(loaded, `/api/logs?after=${after}&limit=${limit}&level=${level}`, isLines)
  const show = (lines: readonly KeptLine[]): void => {
    for (const line of lines) {
      out(
        flags.has('json')
          ? JSON.stringify({ ...line, at: new Date(line.atMs).toISOString() })
          : lineText(line, width),
      )
    }
  }
  let last = await read(0, Number(word))
  show(last.lines)
  if (!flags.has('follow')) return exitCodes.ok
  for (;;) {
    await systemClock.sleep(FOLLOW_MS)
    const next = await read(last.newest, 2_000)
    // Numbers of another run begin anew.
    if (next.runId === last.runId) show(next.lines)
    else {
      out('perpd was started anew')
      show((await read(0, 2_000)).lines)
    }
    last = next
  }
}

function isLines(body: unknown): body is KeptLines {
  return typeof body === 'object' && body !== null && 'lines' in body && 'newest' in body
}

/** `11-22 20:01:04  order     ...`, in UTC; further lines of a text stand below its first. */
export function lineText({ atMs, level, word, text }: KeptLine, width: number): string {
  const time = new Date(atMs).toISOString().slice(5, 19).replace('T', ' ')
  const mark = level === 'warn' || level === 'error' ? `${level}: ` : ''
  const head = `${time}  ${word.padEnd(9)} `
  const lines = `${mark}${text}`
    .split('\n')
    .flatMap((line) => wordsIn(line, Math.max(20, width - head.length)))
  return lines.map((line, at) => `${at === 0 ? head : ' '.repeat(head.length)}${line}`).join('\n')
}
