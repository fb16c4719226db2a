/** Expected cost of an order by hand, and the price that is signed for it. Pure. */
import type { OrderTerms } from '../domain/order/orderTerms.ts'
import type { ExpectedFee } from '../execution/context/feeEstimates.ts'
import {
  BPS_ONE,
  bps,
  formatUnits,
  mulDiv,
  mulDivUp,
  parseUnits,
  USD_DECIMALS,
  type Usd,
} from '../protocol/units.ts'
import type { PositionFees } from './marketFees.ts'

/** Expected cost of an order. Amounts are decimal texts of integers with 30 decimals, costs positive. */
export interface ExpectedCost {
  /** The venue's fee of the change of the position. */
  readonly positionFeeUsd: string
  /** Hundredths of a basis point of the size; null where the venue says an amount alone. */
  readonly positionFeeBps100: number | null
  /** Cost of the price impact, negative where it pays; null where it is unknown. */
  readonly priceImpactUsd: string | null
  /** Relay and execution of the order and of its exits; null where nothing estimates it. */
  readonly sendingUsd: string | null
  /** Source of the estimate: the chain's gas price, earlier landings, or the configuration. */
  readonly sendingBy: ExpectedFee['source'] | null
  /** All that is known of them. */
  readonly totalUsd: string
}

/** Parts of an expected cost, USD. */
export interface CostParts {
  readonly positionFeeUsd: Usd
  readonly positionFeeBps100?: number
  /** Signed, negative at our cost. Absent: not known. */
  readonly impactUsd?: Usd | undefined
  readonly sending?: ExpectedFee | undefined
  readonly feeTokenDecimals: number
}

/** Returns the parts as they are shown, and their sum. */
export function expectedCost({
  positionFeeUsd,
  positionFeeBps100,
  impactUsd,
  sending,
  feeTokenDecimals,
}: CostParts): ExpectedCost {
  const sendingUsd = sending === undefined ? undefined : usdOfFee(sending.relayFee, feeTokenDecimals)
  return {
    positionFeeUsd: positionFeeUsd.toString(),
    positionFeeBps100: positionFeeBps100 ?? null,
    priceImpactUsd: impactUsd === undefined ? null : (-impactUsd).toString(),
    sendingUsd: sendingUsd?.toString() ?? null,
    sendingBy: sending?.source ?? null,
    totalUsd: (positionFeeUsd - (impactUsd ?? 0n) + (sendingUsd ?? 0n)).toString(),
  }
}

/** An amount of the chain's fee token, a dollar coin, USD. */
export function usdOfFee(amount: bigint, feeTokenDecimals: number): Usd {
  return parseUnits(formatUnits(amount, feeTokenDecimals), USD_DECIMALS)
}

/** The highest fee of a position that the venue has, hundredths of a basis point of its size. */
const HIGHEST_FEE_BPS100 = 1_000

/** Returns the highest fee that a market takes; of any market where this one's is unknown. The fill decides which fee applies. */
export function highestFeeOf({ balancingBps100, unbalancingBps100 }: PositionFees): number {
  return balancingBps100 === null || unbalancingBps100 === null
    ? HIGHEST_FEE_BPS100
    : Math.max(balancingBps100, unbalancingBps100)
}

/** The fee that a market is expected to take: where the impact pays, the order balances longs and shorts. */
export function likelyFeeOf(fees: PositionFees, impactUsd: Usd | undefined): number {
  const { balancingBps100 } = fees
  return impactUsd !== undefined && impactUsd > 0n && balancingBps100 !== null
    ? balancingBps100
    : highestFeeOf(fees)
}

/** A fee of so many hundredths of a basis point of a size, USD, rounded up. */
export function feeUsdOf(sizeDeltaUsd: Usd, bps100: number): Usd {
  return mulDivUp(sizeDeltaUsd, BigInt(bps100), 100n * BigInt(BPS_ONE))
}

/**
 * The acceptable price that the venue puts into the message, which the fill may not be worse than, USD per whole index token:
 * the reference with the order's own impact, and the slippage beyond it; of an order that waits the trigger, with the impact it asks
 * for by name. The venue's price of that moment is a little another. Undefined for any price: stops and parts of a twap.
 *
 * @param buys whether it takes the higher price: opens a long, closes a short
 */
export function signedPriceOf(
  {
    orderType,
    slippageBps,
    referencePrice,
    triggerPrice,
    acceptablePriceImpactBps,
    sizeDeltaUsd,
  }: OrderTerms,
  buys: boolean,
  impactUsd: Usd | undefined,
): Usd | undefined {
  if (orderType === 'stop-market' || orderType === 'stop-loss' || orderType === 'twap') return undefined
  const away = (price: Usd, byBps: number): Usd =>
    buys ? price + bps(price, byBps) : price - bps(price, byBps)
  if (acceptablePriceImpactBps !== undefined) {
    return away(triggerPrice ?? referencePrice, acceptablePriceImpactBps)
  }
  const costUsd = impactUsd === undefined || impactUsd > 0n ? 0n : -impactUsd
  const moved = sizeDeltaUsd <= 0n ? 0n : mulDiv(referencePrice, costUsd, sizeDeltaUsd)
  return away(buys ? referencePrice + moved : referencePrice - moved, slippageBps)
}
