/** The sized terms of an order, and how they were sized. */
import type { Address, Hex } from '../../protocol/address.ts'
import type { BatchTerms } from '../../protocol/batch.ts'
import type { Direction, PriceSource } from '../../protocol/market.ts'
import { bps, minOf, mulDivUp, type TokenAmount, type Usd } from '../../protocol/units.ts'
import type { ContestedPrice } from './contestedPrice.ts'
import type { TwapTerms } from './decision.ts'

/** Type of an order: a market order, or the condition for which it waits (docs/reference/api-coverage.md POST /orders/txns/prepare). */
export type OrderKind = 'market' | 'limit' | 'stop-market' | 'take-profit' | 'stop-loss' | 'twap'

/** Names an order's type for people: the venue's `stop-market` is a stop entry; every other type has one word. */
export function orderTypeName(type: string): string {
  return type === 'stop-market' ? 'stop entry' : type
}

/** A token as an order needs it. */
export interface TermsToken {
  readonly symbol: string
  /** Name of the token in requests where another token of the chain has the same symbol; absent: its symbol. */
  readonly wireName?: string
  readonly address: Address
  readonly decimals: number
}

/**
 * The sized terms of an order: exactly the content that may be signed, and nothing else. The verifier compares every field of the venue's payload
 * with these.
 */
export interface OrderTerms {
  readonly orderType: OrderKind
  readonly symbol: string
  readonly marketToken: Address
  readonly indexToken: TermsToken
  readonly direction: Direction
  readonly collateralToken: TermsToken
  /** Change of position size, USD, positive for both directions of change. */
  readonly sizeDeltaUsd: Usd
  /**
   * Collateral token units: the exact payment of an increase; the exact amount of a change of collateral; the most that a decrease at constant
   * leverage may take out.
   */
  readonly collateralDelta: TokenAmount
  /** Decreases only: whether collateral leaves pro rata. */
  readonly keepLeverage: boolean
  /** Slippage asked of the venue, bps. */
  readonly slippageBps: number
  /** Our own oracle price of the index token on the side that executes, USD per whole token, when the order was sized. */
  readonly referencePrice: Usd
  /** USD per whole index token; limit, stop-market, take-profit and stop-loss orders only. */
  readonly triggerPrice?: Usd
  /**
   * Price impact by our own estimate when it was sized, bps of the size, negative at our cost; absent where the market's data were missing. Only the
   * part that the signing policy allows widens a bound.
   */
  readonly priceImpactBps?: number
  /** limit and take-profit only: price impact that the acceptable price permits beyond the trigger, bps; absent where none is requested. */
  readonly acceptablePriceImpactBps?: number
  /** The position when the order was sized: of reductions, of increases with exits, and of collateral taken out. Absent: none. */
  readonly held?: HeldPosition
  /**
   * decrease only: the other size that the venue and the contract may make of it, USD. The whole position, where so little
   * would be left that they close it; or the part that was decided, where sizing made it the whole for that reason.
   */
  readonly otherSizeDeltaUsd?: Usd
  /** collateral-out only: the highest worth of the payout, USD. */
  readonly mostOutputUsd?: Usd
  /** twap only: equal parts, the first due at once. Size and collateral are those of all parts together. */
  readonly twap?: TwapTerms
  /** Orders that are created with an increase and close it later. */
  readonly tpsl?: readonly ExitTerms[]
  /** swap only. `collateralToken` and `collateralDelta` are the payment. */
  readonly swap?: SwapTerms
  /** edit only: the order as it is to be afterwards. */
  readonly edit?: EditTerms
  /** cancel only: keys of the orders to cancel, in the order of the message. */
  readonly cancelOrderKeys?: readonly Hex[]
  /** batch only: the message itself. */
  readonly batch?: BatchTerms
  /** collateral-in and collateral-out only: the venue's row key of the position. */
  readonly positionKey?: string
}

