/** Filters of closed trades: one row each. Flags of `perpd trades`, the query of the control port and the console's address derive from them. Pure. */

import { dayOf } from './bookKeys.ts'
import type { ClosedTrade } from './closedTrades.ts'
import { tradeReasons } from './tradeNotes.ts'

const dayMs = 86_400_000

/** A filter: the word that names it, what it expects, and the test that a typed value makes. */
interface FilterRow {
  readonly name: 'from' | 'to' | 'market' | 'side' | 'strategy' | 'reason' | 'outcome'
  /** Placeholder in help. */
  readonly value: string
  /** Live subjects among which the value is one, for completion; absent: none. */
  readonly among?: 'markets' | 'strategies'
  /** The values that it may have; absent: any. */
  readonly words?: readonly string[]
  readonly doc: string
  /** Returns the test; undefined: the value is none of this filter. */
  readonly testOf: (typed: string, nowMs: number) => ((trade: ClosedTrade) => boolean) | undefined
}

const oneOf =
  (names: readonly string[], of: (trade: ClosedTrade) => string): FilterRow['testOf'] =>
  (typed) =>
    names.includes(typed) ? (trade) => of(trade) === typed : undefined

/** All filters, in the order in which forms and help show them. */
export const tradeFilters: readonly FilterRow[] = [
  {
    name: 'from',
    value: 'DAY',
    doc: 'closed on this day or later (UTC), as 2027-01-15, or 7d for the last seven',
    testOf(typed, nowMs) {
      const fromMs = dayTyped(typed, nowMs)
      return fromMs === undefined ? undefined : ({ closedAt }) => Date.parse(closedAt) >= fromMs
    },
  },
  {
    name: 'to',
    value: 'DAY',
    doc: 'closed on this day or earlier (UTC)',
    testOf(typed, nowMs) {
      const toMs = dayTyped(typed, nowMs)
      return toMs === undefined ? undefined : ({ closedAt }) => Date.parse(closedAt) < toMs + dayMs
    },
  },
  {
    name: 'market',
    value: 'SYMBOL',
    among: 'markets',
    doc: 'only this market; ETH takes all pools of ETH/USD',
    testOf: (typed) => (trade) => isOfMarket(trade, typed),
  },
  {
    name: 'side',
    value: 'SIDE',
    words: ['long', 'short'],
    doc: 'only long, or only short',
    testOf: oneOf(['long', 'short'], ({ direction }) => direction),
  },
  {
    name: 'strategy',
    value: 'NAME',
    among: 'strategies',
    doc: 'only of this strategy; @operator is by hand',
    testOf: (typed) => (trade) => trade.strategy === typed,
  },
  {
    name: 'reason',
    value: 'WHY',
    words: tradeReasons,
    doc: `only what ended by ${tradeReasons.slice(0, -1).join(', ')} or ${tradeReasons.at(-1)}`,
    testOf: oneOf(tradeReasons, ({ reason }) => reason),
  },
  {
    name: 'outcome',
    value: 'WHICH',
    words: ['won', 'lost'],
    doc: 'only won, or only lost: PnL above nothing, or not',
    testOf: oneOf(['won', 'lost'], ({ pnlUsd }) => (pnlUsd > 0n ? 'won' : 'lost')),
  },
]

/** Keeps the trades that all filters let through, or the first filter whose value is none of its own. */
export function filteredTrades(
  trades: readonly ClosedTrade[],
  typed: (name: FilterRow['name']) => string | undefined,
  nowMs: number,
): readonly ClosedTrade[] | { readonly wrong: FilterRow } {
  let left = trades
  for (const row of tradeFilters) {
    const value = typed(row.name)
    if (value === undefined || value === '') continue
    const test = row.testOf(value, nowMs)
    if (test === undefined) return { wrong: row }
    left = left.filter(test)
  }
  return left
}

/**
 * Returns 00:00 UTC of a typed day, Unix ms: `2027-01-15`, or `7d` for the first of the last seven, today included. Undefined: neither.
 */
export function dayTyped(typed: string, nowMs: number): number | undefined {
  const days = /^([1-9]\d{0,4})d$/.exec(typed)?.[1]
  if (days !== undefined) return dayOf(nowMs) - (Number(days) - 1) * dayMs
  const atMs = Date.parse(`${typed}T00:00:00Z`)
  // A 31st of February is read as the 3rd of March.
  return !Number.isNaN(atMs) && new Date(atMs).toISOString().slice(0, 10) === typed ? atMs : undefined
}

/** Tells whether a trade is of the market that is named by its symbol, the beginning of it, or its address. */
function isOfMarket({ market, marketToken }: ClosedTrade, typed: string): boolean {
  const [symbol, named] = [market.toLowerCase(), typed.toLowerCase()]
  const isStart = ['/', ' '].some((next) => symbol.startsWith(`${named}${next}`))
  return symbol === named || isStart || marketToken.toLowerCase() === named
}
