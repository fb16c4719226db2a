/** Compares two levels of a stop-loss: the one that secures more of the profit, USD per whole index token. Pure. */

import type { Direction } from '../protocol/market.ts'
import type { Usd } from '../protocol/units.ts'

type Sided = { readonly direction: Direction }

/** Tells whether a level secures more of the profit than another. */
export function isNearer({ direction }: Sided, level: Usd, other: Usd): boolean {
  return direction === 'long' ? level > other : level < other
}

/** The nearest to profit of some levels; undefined: there is none. A level of 0 or less is none. */
export function mostProtective(position: Sided, levels: readonly (Usd | undefined)[]): Usd | undefined {
  return levels.reduce<Usd | undefined>(
    (best, level) =>
      level !== undefined && level > 0n && (best === undefined || isNearer(position, level, best))
        ? level
        : best,
    undefined,
  )
}
