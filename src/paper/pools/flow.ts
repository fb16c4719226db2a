/** Activity of a market over a span of time: volumes, fees and realised PnL. The venue keeps its books in this unit. */

/** Sums over a span; USD with 30 decimals. */
export interface Flow {
  volumePerpsUsd: bigint
  volumeSwapsUsd: bigint
  /** Position, borrowing and liquidation fees that orders paid. */
  feesTradingUsd: bigint
  feesSwapUsd: bigint
  /** Part of all fees that stayed in the pool. */
  feesForPoolUsd: bigint
  /** Base PnL that decreases of longs realised; positive = traders gained. */
  realizedLongUsd: bigint
  realizedShortUsd: bigint
  tradesPerps: number
  tradesSwaps: number
}

/** A flow of nothing. */
export function noFlow(): Flow {
  return {
    volumePerpsUsd: 0n,
    volumeSwapsUsd: 0n,
    feesTradingUsd: 0n,
    feesSwapUsd: 0n,
    feesForPoolUsd: 0n,
    realizedLongUsd: 0n,
    realizedShortUsd: 0n,
    tradesPerps: 0,
    tradesSwaps: 0,
  }
}

/** Adds a flow to another. Mutates `into`. */
export function addFlow(into: Flow, more: Flow): void {
  into.volumePerpsUsd += more.volumePerpsUsd
  into.volumeSwapsUsd += more.volumeSwapsUsd
  into.feesTradingUsd += more.feesTradingUsd
  into.feesSwapUsd += more.feesSwapUsd
  into.feesForPoolUsd += more.feesForPoolUsd
  into.realizedLongUsd += more.realizedLongUsd
  into.realizedShortUsd += more.realizedShortUsd
  into.tradesPerps += more.tradesPerps
  into.tradesSwaps += more.tradesSwaps
}

/** State of a market at the end of an hour; USD with 30 decimals, rates per hour with 30 decimals. */
export interface Sample {
  readonly poolLongUsd: bigint
  readonly poolShortUsd: bigint
  /** Most that positions of a side may reserve. */
  readonly maxReservedLongUsd: bigint
  readonly maxReservedShortUsd: bigint
  /** Traders' open PnL, positive = traders gain. */
  readonly unrealizedLongUsd: bigint
  readonly unrealizedShortUsd: bigint
  readonly fundingLong: bigint
  readonly fundingShort: bigint
  readonly borrowingLong: bigint
  readonly borrowingShort: bigint
}

const TEN_NANO_USD = 10n ** 22n
const SHARES_OF_ONE = 10n ** 12n

/** A part of an amount, exact to a trillionth of the amount; the part is a drawn number, the amount is never a float. */
export function shareOf(amount: bigint, part: number): bigint {
  return (amount * BigInt(Math.round(part * 1e12))) / SHARES_OF_ONE
}

/** Dollars as a float, for the routes whose numbers are plain floats on the wire. */
export function dollarsOf(usd: bigint): number {
  return Number(usd / TEN_NANO_USD) / 1e8
}
