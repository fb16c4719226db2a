/** Open, high, low and close of the last 24 hours: a function of the moment alone, whoever asked for what before. */
import type { VenueMarket } from '../state/seedMarkets.ts'
import type { VenueState } from '../state/venueState.ts'

/** High and low are those of samples this far apart, and of the price now. */
const SAMPLE_SECONDS = 600
const DAY = 86_400
const SAMPLES = DAY / SAMPLE_SECONDS

/** Figures of a day in contract prices. */
export interface DayFigures {
  readonly open: bigint
  readonly high: bigint
  readonly low: bigint
  readonly close: bigint
}

/** Samples of one asset, oldest first, and their extremes. */
interface Sampled {
  /** Number of the newest sample since 1970. */
  last: number
  readonly prices: bigint[]
  high: bigint
  low: bigint
}

const sampledByWorld = new WeakMap<VenueState, Map<string, Sampled>>()

/** The samples of the 24 hours up to a moment; those of a moment before are gone on with. */
function samplesOf(venueState: VenueState, key: string, seconds: number): Sampled {
  let byKey = sampledByWorld.get(venueState)
  if (byKey === undefined) {
    byKey = new Map()
    sampledByWorld.set(venueState, byKey)
  }
  const last = Math.floor(seconds / SAMPLE_SECONDS)
  let one = byKey.get(key)
  if (one === undefined || last < one.last || last - one.last > SAMPLES) {
    one = { last: last - SAMPLES, prices: [], high: 0n, low: 0n }
    byKey.set(key, one)
  }
  if (one.last === last) return one
  while (one.last < last) {
    one.last += 1
    const at = venueState.prices.stepAt(one.last * SAMPLE_SECONDS).startSeconds
    one.prices.push(venueState.prices.medianAt(key, at) ?? 0n)
  }
  one.prices.splice(0, one.prices.length - SAMPLES)
  one.high = one.prices.reduce((high, price) => (price > high ? price : high))
  one.low = one.prices.reduce((low, price) => (price < low ? price : low))
  return one
}

/** Figures of a market's index token; zero for a spot-only market. */
export function dayOf(venueState: VenueState, market: VenueMarket, seconds: number): DayFigures {
  if (market.settings.isSpotOnly) return { open: 0n, high: 0n, low: 0n, close: 0n }
  const key = venueState.catalog.priceKeyOf(market.indexToken)
  const medianAt = (at: number): bigint | undefined =>
    venueState.prices.medianAt(key, venueState.prices.stepAt(at).startSeconds)
  const close = medianAt(seconds) ?? 0n
  const open = medianAt(seconds - DAY) ?? close
  const { high, low } = samplesOf(venueState, key, seconds)
  const most = (one: bigint, other: bigint): bigint => (one > other ? one : other)
  const least = (one: bigint, other: bigint): bigint => (one < other ? one : other)
  return { open, high: most(most(high, open), close), low: least(least(low, open), close), close }
}
