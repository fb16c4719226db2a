/** Faults that are planted in fast mode alone: the comparison with exact finds each. Of a change each third. */
import { expect, test } from 'vitest'
import { ofShare, shareOfChange } from '../gate/depth.ts'
import { runJobs } from '../simulation/pool.ts'
import { fastMutants } from './fastMutants.ts'
import type { FastMutantResult } from './fastMutantWorker.ts'

test('every fault that is planted in fast mode makes a difference to exact that is named', {
  timeout: 600_000,
}, async () => {
  const share = shareOfChange(3)
  const jobs = ofShare(
    fastMutants.map((_mutant, index) => ({ index })),
    share,
  )
  const script = new URL('./fastMutantWorker.ts', import.meta.url)
  const results = await runJobs<(typeof jobs)[number], FastMutantResult>(script, jobs)
  expect(results.filter(({ found }) => found === undefined).map(({ name }) => name)).toEqual([])
  expect(results.length).toBeGreaterThanOrEqual(Math.floor(20 / share.every))
})
