/** Parts of the status that several commands show: rows of strategies and orders in flight, sides without stops, and words for an equity. Pure. */

import { isoTime } from '../../base/clock.ts'
import { dayPartNames } from '../../books/bookView.ts'
import type { StatusBody } from '../../control/routes.ts'
import { authorText } from '../../domain/accountRecords/operatorName.ts'
import { orderTypeName } from '../../domain/order/orderTerms.ts'

import { counted, money, shortId, span } from '../../monitor/text.ts'
import { type PriceText, triggersIn } from '../output/pricePlaces.ts'
import { wrapped } from '../output/screen.ts'
import { sizeText } from '../output/sizeText.ts'
import { type Column, table } from '../output/table.ts'

/** A side without stops; a daemon of before does not say how much of it, nor since when. */
type ToldSide = Omit<BareSide, 'sinceMs' | 'uncoveredUsd'> &
  Partial<Pick<BareSide, 'sinceMs' | 'uncoveredUsd'>>
type BareSide = NonNullable<StatusBody['withoutStop']>[number]

/** Which positions have no stop-losses for all of them, and for how much, a sentence; none where each has, and before orders were looked at. */
export function noStopText({
  withoutStop = [],
  positions,
  symbols,
  nowMs,
}: StatusBody & {
  readonly withoutStop?: readonly ToldSide[]
}): readonly string[] {
  if (withoutStop.length === 0 || positions.length === 0) return []
  const nameOf = ({ marketToken, direction, sinceMs, uncoveredUsd }: ToldSide) => {
    const amount = uncoveredUsd === undefined ? '' : `${money(BigInt(uncoveredUsd))} of `
    const age = sinceMs === undefined ? '' : ` (for ${span(Math.max(0, nowMs - sinceMs))})`
    return `${amount}${direction} ${symbols[marketToken.toLowerCase()] ?? marketToken}${age}`
  }
  const of = (sides: readonly ToldSide[]) => [...new Set(sides.map(nameOf))].join(', ')
  const bare = withoutStop.filter(({ isStopBehindLiquidation }) => isStopBehindLiquidation !== true)
  const behind = withoutStop.filter(({ isStopBehindLiquidation }) => isStopBehindLiquidation === true)
  return [
    ...(bare.length === 0
      ? []
      : [
          `NO STOP: no stop-loss rests at the venue for ${of(bare)}. Place one: perpd protect MARKET SIDE --stop-loss PRICE`,
        ]),
    ...(behind.length === 0
      ? []
      : [
          `NO STOP: the stop-loss for ${of(behind)} lies beyond the liquidation price and would never trigger: move it nearer, or reduce leverage.`,
        ]),
  ]
}

/** Intents as a table: state, terms and what each waits for. */
export function inFlightTable(openIntents: StatusBody['openIntents'], nowMs: number, width: number): string {
  const triggerText = triggersIn(
    openIntents,
    ({ market }) => market,
    ({ triggerPrice }) => [triggerPrice],
  )
  const rows = openIntents.map((row) => orderRow(row, nowMs, triggerText))
  return table(orderColumns, rows, width, '  ')
}

/** An open order as its row of the table. */
function orderRow(
  row: StatusBody['openIntents'][number],
  nowMs: number,
  triggerText: PriceText<StatusBody['openIntents'][number]>,
): string[] {
  return [
    shortId(row.intentId),
    row.standing,
    `${row.kind} ${row.direction} ${row.market}`,
    sizeText(row),
    orderTypeName(row.orderType ?? ''),
    triggerText(row, row.triggerPrice),
    authorText(row.strategy),
    [
      `${span(nowMs - Date.parse(row.acceptedAt))} old`,
      ...openText(row),
      // For an open order the venue's status describes its creation, which no longer matters.
      ...(row.observedStatus === null || row.standing === 'open'
        ? []
        : [`the venue says ${row.observedStatus}`]),
      ...(row.warnings.length === 0 ? [] : [`warnings: ${row.warnings.join(', ')}`]),
      ...(row.unwantedBy === null ? [] : [`unwind requested by ${row.unwantedBy}`]),
      ...(row.presumedDeadForSeconds === null
        ? []
        : [
            `${span(row.presumedDeadForSeconds * 1_000)} past its deadline, outcome not proven: perpd explain ${shortId(row.intentId)}`,
          ]),
    ].join(', '),
  ]
}

