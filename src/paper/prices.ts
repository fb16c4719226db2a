/**
 * Seeded price paths that look like an active crypto day.
 *
 * A token's log price is a sum of smooth noises, one a time scale from twenty seconds to a year, with amplitudes that grow
 * as the square root of the scale: trends at every scale. The fast scales swing with a slow volatility noise (clusters), and
 * sparse steps add jumps. Every noise is a pure function of (seed, token, time), so a path has no state: any moment of the
 * past or future can be asked for in any order, and the same seed and start give the same path byte for byte.
 * The price at the world's start is the catalogue's sample price. Floats shape the path; a price leaves here as a bigint.
 */
import { hexKey } from '../domain/address.ts'
import type { CatalogIndex, CatalogToken } from './catalog.ts'
import type { PricePair } from './model/market.ts'
import { bell, hashText, unit } from './random.ts'

/** Prices of tokens over time. */
export interface Prices {
  /** Keys (lower-case addresses) of all priced tokens, in catalogue order. */
  readonly tokens: readonly string[]
  /** Contract prices at a Unix time in seconds, or undefined for a token without a price. */
  at(tokenKey: string, seconds: number): PricePair | undefined
  /** Median contract price at a moment already snapped to the grid. */
  medianAt(tokenKey: string, seconds: number): bigint | undefined
  /** Start of the grid step that holds a moment: prices move only between steps. */
  stepAt(seconds: number): { readonly startSeconds: number; readonly lengthSeconds: number }
}

/** Scales of the path in seconds, and the daily volatility they are cut from. */
const scales = [20, 60, 150, 400, 900, 2400, 7200, 21_600, 86_400, 345_600, 1_209_600, 5_184_000, 31_536_000]
const DAY = 86_400
const DAILY_VOLATILITY = 0.045
const STABLE_VOLATILITY = 0.0004
const JUMP_CELL_SECONDS = 5400
const JUMP_SECONDS = 20

/** Resolution of the path: fine after the start, coarser the older, so that years of candles stay cheap and consistent. */
const zones: readonly { readonly olderThanDays: number; readonly stepSeconds: number }[] = [
  { olderThanDays: 2000, stepSeconds: 86_400 },
  { olderThanDays: 460, stepSeconds: 14_400 },
  { olderThanDays: 120, stepSeconds: 3600 },
  { olderThanDays: 40, stepSeconds: 900 },
  { olderThanDays: 8, stepSeconds: 60 },
]

/** Smooth noise of one scale: cell values joined by an S-curve. Keeps the last cell, the value depends on time alone. */
function createNoise(stream: number, scale: number): (time: number) => number {
  let cell = Number.NaN
  let from = 0
  let to = 0
  return (time) => {
    const position = time / scale
    const at = Math.floor(position)
    if (at !== cell) {
      cell = at
      from = bell(stream, at)
      to = bell(stream, at + 1)
    }
    const part = position - at
    return from + (to - from) * part * part * (3 - 2 * part)
  }
}

/** Log price of one stream over time: the sum of the scales, with rare steps when `jumps`. */
function createPath(stream: number, dailyVolatility: number, jumps: boolean): (time: number) => number {
  // Volatility clusters: the fast scales breathe with a noise of half an hour.
  const breath = createNoise(stream ^ 0x1b873593, 1800)
  const parts = scales.map((scale, i) => ({
    isFast: scale <= 2400,
    amplitude: dailyVolatility * 1.6 * Math.sqrt(scale / DAY),
    noise: createNoise(stream ^ Math.imul(i + 1, 0x9e3779b1), scale),
  }))
  return (time) => {
    const cluster = 0.45 + 2.4 * ((breath(time) + 1) / 2) ** 2
    let sum = jumps ? jumpAt(stream ^ 0x7f4a7c15, time) * dailyVolatility : 0
    for (const part of parts) sum += part.amplitude * (part.isFast ? cluster : 1) * part.noise(time)
    return sum
  }
}

/** Steps: within a cell the level moves once, quickly, at a moment of its own; most cells move by almost nothing. */
function jumpAt(stream: number, time: number): number {
  const cell = Math.floor(time / JUMP_CELL_SECONDS)
  const moment = (cell + unit(stream, cell)) * JUMP_CELL_SECONDS
  const level = (of: number): number => (bell(stream ^ 0x1234567, of) * 2) ** 3 * 0.15
  const progress = Math.min(1, Math.max(0, (time - moment) / JUMP_SECONDS))
  return level(cell - 1) + (level(cell) - level(cell - 1)) * progress
}

interface TokenPath {
  readonly log: (time: number) => number
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

/** Seeded prices of a catalogue, starting from its sample prices at `epochSeconds`. */
export function createPrices(options: {
  readonly seed: number
  readonly epochSeconds: number
  readonly catalog: CatalogIndex
}): Prices {
  const { seed, epochSeconds, catalog } = options
  const marketStream = hashText(`${seed}:market`)
  const marketPath = createPath(marketStream, DAILY_VOLATILITY, true)
  const marketAtStart = marketPath(0)
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
    const log = createPath(stream, dailyVolatility, !token.isStable)
    paths.set(key, {
      log,
      marketShare,
      medianAtStart: (BigInt(sample.min) + BigInt(sample.max)) / 2n,
      halfSpreadBpsHundredths: token.isStable ? 50n : 100n + BigInt(Math.floor(150 * unit(stream, 9))),
      logAtStart: log(0),
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
    let log = path.log(time) - path.logAtStart
    if (path.marketShare > 0) {
      if (marketTime !== time) {
        marketTime = time
        marketLog = marketPath(time) - marketAtStart
      }
      log += path.marketShare * marketLog
    }
    const factor = BigInt(Math.round(Math.exp(log) * FACTOR_SCALE))
    const median = (path.medianAtStart * factor) / FACTOR_SCALE_BIG
    return median > 0n ? median : 1n
  }
  return {
    tokens: [...paths.keys()],
    stepAt,
    medianAt,
    at: (key, seconds) => {
      const path = paths.get(key)
      if (path === undefined) return undefined
      const { startSeconds } = stepAt(seconds)
      if (path.atSeconds === startSeconds) return path.pair
      const median = medianAt(key, startSeconds)
      if (median === undefined) return undefined
      const half = (median * path.halfSpreadBpsHundredths) / 1_000_000n
      path.pair = { min: median > half ? median - half : median, max: median + half }
      path.atSeconds = startSeconds
      return path.pair
    },
  }
}
