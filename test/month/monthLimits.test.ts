/** Each limit is held against hand-made deeds: what keeps it is let pass, what breaks it is told of, and no limit is without a judge. */
import { expect, test } from 'vitest'
import { type LimitName, type Limits, limitRows } from '../../src/domain/limits/limits.ts'
import {
  admitted,
  DAY,
  ended,
  fill,
  HOUR,
  look,
  MIN,
  message,
  order,
  position,
  side,
  usd,
} from './handMadeDeeds.ts'
import { limitJudges } from './limitJudges.ts'
import type { AdmittedDeed, EndedDeed, FillDeed, LookDeed, MessageDeed } from './monthDeeds.ts'
import { createLimitJudge } from './monthLimits.ts'

/** Something that happened. */
type Deed =
  | { readonly message: MessageDeed }
  | { readonly fill: FillDeed }
  | { readonly look: LookDeed }
  | { readonly admitted: AdmittedDeed }
  | { readonly ended: EndedDeed }

/** What the judge says of deeds, with the limits of the account and of the file `one`. */
function told(deeds: readonly Deed[], account: Limits, one: Limits = {}): readonly string[] {
  const said: string[] = []
  const judge = createLimitJudge({ account, files: { one, two: {} }, say: (text) => said.push(text) })
  for (const deed of deeds) {
    if ('message' in deed) judge.message(deed.message)
    else if ('fill' in deed) judge.fill(deed.fill)
    else if ('look' in deed) judge.look(deed.look)
    else if ('admitted' in deed) judge.admitted(deed.admitted)
    else judge.ended(deed.ended)
  }
  return said
}

const repeat = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_u, i) => make(i))
const opened = { fill: fill(0) }
const worth = { look: look(0, []) }
/** The other side of the market, and another market. */
const both = [position(), position({ side: '0xaa short' })]

