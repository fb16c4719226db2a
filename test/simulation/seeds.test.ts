/** Two and a half thousand worlds with faults, over the machine alone and over the whole shell; of a change those that are new with it, and a fifth of the others. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { shareOfChange } from '../gate/depth.ts'
import { freshFrom } from './fresh.ts'
import { randomOf } from './random.ts'
import { addReport, type Report, runSeeds, type TierName } from './seeds.ts'

const script = join(import.meta.dirname, 'run.ts')

/** A failure says how to see it again. */
function told({ failures }: Report): readonly string[] {
  return failures.map(({ invariant, text, command }) => `${invariant} ${text}\n${command}`)
}

const share = shareOfChange(5)

/** A share of the seeds from 1 on, and some that nobody has run. */
async function run(tier: TierName, seeds: number, fresh: number): Promise<Report> {
  const known = seeds / share.every
  const report = await runSeeds(tier, 1 + share.from * known, known)
  addReport(report, await runSeeds(tier, freshFrom(), fresh))
  return report
}

test('2,000 seeds over the machine break no invariant', { timeout: 600_000 }, async () => {
  const report = await run('core', 1_700, 300)
  expect(told(report)).toEqual([])
  expect(report.seeds).toBe(300 + 1_700 / share.every)
  expect(report.crashes).toBeGreaterThan(1.25 * report.seeds)
  expect(Object.keys(report.faults).length).toBeGreaterThan(40)
})

test('500 seeds over the whole shell break no invariant', { timeout: 600_000 }, async () => {
  const report = await run('shell', 400, 100)
  expect(told(report)).toEqual([])
  expect(report.seeds).toBe(100 + 400 / share.every)
  expect(report.crashes).toBeGreaterThan(report.seeds)
  expect(Object.keys(report.faults).length).toBeGreaterThan(40)
})

test('seeds beyond 2^32 are others than their last 32 bits, and what is no seed is refused', () => {
  const seeds = [7, 2 ** 32 + 7, 2 ** 47 + 7, 2 ** 53 - 1]
  const first = seeds.map((seed) => randomOf(seed, 'world').hex(16))
  expect(new Set(first).size).toBe(seeds.length)
  for (const seed of [-1, 0.5, 2 ** 53, Number.NaN]) expect(() => randomOf(seed, 'world')).toThrow(RangeError)
})

test('a seed gives the same trace in two processes', { timeout: 300_000 }, async () => {
  const ask = async () => {
    const asked = [script, '--seeds', String(40 / share.every), '--from', '7000', '--hashes']
    return (await promisify(execFile)(process.execPath, asked)).stdout.trim().split('\n')
  }
  const [one, other] = await Promise.all([ask(), ask()])
  expect(one).toHaveLength(80 / share.every)
  expect(one).toEqual(other)
})
