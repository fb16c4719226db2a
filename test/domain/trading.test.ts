/** Limits tighten, holds fold: the strictest wins, and what is lifted is gone. */

import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ConfiguredLimits } from '../../src/account/limitsInForce.ts'
import { changesOf, createLiveLimits, figuresOf } from '../../src/account/liveLimits.ts'
import {
  applyTradingEntry,
  breakerNames,
  emptyTradingFold,
  type HaltReason,
  haltKey,
  haltsOn,
  scopeOf,
  stateOf,
  type TradingEntry,
  type TradingScope,
} from '../../src/domain/accountRecords/tradingState.ts'
import {
  countedLimits,
  isTighter,
  type Limits,
  limitsWith,
  limitTightness,
  stricter,
  tighten,
} from '../../src/domain/limits/limits.ts'
import { type BreakerSettings, breakerTightness } from '../../src/risk/breakers/circuitBreakers.ts'

const limitNames = Object.keys(limitTightness) as (keyof Limits)[]
const limits: fc.Arbitrary<Limits> = fc.record(
  Object.fromEntries(
    limitNames.map((name) => [
      name,
      name.endsWith('Usd') || name === 'executionFeesPerDay'
        ? fc.bigInt({ min: 0n, max: 9n })
        : fc.integer({ min: 0, max: 9 }),
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
      const both = tighten(one, two)
      for (const name of limitNames) {
        expect(both[name] === one[name] || isTighter(limitTightness[name], both[name], one[name])).toBe(true)
      }
    }),
    { seed: 6, numRuns: 500 },
  )
})

const breakers: fc.Arbitrary<BreakerSettings> = fc
  .tuple(
    fc.record(
      Object.fromEntries(Object.keys(breakerTightness).map((name) => [name, fc.integer({ min: 0, max: 9 })])),
      { requiredKeys: [] },
    ),
    fc.record(Object.fromEntries(breakerNames.map((name) => [name, fc.constantFrom('halted', 'reducing')])), {
      requiredKeys: [],
    }),
  )
  .map(([figures, sets]) => ({ ...figures, sets }) as BreakerSettings)
const configured: fc.Arbitrary<ConfiguredLimits> = fc.record({
  account: limits,
  markets: fc.dictionary(fc.constantFrom('ETH', 'BTC'), limits),
  strategies: fc.record({ a: limits, b: limits }),
  breakers,
})
const counted = (all: Limits) =>
  Object.fromEntries(Object.entries(all).filter(([name]) => countedLimits.some((each) => each === name)))
const plain = (all: Limits) =>
  Object.fromEntries(Object.entries(all).filter(([name]) => !countedLimits.some((each) => each === name)))
const others = (all: Limits) =>
  Object.fromEntries(
    Object.entries(all).filter(([name]) => !limitsWith('isExposure').includes(name as never)),
  )
const lossless = ({ maxDailyLossUsd: _, maxDailyLossEquityBps: __, ...others }: Limits): Limits => others

test('live limits of every scope take what is tighter at once, and what is looser only when it is confirmed', () => {
  fc.assert(
    fc.property(configured, configured, (first, next) => {
      const live = createLiveLimits(first)
      const changes = live.compare(next, false)
      live.replace(next, false)
      const now = figuresOf(live.current())
      // What was applied is all that changed, and all of it is tighter.
      expect(changesOf(figuresOf(first), now)).toEqual(
        changes.filter(({ isApplied }) => isApplied).map(({ isApplied: _, ...change }) => change),
      )
      expect(changesOf(figuresOf(first), now).every((change) => change.isTighter)).toBe(true)
      // Nothing that is tighter in the new ones is left out.
      expect(changesOf(now, figuresOf(next)).some((change) => change.isTighter)).toBe(false)
      const { account, markets, strategies } = live.current()
      expect(live.on('ETH', 'a')).toEqual(
        tighten(tighten(lossless(account), plain(markets.ETH ?? {})), others(strategies.a ?? {})),
      )
      expect({ ...others(strategies.a ?? {}), ...live.ownOn('a') }).toEqual(strategies.a)
      expect(live.countedOn('ETH')).toEqual(counted(markets.ETH ?? {}))
      live.replace(next, true)
      expect(figuresOf(live.current())).toEqual(figuresOf(next))
      expect(live.compare(next, true)).toEqual([])
    }),
    { seed: 6, numRuns: 300 },
  )
})

test('strategies that are not read again keep their limits, and such as do not run bring none', () => {
  const none = { account: {}, markets: {}, breakers: { sets: {} } }
  const live = createLiveLimits({ ...none, strategies: { a: { maxSlippageBps: 5 } } })
  const next = { ...none, strategies: { other: { maxSlippageBps: 1 } } }
  expect(live.compare(next, true)).toEqual([])
  live.replace(next, true)
  expect(live.current().strategies).toEqual({ a: { maxSlippageBps: 5 } })
})

const scopes: readonly TradingScope[] = ['global', 'account', 'strategy:a', 'strategy:b']
const causes: readonly HaltReason[] = ['operator', 'kill', 'drawdown', 'rejects']
const entries: fc.Arbitrary<TradingEntry> = fc.record({
  kind: fc.constant('trading.state' as const),
  scope: fc.constantFrom(...scopes),
  cause: fc.constantFrom(...causes),
  state: fc.constantFrom('active', 'reducing', 'halted'),
  reason: fc.constant('x'),
  by: fc.constant('ann'),
  releasedBy: fc.constant('operator' as const),
})

test('a scope is as strict as its strictest hold, whatever the order, and one hold stands for a scope and cause', () => {
  fc.assert(
    fc.property(fc.array(entries, { maxLength: 30 }), (list) => {
      let fold = emptyTradingFold
      const last = new Map<string, TradingEntry & { kind: 'trading.state' }>()
      list.forEach((entry, atMs) => {
        fold = applyTradingEntry(fold, entry, atMs)
        if (entry.kind === 'trading.state') last.set(haltKey(entry), entry)
      })
      expect(new Set(fold.halts.map(haltKey)).size).toBe(fold.halts.length)
      for (const strategy of ['a', 'b', undefined]) {
        const reach = [...last.values()].filter(
          ({ scope }) => scope === 'global' || scope === 'account' || scope === `strategy:${strategy}`,
        )
        const expected = reach.reduce<'active' | 'reducing' | 'halted'>(
          (most, { state }) => stricter(most, state),
          'active',
        )
        expect(stateOf(haltsOn(fold.halts, strategy))).toBe(expected)
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

test('a halt that is said again keeps its time; one that became another state has a time of its own', () => {
  const entry = (state: 'reducing' | 'halted'): TradingEntry => ({
    ...{ kind: 'trading.state', scope: 'global', cause: 'operator', state, reason: 'r', by: 'ann' },
    releasedBy: 'operator',
  })
  const said = [
    ['reducing', 1_000],
    ['reducing', 2_000],
    ['halted', 3_000],
    ['halted', 4_000],
  ] as const
  let fold = emptyTradingFold
  const times = said.map(([state, atMs]) => {
    fold = applyTradingEntry(fold, entry(state), atMs)
    return fold.halts[0]?.sinceMs
  })
  expect(times).toEqual([1_000, 1_000, 3_000, 3_000])
})
