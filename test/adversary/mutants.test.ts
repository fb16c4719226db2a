/** The judge itself is judged: of the bugs that take a mend away each is caught by the attack that it stood against. */
import { expect, test } from 'vitest'
import { runJobs } from '../simulation/pool.ts'
import { adversaryMutants } from './mutants.ts'
import type { MutantResult } from './mutantWorker.ts'

test('every seeded bug is caught by its attack', { timeout: 600_000 }, async () => {
  const jobs = adversaryMutants.map((_, index) => index)
  const results = await runJobs<number, MutantResult>(new URL('./mutantWorker.ts', import.meta.url), jobs)
  const rows = results.map(
    ({ name, rule = 'not caught', text }) => `${name.padEnd(50)} ${rule} ${text.slice(0, 90)}`,
  )
  process.stdout.write(`${rows.join('\n')}\n`)
  expect(results.filter(({ rule }) => rule === undefined).map(({ name }) => name)).toEqual([])
})
