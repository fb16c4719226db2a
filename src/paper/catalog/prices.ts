/**
 * Seeded price paths that look like an active crypto day: a shape of the token's own (path.ts) and a share of the market's.
 *
 * A path has no state: any moment of the past or future can be asked for in any order, one at a time or a span at once, and
 * the same seed and start give the same path byte for byte. The price at the world's start is the catalogue's sample price.
 * Floats shape the path; a price leaves here as a bigint.
 */
import { hexKey } from '../../protocol/address.ts'
import type { PricePair } from '../math/marketState.ts'
import { hashText, unit } from '../math/random.ts'
import type { CatalogIndex, CatalogToken } from './catalog.ts'
import { createPath, type Path } from './path.ts'

/** Contract prices over a span: the first, the highest, the lowest, the last. */
export interface PriceRange {
  readonly open: bigint
  readonly high: bigint
  readonly low: bigint
  readonly close: bigint
}

/** Prices of tokens over time. */
export interface Prices {
  /** Keys (lower-case addresses) of all priced tokens, in catalogue order. */
  readonly tokens: readonly string[]
  /** Contract prices at a Unix time in seconds, or undefined for a token without a price. */
  at(tokenKey: string, seconds: number): PricePair | undefined
  /** The pair around a median of a token: both of it rise with the median. Undefined for a token without a price. */
  pairOf(tokenKey: string, median: bigint): PricePair | undefined
  /** Median contract price at a moment already snapped to the grid. */
  medianAt(tokenKey: string, seconds: number): bigint | undefined
  /** Medians of the grid steps from the one that holds `fromSeconds` to the last that begins before `toSeconds`. */
  rangeOf(tokenKey: string, fromSeconds: number, toSeconds: number): PriceRange | undefined
  /** Start of the grid step that holds a moment: prices move only between steps. */
  stepAt(seconds: number): { readonly startSeconds: number; readonly lengthSeconds: number }
  /**
   * Tells whether there is a price at a Unix second. Where there is none, the venue shows the last one and nothing trades. Absent: there always is
   * one.
   */
  hasPrice?(tokenKey: string, seconds: number): boolean
}

const DAY = 86_400
const DAILY_VOLATILITY = 0.045
const STABLE_VOLATILITY = 0.0004

/** Resolution of the path: fine after the start, coarser the older, so that years of candles stay cheap and consistent. */
const zones: readonly { readonly olderThanDays: number; readonly stepSeconds: number }[] = [
  { olderThanDays: 2000, stepSeconds: 86_400 },
  { olderThanDays: 460, stepSeconds: 14_400 },
  { olderThanDays: 120, stepSeconds: 3600 },
  { olderThanDays: 40, stepSeconds: 900 },
  { olderThanDays: 8, stepSeconds: 60 },
]

interface TokenPath {
  readonly path: Path
  readonly marketShare: number
  readonly medianAtStart: bigint
  readonly halfSpreadBpsHundredths: bigint
  readonly logAtStart: number
  /** The step that was asked for last, and its prices: one answer asks for the same second many times. */
  atSeconds: number
  pair: PricePair
}

/** Asset that a token follows: wrapped, staked and bridged forms share one path. */
export function assetOf(token: CatalogToken): string {
  const symbol = token.baseSymbol ?? token.oracleSymbol ?? token.symbol
  const bare = symbol.replace(/\..*$/, '').toUpperCase()
  const families: Readonly<Record<string, string>> = {
    WETH: 'ETH',
    WSTETH: 'ETH',
    WBTC: 'BTC',
    TBTC: 'BTC',
    XAUT0: 'XAUT',
  }
  return families[bare] ?? bare
}

const FACTOR_SCALE = 1e12
const FACTOR_SCALE_BIG = 10n ** 12n

/** Most steps that are looked at together: an hour of the fine steps before the start. */
const CHUNK_SAMPLES = 720
/** Logs of prices that are nearer than this may be told apart wrongly by `Math.exp`. */
const NEAR = 1e-12

