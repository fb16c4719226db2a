/**
 * Orders that the keeper makes itself, created and executed in one transaction: liquidations, and deleveraging of positions
 * in profit when traders' PnL outgrows the pool (contract `PositionUtils`, `isPositionLiquidatable`).
 */
import { type Hex, ZERO_ADDRESS, ZERO_HASH } from '../../protocol/address.ts'
import { orderKeyOf } from '../../protocol/signing/relayRouter.ts'
import { MAX_UINT256 } from '../../protocol/units.ts'
import { accrue } from '../math/increase.ts'
import { fac, ONE } from '../math/integer.ts'
import { cannotBeLiquidated } from '../math/liquidationBound.ts'
import {
  cloneMarket,
  type MarketPrices,
  type MarketSettings,
  type MarketState,
  poolUsd,
  type Side,
} from '../math/marketState.ts'
import { checkLiquidation, positionPnl, positivePoolPnl } from '../math/positionMath.ts'
import { ProtocolRevert } from '../math/protocolRevert.ts'
import { isEnabled } from '../state/enabled.ts'
import { isOpenAt } from '../state/hours.ts'
import { orderTypes } from '../state/orderTypes.ts'
import { rememberHoldings } from '../state/pastHoldings.ts'
import type { VenueMarket } from '../state/seedMarkets.ts'
import type { OrderRecord, PositionRecord } from '../state/venueRecords.ts'
import { marketPrices, type VenueState } from '../state/venueState.ts'
import { executeDecrease, type KeeperDecrease } from './executeDecrease.ts'
import { cancelWithPosition, endOrder } from './orderEnds.ts'

/** Tells whether a position may be liquidated at a moment, with accrual up to then. */
export function isLiquidatableAt(venueState: VenueState, record: PositionRecord, seconds: number): boolean {
  const market = venueState.marketByKey.get(record.marketKey)
  if (market === undefined) return false
  const prices = marketPrices(venueState, market, seconds)
  const bounds = { low: prices, high: prices }
  if (cannotBeLiquidated(market.settings, market.state, record.state, bounds, seconds)) return false
  return isLiquidatableByCheck(market, record, prices, seconds)
}

/** The contract's own answer, with accrual up to the second. */
export function isLiquidatableByCheck(
  market: VenueMarket,
  record: PositionRecord,
  prices: MarketPrices,
  seconds: number,
): boolean {
  const draft = cloneMarket(market.state)
  accrue(market.settings, draft, prices, seconds)
  return checkLiquidation(market.settings, draft, record.state, prices, {
    forLiquidation: true,
    checkMinCollateralUsd: true,
  }).isLiquidatable
}

/** The keeper's liquidation order: whole size, any price, profit swapped into collateral. */
export function liquidate(venueState: VenueState, record: PositionRecord, second: number): void {
  runOwnOrder(venueState, record, 'liquidation', record.state.sizeInUsd, second)
}

/** Part of the cap on traders' PnL at which the keeper begins to deleverage, and to which it brings the PnL back. */
const ADL_BEGINS = (95n * ONE) / 100n
const ADL_ENDS = (90n * ONE) / 100n

/** Returns the part of the pool that the traders' PnL of a side may take, USD. */
function poolShareOf(settings: MarketSettings, state: MarketState, side: Side, prices: MarketPrices): bigint {
  return fac(poolUsd(settings, state, side, prices), settings.maxPnlFactorForTraders[side])
}

/**
 * Tells whether the traders' profit of a side exceeds the part of their pool share at which the keeper begins to deleverage. Profit rises with a
 * higher index price for longs, and with a lower one for shorts. The share shrinks with lower prices of the pool's tokens.
 */
export function exceedsPoolShare(
  settings: MarketSettings,
  state: MarketState,
  side: Side,
  prices: MarketPrices,
): boolean {
  const cap = poolShareOf(settings, state, side, prices)
  return positivePoolPnl(settings, state, side, prices) > fac(cap, ADL_BEGINS)
}

/**
 * Deleverages: while the profit of a side exceeds its part of the pool, the position with the highest profit for its size is
 * decreased. Call it for the markets that have positions.
 */
