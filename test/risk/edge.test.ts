/** `protect.minEdgeBps`: an entry goes through only where what it is expected to earn is so much above its costs. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Intent } from '../../src/domain/order/intent.ts'
import { ONE_USD, usd } from '../../src/protocol/units.ts'
import { checkEdge, edgeCosts } from '../../src/risk/checks/edgeCheck.ts'
import { intentOf } from '../support/intents.ts'
import { marketView, NOW_MS, ticker } from './world.ts'

const dayMs = 86_400_000

/** An entry of $1,000 at $2,000 with a target so many bps away, and its market. */
function entry(targetBps: number | undefined, parts: Partial<Intent['terms']> = {}): Intent {
  const base = intentOf()
  const referencePrice = usd(2_000)
  const tpsl =
    targetBps === undefined
      ? {}
      : {
          tpsl: [
            {
              type: 'take-profit' as const,
              triggerPrice: referencePrice + (referencePrice * BigInt(targetBps)) / 10_000n,
              sizeDeltaUsd: usd(1_000),
            },
          ],
        }
  return { ...base, terms: { ...base.terms, sizeDeltaUsd: usd(1_000), referencePrice, ...tpsl, ...parts } }
}

const feeFactors = (balancingBps: number, unbalancingBps: number) => ({
  balancing: (ONE_USD * BigInt(balancingBps)) / 10_000n,
  unbalancing: (ONE_USD * BigInt(unbalancingBps)) / 10_000n,
})
const impactData = (fees?: ReturnType<typeof feeFactors>) => ({
  value: {
    positionImpactFactorPositive: 0n,
    positionImpactFactorNegative: 0n,
    positionImpactExponentFactorPositive: 2n * ONE_USD,
    positionImpactExponentFactorNegative: 2n * ONE_USD,
    maxPositionImpactFactorPositive: 0n,
    maxPositionImpactFactorNegative: 0n,
    balanceIn: 'usd' as const,
    longInterest: 0n,
    shortInterest: 0n,
    ...(fees === undefined ? {} : { positionFeeFactors: fees }),
  },
  atMs: NOW_MS,
})
/** Funding less borrowing of a long, basis points a day. */
const paying = (bpsADay: number) => ({
  value: ticker({ netRateLong: (-ONE_USD * BigInt(bpsADay)) / 240_000n }),
  atMs: NOW_MS,
})
const view = (fees = feeFactors(4, 6), bpsADay = 0) => ({
  ...marketView(),
  impact: impactData(fees),
  ticker: paying(bpsADay),
})
const codeOf = (intent: Intent, minBps: number, market = view(), sendingUsd = 0n) =>
  checkEdge(intent, { edge: { minBps, holdMs: dayMs } }, market, sendingUsd)?.code ?? 'admitted'

test('the way to the target less fees of both ways must be the edge at least', () => {
  // 60 - 6 - 6 = 48.
  expect(codeOf(entry(60), 48)).toBe('admitted')
  expect(codeOf(entry(60), 49)).toBe('EDGE_TOO_SMALL')
})

test('impact, sending and holding are costs, and what may come in of them is not counted', () => {
  expect(codeOf(entry(60, { priceImpactBps: -3 }), 45)).toBe('admitted')
  expect(codeOf(entry(60, { priceImpactBps: -3 }), 46)).toBe('EDGE_TOO_SMALL')
  // An impact that pays lowers the fee of the way in, and nothing else.
  expect(codeOf(entry(60, { priceImpactBps: 9 }), 50)).toBe('admitted')
  expect(codeOf(entry(60, { priceImpactBps: 9 }), 51)).toBe('EDGE_TOO_SMALL')
  // $0.30 of $1,000 are 3 bps.
  expect(codeOf(entry(60), 45, view(), usd('0.3'))).toBe('admitted')
  expect(codeOf(entry(60), 46, view(), usd('0.3'))).toBe('EDGE_TOO_SMALL')
  expect(codeOf(entry(60), 43, view(feeFactors(4, 6), 5))).toBe('admitted')
  expect(codeOf(entry(60), 44, view(feeFactors(4, 6), 5))).toBe('EDGE_TOO_SMALL')
  expect(codeOf(entry(60), 49, view(feeFactors(4, 6), -50))).toBe('EDGE_TOO_SMALL')
})

test('a word of the kind stands in the place of the target, and the nearest of several targets counts', () => {
  const { decision } = entry(10)
  const says = (expectedEdgeBps: number): Intent => ({
    ...entry(10),
    decision: { ...decision, expectedEdgeBps } as Intent['decision'],
  })
  expect(codeOf(says(100), 80)).toBe('admitted')
  expect(codeOf(entry(10), 1)).toBe('EDGE_TOO_SMALL')
  const far = entry(300).terms.tpsl?.[0]
  const near = entry(20).terms.tpsl?.[0]
  if (far === undefined || near === undefined) throw new Error('they are there')
  expect(codeOf(entry(undefined, { tpsl: [far, near] }), 9)).toBe('EDGE_TOO_SMALL')
})

test('an entry that says nothing of what it earns is denied, and what reduces is not asked', () => {
  expect(codeOf(entry(undefined), 1)).toBe('EDGE_UNKNOWN')
  expect(codeOf({ ...entry(undefined), kind: 'decrease' }, 1)).toBe('admitted')
  expect(checkEdge(entry(undefined), {}, view(), 0n)).toBeUndefined()
})

test('where the venue does not say its fees the highest are taken', () => {
  const market = { ...view(), impact: impactData() }
  expect(codeOf(entry(60), 40, market)).toBe('admitted')
  expect(codeOf(entry(60), 41, market)).toBe('EDGE_TOO_SMALL')
})

test('whatever it costs, what goes through earns the edge above its costs, and costs are never below nothing', () => {
  fc.assert(
    fc.property(
      fc.record({
        targetBps: fc.integer({ min: 1, max: 2_000 }),
        impactBps: fc.integer({ min: -200, max: 200 }),
        fees: fc.tuple(fc.integer({ min: 0, max: 10 }), fc.integer({ min: 0, max: 10 })),
        bpsADay: fc.integer({ min: -300, max: 300 }),
        sendingCents: fc.integer({ min: 0, max: 500 }),
        holdHours: fc.integer({ min: 1, max: 720 }),
        minBps: fc.integer({ min: 1, max: 500 }),
      }),
      ({ targetBps, impactBps, fees, bpsADay, sendingCents, holdHours, minBps }) => {
        const intent = entry(targetBps, { priceImpactBps: impactBps })
        const market = view(feeFactors(...fees), bpsADay)
        const holdMs = holdHours * 3_600_000
        const sendingUsd = (usd(1) * BigInt(sendingCents)) / 100n
        const costs = edgeCosts(intent, holdMs, market, sendingUsd)
        const parts = Object.values(costs)
        expect(parts.every((part) => part >= 0n)).toBe(true)
        const all = parts.reduce((sum, part) => sum + part, 0n)
        const denial = checkEdge(intent, { edge: { minBps, holdMs } }, market, sendingUsd)
        const left = BigInt(targetBps) * 1_000n - all
        expect(denial === undefined).toBe(left >= BigInt(minBps) * 1_000n)
      },
    ),
    { seed: 17, numRuns: 2_000 },
  )
})
