/** A handful of seeds of every simulation, for whoever waits; thousands are in the deep tier. */
import { expect, test } from 'vitest'
import { runSeeds, type TierName } from './seeds.ts'

const handful: readonly (readonly [tier: TierName, seeds: number, crashes: number])[] = [
  ['core', 60, 60],
  ['shell', 15, 10],
  ['files', 4, 2],
  ['engine', 2, 1],
  ['shared', 4, 2],
]

test.each(handful)('a handful of seeds of %s break no invariant', async (tier, seeds, crashes) => {
  const report = await runSeeds(tier, 1, seeds)
  expect(report.failures.map(({ invariant, text, command }) => `${invariant} ${text}\n${command}`)).toEqual(
    [],
  )
  expect(report.seeds).toBe(seeds)
  expect(report.crashes).toBeGreaterThan(crashes)
})
