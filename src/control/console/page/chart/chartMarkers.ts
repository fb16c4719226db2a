/** Own fills as marks on a chart: those of one candle are one mark, and no more than a chart draws smoothly. Pure. */
import type { Order } from '../pageWire.ts'
import { chartNumber, priceText } from '../shownAmount.ts'
import { millisOf } from '../shownTimes.ts'
import { chartTexts as words } from './chartTexts.ts'

/** A fill of ours. */
export interface ChartFill {
  readonly atMs: number
  /** True for a buy: it opens a long or reduces a short. */
  readonly isBuy: boolean
  readonly price: number
  readonly text: string
  /** Id of its order. */
  readonly order: string
}

/** Most marks that are drawn: fills are what costs a chart its frames. */
export const mostMarkers = 200

/** A mark of the fills within one candle. */
export interface FillMarker {
  /** Beginning of its candle, Unix seconds. */
  readonly atSeconds: number
  readonly side: 'buy' | 'sell' | 'both'
  /** `bought at $2,001.00`, or `3 fills`; empty where it would lie over the text of a newer mark. */
  readonly text: string
  /** Id of the order of its newest fill, whose story the mark opens. */
  readonly order: string
}

/** Tells whether a fill of a leg buys: it adds to a long or reduces a short. */
function isBuyOf({ kind, direction }: Order, role: Order['legs'][number]['role']): boolean {
  const isAdding = kind === 'increase' && (role === 'main' || role === 'part')
  return isAdding === (direction === 'long')
}

/** The fills of orders on a market, oldest first. `places`: of its prices. */
export function fillsOf(orders: readonly Order[], market: string, places?: number): readonly ChartFill[] {
  return orders
    .filter((order) => order.market === market)
    .flatMap((order) =>
      order.legs.flatMap(({ role, executionPrice, filledAt }): readonly ChartFill[] => {
        const atMs = filledAt === null ? undefined : millisOf(filledAt)
        if (executionPrice === null || atMs === undefined) return []
        const text = priceText(executionPrice, places)
        return [
          {
            atMs,
            isBuy: isBuyOf(order, role),
            price: chartNumber(executionPrice),
            text,
            order: order.intentId,
          },
        ]
      }),
    )
    .toSorted((one, other) => one.atMs - other.atMs)
}

/**
 * The marks of the candles that are seen, oldest first; of more than a chart draws, the newest.
 *
 * @param starts beginnings of the candles, Unix seconds, oldest first
 * @param stepSeconds length of a candle
 * @param seen beginnings of the first and the last candle that are seen, and the time that the width of a text spans
 */
export function markersOf(
  fills: readonly ChartFill[],
  { starts, stepSeconds }: { readonly starts: readonly number[]; readonly stepSeconds: number },
  seen: { readonly from: number; readonly to: number; readonly textSeconds: number },
): readonly FillMarker[] {
  const known = new Set(starts)
  const startOf = ({ atMs }: ChartFill) => Math.floor(atMs / 1_000 / stepSeconds) * stepSeconds
  const inSight = fills.filter((fill) => {
    const start = startOf(fill)
    return start >= seen.from && start <= seen.to && known.has(start)
  })
  const marks = [...Map.groupBy(inSight, startOf)]
    .map(([atSeconds, list]): FillMarker => {
      const buys = list.filter(({ isBuy }) => isBuy).length
      const side = buys === list.length ? 'buy' : buys === 0 ? 'sell' : 'both'
      const [only] = list
      const text =
        list.length > 1 || only === undefined
          ? words.fills(list.length)
          : `${only.isBuy ? words.bought : words.sold} ${only.text}`
      return { atSeconds, side, text, order: list.at(-1)?.order ?? '' }
    })
    .slice(-mostMarkers)
  let textFrom = Number.POSITIVE_INFINITY
  return marks
    .toReversed()
    .map((mark) => {
      if (textFrom - mark.atSeconds < seen.textSeconds) return { ...mark, text: '' }
      textFrom = mark.atSeconds
      return mark
    })
    .toReversed()
}

/**
 * From when on the fills of a chart are all there are, by when their orders were accepted, Unix ms; undefined: they are from its first
 * candle on. Of before it the page has open orders only, until older ones are loaded.
 */
export function fillsSinceMs(
  firstSeconds: number | undefined,
  { allSince, isAllOrders }: { readonly allSince: string | undefined; readonly isAllOrders: boolean },
): number | undefined {
  if (isAllOrders || allSince === undefined) return undefined
  const sinceMs = millisOf(allSince)
  return firstSeconds === undefined || sinceMs === undefined || firstSeconds * 1_000 >= sinceMs
    ? undefined
    : sinceMs
}
