/**
 * A position after an increase at an unmoved price, with the price at which it would be liquidated: by the contracts' rule
 * (`PositionUtils.isPositionLiquidatable`), as the venue shows it. Pure.
 */
import { defined, ifDefined } from '../../base/defined.ts'
import type { MarketView } from '../../domain/snapshot.ts'
import { type Address, sameHex } from '../../protocol/address.ts'
import type { Direction } from '../../protocol/market.ts'
import type { Position } from '../../protocol/position.ts'
import { type ImpactData, priceImpactUsd } from '../../protocol/priceImpact.ts'
import {
  amountOfUsd,
  BPS_ONE,
  maxOf,
  minOf,
  mulDiv,
  ONE_USD,
  type TokenAmount,
  tenTo,
  type Usd,
  usdOfAmount,
} from '../../protocol/units.ts'

/** Settings of a market that decide a liquidation. Fractions of the size, 30 decimals. */
export interface LiquidationSettings {
  readonly minCollateralFactor: bigint
  readonly maxImpactFactor: bigint
  readonly feeFactors: { readonly balancing: bigint; readonly unbalancing: bigint }
}

/** An increase that fills at a price. */
export interface FilledIncrease {
  readonly direction: Direction
  readonly sizeUsd: Usd
  readonly collateralToken: Address
  /** Paid in, units of the collateral token. */
  readonly collateralAmount: TokenAmount
  /** USD per whole index token. */
  readonly price: Usd
  /** The position that it adds to; absent: there is none. */
  readonly held?: Position | undefined
  /** It fills once its price is reached, which moves a collateral in the index token too. */
  readonly isWaiting?: boolean
}

/** The result. Prices are USD per whole index token. */
export interface PositionAfter {
  readonly sizeUsd: Usd
  /** 10000 = 1x; absent where no collateral is left. */
  readonly leverageBps?: bigint
  /** Absent: no price liquidates it. */
  readonly liquidationPrice?: Usd
}

/** Returns the position after an increase; undefined where the market's data or the price of the collateral are unknown. */
export function positionAfter(
  { direction, sizeUsd: addedUsd, collateralToken, collateralAmount, price, held, isWaiting }: FilledIncrease,
  view: MarketView,
  settings: LiquidationSettings,
): PositionAfter | undefined {
  const token = [view.longToken, view.shortToken].find(({ address }) => sameHex(address, collateralToken))
  const data = view.impact?.value
  const oracle = view.oraclePrice?.value
  if (token?.minPrice === undefined || data === undefined || oracle === undefined || price <= 0n)
    return undefined
  const { decimals } = view.indexToken
  const isIndex = sameHex(token.address, view.indexToken.address)
  const collateralPrice = isIndex && isWaiting === true ? price : token.minPrice
  const addedTokens = amountOfUsd(addedUsd, price, decimals)
  const index = { decimals, minPrice: oracle.minPrice, maxPrice: oracle.maxPrice }
  const trade = { direction, sizeDeltaUsd: addedUsd, sizeDeltaInTokens: addedTokens }
  const openImpactUsd = priceImpactUsd(data, { ...trade, action: 'increase' }, index)
  if (openImpactUsd === undefined) return undefined
  const { feeFactors } = settings
  const feeFactor = openImpactUsd > 0n ? feeFactors.balancing : feeFactors.unbalancing
  const feeUsd = mulDiv(addedUsd, feeFactor, ONE_USD)
  const heldUsd = maxOf(0n, held?.remainingCollateralUsd ?? 0n)
  const paidUsd = usdOfAmount(collateralAmount, collateralPrice, token.decimals)
  const collateralUsd = heldUsd + paidUsd - feeUsd
  const sizeUsd = addedUsd + (held?.sizeInUsd ?? 0n)
  const tokens = addedTokens + (held?.sizeInTokens ?? 0n)
  const after = grown(data, direction, data.balanceIn === 'usd' ? addedUsd : addedTokens)
  const whole = { direction, sizeDeltaUsd: sizeUsd, sizeDeltaInTokens: tokens, action: 'decrease' } as const
  const closeImpactUsd = priceImpactUsd(after, whole, index)
  if (closeImpactUsd === undefined) return undefined
  const pendingUsd = pendingImpactUsd(held, data, index) + capped(data, addedUsd, openImpactUsd)
  const impactUsd = maxOf(
    minOf(0n, capped(data, sizeUsd, closeImpactUsd) + pendingUsd),
    -mulDiv(sizeUsd, settings.maxImpactFactor, ONE_USD),
  )
  const liquidationPrice = liquidationPriceOf({
    ...{ direction, sizeUsd, tokens, collateralUsd, impactUsd, decimals },
    collateralAmount: isIndex
      ? amountOfUsd(maxOf(0n, collateralUsd), collateralPrice, token.decimals)
      : undefined,
    requiredUsd: maxOf(mulDiv(sizeUsd, settings.minCollateralFactor, ONE_USD), view.market.minCollateralUsd),
    closingFeeUsd: mulDiv(sizeUsd, feeFactors.unbalancing, ONE_USD),
  })
  return {
    sizeUsd,
    ...defined({
      leverageBps: collateralUsd > 0n ? mulDiv(sizeUsd, BigInt(BPS_ONE), collateralUsd) : undefined,
      liquidationPrice,
    }),
  }
}

