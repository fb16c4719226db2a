/** Seeded bugs are text: each must stand once in the source that it changes, or it would test nothing. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { adversaryMutants } from '../adversary/mutants.ts'
import { fastMutants } from '../backtest/fastMutants.ts'
import { sharedMutants } from '../journal/sharedMutants.ts'
import { engineMutants } from './engineMutants.ts'
import { fileMutants } from './fileMutants.ts'
import { firstSeeds } from './firstSeeds.ts'
import { mutants } from './mutants.ts'
import { rpcMutants } from './rpcMutants.ts'

const root = join(import.meta.dirname, '..', '..')

test.each(
  Object.entries({
    mutants,
    engineMutants,
    fileMutants,
    rpcMutants,
    adversaryMutants,
    fastMutants,
    sharedMutants,
  }),
)('every patch of %s stands exactly once in its file', (_list, bugs) => {
  const wrong = bugs.flatMap(({ name, patches }) =>
    patches.flatMap(({ file, find }) => {
      const times = readFileSync(join(root, file), 'utf8').split(find).length - 1
      return times === 1 ? [] : [`${name}: ${times} times in ${file}: ${find}`]
    }),
  )
  expect(wrong).toEqual([])
})

test('every seed that is tried first is of a bug that there is', () => {
  const names = new Set(mutants.map(({ name }) => name))
  expect(Object.keys(firstSeeds).filter((name) => !names.has(name))).toEqual([])
})
