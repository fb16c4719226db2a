/** The status line of a kind that judges its markets one by one. Pure. */
import { defined } from '../../../base/defined.ts'
import type { Direction } from '../../../protocol/market.ts'
import type { OwnPosition, StatusLine, StrategyInstance } from '../../strategy.ts'

/** Longest joined line, and most values in it; a status may have as many. */
const [MOST_TEXT, MOST_FACTS] = [160, 16]

/** The line of the one market, or those of several in one, each with its name as far as they fit. Undefined where no market has one. */
export function statusOfMarkets(
  { instance: { symbols } }: { readonly instance: StrategyInstance },
  lineOf: (symbol: string) => StatusLine | undefined,
): StatusLine | undefined {
  const lines = symbols.flatMap((symbol) => {
    const line = lineOf(symbol)
    const [asset = ''] = symbol.split('/')
    return line === undefined ? [] : [{ asset, ...line }]
  })
  const [only] = lines
  if (only === undefined) return undefined
  if (symbols.length === 1) return { text: only.text, ...defined({ facts: only.facts }) }
  const facts = lines
    .flatMap(({ asset, facts: own = {} }) =>
      Object.entries(own).map(([name, value]) => [`${asset}_${name}`.replace(/\W/g, ''), value] as const),
    )
    .slice(0, MOST_FACTS)
  return {
    text: joined(lines.map(({ asset, text }) => `${asset}: ${text}`)),
    facts: Object.fromEntries(facts),
  }
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
