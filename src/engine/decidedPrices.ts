/**
 * The prices that an instance decided by, over time: what its kind named in its status lines (`prices`), for a chart. In memory alone and bounded: a
 * restart and a changed file begin anew.
 */
import { type CandlePeriod, periodSeconds } from '../protocol/market.ts'
import { MOST_PRICES, type StatusLine } from '../strategy/kindStatus.ts'
import { levelOfPrice } from '../strategy/levels.ts'

/** A price at a moment: Unix seconds, and USD as a number, for a picture and never for an amount. */
export type PricePoint = readonly [atSeconds: number, price: number]

/** A price over time under the name that its kind gave it. */
export interface DecidedLine {
  readonly name: string
  /** Oldest first; in a candle the last one, at the beginning of that candle. */
  readonly points: readonly PricePoint[]
}

/** Reads the prices of one instance. */
export interface DecidedLines {
  /** The lines of a market by its symbol, in the order in which they began, with one point a candle of this length. */
  lines(market: string, period: CandlePeriod): readonly DecidedLine[]
}

/** The prices of one instance. */
export interface DecidedPrices extends DecidedLines {
  /** Takes those of a turn; undefined: it named none. `atMs`: Unix ms. */
  take(prices: StatusLine['prices'], atMs: number): void
  clear(): void
}

/** Between two points of a line, seconds: in a minute the last one counts. */
const STEP_SECONDS = 60
/** Most points of a line. A line that has more loses every second one of its older half, so that it reaches back as far as it began. */
export const MOST_POINTS = 720

/** Makes an empty history of at most as many lines as one status may name prices: of more, the one that was named least lately goes. */
export function createDecidedPrices(): DecidedPrices {
  const lines = new Map<string, { readonly market: string; readonly name: string; points: PricePoint[] }>()

  function lineOf(market: string, name: string) {
    const key = `${name} ${market}`
    const known = lines.get(key)
    if (known !== undefined) return known
    const line = { market, name, points: [] as PricePoint[] }
    lines.set(key, line)
    return line
  }

  /** The lines that were named least lately go until the rest is within the bound. */
  function bound(): void {
    if (lines.size <= MOST_PRICES) return
    const newestOf = (key: string) => lines.get(key)?.points.at(-1)?.[0] ?? 0
    const oldest = [...lines.keys()].toSorted((one, other) => newestOf(one) - newestOf(other))
    for (const key of oldest.slice(0, lines.size - MOST_PRICES)) lines.delete(key)
  }

  return {
    take(prices = {}, atMs) {
      const at = startOf(atMs / 1_000, STEP_SECONDS)
      for (const [market, named] of Object.entries(prices)) {
        for (const [name, price] of Object.entries(named)) {
          const line = lineOf(market, name)
          // A clock that was set back draws nothing twice.
          while ((line.points.at(-1)?.[0] ?? -1) >= at) line.points.pop()
          line.points.push([at, levelOfPrice(price)])
          if (line.points.length > MOST_POINTS) line.points = thinned(line.points)
        }
      }
      bound()
    },
    lines: (market, period) =>
      [...lines.values()]
        .filter((line) => line.market === market)
        .map(({ name, points }) => ({ name, points: byCandle(points, periodSeconds[period]) })),
    clear: () => lines.clear(),
  }
}

function startOf(seconds: number, step: number): number {
  return Math.floor(seconds / step) * step
}

function thinned(points: readonly PricePoint[]): PricePoint[] {
  const half = points.length / 2
  return points.filter((_, at) => at >= half || at % 2 === 0)
}

/** The last point of each candle. */
function byCandle(points: readonly PricePoint[], step: number): readonly PricePoint[] {
  return [...new Map(points.map(([at, price]) => [startOf(at, step), price]))]
}