/** Lists the legs that still rest for an order whose entry is filled. */
function openText({ standing, legs }: StatusBody['openIntents'][number]): string[] {
  if (standing !== 'open') return []
  const exits = legs.filter(
    ({ role, status }) => role !== 'main' && (status === 'resting' || status === 'frozen'),
  ).length
  return [`entry filled, ${counted(exits, 'exit')} ${exits === 1 ? 'rests' : 'rest'}`]
}

/**
 * Since when a result of the day is counted: since 00:00 UTC, or since the first reading where that is a minute or more younger, as on
 * an account that was first read at noon.
 */
export function sinceText(
  {
    dayStartMs,
    dayFirstAtMs = dayStartMs,
  }: Pick<NonNullable<StatusBody['equity']>, 'dayStartMs' | 'dayFirstAtMs'>,
  nowMs: number,
): string {
  const [first, today] = [isoTime(dayFirstAtMs), isoTime(nowMs).slice(0, 10)]
  // Before the first reading of a process the figures are those of the last one, which may be of another day.
  const day = first.startsWith(today) ? '' : `${first.slice(0, 10)} `
  const isFromStart = dayFirstAtMs - dayStartMs < 60_000
  return `since ${day}${first.slice(11, 16)} UTC${isFromStart ? '' : ', the first reading'}`
}

/** While nothing moves a reading is made every few seconds: a figure this old is of before the account could not be read. */
const freshEquityMs = 20_000

/** States today's deposits and withdrawals, which no result includes. */
export function transfersText({
  dayTransfersUsd = '0',
}: Pick<NonNullable<StatusBody['equity']>, 'dayTransfersUsd'>): string {
  const amountUsd = BigInt(dayTransfersUsd)
  if (amountUsd === 0n) return ''
  return amountUsd > 0n ? `, ${money(amountUsd)} deposited` : `, ${money(-amountUsd)} withdrawn`
}

const dayPartWords: Readonly<Record<(typeof dayPartNames)[number], string>> = {
  closedUsd: 'closed',
  openUsd: 'open',
  costsUsd: 'costs',
  restUsd: 'coins and pending',
}

/** The parts of the day's change, which add up to it as they are shown; empty where they are not known. */
export function dayPartsText({ dayParts }: NonNullable<StatusBody['equity']>): string {
  if (dayParts === undefined) return ''
  return dayPartNames.map((name) => `${dayPartWords[name]} ${money(BigInt(dayParts[name]))}`).join(', ')
}

/** Says after an equity figure that it is not current: it is the last one from before the account moved. */
export function equityAge(
  {
    equityAtMs,
    isEquitySettling,
  }: Pick<NonNullable<StatusBody['equity']>, 'equityAtMs' | 'isEquitySettling'>,
  nowMs: number,
): string {
  if (equityAtMs === undefined) return ' (from lists of different moments: orders are settling)'
  const ageMs = Math.max(0, nowMs - equityAtMs)
  if (isEquitySettling) return ` (${span(ageMs)} old: lists are settling)`
  return ageMs >= freshEquityMs ? ` (${span(ageMs)} old)` : ''
}

