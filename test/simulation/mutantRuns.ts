/** Runs every mutant and says how many seeds it took to catch it. */
import { engineMutants } from './engineMutants.ts'
import { fileMutants } from './fileMutants.ts'
import { firstSeeds } from './firstSeeds.ts'
import { type FirstMutant, mutants } from './mutants.ts'
import { runJobs } from './pool.ts'
import { rpcMutants } from './rpcMutants.ts'
import type { TierName } from './seeds.ts'

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
  return runJobs<MutantJob, MutantResult>(new URL('./mutantWorker.ts', import.meta.url), jobs)
}

/** The same for the bugs of the engine; each begins with the seed that is known to show it. */
export function runEngineMutants(seedsMax: number): Promise<readonly MutantResult[]> {
  return runFirst(engineMutants, mutants.length, seedsMax)
}

/** The same for the bugs of the files. */
export function runFileMutants(seedsMax: number): Promise<readonly MutantResult[]> {
  return runFirst(fileMutants, mutants.length + engineMutants.length, seedsMax)
}

/** The same for the bugs of the reading of the chain. */
export function runRpcMutants(seedsMax: number): Promise<readonly MutantResult[]> {
  return runFirst(rpcMutants, mutants.length + engineMutants.length + fileMutants.length, seedsMax)
}

function runFirst(
  list: readonly FirstMutant[],
  from: number,
  seedsMax: number,
): Promise<readonly MutantResult[]> {
  const jobs = list.map(({ firstSeed }, at): MutantJob => ({ index: from + at, seedsMax, firstSeed }))
  return runJobs<MutantJob, MutantResult>(new URL('./mutantWorker.ts', import.meta.url), jobs)
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
