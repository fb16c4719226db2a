/** The market model against contract results, to the last unit (test/fixtures/math, a few of the public vectors). */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { borrowingFactorPerSecond } from '../../src/paper/model/borrowing.ts'
import { tradingCapacity } from '../../src/paper/model/capacity.ts'
import { decreasePosition } from '../../src/paper/model/decrease.ts'
import { fundingStep } from '../../src/paper/model/funding.ts'
import { executionOfIncrease, impactCurveUsd } from '../../src/paper/model/impact.ts'
import { accrue, increasePosition } from '../../src/paper/model/increase.ts'
import {
  cloneMarket,
  emptyMarket,
  type MarketPrices,
  type MarketSettings,
  type MarketState,
  type PricePair,
  type Side,
} from '../../src/paper/model/market.ts'
import { checkLiquidation, type PositionState } from '../../src/paper/model/position.ts'
import { ProtocolRevert } from '../../src/paper/model/revert.ts'
import type { Any } from './support.ts'

const fixture: Record<string, { id: string; input: Any; expected: Any }[]> = JSON.parse(
  readFileSync(new URL('../fixtures/math/model.json', import.meta.url), 'utf8'),
)

const big = (value: Any): bigint => BigInt(value ?? 0)
const sides = ['long', 'short'] as const

function pair(token: Any): PricePair {
  if (token === undefined) return { min: 1n, max: 1n }
  const scale = 10n ** BigInt(token.decimals)
  return { min: big(token.minPrice) / scale, max: big(token.maxPrice) / scale }
}

const pricesOf = (market: Any): MarketPrices => ({
  index: pair(market.indexToken),
  long: pair(market.longToken),
  short: pair(market.shortToken),
})

/** Settings of a vector; a field that it gives for one side counts for both. */
function settingsOf(market: Any, input: Any = {}): MarketSettings {
  const bySide = (name: string) => ({
    long: big(market[`${name}Long`] ?? market[`${name}Short`]),
    short: big(market[`${name}Short`] ?? market[`${name}Long`]),
  })
  return {
    isSameCollaterals: market.isSameCollaterals === true,
    isSpotOnly: market.isSpotOnly === true,
    useOpenInterestInTokensForBalance: market.useOpenInterestInTokensForBalance === true,
    skipBorrowingFeeForSmallerSide: market.skipBorrowingFeeForSmallerSide === true,
    hasVirtualInventory: market.hasVirtualInventory === true,
    reserveFactor: bySide('reserveFactor'),
    openInterestReserveFactor: bySide('openInterestReserveFactor'),
    maxOpenInterest: bySide('maxOpenInterest'),
    maxPnlFactorForTraders: bySide('maxPnlFactorForTraders'),
    positionImpactFactorPositive: big(market.positionImpactFactorPositive),
    positionImpactFactorNegative: big(market.positionImpactFactorNegative),
    positionImpactExponentFactorPositive: big(market.positionImpactExponentFactorPositive),
    positionImpactExponentFactorNegative: big(market.positionImpactExponentFactorNegative),
    maxPositionImpactFactorPositive: big(market.maxPositionImpactFactorPositive),
    maxPositionImpactFactorNegative: big(market.maxPositionImpactFactorNegative),
    maxPositionImpactFactorForLiquidations: big(market.maxPositionImpactFactorForLiquidations),
    maxLendableImpactFactor: big(market.maxLendableImpactFactor),
    maxLendableImpactUsd: big(market.maxLendableImpactUsd),
    positionFeeFactorForBalanceWasImproved: big(market.positionFeeFactorForBalanceWasImproved),
    positionFeeFactorForBalanceWasNotImproved: big(market.positionFeeFactorForBalanceWasNotImproved),
    liquidationFeeFactor: big(market.liquidationFeeFactor),
    feeReceiverFactor: big(input.receiverFactors?.position),
    minCollateralFactor: big(market.minCollateralFactor),
    minCollateralFactorForLiquidation: big(market.minCollateralFactorForLiquidation),
    minCollateralFactorForOpenInterest: { long: 0n, short: 0n },
    minCollateralUsd: big(input.minCollateralUsd),
    minPositionSizeUsd: big(input.minPositionSizeUsd),
    fundingFactor: big(market.fundingFactor),
    fundingExponentFactor: big(market.fundingExponentFactor),
    fundingIncreaseFactorPerSecond: big(market.fundingIncreaseFactorPerSecond),
    fundingDecreaseFactorPerSecond: big(market.fundingDecreaseFactorPerSecond),
    minFundingIncreaseRatePerSecond: big(market.minFundingIncreaseRatePerSecond),
    thresholdForStableFunding: big(market.thresholdForStableFunding),
    thresholdForDecreaseFunding: big(market.thresholdForDecreaseFunding),
    minFundingFactorPerSecond: bySide('minFundingFactorPerSecond'),
    maxFundingFactorPerSecond: bySide('maxFundingFactorPerSecond'),
    optimalUsageFactor: bySide('optimalUsageFactor'),
    baseBorrowingFactor: bySide('baseBorrowingFactor'),
    aboveOptimalUsageBorrowingFactor: bySide('aboveOptimalUsageBorrowingFactor'),
    borrowingFactor: bySide('borrowingFactor'),
    borrowingExponentFactor: bySide('borrowingExponentFactor'),
    swapFeeFactor: 0n,
  }
}

