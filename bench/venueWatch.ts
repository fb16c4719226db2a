/**
 * Loaded into the paper venue's process by bench/venueOrders.ts (`--import`): says over IPC, on request, what the process has spent
 * since it was last asked, and the longest stretch of its main thread between two looks of a timer. A stretch is measured by the
 * thread's own processor time, for the clock of the wall counts what other processes of a busy machine took.
 */
import { isMainThread } from 'node:worker_threads'

/** What a venue's process answers. */
export interface Spent {
  /** Processor of all threads, ms. */
  readonly cpuMs: number
  /** Processor of the main thread, ms. */
  readonly threadMs: number
  /** Longest stretches of the main thread, processor ms, longest first. */
  readonly stretchesMs: readonly number[]
}

const lookMs = 2
const leastMs = 5

if (isMainThread && process.send !== undefined) {
  const threadMs = () => {
    const { user, system } = process.threadCpuUsage()
    return (user + system) / 1000
  }
  let lookedMs = threadMs()
  let stretches: number[] = []
  setInterval(() => {
    const now = threadMs()
    if (now - lookedMs >= leastMs) stretches.push(now - lookedMs)
    lookedMs = now
  }, lookMs).unref()
  let cpu = process.cpuUsage()
  let thread = threadMs()
  process.on('message', () => {
    const { user, system } = process.cpuUsage(cpu)
    const now = threadMs()
    const spent: Spent = {
      cpuMs: (user + system) / 1000,
      threadMs: now - thread,
      stretchesMs: stretches.sort((one, other) => other - one).slice(0, 20),
    }
    process.send?.(spent)
    cpu = process.cpuUsage()
    thread = now
    stretches = []
  })
  process.channel?.unref()
}
