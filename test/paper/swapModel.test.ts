/** Swaps of the model: tokens are conserved, balance is rewarded out of what imbalance paid, reserves stay in the pool. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { increasePosition } from '../../src/paper/math/increase.ts'
import { fac } from '../../src/paper/math/integer.ts'
import { cloneMarket, emptyMarket, type MarketState, type Slot } from '../../src/paper/math/marketState.ts'
import { swapInPool, swapPriceImpact } from '../../src/paper/math/poolSwap.ts'
import { ProtocolRevert } from '../../src/paper/math/protocolRevert.ts'
import { defaultVenueSettings } from '../../src/paper/state/settings.ts'
import { createVenueState } from '../../src/paper/state/venueState.ts'
import { chains } from '../../src/protocol/chains/index.ts'
import { ethSymbol, manualClock } from './support.ts'

const venueState = createVenueState({
  chain: chains.arbitrum,
  clock: manualClock(),
  seed: 7,
  settings: defaultVenueSettings,
})
const market = venueState.markets.find(({ catalog }) => catalog.symbol === ethSymbol)
if (market === undefined) throw new Error('no market')
const one = 10n ** 30n
const settings = {
  ...market.settings,
  swapFeeFactorForBalanceWasImproved: (5n * one) / 10_000n,
  swapFeeFactorForBalanceWasNotImproved: (7n * one) / 10_000n,
  swapImpactFactorPositive: (2n * one) / 10n ** 10n,
  swapImpactFactorNegative: (4n * one) / 10n ** 10n,
  swapImpactExponentFactor: 2n * one,
}
// 1 WETH = 2000 USD, 1 USDC = 1 USD, in USD (30 decimals) per smallest unit.
const flat = (value: bigint) => ({ min: value, max: value })
const prices = { index: flat(2000n * 10n ** 12n), long: flat(2000n * 10n ** 12n), short: flat(10n ** 24n) }
const WETH = 10n ** 18n
const USDC = 10n ** 6n

function pool(weth: bigint, usdc: bigint): MarketState {
  return { ...emptyMarket(), pool: [weth * WETH, usdc * USDC], swapImpactPool: [WETH / 10n, 50n * USDC] }
}

test('a swap away from balance pays impact and the higher fee, to the unit', () => {
  const draft = pool(1000n, 2_000_000n)
  // 10,000 USDC in: the difference goes from 0 to 20,000 USD, impact 20000^2 * 4e-10 = 0.16 USD.
  const done = swapInPool(settings, draft, 1, 10_000n * USDC, prices)
  expect(done).toMatchObject({
    feeAmount: 7n * USDC,
    feeAmountForPool: 4_410_000n,
    amountSwapped: 9_992_840_000n,
    amountOut: 4_996_420_000_000_000_000n,
  })
  // The contracts' power function is a little off in its last digits, and the amount is rounded away from zero.
  expect((done.priceImpactUsd - 10n ** 22n) / 10n ** 26n).toBe(-1600n)
  expect(done.priceImpactAmount).toBe(-160_000n)
  expect(draft.pool).toEqual([1000n * WETH - done.amountOut, 2_000_000n * USDC + 9_992_840_000n + 4_410_000n])
  expect(draft.swapImpactPool).toEqual([WETH / 10n, 50n * USDC + 160_000n])
})

test('a swap toward balance pays the lower fee and earns impact, no more than the impact pools hold', () => {
  const draft = pool(1100n, 2_000_000n)
  // The difference goes from 200,000 to 180,000 USD: (4e10 - 3.24e10) * 2e-10 = 1.52 USD.
  const done = swapInPool(settings, draft, 1, 10_000n * USDC, prices)
  expect(done.feeAmount).toBe(5n * USDC)
  expect((done.priceImpactUsd + 10n ** 20n) / 10n ** 28n).toBe(152n)
  // 1.52 USD of WETH at 2000.
  expect((done.priceImpactAmount + 10n ** 8n) / 10n ** 12n).toBe(760n)
  expect(done.amountOut).toBe(
    (done.amountSwapped * 10n ** 24n) / (2000n * 10n ** 12n) + done.priceImpactAmount,
  )
  const poor = { ...pool(1100n, 2_000_000n), swapImpactPool: [1n, 2n] as [bigint, bigint] }
  const less = swapInPool(settings, poor, 1, 10_000n * USDC, prices)
  expect(less).toMatchObject({ priceImpactAmount: 1n, tokenInPriceImpactAmount: 2n })
  expect(poor.swapImpactPool).toEqual([0n, 0n])
})

test('what positions reserve of a token cannot be swapped out', () => {
  const draft = pool(1000n, 2_000_000n)
  draft.long.interestInTokens = [900n * WETH, 0n]
  const limited = { ...settings, reserveFactor: { long: one, short: one } }
  expect(() => swapInPool(limited, cloneMarket(draft), 1, 400_000n * USDC, prices)).toThrow(
    'InsufficientReserve',
  )
  expect(() => swapInPool(limited, cloneMarket(draft), 1, 100_000n * USDC, prices)).not.toThrow()
  expect(() => swapInPool(settings, draft, 1, 3_000_000n * USDC, prices)).toThrow('UsdDeltaExceedsPoolValue')
})

test('tokens are conserved over any swaps, and there and back never gains', () => {
  fc.assert(
    fc.property(
      fc.bigInt(100n, 5000n),
      fc.bigInt(100_000n, 9_000_000n),
      fc.array(fc.tuple(fc.constantFrom<Slot>(0, 1), fc.bigInt(1n, 10n ** 22n)), { maxLength: 12 }),
      (weth, usdc, swaps) => {
        const draft = pool(weth, usdc)
        const held = [draft.pool[0] + draft.swapImpactPool[0], draft.pool[1] + draft.swapImpactPool[1]]
        for (const [slotIn, drawn] of swaps) {
          const amountIn = slotIn === 0 ? drawn / 10n + 1n : drawn / 10n ** 11n + 1n
          const before = cloneMarket(draft)
          try {
            const done = swapInPool(settings, draft, slotIn, amountIn, prices)
            const out: Slot = slotIn === 0 ? 1 : 0
            held[slotIn] = (held[slotIn] ?? 0n) + amountIn - (done.feeAmount - done.feeAmountForPool)
            held[out] = (held[out] ?? 0n) - done.amountOut
            expect(done.amountOut >= 0n).toBe(true)
            expect(done.feeAmount - done.feeAmountForPool).toBe(
              fac(done.feeAmount, settings.feeReceiverFactor),
            )
            const back = swapPriceImpact(settings, draft, out, 1n, prices)
            expect(typeof back.balanceWasImproved).toBe('boolean')
          } catch (error) {
            if (!(error instanceof ProtocolRevert)) throw error
            expect(draft).toEqual(before)
          }
          for (const slot of [0, 1] as const) {
            expect(draft.pool[slot] >= 0n && draft.swapImpactPool[slot] >= 0n).toBe(true)
            expect(draft.pool[slot] + draft.swapImpactPool[slot]).toBe(held[slot])
          }
        }
      },
    ),
    { seed: 11, numRuns: 200 },
  )
  fc.assert(
    fc.property(fc.bigInt(100n, 5000n), fc.bigInt(1n, 400_000n), (weth, dollars) => {
      const draft = pool(weth, 2_000_000n)
      const there = swapInPool(
        settings,
        draft,
        1,
        dollars * USDC > weth * 1000n * USDC ? USDC : dollars * USDC,
        prices,
      )
      const back = swapInPool(settings, draft, 0, there.amountOut, prices)
      expect(back.amountOut < there.amountIn).toBe(true)
    }),
    { seed: 12, numRuns: 100 },
  )
})

test('a side takes no more collateral of a token than its market allows', () => {
  const terms = { side: 'long', slot: 1, sizeDeltaUsd: 1000n * one, collateralAmount: 500n * USDC } as const
  const limited = {
    ...market.settings,
    maxCollateralSum: [
      { long: one, short: one },
      { long: 499n * USDC, short: one },
    ] as const,
  }
  const now = venueState.epochSeconds
  expect(() => increasePosition(limited, cloneMarket(market.state), undefined, terms, prices, now)).toThrow(
    'MaxCollateralSumExceeded',
  )
  const short = { ...terms, side: 'short' } as const
  expect(() =>
    increasePosition(limited, cloneMarket(market.state), undefined, short, prices, now),
  ).not.toThrow()
  expect(market.settings.maxCollateralSum[1].long).toBe(10n ** 31n)
})