/** Of each limit: what it is, deeds within it, and the same a little further. */
const cases: Readonly<Record<LimitName, readonly [Limits, readonly Deed[], readonly Deed[]] | undefined>> = {
  maxPositionSizeUsd: [
    { maxPositionSizeUsd: usd(100) },
    [opened, { look: look(1, [position()]) }],
    [
      opened,
      {
        look: look(1, [position()], {
          resting: [{ side, market: '0xaa', strategy: 'one', sizeUsd: usd(1) }],
        }),
      },
    ],
  ],
  maxPositionEquityBps: [
    { maxPositionEquityBps: 1_000 },
    [opened, { look: look(1, [position()]) }],
    [opened, { look: look(1, [position()], { equityUsd: usd(900) }) }],
  ],
  maxMarketExposureUsd: [
    { maxMarketExposureUsd: usd(200) },
    [{ look: look(1, both) }],
    [{ look: look(1, [...both, position({ sizeUsd: usd(1) })]) }],
  ],
  maxMarketExposureEquityBps: [
    { maxMarketExposureEquityBps: 2_000 },
    [{ look: look(1, both) }],
    [{ look: look(1, both, { equityUsd: usd(900) }) }],
  ],
  maxTotalExposureUsd: [
    { maxTotalExposureUsd: usd(300) },
    [{ look: look(1, [...both, position({ side: '0xbb long', market: '0xbb' })]) }],
    [{ look: look(1, [...both, position({ side: '0xbb long', market: '0xbb', sizeUsd: usd(101) })]) }],
  ],
  maxExposureEquityBps: [
    { maxExposureEquityBps: 2_000 },
    [{ look: look(1, both) }],
    [{ look: look(1, [...both, position({ side: '0xbb long', market: '0xbb', sizeUsd: usd(20) })]) }],
  ],
  maxWishEquityBps: [
    { maxWishEquityBps: 1_000 },
    [worth, { message: message(1, [order()]) }],
    [worth, { message: message(1, [order({ sizeUsd: usd(120) })]) }],
  ],
  maxWishCollateralEquityBps: [
    { maxWishCollateralEquityBps: 500 },
    [worth, { message: message(1, [order()]) }],
    [worth, { message: message(1, [order({ collateralUsd: usd(60) })]) }],
  ],
  maxDailyLossUsd: [
    { maxDailyLossUsd: usd(50) },
    // A day later it may open again, and so it may until the loss can be known.
    [
      { fill: fill(HOUR, { isIncrease: false, resultUsd: -usd(60) }) },
      { message: message(HOUR + MIN, [order()]) },
      { message: message(25 * HOUR, [order()]) },
    ],
    [
      { fill: fill(HOUR, { isIncrease: false, resultUsd: -usd(60) }) },
      { message: message(2 * HOUR, [order()]) },
    ],
  ],
  maxDailyLossEquityBps: [
    { maxDailyLossEquityBps: 500 },
    [
      worth,
      { fill: fill(HOUR, { isIncrease: false, resultUsd: -usd(40) }) },
      { message: message(2 * HOUR, [order()]) },
    ],
    [
      worth,
      { fill: fill(HOUR, { isIncrease: false, resultUsd: -usd(60) }) },
      { message: message(2 * HOUR, [order()]) },
    ],
  ],
  maxOrderSizeUsd: [
    { maxOrderSizeUsd: usd(100) },
    [{ message: message(0, [order()]) }],
    [{ message: message(0, [order(), order({ sizeUsd: usd(1) })]) }],
  ],
  minOrderSizeUsd: [
    { minOrderSizeUsd: usd(10) },
    [
      { message: message(0, [order()]) },
      { message: message(0, [order({ isIncrease: false, sizeUsd: usd(5) })]) },
    ],
    [{ message: message(0, [order({ sizeUsd: usd(5) })]) }],
  ],
  maxUnboundedOrderUsd: [
    { maxUnboundedOrderUsd: usd(90) },
    [{ message: message(0, [order()]) }],
    [{ message: message(0, [order({ isUnbounded: true })]) }],
  ],
  maxLeverageBps: [
    { maxLeverageBps: 30_000 },
    // What only lost may have more.
    [
      opened,
      { look: look(1, [position({ leverageBps: 30_500 })]) },
      { look: look(2, [position({ leverageBps: 90_000 })]) },
    ],
    [opened, { look: look(1, [position({ leverageBps: 32_000 })]) }],
  ],
  maxSlippageBps: [
    { maxSlippageBps: 50 },
    [{ message: message(0, [order({ slippageBps: 90 })]) }],
    [{ message: message(0, [order({ slippageBps: 130 })]) }],
  ],
  maxOrdersPerHour: [
    { maxOrdersPerHour: 3 },
    [
      ...repeat(3, (i) => ({ message: message(i * MIN, [order()]) })),
      ...repeat(3, (i) => ({ message: message(4 * MIN + i, [order({ isIncrease: false })]) })),
      { message: message(55 * MIN, [order()]) },
    ],
    repeat(4, (i) => ({ message: message(i * MIN, [order()]) })),
  ],
  attemptsPerCause: [
    { attemptsPerCause: 3 },
    [
      ...repeat(3, (i) => ({ ended: ended(i, 'REFUSED_LOCAL A') })),
      { ended: ended(5, undefined) },
      ...repeat(3, (i) => ({ ended: ended(10 + i, 'REFUSED_LOCAL A') })),
      ...repeat(9, (i) => ({ ended: ended(20 + i, 'EXPIRED PRICE_OUT_OF_BOUNDS') })),
      ...repeat(3, (i) => ({ ended: ended(40 + i, 'REFUSED_LOCAL A', { side: '0xaa short' }) })),
    ],
    repeat(4, (i) => ({ ended: ended(i, 'REFUSED_LOCAL A') })),
  ],
  executionFeesPerDay: [
    { executionFeesPerDay: 30n },
    repeat(3, (i) => ({ message: message(i * HOUR, [order()]) })),
    repeat(4, (i) => ({ message: message(i * HOUR, [order()]) })),
  ],
  relayFeesPerDayUsd: [
    { relayFeesPerDayUsd: usd(3) },
    [
      ...repeat(3, (i) => ({ message: message(i * HOUR, [order()]) })),
      ...repeat(3, (i) => ({ message: message(4 * HOUR + i, [order({ isIncrease: false })]) })),
      { message: message(2 * DAY, [order()]) },
    ],
    repeat(4, (i) => ({ message: message(i * HOUR, [order()]) })),
  ],
  reductionFeesPerDayUsd: [
    { reductionFeesPerDayUsd: usd(3) },
    [
      ...repeat(3, (i) => ({ message: message(i * HOUR, [order({ isIncrease: false })]) })),
      ...repeat(3, (i) => ({ message: message(4 * HOUR + i, [order()]) })),
    ],
    repeat(4, (i) => ({ message: message(i * HOUR, []) })),
  ],
  maxCapacityShareBps: [
    { maxCapacityShareBps: 1_000 },
    [{ message: message(0, [order({ capacityUsd: usd(900) })]) }],
    [{ message: message(0, [order({ capacityUsd: usd(800) })]) }],
  ],
  capacityHeadroomBps: [
    { capacityHeadroomBps: 2_000 },
    [{ message: message(0, [order({ capacityUsd: usd(25) })]) }],
    [{ message: message(0, [order({ capacityUsd: usd(10) })]) }],
  ],
  minLiquidationDistanceBps: [
    { minLiquidationDistanceBps: 800 },
    [
      opened,
      { look: look(1, [position({ liquidationBps: 790 })]) },
      { look: look(2, [position({ liquidationBps: 20 })]) },
    ],
    [opened, { look: look(1, [position({ liquidationBps: 700 })]) }],
  ],
  maxDataAgeMs: [
    { maxDataAgeMs: 15_000 },
    [
      { admitted: admitted(0) },
      { admitted: admitted(1, { kind: 'close', ageMs: { ticker: 30_000, oracle: 2_000, account: 2_000 } }) },
    ],
    [{ admitted: admitted(0, { ageMs: { ticker: 2_000, oracle: 2_000, account: 15_001 } }) }],
  ],
  maxTickerAgeMs: [
    { maxTickerAgeMs: 5_000 },
    [{ admitted: admitted(0, { ageMs: { ticker: 5_000, oracle: 9_000, account: 9_000 } }) }],
    [{ admitted: admitted(0, { ageMs: { ticker: 5_001, oracle: 2_000, account: 2_000 } }) }],
  ],
  maxCapacityAgeMs: [
    { maxCapacityAgeMs: 5_000 },
    [{ admitted: admitted(0, { ageMs: { ticker: 5_000, oracle: 9_000, account: 9_000 } }) }],
    [{ admitted: admitted(0, { ageMs: { ticker: 5_001, oracle: 2_000, account: 2_000 } }) }],
  ],
  maxOracleAgeMs: [
    { maxOracleAgeMs: 5_000 },
    [{ admitted: admitted(0, { ageMs: { ticker: 9_000, oracle: 5_000, account: 9_000 } }) }],
    [{ admitted: admitted(0, { ageMs: { ticker: 2_000, oracle: 5_001, account: 2_000 } }) }],
  ],
  maxAccountAgeMs: [
    { maxAccountAgeMs: 5_000 },
    [{ admitted: admitted(0, { ageMs: { ticker: 9_000, oracle: 9_000, account: 5_000 } }) }],
    [{ admitted: admitted(0, { ageMs: { ticker: 2_000, oracle: 2_000, account: 5_001 } }) }],
  ],
  maxPriceDivergenceBps: [
    { maxPriceDivergenceBps: 100 },
    [
      { admitted: admitted(0, { divergenceBps: 100 }) },
      { admitted: admitted(0, { kind: 'close', divergenceBps: 300 }) },
    ],
    [{ admitted: admitted(0, { divergenceBps: 101 }) }],
  ],
  maxClockSkewMs: undefined,
  reduceAgainAfterMs: [
    { reduceAgainAfterMs: 10 * MIN },
    [
      { admitted: admitted(0, { kind: 'close' }) },
      { ended: ended(1, undefined, { intentId: 'at 0', kind: 'close' }) },
      { admitted: admitted(MIN, { kind: 'close' }) },
      { admitted: admitted(2 * MIN, { kind: 'decrease', isMarket: false }) },
      { admitted: admitted(12 * MIN, { kind: 'close' }) },
    ],
    [{ admitted: admitted(0, { kind: 'close' }) }, { admitted: admitted(MIN, { kind: 'decrease' }) }],
  ],
}

