/** Markets, tokens, tickers, capacity and candles: what the venue says about a market at one moment. */
import type { Address } from './address.ts'
import { ONE_USD, type TokenAmount, type Usd } from './units.ts'

/** Side of a position. `isLong` exists only inside typed data. */
export type Direction = 'long' | 'short'

/** A token of the chain. Prices are USD, 30 decimals, per whole token; absent where the route does not carry them. */
export interface Token {
  readonly symbol: string
  /** The name in requests where another token of the chain has the same symbol: its address; absent: its symbol. */
  readonly wireName?: string
  readonly address: Address
  /** Decimals of the token's own amounts. */
  readonly decimals: number
  readonly isStable: boolean
  readonly isNative: boolean
  readonly isWrapped: boolean
  readonly isSynthetic: boolean
  readonly minPrice?: Usd
  readonly maxPrice?: Usd
}

/** Collateral requirement of a position up to a size. */
export interface LeverageTier {
  /** 10000 = 1x. */
  readonly maxLeverageBps: number
  /** Least collateral as a fraction of the size, 30 decimals. */
  readonly minCollateralFactor: bigint
  /** Largest size the tier holds for, USD; absent: any. */
  readonly maxPositionSizeUsd?: Usd
}

/** The protocol's own minimum of a position and of its collateral, USD (Keys.MIN_POSITION_SIZE_USD, MIN_COLLATERAL_USD). */
export const LEAST_POSITION_USD: Usd = ONE_USD

/** One listed market; `marketToken` is its identity, `symbol` its display name, `ETH/USD [WETH-USDC]`. */
export interface Market {
  readonly symbol: string
  readonly marketToken: Address
  readonly indexToken: Address
  readonly longToken: Address
  readonly shortToken: Address
  readonly isListed: boolean
  /** True for a pool that only swaps; it has no positions. */
  readonly isSpotOnly: boolean
  readonly minPositionSizeUsd: Usd
  readonly minCollateralUsd: Usd
  /** Highest leverage of any tier in bps, 10000 = 1x; absent when the venue lists no tier. */
  readonly maxLeverageBps?: number
  /** In the venue's order; absent when it lists none. */
  readonly leverageTiers?: readonly LeverageTier[]
  /** Unix seconds; the unit is not documented. */
  readonly listedAtSeconds?: number
}

/** Limit that bounds the capacity. `unrecognised` is a value of a newer venue; it never means a good one. */
export type LimitingFactor = 'reserve' | 'openInterest' | 'both' | 'notApplicable' | 'unrecognised'

/** Usability of the JIT inputs. Only `available` is good. */
export type JitDataStatus = 'available' | 'stale' | 'unavailable' | 'unrecognised'

/** Usability of the market inputs. Only `fresh` is good. */
export type MarketDataStatus = 'fresh' | 'stale' | 'unrecognised'

/**
 * Available capacity for increases on one side of a market (docs/reference/api-coverage.md A3). Indicative: account
 * eligibility, collateral swaps and other traders can still reduce what one order gets.
 */
export interface TradingCapacity {
  /** Total capacity after JIT, capped by max open interest. */
  readonly availableLiquidity: Usd
  /** Capacity of the pool without JIT. */
  readonly baseAvailableLiquidity: Usd
  /** Extra capacity that JIT contributes. */
  readonly jitAvailableLiquidity: Usd
  /** Absent where the venue names none: no document has it, and nothing is decided by it. */
  readonly limitingFactor?: LimitingFactor | undefined
  readonly jitDataStatus: JitDataStatus
  readonly marketDataStatus: MarketDataStatus
}

/**
 * Prices, rates and capacity of a market at one moment (`/markets/tickers`). The legacy fields
 * `availableLiquidityLong/Short` stop at the decoder: nothing here has them, so nothing can size by them. A figure that a
 * deployment does not send is undefined, never zero.
 */
