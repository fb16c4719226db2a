/** `perpd logs`: the newest lines of the daemon's log, which it keeps in memory, and those that follow. */
import { systemClock } from '../../base/systemClock.ts'
import { CommandError, exitCodes } from '../../config/exit.ts'
import { didYouMean } from '../../config/suggest.ts'
import { logLevels } from '../../domain/logLevels.ts'
import type { KeptLine, KeptLines } from '../../monitor/log/logRing.ts'
import type { Call } from '../call/command.ts'
import { queryDaemon, queryStatus } from '../call/daemonClient.ts'
import { atOnce } from '../call/forAccounts.ts'
import { wholeFlag } from '../call/numberFlags.ts'
import { wordsIn } from '../output/fitTable.ts'

const DEFAULT_LINES = 50
const FOLLOW_MS = 500

/** Prints lines, of all or of one strategy or order, oldest first; with `--follow` until it is interrupted or the daemon ends (exit code 3). */
export async function logs({ loaded, flags, width, out }: Call): Promise<number> {
  const level = logLevels.find((each) => each === (flags.get('level') ?? 'info'))
  if (level === undefined) {
    throw new CommandError(
      `--level is ${String(flags.get('level'))}; expected ${logLevels.join(', ')}.`,
      exitCodes.error,
    )
  }
  const lines = wholeFlag(flags, 'lines', { least: 1, most: 999_999 }) ?? DEFAULT_LINES
  const about = aboutOf(flags)
  const read = (after: number, limit: number) =>
    queryDaemon(loaded, `/api/logs?after=${after}&limit=${limit}&level=${level}${about.query}`, isLines)
  const show = (lines: readonly KeptLine[]): void => {
    for (const line of lines) {
      out(
        flags.has('json')
          ? JSON.stringify({ ...line, at: new Date(line.atMs).toISOString() })
          : lineText(line, width),
      )
    }
  }
  let last = await read(0, lines)
  if (last.lines.length === 0 && about.strategy !== undefined) {
    const known = (await queryStatus(loaded)).strategies.map(({ name }) => name)
    if (!known.includes(about.strategy)) throw noStrategy(about.strategy, known)
  }
  show(last.lines)
  if (!flags.has('follow')) {
    if (last.lines.length > 0 || about.order === undefined) return exitCodes.ok
    throw new CommandError(
      `No stored line is about the order ${about.order} (--level ${level}). For its history: perpd explain ${about.order}`,
      exitCodes.notFound,
    )
  }
  for (;;) {
    await systemClock.sleep(FOLLOW_MS)
    const next = await read(last.newest, 2_000)
    // Numbers of another run begin anew.
    if (next.runId === last.runId) show(next.lines)
    else {
      out('perpd restarted')
      show((await read(0, 2_000)).lines)
    }
    last = next
  }
}

/** Follows the logs of several accounts at once, each line with its account's name. */
export async function logsOfAll(calls: readonly Call[]): Promise<number> {
  return await atOnce(calls, logs)
}

/** Subject of the lines asked for, also as the end of a query. */
function aboutOf(flags: Call['flags']): {
  readonly strategy: string | undefined
  readonly order: string | undefined
  readonly query: string
} {
  const strategy = flags.get('strategy')?.toString()
  const order = flags.get('order')?.toString()
  if (order !== undefined && !/^(?:0x)?[\da-f]{1,64}$/i.test(order)) {
    throw new CommandError(
      `--order is ${order}; expected an order's id, or its first characters (perpd orders lists them).`,
      exitCodes.error,
    )
  }
  const asked = Object.entries({ strategy, order }).flatMap(([name, value]) =>
    value === undefined ? [] : [`&${name}=${encodeURIComponent(value)}`],
  )
  return { strategy, order, query: asked.join('') }
}

function noStrategy(name: string, known: readonly string[]): CommandError {
  return new CommandError(
    `No running strategy is called ${name}, and no stored line mentions it.${didYouMean(name, known)} Running: ${known.join(', ') || 'none'}.`,
    exitCodes.notFound,
  )
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
