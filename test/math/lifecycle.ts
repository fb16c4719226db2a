/** Whole lives of positions, step by step; a reverted step changes nothing. */
import { decreasePosition } from '../../src/paper/math/decrease.ts'
import { accrue, increasePosition } from '../../src/paper/math/increase.ts'
import {
  cloneMarket,
  type MarketPrices,
  type MarketSettings,
  type MarketState,
  type PricePair,
  slotValue,
} from '../../src/paper/math/marketState.ts'
import type { PositionFees } from '../../src/paper/math/positionFees.ts'
import type { PositionState } from '../../src/paper/math/positionState.ts'
import { ProtocolRevert } from '../../src/paper/math/protocolRevert.ts'
import type { Any } from '../paper/support.ts'
import { big, setOpenInterest, settingsOf, sideOf, stateOf } from './input.ts'

interface Account {
  readonly funding: [bigint, bigint]
  readonly collateral: [bigint, bigint]
}

function nonZero(values: Readonly<Record<string, bigint>>): Record<string, bigint> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== 0n))
}

function shownFees(fees: PositionFees): Record<string, bigint> {
  const { positionFeeAmount, totalCostAmount, borrowingFeeAmount, fundingFeeAmount } = fees
  const { uiFeeAmount, liquidationFeeAmount } = fees
  return nonZero({
    positionFeeAmount,
    totalCostAmount,
    borrowingFeeAmount,
    fundingFeeAmount,
    uiFeeAmount,
    liquidationFeeAmount,
  })
}

function shownPosition(position: PositionState | undefined): unknown {
  if (position === undefined) return null
  return nonZero({
    sizeInUsd: position.sizeInUsd,
    sizeInTokens: position.sizeInTokens,
    collateralAmount: position.collateralAmount,
    pendingImpactAmount: position.pendingImpactAmount,
    borrowingFactor: position.borrowingFactor,
    fundingFeeAmountPerSize: position.fundingFeeAmountPerSize,
    longTokenClaimableFundingAmountPerSize: position.claimablePerSize[0],
    shortTokenClaimableFundingAmountPerSize: position.claimablePerSize[1],
  })
}

function pricesOfStep(step: Any, decimals: Any): MarketPrices {
  const scaled = ([low, high]: [string, string], places: number): PricePair => ({
    min: big(low) / 10n ** BigInt(places),
    max: big(high) / 10n ** BigInt(places),
  })
  const long = step.longPrice ?? step.indexPrice
  return {
    index: scaled(step.indexPrice, decimals.index),
    long: scaled(long, decimals.long),
    short: scaled(step.shortPrice ?? long, decimals.short),
  }
}

/** Runs `positionLifecycle`. */
export function runLifecycle(input: Any): Record<string, unknown> {
  const { market } = input
  const settings: MarketSettings = settingsOf(market, input)
  const side = sideOf(input.isLong)
  const slot = input.collateralIsLongToken ? 0 : 1
  const scale = 10n ** BigInt(market.decimals.index)
  let state: MarketState = stateOf(market)
  state.fundingUpdatedAtSeconds = 1
  state.borrowingUpdatedAtSeconds = 1
  let position: PositionState | undefined
  const account: Account = { funding: [0n, 0n], collateral: [0n, 0n] }
  let now = 1
  const steps = input.steps.map((step: Any) => {
    now += step.secondsSincePrevious
    const prices = pricesOfStep(step, market.decimals)
    const draft = cloneMarket(state)
    const ui = step.uiFeeFactor === undefined ? {} : { uiFeeFactor: big(step.uiFeeFactor) }
    const amounts = {
      sizeDeltaUsd: big(step.sizeDeltaUsd),
      collateralAmount: big(step.collateralDeltaAmount),
    }
    const shownMarket = (): Record<string, bigint> =>
      nonZero({
        longPoolAmount: slotValue(settings, state.pool, 0),
        shortPoolAmount: slotValue(settings, state.pool, 1),
        positionImpactPoolAmount: state.positionImpactPoolAmount,
        lentPositionImpactPoolAmount: state.lentPositionImpactPoolAmount,
        cumulativeBorrowingFactor: state[side].cumulativeBorrowingFactor,
        savedFundingFactorPerSecond: state.savedFundingFactorPerSecond,
      })
    const credit = (fees: PositionFees, collateral: readonly [bigint, bigint]): void => {
      const short = settings.isSameCollaterals ? 0 : 1
      account.funding[0] += fees.claimableLongTokenAmount
      account.funding[short] += fees.claimableShortTokenAmount
      account.collateral[0] += collateral[0]
      account.collateral[short] += collateral[1]
    }
    const after = () => ({
      position: shownPosition(position),
      market: shownMarket(),
      account: nonZero({
        claimableFundingLongToken: account.funding[0],
        claimableFundingShortToken: account.funding[1],
        claimableCollateralLongToken: account.collateral[0],
        claimableCollateralShortToken: account.collateral[1],
      }),
    })
    try {
      if (step.op === 'setOpenInterest') {
        accrue(settings, draft, prices, now)
        setOpenInterest(draft, step, settings.isSameCollaterals)
        state = draft
        const { cumulativeBorrowingFactor, savedFundingFactorPerSecond } = shownMarket()
        return {
          market: nonZero({
            cumulativeBorrowingFactor: cumulativeBorrowingFactor ?? 0n,
            savedFundingFactorPerSecond: savedFundingFactorPerSecond ?? 0n,
          }),
        }
      }
      if (step.op === 'increase') {
        const done = increasePosition(
          settings,
          draft,
          position,
          { side, slot, ...amounts, ...ui },
          prices,
          now,
        )
        state = draft
        position = done.position
        credit(done.fees, [0n, 0n])
        return {
          executionPrice: done.execution.executionPrice * scale,
          priceImpactUsd: done.execution.impactUsd,
          pendingImpactAmountDelta: done.execution.impactAmount,
          sizeDeltaInTokens: done.execution.sizeDeltaInTokens,
          collateralDeltaAmount: done.collateralDeltaAmount,
          fees: shownFees(done.fees),
          ...after(),
        }
      }
      if (position === undefined) throw new Error('the vector decreases no position')
      const kind = step.op === 'liquidate' ? 'liquidation' : 'market'
      const done = decreasePosition(settings, draft, position, { ...amounts, kind, ...ui }, prices, now)
      state = draft
      position = done.position
      credit(done.fees, done.claimableCollateral)
      return {
        executionPrice: done.executionPrice * scale,
        priceImpactUsd: done.priceImpactUsd,
        sizeDeltaUsd: done.sizeDeltaUsd,
        sizeDeltaInTokens: done.sizeDeltaInTokens,
        basePnlUsd: done.basePnlUsd,
        proportionalPendingImpactUsd: done.proportionalPendingImpactUsd,
        totalImpactUsd: done.totalImpactUsd,
        priceImpactDiffUsd: done.priceImpactDiffUsd,
        outputAmount: done.outputAmount,
        secondaryOutputAmount: done.secondaryOutputAmount,
        fees: shownFees(done.fees),
        ...(done.insolvency === undefined ? {} : { insolventStep: done.insolvency.step }),
        ...after(),
      }
    } catch (error) {
      if (!(error instanceof ProtocolRevert)) throw error
      // Time counts from the last successful step, which the accrual clocks of the state keep.
      return { revert: error.errorName }
    }
  })
  return { steps }
}
