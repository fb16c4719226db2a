/** Positions, resting orders and trades of one account, as the venue reports them. */
import { type Address, type Hex, sameHex, ZERO_ADDRESS } from './address.ts'
import type { Direction } from './market.ts'
import { BPS_ONE, type TokenAmount, type Usd } from './units.ts'

/** An open position. USD fields have 30 decimals; prices are USD per whole token. */
export interface Position {
  /** The venue's row key, `account:market:collateralToken:isLong`. */
  readonly positionKey: string
  /** The protocol's bytes32 key. */
  readonly contractKey: Hex
  readonly account: Address
  readonly marketToken: Address
  readonly collateralToken: Address
  readonly direction: Direction
  readonly sizeInUsd: Usd
  readonly sizeInTokens: TokenAmount
  readonly collateralAmount: TokenAmount
  readonly collateralUsd: Usd
  /** Collateral less pending fees, USD. */
  readonly remainingCollateralUsd: Usd
  /** Side used to close: min price for a long, max for a short. */
  readonly markPrice: Usd
  readonly entryPrice?: Usd
  readonly liquidationPrice?: Usd
  /** Signed, before fees. */
  readonly pnlUsd: Usd
  /** PnL less pending funding and borrowing, USD, signed; before the cost of closing. */
  readonly pnlAfterFeesUsd: Usd
  /** PnL less also the cost of closing all of it now: its fee and price impact, USD, signed; absent where the venue does not report it. */
  readonly pnlAfterAllFeesUsd?: Usd | undefined
  /** Fee of closing all of it now, part of `pnlAfterAllFeesUsd`, USD. */
  readonly closingFeeUsd?: Usd | undefined
  /** Price impact of closing all of it now, USD, signed, negative at our cost; it includes the part of the entry's impact that the close settles. */
  readonly netPriceImpactDeltaUsd?: Usd | undefined
  /**
   * Claimable funding that it earned since it last changed, USD, in no PnL; never negative; absent where the venue does not report it. Funding that
   * earlier changes settled is not included.
   */
  readonly pendingClaimableFundingFeesUsd?: Usd | undefined
  /** Payout of closing now, USD, signed; may be slightly overstated in the venue's fallback (docs/reference/api-coverage.md A5). */
  readonly positionValueInUsd: Usd
  /** Collateral plus PnL less pending fees, USD, signed. */
  readonly netValueUsd: Usd
  /** 10000 = 1x; absent when net collateral is not positive. */
  readonly leverageBps?: bigint
  readonly increasedAtSeconds: number
  readonly decreasedAtSeconds: number
}

/**
 * Returns the result of closing a position now, as people see it: less the fee and price impact of closing where the venue reports them. Signed; it
 * excludes the cost of opening and the cost of sending a close. The console's page loads only its own files, so `shownFigures.ts` computes the same
 * there.
 */
export function pnlIfClosed({
  pnlAfterFeesUsd,
  pnlAfterAllFeesUsd,
}: {
  readonly pnlAfterFeesUsd: Usd
  readonly pnlAfterAllFeesUsd?: Usd | undefined
}): {
  readonly usd: Usd
  /** True when the costs of closing are included. */
  readonly hasClosingCosts: boolean
} {
  return { usd: pnlAfterAllFeesUsd ?? pnlAfterFeesUsd, hasClosingCosts: pnlAfterAllFeesUsd !== undefined }
}

/**
 * Distance from the mark price to the liquidation price, bps of the mark price, rounded down; 0 or less when it is
 * reached or passed; undefined without a liquidation price.
 */
export function liquidationDistanceBps(
  position: Pick<Position, 'direction' | 'markPrice' | 'liquidationPrice'>,
): number | undefined {
  const { direction, markPrice, liquidationPrice } = position
  if (liquidationPrice === undefined || markPrice <= 0n) return undefined
  const gap = direction === 'long' ? markPrice - liquidationPrice : liquidationPrice - markPrice
  if (gap <= 0n) return 0
  // A long with a liquidation price at or below zero cannot be liquidated by the price: the whole way down is left.
  return Number((gap * BigInt(BPS_ONE)) / markPrice)
}

/** Tells whether a stop lies behind the liquidation price; an unknown price does not count against it. */
export function isBehindLiquidation(
  { direction, liquidationPrice }: Pick<Position, 'direction' | 'liquidationPrice'>,
  triggerPrice: Usd | undefined,
): boolean {
  if (liquidationPrice === undefined || liquidationPrice <= 0n || triggerPrice === undefined) return false
  return direction === 'long' ? triggerPrice <= liquidationPrice : triggerPrice >= liquidationPrice
}

