/**
 * Generates the activity of markets before the venue began as a pure function of (seed, market, day or hour). So windows are filled from the first
 * moment, nothing is stored, and the same seed has the same past byte for byte. Sizes are fractions of the pools that the venue begins with; pool
 * values follow the same price paths as the tickers.
 */
import { hexKey } from '../../protocol/address.ts'
import { bell, hashText, unit } from '../math/random.ts'
import type { VenueMarket } from '../state/seedMarkets.ts'
import type { VenueState } from '../state/venueState.ts'
import { addFlow, type Flow, noFlow, type Sample, shareOf } from './flow.ts'

const HOUR = 3600
const DAY_HOURS = 24

/** Part of the fees of the past that the pools kept. */
const POOL_SHARE = 0.63
/** Mean size of a trade of the past, USD with 30 decimals. */
const MEAN_TRADE_USD = 9000n * 10n ** 30n

/** A market's past. */
export interface SeededHistory {
  readonly stream: number
  /** State of the market when the venue began. */
  readonly base: Sample
  /** Hours since 1970 at which the market was listed. */
  readonly listedHour: number
  /** Value of the pool when the venue began, USD with 30 decimals. */
  readonly poolUsd: bigint
  /** Where the slow noises stood when the venue began: the past ends where the present starts. */
  readonly depositsAtStart: number
  readonly openLongAtStart: number
  readonly openShortAtStart: number
}

/** The past of a market whose books begin with `base`. */
export function seededHistoryOf(venueState: VenueState, market: VenueMarket, base: Sample): SeededHistory {
  const listed = Date.parse(market.catalog.listingDate ?? '2023-08-08T00:00:00.000Z') / 1000
  const stream = hashText(`${venueState.seed}:${market.catalog.marketToken}:past`)
  const epochHour = venueState.epochSeconds / HOUR
  return {
    stream,
    base,
    listedHour: Math.floor(listed / HOUR),
    poolUsd: base.poolLongUsd + base.poolShortUsd,
    depositsAtStart: smooth(stream ^ 0x71, epochHour, 1100),
    openLongAtStart: smooth(stream ^ 0x76, epochHour, 30),
    openShortAtStart: smooth(stream ^ 0x77, epochHour, 30),
  }
}

/** Smooth noise between -1 and 1 over cells of `length`. */
function smooth(stream: number, at: number, length: number): number {
  const position = at / length
  const cell = Math.floor(position)
  const part = position - cell
  const from = bell(stream, cell)
  return (from + (bell(stream, cell + 1) - from) * part * part * (3 - 2 * part)) * 1.7
}

/** Returns the activity of a market on a day (days since 1970) before the venue began. */
function seededDay(history: SeededHistory, day: number): Flow {
  const { stream, base, poolUsd } = history
  if (poolUsd === 0n || day * DAY_HOURS < history.listedHour) return noFlow()
  const yearlyYield = 0.05 + 0.25 * unit(stream, 1) ** 2
  const activity = (0.75 + 0.35 * smooth(stream ^ 0x51, day, 9)) * (0.6 + 0.8 * unit(stream ^ 0x52, day))
  const forPoolShare = (yearlyYield / 365) * activity
  const feesShare = forPoolShare / POOL_SHARE
  const isSpot = base.maxReservedLongUsd === 0n && base.maxReservedShortUsd === 0n
  const swapShare = isSpot ? 1 : 0.03 + 0.1 * unit(stream, 2)
  const volumePerpsUsd = shareOf(poolUsd, (feesShare * (1 - swapShare) * 0.8) / 0.0005)
  const volumeSwapsUsd = shareOf(poolUsd, (feesShare * swapShare) / 0.0006)
  const pnl = (salt: number): bigint =>
    isSpot ? 0n : shareOf(poolUsd, 0.0012 * (smooth(stream ^ salt, day, 3) + 0.5 * bell(stream ^ salt, day)))
  return {
    volumePerpsUsd,
    volumeSwapsUsd,
    feesTradingUsd: shareOf(poolUsd, feesShare * (1 - swapShare)),
    feesSwapUsd: shareOf(poolUsd, feesShare * swapShare),
    feesForPoolUsd: shareOf(poolUsd, forPoolShare),
    realizedLongUsd: pnl(0x61),
    realizedShortUsd: pnl(0x62),
    tradesPerps: Number(volumePerpsUsd / MEAN_TRADE_USD),
    tradesSwaps: Number((volumeSwapsUsd * 3n) / MEAN_TRADE_USD),
  }
}

