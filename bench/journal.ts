/**
 * How fast the journal makes records durable, by hand: `node bench/journal.ts [directory]`. Give a directory on the disk
 * that the daemon will use. One in flight is what one order waits for; more in flight share commits.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSqliteJournal } from '../src/journal/sqlite/openSqlite.ts'
import { wholeStory } from '../test/journal/story.ts'

const RECORDS = 14_000
const directory = mkdtempSync(join(process.argv[2] ?? tmpdir(), 'perpd-bench-'))

function percentile(sorted: readonly number[], share: number): string {
  return (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(3)
}

async function measure(inFlight: number): Promise<string[]> {
  const path = join(directory, `${inFlight}.db`)
  const journal = createSqliteJournal({ path, clockNow: Date.now, holder: 'bench', inThread: true })
  const latenciesMs: number[] = []
  let next = 0
  const work = async (): Promise<void> => {
    while (latenciesMs.length < RECORDS) {
      next += 1
      for (const record of wholeStory(next)) {
        const began = performance.now()
        await journal.append(record)
        latenciesMs.push(performance.now() - began)
      }
    }
  }
  const cpu = process.cpuUsage()
  const began = performance.now()
  await Promise.all(Array.from({ length: inFlight }, work))
  const tookMs = performance.now() - began
  const { user, system } = process.cpuUsage(cpu)
  await journal.close()
  latenciesMs.sort((one, other) => one - other)
  return [
    String(inFlight),
    String(Math.round((latenciesMs.length / tookMs) * 1000)),
    percentile(latenciesMs, 0.5),
    percentile(latenciesMs, 0.99),
    percentile(latenciesMs, 1),
    ((user + system) / latenciesMs.length).toFixed(0),
  ]
}

const rows = [['in flight', 'appends/s', 'p50 ms', 'p99 ms', 'max ms', 'CPU us each']]
for (const inFlight of [1, 8, 32]) rows.push(await measure(inFlight))
process.stdout.write(`${rows.map((row) => row.map((cell) => cell.padStart(11)).join(' ')).join('\n')}\n`)
rmSync(directory, { recursive: true })