/** On-chain order types (contract `Order`, `OrderType`). */
export type OrderTypeNumber = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8

/** An order that rests at the venue. Prices stay contract prices here, because "any" is max uint256 or 0. */
export interface Order {
  readonly orderKey: Hex
  readonly account: Address
  readonly receiver: Address
  readonly marketToken: Address
  readonly initialCollateralToken: Address
  readonly orderType: number
  readonly direction: Direction
  readonly sizeDeltaUsd: Usd
  readonly initialCollateralDeltaAmount: TokenAmount
  readonly triggerContractPrice: bigint
  readonly acceptableContractPrice: bigint
  readonly isFrozen: boolean
  readonly updatedAtSeconds: number
  readonly validFromSeconds: number
  /** True when it ends with its position; absent where the venue does not report it. */
  readonly autoCancel?: boolean | undefined
  /** Swaps: units of the token received; decreases: USD. Absent where the venue does not say. */
  readonly minOutputAmount?: bigint | undefined
  /** Execution fee that is left in it, native token, base units; a freeze takes of it. Absent where the venue does not say. */
  readonly executionFee?: TokenAmount | undefined
}

// MarketIncrease, LimitIncrease and StopIncrease (contract `Order`, `OrderType`).
const increaseOrderTypes: ReadonlySet<number> = new Set([2, 3, 8])

/** Tells whether an order adds to a position when it executes. */
export function isIncreaseOrder({ orderType }: { readonly orderType: number }): boolean {
  return increaseOrderTypes.has(orderType)
}

// LimitDecrease, which takes profit, and StopLossDecrease.
const exitOrderTypes: ReadonlySet<number> = new Set([5, 6])

/** Judges whether an order is an exit that waits for its trigger: a take-profit or a stop-loss. */
export function isExitOrder({ orderType }: Order): boolean {
  return exitOrderTypes.has(orderType)
}

const orderNames: readonly string[] = [
  'market swap',
  'limit swap',
  'market increase',
  'limit increase',
  'market decrease',
  'take-profit',
  'stop-loss',
  'liquidation',
  'stop entry',
]

/** An on-chain order type in the words of the venue's page; a newer one keeps its number. */
export function orderName(orderType: number): string {
  return orderNames[orderType] ?? `type ${orderType}`
}

/** Tells whether an order is on a market: a swap is on none, and only goes through some. */
export function isOnMarket({ marketToken }: { readonly marketToken: Address }): boolean {
  return !sameHex(marketToken, ZERO_ADDRESS)
}

/** Event of an order in the venue's history. `unrecognised` keeps a newer event name from being misread. */
export type TradeEventName =
  | 'OrderCreated'
  | 'OrderExecuted'
  | 'OrderCancelled'
  | 'OrderUpdated'
  | 'OrderFrozen'
  | 'unrecognised'

/** One row of `/trades`: an order event with its figures. Prices are contract prices of the index token. */
export interface Trade {
  readonly id: string
  readonly account: Address
  readonly orderKey: Hex
  readonly transactionHash: Hex
  readonly eventName: TradeEventName
  readonly orderType: number
  readonly timestampSeconds: number
  readonly initialCollateralToken: Address
  readonly initialCollateralDeltaAmount: TokenAmount
  readonly marketToken?: Address
  readonly direction?: Direction
  readonly sizeDeltaUsd?: Usd
  /** Index token, base units; absent where the venue does not say. */
  readonly sizeDeltaInTokens?: TokenAmount
  readonly executionContractPrice?: bigint
  /** Collateral token's contract prices at the trade; convert fee amounts with them. */
  readonly collateralTokenContractPriceMin?: bigint
  readonly collateralTokenContractPriceMax?: bigint
  /** After impact and fees. */
  readonly pnlUsd?: Usd
  /** PnL of the price alone; absent where the venue does not report it. */
  readonly basePnlUsd?: Usd
  readonly priceImpactUsd?: Usd
  readonly positionFeeAmount?: TokenAmount
  readonly borrowingFeeAmount?: TokenAmount
  readonly fundingFeeAmount?: TokenAmount
  /** Fee and price impact of the swaps on the way in or out, signed: in no figure above. */
  readonly swapFeeUsd?: Usd
  readonly swapImpactUsd?: Usd
  /** The venue's text; empty when the failure was a custom error. */
  readonly reason?: string
}
