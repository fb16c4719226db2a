/** One bad party of a kind, everybody else honest: a kill with a close has closed within a minute, at an honest price, and accuses nobody honest. */
import { expect, test } from 'vitest'
import type { Lie } from './lies.ts'
import { WAY_OUT_MS, waysOut } from './waysOut.ts'
import { runStory } from './world.ts'

test('whoever lies or is silent, a kill has closed within a minute', { timeout: 600_000 }, async () => {
  // One pays with the short token and one with the long; both hold something that a kill can close.
  for (const { party, told, late, accused, violations } of await waysOut(886_000_024, 2)) {
    expect(told, party).toBe(2)
    expect({ party, late, accused, violations }, `${WAY_OUT_MS} ms`).toEqual({
      party,
      late: [],
      accused: [],
      violations: [],
    })
  }
})

const silent: Lie = { route: '', change: { op: 'hang' }, fromMs: 44_000, untilMs: 1e9, every: 1 }

test.each([
  { what: 'the final block stands still', how: { finalStopsAtMs: 44_000 } },
  { what: 'no endpoint answers', how: { plan: [silent], liars: ['rpc/0', 'rpc/1'] } },
])(
  'a kill has closed and ends where the chain proves nothing any more: $what',
  { timeout: 300_000 },
  async ({ how }) => {
    const story = {
      ...{ seed: 7, kind: 'host', plan: [], liars: [], endpoints: 2, flags: [], killAtMs: 45_000 },
      spanMs: 45_000 + 42 * 60_000,
      habits: [
        {
          ...{ does: 'opens', symbol: 'ETH/USD [WETH-USDC]', direction: 'long', sizeUsd: 500 },
          ...{ leverageBps: 20_000, collateral: 'short', cadenceMs: 60_000 },
        },
      ],
      ...how,
    } as const
    const { closedAfterMs, kill, violation } = await runStory(story as Parameters<typeof runStory>[0])
    expect(closedAfterMs).toBeLessThanOrEqual(WAY_OUT_MS)
    expect({ kill, violation }).toEqual({ kill: 'unproven', violation: undefined })
  },
)
