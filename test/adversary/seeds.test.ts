/** A hundred seeds, of a change a quarter of them, of lying hosts and endpoints: none costs more than its bound, by the venue's books. */
import { expect, test } from 'vitest'
import { shareOfChange } from '../gate/depth.ts'
import { runSeeds } from './seeds.ts'

const share = shareOfChange(4)
const seeds = 100 / share.every

test(`${seeds} seeds of liars cost no more than the bound`, { timeout: 600_000 }, async () => {
  const report = await runSeeds(1 + share.from * seeds, seeds)
  expect(report.failures.map(({ rule, text, command }) => `${rule} ${text}\n${command}`)).toEqual([])
  expect(report.seeds).toBe(seeds)
  for (const kind of ['nobody', 'prepare', 'host', 'hosts', 'endpoint', 'oracle'])
    expect(report.kinds[kind]?.executed, kind).toBeGreaterThan(5 / share.every)
})
