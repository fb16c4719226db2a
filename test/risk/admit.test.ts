import { expect, test } from 'vitest'
import type { Decision } from '../../src/domain/order/decision.ts'
import type { Denial, IntentState } from '../../src/domain/order/intent.ts'
import type { LaneName } from '../../src/domain/order/laneTable.ts'
import { usd } from '../../src/protocol/units.ts'
import { admit } from '../../src/risk/admit.ts'
import type { AdmissionContext } from '../../src/risk/exposure/admissionContext.ts'
import { armedFacts } from '../support/intents.ts'
import {
  close,
  type DeskParts,
  decrease,
  desk,
  increase,
  intentState,
  MARKET,
  marketView,
  NOW_MS,
  OTHER_MARKET,
  oraclePrice,
  position,
  snapshot,
  ticker,
  USDC,
  WETH,
} from './world.ts'

const held = snapshot({ positions: [position()] })

/** A reduction whose message is signed, and nobody has seen it in a block. */
function unproven(
  intentId: string,
  agoMs: number,
  decision: Decision = close(),
  lane: LaneName = 'order-chain',
): IntentState {
  const state = intentState({ intentId, decision, acceptedAtMs: NOW_MS - agoMs })
  const attempt = { n: 1, lane, host: 'one', phase: 'ACKED', armed: armedFacts(), children: [] } as const
  return {
    ...state,
    intent: { ...state.intent, lane },
    attempts: [{ ...attempt, armedAtMs: NOW_MS - agoMs }],
  }
}

function codeOf(decision: Decision, world: AdmissionContext): string {
  const admission = admit(decision, world)
  return admission.kind === 'denial' ? admission.denial.code : 'admitted'
}

test('an increase within all limits becomes a whole intent with its reservation', () => {
  expect(admit(increase(), desk())).toEqual({
    kind: 'intent',
    intent: {
      intentId: 'intent-9',
      decisionKey: 'eth-trend:1800000000000:0',
      strategy: 'eth-trend',
      account: '0x1111111111111111111111111111111111111111',
      chain: 'arbitrum',
      lane: 'order-chain',
      kind: 'increase',
      decision: increase(),
      terms: {
        orderType: 'market',
        symbol: 'ETH/USD [WETH-USDC]',
        marketToken: MARKET,
        indexToken: { symbol: 'ETH', address: WETH, decimals: 18 },
        direction: 'long',
        collateralToken: { symbol: 'USDC', address: USDC, decimals: 6 },
        sizeDeltaUsd: usd(1000),
        collateralDelta: 200_060_019n,
        keepLeverage: false,
        slippageBps: 100,
        referencePrice: usd(2001),
      },
      sizing: {
        wantedUsd: usd(1000),
        sizeDeltaUsd: usd(1000),
        basis: 'availableLiquidity',
        capacityUsd: usd(100_000),
        roomUsd: usd(100_000),
        cuts: [],
        dataAgeMs: 0,
      },
      reservationUsd: usd(1000),
      expiresAtMs: NOW_MS + 60_000,
      acceptedAtMs: NOW_MS,
    },
  })
})

test('a close becomes an intent without reservation, of the position exactly', () => {
  const admission = admit(close(), desk({ snapshot: held }))
  expect(admission).toMatchObject({
    kind: 'intent',
    intent: {
      kind: 'close',
      reservationUsd: 0n,
      terms: { sizeDeltaUsd: usd(1000), collateralDelta: 0n, referencePrice: usd(1999) },
    },
  })
})

test('clocks that are too far apart deny what adds risk, whichever is ahead, and say how to find out which is wrong', () => {
  for (const clockSkewMs of [30_001, -30_001]) {
    const admission = admit(increase(), desk({ clockSkewMs }))
    expect(admission).toMatchObject({ denial: { code: 'CLOCK_SKEW', wanted: '30001 ms apart' } })
    const { reason } = (admission as { readonly denial: Denial }).denial
    expect(reason).toContain('perpd doctor')
    expect(reason).toContain('when a second host responds')
    expect(codeOf(close(), desk({ clockSkewMs, snapshot: held }))).toBe('admitted')
  }
  expect(codeOf(increase(), desk({ clockSkewMs: 30_000 }))).toBe('admitted')
})

test('halted denies everything, reducing only what adds risk', () => {
  expect(codeOf(increase(), desk({ tradingState: 'halted' }))).toBe('TRADING_HALTED')
  expect(codeOf(close(), desk({ tradingState: 'halted', snapshot: held }))).toBe('TRADING_HALTED')
  expect(codeOf(increase(), desk({ tradingState: 'reducing' }))).toBe('TRADING_REDUCING')
  expect(codeOf(close(), desk({ tradingState: 'reducing', snapshot: held }))).toBe('admitted')
})

