/**
 * The file that the log is written to besides standard output. Who rotates it moves it away, and nothing is signalled: SIGUSR2
 * halts and SIGHUP reads limits anew. What was moved is found out when the next line is written, and a new file is begun.
 */
import { statSync } from 'node:fs'
import { pino } from 'pino'
import { reasonOf } from '../../base/errors.ts'
import { isReadOnlyMount, readOnlyRemedy } from '../../base/readOnlyMount.ts'
import { CommandError, exitCodes } from '../../config/exit.ts'
import type { LogStream } from '../../monitor/log/log.ts'

/** Interval of the checks that the file is still in its place, ms. */
const LOOK_MS = 1_000

/** An open file of the log. */
export interface LogFile extends LogStream {
  /** Closes it; what is written later goes nowhere. */
  close(): void
}

/**
 * Opens the file to write behind what is in it; folders on its way are made, and only the user may read it. A line that cannot
 * be written is lost here alone: `failed` is told, once until the file is opened anew.
 *
 * @throws CommandError when it cannot be opened.
 */
export function openLogFile(path: string, now: () => number, failed: (reason: string) => void): LogFile {
  let isTold = false
  const fail = (error: unknown): void => {
    if (isTold) return
    isTold = true
    failed(`the file ${path} of the log cannot be written: ${reasonOf(error)}`)
  }
  const file = open(path)
  file.on('error', fail)
  let lookedAtMs = now()
  let inode = inodeOf(path)
  let isOpen = true
  const look = (): void => {
    const nowMs = now()
    if (nowMs - lookedAtMs < LOOK_MS && nowMs >= lookedAtMs) return
    lookedAtMs = nowMs
    if (inode !== undefined && inodeOf(path) === inode) return
    file.reopen()
    inode = inodeOf(path)
    isTold = false
  }
  return {
    write(text) {
      if (!isOpen) return
      try {
        look()
        file.write(text)
      } catch (error) {
        fail(error)
      }
    },
    close() {
      isOpen = false
      file.end()
    },
  }
}

function open(path: string): ReturnType<typeof pino.destination> {
  try {
    return pino.destination({ dest: path, append: true, mkdir: true, mode: 0o600, sync: true })
  } catch (error) {
    throw new CommandError(
      `log.file: ${path} cannot be opened: ${reasonOf(error)}\n  ${isReadOnlyMount(error, path) ? `${readOnlyRemedy} in log.file` : 'Choose a file that perpd can write'}, or unset log.file.`,
      exitCodes.configuration,
    )
  }
}

function inodeOf(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false })
  return found === undefined ? undefined : `${found.dev}:${found.ino}`
}