test('every limit has a judge, or a reason why a month cannot show it', () => {
  for (const [name] of limitRows) {
    const { unseen, ...checks } = limitJudges[name]
    expect(Object.keys(checks).length > 0 !== (unseen !== undefined), name).toBe(true)
    expect(cases[name] === undefined, name).toBe(unseen !== undefined)
  }
})

test.each(limitRows.map(([name]) => name).filter((name) => cases[name] !== undefined))(
  '%s lets pass what keeps it and tells what breaks it, of the account and of a file',
  (name) => {
    const [limits = {}, kept = [], broken = []] = cases[name] ?? []
    expect(told(kept, limits)).toEqual([])
    expect(told(broken, limits).join()).toMatch(new RegExp(`^${name} of the account`))
    expect(told(kept, {}, limits)).toEqual([])
    // A file has no sum over what it did not open itself.
    if (!/Exposure/.test(name)) expect(told(broken, {}, limits).join()).toMatch(new RegExp(`^${name} of one`))
  },
)

test('a file is judged by its own part, and by no order of another', () => {
  const limits = { maxPositionSizeUsd: usd(100), maxOrdersPerHour: 1 }
  const deeds: Deed[] = [
    { fill: fill(0) },
    { fill: fill(1, { strategy: 'two', sizeUsd: usd(300) }) },
    { message: message(2, [order()], { strategy: 'two' }) },
    { message: message(3, [order()], { strategy: 'two' }) },
    { look: look(4, [position({ sizeUsd: usd(400) })]) },
  ]
  expect(told(deeds, {}, limits)).toEqual([])
  expect(told(deeds, limits)).toHaveLength(2)
  // A decrease of nobody's own takes from both by their parts: 100 of 400 leaves 75, and 26 more are one too many.
  const after: Deed[] = [
    ...deeds,
    { fill: fill(5, { strategy: undefined, isIncrease: false }) },
    { fill: fill(6, { sizeUsd: usd(26) }) },
    { look: look(7, [position({ sizeUsd: usd(326) })]) },
  ]
  expect(told(after, {}, limits).join()).toMatch(/^maxPositionSizeUsd of one .*is \$101/)
})

test('after a drawdown of the account nothing is opened any more, and what reduces goes on', () => {
  const said: string[] = []
  const judge = createLimitJudge({
    account: {},
    files: { one: {} },
    maxDrawdownBps: 2_000,
    say: (text) => said.push(text),
  })
  judge.look(look(0, [], { equityUsd: usd(1_000) }))
  judge.look(look(HOUR, [], { equityUsd: usd(850) }))
  judge.message(message(2 * HOUR, [order()]))
  judge.look(look(3 * HOUR, [], { equityUsd: usd(700) }))
  judge.look(look(4 * HOUR, [], { equityUsd: usd(990) }))
  judge.message(message(5 * HOUR, [order({ isIncrease: false })]))
  expect(said).toEqual([])
  judge.message(message(6 * HOUR, [order()]))
  expect(said.join()).toMatch(/^opened after the account had fallen by 3000 bps/)
})

test('a message that nobody asked for is told of', () => {
  expect(told([{ message: message(0, [order()], { strategy: undefined }) }], {})).toHaveLength(1)
})