/** A price over the one at the start, times `FACTOR_SCALE`; whole numbers. */
interface FactorRange {
  first: number
  high: number
  low: number
  last: number
}

function medianOf(token: TokenPath, factor: number): bigint {
  const median = (token.medianAtStart * BigInt(factor)) / FACTOR_SCALE_BIG
  return median > 0n ? median : 1n
}

/** Most chunks of the market's path that are kept, some 3 MB. */
const MAX_MARKET_CHUNKS = 512

/** The market's path over chunks of steps, from its start; all tokens share it, so the chunks asked for last are kept. */
function createMarketLogs(path: Path, logAtStart: number) {
  const chunks = new Map<string, Float64Array>()
  return (time: number, stepSeconds: number, count: number): Float64Array => {
    const key = `${time}:${stepSeconds}:${count}`
    const known = chunks.get(key)
    if (known !== undefined) return known
    const logs = new Float64Array(count)
    path.fill(time, stepSeconds, count, logs)
    for (let i = 0; i < count; i += 1) logs[i] = (logs[i] as number) - logAtStart
    if (chunks.size >= MAX_MARKET_CHUNKS) chunks.delete(chunks.keys().next().value as string)
    chunks.set(key, logs)
    return logs
  }
}

/** Seeded prices of a catalogue, starting from its sample prices at `epochSeconds`. */
export function createPrices(options: {
  readonly seed: number
  readonly epochSeconds: number
  readonly catalog: CatalogIndex
}): Prices {
  const { seed, epochSeconds, catalog } = options
  const marketStream = hashText(`${seed}:market`)
  const marketPath = createPath(marketStream, DAILY_VOLATILITY, true)
  const marketAtStart = marketPath.at(0)
  const paths = new Map<string, TokenPath>()
  for (const sample of catalog.catalog.samplePrices) {
    const key = hexKey(sample.address)
    const token = catalog.tokenByAddress.get(key)
    if (token === undefined) continue
    const stream = hashText(`${seed}:${assetOf(token)}`)
    const dailyVolatility = token.isStable
      ? STABLE_VOLATILITY
      : DAILY_VOLATILITY * (0.55 + 0.8 * unit(stream, 7))
    const marketShare = token.isStable ? 0 : 0.5 + 0.5 * unit(stream, 8)
    const path = createPath(stream, dailyVolatility, !token.isStable)
    paths.set(key, {
      path,
      marketShare,
      medianAtStart: (BigInt(sample.min) + BigInt(sample.max)) / 2n,
      halfSpreadBpsHundredths: token.isStable ? 50n : 100n + BigInt(Math.floor(150 * unit(stream, 9))),
      logAtStart: path.at(0),
      atSeconds: Number.NaN,
      pair: { min: 0n, max: 0n },
    })
  }
  const epochDay = Math.floor(epochSeconds / DAY) * DAY
  const stepLengthAt = (seconds: number): number => {
    for (const zone of zones) if (seconds < epochDay - zone.olderThanDays * DAY) return zone.stepSeconds
    return seconds < epochDay ? 5 : 1
  }
  const stepAt = (seconds: number) => {
    const lengthSeconds = stepLengthAt(seconds)
    return { startSeconds: Math.floor(seconds / lengthSeconds) * lengthSeconds, lengthSeconds }
  }
  let marketTime = Number.NaN
  let marketLog = 0
  const medianAt = (key: string, seconds: number): bigint | undefined => {
    const path = paths.get(key)
    if (path === undefined) return undefined
    const time = seconds - epochSeconds
    let log = path.path.at(time) - path.logAtStart
    if (path.marketShare > 0) {
      if (marketTime !== time) {
        marketTime = time
        marketLog = marketPath.at(time) - marketAtStart
      }
      log += path.marketShare * marketLog
    }
    return medianOf(path, Math.round(Math.exp(log) * FACTOR_SCALE))
  }
  const logs = new Float64Array(CHUNK_SAMPLES)
  const marketLogs = createMarketLogs(marketPath, marketAtStart)
  /** Factors of the first, the highest, the lowest and the last step of a chunk; a factor decides its price alone. */
  const chunkOf = (token: TokenPath, time: number, stepSeconds: number, count: number): FactorRange => {
    const { path, logAtStart, marketShare } = token
    path.fill(time, stepSeconds, count, logs)
    const market = marketShare > 0 ? marketLogs(time, stepSeconds, count) : undefined
    for (let i = 0; i < count; i += 1) {
      const log = (logs[i] as number) - logAtStart
      logs[i] = market === undefined ? log : log + marketShare * (market[i] as number)
    }
    let highLog = logs[0] as number
    let lowLog = highLog
    for (let i = 1; i < count; i += 1) {
      const log = logs[i] as number
      if (log > highLog) highLog = log
      else if (log < lowLog) lowLog = log
    }
    const factorOf = (log: number): number => Math.round(Math.exp(log) * FACTOR_SCALE)
    const range = {
      first: factorOf(logs[0] as number),
      high: factorOf(highLog),
      low: factorOf(lowLog),
      last: factorOf(logs[count - 1] as number),
    }
    // Math.exp may fall by a last digit where its argument rises by one: every log that near is looked at.
    for (let i = 0; i < count; i += 1) {
      const log = logs[i] as number
      if (log > highLog - NEAR) range.high = Math.max(range.high, factorOf(log))
      if (log < lowLog + NEAR) range.low = Math.min(range.low, factorOf(log))
    }
    return range
  }
  const rangeOf = (key: string, fromSeconds: number, toSeconds: number): PriceRange | undefined => {
    const token = paths.get(key)
    if (token === undefined) return undefined
    let whole: FactorRange | undefined
    let { startSeconds, lengthSeconds } = stepAt(fromSeconds)
    do {
      // A chunk ends where the steps change their length, at the latest: that is where a day begins.
      const dayEnd = (Math.floor(startSeconds / DAY) + 1) * DAY
      const count = Math.min(
        CHUNK_SAMPLES,
        Math.ceil((Math.min(Math.max(toSeconds, startSeconds + 1), dayEnd) - startSeconds) / lengthSeconds),
      )
      const part = chunkOf(token, startSeconds - epochSeconds, lengthSeconds, count)
      whole =
        whole === undefined
          ? part
          : {
              first: whole.first,
              high: Math.max(whole.high, part.high),
              low: Math.min(whole.low, part.low),
              last: part.last,
            }
      ;({ startSeconds, lengthSeconds } = stepAt(startSeconds + count * lengthSeconds))
    } while (startSeconds < toSeconds)
    return {
      open: medianOf(token, whole.first),
      high: medianOf(token, whole.high),
      low: medianOf(token, whole.low),
      close: medianOf(token, whole.last),
    }
  }
  const pairOf = (key: string, median: bigint): PricePair | undefined => {
    const path = paths.get(key)
    if (path === undefined) return undefined
    const half = (median * path.halfSpreadBpsHundredths) / 1_000_000n
    return { min: median > half ? median - half : median, max: median + half }
  }
  return {
    tokens: [...paths.keys()],
    stepAt,
    pairOf,
    medianAt,
    rangeOf,
    at: (key, seconds) => {
      const path = paths.get(key)
      if (path === undefined) return undefined
      const { startSeconds } = stepAt(seconds)
      if (path.atSeconds === startSeconds) return path.pair
      const median = medianAt(key, startSeconds)
      const pair = median === undefined ? undefined : pairOf(key, median)
      if (pair === undefined) return undefined
      path.pair = pair
      path.atSeconds = startSeconds
      return pair
    },
  }
}
