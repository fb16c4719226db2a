/** A worker thread that runs seeded bugs: it loads the source anew with each, and tells the attack that is known to show it. */
import { parentPort } from 'node:worker_threads'
import { patchSources } from '../simulation/mutantSource.ts'
import { adversaryMutants } from './mutants.ts'

patchSources(adversaryMutants, ['src', 'test/simulation', 'test/support', 'test/adversary'])

/** What became of a bug. */
export interface MutantResult {
  readonly name: string
  /** The rule that caught it; undefined: none did. */
  readonly rule: string | undefined
  readonly text: string
}

parentPort?.on('message', async (index: number) => {
  const mutant = adversaryMutants[index]
  if (mutant === undefined) throw new RangeError(`there is no bug ${index}`)
  const { tellAttack }: typeof import('./tellAttack.ts') = await import(`./tellAttack.ts?mutant=${index}`)
  const { violation } = await tellAttack(mutant.attack)
  const result: MutantResult = { name: mutant.name, rule: violation?.rule, text: violation?.text ?? '' }
  parentPort?.postMessage(result)
})
