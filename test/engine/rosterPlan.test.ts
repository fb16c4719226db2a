/** What reading strategy files anew comes to, as a value. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { differencesOf, isIdle, planRoster, type RosterPlan } from '../../src/engine/roster/rosterPlan.ts'
import type { LoadedStrategy } from '../../src/strategy/files/load.ts'
import { z } from '../../src/strategy/strategy.ts'
import { loadedOf } from '../support/loaded.ts'

const kind: LoadedStrategy['strategy'] = {
  kind: 'any',
  description: 'Any.',
  opensPositions: true,
  params: z.unknown(),
  needs: () => ({ symbols: [] }),
  decide: () => [],
}

const written = fc.record(
  {
    kind: fc.constantFrom('"trend"', '"grid"'),
    'size.usd': fc.constantFrom('1', '2', '3'),
    cadenceSeconds: fc.constantFrom('5', '10'),
  },
  { requiredKeys: ['kind'] },
)
const set = fc
  .dictionary(fc.constantFrom('a', 'b', 'c', 'd'), fc.record({ written, isEnabled: fc.boolean() }), {
    maxKeys: 4,
  })
  .map((files) => new Map(Object.entries(files)))

const instances = (files: ReadonlyMap<string, { readonly written: Record<string, string> }>) =>
  [...files].map(([name, each]) => loadedOf(kind, name, [], { written: each.written }))

/** What runs once a plan is carried out. */
function after(running: readonly LoadedStrategy[], plan: RosterPlan): ReadonlyMap<string, LoadedStrategy> {
  const next = new Map(running.map((each) => [each.name, each]))
  for (const { name } of [...plan.removed, ...plan.disabled]) next.delete(name)
  for (const { now } of plan.changed) next.set(now.name, now)
  for (const each of plan.added) next.set(each.name, each)
  return next
}

test('whatever ran before, a plan that was carried out runs what the files say, but for those that wait for a restart', () => {
  fc.assert(
    fc.property(set, set, (before, files) => {
      const running = instances(before)
      const enabled = new Map([...files].filter(([, { isEnabled }]) => isEnabled))
      const read = {
        strategies: instances(enabled),
        disabled: [...files.keys()].filter((name) => !enabled.has(name)),
        problems: [],
      }
      const plan = planRoster(running, read)
      const runs = after(running, plan)
      expect([...runs.keys()].sort()).toEqual([...enabled.keys()].sort())
      for (const [name, { written: now }] of enabled) {
        const was = before.get(name)?.written
        const waits = was !== undefined && was.kind !== now.kind
        expect(runs.get(name)?.written).toEqual(waits ? was : now)
        expect(plan.waiting.some((each) => each.now.name === name)).toBe(waits)
      }
      // Every thread that was begun for the reading is one that runs or one that is ended.
      const kept = new Set(runs.values())
      for (const each of read.strategies) expect(kept.has(each)).toBe(!plan.spare.includes(each))
      // Said again, it comes to nothing but what waits.
      const again = planRoster([...runs.values()], read)
      expect(isIdle(again)).toBe(true)
      expect(differencesOf(again).every(({ change }) => change === 'waiting')).toBe(true)
    }),
    { seed: 20_271_123, numRuns: 300 },
  )
})

test('a kind of the user’s own whose program changed is a change of its file, and one that is the same is none', () => {
  const hosted = (sourceHash: string) =>
    ({ path: 'strategies/mine.ts', sourceHash }) as unknown as NonNullable<LoadedStrategy['hosted']>
  const one = loadedOf(kind, 'mine', [], { hosted: hosted('0123456789') })
  const read = (sourceHash: string) => ({
    strategies: [loadedOf(kind, 'mine', [], { hosted: hosted(sourceHash) })],
    disabled: [],
    problems: [],
  })
  expect(planRoster([one], read('abcdefghij')).changed).toMatchObject([
    { fields: [{ field: 'strategies/mine.ts', from: '01234567', to: 'abcdefgh' }] },
  ])
  expect(isIdle(planRoster([one], read('0123456789')))).toBe(true)
})