test('a market that is closed, unknown or delisted can be left but not entered', () => {
  for (const status of ['closed', 'unknown'] as const) {
    const world = desk({ snapshot: snapshot({ view: marketView({ status }), positions: [position()] }) })
    expect(codeOf(increase(), world)).toBe('MARKET_NOT_OPEN')
    expect(codeOf(close(), world)).toBe('admitted')
  }
  const view = marketView()
  const delisted = { ...view, market: { ...view.market, isListed: false } }
  const world = desk({ snapshot: snapshot({ view: delisted, positions: [position()] }) })
  expect(codeOf(increase(), world)).toBe('MARKET_NOT_LISTED')
  expect(codeOf(close(), world)).toBe('admitted')
  expect(codeOf(increase({ marketToken: OTHER_MARKET }), world)).toBe('MARKET_UNKNOWN')
})

test('one open increase holds its slot; the other side and reductions are free', () => {
  const world = desk({ snapshot: held, intents: [intentState()] })
  expect(admit(increase(), world)).toEqual({
    kind: 'denial',
    denial: {
      code: 'SLOT_BUSY',
      reason:
        'Intent intent-1 of eth-trend still holds this side of the market; a second increase waits for its end.',
      wanted: '1 more open increase',
      allowed: '1 open increase at a time',
    },
  })
  expect(codeOf(increase({ direction: 'short' }), world)).toBe('admitted')
  expect(codeOf(close(), world)).toBe('admitted')
})

test('an unresolved reduction keeps another one away for its time, then no longer; increases wait for its end', () => {
  const limits = { reduceAgainAfterMs: 60_000 }
  const flying = (agoMs: number) =>
    desk({
      snapshot: held,
      limits,
      intents: [intentState({ decision: decrease(usd(500)), acceptedAtMs: NOW_MS - agoMs })],
    })
  expect(admit(close(), flying(59_999))).toMatchObject({
    denial: { code: 'REDUCE_IN_FLIGHT', wanted: 'again after 59999 ms', allowed: 'again after 60000 ms' },
  })
  expect(codeOf(close(), flying(60_000))).toBe('admitted')
  expect(codeOf(increase(), flying(600_000))).toBe('REDUCE_IN_FLIGHT')
})

test('a whole close goes on after 15 s for messages that are withheld, three at a time; parts and increases wait', () => {
  const world = (...intents: readonly IntentState[]) =>
    desk({ snapshot: held, intents, withheldMs: 15_000, closeLanes: ['relay', 'order-chain'] })
  const one = unproven('one', 15_000, close(), 'relay')
  expect(codeOf(close(), world(unproven('one', 14_999)))).toBe('REDUCE_IN_FLIGHT')
  expect(admit(close(), world(one))).toMatchObject({
    intent: { kind: 'close', lane: 'order-chain', goesOnFor: ['one'] },
  })
  expect(admit(close(), world())).toMatchObject({ intent: { lane: 'relay' } })
  expect(admit(close(), world(unproven('part', 20_000, decrease(usd(500)))))).toMatchObject({
    intent: { goesOnFor: ['part'] },
  })
  expect(codeOf(decrease(usd(500)), world(one))).toBe('REDUCE_IN_FLIGHT')
  expect(codeOf(increase(), world(one))).toBe('REDUCE_IN_FLIGHT')
  const two = unproven('two', 20_000)
  expect(codeOf(close(), world(one, two))).toBe('admitted')
  expect(codeOf(close(), world(one, unproven('two', 2_000)))).toBe('REDUCE_IN_FLIGHT')
  expect(codeOf(close(), world(one, two, unproven('three', 20_000)))).toBe('REDUCE_IN_FLIGHT')
})

const orderKey = `0x${'0d'.repeat(32)}` as const

/** A reduction that executed so long ago, in a block that is not final yet; the list shows it, or does not. */
function executedPart(agoMs: number, isListed: boolean): IntentState {
  const state = intentState({ decision: decrease(usd(500)), orderKey, acceptedAtMs: NOW_MS - agoMs })
  const timestampSeconds = position().increasedAtSeconds + (isListed ? 0 : 1)
  const children = [
    {
      index: 0,
      orderKey,
      phase: 'EXECUTED',
      role: 'main',
      evidence: { level: 'chain-latest', atMs: NOW_MS, statement: 'executed' },
      settlement: { sizeDeltaUsd: usd(500), timestampSeconds },
    },
  ] as const
  return { ...state, attempts: state.attempts.map((attempt) => ({ ...attempt, children })) }
}

