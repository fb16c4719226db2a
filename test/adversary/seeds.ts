/** Many seeds on as many cores as there are: what each worker is asked, and the sum of what they say. */
import { runJobs } from '../simulation/pool.ts'
import type { LiarKind } from './lies.ts'
import { blockOf, blockSeeds, runBlock, type SeedResult } from './search.ts'

/** Seeds of one block. */
export interface BlockJob {
  readonly from: number
  readonly until: number
}

/** A seed that broke a rule, with how to see it again. */
export interface Failure {
  readonly seed: number
  readonly kind: LiarKind
  readonly rule: string
  readonly text: string
  readonly command: string
}

/** Sums over the seeds of one kind of liar. */
export interface KindSum {
  seeds: number
  executed: number
  /** The most that one seed paid, in thousandths of its bound, and which seed that was. */
  worst: number
  worstSeed: number
}

/** Sums over seeds. */
export interface Report {
  seeds: number
  readonly kinds: Record<string, KindSum>
  readonly denials: Record<string, number>
  readonly failures: Failure[]
}

/** A report of nothing. */
export function emptyReport(): Report {
  return { seeds: 0, kinds: {}, denials: {}, failures: [] }
}

/** Adds one seed. */
export function addSeed(report: Report, { seed, story: { kind }, result }: SeedResult): void {
  report.seeds += 1
  const sum = report.kinds[kind] ?? { seeds: 0, executed: 0, worst: 0, worstSeed: seed }
  report.kinds[kind] = sum
  sum.seeds += 1
  sum.executed += result.executed
  const share = Number((result.paidUsd * 1_000n) / result.boundUsd)
  if (share > sum.worst) {
    sum.worst = share
    sum.worstSeed = seed
  }
  for (const [code, count] of Object.entries(result.denials))
    report.denials[code] = (report.denials[code] ?? 0) + count
  const { violation } = result
  if (violation === undefined) return
  report.failures.push({
    seed,
    kind,
    rule: violation.rule,
    text: violation.text.split('\n')[0] ?? '',
    command: `npm run adversary -- --from ${seed} --seeds 1 --trace`,
  })
}

function addReport(to: Report, from: Report): void {
  to.seeds += from.seeds
  for (const [kind, sum] of Object.entries(from.kinds)) {
    const known = to.kinds[kind]
    if (known === undefined) to.kinds[kind] = { ...sum }
    else {
      known.seeds += sum.seeds
      known.executed += sum.executed
      if (sum.worst > known.worst) Object.assign(known, { worst: sum.worst, worstSeed: sum.worstSeed })
    }
  }
  for (const [code, count] of Object.entries(from.denials)) to.denials[code] = (to.denials[code] ?? 0) + count
  to.failures.push(...from.failures)
}

/** The blocks that seeds `from` to `from + seeds - 1` are in. */
export function jobsOf(from: number, seeds: number): readonly BlockJob[] {
  const jobs: BlockJob[] = []
  const last = from + seeds - 1
  for (let first = from; first <= last; first = blockOf(first) + blockSeeds)
    jobs.push({ from: first, until: Math.min(last, blockOf(first) + blockSeeds - 1) })
  return jobs
}

/** Runs seeds `from` to `from + seeds - 1` in worker threads. Rejects when a worker ends by a fault of its own. */
export async function runSeeds(from: number, seeds: number): Promise<Report> {
  const report = emptyReport()
  const reports = await runJobs<BlockJob, Report>(
    new URL('./worker.ts', import.meta.url),
    jobsOf(from, seeds),
  )
  for (const each of reports) addReport(report, each)
  return report
}

/** One block, in this thread. */
export async function reportOf({ from, until }: BlockJob): Promise<Report> {
  const report = emptyReport()
  await runBlock(from, until, (result) => addSeed(report, result))
  return report
}
