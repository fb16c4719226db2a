/** A worker thread that plants faults in fast mode: the source is loaded anew with each, and lives through cases that exact lived through without it. */
import { parentPort } from 'node:worker_threads'
import { patchSources } from '../simulation/mutantSource.ts'
import { differenceOf, fastCase, type Lived, liveCase } from './fastCases.ts'
import { fastMutants } from './fastMutants.ts'

/** What found a fault: the case and its first difference; absent: nothing did. */
export interface FastMutantResult {
  readonly name: string
  readonly found?: { readonly number: number; readonly difference: string }
}

patchSources(fastMutants, ['src', 'test/backtest', 'test/simulation'])
const exact = new Map<number, Promise<Lived>>()

async function resultOf(index: number): Promise<FastMutantResult> {
  const mutant = fastMutants[index]
  if (mutant === undefined) throw new RangeError(`there is no fault ${index}`)
  const patched: typeof import('./fastCases.ts') = await import(`./fastCases.ts?mutant=${index}`)
  for (const number of mutant.cases) {
    const lived = exact.get(number) ?? liveCase(fastCase(number), 'exact')
    exact.set(number, lived)
    const whole = await lived
    const difference = await patched.liveCase(fastCase(number), 'fast').then(
      (fast) => differenceOf(whole, fast),
      (error: unknown) => String(error),
    )
    if (difference !== undefined) return { name: mutant.name, found: { number, difference } }
  }
  return { name: mutant.name }
}

parentPort?.on('message', async ({ index }: { readonly index: number }) => {
  parentPort?.postMessage(await resultOf(index))
})
