/** Two hundred seeds of lying hosts and endpoints: none costs more than its bound, by the venue's books. */
import { expect, test } from 'vitest'
import { runSeeds } from './seeds.ts'

test('200 seeds of liars cost no more than the bound', { timeout: 600_000 }, async () => {
  const report = await runSeeds(1, 200)
  expect(report.failures.map(({ rule, text, command }) => `${rule} ${text}\n${command}`)).toEqual([])
  expect(report.seeds).toBe(200)
  for (const kind of ['nobody', 'prepare', 'host', 'hosts', 'endpoint', 'oracle'])
    expect(report.kinds[kind]?.executed, kind).toBeGreaterThan(10)
})
