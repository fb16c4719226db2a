/** Moves of orders that rest: what a drag or a typed price asks for, and what became of it. Pure. */

import type { Order, RestingOrder } from '../pageWire.ts'
import { amountOf, priceText } from '../shownAmount.ts'
import { millisOf } from '../shownTimes.ts'
import { distanceText, type Level, type MarketFacts, pnlOfExit } from './chartLevels.ts'

/** A new price of an order, as it is asked for. */
export interface WantedMove {
  readonly level: Level
  readonly order: RestingOrder
  /** Decimal text that is sent: what was typed, or of a drag the price rounded to the places of its market. */
  readonly typed: string
  readonly priceUsd: bigint
  readonly text: string
  readonly distance: string | undefined
  readonly pnl: string | undefined
}

/** A move that was sent and that the venue does not show yet. */
export interface SentMove {
  readonly orderKey: string
  /** Kind of the order, in words. */
  readonly name: string
  readonly market: string
  readonly direction: 'long' | 'short'
  readonly priceUsd: bigint
  readonly text: string
  /** The order of the edit, where the answer named one. */
  readonly intentId: string | undefined
  /** By the daemon's clock, Unix ms. */
  readonly sentAtMs: number
}

/** A line is reached from this far, px. */
const reachPx = 6
/** A move that is not shown for so long is not waited for, ms. */
const mostMs = 180_000
/** Decimals of USD on the wire. */
const usdDecimals = 30

/**
 * A price as it was typed, USD with 30 decimals; undefined for anything else. It reads what the daemon reads (`base/typedNumber.ts`), with a sign of the
 * dollar before it: `0,9` is not 9. test/console/levelMoves.test.ts holds both together.
 */
export function typedPrice(text: string): bigint | undefined {
  const [, whole, fraction = ''] =
    /^\$?(\d{1,15}|[1-9]\d{0,2}(?:,\d{3}){1,4})(?:\.(\d{1,18}))?$/.exec(text.trim()) ?? []
  if (whole === undefined) return undefined
  const price = BigInt(whole.replaceAll(',', '') + fraction.padEnd(usdDecimals, '0'))
  return price > 0n ? price : undefined
}

/** The typed price as decimal text for the wire: without sign of the dollar and commas. */
export function plainPrice(text: string): string {
  return text.trim().replaceAll(/[$,]/g, '')
}

/** The text that the place of a line on the chart asks for; undefined: no price is there. */
export function draggedText(price: number, places: number): string | undefined {
  if (!Number.isFinite(price) || price <= 0) return undefined
  const text = price.toFixed(places)
  return typedPrice(text) === undefined ? undefined : text
}

/** The move of a level to a price; undefined where that is no price, the level is no order, or somebody maintains it. */
export function wantedMove(level: Level, text: string, facts: MarketFacts): WantedMove | undefined {
  const { order, maintainer } = level
  const priceUsd = typedPrice(text)
  if (order === undefined || maintainer !== undefined || priceUsd === undefined) return undefined
  const { markPrice } = order
  return {
    ...{ level, order, priceUsd, typed: plainPrice(text), text: priceText(priceUsd, facts.places) },
    distance: distanceText(priceUsd, markPrice === null ? undefined : amountOf(markPrice)),
    pnl: pnlOfExit(order, priceUsd, facts),
  }
}

/** Prices by one step and by a tenth of a percent from a price that stands in a field. */
export function steppedPrice(text: string, by: 'step' | 'share', sign: 1 | -1, places: number): string {
  const price = typedPrice(text)
  if (price === undefined) return text
  const unit = 10n ** BigInt(usdDecimals - places)
  const step = by === 'step' ? unit : maxOf(unit, price / 1_000n)
  const next = (price + BigInt(sign) * step + unit / 2n) / unit
  return next <= 0n ? text : decimalOf(next, places)
}

function decimalOf(value: bigint, places: number): string {
  const digits = value.toString().padStart(places + 1, '0')
  return places === 0 ? digits : `${digits.slice(0, -places)}.${digits.slice(-places)}`
}

function maxOf(one: bigint, other: bigint): bigint {
  return one > other ? one : other
}

/** The level whose line is nearest to a place, within reach; levels that may not be moved, or are moving, are passed over. */
export function reachedLevel(
  levels: readonly Level[],
  yOf: (price: number) => number | null,
  y: number,
  moving: ReadonlySet<string>,
): Level | undefined {
  return levels
    .flatMap((level) => {
      const at = yOf(level.price)
      const isFree = level.order !== undefined && level.maintainer === undefined && !moving.has(level.key)
      return at === null || !isFree || Math.abs(at - y) > reachPx ? [] : [{ level, away: Math.abs(at - y) }]
    })
    .toSorted((one, other) => one.away - other.away)[0]?.level
}

/** State of a move: `rests`: the venue shows the new price, or the order is gone; `failed`: the edit ended without it, for the reason given. */
export type MoveFate = 'moving' | 'rests' | { readonly failed: string }

/** The fate of a move, by the orders that rest and those that the page knows. */
export function fateOf(
  move: SentMove,
  {
    resting,
    orders,
    nowMs,
    places,
  }: {
    readonly resting: readonly RestingOrder[]
    readonly orders: readonly Order[]
    readonly nowMs: number
    readonly places: number
  },
): MoveFate {
  const row = resting.find(({ orderKey }) => orderKey === move.orderKey)
  if (row === undefined || row.triggerPrice === null) return 'rests'
  if (priceText(row.triggerPrice, places) === move.text) return 'rests'
  const edit = orders.find((order) =>
    move.intentId === undefined ? isEditOf(move, order) : order.intentId === move.intentId,
  )
  if (edit !== undefined && edit.closedAt !== null && edit.outcome !== 'EXECUTED')
    return { failed: edit.reason ?? edit.outcome ?? '' }
  return nowMs - move.sentAtMs > mostMs ? { failed: '' } : 'moving'
}

/** Tells whether an order is an edit by hand on the move's side that was accepted after it was sent. */
function isEditOf({ market, direction, sentAtMs }: SentMove, order: Order): boolean {
  const isByHand = order.kind === 'edit' && order.strategy === '@operator'
  return (
    isByHand &&
    order.market === market &&
    order.direction === direction &&
    (millisOf(order.acceptedAt) ?? 0) >= sentAtMs
  )
}
