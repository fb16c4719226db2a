/** Runs every mutant, of a change each third, and says how many seeds it took to catch it. */
import { ofShare, shareOfChange } from '../gate/depth.ts'
import { engineMutants } from './engineMutants.ts'
import { fileMutants } from './fileMutants.ts'
import { firstSeeds } from './firstSeeds.ts'
import { type FirstMutant, mutants } from './mutants.ts'
import { runJobs } from './pool.ts'
import { rpcMutants } from './rpcMutants.ts'
import type { TierName } from './seeds.ts'

const worker = new URL('./mutantWorker.ts', import.meta.url)

/** What became of one mutant. */
export interface MutantResult {
  readonly name: string
  readonly tier: TierName
  /** Seeds until it was caught; undefined: it was not. */
  readonly seeds: number | undefined
  /** The invariant that caught it. */
  readonly invariant: string | undefined
  readonly text?: string
}

/** One mutant for a worker: its place among all, those of the engine, of the files and of the reading last. */
export interface MutantJob {
  readonly index: number
  readonly seedsMax: number
  /** Tried before the others. */
  readonly firstSeed?: number
}

/** Runs all mutants, each with the seed that is known to show it, if any, and then from seed 1 on, at most `seedsMax` seeds. */
export function runMutants(seedsMax: number): Promise<readonly MutantResult[]> {
  const jobs = mutants.map(({ name }, index): MutantJob => {
    const firstSeed = firstSeeds[name]
    return { index, seedsMax, ...(firstSeed === undefined ? {} : { firstSeed }) }
  })
  return runShare(jobs)
}

/** The same for the bugs of the engine; each begins with the seed that is known to show it. */
export function runEngineMutants(seedsMax: number): Promise<readonly MutantResult[]> {
  return runShare(jobsOf(engineMutants, mutants.length, seedsMax))
}

/** The same for the bugs of the files. */
export function runFileMutants(seedsMax: number): Promise<readonly MutantResult[]> {
  return runShare(jobsOf(fileMutants, mutants.length + engineMutants.length, seedsMax))
}

/** The same for the bugs of the reading of the chain, which are few: all of them at each change. */
export function runRpcMutants(seedsMax: number): Promise<readonly MutantResult[]> {
  return runJobs<MutantJob, MutantResult>(
    worker,
    jobsOf(rpcMutants, mutants.length + engineMutants.length + fileMutants.length, seedsMax),
  )
}

function jobsOf(list: readonly FirstMutant[], from: number, seedsMax: number): readonly MutantJob[] {
  return list.map(({ firstSeed }, at) => ({ index: from + at, seedsMax, firstSeed }))
}

function runShare(jobs: readonly MutantJob[]): Promise<readonly MutantResult[]> {
  return runJobs<MutantJob, MutantResult>(worker, ofShare(jobs, shareOfChange(3)))
}

/** The table of seeds to catch, as text. */
export function mutantTable(results: readonly MutantResult[]): string {
  const rows = results.map(
    ({ name, tier, seeds, invariant }) =>
      `${name.padEnd(52)} ${tier.padEnd(6)} ${String(seeds ?? 'not caught').padStart(10)}  ${invariant ?? ''}`,
  )
  const caught = results.flatMap(({ seeds }) => (seeds === undefined ? [] : [seeds])).sort((a, b) => a - b)
  const median = caught[Math.floor(caught.length / 2)]
  return [
    `${'bug'.padEnd(52)} ${'tier'.padEnd(6)} ${'seeds'.padStart(10)}  by`,
    ...rows,
    `${caught.length} of ${results.length} caught, median ${median} seeds, hardest ${caught.at(-1)}`,
  ].join('\n')
}
