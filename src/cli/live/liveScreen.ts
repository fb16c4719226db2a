/** The daemon's status as a screen that is drawn again and again. Pure. */
import { isoTime } from '../../base/clock.ts'
import { visible } from '../../base/shownText.ts'
import type { StatusBody } from '../../control/routes.ts'
import { fitted } from '../output/screen.ts'
import { statusText } from '../results/statusText.ts'

/** Contents of a screen. */
export interface LiveFacts {
  /** The command that shows it, as it was typed: `perpd top`. */
  readonly command: string
  /** The newest status that was read. */
  readonly body: LiveBody
  /** Why the last read gave none; absent: it gave `body`. */
  readonly problem?: string
  /** Time between two reads, ms. */
  readonly everyMs: number
  /** First line of the status that is shown, from 0; more than there are shows the last ones. */
  readonly offset: number
  /** True when lines may carry colours. */
  readonly hasColor: boolean
}

/** The status of one account, or of several by their names. */
export type LiveBody = StatusBody | { readonly nowMs: number; readonly accounts: readonly NamedStatus[] }

/** The status of one of several accounts. */
export interface NamedStatus {
  readonly name: string
  /** The reason why there is none, where it is a text. */
  readonly body: StatusBody | string
}

/** The text of a status so wide, of several accounts each under its name. */
export function liveText(body: LiveBody, width: number): string {
  if (!('accounts' in body)) return statusText(body, width)
  return body.accounts
    .map(
      ({ name, body: own }) => `account ${name}\n${typeof own === 'string' ? own : statusText(own, width)}`,
    )
    .join('\n\n')
}

/** Lines around the status: the head and the foot. */
const FRAME_LINES = 2

/** Lines of the status that fit a screen of so many rows; at least one. */
export function pageOf(rows: number): number {
  return Math.max(1, rows - FRAME_LINES)
}

/** The status as the lines of a screen so wide, without colours; each at most as wide as the screen. */
export function statusLines(body: LiveBody, columns: number): readonly string[] {
  return fitted(visible(liveText(body, columns)), columns)
    .split('\n')
    .map((line) => line.replaceAll('\t', ' ').slice(0, columns))
}

/** The last first line that fills a screen of so many rows with the status; 0 where all of it fits. */
export function lastOffset(body: LiveBody, columns: number, rows: number): number {
  return Math.max(0, statusLines(body, columns).length - pageOf(rows))
}

/**
 * The whole screen: time and interval, as much of the status as fits from its offset on, and at the foot what is not seen and which
 * keys do what. Never more lines than `rows`, and none wider than `columns`, colours aside. `columns` and `rows` are 1 or more.
 */
export function liveScreen(facts: LiveFacts, columns: number, rows: number): readonly string[] {
  const { command, body, problem, everyMs, hasColor } = facts
  const all = statusLines(body, columns)
  const page = pageOf(rows)
  const from = Math.max(0, Math.min(facts.offset, all.length - page))
  const shown = all.slice(from, from + page)
  const hidden = all.length - shown.length
  const cut = (line: string): string =>
    visible(line)
      .replaceAll(/[\n\t]/g, ' ')
      .slice(0, columns)
  const paint = (code: string, line: string): string =>
    hasColor && code !== '' && line !== '' ? `\u001b[${code}m${line}\u001b[0m` : line
  const head = cut(`${command}  ${isoTime(body.nowMs)}, every ${everyMs / 1_000} s`)
  const foot =
    problem === undefined
      ? `q ends${hidden > 0 ? `, arrows, space and b, g and G move; lines ${from + 1} to ${from + shown.length} of ${all.length}` : ''}`
      : `NO ANSWER, figures are old: ${problem}`
  const lines = [
    paint('1', head),
    ...shown.map((line) => paint(problem === undefined ? colorOf(line) : '2', line)),
    ...Array.from({ length: Math.max(0, page - shown.length) }, () => ''),
    paint(problem === undefined ? '2' : '31', cut(foot)),
  ]
  // A screen of one or two rows shows the status rather than what is around it.
  return lines.length <= rows ? lines : shown.slice(0, rows)
}

/** The colour of a line by what it says: what needs a person, what holds trading back, and headings. */
function colorOf(line: string): string {
  if (/NO STOP|cannot explain|contradict/.test(line)) return '31'
  if (/\bnot ready\b|\b(?:halted|reducing)\b|without a manager|lag behind/.test(line)) return '33'
  if (/^(?:account .*|strategies|positions:.*|resting orders|orders in flight|tasks .*)$/.test(line))
    return '1'
  return /^ +[A-Z][A-Z ]+$/.test(line) ? '2' : ''
}