/** The market's balance once the order has filled. */
function grown(data: ImpactData, direction: Direction, delta: bigint): ImpactData {
  const isLong = direction === 'long'
  const { virtualInventory } = data
  return {
    ...data,
    longInterest: data.longInterest + (isLong ? delta : 0n),
    shortInterest: data.shortInterest + (isLong ? 0n : delta),
    ...defined({
      virtualInventory: ifDefined(virtualInventory, (inventory) =>
        isLong ? inventory - delta : inventory + delta,
      ),
    }),
  }
}

/** An impact that pays is cut to the market's largest share of the size; one that costs stays as it is. */
function capped(data: ImpactData, sizeUsd: Usd, impactUsd: Usd): Usd {
  const most = minOf(data.maxPositionImpactFactorPositive, data.maxPositionImpactFactorNegative)
  return minOf(impactUsd, mulDiv(sizeUsd, most, ONE_USD))
}

/** The impact of earlier increases that a position has not settled: the venue's impact of a close, less that of the balance. */
function pendingImpactUsd(
  held: Position | undefined,
  data: ImpactData,
  index: Parameters<typeof priceImpactUsd>[2],
): Usd {
  if (held?.netPriceImpactDeltaUsd === undefined) return 0n
  const { direction, sizeInUsd: sizeDeltaUsd, sizeInTokens: sizeDeltaInTokens } = held
  const trade = { direction, action: 'decrease', sizeDeltaUsd, sizeDeltaInTokens } as const
  const closingUsd = priceImpactUsd(data, trade, index)
  return closingUsd === undefined ? 0n : held.netPriceImpactDeltaUsd - capped(data, sizeDeltaUsd, closingUsd)
}

/** Parts of a liquidation price, USD. */
interface Liquidated {
  readonly direction: Direction
  readonly sizeUsd: Usd
  readonly tokens: TokenAmount
  readonly collateralUsd: Usd
  /** The collateral in the index token, whose worth moves with the price; undefined: it is in another. */
  readonly collateralAmount: TokenAmount | undefined
  readonly requiredUsd: Usd
  readonly closingFeeUsd: Usd
  /** Not positive. */
  readonly impactUsd: Usd
  readonly decimals: number
}

/** The price at which collateral and result are no more than what must be left, USD per whole index token; undefined: none above zero. */
function liquidationPriceOf(parts: Liquidated): Usd | undefined {
  const { direction, sizeUsd, tokens, collateralUsd, collateralAmount, requiredUsd } = parts
  const isLong = direction === 'long'
  // Needed beyond the collateral, by a result that is tokens * price - size of a long, and the other way round of a short.
  const neededUsd = requiredUsd + parts.closingFeeUsd - parts.impactUsd
  const moving = collateralAmount ?? 0n
  const divisor = isLong ? tokens + moving : tokens - moving
  const fixedUsd = collateralAmount === undefined ? collateralUsd : 0n
  const worthUsd = isLong ? sizeUsd + neededUsd - fixedUsd : sizeUsd - neededUsd + fixedUsd
  if (divisor <= 0n || worthUsd <= 0n) return undefined
  return (worthUsd * tenTo(parts.decimals)) / divisor
}
