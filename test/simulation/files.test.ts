/** The journal and its guard on real files, in worlds with faults: no invariant is broken, and a seed does the same twice. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { shareOfChange } from '../gate/depth.ts'
import { failuresOf, runKnownAndFresh } from './fresh.ts'

const share = shareOfChange(4)

const run = join(import.meta.dirname, 'run.ts')

test(`${20 + 100 / share.every} seeds over real files break no invariant`, { timeout: 600_000 }, async () => {
  const report = await runKnownAndFresh('files', share, { known: 100, fresh: 20 })
  expect(failuresOf(report)).toEqual([])
  expect(report.crashes).toBeGreaterThan(0.75 * report.seeds)
  for (const fault of ['power-cut', 'disk-full', 'old-backup', 'bit-flip', 'lease-lost', 'operator-stop'])
    expect(report.faults[fault], fault).toBeGreaterThan(5 / share.every)
})

test('a seed over real files gives the same trace in two processes', { timeout: 300_000 }, async () => {
  const asked = [run, '--tier', 'files', '--seeds', String(12 / share.every), '--from', '7000', '--hashes']
  const ask = async () => (await promisify(execFile)(process.execPath, asked)).stdout.trim().split('\n')
  const [one, other] = await Promise.all([ask(), ask()])
  expect(one).toHaveLength(12 / share.every)
  expect(one).toEqual(other)
})
