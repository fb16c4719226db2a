/** What an order by hand would be and cost at worst, by the bounds that its signature is held to. Pure. */
import type { Intent } from '../../domain/order/intent.ts'
import { relayFeeLimit, type SigningPolicy, widthFor } from '../../execution/context/policy.ts'
import type { Direction } from '../../protocol/market.ts'
import {
  BPS_ONE,
  bps,
  formatUnits,
  mulDivUp,
  parseUnits,
  USD_DECIMALS,
  type Usd,
} from '../../protocol/units.ts'
import type { PositionFees } from './marketFees.ts'

/** A preview. Amounts are decimal texts of integers with 30 decimals; prices are USD per whole index token. */
export interface ManualQuote {
  readonly market: string
  readonly direction: Direction
  readonly orderType: string
  readonly sizeUsd: string
  readonly leverageBps: number
  /** Decimal amount and symbol: `250 USDC`. */
  readonly collateral: string
  readonly referencePrice: string
  readonly triggerPrice: string | null
  readonly exits: readonly { readonly type: string; readonly triggerPrice: string }[]
  /** The worst price that would be signed; the venue's own is usually better. null: any, as stops at the venue are. */
  readonly worstPrice: string | null
  /** What that price costs against the reference, the venue's fee, and the fees of relay and execution; each at most. */
  readonly worstPriceUsd: string | null
  readonly venueFeesUsd: string
  /** The highest fee of the market, hundredths of a basis point of the size; of any market where this one's is not known. */
  readonly venueFeeBps100: number
  readonly orderFeesUsd: string
  /** All of them; null where the price is unbounded. */
  readonly worstCostUsd: string | null
  /** Strategies that look at positions of this market. */
  readonly managers: readonly string[]
  /** Why a guard would reduce or close what is opened at once, and stops that cannot fire, a sentence each; empty for none. */
  readonly guardWarnings: readonly string[]
}

/** The highest fee of a position that the venue has, hundredths of a basis point of its size. */
const HIGHEST_FEE_BPS100 = 1_000

/** The quote of an increase that would be accepted now. */
export function quoteOf(
  { terms, decision, ...rest }: Intent,
  policy: SigningPolicy,
  feeTokenDecimals: number,
  managers: readonly string[],
  fees: PositionFees,
  warningsOf: (venueFeesUsd: Usd) => readonly string[] = () => [],
): ManualQuote {
  const intent = { terms, decision, ...rest }
  const { sizeDeltaUsd, referencePrice, triggerPrice, direction, tpsl = [] } = terms
  const badBps = worstBps(intent, policy)
  const worstPriceUsd = badBps === undefined ? undefined : bps(sizeDeltaUsd, badBps)
  const center = terms.orderType === 'limit' ? (triggerPrice ?? referencePrice) : referencePrice
  const worstPrice =
    badBps === undefined
      ? undefined
      : direction === 'long'
        ? center + bps(center, badBps)
        : center - bps(center, badBps)
  const { balancingBps100, unbalancingBps100 } = fees
  // Which of both it takes is told when it fills: others may trade before.
  const venueFeeBps100 =
    balancingBps100 === null || unbalancingBps100 === null
      ? HIGHEST_FEE_BPS100
      : Math.max(balancingBps100, unbalancingBps100)
  const venueFeesUsd = mulDivUp(sizeDeltaUsd, BigInt(venueFeeBps100), 100n * BigInt(BPS_ONE))
  const fee = relayFeeLimit(policy, intent) * BigInt(1 + tpsl.length)
  const orderFeesUsd = parseUnits(formatUnits(fee, feeTokenDecimals), USD_DECIMALS)
  const worstCostUsd = worstPriceUsd === undefined ? undefined : worstPriceUsd + venueFeesUsd + orderFeesUsd
  const { collateralToken, collateralDelta } = terms
  const text = (amount: Usd | undefined): string | null => amount?.toString() ?? null
  return {
    market: terms.symbol,
    direction,
    orderType: terms.orderType,
    sizeUsd: sizeDeltaUsd.toString(),
    leverageBps: decision.kind === 'increase' ? decision.leverageBps : BPS_ONE,
    collateral: `${formatUnits(collateralDelta, collateralToken.decimals)} ${collateralToken.symbol}`,
    referencePrice: referencePrice.toString(),
    triggerPrice: text(triggerPrice),
    exits: tpsl.map((exit) => ({ type: exit.type, triggerPrice: exit.triggerPrice.toString() })),
    worstPrice: text(worstPrice),
    worstPriceUsd: text(worstPriceUsd),
    venueFeesUsd: venueFeesUsd.toString(),
    venueFeeBps100,
    orderFeesUsd: orderFeesUsd.toString(),
    worstCostUsd: text(worstCostUsd),
    managers,
    guardWarnings: warningsOf(venueFeesUsd),
  }
}

/** How far at our cost the price that is signed may lie from its center, bps; undefined: a stop takes any price. */
function worstBps(intent: Intent, policy: SigningPolicy): number | undefined {
  const { orderType, acceptablePriceImpactBps, priceImpactBps = 0 } = intent.terms
  if (orderType === 'stop-market') return undefined
  const { slippageBps, toleranceBps, maxImpactBps = 0 } = widthFor(policy, intent)
  if (acceptablePriceImpactBps !== undefined) return slippageBps + acceptablePriceImpactBps
  return slippageBps + toleranceBps + Math.min(Math.max(0, -priceImpactBps), maxImpactBps)
}
