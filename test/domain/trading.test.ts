/** Limits tighten, holds fold: the strictest wins, and what is lifted is gone. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Limits, limitChanges, limitNames, stricter, tighten } from '../../src/domain/limits.ts'
import {
  applyTradingEntry,
  emptyTradingFold,
  type HoldCause,
  holdKey,
  holdsOn,
  scopeOf,
  stateOf,
  type TradingEntry,
  type TradingScope,
} from '../../src/domain/trading.ts'
import { createLiveLimits } from '../../src/engine/liveLimits.ts'

const limits: fc.Arbitrary<Limits> = fc.record(
  Object.fromEntries(
    limitNames.map((name) => [
      name,
      name.endsWith('Usd') ? fc.bigInt({ min: 0n, max: 9n }) : fc.integer({ min: 0, max: 9 }),
    ]),
  ),
  { requiredKeys: [] },
)

test('tightening is commutative, associative and idempotent, and never loosens', () => {
  fc.assert(
    fc.property(limits, limits, limits, (one, two, three) => {
      expect(tighten(one, two)).toEqual(tighten(two, one))
      expect(tighten(tighten(one, two), three)).toEqual(tighten(one, tighten(two, three)))
      expect(tighten(one, one)).toEqual(one)
      expect(limitChanges(one, tighten(one, two)).every((change) => change.isTighter)).toBe(true)
    }),
    { seed: 6, numRuns: 500 },
  )
})

test('live limits take what is tighter at once, and what is looser only when it is confirmed', () => {
  fc.assert(
    fc.property(limits, limits, limits, (first, next, ofMarket) => {
      const live = createLiveLimits({ account: first, markets: {} })
      const wanted = { account: next, markets: { ETH: ofMarket } }
      const before = live.compare(wanted, false)
      live.replace(wanted, false)
      expect(live.current().account).toEqual(tighten(first, next))
      expect(live.on('ETH', {})).toEqual(tighten(tighten(first, next), ofMarket))
      expect(before.filter(({ isApplied }) => !isApplied).every(({ isTighter }) => !isTighter)).toBe(true)
      live.replace(wanted, true)
      expect(live.current()).toEqual(wanted)
      expect(live.compare(wanted, true)).toEqual([])
    }),
    { seed: 6, numRuns: 300 },
  )
})

const scopes: readonly TradingScope[] = ['global', 'account', 'strategy:a', 'strategy:b']
const causes: readonly HoldCause[] = ['operator', 'kill', 'drawdown', 'rejects']
const entries: fc.Arbitrary<TradingEntry> = fc.record({
  kind: fc.constant('trading.state' as const),
  scope: fc.constantFrom(...scopes),
  cause: fc.constantFrom(...causes),
  state: fc.constantFrom('active', 'reducing', 'halted'),
  reason: fc.constant('x'),
  by: fc.constant('ann'),
  lifts: fc.constant('operator' as const),
})

test('a scope is as strict as its strictest hold, whatever the order, and one hold stands for a scope and cause', () => {
  fc.assert(
    fc.property(fc.array(entries, { maxLength: 30 }), (list) => {
      let fold = emptyTradingFold
      const last = new Map<string, TradingEntry & { kind: 'trading.state' }>()
      list.forEach((entry, atMs) => {
        fold = applyTradingEntry(fold, entry, atMs)
        if (entry.kind === 'trading.state') last.set(holdKey(entry), entry)
      })
      expect(new Set(fold.holds.map(holdKey)).size).toBe(fold.holds.length)
      for (const strategy of ['a', 'b', undefined]) {
        const reach = [...last.values()].filter(
          ({ scope }) => scope === 'global' || scope === 'account' || scope === `strategy:${strategy}`,
        )
        const expected = reach.reduce<'active' | 'reducing' | 'halted'>(
          (most, { state }) => stricter(most, state),
          'active',
        )
        expect(stateOf(holdsOn(fold.holds, strategy))).toBe(expected)
      }
    }),
    { seed: 6, numRuns: 500 },
  )
})

test('an operator names a strategy with or without its prefix', () => {
  expect(['global', 'account', 'eth-trend', 'strategy:eth-trend'].map(scopeOf)).toEqual([
    'global',
    'account',
    'strategy:eth-trend',
    'strategy:eth-trend',
  ])
})