test('a whole close goes after 15 s beside reductions that executed and that nothing proves final, however many; after 30 s where no list shows them', () => {
  const world = (...intents: readonly IntentState[]) => desk({ snapshot: held, intents, withheldMs: 15_000 })
  expect(codeOf(close(), world(executedPart(14_999, true)))).toBe('REDUCE_IN_FLIGHT')
  const admitted = admit(close(), world(executedPart(15_000, true)))
  expect(admitted).toMatchObject({ intent: { kind: 'close' } })
  expect(admitted).not.toHaveProperty('intent.goesOnFor')
  expect(codeOf(close(), world(executedPart(29_999, false)))).toBe('REDUCE_IN_FLIGHT')
  expect(codeOf(close(), world(executedPart(30_000, false)))).toBe('admitted')
  const parts = [20_000, 21_000, 22_000, 23_000].map((agoMs) => executedPart(agoMs, true))
  expect(codeOf(close(), world(...parts))).toBe('admitted')
  // Each further message that may still land waits for itself; parts and increases wait for the proof.
  expect(codeOf(close(), world(...parts, unproven('late', 2_000)))).toBe('REDUCE_IN_FLIGHT')
  expect(codeOf(decrease(usd(500)), world(executedPart(20_000, true)))).toBe('REDUCE_IN_FLIGHT')
  expect(codeOf(increase(), world(executedPart(20_000, true)))).toBe('REDUCE_IN_FLIGHT')
})

test('the hourly budget counts the strategy and the account, and leaves reductions as much again', () => {
  const limits = { maxOrdersPerHour: 5 }
  const accountLimits = { maxOrdersPerHour: 20 }
  const at = (strategy: number, account: number, own: DeskParts = { accountLimits }) =>
    desk({ snapshot: held, limits, acceptedLastHour: { strategy, account }, ...own })
  expect(codeOf(increase(), at(4, 19))).toBe('admitted')
  expect(codeOf(increase(), at(5, 5))).toBe('ORDERS_PER_HOUR')
  expect(codeOf(increase(), at(0, 20))).toBe('ORDERS_PER_HOUR')
  // Without the account's own limits the tightened ones stand in: stricter, never looser.
  expect(codeOf(increase(), at(0, 5, {}))).toBe('ORDERS_PER_HOUR')
  expect(codeOf(close(), at(9, 9))).toBe('admitted')
  expect(admit(close(), at(10, 10))).toMatchObject({
    denial: { code: 'ORDERS_PER_HOUR', wanted: 'order 11 in an hour', allowed: '10 in an hour' },
  })
})

test('every reading an increase stands on must be fresh; a reduction may stand on older ones', () => {
  const limits = { maxDataAgeMs: 10_000 }
  const late = NOW_MS - 10_001
  const fresh = marketView()
  const stale = [
    snapshot({ positionsAtMs: late }),
    snapshot({ view: { ...fresh, ticker: { value: ticker(), atMs: late } } }),
    snapshot({ view: { ...fresh, oraclePrice: { value: oraclePrice(), atMs: late } } }),
    snapshot({ view: marketView({ capacityLong: { ...capacityOfLong(fresh), atMs: late } }) }),
  ]
  for (const world of stale) {
    expect(codeOf(increase(), desk({ snapshot: world, limits }))).toBe('DATA_TOO_OLD')
    const withPosition = { ...world, positions: { ...world.positions, value: [position()] } }
    expect(codeOf(close(), desk({ snapshot: withPosition, limits }))).toBe('admitted')
  }
  const veryLate = snapshot({
    view: { ...fresh, oraclePrice: { value: oraclePrice(), atMs: NOW_MS - 40_001 } },
    positions: [position()],
  })
  expect(admit(close(), desk({ snapshot: veryLate, limits }))).toEqual({
    kind: 'denial',
    denial: {
      code: 'DATA_TOO_OLD',
      reason: 'The oracle price of ETH/USD [WETH-USDC] is too old to act on.',
      wanted: '40001 ms old',
      allowed: 'at most 40000 ms',
    },
  })
  const { ticker: _, ...blind } = fresh
  expect(admit(increase(), desk({ snapshot: snapshot({ view: blind }) }))).toMatchObject({
    denial: { code: 'DATA_MISSING', wanted: 'ticker' },
  })
})

