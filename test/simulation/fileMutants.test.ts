/** What holds the files is tested itself: each of these bugs of the journal and the guard is caught. */
import { expect, test } from 'vitest'
import { mutantTable, runFileMutants } from './mutantRuns.ts'

const seedsMax = 400

test(`every seeded bug of the files is caught within ${seedsMax} seeds`, { timeout: 600_000 }, async () => {
  const results = await runFileMutants(seedsMax)
  process.stdout.write(`${mutantTable(results)}\n`)
  expect(results.filter(({ seeds }) => seeds === undefined).map(({ name }) => name)).toEqual([])
})
