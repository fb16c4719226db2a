/** The shell and the whole daemon over a journal that machines share, in worlds with faults: no invariant is broken, and a seed does the same twice. */
import { expect, test } from 'vitest'
import { shareOfChange } from '../gate/depth.ts'
import { failuresOf, runKnownAndFresh } from './fresh.ts'
import { runSeed } from './tiers.ts'

const share = shareOfChange(4)

test(`${30 + 200 / share.every} seeds of the shell over a shared journal break no invariant`, {
  timeout: 600_000,
}, async () => {
  const report = await runKnownAndFresh('shared', share, { known: 200, fresh: 30 })
  expect(failuresOf(report)).toEqual([])
  expect(report.crashes).toBeGreaterThan(report.seeds)
  for (const fault of ['lease-lost', 'pause', 'crash']) expect(report.faults[fault], fault).toBeGreaterThan(0)
})

test(`${4 + 16 / share.every} seeds of the whole daemon over a shared journal break no invariant`, {
  timeout: 600_000,
}, async () => {
  const report = await runKnownAndFresh('shared-engine', share, { known: 16, fresh: 4 })
  expect(failuresOf(report)).toEqual([])
  expect(report.intents).toBeGreaterThan(report.seeds)
})

test('a seed over a shared journal gives the same trace twice', async () => {
  const hashOf = async (seed: number) => (await runSeed('shared', seed)).traceHash
  for (const seed of [2, 78]) expect(await hashOf(seed)).toBe(await hashOf(seed))
})
