/** Two and a half thousand worlds with faults, over the machine alone and over the whole shell; of a change those that are new with it, and a fifth of the others. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { shareOfChange } from '../gate/depth.ts'
import { failuresOf, runKnownAndFresh } from './fresh.ts'
import { randomOf } from './random.ts'

const script = join(import.meta.dirname, 'run.ts')

const share = shareOfChange(5)

test('2,000 seeds over the machine break no invariant', { timeout: 600_000 }, async () => {
  const report = await runKnownAndFresh('core', share, { known: 1_700, fresh: 300 })
  expect(failuresOf(report)).toEqual([])
  expect(report.seeds).toBe(300 + 1_700 / share.every)
  expect(report.crashes).toBeGreaterThan(1.25 * report.seeds)
  expect(Object.keys(report.faults).length).toBeGreaterThan(40)
})

test('500 seeds over the whole shell break no invariant', { timeout: 600_000 }, async () => {
  const report = await runKnownAndFresh('shell', share, { known: 400, fresh: 100 })
  expect(failuresOf(report)).toEqual([])
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
