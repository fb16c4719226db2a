/** Attacks that worked once break no rule any more; and worlds where nobody lies trade. */
import { expect, test } from 'vitest'
import { usd } from '../../src/protocol/units.ts'
import { attacks } from './attacks.ts'
import { symbols } from './habits.ts'
import { runStory } from './world.ts'

test.each(attacks.map(({ name, story }) => [name, story] as const))(
  '%s: no more',
  { timeout: 180_000 },
  async (_name, story) => {
    const { violation, paidUsd, boundUsd } = await runStory(story)
    expect(violation).toBeUndefined()
    expect(paidUsd).toBeLessThanOrEqual(boundUsd)
  },
)

test('where nobody lies positions open and close, with and without endpoints, at no more than fees and impact', {
  timeout: 180_000,
}, async () => {
  for (const endpoints of [0, 1, 2]) {
    const result = await runStory({
      seed: 5,
      kind: 'nobody',
      plan: [],
      spanMs: 90_000,
      endpoints,
      flags: [],
      path: [
        [0, 2_000],
        [100_000, 2_000],
      ],
      habits: [
        {
          does: 'turns',
          symbol: symbols[0],
          direction: 'long',
          sizeUsd: 2_000,
          leverageBps: 50_000,
          collateral: 'short',
          cadenceMs: 5_000,
        },
      ],
    })
    expect(result.violation).toBeUndefined()
    expect(result.executed).toBeGreaterThanOrEqual(4)
    expect(result.discrepancies).toEqual([])
    expect(Object.keys(result.denials)).not.toContain('POSITION_NOT_SHOWN')
    expect(result.paidUsd).toBeLessThan(usd(5 * result.executed))
  }
})
