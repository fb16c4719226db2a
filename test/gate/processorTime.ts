/** Measures the processor time of test files: of their process and of the processes that it started and saw end, such as daemons under test. */
import { readFileSync } from 'node:fs'

declare module 'vitest' {
  interface TaskMeta {
    /** Processor time of a test file with its child processes, ms. */
    processorMs?: number
  }
}

/** Linux counts in hundredths of a second wherever Node runs on it (USER_HZ). */
const TICK_MS = 10

/**
 * Returns the processor time of this process so far, user and system, ms. On Linux it counts child processes that ended and were waited for; elsewhere
 * nothing tells them, and it is the time of this process alone.
 */
export function processorMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000 + childrenMs()
}

/** The time of ended children: the fields 16 and 17 of proc_pid_stat(5), counted behind the name, which may hold blanks. */
function childrenMs(): number {
  if (process.platform !== 'linux') return 0
  const stat = readFileSync('/proc/self/stat', 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[13]) + Number(fields[14])) * TICK_MS
}
