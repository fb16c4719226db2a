/** Many seeds, on as many cores as there are: what each worker is asked, and the sum of what they say. */
import { runJobs } from './pool.ts'
import type { WorldResult } from './worldTypes.ts'

/** The tiers by name. */
export type TierName = 'core' | 'shell' | 'files' | 'engine' | 'shared' | 'shared-engine'

/** Seeds that one worker runs in one go. */
export interface Batch {
  readonly kind: 'seeds'
  readonly tier: TierName
  readonly from: number
  readonly seeds: number
  readonly isCrowded: boolean
}

/** A seed that broke an invariant, with how to see it again. */
export interface Failure {
  readonly tier: TierName
  readonly seed: number
  readonly mode: string
  readonly invariant: string
  readonly text: string
  readonly command: string
}

/** Sums over seeds. */
export interface Report {
  seeds: number
  simulatedMs: number
  events: number
  crashes: number
  intents: number
  readonly outcomes: Record<string, number>
  readonly faults: Record<string, number>
  readonly modes: Record<string, number>
  readonly failures: Failure[]
  /** Trace hash by seed. */
  readonly hashes: Record<number, string>
}

/** A report of nothing. */
export function emptyReport(): Report {
  return {
    seeds: 0,
    simulatedMs: 0,
    events: 0,
    crashes: 0,
    intents: 0,
    outcomes: {},
    faults: {},
    modes: {},
    failures: [],
    hashes: {},
  }
}

function addAll(to: Record<string, number>, from: Readonly<Record<string, number>>): void {
  for (const [name, count] of Object.entries(from)) to[name] = (to[name] ?? 0) + count
}

/** Adds one world to a report. */
export function addWorld(report: Report, tier: TierName, world: WorldResult, isCrowded = false): void {
  report.seeds += 1
  report.simulatedMs += world.simulatedMs
  report.events += world.events
  report.crashes += world.crashes
  report.intents += world.intents
  addAll(report.outcomes, world.outcomes as Record<string, number>)
  addAll(report.faults, world.faults)
  addAll(report.modes, { [world.mode]: 1 })
  report.hashes[world.seed] = world.traceHash
  if (world.violation !== undefined) {
    report.failures.push({
      tier,
      seed: world.seed,
      mode: world.mode,
      invariant: world.violation.invariant,
      text: world.violation.text,
      command: `npm run simulate -- --tier ${tier} --from ${world.seed} --seeds 1${isCrowded ? ' --crowded' : ''} --trace`,
    })
  }
}

/** Adds a report to another. */
export function addReport(to: Report, from: Report): void {
  to.seeds += from.seeds
  to.simulatedMs += from.simulatedMs
  to.events += from.events
  to.crashes += from.crashes
  to.intents += from.intents
  addAll(to.outcomes, from.outcomes)
  addAll(to.faults, from.faults)
  addAll(to.modes, from.modes)
  to.failures.push(...from.failures)
  Object.assign(to.hashes, from.hashes)
}

const batchSeeds = 25

/** Runs seeds `from` to `from + seeds - 1` of a tier, crowded ones where asked for, in worker threads. Rejects when a worker ends by a fault of its own. */
export async function runSeeds(
  tier: TierName,
  from: number,
  seeds: number,
  isCrowded = false,
): Promise<Report> {
  const batches: Batch[] = []
  for (let at = 0; at < seeds; at += batchSeeds)
    batches.push({ kind: 'seeds', tier, from: from + at, seeds: Math.min(batchSeeds, seeds - at), isCrowded })
  const report = emptyReport()
  const reports = await runJobs<Batch, Report>(new URL('./worker.ts', import.meta.url), batches)
  for (const each of reports) addReport(report, each)
  return report
}
