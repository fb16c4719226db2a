/** Five thousand worlds with faults, over the machine alone and over the whole shell: no invariant is broken. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { type Report, runSeeds } from './seeds.ts'

const run = join(import.meta.dirname, 'run.ts')

/** A failure says how to see it again. */
function told({ failures }: Report): readonly string[] {
  return failures.map(({ invariant, text, command }) => `${invariant} ${text}\n${command}`)
}

test('4,000 seeds over the machine break no invariant', { timeout: 280_000 }, async () => {
  const report = await runSeeds('core', 1, 4_000)
  expect(told(report)).toEqual([])
  expect(report.seeds).toBe(4_000)
  expect(report.crashes).toBeGreaterThan(5_000)
  expect(Object.keys(report.faults).length).toBeGreaterThan(40)
})

test('1,000 seeds over the whole shell break no invariant', { timeout: 280_000 }, async () => {
  const report = await runSeeds('shell', 1, 1_000)
  expect(told(report)).toEqual([])
  expect(report.seeds).toBe(1_000)
  expect(report.crashes).toBeGreaterThan(1_000)
  expect(Object.keys(report.faults).length).toBeGreaterThan(40)
})

test('a seed gives the same trace in two processes', { timeout: 120_000 }, async () => {
  const ask = async () => {
    const asked = [run, '--seeds', '40', '--from', '7000', '--hashes']
    return (await promisify(execFile)(process.execPath, asked)).stdout.trim().split('\n')
  }
  const [one, other] = await Promise.all([ask(), ask()])
  expect(one).toHaveLength(80)
  expect(one).toEqual(other)
})
