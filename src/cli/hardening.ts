/** What the process does against those who would look into it while it holds a key. */
import { writeFileSync } from 'node:fs'
import inspector from 'node:inspector'
import type { Config } from './config/types.ts'

/**
 * Closes the doors that can be closed from inside; called before anything else.
 *
 * SIGUSR1 makes Node open a debugger that anyone on the machine can enter; a listener takes the signal away from it (the
 * flag --disable-sigusr1 of the shipped ways to start does the same from the first instant). On Linux, a crash then writes
 * a core without the memory in it.
 */
export function hardenProcess(): void {
  process.on('SIGUSR1', () => {})
  try {
    writeFileSync('/proc/self/coredump_filter', '0')
  } catch {
    // Another system, or a container without a writable /proc; deploy/ turns core files off from outside, too.
  }
}

/** What of the way this process was started forbids to trade real money in it; empty when nothing does. */
export function processProblems(config: Config): readonly string[] {
  if (config.isPaper || inspector.url() === undefined) return []
  return [
    `a debugger is open at this process (${process.execArgv.join(' ')}); whoever enters it has the key. With real money perpd does not start like this.`,
  ]
}

/** What of the way this process was started should be known before it trades real money. */
export function processWarnings(config: Config, env: Readonly<Record<string, string | undefined>>): string[] {
  if (config.isPaper || (env.NODE_OPTIONS ?? '') === '') return []
  return [
    'NODE_OPTIONS is set: it can load code into this process, which holds the key. Unset it if you do not need it.',
  ]
}