const strategyColumns: readonly Column[] = [
  { title: 'NAME', rank: 0, isName: true },
  { title: 'KIND', rank: 0, isName: true },
  { title: 'MARKETS', rank: 1 },
  { title: 'EVERY', rank: 2, word: 'every', isFigure: true },
  { title: 'TURNS', rank: 6, word: 'turns', isFigure: true },
  { title: 'DECIDED', rank: 5, word: 'decided', isFigure: true },
  { title: 'ADMITTED', rank: 4, word: 'admitted', isFigure: true },
  { title: 'DENIED', rank: 3, word: 'denied', isFigure: true },
  { title: 'LAST TURN', rank: 7, word: 'last turn' },
  { title: 'PROBLEM', rank: 8, isProse: true },
]

/** Which exits of an instance no order at the venue stands for. */
export function exitsHereText(exitsHere: NonNullable<StatusBody['strategies'][number]['exitsHere']>): string {
  return `works only while perpd runs: ${exitsHere.map((exit) => exit.replaceAll('-', ' ')).join(', ')}`
}

/** The strategies as a table. */
export function strategiesTable({ strategies, nowMs }: StatusBody, width: number): string {
  const rows = strategies.map((each) => strategyRow(each, nowMs))
  const waits = strategies.flatMap(({ name, status }) =>
    status === undefined ? [] : wrapped(`  ${name}: `, statusLineText(status, nowMs), width),
  )
  return [table(strategyColumns, rows, width, '  '), ...waits].join('\n')
}

/** A kind's line on what its instance waits for; one that is old says so, for it is of the newest turn. */
export function statusLineText(
  { text, atMs }: NonNullable<StatusBody['strategies'][number]['status']>,
  nowMs: number,
): string {
  const ageMs = nowMs - atMs
  return ageMs < OLD_STATUS_MS ? text : `${text} (${span(ageMs)} ago)`
}

/** A line of a turn that is older than this shows its age, ms. */
const OLD_STATUS_MS = 60_000

function strategyRow(each: StatusBody['strategies'][number], nowMs: number): string[] {
  const problems = [
    ...(each.failures === 0 ? [] : [`FAILING (${each.failures} in a row): ${each.lastError ?? ''}`]),
    ...(each.pausedForMs === undefined ? [] : [`PAUSED for another ${span(each.pausedForMs)}`]),
    ...(each.pausedBy === undefined ? [] : [`PAUSED by ${each.pausedBy.by}: ${each.pausedBy.reason}`]),
    ...(each.unfit === undefined
      ? []
      : [`PAUSED: ${each.unfit.reason}; correct its kind, or: perpd strategies forget ${each.name}`]),
    ...(each.exitsHere === undefined ? [] : [exitsHereText(each.exitsHere)]),
  ]
  return [
    each.name,
    each.kind,
    each.symbols.length === 0 ? 'all with a position' : each.symbols.join(', '),
    span(each.cadenceMs),
    `${each.ticks}`,
    `${each.decisions}`,
    `${each.admitted}`,
    `${each.denied}`,
    lastTurnText(each, nowMs),
    problems.join('; '),
  ]
}

/** When it was last asked, and that it is not asked now: what it skips while it pauses is no turn. */
function lastTurnText(
  { lastAskedAtMs, pausedForMs, unfit }: StatusBody['strategies'][number],
  nowMs: number,
): string {
  const asked = lastAskedAtMs === undefined ? 'none yet' : `${span(Math.max(0, nowMs - lastAskedAtMs))} ago`
  return pausedForMs === undefined && unfit === undefined ? asked : `${asked}, paused`
}

const orderColumns: readonly Column[] = [
  { title: 'ID', rank: 0 },
  { title: 'STATUS', rank: 0 },
  { title: 'ORDER', rank: 0 },
  { title: 'SIZE', rank: 1, word: 'size', isFigure: true },
  { title: 'TYPE', rank: 1, word: 'type' },
  { title: 'TRIGGER', rank: 1, word: 'trigger', isFigure: true },
  { title: 'STRATEGY', rank: 2, word: 'by', isName: true },
  { title: 'NOTE', rank: 3, isProse: true },
]
