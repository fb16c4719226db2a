/** The summary of a day (UTC): when it is due, and what it says, from the books and from what the engine says of itself. Pure. */

import { defined } from '../base/defined.ts'
import { bookName, sumOf } from '../books/bookView.ts'
import { type Figures, resultOf } from '../books/figures.ts'
import { authorText } from '../domain/accountRecords/operatorName.ts'
import type { Notice } from '../monitor/events/notice.ts'

import { hexKey } from '../protocol/address.ts'
import { type Position, pnlIfClosed } from '../protocol/position.ts'
import { absOf, formatDollars, type Usd } from '../protocol/units.ts'
import type { SummaryPlaceholder } from './summaryPlaceholders.ts'

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000

/**
 * Gives, at a look, the day (its 00:00 UTC, Unix ms) whose summary is due: the day before, once `hourUtc` has come. A start after
 * that hour waits for the next one, so that a restart tells nothing twice; a clock that is set back tells nothing twice either.
 *
 * @param hourUtc 0 to 23.
 */
export function createSummaryClock(
  hourUtc: number,
  startedAtMs: number,
): (nowMs: number) => number | undefined {
  const dueOf = (nowMs: number): number => Math.floor((nowMs - hourUtc * HOUR_MS) / DAY_MS)
  let newest = dueOf(startedAtMs)
  return (nowMs) => {
    const due = dueOf(nowMs)
    if (due <= newest) return undefined
    newest = due
    return (due - 1) * DAY_MS
  }
}

/** Facts of the engine's status that a summary uses. USD has 30 decimals. */
export interface SummaryStatus {
  readonly positions: readonly Pick<
    Position,
    'marketToken' | 'direction' | 'sizeInUsd' | 'pnlAfterFeesUsd' | 'pnlAfterAllFeesUsd'
  >[]
  /** Market symbol by lower-cased market token. */
  readonly symbols: Readonly<Record<string, string>>
  readonly openOrders: number
  readonly unresolved: number
  readonly discrepancies: readonly unknown[]
  readonly exposureUsd: Usd
  /** Absent before the first reading. */
  readonly equity?: { readonly equityUsd: Usd }
  readonly tradingState: string
  /** The newest deposits (positive) and withdrawals. */
  readonly transfers?: readonly { readonly atMs: number; readonly amountUsd: Usd }[]
  /** Absent before the first look at the orders. */
  readonly withoutStop?: readonly unknown[]
}

/** Facts of a summary. */
export interface SummaryParts {
  /** 00:00 UTC of the day, Unix ms. */
  readonly dayMs: number
  /** Results of that day, by book. */
  readonly books: readonly { readonly strategy: string; readonly figures: Figures }[]
  readonly status: SummaryStatus
}

const defaultTemplate = [
  '{day} (UTC): {fills} fills, {won} of {trades} trades won',
  'PnL {pnl} after all costs, fees {fees} of them',
  'By strategy: {strategies}',
  'Held: {positions}; PnL if closed {unrealized}',
  'Open orders {orders}, notional {exposure}, equity {equity}{transfers}, trading {trading}',
  'Unresolved: {unresolved}',
].join('\n')

/** The notice of a day. `template`: its text with placeholders; absent: a text of our own. */
export function summaryNotice(parts: SummaryParts, template = defaultTemplate): Notice {
  const { dayMs, status } = parts
  const day = new Date(dayMs).toISOString().slice(0, 10)
  const unresolved = unresolvedOf(status)
  const values = valuesOf(parts, day, unresolved)
  return {
    kind: 'day-summary',
    level: 'info',
    cause: `summary:${day}`,
    isEnd: true,
    text: template.replace(
      /\{(\w+)\}/g,
      (whole, name: string) => values[name as SummaryPlaceholder] ?? whole,
    ),
    ...defined({
      action: unresolved.length === 0 ? undefined : 'Check perpd status and perpd discrepancies.',
    }),
  }
}

function valuesOf(
  { dayMs, books, status }: SummaryParts,
  day: string,
  unresolved: readonly string[],
): Readonly<Record<SummaryPlaceholder, string>> {
  const { positions, symbols, openOrders, exposureUsd, equity, tradingState } = status
  const sum = sumOf(books.map(({ figures }) => figures))
  const held = positions.map(
    ({ marketToken, direction, sizeInUsd }) =>
      `${direction} ${symbols[hexKey(marketToken)] ?? marketToken} ${formatDollars(sizeInUsd)}`,
  )
  const byStrategy = [...Map.groupBy(books, ({ strategy }) => strategy)].map(
    ([strategy, rows]) =>
      `${authorText(bookName(strategy))} ${signed(resultOf(sumOf(rows.map(({ figures }) => figures))))}`,
  )
  return {
    day,
    fills: String(sum.fills),
    trades: String(sum.trades),
    won: String(sum.wins),
    pnl: signed(resultOf(sum)),
    fees: formatDollars(sum.positionFeesUsd + sum.borrowingUsd + sum.fundingUsd + sum.relayFeesUsd),
    strategies: listed(byStrategy),
    positions: listed(held),
    unrealized: unrealizedOf(positions),
    orders: String(openOrders),
    exposure: formatDollars(exposureUsd),
    equity: equity === undefined ? 'not read' : formatDollars(equity.equityUsd),
    transfers: transfersOf(dayMs, status),
    trading: tradingState,
    unresolved: listed(unresolved),
  }
}

/** States the result of closing all positions, with its costs as far as the venue reports them. */
function unrealizedOf(positions: SummaryStatus['positions']): string {
  const each = positions.map(pnlIfClosed)
  const sum = signed(each.reduce<Usd>((all, { usd }) => all + usd, 0n))
  return each.every(({ hasClosingCosts }) => hasClosingCosts) ? sum : `${sum} before costs of closing`
}

/** States the day's deposits and withdrawals after the equity; nothing where there were none. */
function transfersOf(dayMs: number, { transfers = [] }: SummaryStatus): string {
  const amounts = transfers.flatMap(({ atMs, amountUsd }) =>
    atMs >= dayMs && atMs < dayMs + DAY_MS ? [amountUsd] : [],
  )
  const told = (word: string, each: readonly Usd[]): string =>
    each.length === 0 ? '' : `, ${formatDollars(absOf(each.reduce((sum, usd) => sum + usd, 0n)))} ${word}`
  const [deposits, withdrawals] = [amounts.filter((usd) => usd > 0n), amounts.filter((usd) => usd < 0n)]
  return told('deposited', deposits) + told('withdrawn', withdrawals)
}

/** Lists what needs attention, in a few words each. */
function unresolvedOf({ unresolved, discrepancies, withoutStop = [] }: SummaryStatus): readonly string[] {
  return [
    ...counted(unresolved, 'order with an unknown fate', 'orders with an unknown fate'),
    ...counted(discrepancies.length, 'discrepancy', 'discrepancies'),
    ...counted(withoutStop.length, 'unprotected position', 'unprotected positions'),
  ]
}

function counted(count: number, one: string, many: string): readonly string[] {
  return count === 0 ? [] : [`${count} ${count === 1 ? one : many}`]
}

function listed(words: readonly string[]): string {
  return words.length === 0 ? 'nothing' : words.join(', ')
}

function signed(amountUsd: Usd): string {
  return `${amountUsd < 0n ? '-' : '+'}${formatDollars(absOf(amountUsd))}`
}
