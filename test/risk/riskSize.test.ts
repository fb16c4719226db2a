/** The size of an order from the dollars that it may lose at its stop: the largest one that stays within them. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cappedSize } from '../../src/operator/openSize.ts'
import { type ImpactData, priceImpactUsd } from '../../src/protocol/priceImpact.ts'
import { amountOfUsd, ONE_USD, type Usd, usd } from '../../src/protocol/units.ts'
import { lossAtStopUsd, type RiskTerms, sizeAtRisk } from '../../src/risk/sizing/riskSize.ts'

const cent = ONE_USD / 100n

/** A random market with the circumstances of an order there. */
const market = fc
  .record({
    entry: fc.integer({ min: 1, max: 10_000_000 }),
    stopBps: fc.integer({ min: 1, max: 9_000 }),
    isLong: fc.boolean(),
    beyondBps: fc.integer({ min: 0, max: 100 }),
    feeBps100: fc.integer({ min: 0, max: 1_000 }),
    hourly: fc.integer({ min: -1_000_000, max: 1_000_000 }),
    sendingCents: fc.integer({ min: 0, max: 500 }),
    factor: fc.integer({ min: 0, max: 10_000 }),
    // Whole powers are counted fast; one of broken ones is enough of them.
    exponent: fc.constantFrom(10, 15, ...Array.from({ length: 14 }, () => 20)),
    longUsd: fc.integer({ min: 0, max: 50_000_000 }),
    shortUsd: fc.integer({ min: 0, max: 50_000_000 }),
    balanceIn: fc.constantFrom('usd' as const, 'tokens' as const),
    inventory: fc.option(fc.integer({ min: -10_000_000, max: 10_000_000 }), { nil: undefined }),
  })
  .map((given): { readonly terms: RiskTerms } => {
    const entryPrice = usd(given.entry) / 1_000n
    const way = (entryPrice * BigInt(given.stopBps)) / 10_000n
    const stopPrice = given.isLong ? entryPrice - way : entryPrice + way
    const index = { decimals: 18, minPrice: entryPrice, maxPrice: entryPrice }
    const inUnits = (dollars: number) =>
      given.balanceIn === 'usd' ? usd(dollars) : amountOfUsd(usd(dollars), entryPrice, 18)
    const factor = BigInt(given.factor) * 10n ** 17n
    const data: ImpactData = {
      positionImpactFactorPositive: factor / 2n,
      positionImpactFactorNegative: factor,
      positionImpactExponentFactorPositive: (BigInt(given.exponent) * ONE_USD) / 10n,
      positionImpactExponentFactorNegative: (BigInt(given.exponent) * ONE_USD) / 10n,
      maxPositionImpactFactorPositive: ONE_USD / 250n,
      maxPositionImpactFactorNegative: ONE_USD / 200n,
      balanceIn: given.balanceIn,
      longInterest: inUnits(given.longUsd),
      shortInterest: inUnits(given.shortUsd),
      ...(given.inventory === undefined
        ? {}
        : { virtualInventory: given.inventory < 0 ? -inUnits(-given.inventory) : inUnits(given.inventory) }),
    }
    const impact =
      (action: 'increase' | 'decrease', price: Usd) =>
      (sizeDeltaUsd: Usd): Usd => {
        const sizeDeltaInTokens = amountOfUsd(sizeDeltaUsd, price, 18)
        const direction = given.isLong ? 'long' : 'short'
        return priceImpactUsd(data, { direction, action, sizeDeltaUsd, sizeDeltaInTokens }, index) ?? 0n
      }
    const terms: RiskTerms = {
      ...{ entryPrice, stopPrice, beyondBps: given.beyondBps, feeBps100: given.feeBps100 },
      hourlyCost: BigInt(given.hourly) * 10n ** 20n,
      sendingUsd: BigInt(given.sendingCents) * cent,
      openImpactUsd: impact('increase', entryPrice),
      closeImpactUsd: impact('decrease', stopPrice),
    }
    return { terms }
  })

test('on 200 random markets the size loses at most the risk, and a cent more of it would lose more, or a cap is named', () => {
  const risk = fc.integer({ min: 600, max: 1_000_000 }).map((cents) => BigInt(cents) * cent)
  const cap = fc.option(fc.integer({ min: 1, max: 100_000 }), { nil: undefined })
  let capped = 0
  fc.assert(
    fc.property(market, risk, cap, ({ terms }, riskUsd, capUsd) => {
      const limits = [{ by: 'maxPositionSizeUsd', limitUsd: capUsd === undefined ? undefined : usd(capUsd) }]
      const { sizeUsd, cap: named } = cappedSize(riskUsd, terms, limits)
      expect(lossAtStopUsd(sizeUsd, terms) <= riskUsd).toBe(true)
      expect(sizeUsd % cent).toBe(0n)
      if (named === undefined) expect(lossAtStopUsd(sizeUsd + cent, terms) > riskUsd).toBe(true)
      else {
        capped += 1
        expect(sizeUsd).toBe(usd(capUsd ?? 0))
        expect(named).toMatch(/^limit maxPositionSizeUsd; \$[\d,.]+ at risk instead of \$[\d,.]+$/)
      }
    }),
    { numRuns: 200, seed: 40_17 },
  )
  expect(capped).toBeGreaterThan(20)
})

const plain: RiskTerms = {
  ...{ entryPrice: usd(1_000), stopPrice: usd(970), beyondBps: 10, feeBps100: 600, hourlyCost: 0n },
  sendingUsd: usd('1.2'),
  openImpactUsd: (size) => -size / 10_000n,
  closeImpactUsd: (size) => -size / 10_000n,
}

test('the example of the design: $50 at a stop of 3 % is $1,506, where the plain quotient of $1,667 would lose $55.21', () => {
  expect(sizeAtRisk(usd(50), plain) / ONE_USD).toBe(1_506n)
  expect(lossAtStopUsd(usd(1_667), plain) / cent).toBe(5_521n)
})

test('a price impact that pays counts as nothing, and so does funding that is earned', () => {
  const gains = { ...plain, openImpactUsd: (size: Usd) => size, hourlyCost: -ONE_USD }
  const nothing = { ...plain, openImpactUsd: () => 0n }
  expect(lossAtStopUsd(usd(500), gains)).toBe(lossAtStopUsd(usd(500), nothing))
})

test('of several caps the tightest is named, with what is at risk by it', () => {
  const caps = [
    { by: 'maxOrderSizeUsd', limitUsd: usd(1_400) },
    { by: 'wallet', limitUsd: usd('1200.009') },
    { by: 'capacity', limitUsd: undefined },
  ]
  expect(cappedSize(usd(50), plain, caps)).toEqual({
    sizeUsd: usd(1_200),
    cap: 'the wallet at this leverage; $40.08 at risk instead of $50.00',
  })
})