/** Open interest of a vector by side and collateral; single-token values come halved, the state keeps them whole. */
function setOpenInterest(state: MarketState, market: Any, isSame: boolean): void {
  for (const side of sides) {
    for (const [field, name] of [
      ['interestUsd', 'InterestUsd'],
      ['interestInTokens', 'InterestInTokens'],
    ] as const) {
      const long = big(market[`${side}${name}UsingLongToken`] ?? market[`${side}${name}`])
      const short = big(market[`${side}${name}UsingShortToken`])
      state[side][field] = isSame ? [long + short, 0n] : [long, short]
    }
  }
}

function stateOf(market: Any): MarketState {
  const state = emptyMarket()
  const isSame = market.isSameCollaterals === true
  setOpenInterest(state, market, isSame)
  const pools: [bigint, bigint] = [big(market.longPoolAmount), big(market.shortPoolAmount)]
  state.pool = isSame ? [pools[0] + pools[1], 0n] : pools
  state.positionImpactPoolAmount = big(market.positionImpactPoolAmount)
  state.lentPositionImpactPoolAmount = big(market.lentPositionImpactPoolAmount)
  state.savedFundingFactorPerSecond = big(market.savedFundingFactorPerSecond)
  state.virtualInventory = {
    usd: big(market.virtualInventoryForPositions),
    tokens: big(market.virtualInventoryForPositionsInTokens),
  }
  state.long.cumulativeBorrowingFactor = big(market.cumulativeBorrowingFactorLong)
  state.short.cumulativeBorrowingFactor = big(market.cumulativeBorrowingFactorShort)
  return state
}

/** Bigints as the fixtures write them; only the fields that the fixture names. */
function shown(actual: Record<string, unknown>, expected: Any): Record<string, unknown> {
  return Object.fromEntries(
    Object.keys(expected)
      .filter((name) => name in actual)
      .map((name) => [name, typeof actual[name] === 'bigint' ? String(actual[name]) : actual[name]]),
  )
}

function each(name: string, run: (input: Any) => Record<string, unknown>, atLeast = 1): void {
  test(`${name} gives the contract's numbers`, () => {
    for (const vector of fixture[name] ?? []) {
      const actual = shown(run(vector.input), vector.expected)
      expect(Object.keys(actual).length).toBeGreaterThanOrEqual(atLeast)
      expect(actual, vector.id).toEqual(shown(vector.expected, actual))
    }
  })
}

each('impactCurveUsd', (input) => ({
  impactUsd: impactCurveUsd(big(input.diffUsd), big(input.impactFactor), big(input.impactExponentFactor)),
}))