/** Cumulated thousandths of a day's activity that passed before each hour: the venue trades more in some hours. */
function dayProfile(seed: number, day: number): readonly number[] {
  const weights = Array.from(
    { length: DAY_HOURS },
    (_unused, hour) =>
      0.6 + 0.5 * Math.sin((hour - 8) / 3.8) ** 2 + 0.4 * unit(seed ^ 0x3c6e, day * 24 + hour),
  )
  const sum = weights.reduce((total, one) => total + one, 0)
  let passed = 0
  const profile = [0]
  for (const weight of weights) {
    passed += weight
    profile.push(Math.round((passed / sum) * 1000))
  }
  return profile
}

/** Returns the activity of a market in one hour (hours since 1970) before the venue began; a day is the sum of its hours. */
function seededHour(seed: number, history: SeededHistory, hour: number): Flow {
  const day = Math.floor(hour / DAY_HOURS)
  const whole = seededDay(history, day)
  const profile = dayProfile(seed, day)
  const from = profile[hour - day * DAY_HOURS] ?? 0
  const to = profile[hour - day * DAY_HOURS + 1] ?? 1000
  const part = (value: bigint): bigint => (value * BigInt(to)) / 1000n - (value * BigInt(from)) / 1000n
  const count = (value: number): number => Math.floor((value * to) / 1000) - Math.floor((value * from) / 1000)
  return {
    volumePerpsUsd: part(whole.volumePerpsUsd),
    volumeSwapsUsd: part(whole.volumeSwapsUsd),
    feesTradingUsd: part(whole.feesTradingUsd),
    feesSwapUsd: part(whole.feesSwapUsd),
    feesForPoolUsd: part(whole.feesForPoolUsd),
    realizedLongUsd: part(whole.realizedLongUsd),
    realizedShortUsd: part(whole.realizedShortUsd),
    tradesPerps: count(whole.tradesPerps),
    tradesSwaps: count(whole.tradesSwaps),
  }
}

/** Returns the activity of a market from one hour to another (the end is not in it), both before the venue began. */
export function seededFlow(seed: number, history: SeededHistory, fromHour: number, toHour: number): Flow {
  const sum = noFlow()
  let hour = Math.max(fromHour, history.listedHour)
  while (hour < toHour) {
    if (hour % DAY_HOURS === 0 && hour + DAY_HOURS <= toHour) {
      addFlow(sum, seededDay(history, hour / DAY_HOURS))
      hour += DAY_HOURS
    } else {
      addFlow(sum, seededHour(seed, history, hour))
      hour += 1
    }
  }
  return sum
}

/** Ratios of prices to those at the world's start, by token and hour; a bounded memo, paths never change. */
const ratioMemo = new WeakMap<VenueState, Map<string, Map<number, number>>>()
const MAX_RATIOS_OF_TOKEN = 12_000

/** Price of a token at an hour over its price when the venue began. */
export function priceRatio(venueState: VenueState, tokenAddress: string, hour: number): number {
  let byToken = ratioMemo.get(venueState)
  if (byToken === undefined) {
    byToken = new Map()
    ratioMemo.set(venueState, byToken)
  }
  let ratios = byToken.get(tokenAddress)
  if (ratios === undefined) {
    ratios = new Map()
    byToken.set(tokenAddress, ratios)
  }
  const known = ratios.get(hour)
  if (known !== undefined) return known
  const token = venueState.catalog.tokenByAddress.get(hexKey(tokenAddress))
  if (token === undefined) return 1
  const key = venueState.catalog.priceKeyOf(token)
  const at = (seconds: number): bigint =>
    venueState.prices.medianAt(key, venueState.prices.stepAt(seconds).startSeconds) ?? 1n
  const ratio = Number((at(hour * HOUR) * RATE_UNIT) / at(venueState.epochSeconds)) / 1e12
  if (ratios.size >= MAX_RATIOS_OF_TOKEN) ratios.clear()
  ratios.set(hour, ratio)
  return ratio
}

