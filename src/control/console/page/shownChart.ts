/**
 * The chart of a market: its price, own fills, and the prices at which something of ours happens. Pure. Figures of a chart are numbers;
 * what is said of them is made of the exact ones.
 */
import type { Candles, Order } from './pageWire.ts'
import { chartNumber, priceText } from './shownAmount.ts'
import type { ShownPosition } from './shownFigures.ts'
import { millisOf, momentText, spanText } from './shownTimes.ts'
import { texts } from './texts.ts'

/** Kind of a price level. */
export type LevelKind = 'entry' | 'liquidation' | 'stop' | 'target' | 'order'

/** A price at which something of ours happened or would. */
export interface Level {
  readonly kind: LevelKind
  readonly direction: 'long' | 'short'
  /** As it is drawn, USD. */
  readonly price: number
  readonly text: string
}

/** A fill of ours. */
export interface ChartFill {
  readonly atMs: number
  /** True for a buy: it opens a long or reduces a short. */
  readonly isBuy: boolean
  readonly price: number
  readonly text: string
}

/** A candle as it is drawn, USD. */
export interface DrawnCandle {
  /** Beginning, Unix seconds. */
  readonly at: number
  readonly open: number
  readonly high: number
  readonly low: number
  readonly close: number
}

/** A chart. The lists beside `xs` are as long as it is; null: nothing is drawn there. */
export interface PriceChart {
  /** Unix seconds, oldest first. */
  readonly xs: readonly number[]
  readonly candles: readonly DrawnCandle[]
  /** Length of a candle, seconds. */
  readonly stepSeconds: number
  readonly closes: readonly (number | null)[]
  readonly buys: readonly (number | null)[]
  readonly sells: readonly (number | null)[]
  readonly levels: readonly Level[]
  /** Fills within the time that is drawn, oldest first. */
  readonly fills: readonly ChartFill[]
}

/** Tells whether a fill of a leg buys: it adds to a long or reduces a short. */
function isBuyOf({ kind, direction }: Order, role: Order['legs'][number]['role']): boolean {
  const isAdding = kind === 'increase' && (role === 'main' || role === 'part')
  return isAdding === (direction === 'long')
}

function fillsOf(orders: readonly Order[]): readonly ChartFill[] {
  return orders
    .flatMap((order) =>
      order.legs.flatMap(({ role, executionPrice, filledAt }): readonly ChartFill[] => {
        const atMs = filledAt === null ? undefined : millisOf(filledAt)
        if (executionPrice === null || atMs === undefined) return []
        const text = priceText(executionPrice)
        return [{ atMs, isBuy: isBuyOf(order, role), price: chartNumber(executionPrice), text }]
      }),
    )
    .toSorted((one, other) => one.atMs - other.atMs)
}

const kindOf: Readonly<Record<Order['legs'][number]['role'], LevelKind>> = {
  main: 'order',
  part: 'order',
  'stop-loss': 'stop',
  'take-profit': 'target',
}

function levelsOf(orders: readonly Order[], positions: readonly ShownPosition[]): readonly Level[] {
  const level = (kind: LevelKind, direction: Level['direction'], price: string): Level => ({
    kind,
    direction,
    price: chartNumber(price),
    text: priceText(price),
  })
  const held = positions.flatMap(({ row: { direction, entryPrice, liquidationPrice } }) => [
    ...(entryPrice === undefined ? [] : [level('entry', direction, entryPrice)]),
    ...(liquidationPrice === undefined ? [] : [level('liquidation', direction, liquidationPrice)]),
  ])
  const resting = orders.flatMap(({ direction, legs }) =>
    legs.flatMap(({ role, status, triggerPrice }) =>
      triggerPrice === null || (status !== 'resting' && status !== 'frozen')
        ? []
        : [level(kindOf[role], direction, triggerPrice)],
    ),
  )
  // Two orders at one price are one line.
  const all = new Map(
    [...held, ...resting].map((each) => [`${each.kind} ${each.direction} ${each.text}`, each]),
  )
  return [...all.values()]
}

/** The chart of the market that the candles are of. */
export function priceChartOf(
  { symbol, candles, period }: Candles,
  { orders, positions }: { readonly orders: readonly Order[]; readonly positions: readonly ShownPosition[] },
): PriceChart {
  const own = orders.filter(({ market }) => market === symbol)
  const firstMs = (candles[0]?.timestampSeconds ?? Number.POSITIVE_INFINITY) * 1_000
  const fills = fillsOf(own).filter(({ atMs }) => atMs >= firstMs)
  const closeAt = new Map(candles.map(({ timestampSeconds, close }) => [timestampSeconds, close]))
  const filledAt = (isBuy: boolean) =>
    new Map(
      fills.filter((fill) => fill.isBuy === isBuy).map(({ atMs, price }) => [atMs / 1_000, price] as const),
    )
  const [buyAt, sellAt] = [filledAt(true), filledAt(false)]
  const xs = [...new Set([...closeAt.keys(), ...buyAt.keys(), ...sellAt.keys()])].toSorted(
    (one, other) => one - other,
  )
  return {
    xs,
    candles: candles.map(({ timestampSeconds: at, open, high, low, close }) => ({
      at,
      open,
      high,
      low,
      close,
    })),
    stepSeconds: periodMs[period] / 1_000,
    closes: xs.map((at) => closeAt.get(at) ?? null),
    buys: xs.map((at) => buyAt.get(at) ?? null),
    sells: xs.map((at) => sellAt.get(at) ?? null),
    levels: levelsOf(
      own,
      positions.filter((position) => position.symbol === symbol),
    ),
    fills,
  }
}

