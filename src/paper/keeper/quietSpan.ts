/**
 * Spans of seconds in which the keeper finds nothing: no resting order can trigger, no position can be liquidated, and no profit
 * outgrows its pool, at any price that the tokens have in the span. Nothing but time passes in a span, so all that is asked is the lowest and
 * the highest price of each token: one reading of its path in place of one a second.
 */
import { hexKey } from '../../protocol/address.ts'
import type { CatalogToken } from '../catalog/catalog.ts'
import { cannotBeLiquidated, type PriceBounds } from '../math/liquidationBound.ts'
import type { PricePair } from '../math/marketState.ts'
import { nextStepSecond } from '../state/followedMarkets.ts'
import { isMarketOrder } from '../state/orderTypes.ts'
import type { VenueMarket } from '../state/seedMarkets.ts'
import type { VenueState } from '../state/venueState.ts'
import { exceedsPoolShare } from './keeperOrders.ts'
import { mayBeReady } from './waitingOrders.ts'

/** Lengths of the windows that are tried, seconds, each a part of the one before: a price that comes near ends only the longer ones. */
const WINDOWS = [512, 64, 8] as const

interface TokenBounds {
  readonly low: PricePair
  readonly high: PricePair
}

/** The last window of a length, and up to where it is known to be quiet while all is as it was. */
interface Looked {
  readonly startSecond: number
  /** Everything but prices and time that the answer hangs on: each of these is replaced where it changes. */
  readonly of: readonly unknown[]
  quietTo: number
}

/** Knowledge of a venue's quiet spans. */
interface Spans {
  /** By window length. */
  readonly looked: Map<number, Looked>
  /** By window length and token key: the window that was read last. */
  readonly known: Map<string, { readonly startSecond: number; readonly bounds: TokenBounds }>
  /** Until here something may happen at every second. */
  busyUntil: number
}

const spansOf = new WeakMap<VenueState, Spans>()

/**
 * The last second up to `toSecond` such that every look after `fromSecond` and up to it would find nothing, as long as no work is done
 * in between; `fromSecond` when the next look may find something, and for a venue with other traders, whose positions are looked at in turns.
 */
export function quietUntil(venueState: VenueState, fromSecond: number, toSecond: number): number {
  // A market that follows its history at a second is looked at in that second.
  const lastSecond = Math.min(toSecond, nextStepSecond(venueState.settings.followed, fromSecond) - 1)
  if (lastSecond <= fromSecond || venueState.traders.size > 0) return fromSecond
  let spans = spansOf.get(venueState)
  if (spans === undefined) {
    spans = { looked: new Map(), known: new Map(), busyUntil: 0 }
    spansOf.set(venueState, spans)
  }
  let quiet = fromSecond
  while (quiet < lastSecond && quiet >= spans.busyUntil) {
    const end = quietWindowEnd(venueState, spans, quiet + 1, lastSecond)
    if (end === undefined) break
    quiet = end
  }
  return quiet
}

/** The end of the longest window that holds `second` and is quiet up to there. */
function quietWindowEnd(
  venueState: VenueState,
  spans: Spans,
  second: number,
  toSecond: number,
): number | undefined {
  for (const length of WINDOWS) {
    const startSecond = Math.floor(second / length) * length
    const lastSecond = Math.min(toSecond, startSecond + length - 1)
    if (isQuiet(venueState, spans, { startSecond, length, lastSecond })) return lastSecond
    if (length === WINDOWS.at(-1)) spans.busyUntil = startSecond + length - 1
  }
  return undefined
}

interface Window {
  readonly startSecond: number
  readonly length: number
  readonly lastSecond: number
}

/** A window that is quiet up to a second is so up to each second before: so its end is tried first, once, and clocks that follow it look at nothing. */
function isQuiet(venueState: VenueState, spans: Spans, window: Window): boolean {
  const { startSecond, length, lastSecond } = window
  const of = partsOf(venueState)
  const known = spans.looked.get(length)
  if (known?.startSecond === startSecond && isSame(known.of, of)) {
    if (lastSecond <= known.quietTo) return true
    if (!isQuietWindow(venueState, spans, window)) return false
    known.quietTo = lastSecond
    return true
  }
  const looked: Looked = { startSecond, of, quietTo: startSecond - 1 }
  spans.looked.set(length, looked)
  for (const second of new Set([startSecond + length - 1, lastSecond]))
    if (isQuietWindow(venueState, spans, { ...window, lastSecond: second })) {
      looked.quietTo = second
      return true
    }
  return false
}

function partsOf(venueState: VenueState): readonly unknown[] {
  const parts: unknown[] = []
  for (const order of venueState.orders.values()) {
    const market = venueState.marketByKey.get(hexKey(order.params.addresses.market))
    parts.push(order, order.params, order.isFrozen, market?.settings)
  }
  for (const position of venueState.positions.values()) {
    const market = venueState.marketByKey.get(position.marketKey)
    parts.push(position, position.state, market?.state, market?.settings)
  }
  return parts
}

function isSame(one: readonly unknown[], other: readonly unknown[]): boolean {
  if (one.length !== other.length) return false
  for (let at = 0; at < one.length; at += 1) if (one[at] !== other[at]) return false
  return true
}

function isQuietWindow(venueState: VenueState, spans: Spans, window: Window): boolean {
  const { lastSecond } = window
  for (const order of venueState.orders.values()) {
    if (isMarketOrder(Number(order.params.orderType))) continue
    const bounds = ({ indexToken }: VenueMarket): TokenBounds =>
      boundsOf(venueState, spans, indexToken, window)
    if (mayBeReady(venueState, order, lastSecond, bounds)) return false
  }
  const sides = new Set<string>()
  for (const { marketKey, state } of venueState.positions.values()) {
    const market = venueState.marketByKey.get(marketKey)
    if (market === undefined) continue
    const bounds = marketBounds(venueState, spans, market, window)
    if (!cannotBeLiquidated(market.settings, market.state, state, bounds, lastSecond)) return false
    const key = `${state.side}:${marketKey}`
    if (sides.has(key)) continue
    sides.add(key)
    const { low, high } = bounds
    const index = state.side === 'long' ? high.index : low.index
    const worst = { index, long: low.long, short: low.short }
    if (exceedsPoolShare(market.settings, market.state, state.side, worst)) return false
  }
  return true
}

function marketBounds(
  venueState: VenueState,
  spans: Spans,
  market: VenueMarket,
  window: Window,
): PriceBounds {
  const index = boundsOf(venueState, spans, market.indexToken, window)
  const long = boundsOf(venueState, spans, market.longToken, window)
  const short = boundsOf(venueState, spans, market.shortToken, window)
  return {
    low: { index: index.low, long: long.low, short: short.low },
    high: { index: index.high, long: long.high, short: short.high },
  }
}

/** Lowest and highest pair of a token in a whole window. */
function boundsOf(venueState: VenueState, spans: Spans, token: CatalogToken, window: Window): TokenBounds {
  const { startSecond, length } = window
  const key = venueState.catalog.priceKeyOf(token)
  const name = `${length}:${key}`
  const known = spans.known.get(name)
  if (known?.startSecond === startSecond) return known.bounds
  const { prices } = venueState
  const range = prices.rangeOf(key, startSecond, startSecond + length)
  const low = range && prices.pairOf(key, range.low)
  const high = range && prices.pairOf(key, range.high)
  if (low === undefined || high === undefined) throw new RangeError(`no price of ${token.symbol}`)
  const bounds = { low, high }
  spans.known.set(name, { startSecond, bounds })
  return bounds
}
