/** Formats reports about the daemon for a chat, in a few lines each. Pure. */

import { bookName, sumOf } from '../../books/bookView.ts'
import { type Figures, resultOf } from '../../books/figures.ts'
import { counted } from '../../monitor/text.ts'
import type { ChatQuestion } from '../../notify/chat/chatDesk.ts'
import type { EngineStatus } from '../../operator/port/engineStatus.ts'
import { hexKey } from '../../protocol/address.ts'
import { type Position, pnlIfClosed } from '../../protocol/position.ts'
import { formatPrice } from '../../protocol/priceText.ts'
import { formatDollars, formatSize } from '../../protocol/units.ts'

/** Results of a day, by book. */
export interface DayFigures {
  /** 00:00 UTC, Unix ms. */
  readonly dayMs: number
  readonly strategy: string
  readonly figures: Figures
}

/** Most rows of a list in one message. */
const MOST_ROWS = 20

/** The answer to a question. `days`: what the books brought today and yesterday. */
export function chatAnswer(
  question: ChatQuestion,
  status: EngineStatus,
  days: readonly DayFigures[],
): string {
  switch (question) {
    case 'status':
      return statusText(status)
    case 'positions':
      return rows(positionRows(status), 'No position is held.')
    case 'orders':
      return rows(orderRows(status), 'No order is open.')
    case 'pnl':
      return daysText(days)
  }
}

function statusText(status: EngineStatus): string {
  const {
    state,
    tradingState,
    halts,
    equity,
    exposureUsd,
    positions,
    openIntents,
    unresolved,
    discrepancies,
  } = status
  const lines = [
    `perpd ${status.profile} is ${state}; trading is ${tradingState}`,
    ...halts.map(({ scope, state: held, cause, reason }) => `${held} (${scope}, ${cause}): ${reason}`),
    ...(status.notReady.length === 0 ? [] : [`not ready: ${status.notReady.join('; ')}`]),
    `equity ${equity === undefined ? 'not read yet' : formatDollars(equity.equityUsd)}, exposure ${formatDollars(exposureUsd)}`,
    `${counted(positions.length, 'position')}, ${counted(openIntents.length, 'open order')}, ${unresolved} unresolved, ${discrepancies.length} open ${discrepancies.length === 1 ? 'discrepancy' : 'discrepancies'}`,
  ]
  return lines.join('\n')
}

function positionRows({ positions, symbols }: EngineStatus): readonly string[] {
  return positions.map((position) => {
    const { marketToken, direction, sizeInUsd, entryPrice, markPrice } = position
    const entry = entryPrice === undefined ? 'not known' : formatPrice(entryPrice)
    return `${direction} ${symbols[hexKey(marketToken)] ?? marketToken} ${formatDollars(sizeInUsd)}, entry ${entry}, mark ${formatPrice(markPrice)}, ${pnlText(position)}`
  })
}

function pnlText(position: Position): string {
  const { usd, hasClosingCosts } = pnlIfClosed(position)
  return `${hasClosingCosts ? 'PnL if closed' : 'PnL before closing costs'} ${formatDollars(usd)}`
}

function orderRows({ openIntents }: EngineStatus): readonly string[] {
  return openIntents.map(({ state: { intent }, label }) => {
    const { symbol, direction, sizeDeltaUsd } = intent.terms
    const id = intent.intentId.slice(0, 10)
    return `${id} ${label}: ${intent.strategy} ${intent.kind} ${direction} ${symbol} ${formatSize(sizeDeltaUsd)}`
  })
}

function daysText(days: readonly DayFigures[]): string {
  if (days.length === 0) return 'No realized result today or yesterday (UTC).'
  return [...Map.groupBy(days, ({ dayMs }) => dayMs)]
    .sort(([one], [other]) => other - one)
    .flatMap(([dayMs, ofDay]) => [
      `${new Date(dayMs).toISOString().slice(0, 10)}: ${line(ofDay)}`,
      ...[...Map.groupBy(ofDay, ({ strategy }) => strategy)].map(
        ([strategy, ofStrategy]) => `  ${bookName(strategy)}: ${line(ofStrategy)}`,
      ),
    ])
    .join('\n')
}

function line(days: readonly DayFigures[]): string {
  const sum = sumOf(days.map(({ figures }) => figures))
  return `${formatDollars(resultOf(sum))} after all costs, ${sum.wins} of ${counted(sum.trades, 'trade')} won`
}

function rows(all: readonly string[], none: string): string {
  if (all.length === 0) return none
  const more = all.length > MOST_ROWS ? [`and ${all.length - MOST_ROWS} more`] : []
  return [...all.slice(0, MOST_ROWS), ...more].join('\n')
}