/**
 * From when on the fills of a chart are all there are, by when their orders were accepted, Unix ms; undefined: they are from its first
 * candle on. Of before it the page has open orders only, until older ones are loaded.
 */
export function fillsSinceMs(
  { xs: [first] }: PriceChart,
  { allSince, isAllOrders }: { readonly allSince?: string; readonly isAllOrders: boolean },
): number | undefined {
  if (isAllOrders || allSince === undefined) return undefined
  const sinceMs = millisOf(allSince)
  return first === undefined || sinceMs === undefined || first * 1_000 >= sinceMs ? undefined : sinceMs
}

/** A reading is older than this only where newer ones failed: it is made every 15 s, of what the daemon read up to 10 s before. */
const oldReadingMs = 45_000
/**
 * Longest delay between the end of a candle and the venue's report of it, ms. It is not known whether the venue reports the candle that is not over
 * yet.
 */
const lateCandleMs = 300_000
const periodMs: Readonly<Record<Candles['period'], number>> = {
  '1m': 60_000,
  '5m': 300_000,
  '15m': 900_000,
  '1h': 3_600_000,
  '4h': 14_400_000,
  '1d': 86_400_000,
}

/** Says in a sentence how old the prices of a chart are; undefined while they are current. `nowMs`: the daemon's clock, Unix ms. */
export function oldPricesText({ candles, period, readAtMs }: Candles, nowMs: number): string | undefined {
  if (nowMs - readAtMs > oldReadingMs) return texts.prices.readAgo(spanText(nowMs - readAtMs))
  const newest = candles.at(-1)
  if (newest === undefined) return undefined
  const endMs = newest.timestampSeconds * 1_000 + periodMs[period]
  return nowMs - endMs > periodMs[period] + lateCandleMs
    ? texts.prices.newestOf(momentText(endMs), spanText(nowMs - endMs))
    : undefined
}

/** The time that is drawn, Unix seconds: the last candle is drawn whole. */
export function timeRange({ xs, candles, stepSeconds }: PriceChart): readonly [from: number, to: number] {
  const [first = 0, last = 0] = [xs[0], xs.at(-1)]
  return [first, Math.max(last, (candles.at(-1)?.at ?? last) + stepSeconds)]
}

/**
 * The prices from the lowest to the highest that are shown. A level that is farther from the price than the price moves stays outside:
 * a liquidation at half the price would make a line of the curve.
 */
export function priceRange({
  candles,
  buys,
  sells,
  levels,
}: PriceChart): readonly [low: number, high: number] {
  const drawn = candles.flatMap(({ high, low }) => [high, low])
  const moved = [...drawn, ...buys, ...sells].filter((price) => price !== null)
  if (moved.length === 0) return [0, 1]
  const [low, high] = [Math.min(...moved), Math.max(...moved)]
  const reach = Math.max(high - low, high * 0.002)
  const near = levels.map(({ price }) => price).filter((price) => price > low - reach && price < high + reach)
  const [least, most] = [Math.min(low, ...near), Math.max(high, ...near)]
  const margin = Math.max(most - least, high * 0.0005) * 0.06
  return [least - margin, most + margin]
}

/**
 * Where lines of text stand so that none overprints another, each as near to its place as the others leave it, in the order given.
 *
 * @param wanted where each would stand, px downwards
 * @param gap height of a line, px
 * @param bounds within which they stay as long as there is room for all
 */
export function placedApart(
  wanted: readonly number[],
  gap: number,
  { top, bottom }: { readonly top: number; readonly bottom: number },
): readonly number[] {
  const order = wanted.map((_, index) => index).toSorted((one, other) => at(wanted, one) - at(wanted, other))
  const places = new Map<number, number>()
  let least = top
  for (const index of order) {
    const place = Math.max(at(wanted, index), least)
    places.set(index, place)
    least = place + gap
  }
  let most = bottom
  for (const index of order.toReversed()) {
    const place = Math.min(places.get(index) ?? most, most)
    places.set(index, place)
    most = place - gap
  }
  return wanted.map((own, index) => places.get(index) ?? own)
}

const at = (list: readonly number[], index: number): number => list[index] ?? 0
