/** The status line of a kind that judges its markets one by one. Pure. */
import { defined } from '../../../base/defined.ts'
import type { Direction } from '../../../protocol/market.ts'
import type { Usd } from '../../../protocol/units.ts'
import { isShownPrice, priceOfLevel } from '../../levels.ts'
import type { OwnPosition, StatusLine, StrategyInstance } from '../../strategy.ts'

/** Longest joined line, most values and most prices in it; a status may have as many. */
const [MOST_TEXT, MOST_FACTS, MOST_PRICES] = [160, 16, 32]

/** The line of one market, with the prices that were decided by there, by name. */
export interface MarketLine extends Omit<StatusLine, 'prices'> {
  readonly prices?: Readonly<Record<string, Usd>>
}

/** The line of the one market, or those of several in one, each with its name as far as they fit. Undefined where no market has one. */
export function statusOfMarkets(
  { instance: { symbols } }: { readonly instance: StrategyInstance },
  lineOf: (symbol: string) => MarketLine | undefined,
): StatusLine | undefined {
  const lines = symbols.flatMap((symbol) => {
    const line = lineOf(symbol)
    const [asset = ''] = symbol.split('/')
    return line === undefined ? [] : [{ asset, symbol, ...line }]
  })
  const [only] = lines
  if (only === undefined) return undefined
  const prices = pricesOf(lines)
  if (symbols.length === 1) return { text: only.text, ...defined({ facts: only.facts, prices }) }
  const facts = lines
    .flatMap(({ asset, facts: own = {} }) =>
      Object.entries(own).map(([name, value]) => [`${asset}_${name}`.replace(/\W/g, ''), value] as const),
    )
    .slice(0, MOST_FACTS)
  return {
    text: joined(lines.map(({ asset, text }) => `${asset}: ${text}`)),
    facts: Object.fromEntries(facts),
    ...defined({ prices }),
  }
}

/** The prices of the markets, the first ones as far as a status has room for all of a market. Undefined where there are none. */
function pricesOf(
  lines: readonly (MarketLine & { readonly symbol: string })[],
): StatusLine['prices'] | undefined {
  let left = MOST_PRICES
  const priced = lines.flatMap(({ symbol, prices = {} }) => {
    // A level below the smallest unit of a price is none.
    const shown = Object.entries(prices).filter(([, price]) => isShownPrice(price))
    if (shown.length === 0 || shown.length > left) return []
    left -= shown.length
    return [[symbol, Object.fromEntries(shown)] as const]
  })
  return priced.length === 0 ? undefined : Object.fromEntries(priced)
}

/** Levels of candles and indicators as prices of a status; one that is none, or is not above 0, is left out. */
export function levelPrices(
  levels: Readonly<Record<string, number | undefined>>,
): Readonly<Record<string, Usd>> {
  return Object.fromEntries(
    Object.entries(levels).flatMap(([name, level]) =>
      level !== undefined && Number.isFinite(level) && level > 0
        ? [[name, priceOfLevel(level)] as const]
        : [],
    ),
  )
}

function joined(parts: readonly string[]): string {
  for (let count = parts.length; count > 0; count -= 1) {
    const rest = parts.length - count
    const text = `${parts.slice(0, count).join('; ')}${rest === 0 ? '' : `; and ${rest} more`}`
    if (text.length <= MOST_TEXT) return text
  }
  return `${parts.length} markets`
}

/** `holds long, ` where the instance has a position on the market, else nothing. */
export function heldText(held: readonly OwnPosition[]): string {
  const sides = [...new Set(held.map(({ direction }) => direction))]
  return sides.length === 0 ? '' : `holds ${sides.join(' and ')}, `
}

/** `below -2 or above 2`: the two edges at which a value leads to a long and to a short, or the one of the side that may be opened. */
export function edgesText(
  sides: 'both' | Direction,
  { long, short }: Readonly<Record<Direction, string>>,
): string {
  return sides === 'both' ? `${long} or ${short}` : { long, short }[sides]
}
