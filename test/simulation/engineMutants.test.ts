/** The invariants of the whole daemon are tested themselves: each of these bugs of engine and risk is caught. */
import { expect, test } from 'vitest'
import { mutantTable, runEngineMutants } from './mutantRuns.ts'

const seedsMax = 120

test(`every seeded bug of the engine is caught within ${seedsMax} seeds`, {
  timeout: 1_800_000,
}, async () => {
  const results = await runEngineMutants(seedsMax)
  process.stdout.write(`${mutantTable(results)}\n`)
  expect(results.filter(({ seeds }) => seeds === undefined).map(({ name }) => name)).toEqual([])
})
