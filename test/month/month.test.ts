/**
 * Hours of every built-in kind on the paper venue, with hosts that restart and answers that are lost: no limit is violated, no position
 * is without its stop beyond the grace, no order is unexplained, and everything of perpd's own ended. `npm run strategies:table` lives
 * whole months.
 */
import { expect, test } from 'vitest'
import type { Limits } from '../../src/domain/limits/limits.ts'
import { orderTypes } from '../../src/paper/state/orderTypes.ts'
import { ofShare, shareOfChange } from '../gate/depth.ts'
import { liveMonth } from './month.ts'
import { kindNames } from './monthKinds.ts'

/** Kinds that act within such hours on the prices of the seed. */
const busy: ReadonlySet<string> = new Set(['trend', 'protector', 'signal', 'target-exposure', 'ladder'])

// Each kind takes ten seconds of a processor; of a change each third is lived.
test.each(ofShare(kindNames, shareOfChange(3)))(
  'hours of %s with faults violate nothing and leave nothing unexplained',
  {
    timeout: 900_000,
  },
  async (kind) => {
    const report = await liveMonth({ kind, seed: 1, days: 0.25, cadenceSeconds: 300 })
    expect(report.problems).toEqual([])
    expect([report.tasksBegun, report.tasksEnded]).toEqual([6, 6])
    expect(report.lost).toBeGreaterThan(0)
    expect(report.refusedIncreases.DECISION_INVALID).toBeUndefined()
    if (busy.has(kind)) expect(report.results.fills, 'orders that were executed').toBeGreaterThan(0)
  },
)

test('a stop that is gone from the venue is told of, once the grace is over', {
  timeout: 900_000,
}, async () => {
  const { problems } = await liveMonth({
    kind: 'signal',
    seed: 1,
    days: 0.06,
    cadenceSeconds: 300,
    tamper({ venueState: { orders } }) {
      for (const [key, { params }] of orders)
        if (Number(params.orderType) === orderTypes.stopLossDecrease) orders.delete(key)
    },
  })
  expect(problems.join()).toMatch(/has had no stop for 30 min/)
})

test('what an order does to the account is seen at the venue, and held against every limit that it can break', {
  timeout: 900_000,
}, async () => {
  const dollar = 10n ** 30n
  const judgedBy: Limits = {
    maxPositionSizeUsd: dollar,
    maxMarketExposureUsd: dollar,
    maxTotalExposureUsd: dollar,
    maxPositionEquityBps: 1,
    maxMarketExposureEquityBps: 1,
    maxExposureEquityBps: 1,
    maxWishEquityBps: 1,
    maxWishCollateralEquityBps: 1,
    maxOrderSizeUsd: dollar,
    minOrderSizeUsd: 1_000_000n * dollar,
    maxLeverageBps: 10_001,
    maxSlippageBps: -100,
    maxOrdersPerHour: 0,
    executionFeesPerDay: 0n,
    relayFeesPerDayUsd: 0n,
    maxCapacityShareBps: 0,
    capacityHeadroomBps: 10_000,
    minLiquidationDistanceBps: 10_000,
    maxDataAgeMs: -1,
    maxPriceDivergenceBps: -1,
  }
  const { problems } = await liveMonth({ kind: 'signal', seed: 1, days: 0.03, cadenceSeconds: 300, judgedBy })
  const told = problems.map((problem) => /h: (\w+) of the account/.exec(problem)?.[1])
  expect(Object.keys(judgedBy).filter((name) => !told.includes(name))).toEqual([])
})

test('a venue of the traded markets alone comes to the same, message by message, as one of all', {
  timeout: 900_000,
}, async () => {
  const options = { kind: 'trend', seed: 1, days: 0.1, cadenceSeconds: 300 } as const
  const [few, all] = [await liveMonth(options), await liveMonth({ ...options, hasAllMarkets: true })]
  expect(few).toEqual(all)
  expect(few.results.fills).toBeGreaterThan(0)
})
