/** Runs every mutant and says how many seeds it took to catch it. */
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { mutants } from './mutants.ts'
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

/** Runs all mutants from seed 1 on, each at most `seedsMax` seeds. */
export async function runMutants(seedsMax: number): Promise<readonly MutantResult[]> {
  const results: MutantResult[] = []
  let next = 0
  const drive = async () => {
    const worker = new Worker(new URL('./mutantWorker.ts', import.meta.url))
    try {
      while (next < mutants.length) {
        const index = next
        next += 1
        results[index] = await new Promise<MutantResult>((resolve, reject) => {
          worker.once('error', reject)
          worker.once('message', (result: MutantResult) => {
            worker.off('error', reject)
            resolve(result)
          })
          worker.postMessage({ index, seedsMax })
        })
      }
    } finally {
      await worker.terminate()
    }
  }
  await Promise.all(Array.from({ length: availableParallelism() }, drive))
  return results
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