export interface Ticker {
  readonly symbol: string
  readonly marketToken: Address
  /** USD per whole index token, 30 decimals. */
  readonly minPrice: Usd
  readonly maxPrice: Usd
  readonly markPrice: Usd
  /** Open interest at entry prices, USD. */
  readonly longInterestUsd?: Usd | undefined
  readonly shortInterestUsd?: Usd | undefined
  /** The same at the mark price. */
  readonly longInterestUsdMark?: Usd | undefined
  readonly shortInterestUsdMark?: Usd | undefined
  /** Open interest in units of the index token. */
  readonly longInterestInTokens?: TokenAmount | undefined
  readonly shortInterestInTokens?: TokenAmount | undefined
  /** Factor with 30 decimals per hour, signed; negative: that side pays. */
  readonly fundingRateLong?: bigint | undefined
  readonly fundingRateShort?: bigint | undefined
  /** Factor with 30 decimals per hour; a cost. */
  readonly borrowingRateLong?: bigint | undefined
  readonly borrowingRateShort?: bigint | undefined
  /** Funding less borrowing: factor with 30 decimals per hour, signed; negative: that side pays. */
  readonly netRateLong?: bigint | undefined
  readonly netRateShort?: bigint | undefined
  /** Prices of the last 24 hours, USD per whole index token, 30 decimals. */
  readonly high24h?: Usd | undefined
  readonly low24h?: Usd | undefined
  readonly open24h?: Usd | undefined
  readonly close24h?: Usd | undefined
  /** Close less open, signed, and the same in bps of the open, cut to a whole number. */
  readonly priceChange24h?: Usd | undefined
  readonly priceChange24hBps?: bigint | undefined
  /** Value of each side of the pool at mid prices, USD. All of it: no capacity, never a size. */
  readonly poolAmountLongUsd?: Usd | undefined
  readonly poolAmountShortUsd?: Usd | undefined
  /** Absent on old deployments of the venue. */
  readonly capacityLong?: TradingCapacity | undefined
  readonly capacityShort?: TradingCapacity | undefined
}

/** Oracle price of one token (docs/reference/api-coverage.md O2), as USD with 30 decimals per whole token. */
export interface OraclePrice {
  readonly tokenSymbol: string
  readonly tokenAddress: Address
  readonly minPrice: Usd
  readonly maxPrice: Usd
  readonly medianPrice: Usd
  /** Unix seconds of the oracle's update. */
  readonly updatedAtSeconds: number
}

/** A reason why a person should look at an oracle price before it is used. */
export interface PriceDoubt {
  /** `STABLE_OUT_OF_RANGE`: not within 0.5 to 2 USD. `MOVED_TOO_FAR`: many times the last accepted one, or a part of it. */
  readonly code: 'STABLE_OUT_OF_RANGE' | 'MOVED_TOO_FAR'
  readonly tokenSymbol: string
  readonly tokenAddress: Address
  /** The side of the price that is doubtful. */
  readonly price: Usd
  /** Bounds that it is outside of. */
  readonly least: Usd
  readonly most: Usd
}

/** Candle periods the oracle serves. */
export type CandlePeriod = '1m' | '5m' | '15m' | '1h' | '4h' | '1d'

/** Lengths of the periods in seconds. */
export const periodSeconds: Readonly<Record<CandlePeriod, number>> = {
  '1m': 60,
  '5m': 300,
  '15m': 900,
  '1h': 3600,
  '4h': 14_400,
  '1d': 86_400,
}

/** One candle; prices are plain USD numbers as the wire carries them, good for signals, never for amounts. */
export interface Candle {
  /** Unix seconds of the start of the period. */
  readonly timestampSeconds: number
  readonly open: number
  readonly high: number
  readonly low: number
  readonly close: number
}

/** Trading status of a market. `unknown`: do not open, allow closing. */
export type MarketStatus = 'open' | 'closed' | 'unknown'

/**
 * The earnings of one side of a ticker: funding less borrowing, factor with 30 decimals per hour; undefined where the
 * venue sends neither that nor its parts.
 */
export function netRateOf(ticker: Ticker, direction: Direction): bigint | undefined {
  const [net, funding, borrowing] =
    direction === 'long'
      ? [ticker.netRateLong, ticker.fundingRateLong, ticker.borrowingRateLong]
      : [ticker.netRateShort, ticker.fundingRateShort, ticker.borrowingRateShort]
  return net ?? (funding === undefined || borrowing === undefined ? undefined : funding - borrowing)
}

/** The capacity of one side of a ticker. */
export function capacityOf(ticker: Ticker, direction: Direction): TradingCapacity | undefined {
  return direction === 'long' ? ticker.capacityLong : ticker.capacityShort
}

/** The price an increase executes at (long: max, short: min), and a decrease (long: min, short: max). */
export function executionSidePrice(
  prices: { readonly minPrice: Usd; readonly maxPrice: Usd },
  direction: Direction,
  action: 'increase' | 'decrease',
): Usd {
  return (direction === 'long') === (action === 'increase') ? prices.maxPrice : prices.minPrice
}

/** An amount of a token in a wallet. */
export interface Balance {
  readonly symbol: string
  readonly address: Address
  readonly decimals: number
  readonly balance: TokenAmount
}

/**
 * Where a price comes from that stands in for a fresh one of the oracle: an older one, the freshest of any of its hosts; the
 * venue's own mark in the market's ticker; or the mark in the position's row.
 */
export type PriceSource = 'old-oracle' | 'ticker' | 'position'
