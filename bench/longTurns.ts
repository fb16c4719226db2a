/**
 * Loaded before a process of a bench (`--import`): writes down how long the main thread works without a pause, by the processor's own
 * account. The delay of a loop on a busy machine is mostly the machine's; processor time between two looks of a timer is the process's alone.
 * A line for each stretch of 20 ms and more goes to the file `PERPD_BENCH_TURNS`: Unix ms, processor ms, ms of the wall clock.
 */
import { appendFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

const path = process.env.PERPD_BENCH_TURNS
const lookMs = 10
const leastMs = 20

if (path !== undefined && isMainThread) {
  const cpuMs = () => {
    const { user, system } = process.threadCpuUsage()
    return (user + system) / 1_000
  }
  let before = { cpu: cpuMs(), wall: performance.now() }
  setInterval(() => {
    const now = { cpu: cpuMs(), wall: performance.now() }
    const worked = now.cpu - before.cpu
    if (worked >= leastMs) {
      appendFileSync(path, `${Date.now()} ${worked.toFixed(1)} ${(now.wall - before.wall).toFixed(1)}\n`)
    }
    before = { cpu: cpuMs(), wall: performance.now() }
  }, lookMs).unref()
}
