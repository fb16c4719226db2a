/** Answers that turns of many strategies share are made once, and equal those that are made anew each time. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { lastSides } from '../../src/account/holdings/lastSides.ts'
import { createLiveLimits } from '../../src/account/liveLimits.ts'
import { filteredTickers } from '../../src/api/markets/tickerFilters.ts'
import { fillsOf } from '../../src/domain/accountRecords/fills.ts'
import { journalSides } from '../../src/domain/accountRecords/held.ts'
import type { Limits } from '../../src/domain/limits/limits.ts'
import type { Child, IntentState } from '../../src/domain/order/intent.ts'
import type { Ticker } from '../../src/protocol/market.ts'
import { usd } from '../../src/protocol/units.ts'
import { armedFacts, ethMarket, intentOf, orderKey, startMs, usdc } from '../support/intents.ts'

const limits = fc.record(
  {
    maxOrderSizeUsd: fc.bigInt(1n, 9n),
    maxPositionSizeUsd: fc.bigInt(1n, 9n),
    maxLossPerDayUsd: fc.bigInt(1n, 9n),
    maxSlippageBps: fc.integer({ min: 1, max: 9 }),
    maxOrdersPerHour: fc.integer({ min: 1, max: 9 }),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<Limits>
const configured = fc
  .record({ account: limits, m: limits, n: limits, a: limits, b: limits })
  .map(({ account, m, n, a, b }) => ({
    account,
    markets: { m, n },
    strategies: { a, b },
    breakers: { sets: {} },
  }))

test('limits that are asked again are those of limits that nobody asked before, whatever was taken over between', () => {
  const step = fc.oneof(
    fc.tuple(fc.constant('replace' as const), configured, fc.boolean()),
    fc.tuple(fc.constant('run' as const), fc.constantFrom('a', 'b'), fc.option(limits, { nil: undefined })),
  )
  fc.assert(
    fc.property(configured, fc.array(step, { maxLength: 6 }), (first, steps) => {
      const live = createLiveLimits(first)
      const askAll = () =>
        [undefined, 'm', 'n'].flatMap((symbol) =>
          ['a', 'b'].map((name) => [symbol, name, live.on(symbol, name)]),
        )
      const askAnew = () =>
        [undefined, 'm', 'n'].flatMap((symbol) =>
          ['a', 'b'].map((name) => [symbol, name, createLiveLimits(live.current()).on(symbol, name)]),
        )
      for (const [kind, ...given] of steps) {
        expect(askAll()).toEqual(askAnew())
        if (kind === 'replace') live.replace(...(given as Parameters<typeof live.replace>))
        else live.run(...(given as Parameters<typeof live.run>))
      }
      expect(askAll()).toEqual(askAnew())
      expect(askAll()).toEqual(askAnew())
    }),
    { seed: 36, numRuns: 100 },
  )
})

test('sizes by the journal that are asked again change with every fill, every order and every discrepancy', () => {
  const stateOf = (size: bigint, phase: Child['phase']): IntentState => ({
    intent: intentOf(),
    attempts: [
      {
        n: 1,
        lane: 'order-chain',
        host: 'http://127.0.0.1:1/v1',
        phase: 'LANDED',
        armed: armedFacts(),
        children: [
          { index: 0, orderKey, phase, role: 'main', settlement: { sizeDeltaUsd: usd(Number(size)) } },
        ],
      },
    ],
    updatedAtMs: startMs,
  })
  const fill = (size: number) => ({
    marketToken: ethMarket,
    direction: 'long' as const,
    collateralToken: usdc,
    sizeDeltaUsd: usd(size),
  })
  const pool = {
    fills: [fill(1), fill(2), fill(3)],
    states: [stateOf(10n, 'EXECUTED'), stateOf(20n, 'OPEN'), stateOf(40n, 'EXECUTED')],
    discrepancies: [new Map(), new Map()],
  }
  const pick = fc.record({
    closed: fc.subarray(pool.fills),
    open: fc.subarray(pool.states),
    discrepancies: fc.constantFrom(...pool.discrepancies),
  })
  fc.assert(
    fc.property(fc.array(pick, { minLength: 1, maxLength: 8 }), (asked) => {
      const sidesOf = lastSides()
      for (const { closed, open, discrepancies } of asked)
        for (const _ of [1, 2])
          expect(sidesOf([...closed], [...open], { discrepancies })).toEqual(
            journalSides([...closed, ...open.flatMap(fillsOf)], { discrepancies }),
          )
    }),
    { seed: 36, numRuns: 200 },
  )
})

test('one market is found in the list of all as a filter of several finds it, and one that is listed twice is the venue’s to say', () => {
  const tickers = ['a', 'b', 'c', 'c'].map((symbol) => ({
    symbol,
    marketToken: `0x${symbol}`,
  })) as unknown as Ticker[]
  // The same market twice is a filter of one too, and goes the longer way.
  for (const symbol of ['a', 'b', 'c', 'd'])
    for (const _ of [1, 2])
      expect(filteredTickers(tickers, { symbols: [symbol] })).toEqual(
        filteredTickers(tickers, { symbols: [symbol, symbol] }),
      )
  expect(filteredTickers(tickers, { symbols: ['a'] })).toEqual([tickers[0]])
})
