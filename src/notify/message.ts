/** Formats a notice for people. Pure. */
import type { Notice } from '../monitor/events/notice.ts'

/** Context of every message of this daemon. */
export interface MessageContext {
  /** `paper`, `arbitrum`. */
  readonly profile: string
  /** Name of the account where a process has several; absent: it has one, or the message is of the process. */
  readonly account?: string
  /** Address of the page; absent: none is told. */
  readonly consoleUrl?: string
}

/** A message. */
export interface Message {
  readonly title: string
  readonly text: string
}

const defaultTemplate = '{text}\n{action}\n{link}'

/**
 * The message of a notice that happened `count` times.
 *
 * @param template text with placeholders; a line that is empty without its placeholder is left out.
 */
export function messageOf(
  notice: Notice,
  count: number,
  { profile, account, consoleUrl = '' }: MessageContext,
  template = defaultTemplate,
): Message {
  const title = `perpd ${profile}${account === undefined ? '' : ` ${account}`}: ${notice.kind.replaceAll('-', ' ')}`
  const times = count > 1 ? ` (${count} times by now)` : ''
  const values: Readonly<Record<string, string>> = {
    title,
    text: `${notice.text}${times}`,
    action: notice.action === undefined ? 'No action is needed.' : `Action needed: ${notice.action}`,
    link: consoleUrl,
    level: notice.level,
    event: notice.kind,
    count: String(count),
  }
  // Line by line, so that what a value holds is never taken for a placeholder.
  const lines = template
    .split('\n')
    .map((line) => ({ line, shown: line.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '') }))
  return {
    title,
    text: lines
      .filter(({ line, shown }) => line.trim() === '' || shown.trim() !== '')
      .map(({ shown }) => shown)
      .join('\n'),
  }
}

/** At most `most` characters; a longer text ends with a sign that it was cut. */
export function cutText(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`
}
