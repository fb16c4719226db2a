/** The invariants are tested themselves: each of these protocol bugs is caught. */
import { expect, test } from 'vitest'
import { mutantTable, runMutants } from './mutantRuns.ts'
import { mutants } from './mutants.ts'

const seedsMax = 300

test(`every seeded protocol bug is caught within ${seedsMax} seeds`, { timeout: 600_000 }, async () => {
  const results = await runMutants(seedsMax)
  process.stdout.write(`${mutantTable(results)}\n`)
  expect(results.filter(({ seeds }) => seeds === undefined).map(({ name }) => name)).toEqual([])
  expect(mutants.length).toBeGreaterThanOrEqual(25)
})
