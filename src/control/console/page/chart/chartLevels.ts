/** Prices of a market at which something of ours rests, happened or would: the lines of its chart and the rows of its table of levels. Pure. */
import type { Market, RestingOrder, Status } from '../pageWire.ts'
import {
  absOf,
  amountOf,
  chartNumber,
  placesOf,
  priceText,
  shareText,
  signedUsdText,
  usdText,
} from '../shownAmount.ts'
import { type ShownPosition, sideKeyOf } from '../shownFigures.ts'
import { texts } from '../texts.ts'
import { chartTexts as words } from './chartTexts.ts'

/** Kind of a price level. */
export type LevelKind = 'entry' | 'liquidation' | 'stop' | 'target' | 'limit' | 'stop entry' | 'other'

/** A price at which something of ours rests, happened or would. */
export interface Level {
  /** Key of its order, or of its position and kind. */
  readonly key: string
  readonly kind: LevelKind
  /** Its name: the kind, or of an order of another kind the venue's word. */
  readonly name: string
  readonly direction: 'long' | 'short'
  /** USD per whole index token, 30 decimals. */
  readonly priceUsd: bigint
  /** As it is drawn, USD. */
  readonly price: number
  /** With the places of its market. */
  readonly text: string
  /** Size that acts there, in words. */
  readonly size: string
  /** From the mark, signed, in percent; undefined: no mark is known. */
  readonly distance: string | undefined
  /** Result of the position's part that closes there, before costs, in words; undefined: nothing closes there. */
  readonly pnl: string | undefined
  /** The order that rests there. */
  readonly order?: RestingOrder
  /** Whoever maintains the order and would move it back; undefined: it may be moved. */
  readonly maintainer: string | undefined
}

/** A market with what is held on it. */
export interface MarketFacts {
  readonly positions: readonly ShownPosition[]
  /** Symbol of the market. */
  readonly market: string
  /** Places of its prices. */
  readonly places: number
}

/** Facts that levels are made of. */
export interface LevelFacts extends MarketFacts {
  readonly status: Status
}

/** Newest mark of a market, USD with 30 decimals: of what is held or rests there. Undefined: none is known. */
export function markOf({ positions, restingOrders, symbols }: Status, market: string): bigint | undefined {
  const held = positions.find(({ marketToken }) => symbols[marketToken.toLowerCase()] === market)
  const resting = restingOrders.find((row) => row.market === market && row.markPrice !== null)
  const mark = held?.markPrice ?? resting?.markPrice
  return mark === undefined || mark === null ? undefined : amountOf(mark)
}

/**
 * Places of all prices of a market, by its mark: in chart, rows, ticket and notices alike. Undefined: no price of it is known.
 *
 * @param newestClose of its candles, USD: what tells it where no mark is known
 */
export function placesOfMarket(
  { status, markets }: { readonly markets: readonly Market[] } & { readonly status?: Status | undefined },
  market: string,
  newestClose?: number,
): number | undefined {
  const mark =
    (status && markOf(status, market)) ?? markets.find(({ symbol }) => symbol === market)?.markPrice
  if (mark !== undefined && mark !== null) return placesOf(mark)
  return newestClose === undefined ? undefined : placesOf(BigInt(Math.round(newestClose * 1e12)) * 10n ** 18n)
}

/** The levels of a market, the highest price first. */
export function levelsOf(facts: LevelFacts): readonly Level[] {
  const { status, positions, market } = facts
  const held = positions.filter(({ symbol }) => symbol === market)
  const resting = status.restingOrders.filter((row) => row.market === market)
  return [
    ...held.flatMap((each) => heldLevels(each, facts)),
    ...resting.flatMap((row) => restingLevel(row, facts)),
  ].toSorted((one, other) => (one.priceUsd < other.priceUsd ? 1 : one.priceUsd > other.priceUsd ? -1 : 0))
}

function heldLevels({ key, row }: ShownPosition, { places }: LevelFacts): readonly Level[] {
  const { direction, entryPrice, liquidationPrice, markPrice, sizeInUsd } = row
  const level = (kind: 'entry' | 'liquidation', price: string): Level => ({
    ...pricesOf(amountOf(price), places, amountOf(markPrice)),
    ...{ key: `${kind} ${key}`, kind, name: words.held[kind], direction },
    size: usdText(sizeInUsd),
    maintainer: undefined,
    pnl: kind === 'entry' ? undefined : pnlAt(amountOf(price), row, amountOf(sizeInUsd)),
  })
  return [
    ...(entryPrice === undefined ? [] : [level('entry', entryPrice)]),
    ...(liquidationPrice === undefined ? [] : [level('liquidation', liquidationPrice)]),
  ]
}

