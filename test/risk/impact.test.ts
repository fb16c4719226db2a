/** Our own estimate of a price impact in the terms of orders, and what they ask for because of it. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { Decision } from '../../src/domain/order/decision.ts'
import type { OrderTerms } from '../../src/domain/order/orderTerms.ts'
import { impactDataOf } from '../../src/market/marketImpact.ts'
import { type ImpactData, priceImpactBps } from '../../src/protocol/priceImpact.ts'
import { ONE_USD, usd } from '../../src/protocol/units.ts'
import { admit } from '../../src/risk/admit.ts'
import { close, desk, increase, marketView, NOW_MS, position, snapshot } from './world.ts'

/** 2,000,000 longs against 1,000,000 shorts and a square law: $1,000 more of longs cost $40.02. */
const thin: ImpactData = {
  positionImpactFactorPositive: 10n ** 22n,
  positionImpactFactorNegative: 2n * 10n ** 22n,
  positionImpactExponentFactorPositive: 2n * ONE_USD,
  positionImpactExponentFactorNegative: 2n * ONE_USD,
  maxPositionImpactFactorPositive: 4n * 10n ** 27n,
  maxPositionImpactFactorNegative: 5n * 10n ** 27n,
  balanceIn: 'usd',
  longInterest: usd(2_000_000),
  shortInterest: usd(1_000_000),
}
const crowdedByShorts = { ...thin, longInterest: usd(1_000_000), shortInterest: usd(2_000_000) }
const most = { adding: 150, reducing: 1_000 }

function termsOf(decision: Decision, impact: ImpactData | undefined, maxPriceImpactBps = most): OrderTerms {
  const view = marketView(impact === undefined ? {} : { impact: { value: impact, atMs: NOW_MS } })
  const admission = admit(decision, {
    ...desk({ snapshot: snapshot({ view, positions: [position()] }) }),
    impact: { maxPriceImpactBps },
  })
  if (admission.kind === 'denial') throw new Error(admission.denial.reason)
  return admission.intent.terms
}

test("the estimate of every case is what the venue's library says of it, to a basis point", () => {
  const file = new URL('../fixtures/messages/amounts.json', import.meta.url)
  const { cases } = JSON.parse(readFileSync(file, 'utf8'))
  let seen = 0
  for (const { id, want, market, position: held, prices, estimates } of cases) {
    const size = BigInt(estimates?.sizeDeltaUsd ?? 0)
    if (size === 0n || estimates.positionPriceImpactDeltaUsd === undefined) continue
    if (want.kind !== 'increase' && want.kind !== 'decrease' && want.kind !== 'close') continue
    const data = impactDataOf(
      Object.fromEntries(
        Object.entries(market).map(([name, value]) => [
          name,
          typeof value === 'string' && /^\d+$/.test(value) ? BigInt(value) : value,
        ]),
      ),
      {
        ...Object.fromEntries(
          Object.entries(market)
            .filter(([name]) => /Interest/.test(name))
            .map(([name, value]) => [name, BigInt(value as string)]),
        ),
      },
    )
    const { decimals, address } = market.indexToken
    const price = prices[address]
    const index = { decimals, minPrice: BigInt(price.min), maxPrice: BigInt(price.max) }
    const at = want.triggerPrice === undefined ? index.minPrice : BigInt(want.triggerPrice)
    const tokens =
      want.kind === 'increase'
        ? (size * 10n ** BigInt(decimals)) / at
        : (BigInt(held.sizeInTokens) * size) / BigInt(held.sizeInUsd)
    const action = want.kind === 'increase' ? 'increase' : 'decrease'
    if (data === undefined) throw new Error(`${id} has no data`)
    const found = priceImpactBps(
      data,
      { direction: want.direction, action, sizeDeltaUsd: size, sizeDeltaInTokens: tokens },
      index,
    )
    const wanted = Number((BigInt(estimates.positionPriceImpactDeltaUsd) * 1_000_000n) / size) / 100
    expect(Math.abs((found ?? Number.NaN) - wanted), `${id}: ${found} for ${wanted}`).toBeLessThan(1.1)
    seen += 1
  }
  expect(seen).toBeGreaterThan(20)
})

test('orders carry the estimate of their size, negative at our cost; without data none', () => {
  expect(termsOf(increase(), thin).priceImpactBps).toBe(-401)
  expect(termsOf(increase(), crowdedByShorts).priceImpactBps).toBe(40)
  expect(termsOf(close(), crowdedByShorts).priceImpactBps).toBe(-401)
  expect(termsOf(increase(), undefined)).not.toHaveProperty('priceImpactBps')
  expect(
    termsOf(increase({ orderType: 'twap', twap: { parts: 2, durationSeconds: 600 } }), thin),
  ).not.toHaveProperty('priceImpactBps')
})

test('a decrease is estimated by its share of the tokens held, where balances are counted in tokens', () => {
  const inTokens: ImpactData = {
    ...crowdedByShorts,
    balanceIn: 'tokens',
    longInterest: 500n * 10n ** 18n,
    shortInterest: 1_000n * 10n ** 18n,
  }
  // Half a token at $2,000 moves the balance as $1,000 do.
  expect(termsOf(close(), inTokens).priceImpactBps).toBe(-401)
})

test('a limit asks for its estimate, at most for what is allowed, and 30 bps on top; without data for 30', () => {
  const limit = increase({ orderType: 'limit', triggerPrice: usd(1900) })
  expect(termsOf(limit, thin).acceptablePriceImpactBps).toBe(180)
  expect(termsOf(limit, thin, { adding: 1_000, reducing: 1_000 }).acceptablePriceImpactBps).toBe(431)
  expect(termsOf(limit, crowdedByShorts).acceptablePriceImpactBps).toBe(30)
  expect(termsOf(limit, undefined).acceptablePriceImpactBps).toBe(30)
  expect(termsOf(increase(), thin)).not.toHaveProperty('acceptablePriceImpactBps')
})

test('a take-profit asks for the estimate of leaving, as what takes risk away', () => {
  const decision: Decision = {
    ...close(),
    kind: 'decrease',
    sizeDeltaUsd: usd(1000),
    keepLeverage: false,
    collateralToken: position().collateralToken,
    orderType: 'take-profit',
    triggerPrice: usd(2100),
  }
  expect(termsOf(decision, crowdedByShorts).acceptablePriceImpactBps).toBe(431)
  expect(termsOf(decision, thin).acceptablePriceImpactBps).toBe(30)
})

test('the exits of an increase carry the estimate of leaving', () => {
  const decision = increase({
    tpsl: [
      { type: 'take-profit', triggerPrice: usd(2200) },
      { type: 'stop-loss', triggerPrice: usd(1900), shareBps: 5_000 },
    ],
  })
  const { priceImpactBps: own, tpsl } = termsOf(decision, crowdedByShorts)
  expect(own).toBe(40)
  expect(tpsl?.map(({ priceImpactBps: exit }) => exit)).toEqual([-401, -401])
})
