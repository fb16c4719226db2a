/** The terminal as a screen of its own: what was on it comes back at the end, however that comes. */
import { SCREEN_COLUMNS } from '../output/screen.ts'

/** A screen that was taken over. */
export interface LiveTerminal {
  readonly columns: () => number
  readonly rows: () => number
  /** Shows these lines and nothing else. */
  draw(lines: readonly string[]): void
  /** Gives the screen and the keyboard back; a second time does nothing. */
  close(): void
}

/** Actions of the person at the terminal. */
export interface LiveKeys {
  /** A key, as the terminal sends it: `q`, or an escape of an arrow. */
  readonly onKey: (key: string) => void
  /** The screen has another size. */
  readonly onResize: () => void
  /** Ctrl-C, or a signal that ends the process. */
  readonly onEnd: () => void
}

const SCREEN_ROWS = 24
const enter = '\u001b[?1049h\u001b[?25l'
const leave = '\u001b[?25h\u001b[?1049l'
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Tells whether somebody sits at a screen that can be drawn on: input and output are terminals, and the terminal is not dumb. */
export function isLiveTerminal(env: Readonly<Record<string, string | undefined>>): boolean {
  return process.stdin.isTTY === true && process.stdout.isTTY === true && env.TERM !== 'dumb'
}

/** The terminal's two sides, as far as they are used. */
export type TerminalStreams = Pick<typeof process, 'stdin' | 'stdout'>

/** Takes the terminal over, where `isLiveTerminal`; that of this process when no other is given. */
export function openLiveTerminal(
  { onKey, onResize, onEnd }: LiveKeys,
  { stdin, stdout }: TerminalStreams = process,
): LiveTerminal {
  let isOpen = true
  const close = (): void => {
    if (!isOpen) return
    isOpen = false
    for (const signal of signals) process.off(signal, onEnd)
    process.off('exit', close)
    stdout.off('resize', onResize)
    stdin.off('data', heard)
    stdin.setRawMode(false)
    stdin.pause()
    stdout.write(leave)
  }
  const heard = (piece: string): void => {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: arrows and paging keys begin with an escape
    for (const [key] of piece.matchAll(/\u001b\[[\d;]*[A-Za-z~]|./gs)) {
      if (key === '\u0003') onEnd()
      else onKey(key)
    }
  }
  stdin.setRawMode(true)
  stdin.setEncoding('utf8').on('data', heard)
  stdout.on('resize', onResize)
  for (const signal of signals) process.on(signal, onEnd)
  process.on('exit', close)
  stdout.write(enter)
  return {
    columns: () => stdout.columns || SCREEN_COLUMNS,
    rows: () => stdout.rows || SCREEN_ROWS,
    draw(lines) {
      if (isOpen) stdout.write(`\u001b[H${lines.map((line) => `${line}\u001b[K`).join('\r\n')}\u001b[J`)
    },
    close,
  }
}