each('borrowingFactorPerSecond', ({ market, isLong }) => ({
  borrowingFactorPerSecond: borrowingFactorPerSecond(
    settingsOf(market),
    stateOf(market),
    isLong ? 'long' : 'short',
    pricesOf(market),
  ),
}))

each('executionPriceIncrease', ({ market, isLong, sizeDeltaUsd, acceptablePrice }) => {
  const scale = 10n ** BigInt(market.indexToken.decimals)
  const acceptable = acceptablePrice === null ? undefined : big(acceptablePrice) / scale
  const side: Side = isLong ? 'long' : 'short'
  const { executionPrice, sizeDeltaInTokens, impactUsd, impactAmount, balanceWasImproved } =
    executionOfIncrease(
      settingsOf(market),
      stateOf(market),
      side,
      big(sizeDeltaUsd),
      acceptable,
      pricesOf(market),
    )
  return {
    executionPrice: executionPrice * scale,
    sizeDeltaInTokens,
    balanceWasImproved,
    priceImpactUsd: impactUsd,
    priceImpactAmount: impactAmount,
  }
})

each('nextFundingAmountPerSize', ({ market, savedFundingFactorPerSecond, durationInSeconds }) => {
  const state = stateOf({ ...market, savedFundingFactorPerSecond })
  const step = fundingStep(settingsOf(market), state, pricesOf(market), big(durationInSeconds))
  return {
    fundingFactorPerSecond: step.factorPerSecond,
    nextSavedFundingFactorPerSecond: step.saved,
    longsPayShorts: step.longsPayShorts,
    feePerSizeLongWithLongToken: step.fee.long[0],
    feePerSizeLongWithShortToken: step.fee.long[1],
    feePerSizeShortWithLongToken: step.fee.short[0],
    feePerSizeShortWithShortToken: step.fee.short[1],
    claimablePerSizeLongInLongToken: step.claimable.long[0],
    claimablePerSizeShortInShortToken: step.claimable.short[1],
  }
})

each('tradingCapacity', ({ market, isLong, maxReservedUsdWithJit }) => {
  const whole = { shortToken: market.longToken, longToken: market.shortToken, ...market }
  const { openInterestRoom: _room, ...capacity } = tradingCapacity(
    settingsOf(whole),
    stateOf(whole),
    isLong ? 'long' : 'short',
    pricesOf(whole),
    maxReservedUsdWithJit === null ? undefined : big(maxReservedUsdWithJit),
  )
  return capacity
})

each('isPositionLiquidatable', (input) => {
  const { market, position, forLiquidation, validateMinCollateralUsd } = input
  const side: Side = position.isLong ? 'long' : 'short'
  const slot = position.collateralIsLongToken ? 0 : 1
  const state = stateOf(market)
  state[side].cumulativeBorrowingFactor = big(position.cumulativeBorrowingFactor)
  state[side].fundingFeePerSize[slot] = big(position.latestFundingFeeAmountPerSize)
  const check = checkLiquidation(
    settingsOf(market, input),
    state,
    {
      side,
      slot,
      sizeInUsd: big(position.sizeInUsd),
      sizeInTokens: big(position.sizeInTokens),
      collateralAmount: big(position.collateralAmount),
      pendingImpactAmount: big(position.pendingImpactAmount),
      borrowingFactor: big(position.borrowingFactor),
      fundingFeeAmountPerSize: big(position.fundingFeeAmountPerSize),
      claimablePerSize: [0n, 0n],
      increasedAtSeconds: 0,
      decreasedAtSeconds: 0,
    },
    pricesOf(market),
    { forLiquidation, checkMinCollateralUsd: validateMinCollateralUsd },
  )
  return { ...check }
})

