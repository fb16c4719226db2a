/** Faults that are planted in fast mode alone: the comparison with exact finds each. */
import { expect, test } from 'vitest'
import { runJobs } from '../simulation/pool.ts'
import { fastMutants } from './fastMutants.ts'
import type { FastMutantResult } from './fastMutantWorker.ts'

test('every fault that is planted in fast mode makes a difference to exact that is named', {
  timeout: 600_000,
}, async () => {
  const jobs = fastMutants.map((_mutant, index) => ({ index }))
  const script = new URL('./fastMutantWorker.ts', import.meta.url)
  const results = await runJobs<(typeof jobs)[number], FastMutantResult>(script, jobs)
  expect(results.filter(({ found }) => found === undefined).map(({ name }) => name)).toEqual([])
  expect(results.length).toBeGreaterThanOrEqual(20)
})