export function deleverage(venueState: VenueState, market: VenueMarket, side: Side, second: number): void {
  if (!isOpenAt(venueState, market.key, second) || !isEnabled(venueState, market.key)) return
  const { settings } = market
  const prices = marketPrices(venueState, market, second)
  if (!exceedsPoolShare(settings, market.state, side, prices)) return
  const cap = poolShareOf(settings, market.state, side, prices)
  if (cap === 0n) return
  for (const record of byProfit(venueState, market, side, prices)) {
    const excess = positivePoolPnl(settings, market.state, side, prices) - fac(cap, ADL_ENDS)
    if (excess <= 0n) return
    const { sizeInUsd } = record.state
    const profit = positionPnl(settings, market.state, record.state, prices).usd
    const size = profit <= excess ? sizeInUsd : (sizeInUsd * excess) / profit
    runOwnOrder(venueState, record, 'deleveraging', size, second)
  }
}

/** Positions of a side in profit, the highest profit for its size first. */
function byProfit(
  venueState: VenueState,
  market: VenueMarket,
  side: Side,
  prices: MarketPrices,
): PositionRecord[] {
  return [...venueState.positions.values()]
    .filter((record) => record.marketKey === market.key && record.state.side === side)
    .map((record) => {
      const { usd } = positionPnl(market.settings, market.state, record.state, prices)
      return { record, usd, factor: (usd * ONE) / record.state.sizeInUsd }
    })
    .filter(({ usd }) => usd > 0n)
    .sort((a, b) => (a.factor < b.factor ? 1 : a.factor > b.factor ? -1 : 0))
    .map(({ record }) => record)
}

function runOwnOrder(
  venueState: VenueState,
  record: PositionRecord,
  kind: KeeperDecrease,
  sizeDeltaUsd: bigint,
  second: number,
): void {
  const market = venueState.marketByKey.get(record.marketKey)
  if (market === undefined) return
  rememberHoldings(venueState, record.account, second * 1000)
  const number = venueState.counters.order + 1
  const key = orderKeyOf(venueState.chain.contracts.dataStore, BigInt(number))
  const order = ownOrder(record, market, key, kind, sizeDeltaUsd, second)
  try {
    const hash = executeDecrease(venueState, order, second, kind)
    venueState.counters.order = number
    endOrder(venueState, order, 'executed', hash, second * 1000)
    cancelWithPosition(venueState, order, second * 1000, hash)
  } catch (error) {
    // The keeper simulates before it sends: what would revert is never sent.
    if (!(error instanceof ProtocolRevert)) throw error
  }
}

function ownOrder(
  record: PositionRecord,
  market: VenueMarket,
  key: Hex,
  kind: KeeperDecrease,
  sizeDeltaUsd: bigint,
  second: number,
): OrderRecord {
  const isLong = record.state.side === 'long'
  const isLiquidation = kind === 'liquidation'
  return {
    key,
    account: record.account,
    params: {
      addresses: {
        receiver: record.account,
        cancellationReceiver: record.account,
        callbackContract: ZERO_ADDRESS,
        uiFeeReceiver: ZERO_ADDRESS,
        market: market.catalog.marketToken,
        initialCollateralToken: record.collateralToken.address,
        swapPath: [],
      },
      numbers: {
        sizeDeltaUsd,
        initialCollateralDeltaAmount: 0n,
        triggerPrice: 0n,
        acceptablePrice: isLong ? 0n : MAX_UINT256,
        executionFee: 0n,
        callbackGasLimit: 0n,
        minOutputAmount: 0n,
        validFromTime: 0n,
      },
      orderType: BigInt(isLiquidation ? orderTypes.liquidation : orderTypes.marketDecrease),
      decreasePositionSwapType: 1n,
      isLong,
      shouldUnwrapNativeToken: true,
      autoCancel: false,
      referralCode: ZERO_HASH,
      dataList: [],
    },
    isFrozen: false,
    updatedAtSeconds: second,
    requestId: null,
  }
}
