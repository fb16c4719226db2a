/** Results as rows by strategy, market, day, week or month: of commands, the control port and the console. Days are UTC everywhere. Pure. */
import { defined } from '../base/defined.ts'
import type { PositionSide } from '../domain/accountRecords/accountRecord.ts'
import { hexKey } from '../protocol/address.ts'
import type { Facts } from '../protocol/catalogue.ts'
import type { Usd } from '../protocol/units.ts'
import { dayOf } from './bookKeys.ts'
import { bookName, type Results, resultsOf, sumOf } from './bookView.ts'
import type { Figures } from './figures.ts'

const dayMs = 86_400_000

/** Groupings of the rows. Weeks begin on Monday. */
export const pnlGroupings = ['strategy', 'market', 'day', 'week', 'month'] as const
export type PnlGrouping = (typeof pnlGroupings)[number]

/** Tells whether rows of this grouping are spans of days. */
export function isOfDays(by: PnlGrouping): boolean {
  return by === 'day' || by === 'week' || by === 'month'
}

/** Result of a book, of all its days or of one. */
export interface PnlItem extends PositionSide {
  readonly strategy: string
  /** 00:00 UTC, Unix ms; absent: of all days. */
  readonly dayMs?: number
  /** Size held now, USD. */
  readonly sizeUsd?: Usd
  readonly figures: Figures
}

/** One row: results of a strategy, a market, or a span of days. */
export interface PnlRow extends Results {
  /** Name of the strategy, symbol of the market, first day of the week as 2026-11-23, or month as 2026-11. */
  readonly name: string
  /** Strategy or market of the row where it is of a span of days that is split; absent: not split. */
  readonly each?: string
  /** Size held now, USD; absent when rows are of some days alone. */
  readonly heldUsd?: Usd
}

/** Rows of what is not nothing, in the order of their names. `each` splits spans of days by strategy or market. */
export function pnlRows(
  items: readonly PnlItem[],
  by: PnlGrouping,
  facts: Facts,
  each?: 'strategy' | 'market',
): readonly PnlRow[] {
  const keyOf = (item: PnlItem): string =>
    JSON.stringify([nameOf(item, by, facts), ...(each === undefined ? [] : [nameOf(item, each, facts)])])
  return [...Map.groupBy(items, keyOf)]
    .map(([key, group]): PnlRow => {
      const [name, part] = JSON.parse(key) as [string, string?]
      const isHeld = group.every(({ sizeUsd }) => sizeUsd !== undefined)
      const heldUsd = group.reduce((sum, { sizeUsd = 0n }) => sum + sizeUsd, 0n)
      return {
        name,
        ...defined({ each: part, heldUsd: isHeld ? heldUsd : undefined }),
        ...resultsOf(sumOf(group.map(({ figures }) => figures))),
      }
    })
    .filter((row) => isSomething(row))
    .sort((one, other) => (keyText(one) < keyText(other) ? -1 : 1))
}

/** Returns the name of the row in which an item stands. */
export function nameOf(
  { strategy, marketToken, dayMs: day = 0 }: PnlItem,
  by: PnlGrouping,
  { markets }: Facts,
): string {
  if (by === 'strategy') return bookName(strategy)
  if (by === 'market') return markets.get(hexKey(marketToken))?.symbol ?? marketToken
  const start = by === 'week' ? mondayOf(day) : day
  return new Date(start).toISOString().slice(0, by === 'month' ? 7 : 10)
}

/** 00:00 UTC of the Monday before, Unix ms. The epoch was a Thursday. */
function mondayOf(atMs: number): number {
  return dayOf(atMs) - ((Math.floor(atMs / dayMs) + 3) % 7) * dayMs
}

function keyText({ name, each = '' }: PnlRow): string {
  return `${name}\n${each}`
}

function isSomething({ name: _, each: __, ...figures }: PnlRow): boolean {
  return Object.values(figures).some((value) => value !== 0n && value !== 0)
}
