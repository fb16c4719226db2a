/** Formats reports about the daemon for a chat, in a few lines each. Pure. */

import { bookName, sumOf } from '../../books/bookView.ts'
import { type Figures, resultOf } from '../../books/figures.ts'
import { authorText } from '../../domain/accountRecords/operatorName.ts'
import type { HeldRow } from '../../domain/summaries/heldRow.ts'
import { isInFlight, type RestingRow } from '../../domain/summaries/restingRow.ts'
import { distanceText, ownersText, ownerText } from '../../monitor/restingText.ts'
import { counted } from '../../monitor/text.ts'
import type { ChatQuestion } from '../../notify/chat/chatDesk.ts'
import type { EngineStatus } from '../../operator/port/engineStatus.ts'
import { hexKey } from '../../protocol/address.ts'
import { type Position, pnlIfClosed } from '../../protocol/position.ts'
import { formatExactPrice, formatPrice } from '../../protocol/priceText.ts'
import { formatDollars, formatSize, type Usd } from '../../protocol/units.ts'

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
    openOrders,
    unresolved,
    discrepancies,
  } = status
  const lines = [
    `perpd ${status.profile} is ${state}; trading is ${tradingState}`,
    ...halts.map(({ scope, state: held, cause, reason }) => `${held} (${scope}, ${cause}): ${reason}`),
    ...(status.notReady.length === 0 ? [] : [`not ready: ${status.notReady.join('; ')}`]),
    `equity ${equity === undefined ? 'not read yet' : formatDollars(equity.equityUsd)}, notional ${formatDollars(exposureUsd)}`,
    `${counted(positions.length, 'position')}, ${counted(openOrders, 'open order')}, ${unresolved} unresolved, ${discrepancies.length} open ${discrepancies.length === 1 ? 'discrepancy' : 'discrepancies'}`,
  ]
  return lines.join('\n')
}

function positionRows({ positions, held, symbols }: EngineStatus): readonly string[] {
  return positions.map((position, at) => {
    const { marketToken, direction, sizeInUsd, entryPrice, markPrice } = position
    const note = held[at]
    const entry = entryPrice === undefined ? 'not known' : formatPrice(entryPrice)
    const exits = note === undefined ? [] : exitTexts(note, sizeInUsd)
    return [
      `${direction} ${symbols[hexKey(marketToken)] ?? marketToken} ${formatDollars(sizeInUsd)}`,
      `entry ${entry}`,
      `mark ${formatPrice(markPrice)}`,
      pnlText(position),
      ...exits,
      ...(note === undefined ? [] : [ownersText(note.owners)]),
    ].join(', ')
  })
}

function exitTexts({ stops, targets, uncoveredUsd }: HeldRow, sizeUsd: Usd): readonly string[] {
  const bareUsd = uncoveredUsd ?? 0n
  const exitText = (word: string, { nearest, count }: HeldRow['stops']): string[] =>
    count === 0
      ? []
      : [`${word}${nearest === null ? '' : ` ${formatPrice(nearest)}`}${count > 1 ? ` (${count})` : ''}`]
  return [
    ...(bareUsd === 0n ? [] : [bareUsd >= sizeUsd ? 'NO STOP' : `NO STOP for ${formatDollars(bareUsd)}`]),
    ...exitText('stop', stops),
    ...exitText('target', targets),
  ]
}

function pnlText(position: Position): string {
  const { usd, hasClosingCosts } = pnlIfClosed(position)
  return `${hasClosingCosts ? 'PnL if closed' : 'PnL before closing costs'} ${formatDollars(usd)}`
}

/** Resting orders, then those in flight. */
function orderRows({ restingOrders, openIntents }: EngineStatus): readonly string[] {
  const inFlight = openIntents
    .filter(({ state }) => isInFlight(state))
    .map(({ state: { intent }, label }) => {
      const { symbol, direction, sizeDeltaUsd } = intent.terms
      const id = intent.intentId.slice(0, 10)
      return `${id} ${label}: ${intent.strategy} ${intent.kind} ${direction} ${symbol} ${formatSize(sizeDeltaUsd)}`
    })
  return [...restingOrders.map(restingText), ...inFlight]
}

function restingText(row: RestingRow): string {
  const { type, market, direction, triggerPrice, distanceBps100, sizeUsd, isFrozen, intentId } = row
  const at = triggerPrice === null ? '' : ` at ${formatExactPrice(triggerPrice)}`
  const away = distanceBps100 === null ? '' : ` (${distanceText(distanceBps100)})`
  const frozen = isFrozen ? ', frozen' : ''
  const id = intentId === null ? '' : `${intentId.slice(0, 10)} `
  return `${id}${type} ${direction} ${market}${at}${away}, ${formatSize(sizeUsd)}, ${ownerText(row.ownerKind, row.owner)}${frozen}`
}

function daysText(days: readonly DayFigures[]): string {
  if (days.length === 0) return 'No realized result today or yesterday (UTC).'
  return [...Map.groupBy(days, ({ dayMs }) => dayMs)]
    .sort(([one], [other]) => other - one)
    .flatMap(([dayMs, ofDay]) => [
      `${new Date(dayMs).toISOString().slice(0, 10)}: ${line(ofDay)}`,
      ...[...Map.groupBy(ofDay, ({ strategy }) => strategy)].map(
        ([strategy, ofStrategy]) => `  ${authorText(bookName(strategy))}: ${line(ofStrategy)}`,
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
