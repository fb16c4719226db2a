/**
 * How long one account is without a trader when its machine dies or is drained, by hand: `node bench/takeover.ts [rounds]`. Two daemons of this checkout, a
 * paper venue and a private PostgreSQL, all real processes. Each round kills the one that trades with SIGKILL, and stops the other one with SIGTERM; the time
 * runs from the signal to `daemon.ready` of the one that waited. The load of the machine
 * stands beside it, and the processor time of the one that takes over, which says most where the load is high.
 */

import { readFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { startCluster } from '../test/support/postgres.ts'
import { startMachine } from '../test/world/machines.ts'
import { type Running, scratch, startPaper, until } from '../test/world/processes.ts'

const rounds = Number(process.argv[2] ?? 30)
const cluster = await startCluster()
const [one, other] = [scratch(), scratch()]
const paper = await startPaper(['--paper.orderDeadlineSeconds=6', '--paper.keeperDelayMs=300'])

const shared = { hosts: paper.hosts, url: cluster.url(), keyFile: join(one.path, 'key') }
const start = (folder: string): Running => startMachine(folder, shared)

/** Waits for an event in the log of a process, looking every 10 ms. */
async function heard(daemon: Running, event: string): Promise<void> {
  const text = `"event":"${event}"`
  const endMs = performance.now() + 120_000
  while (!daemon.stdout().includes(text)) {
    if (performance.now() > endMs) throw new Error(`no ${event}\n${daemon.said().slice(-2_000)}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

/** Starts another one in a folder, and waits until it waits. */
async function standBy(folder: string): Promise<Running> {
  const daemon = start(folder)
  await heard(daemon, 'journal.waiting')
  return daemon
}

/** Processor time of a process so far, user and system, ms; 0 where the system has no /proc. Ticks are 10 ms on Linux. */
function processorMs({ child: { pid } }: Running): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ')
    return (Number(fields[11]) + Number(fields[12])) * 10
  } catch {
    return 0
  }
}

async function taken(from: Running, signal: 'SIGKILL' | 'SIGTERM', by: Running): Promise<number> {
  const begunMs = performance.now()
  const before = processorMs(by)
  from.child.kill(signal)
  await heard(by, 'daemon.ready')
  const tookMs = performance.now() - begunMs
  processorsMs[signal].push(processorMs(by) - before)
  await from.ended
  return tookMs
}

const killedMs: number[] = []
const drainedMs: number[] = []
const loads: number[] = []
/** Processor time of the one that takes over, by the signal that ended the other one. */
const processorsMs: Record<'SIGKILL' | 'SIGTERM', number[]> = { SIGKILL: [], SIGTERM: [] }
try {
  let first = start(one.path)
  await heard(first, 'daemon.ready')
  for (let round = 0; round < rounds; round += 1) {
    const second = await standBy(other.path)
    killedMs.push(await taken(first, 'SIGKILL', second))
    first = await standBy(one.path)
    drainedMs.push(await taken(second, 'SIGTERM', first))
    loads.push(loadavg()[0] ?? 0)
    process.stderr.write(
      `${round + 1}/${rounds}: killed ${killedMs.at(-1)?.toFixed(0)} ms, drained ${drainedMs.at(-1)?.toFixed(0)} ms; processor ${processorsMs.SIGKILL.at(-1)} and ${processorsMs.SIGTERM.at(-1)} ms; load ${loads.at(-1)?.toFixed(1)}\n`,
    )
  }
  first.child.kill('SIGTERM')
  await until('the last one', async () => await first.ended)
} finally {
  paper.child.kill('SIGTERM')
  await paper.ended
  for (const folder of [one, other]) folder.remove()
  cluster.remove()
  for (const [name, values] of [
    ['SIGKILL, ms', killedMs],
    ['SIGTERM, ms', drainedMs],
    ['SIGKILL, ms of processor', processorsMs.SIGKILL],
    ['SIGTERM, ms of processor', processorsMs.SIGTERM],
    ['load', loads],
  ] as const)
    process.stdout.write(`${name}: ${figuresOf(values)}\n`)
}

function figuresOf(values: readonly number[]): string {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (share: number) =>
    (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(1)
  return `least ${at(0)}, p50 ${at(0.5)}, p99 ${at(0.99)}, most ${at(1)} of ${sorted.length}`
}
