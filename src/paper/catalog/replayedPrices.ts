/**
 * Prices that replay candles: from the world's start the assets of the file follow it, all others keep their seeded paths. Inside a
 * candle the price goes from open over the nearer extreme to the other and to close; after the last candle it stands still.
 */
import type { FileCandle } from '../../base/candles/candleFile.ts'
import { LAST_CANDLE_SECONDS, replayStartSeconds } from '../../base/candles/replayPlace.ts'
import { hexKey } from '../../protocol/address.ts'
import type { PricePair } from '../math/marketState.ts'
import type { CatalogIndex } from './catalog.ts'
import { assetOf, type PriceRange, type Prices } from './prices.ts'
import type { PriceReplay } from './replayFile.ts'

const HALF_SPREAD_PER_MILLION = 100n

/** Puts the candles over seeded prices. */
export function replayedPrices(
  seeded: Prices,
  replay: PriceReplay,
  world: { readonly epochSeconds: number; readonly catalog: CatalogIndex },
): Prices {
  const { epochSeconds, catalog } = world
  const byKey = new Map<string, { readonly candles: readonly FileCandle[]; readonly unit: bigint }>()
  for (const key of seeded.tokens) {
    const token = catalog.tokenByAddress.get(hexKey(key))
    if (token === undefined) continue
    const candles = replay.series.get(assetOf(token))
    if (candles !== undefined) byKey.set(key, { candles, unit: 10n ** BigInt(token.decimals) })
  }
  const fileStart = replayStartSeconds(replay.series)

  const medianAt = (key: string, seconds: number): bigint | undefined => {
    const found = byKey.get(key)
    const first = found?.candles[0]
    if (found === undefined || first === undefined) return seeded.medianAt(key, seconds)
    if (seconds < epochSeconds) {
      const base = seeded.medianAt(key, seconds)
      if (base === undefined) return undefined
      // The past is the seeded one, moved so that it ends where the file begins.
      const end = seeded.medianAt(key, epochSeconds) ?? base
      return atLeastOne((base * first.open) / found.unit / end)
    }
    const fileSeconds = fileStart + (seconds - epochSeconds) * replay.speed
    return atLeastOne(priceIn(found.candles, fileSeconds) / found.unit)
  }
  const rangeOf = (key: string, fromSeconds: number, toSeconds: number): PriceRange | undefined => {
    if (!byKey.has(key)) return seeded.rangeOf(key, fromSeconds, toSeconds)
    let { startSeconds, lengthSeconds } = seeded.stepAt(fromSeconds)
    const open = medianAt(key, startSeconds)
    if (open === undefined) return undefined
    let [high, low, close] = [open, open, open]
    for (;;) {
      const next = startSeconds + lengthSeconds
      if (next >= toSeconds) return { open, high, low, close }
      ;({ startSeconds, lengthSeconds } = seeded.stepAt(next))
      close = medianAt(key, startSeconds) ?? close
      if (close > high) high = close
      if (close < low) low = close
    }
  }
  const pairOf = (key: string, median: bigint): PricePair | undefined => {
    if (!byKey.has(key)) return seeded.pairOf(key, median)
    const half = (median * HALF_SPREAD_PER_MILLION) / 1_000_000n
    return { min: median > half ? median - half : median, max: median + half }
  }
  return {
    tokens: seeded.tokens,
    stepAt: seeded.stepAt,
    pairOf,
    medianAt,
    rangeOf,
    at: (key, seconds) => {
      if (!byKey.has(key)) return seeded.at(key, seconds)
      const median = medianAt(key, seeded.stepAt(seconds).startSeconds)
      return median === undefined ? undefined : pairOf(key, median)
    },
  }
}

function atLeastOne(price: bigint): bigint {
  return price > 0n ? price : 1n
}

/** Price at a moment of the file; before the first candle its open, after the last its close. */
function priceIn(candles: readonly FileCandle[], seconds: number): bigint {
  let low = 0
  let high = candles.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((candles[middle]?.startSeconds ?? 0) <= seconds) low = middle
    else high = middle - 1
  }
  const candle = candles[low]
  if (candle === undefined) return 0n
  const length =
    (candles[low + 1]?.startSeconds ?? candle.startSeconds + LAST_CANDLE_SECONDS) - candle.startSeconds
  const part = Math.min(1, Math.max(0, (seconds - candle.startSeconds) / length))
  const rises = candle.close >= candle.open
  const points = [
    candle.open,
    rises ? candle.low : candle.high,
    rises ? candle.high : candle.low,
    candle.close,
  ]
  const leg = Math.min(2, Math.floor(part * 3))
  const [from = 0n, to = 0n] = [points[leg], points[leg + 1]]
  return from + ((to - from) * BigInt(Math.round((part * 3 - leg) * 1_000_000))) / 1_000_000n
}
