/**
 * A worker thread that runs mutants: it loads the source anew for each, with the patches in its text, and runs seeds until
 * one of them breaks an invariant.
 */
import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parentPort } from 'node:worker_threads'
import { engineMutants } from './engineMutants.ts'
import { fileMutants } from './fileMutants.ts'
import type { MutantJob, MutantResult } from './mutantRuns.ts'
import { type Mutant, mutants } from './mutants.ts'
import { rpcMutants } from './rpcMutants.ts'

const all: readonly Mutant[] = [...mutants, ...engineMutants, ...fileMutants, ...rpcMutants]
const root = join(import.meta.dirname, '..', '..')
const own = [join(root, 'src'), join(root, 'test', 'simulation'), join(root, 'test', 'support')]

function mutantIn(url: string): string | null {
  return url.startsWith('file:') ? new URL(url).searchParams.get('mutant') : null
}

registerHooks({
  resolve(specifier, context, nextResolve) {
    const resolved = nextResolve(specifier, context)
    const name = context.parentURL === undefined ? null : mutantIn(context.parentURL)
    if (name === null || !resolved.url.startsWith('file:') || !resolved.url.endsWith('.ts')) return resolved
    if (!own.some((folder) => fileURLToPath(resolved.url).startsWith(folder))) return resolved
    return { ...resolved, url: `${resolved.url}?mutant=${name}` }
  },
  load(url, context, nextLoad) {
    const name = mutantIn(url)
    const mutant = name === null ? undefined : all[Number(name)]
    if (mutant === undefined) return nextLoad(url, context)
    const path = fileURLToPath(url.split('?')[0] ?? url)
    return { format: 'module-typescript', source: patched(mutant, path), shortCircuit: true }
  },
})

function patched({ name, patches }: Mutant, path: string): string {
  let source = readFileSync(path, 'utf8')
  for (const { file, find, replace } of patches) {
    if (join(root, file) !== path) continue
    const pieces = source.split(find)
    if (pieces.length !== 2)
      throw new Error(`the patch of "${name}" stands ${pieces.length - 1} times in ${file}:\n${find}`)
    source = pieces.join(replace)
  }
  return source
}

parentPort?.on('message', async ({ index, seedsMax, firstSeed }: MutantJob) => {
  const mutant = all[index]
  if (mutant === undefined) throw new RangeError(`there is no mutant ${index}`)
  const { runSeed }: typeof import('./tiers.ts') = await import(`./tiers.ts?mutant=${index}`)
  let result: MutantResult = { name: mutant.name, tier: mutant.tier, seeds: undefined, invariant: undefined }
  const seeds = [
    ...(firstSeed === undefined ? [] : [firstSeed]),
    ...Array.from({ length: seedsMax }, (_, at) => at + 1),
  ]
  const { mode, shapes } = mutant
  const options = { ...(mode === undefined ? {} : { mode }), ...(shapes === undefined ? {} : { shapes }) }
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
