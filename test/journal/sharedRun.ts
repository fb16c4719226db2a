/**
 * `npm run simulate:shared -- --seeds N --from S|fresh`: by hand, worlds of machines that share a journal (`sharedWorld.ts`), in a thread for each core. `fresh`
 * begins where nobody has (`fresh.ts`). Prints each violation with its seed, and ends with 1 when there was one.
 */
import { parseArgs } from 'node:util'
import { isMainThread, parentPort } from 'node:worker_threads'
import { freshFrom } from '../simulation/fresh.ts'
import { runJobs } from '../simulation/pool.ts'
import { runSharedWorld, type Violation } from './sharedWorld.ts'

/** Seeds of one job of a thread. */
const SEEDS_PER_JOB = 250

/** Seeds that follow each other. */
interface SharedSeeds {
  readonly from: number
  readonly count: number
}

/** What became of them. */
interface SharedReport {
  readonly sent: number
  readonly violations: readonly (Violation & { readonly seed: number })[]
}

async function runSome({ from, count }: SharedSeeds): Promise<SharedReport> {
  let sent = 0
  const violations: (Violation & { readonly seed: number })[] = []
  for (let seed = from; seed < from + count; seed += 1) {
    const world = await runSharedWorld(seed)
    sent += world.sent
    if (world.violation !== undefined) violations.push({ seed, ...world.violation })
  }
  return { sent, violations }
}

async function runAll(): Promise<void> {
  const { values } = parseArgs({
    options: { seeds: { type: 'string', default: '1000' }, from: { type: 'string', default: 'fresh' } },
  })
  const [seeds, startedMs] = [Number(values.seeds), performance.now()]
  const from = values.from === 'fresh' ? freshFrom() : Number(values.from)
  const jobs = Array.from({ length: Math.ceil(seeds / SEEDS_PER_JOB) }, (_, at): SharedSeeds => {
    const done = at * SEEDS_PER_JOB
    return { from: from + done, count: Math.min(SEEDS_PER_JOB, seeds - done) }
  })
  const reports = await runJobs<SharedSeeds, SharedReport>(new URL(import.meta.url), jobs)
  const violations = reports.flatMap((report) => report.violations)
  for (const { seed, invariant, text, atMs } of violations)
    process.stdout.write(`seed ${seed}: ${invariant} ${text} at ${atMs} ms\n`)
  const sent = reports.reduce((sum, report) => sum + report.sent, 0)
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(0)
  process.stdout.write(
    `${seeds} seeds from ${from} in ${seconds} s, ${sent} orders sent, violations ${violations.length}\n`,
  )
  process.exitCode = violations.length === 0 ? 0 : 1
}

if (isMainThread) await runAll()
else parentPort?.on('message', async (seeds: SharedSeeds) => parentPort?.postMessage(await runSome(seeds)))