/** A position as an order finds it. */
export interface HeldPosition {
  readonly sizeInUsd: Usd
  /** Base units of the order's collateral token. */
  readonly collateralAmount: TokenAmount
}

/**
 * Collateral that a partial decrease at constant leverage may take out above its share, bps of all collateral. Profit that pays the costs, and
 * pending fees, move the venue's figure.
 */
const KEPT_LEVERAGE_SLACK_BPS = 200

/** The most that a part of a position may take out of the collateral with it: its share and the slack, never more than all. */
export function keptShare(collateralAmount: TokenAmount, sizeDeltaUsd: Usd, wholeUsd: Usd): TokenAmount {
  if (wholeUsd <= 0n) return 0n
  const share = mulDivUp(collateralAmount, minOf(sizeDeltaUsd, wholeUsd), wholeUsd)
  return minOf(collateralAmount, share + bps(collateralAmount, KEPT_LEVERAGE_SLACK_BPS))
}

/** Price buffer that a limit or take-profit order requests beyond its trigger, on top of the estimated price impact, bps: the venue's default. */
export const TRIGGER_BUFFER_BPS = 30

/** A take-profit or stop-loss that is created together with an increase. */
export interface ExitTerms {
  readonly type: 'take-profit' | 'stop-loss'
  /** USD per whole index token. */
  readonly triggerPrice: Usd
  /** Size that it closes, USD. All of the position at that time, when it is no less than the present position and the addition. */
  readonly sizeDeltaUsd: Usd
  /** Price impact by our own estimate, as in `OrderTerms`. */
  readonly priceImpactBps?: number
}

/** Required output of a swap. */
export interface SwapTerms {
  readonly receiveToken: TermsToken
  /** Native tokens out instead of wrapped ones. */
  readonly isNativeOut: boolean
  /** The least that may be signed as `minOutputAmount`, base units of the token received. */
  readonly minOutputAmount: TokenAmount
}

/**
 * An order as an edit leaves it; an update rewrites all of these at once (docs/reference/api-coverage.md POST
 * /orders/txns/edit/prepare).
 */
export interface EditTerms {
  readonly orderKey: Hex
  readonly sizeDeltaUsd: Usd
  /** Contract prices of the index token. */
  readonly triggerContractPrice: bigint
  readonly acceptableContractPrice: bigint
  readonly minOutputAmount: TokenAmount
  readonly autoCancel: boolean
  /** Requested increase on top of the fee that the order holds, native token, base units. */
  readonly executionFeeIncrease: TokenAmount
  /** Execution fee that the order holds already, native token, base units; absent where the venue does not say. */
  readonly executionFeeHeld?: TokenAmount
  /** Fields that the request names; the others have the stored order's values. */
  readonly changed: readonly ('size' | 'trigger' | 'acceptable' | 'auto-cancel' | 'execution-fee')[]
}

/** Sizing of a decision, as `perpd explain` shows it. USD values have 30 decimals. */
export interface Sizing {
  /** Size that the decision requested. */
  readonly wantedUsd: Usd
  /** Admitted size. */
  readonly sizeDeltaUsd: Usd
  /** Capacity field that was used; absent for orders that add no risk. */
  readonly basis?: 'availableLiquidity' | 'baseAvailableLiquidity'
  /** The capacity as read, and the part left after headroom and orders in flight. */
  readonly capacityUsd?: Usd
  readonly roomUsd?: Usd
  /** Each cut that made the size smaller, in order. */
  readonly cuts: readonly { readonly by: string; readonly toUsd: Usd }[]
  /** Age of the data behind the size, ms. */
  readonly dataAgeMs: number
  /** Source of the price that replaces a fresh one of the oracle; absent: it is the oracle's. */
  readonly priceSource?: PriceSource
  /** The hosts' prices of a reduction where they differed; absent: they did not. */
  readonly contested?: ContestedPrice
}
