/**
 * A worker thread that runs mutants: it loads the source anew for each, with the patches in its text, and runs seeds until
 * one of them breaks an invariant.
 */
import { parentPort } from 'node:worker_threads'
import { engineMutants } from './engineMutants.ts'
import { fileMutants } from './fileMutants.ts'
import type { MutantJob, MutantResult } from './mutantRuns.ts'
import { patchSources } from './mutantSource.ts'
import { type Mutant, mutants } from './mutants.ts'
import { rpcMutants } from './rpcMutants.ts'

const all: readonly Mutant[] = [...mutants, ...engineMutants, ...fileMutants, ...rpcMutants]
patchSources(all, ['src', 'test/simulation', 'test/support'])

parentPort?.on('message', async ({ index, seedsMax, firstSeed }: MutantJob) => {
  const mutant = all[index]
  if (mutant === undefined) throw new RangeError(`there is no mutant ${index}`)
  const { runSeed }: typeof import('./tiers.ts') = await import(`./tiers.ts?mutant=${index}`)
  let result: MutantResult = { name: mutant.name, tier: mutant.tier, seeds: undefined, invariant: undefined }
  const seeds = [
    ...(firstSeed === undefined ? [] : [firstSeed]),
    ...Array.from({ length: seedsMax }, (_, at) => at + 1),
  ]
  const { mode, shapes, hasPrices, isLively } = mutant
  const options = {
    ...(mode === undefined ? {} : { mode }),
    ...(shapes === undefined ? {} : { shapes }),
    ...(hasPrices === undefined ? {} : { hasPrices }),
    ...(isLively === undefined ? {} : { isLively }),
  }
  for (const seed of seeds) {
    const { violation } = await runSeed(mutant.tier, seed, options)
    if (violation === undefined) continue
    result = {
      ...result,
      seeds: seed,
      invariant: violation.invariant,
      text: violation.text.split('\n')[0] ?? '',
    }
    break
  }
  parentPort?.postMessage(result)
})