/** Rates per hour with 30 decimals, as tickers show them. */
export type Rates = Pick<Sample, 'fundingLong' | 'fundingShort' | 'borrowingLong' | 'borrowingShort'>

const noRates: Rates = { fundingLong: 0n, fundingShort: 0n, borrowingLong: 0n, borrowingShort: 0n }
const RATE_UNIT = 10n ** 12n

/** Rates at an hour before the venue began: the skew of the time decides who pays, and the larger side borrows. */
export function seededRates(history: SeededHistory, isSpotOnly: boolean, hour: number): Rates {
  if (isSpotOnly) return noRates
  const { stream } = history
  const skew = smooth(stream ^ 0x72, hour, 60)
  const rate = (Math.abs(skew) * 1.2e-5 + 1e-6) * (0.8 + 0.4 * unit(stream ^ 0x73, hour))
  const paid = BigInt(Math.round(rate * 1e18)) * RATE_UNIT
  const received = shareOf(paid, 0.75 + 0.4 * unit(stream ^ 0x74, hour))
  const borrowed =
    BigInt(Math.round((4e-6 + 1.1e-5 * unit(stream ^ 0x75, Math.floor(hour / 5))) * 1e18)) * RATE_UNIT
  return skew >= 0
    ? { fundingLong: -paid, fundingShort: received, borrowingLong: borrowed, borrowingShort: 0n }
    : { fundingLong: received, fundingShort: -paid, borrowingLong: 0n, borrowingShort: borrowed }
}

/** Factors on the long and the short part of a pool: deposits come and go slowly, prices move what the pool holds. */
export function seededPoolFactors(
  venueState: VenueState,
  market: VenueMarket,
  history: SeededHistory,
  hour: number,
): { readonly long: number; readonly short: number } {
  const deposits = Math.exp(0.25 * (smooth(history.stream ^ 0x71, hour, 1100) - history.depositsAtStart))
  return {
    long: priceRatio(venueState, market.longToken.address, hour) * deposits,
    short: priceRatio(venueState, market.shortToken.address, hour) * deposits,
  }
}

/** Returns the state of a market at the start of an hour before the venue began. */
export function seededSample(
  venueState: VenueState,
  market: VenueMarket,
  history: SeededHistory,
  hour: number,
): Sample {
  const { base, stream } = history
  const { long, short } = seededPoolFactors(venueState, market, history, hour)
  const isSpot = market.settings.isSpotOnly
  const open = (salt: number, start: number, now: bigint): bigint =>
    isSpot ? 0n : now + shareOf(history.poolUsd, 0.004 * (smooth(stream ^ salt, hour, 30) - start))
  return {
    poolLongUsd: shareOf(base.poolLongUsd, long),
    poolShortUsd: shareOf(base.poolShortUsd, short),
    maxReservedLongUsd: shareOf(base.maxReservedLongUsd, long),
    maxReservedShortUsd: shareOf(base.maxReservedShortUsd, short),
    unrealizedLongUsd: open(0x76, history.openLongAtStart, base.unrealizedLongUsd),
    unrealizedShortUsd: open(0x77, history.openShortAtStart, base.unrealizedShortUsd),
    ...seededRates(history, isSpot, hour),
  }
}

/** Wallets that traded on a day before the venue began, from the trades of that day. */
export function seededUsers(seed: number, day: number, trades: number): number {
  return Math.round(trades * (0.16 + 0.08 * unit(seed ^ 0x5f3a, day)))
}
