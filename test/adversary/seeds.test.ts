/** A hundred seeds of lying hosts and endpoints: none costs more than its bound, by the venue's books. */
import { expect, test } from 'vitest'
import { runSeeds } from './seeds.ts'

test('100 seeds of liars cost no more than the bound', { timeout: 600_000 }, async () => {
  const report = await runSeeds(1, 100)
  expect(report.failures.map(({ rule, text, command }) => `${rule} ${text}\n${command}`)).toEqual([])
  expect(report.seeds).toBe(100)
  for (const kind of ['nobody', 'prepare', 'host', 'hosts', 'endpoint', 'oracle'])
    expect(report.kinds[kind]?.executed, kind).toBeGreaterThan(5)
})
