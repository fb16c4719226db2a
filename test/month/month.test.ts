/**
 * Hours of every built-in kind on the paper venue, with hosts that restart and answers that are lost: no limit is violated, no position
 * is without its stop beyond the grace, no order is unexplained, and everything of perpd's own ended. `npm run strategies:table` lives
 * whole months.
 */
import { expect, test } from 'vitest'
import { liveMonth } from './month.ts'
import { kindNames } from './monthKinds.ts'

/** Kinds that act within such hours on the prices of the seed. */
const busy: ReadonlySet<string> = new Set(['trend', 'protector', 'signal', 'target-exposure', 'ladder'])

test.each(kindNames)(
  'hours of %s with faults violate nothing and leave nothing unexplained',
  {
    timeout: 900_000,
  },
  async (kind) => {
    const report = await liveMonth({ kind, seed: 1, days: 0.25, cadenceSeconds: 300 })
    expect(report.problems).toEqual([])
    expect(report.lost).toBeGreaterThan(0)
    expect(report.refusedIncreases.DECISION_INVALID).toBeUndefined()
    if (busy.has(kind)) expect(report.results.fills, 'orders that were executed').toBeGreaterThan(0)
  },
)
