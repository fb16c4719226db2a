/**
 * Funding: the rate that adapts, and the amounts per size it moves between the sides (contract `MarketUtils`,
 * `getNextFundingAmountPerSize`).
 */
import { abs, ceilDiv, fac, max, min, ONE, pow30 } from './integer.ts'
import {
  balanceInterest,
  interestUsd,
  type MarketPrices,
  type MarketSettings,
  type MarketState,
  otherSide,
  type Side,
  type Slot,
  slotPrice,
  slotValue,
} from './marketState.ts'
import { ProtocolRevert } from './protocolRevert.ts'

/** Precision of funding per size: 10^45. */
export const FUNDING_PRECISION = 10n ** 45n

/** A funding rate. */
export interface FundingRate {
  /** Factor per second of the paying side, not negative. */
  readonly factorPerSecond: bigint
  readonly longsPayShorts: boolean
  /** Saved factor for the next time, positive: longs pay. */
  readonly saved: bigint
}

/** The funding rate after `dtSeconds` more seconds, from balance open interest. */
export function nextFundingRate(
  settings: MarketSettings,
  longUsd: bigint,
  shortUsd: bigint,
  savedBefore: bigint,
  dtSeconds: bigint,
): FundingRate {
  const diff = abs(longUsd - shortUsd)
  const total = longUsd + shortUsd
  const increaseFactor = settings.fundingIncreaseFactorPerSecond
  if (diff === 0n && increaseFactor === 0n) return { factorPerSecond: 0n, longsPayShorts: true, saved: 0n }
  if (total === 0n) throw new ProtocolRevert('UnableToGetFundingFactorEmptyOpenInterest')
  const skew = (pow30(diff, settings.fundingExponentFactor) * ONE) / total
  if (increaseFactor === 0n) {
    const longsPayShorts = longUsd > shortUsd
    const limit = settings.maxFundingFactorPerSecond[longsPayShorts ? 'long' : 'short']
    return { factorPerSecond: min(fac(skew, settings.fundingFactor), limit), longsPayShorts, saved: 0n }
  }
  let saved = adapt(settings, savedBefore, skew, longUsd, shortUsd, dtSeconds)
  const side: Side = saved >= 0n ? 'long' : 'short'
  const highest = settings.maxFundingFactorPerSecond[side]
  if (abs(saved) > highest) saved = saved < 0n ? -highest : highest
  const rate = min(max(abs(saved), settings.minFundingFactorPerSecond[side]), highest)
  return { factorPerSecond: rate, longsPayShorts: saved >= 0n && rate > 0n, saved }
}

function adapt(
  settings: MarketSettings,
  saved: bigint,
  skew: bigint,
  longUsd: bigint,
  shortUsd: bigint,
  dtSeconds: bigint,
): bigint {
  const sameWay = (saved > 0n && longUsd > shortUsd) || (saved < 0n && shortUsd > longUsd)
  if (sameWay && skew <= settings.thresholdForStableFunding) {
    if (skew >= settings.thresholdForDecreaseFunding) return saved
    const step = settings.fundingDecreaseFactorPerSecond * dtSeconds
    if (abs(saved) <= step) return saved > 0n ? 1n : -1n
    return saved > 0n ? saved - step : saved + step
  }
  let rate = fac(skew, settings.fundingIncreaseFactorPerSecond)
  if (skew > 0n && rate < settings.minFundingIncreaseRatePerSecond) {
    rate = settings.minFundingIncreaseRatePerSecond
  }
  return longUsd < shortUsd ? saved - rate * dtSeconds : saved + rate * dtSeconds
}

/** Changes of the per-size values by side and slot, and the rate they came from. */
export interface FundingStep extends FundingRate {
  readonly fee: { readonly [side in Side]: readonly [bigint, bigint] }
  readonly claimable: { readonly [side in Side]: readonly [bigint, bigint] }
}

/** Returns the additions per size of `dtSeconds` of funding at today's open interest and prices. */
export function fundingStep(
  settings: MarketSettings,
  state: MarketState,
  prices: MarketPrices,
  dtSeconds: bigint,
): FundingStep {
  const fee = { long: [0n, 0n], short: [0n, 0n] } as { [side in Side]: [bigint, bigint] }
  const claimable = { long: [0n, 0n], short: [0n, 0n] } as { [side in Side]: [bigint, bigint] }
  const longUsd = interestUsd(settings, state, 'long')
  const shortUsd = interestUsd(settings, state, 'short')
  if (longUsd === 0n || shortUsd === 0n) {
    const saved = state.savedFundingFactorPerSecond
    return { factorPerSecond: abs(saved), longsPayShorts: saved > 0n, saved, fee, claimable }
  }
  const followed = state.followedRates?.fundingFactorPerSecond
  const rate =
    followed === undefined
      ? nextFundingRate(
          settings,
          balanceInterest(settings, state, 'long', prices),
          balanceInterest(settings, state, 'short', prices),
          state.savedFundingFactorPerSecond,
          dtSeconds,
        )
      : { factorPerSecond: abs(followed), longsPayShorts: followed > 0n, saved: followed }
  const paying: Side = rate.longsPayShorts ? 'long' : 'short'
  const receiving = otherSide(paying)
  const payingUsd = paying === 'long' ? longUsd : shortUsd
  const receivingUsd = paying === 'long' ? shortUsd : longUsd
  const divisor = settings.isSameCollaterals ? 2n : 1n
  const fundingUsd = fac(payingUsd, dtSeconds * rate.factorPerSecond) / divisor
  for (const slot of [0, 1] as const) {
    const bucket = slotValue(settings, state[paying].interestUsd, slot)
    const usd = (fundingUsd * bucket) / payingUsd
    if (usd === 0n) continue
    const price = slotPrice(prices, slot).max
    if (bucket > 0n) fee[paying][slot] = ceilDiv(ceilDiv(usd * FUNDING_PRECISION, bucket), price)
    claimable[receiving][slot] = (usd * FUNDING_PRECISION) / receivingUsd / price
  }
  return { ...rate, fee, claimable }
}

/** Advances funding to `nowSeconds`; the first time only sets the clock. Mutates the draft. */
export function accrueFunding(
  settings: MarketSettings,
  state: MarketState,
  prices: MarketPrices,
  nowSeconds: number,
): void {
  const dt = state.fundingUpdatedAtSeconds === 0 ? 0 : nowSeconds - state.fundingUpdatedAtSeconds
  const step = fundingStep(settings, state, prices, BigInt(Math.max(0, dt)))
  const add = (side: Side, slot: Slot): void => {
    const stored: Slot = settings.isSameCollaterals ? 0 : slot
    state[side].fundingFeePerSize[stored] += step.fee[side][slot]
    state[side].claimablePerSize[stored] += step.claimable[side][slot]
  }
  for (const side of ['long', 'short'] as const) {
    add(side, 0)
    add(side, 1)
  }
  state.savedFundingFactorPerSecond = step.saved
  state.fundingUpdatedAtSeconds = nowSeconds
}