/** One step of a life cycle on a draft; a revert changes nothing. */
function runStep(
  input: Any,
  step: Any,
  state: MarketState,
  position: PositionState | undefined,
  now: number,
) {
  const { market } = input
  const settings = settingsOf(market, input)
  const side: Side = input.isLong ? 'long' : 'short'
  const scaled = ([low, high]: [string, string], decimals: number): PricePair => ({
    min: big(low) / 10n ** BigInt(decimals),
    max: big(high) / 10n ** BigInt(decimals),
  })
  const long = step.longPrice ?? step.indexPrice
  const prices: MarketPrices = {
    index: scaled(step.indexPrice, market.decimals.index),
    long: scaled(long, market.decimals.long),
    short: scaled(step.shortPrice ?? long, market.decimals.short),
  }
  const draft = cloneMarket(state)
  const scale = 10n ** BigInt(market.decimals.index)
  const ui = step.uiFeeFactor === undefined ? {} : { uiFeeFactor: big(step.uiFeeFactor) }
  const amounts = { sizeDeltaUsd: big(step.sizeDeltaUsd), collateralAmount: big(step.collateralDeltaAmount) }
  try {
    if (step.op === 'setOpenInterest') {
      accrue(settings, draft, prices, now)
      setOpenInterest(draft, { ...step, ...step.openInterest }, settings.isSameCollaterals)
      return { draft, position, result: {} }
    }
    if (step.op === 'increase') {
      const slot = input.collateralIsLongToken ? 0 : 1
      const done = increasePosition(settings, draft, position, { side, slot, ...amounts, ...ui }, prices, now)
      const { execution } = done
      return {
        draft,
        position: done.position,
        result: {
          executionPrice: execution.executionPrice * scale,
          priceImpactUsd: execution.impactUsd,
          pendingImpactAmountDelta: execution.impactAmount,
          sizeDeltaInTokens: execution.sizeDeltaInTokens,
          collateralDeltaAmount: done.collateralDeltaAmount,
        },
      }
    }
    if (position === undefined) throw new Error('the fixture decreases no position')
    const kind = step.op === 'liquidate' ? 'liquidation' : 'market'
    const done = decreasePosition(settings, draft, position, { ...amounts, kind, ...ui }, prices, now)
    const { position: after, fees: _fees, ...result } = done
    return { draft, position: after, result: { ...result, executionPrice: done.executionPrice * scale } }
  } catch (error) {
    if (!(error instanceof ProtocolRevert)) throw error
    return { draft: state, position, result: { revert: error.errorName } }
  }
}

test('whole lives of positions end at the contract numbers, step by step', () => {
  for (const { id, input, expected } of fixture.positionLifecycle ?? []) {
    let state = stateOf(input.market)
    state.fundingUpdatedAtSeconds = 1
    state.borrowingUpdatedAtSeconds = 1
    let position: PositionState | undefined
    let now = 1
    for (const [i, step] of input.steps.entries()) {
      now += step.secondsSincePrevious
      const want = expected.steps[i]
      const done = runStep(input, step, state, position, now)
      state = done.draft
      position = done.position
      const actual = shown(done.result, want)
      expect(actual, `${id} step ${i} ${step.op}`).toEqual(shown(want, actual))
      if (want.revert !== undefined || step.op === 'setOpenInterest') continue
      const isSame = input.market.isSameCollaterals === true
      expect(String(isSame ? state.pool[0] / 2n : state.pool[0])).toBe(want.market.longPoolAmount ?? '0')
      expect(String(isSame ? state.pool[0] / 2n : state.pool[1])).toBe(want.market.shortPoolAmount ?? '0')
      expect(String(state.positionImpactPoolAmount)).toBe(want.market.positionImpactPoolAmount ?? '0')
      expect(position === undefined).toBe(want.position === null)
      if (position === undefined) continue
      expect(String(position.collateralAmount)).toBe(want.position.collateralAmount ?? '0')
      expect(String(position.sizeInUsd)).toBe(want.position.sizeInUsd)
      expect(String(position.pendingImpactAmount)).toBe(want.position.pendingImpactAmount ?? '0')
    }
  }
})
