/** Machines that share one journal, in worlds with faults: nothing is lost, sent twice or signed without the right; and each seeded bug is caught. */
import { expect, test } from 'vitest'
import { runJobs } from '../simulation/pool.ts'
import { sharedMutants } from './sharedMutants.ts'
import type { SharedJob, SharedResult } from './sharedWorker.ts'
import { runSharedWorld } from './sharedWorld.ts'

test('machines that share a journal lose nothing and send nothing twice, whatever their server and network do', async () => {
  let sent = 0
  for (const seed of [
    1, 2, 3, 5, 10, 21, 77, 245, 249, 294, 324, 377, 104_210_919_225_737, 104_210_919_235_207,
    3_716_464_420_352, 83_571_126_324_987,
  ]) {
    const found = await runSharedWorld(seed)
    expect({ seed, violation: found.violation }).toEqual({ seed, violation: undefined })
    sent += found.sent
  }
  expect(sent).toBeGreaterThan(400)
})

test('a seed gives the same world again', async () => {
  expect(await runSharedWorld(9)).toEqual(await runSharedWorld(9))
})

test('every seeded bug of a shared journal is caught', { timeout: 300_000 }, async () => {
  const jobs = sharedMutants.map((_, index): SharedJob => ({ index, seedsMax: 40 }))
  const script = new URL('./sharedWorker.ts', import.meta.url)
  const results = await runJobs<SharedJob, SharedResult>(script, jobs)
  expect(results.filter(({ seed }) => seed === undefined).map(({ name }) => name)).toEqual([])
})
