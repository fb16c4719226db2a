/**
 * The log's way to standard output, which never waits for whoever reads it: a terminal that was stopped (Ctrl-S), a pipe that is full. What waits is bounded;
 * beyond that lines are dropped and counted until all that waits is taken. When the reader is gone, the daemon continues without it.
 */
import { spawn } from 'node:child_process'
import { closeSync, constants, openSync } from 'node:fs'
import { systemClock } from '../../base/systemClock.ts'
import type { Emit } from '../../domain/event.ts'
import type { LogStream } from '../../monitor/log/log.ts'

/** Most that waits for a reader, bytes: some thousand lines. */
const MOST_WAITING_BYTES = 1024 * 1024

/** A stream as Node makes it for standard output. */
export interface OutputStream extends LogStream {
  readonly writableLength: number
  write(text: string, done?: (error?: Error | null) => void): boolean
  on(event: 'drain', listener: () => void): unknown
  on(event: 'error', listener: (error: NodeJS.ErrnoException) => void): unknown
}

/** Standard output for a log. */
export interface LogOutput extends LogStream {
  /** Reports from then on that lines are dropped, that they are taken again, and that the reader is gone. */
  report(emit: Emit): void
  /** Writes to this stream from then on, where the reader is gone: Ctrl-C ends the reader of a pipe together with the daemon, which has last lines. */
  lastLinesTo(stream: LogStream): void
}

/** Wraps the stream. Errors of it are no errors of the process any more. */
export function createLogOutput(stream: OutputStream, mostBytes: number = MOST_WAITING_BYTES): LogOutput {
  let state: 'taken' | 'stuck' | 'lost' = 'taken'
  let dropped = 0
  let told: Emit | undefined
  let last: LogStream | undefined
  const report = (): void => {
    const event = { type: 'log.output', state, lines: dropped } as const
    // In a turn of its own: this may be in the middle of a line.
    if (told !== undefined) setImmediate(told, event)
  }
  stream.on('drain', () => {
    if (state !== 'stuck') return
    state = 'taken'
    report()
    dropped = 0
  })
  stream.on('error', () => {
    if (state === 'lost') return
    state = 'lost'
    // At the end nobody needs to look for a new reader.
    if (last === undefined) report()
  })
  return {
    get isTTY() {
      return stream.isTTY === true
    },
    get columns() {
      return stream.columns ?? 0
    },
    write(text) {
      if (state === 'taken' && stream.writableLength + text.length <= mostBytes) {
        // A reader may be gone before its stream knows.
        stream.write(text, (error) => {
          if (error) last?.write(text)
        })
        return
      }
      if (state === 'lost' && last !== undefined) {
        last.write(text)
        return
      }
      dropped += 1
      if (state !== 'taken') return
      state = 'stuck'
      report()
    },
    report(emit) {
      told = emit
      if (state !== 'taken') report()
    },
    lastLinesTo(other) {
      last = other
    },
  }
}

/**
 * Makes a terminal take what is written as a pipe does: what it does not take waits, and the process does not. Node writes
 * terminals so that the process waits, and offers no other switch than this one of its handle. False for a terminal of another user,
 * as after `su`: it is shared with the shell that waits there, and stays as it is.
 */
export function neverWait(stream: NodeJS.WriteStream & { readonly fd: number }): boolean {
  const { _handle: handle } = stream as unknown as {
    readonly _handle?: { readonly setBlocking?: (isBlocking: boolean) => void }
  }
  if (stream.isTTY !== true) return true
  if (!isOwnTerminal(stream.fd)) return false
  handle?.setBlocking?.(false)
  return true
}

/**
 * The stream as what never waits. Before a terminal of another user stands a process that writes to it, and waits in our place; it
 * ends when all that it was handed is written. Where it cannot be started nothing is shown there, which the log's events say as of
 * a reader that is gone.
 */
export function withoutWaiting(stream: NodeJS.WriteStream & { readonly fd: number }): OutputStream {
  return neverWait(stream) ? stream : throughWriter(stream)
}

function throughWriter(stream: NodeJS.WriteStream & { readonly fd: number }): OutputStream {
  // In a session of its own: Ctrl-C at the terminal is for the daemon, which has last lines.
  const writer = spawn('cat', [], { stdio: ['pipe', stream.fd, 'ignore'], detached: true })
  writer.unref()
  const { stdin } = writer
  if (stdin === null) throw new TypeError('a writer has no standard input')
  writer.on('error', (error) => stdin.destroy(error))
  return Object.defineProperties(stdin, {
    isTTY: { value: true },
    columns: { get: () => stream.columns },
  }) as typeof stdin & OutputStream
}

/** Resolves when the stream handed everything on, or after `mostMs`: the end of a daemon waits for no reader. */
export async function takenFrom(stream: { readonly writableLength: number }, mostMs: number): Promise<void> {
  const untilMs = systemClock.monotonicMs() + mostMs
  while (stream.writableLength > 0 && systemClock.monotonicMs() < untilMs) await systemClock.sleep(20)
}

/** Tells whether this user can open the terminal; then Node has a separate opening, which nobody shares. */
function isOwnTerminal(fd: number): boolean {
  try {
    closeSync(openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NOCTTY | constants.O_NONBLOCK))
    return true
  } catch {
    return false
  }
}
