/** A worker thread that runs bugs of a journal on a server: the source is loaded anew for each, with the patches in its text. */
import { parentPort } from 'node:worker_threads'
import { patchSources } from '../simulation/mutantSource.ts'
import { sharedMutants } from './sharedMutants.ts'

/** One bug, and the seeds after its first that are tried. */
export interface SharedJob {
  readonly index: number
  readonly seedsMax: number
}

/** What became of it; no seeds: it was not caught. */
export interface SharedResult {
  readonly name: string
  readonly seed: number | undefined
  readonly invariant: string | undefined
}

patchSources(sharedMutants, ['src', 'test/journal'])

parentPort?.on('message', async ({ index, seedsMax }: SharedJob) => {
  const mutant = sharedMutants[index]
  if (mutant === undefined) throw new RangeError(`there is no bug ${index}`)
  const { runSharedWorld }: typeof import('./sharedWorld.ts') = await import(
    `./sharedWorld.ts?mutant=${index}`
  )
  let result: SharedResult = { name: mutant.name, seed: undefined, invariant: undefined }
  for (const seed of [mutant.firstSeed, ...Array.from({ length: seedsMax }, (_, at) => at + 1)]) {
    const { violation } = await runSharedWorld(seed)
    if (violation === undefined) continue
    result = { ...result, seed, invariant: violation.invariant }
    break
  }
  parentPort?.postMessage(result)
})
