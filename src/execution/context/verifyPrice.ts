/**
 * Acceptable prices, by the type of an order (docs/sending.md, "Price impact"). Our own oracle reading bounds a market order, its trigger a limit or
 * take-profit. Stops and twap parts take any price by the protocol's own habit: their size bounds them, and they may carry "any" for their side
 * alone, never the other side's.
 */
import type { ContestedPrice } from '../../domain/order/contestedPrice.ts'
import { bps, contractPriceOf, formatUnits, MAX_UINT256, type Usd } from '../../protocol/units.ts'
import type { Differences } from './differences.ts'

/** Bound of an order's acceptable price. Prices are USD per whole index token. */
export type PriceRule =
  /**
   * Within slippage, tolerance and estimated impact of the center. With `impactBps`, which the order requested by name, within it and the slippage.
   * It is unknown whether the venue adds the slippage, and both were requested.
   */
  | (Around & {
      readonly kind: 'around'
      readonly center: Usd
      readonly impactBps?: number
      /** The band that the center is of, where hosts differ on the price: nobody can say then that a price is wrong. */
      readonly contested?: ContestedPrice | undefined
    })
  /** "Any" of its side, or around the center where there is one. */
  | (Around & { readonly kind: 'any'; readonly center?: Usd })
  /** No price at all: swaps. */
  | { readonly kind: 'none' }
  /** The contract looks at none: an increase of size 0 trades nothing. */
  | { readonly kind: 'unchecked' }

interface Around {
  /** Our own estimate of the order's price impact, bps, negative at our cost: it widens the bound on its side. */
  readonly estimateBps?: number
}

/** Width of the bound, bps. */
export interface PriceWidth {
  readonly slippageBps: number
  readonly toleranceBps: number
  /** Most of an estimated impact that widens the bound; absent: none of it. */
  readonly maxImpactBps?: number | undefined
}

/** "Any price" of a side: buys carry max uint256, sells 0. */
export function anyPriceOf(buys: boolean): bigint {
  return buys ? MAX_UINT256 : 0n
}

/** Compares an acceptable price, a contract price of an index token with `decimals`, with its rule. */
export function checkAcceptablePrice(
  differences: Differences,
  field: string,
  rule: PriceRule,
  found: bigint,
  side: { readonly buys: boolean; readonly decimals: number },
  width: PriceWidth,
): void {
  if (rule.kind === 'unchecked') return
  const any = rule.kind === 'none' ? 0n : anyPriceOf(side.buys)
  if (rule.kind === 'around' || (rule.kind === 'any' && rule.center !== undefined && found !== any)) {
    checkAround(differences, field, bandOf(rule), found, side, reachOf(rule, width))
  } else differences.same(field, any, found)
}

/** Largest distance of a price from its center, bps: the tolerance either way, and impacts at our cost, besides the slippage, and in our favour. */
interface Reach {
  readonly slippageBps: number
  readonly toleranceBps: number
  readonly badBps: number
  readonly goodBps: number
}

function reachOf(
  rule: Extract<PriceRule, { readonly kind: 'around' | 'any' }>,
  { slippageBps, toleranceBps, maxImpactBps = 0 }: PriceWidth,
): Reach {
  if (rule.kind === 'around' && rule.impactBps !== undefined)
    return { slippageBps, toleranceBps: 0, badBps: rule.impactBps, goodBps: rule.impactBps }
  const { estimateBps = 0 } = rule
  const widenedBy = (impactBps: number): number => Math.min(Math.max(0, impactBps), maxImpactBps)
  return {
    slippageBps,
    toleranceBps,
    badBps: widenedBy(-estimateBps),
    goodBps: widenedBy(estimateBps),
  }
}

/** The center that a price may lie around: one price, or the honest band of several. */
interface Band {
  readonly lowest: Usd
  readonly highest: Usd
  readonly isContested: boolean
}

function bandOf(rule: Extract<PriceRule, { readonly kind: 'around' | 'any' }>): Band {
  const { center = 0n } = rule
  const contested = rule.kind === 'around' ? rule.contested : undefined
  return contested === undefined
    ? { lowest: center, highest: center, isContested: false }
    : { lowest: contested.lowest, highest: contested.highest, isContested: true }
}

/**
 * Beyond the bound on the bad side we would overpay; far on the good side the order could only ever be cancelled or freeze,
 * at our cost.
 */
function checkAround(
  differences: Differences,
  field: string,
  { lowest: leastPrice, highest: mostPrice, isContested }: Band,
  found: bigint,
  { buys, decimals }: { readonly buys: boolean; readonly decimals: number },
  { slippageBps, toleranceBps, badBps, goodBps }: Reach,
): void {
  // The venue puts the impact on its own price, which may lie a whole tolerance above ours. Below, the sum is the wider of the two.
  const above = raised(raised(mostPrice, toleranceBps), buys ? badBps : goodBps)
  const below = leastPrice - bps(leastPrice, toleranceBps + (buys ? goodBps : slippageBps + badBps))
  const lowest = contractPriceOf(below, decimals)
  const highest = contractPriceOf(buys ? raised(above, slippageBps) : above, decimals)
  // The venue rounds in contract units: one of them either way is no difference.
  if (found >= lowest - 1n && found <= highest + 1n) return
  const price = (value: bigint) => formatUnits(value, 30 - decimals)
  // Markets move by a few percent between two reads, not to any price at all.
  const least = contractPriceOf(leastPrice, decimals)
  const most = contractPriceOf(mostPrice, decimals)
  const isMove = found >= least - least / 5n && found <= most + most / 5n
  differences.add(
    field,
    `between ${price(lowest)} and ${price(highest)} USD`,
    `${price(found)} USD`,
    isContested ? 'PRICE_CONTESTED' : isMove ? 'PRICE_OUT_OF_BOUNDS' : undefined,
  )
}

function raised(price: Usd, byBps: number): Usd {
  return price + bps(price, byBps)
}
