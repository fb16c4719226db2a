/** The shell and the whole daemon over a journal that machines share, in worlds with faults: no invariant is broken, and a seed does the same twice. */
import { expect, test } from 'vitest'
import { shareOfChange } from '../gate/depth.ts'
import { freshFrom } from './fresh.ts'
import { addReport, type Report, runSeeds, type TierName } from './seeds.ts'
import { runSeed } from './tiers.ts'

const share = shareOfChange(4)

/** A share of the seeds from 1 on, and some that nobody has run. */
async function run(tier: TierName, seeds: number, fresh: number): Promise<Report> {
  const known = seeds / share.every
  const report = await runSeeds(tier, 1 + share.from * known, known)
  addReport(report, await runSeeds(tier, freshFrom(), fresh))
  return report
}

function told({ failures }: Report): readonly string[] {
  return failures.map(({ invariant, text, command }) => `${invariant} ${text}\n${command}`)
}

test(`${30 + 200 / share.every} seeds of the shell over a shared journal break no invariant`, {
  timeout: 600_000,
}, async () => {
  const report = await run('shared', 200, 30)
  expect(told(report)).toEqual([])
  expect(report.crashes).toBeGreaterThan(report.seeds)
  for (const fault of ['lease-lost', 'pause', 'crash']) expect(report.faults[fault], fault).toBeGreaterThan(0)
})

test(`${4 + 16 / share.every} seeds of the whole daemon over a shared journal break no invariant`, {
  timeout: 600_000,
}, async () => {
  const report = await run('shared-engine', 16, 4)
  expect(told(report)).toEqual([])
  expect(report.intents).toBeGreaterThan(report.seeds)
})

test('a seed over a shared journal gives the same trace twice', async () => {
  const hashOf = async (seed: number) => (await runSeed('shared', seed)).traceHash
  for (const seed of [2, 78]) expect(await hashOf(seed)).toBe(await hashOf(seed))
})