test('two sources that disagree on the price stop increases only', () => {
  const limits = { maxPriceDivergenceBps: 50 }
  const apart = (markPrice: bigint) =>
    desk({
      limits,
      snapshot: snapshot({
        view: marketView({ ticker: { value: ticker({ markPrice }), atMs: NOW_MS } }),
        positions: [position()],
      }),
    })
  expect(codeOf(increase(), apart(usd(2010)))).toBe('admitted')
  expect(admit(increase(), apart(usd(2010) + 1n))).toMatchObject({
    denial: {
      code: 'PRICE_DIVERGENCE',
      reason: 'Two sources disagree on the price of ETH; nothing is added until they agree.',
      wanted: 'mark $2,010.00, oracle median $2,000.00',
      allowed: 'at most 50 bps apart',
    },
  })
  expect(codeOf(increase(), apart(usd(1990) - 1n))).toBe('PRICE_DIVERGENCE')
  expect(codeOf(close(), apart(usd(3000)))).toBe('admitted')
})

test('the legacy capacity fields of a ticker cannot sway a size, even when smuggled in', () => {
  const legacy = { ...ticker(), availableLiquidityLong: usd(1), availableLiquidityShort: -usd(1) }
  const world = snapshot({ view: marketView({ ticker: { value: legacy, atMs: NOW_MS } }) })
  expect(admit(increase(), desk({ snapshot: world }))).toEqual(admit(increase(), desk()))
})

test('two decisions of one tick cannot spend the same room when the book is folded between them', () => {
  const limits = { maxTotalExposureUsd: usd(1500) }
  const first = admit(increase(), desk({ limits }))
  if (first.kind !== 'intent') throw new Error('the first one fits')
  const intents = [{ intent: first.intent, attempts: [], updatedAtMs: NOW_MS }]
  const second = admit(increase({ direction: 'short' }), desk({ limits, intents }))
  expect(second).toMatchObject({ kind: 'intent', intent: { reservationUsd: usd(500) } })
})

test('slippage wider than may be signed is denied, for reductions too', () => {
  const limits = { maxSlippageBps: 99 }
  expect(codeOf(close(), desk({ snapshot: held, limits }))).toBe('SLIPPAGE_TOO_WIDE')
  expect(codeOf(increase(), desk({ slippageBps: 1.5 }))).toBe('SLIPPAGE_TOO_WIDE')
  expect(codeOf(increase(), desk({ slippageBps: 10_000 }))).toBe('SLIPPAGE_TOO_WIDE')
})

function capacityOfLong(view: ReturnType<typeof marketView>) {
  if (view.capacityLong === undefined) throw new Error('the test market has a capacity')
  return view.capacityLong
}

test('a wish many times the equity is denied by its own code, and one at the multiple is cut as ever', () => {
  const limits = {
    maxOrderSizeUsd: usd(500),
    maxWishEquityBps: 500_000,
    maxWishCollateralEquityBps: 100_000,
  }
  const world = { limits, equityUsd: usd(1_000) }
  const bySize = (size: string) => increase({ sizeDeltaUsd: usd(size), leverageBps: 100_000 })
  expect(admit(bySize('50000'), desk(world))).toMatchObject({
    kind: 'intent',
    intent: { terms: { sizeDeltaUsd: usd(500) } },
  })
  expect(admit(bySize('50000.01'), desk(world))).toEqual({
    kind: 'denial',
    denial: {
      code: 'WISH_ABOVE_EQUITY',
      reason:
        'The requested size is more than 50 times the equity ($1,000.00); perpd denies it as a mistake instead of cutting it.',
      wanted: '$50,000.01',
      allowed: '$50,000.00',
    },
  })
  const worthOf = (equityAgeMs: number) => {
    const { denial } = admit(bySize('50000.01'), desk({ ...world, equityAgeMs })) as { denial: Denial }
    return /\(.*\)/.exec(denial.reason)?.[0]
  }
  expect(worthOf(5_000)).toBe('($1,000.00)')
  expect(worthOf(26_000)).toBe('($1,000.00, 26 s ago)')
  const byCollateral = (size: string) => increase({ sizeDeltaUsd: usd(size), leverageBps: 20_000 })
  expect(codeOf(byCollateral('20000'), desk(world))).toBe('admitted')
  expect(admit(byCollateral('20000.02'), desk(world))).toMatchObject({
    denial: { code: 'WISH_ABOVE_EQUITY', wanted: '$10,000.01', allowed: '$10,000.00' },
  })
  // Less risk is never too much, and without a figure the caps alone hold.
  expect(codeOf(decrease(usd(90_000)), desk({ ...world, snapshot: held }))).toBe('admitted')
  expect(codeOf(bySize('90000'), desk({ limits }))).toBe('admitted')
  expect(codeOf(bySize('1'), desk({ ...world, equityUsd: -usd(5) }))).toBe('WISH_ABOVE_EQUITY')
})