const kinds: Readonly<Record<string, LevelKind>> = {
  stop: 'stop',
  target: 'target',
  limit: 'limit',
  'stop entry': 'stop entry',
}

function restingLevel(row: RestingOrder, facts: LevelFacts): readonly Level[] {
  const { orderKey, type, direction, triggerPrice, markPrice, sizeUsd } = row
  if (triggerPrice === null) return []
  const price = amountOf(triggerPrice)
  const kind = kinds[type] ?? 'other'
  return [
    {
      ...pricesOf(price, facts.places, markPrice === null ? undefined : amountOf(markPrice)),
      ...{ key: orderKey, kind, name: type, direction, size: usdText(sizeUsd), order: row },
      maintainer: maintainerOf(row, facts.status),
      pnl: pnlOfExit(row, price, facts),
    },
  ]
}

/** Result of an exit at a price, before costs, in words; undefined: it is no exit, or its position is not known. */
export function pnlOfExit(
  order: RestingOrder,
  priceUsd: bigint,
  { positions, market }: MarketFacts,
): string | undefined {
  if (order.type !== 'stop' && order.type !== 'target') return undefined
  const position = positions.find(({ symbol, key }) => symbol === market && key === sideKeyOf(order))
  return (
    position &&
    pnlAt(priceUsd, position.row, smaller(amountOf(order.sizeUsd), amountOf(position.row.sizeInUsd)))
  )
}

/** `-$6.42`: what this size of a position gains if it closes at a price, before costs; undefined: its entry price is not known. */
function pnlAt(
  priceUsd: bigint,
  { direction, entryPrice }: ShownPosition['row'],
  sizeUsd: bigint,
): string | undefined {
  const entryUsd = amountOf(entryPrice ?? '0')
  if (entryUsd <= 0n) return undefined
  const gainUsd = (sizeUsd * (direction === 'long' ? priceUsd - entryUsd : entryUsd - priceUsd)) / entryUsd
  return signedUsdText(gainUsd)
}

/** The running strategy or task that maintains an order; undefined: none does. */
export function maintainerOf({ ownerKind, owner }: RestingOrder, { strategies }: Status): string | undefined {
  if (ownerKind === 'task') return texts.resting.task(owner)
  return ownerKind === 'instance' && strategies.some(({ name }) => name === owner) ? owner : undefined
}

function pricesOf(priceUsd: bigint, places: number, markUsd: bigint | undefined) {
  return {
    priceUsd,
    price: chartNumber(priceUsd),
    text: priceText(priceUsd, places),
    distance: distanceText(priceUsd, markUsd),
  }
}

/** `-0.80%`, `+1.20%`: how far a price is from the mark; undefined: no mark is known. */
export function distanceText(priceUsd: bigint, markUsd: bigint | undefined): string | undefined {
  if (markUsd === undefined || markUsd <= 0n) return undefined
  const text = shareText(priceUsd - markUsd, markUsd)
  return priceUsd > markUsd ? `+${text}` : text
}

function smaller(one: bigint, other: bigint): bigint {
  return absOf(one) < absOf(other) ? one : other
}

/** Words beside the line of a level: its name, what acts there, and the result there. */
export function lineTitle({ name, direction, size, pnl }: Level): string {
  return [name, direction, size, ...(pnl === undefined ? [] : [pnl])].join(' ')
}

/**
 * Prices that the price axis must show: those of the candles, and levels not farther from them than they are from each other. What is far away stays
 * outside: a liquidation at half the price would make a line of the candles.
 */
export function shownRange(
  { low, high }: { readonly low: number; readonly high: number },
  levels: readonly { readonly price: number }[],
): { readonly low: number; readonly high: number } {
  const reach = Math.max(high - low, high * 0.002)
  const near = levels.map(({ price }) => price).filter((price) => price > low - reach && price < high + reach)
  return { low: Math.min(low, ...near), high: Math.max(high, ...near) }
}
