/** Bugs in the reading of the chain are caught by the shell's worlds. */
import { expect, test } from 'vitest'
import { mutantTable, runRpcMutants } from './mutantRuns.ts'

const seedsMax = 300

test(`every bug in the reading of the chain is caught within ${seedsMax} seeds`, {
  timeout: 600_000,
}, async () => {
  const results = await runRpcMutants(seedsMax)
  process.stdout.write(`${mutantTable(results)}\n`)
  expect(results.filter(({ seeds }) => seeds === undefined).map(({ name }) => name)).toEqual([])
  expect(results.length).toBe(5)
})
