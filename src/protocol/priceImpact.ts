/**
 * Our own estimate of the price impact of a trade on a position, from the market's own data. It follows the contracts
 * (`PositionPricingUtils.getPriceImpactUsd`, `PricingUtils`); where the official client differs from them, the contracts count.
 * It tells what price a right answer may name, never a size.
 */
import type { Direction } from './market.ts'
import {
  absOf,
  BPS_ONE,
  fromDecimal,
  maxOf,
  minOf,
  mulDiv,
  mulDivUp,
  ONE_USD,
  type TokenAmount,
  toDecimal,
  USD_DECIMALS,
  type Usd,
} from './units.ts'

/** Facts of a market that decide the impact of a trade. Factors and exponents have 30 decimals. */
export interface ImpactData {
  readonly positionImpactFactorPositive: bigint
  readonly positionImpactFactorNegative: bigint
  readonly positionImpactExponentFactorPositive: bigint
  readonly positionImpactExponentFactorNegative: bigint
  /** Largest share of the size that an impact may pay out; the smaller of the two holds. */
  readonly maxPositionImpactFactorPositive: bigint
  readonly maxPositionImpactFactorNegative: bigint
  /** Unit of the balance of the two sides: USD at entry prices, or base units of the index token. */
  readonly balanceIn: 'usd' | 'tokens'
  /** Open interest of the two sides, in that unit. */
  readonly longInterest: bigint
  readonly shortInterest: bigint
  /** Shared by markets of one index token, in that unit, above 0 where shorts outweigh; absent: the market has none. */
  readonly virtualInventory?: bigint
  /**
   * Fees of a change of a position, factors with 30 decimals of its size: where it balances longs and shorts, and where it does not.
   * Absent: the venue does not say.
   */
  readonly positionFeeFactors?: { readonly balancing: bigint; readonly unbalancing: bigint }
}

/** A trade that is estimated. */
export interface ImpactTrade {
  readonly direction: Direction
  readonly action: 'increase' | 'decrease'
  /** USD, positive. */
  readonly sizeDeltaUsd: Usd
  /** The same in base units of the index token. */
  readonly sizeDeltaInTokens: TokenAmount
}

/** The index token, prices USD per whole token. */
export interface ImpactIndex {
  readonly decimals: number
  readonly minPrice: Usd
  readonly maxPrice: Usd
}

/** Exponents of the venue's markets are 1 to 3; what is beyond this is no setting of a market. */
const mostExponent = 10n * ONE_USD

/**
 * Uncapped price impact of a trade, USD, negative at the trader's cost: the worse of the market's own balance and of the
 * virtual inventory's. Undefined where the data cannot be those of a market.
 */
export function priceImpactUsd(data: ImpactData, trade: ImpactTrade, index: ImpactIndex): Usd | undefined {
  if (!isPlausible(data)) return undefined
  const { longInterest, shortInterest } = data
  // The middle of the two prices counts a balance in tokens (`Price.midPrice`).
  const usdOf = (amount: bigint): Usd =>
    data.balanceIn === 'usd'
      ? amount
      : mulDiv(amount, index.minPrice + index.maxPrice, 2n * 10n ** BigInt(index.decimals))
  const size = data.balanceIn === 'usd' ? trade.sizeDeltaUsd : usdOf(trade.sizeDeltaInTokens)
  const delta = trade.action === 'increase' ? size : -size
  const own = impactOfBalance(data, usdOf(longInterest), usdOf(shortInterest), trade.direction, delta)
  const { virtualInventory } = data
  if (own >= 0n || virtualInventory === undefined) return own
  const inventory = usdOf(absOf(virtualInventory))
  const offset = maxOf(0n, -delta)
  const [longs, shorts] = virtualInventory > 0n ? [0n, inventory] : [inventory, 0n]
  return minOf(own, impactOfBalance(data, longs + offset, shorts + offset, trade.direction, delta))
}

/**
 * The same in bps of the size, counted up to the next one: negative at the trader's cost, where nothing caps it in the price
 * that is compared with an acceptable one; positive up to what may be paid out. From -10000 to 10000; undefined as above, and
 * of a size of 0.
 */
export function priceImpactBps(data: ImpactData, trade: ImpactTrade, index: ImpactIndex): number | undefined {
  if (trade.sizeDeltaUsd <= 0n) return undefined
  const impactUsd = priceImpactUsd(data, trade, index)
  if (impactUsd === undefined) return undefined
  const share = (usd: Usd): number => {
    const shareBps = mulDivUp(usd, BigInt(BPS_ONE), trade.sizeDeltaUsd)
    return Number(minOf(shareBps, BigInt(BPS_ONE)))
  }
  if (impactUsd === 0n) return 0
  if (impactUsd < 0n) return -share(-impactUsd)
  const most = minOf(data.maxPositionImpactFactorPositive, data.maxPositionImpactFactorNegative)
  return share(minOf(impactUsd, mulDiv(trade.sizeDeltaUsd, most, ONE_USD)))
}

/** A host's data could be anything; nothing of a market is negative but the virtual inventory. */
function isPlausible({
  balanceIn: _,
  virtualInventory: __,
  positionFeeFactors: ___,
  ...amounts
}: ImpactData): boolean {
  const { positionImpactExponentFactorPositive: one, positionImpactExponentFactorNegative: other } = amounts
  return one <= mostExponent && other <= mostExponent && Object.values(amounts).every((value) => value >= 0n)
}

/** Impact of a signed change of one side, from the balance before to the balance after, USD. */
function impactOfBalance(
  data: ImpactData,
  longUsd: Usd,
  shortUsd: Usd,
  direction: Direction,
  deltaUsd: Usd,
): Usd {
  const nextLong = direction === 'long' ? maxOf(0n, longUsd + deltaUsd) : longUsd
  const nextShort = direction === 'short' ? maxOf(0n, shortUsd + deltaUsd) : shortUsd
  const before = absOf(longUsd - shortUsd)
  const after = absOf(nextLong - nextShort)
  const factorNegative = data.positionImpactFactorNegative
  const exponentNegative = data.positionImpactExponentFactorNegative
  // A trade that improves the balance never earns more than the opposite trade costs.
  const factorPositive = minOf(data.positionImpactFactorPositive, factorNegative)
  const exponentPositive = minOf(data.positionImpactExponentFactorPositive, exponentNegative)
  const positive = (diffUsd: Usd): Usd => curve(diffUsd, factorPositive, exponentPositive)
  const negative = (diffUsd: Usd): Usd => curve(diffUsd, factorNegative, exponentNegative)
  // The side that outweighed changes: all of the old difference goes, all of the new one comes.
  if (longUsd <= shortUsd !== nextLong <= nextShort) return positive(before) - negative(after)
  return after < before
    ? absOf(positive(before) - positive(after))
    : -absOf(negative(before) - negative(after))
}

/** factor * difference ^ exponent, in units of USD and 1.0; nothing below a dollar (`Calc`, `Precision.applyExponentFactor`). */
function curve(diffUsd: Usd, factor: bigint, exponent: bigint): Usd {
  return mulDiv(powerOf(diffUsd, exponent), factor, ONE_USD)
}

function powerOf(base: Usd, exponent: bigint): bigint {
  if (base < ONE_USD) return 0n
  if (exponent === ONE_USD) return base
  if (exponent === 2n * ONE_USD) return mulDiv(base, base, ONE_USD)
  return fromDecimal(toDecimal(base, USD_DECIMALS).pow(toDecimal(exponent, USD_DECIMALS)), USD_DECIMALS)
}
