/** `perpd status`: what the running daemon says about itself, asked at its control port. */

import { replayText } from '../../base/candles/replayPlace.ts'
import { isoTime } from '../../base/clock.ts'
import { exitCodes } from '../../config/exit.ts'
import type { StatusBody } from '../../control/routes.ts'
import { releaseText } from '../../domain/accountRecords/haltRelease.ts'
import { unlistedText, unmanagedText } from '../../monitor/events/accountFamily.ts'
import { counted, money, shortId, span, tradingText } from '../../monitor/text.ts'
import type { Call } from '../call/command.ts'
import { queryAlive, queryStatus, StandbyWaits } from '../call/daemonClient.ts'
import { killText } from '../output/killText.ts'
import { moneyCell } from '../output/moneyCell.ts'
import { type PriceText, pricesIn, triggersIn } from '../output/pricePlaces.ts'
import { SCREEN_COLUMNS, wrapped } from '../output/screen.ts'
import { sizeText } from '../output/sizeText.ts'
import { serverText, standbyText } from '../output/standbyText.ts'
import { type Column, columns, table } from '../output/table.ts'

/** Prints whether the daemon does its work, for probes. Exit code 0 when it does, 1 when not, 3 when no daemon answers. */
export async function alive({ loaded, flags, out }: Call): Promise<number> {
  const verdict = await queryAlive(loaded)
  if (flags.has('json')) out(JSON.stringify(verdict, undefined, 2))
  else out(verdict.ok ? 'alive' : `not alive: ${verdict.reasons.join('; ')}`)
  return verdict.ok ? exitCodes.ok : exitCodes.error
}

/** Prints the daemon's status, as text or with `--json`; of one that waits for its journal, for whom. Exit code 3 when no daemon answers. */
export async function status({ loaded, flags, width, out }: Call): Promise<number> {
  const show = <Body>(body: Body, text: (body: Body) => string): number => {
    out(flags.has('json') ? JSON.stringify(body, undefined, 2) : text(body))
    return exitCodes.ok
  }
  try {
    return show(await queryStatus(loaded), (body) => statusText(body, width))
  } catch (error) {
    if (!(error instanceof StandbyWaits)) throw error
    return show(error.standby, standbyText)
  }
}

/** The status as text for a screen of so many columns, without a line break at its end. */
export function statusText(body: StatusBody, width = SCREEN_COLUMNS): string {
  const ready = body.notReady.length === 0 ? 'ready' : `not ready: ${body.notReady.join('; ')}`
  const blocks = [
    columns([
      [
        'perpd',
        `${body.version}, profile ${body.profile} on ${body.chain}, up ${span(body.nowMs - body.startedAtMs)}`,
      ],
      ['state', body.state === 'running' ? `running, ${ready}` : body.state],
      ...(body.replay === undefined ? [] : [['replay', replayText(body.replay)]]),
      ['account', body.account],
      [
        'trading',
        `${body.tradingState}, exposure ${exposureText(body)}, ${counted(body.openIntents.length, 'open order')}, ${body.unresolved} unresolved${body.unresolved === 0 ? '' : `, the oldest for ${span(body.oldestUnresolvedSeconds * 1_000)}`}`,
      ],
      ...body.halts.map((hold) => [
        '',
        `${tradingText(hold.scope, hold.state)} by ${hold.cause} for ${span(body.nowMs - hold.sinceMs)}, ${hold.by}: ${hold.reason}; ${releaseText(hold)}`,
      ]),
      ...(body.kill === undefined || body.kill.endedAtMs !== undefined
        ? []
        : [['kill', killText(body.kill, body.openIntents)]]),
      ...(body.equity === undefined
        ? []
        : [
            [
              'equity',
              `${money(BigInt(body.equity.equityUsd))}, peak ${money(BigInt(body.equity.peakUsd))}, ${money(BigInt(body.equity.equityUsd) - BigInt(body.equity.dayStartUsd))} ${sinceText(body.equity, body.nowMs)}${transfersText(body.equity)}${equityAge(body.equity, body.nowMs)}`,
            ],
          ]),
      ...(body.subaccount === undefined
        ? []
        : [
            [
              'approval',
              `${counted(body.subaccount.remainingActions, 'action')} left, ${body.subaccount.neededActions} needed for closing, until ${isoTime(body.subaccount.expiresAtSeconds * 1_000)}; delegated key ${body.subaccount.address}`,
            ],
          ]),
    ]),
  ]
  if (body.positions.length > 0) {
    const priceText = pricesIn(
      body.positions,
      ({ marketToken }) => marketToken.toLowerCase(),
      ({ entryPrice, markPrice, liquidationPrice }) => [entryPrice, markPrice, liquidationPrice],
    )
    const rows = body.positions.map((position) => positionRow(position, body.symbols, priceText))
    const isNetKnown = body.positions.some((each) => each.pnlAfterAllFeesUsd !== undefined)
    const net = isNetKnown ? '; net deducts the fee and price impact of closing now' : ''
    const note = [
      ...wrapped('  ', `PnL is before closing costs${net}.`, width),
      ...noStopText(body).flatMap((text) => wrapped('  ', text, width)),
    ]
    blocks.push(`positions\n${[table(positionColumns, rows, width, '  '), ...note].join('\n')}`)
  }
  const lagging = [...body.unlistedFills, ...body.closedFills]
  if (lagging.length > 0)
    blocks.push(`positions lag behind fills\n${lagging.flatMap((each) => wrapped('  ', each)).join('\n')}`)
  if (body.unmanaged.length > 0) {
    const rows = body.unmanaged.flatMap((each) =>
      wrapped('  ', unmanagedText({ ...each, sizeUsd: BigInt(each.sizeUsd) })),
    )
    blocks.push(`unmanaged positions\n${rows.join('\n')}`)
  }
  if (body.openIntents.length > 0) {
    const rows = orderRowsOf(body)
    blocks.push(`open orders\n${table(orderColumns, rows, width, '  ')}`)
  }
  const tasks = Object.entries(body.tasksRunning).filter(([, count]) => count > 0)
  if (tasks.length > 0)
    blocks.push(`tasks (perpd task list)\n  ${tasks.map(([kind, count]) => `${count} ${kind}`).join(', ')}`)
  if (body.discrepancies.length > 0) {
    const rows = body.discrepancies.map(({ discrepancy }) => [discrepancy.kind, discrepancy.statement])
    blocks.push(`discrepancies (perpd discrepancies)\n${columns(rows, '  ')}`)
  }
  if (body.contradictions.length > 0) {
    const rows = body.contradictions.map(({ host, statement }) => [host, statement])
    blocks.push(
      `hosts contradict the facts of markets; increases there are blocked (perpd markets)\n${columns(rows, '  ')}`,
    )
  }
  if (body.unlisted !== undefined) {
    const lines = body.unlisted.map((side) => unlistedText(side, body.symbols))
    blocks.push(`positions without a readable row in any list\n  ${lines.join('\n  ')}`)
  }
  if (body.hidden.length > 0)
    blocks.push(`lists and journal contradict each other\n  ${body.hidden.join('\n  ')}`)
  blocks.push(
    `strategies\n${table(
      strategyColumns,
      body.strategies.map((each) => strategyRow(each, body.nowMs)),
      width,
      '  ',
    )}`,
  )
  blocks.push(...silentText(body, width), sourcesText(body))
  return blocks.join('\n\n')
}

/** Which hosts and endpoints say nothing, and why; none where all answer. */
function silentText({ silentHosts = [] }: StatusBody, width: number): readonly string[] {
  if (silentHosts.length === 0) return []
  const lines = silentHosts.flatMap(({ name, reason }) => wrapped('  ', `${name}: ${reason}`, width))
  return [`hosts and endpoints in cooldown, or without an answer to the last request\n${lines.join('\n')}`]
}

/** Where what is shown comes from: the least that anybody looks for. */
function sourcesText(body: StatusBody): string {
  return columns([
    ['evidence', body.evidence],
    [
      'journal',
      `${body.journal.path}: ${counted(body.journal.records, 'record')} of ${counted(body.journal.intents, 'order')}`,
    ],
    ...(body.journal.server === undefined ? [] : [['', serverText(body.journal.server)]]),
    ['data', dataText(body)],
    ['hosts', [...body.apiHosts, ...body.oracleHosts].join(', ')],
  ])
}

/** A position as its row of the table. */
function positionRow(
  position: StatusBody['positions'][number],
  symbols: StatusBody['symbols'],
  priceText: PriceText<StatusBody['positions'][number]>,
): string[] {
  return [
    symbols[position.marketToken.toLowerCase()] ?? position.marketToken,
    position.direction,
    moneyCell(BigInt(position.sizeInUsd)),
    moneyCell(BigInt(position.pnlAfterFeesUsd)),
    position.pnlAfterAllFeesUsd === undefined ? '' : moneyCell(BigInt(position.pnlAfterAllFeesUsd)),
    priceText(position, position.entryPrice),
    priceText(position, position.liquidationPrice),
    priceText(position, position.markPrice),
  ]
}

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
          `NO STOP: no stop-loss rests at the venue for ${of(bare)}. Place one: perpd protect MARKET SIDE --stop-loss PRICE.`,
        ]),
    ...(behind.length === 0
      ? []
      : [
          `NO STOP: the stop-loss for ${of(behind)} lies beyond the liquidation price and would never trigger: move it nearer, or reduce leverage.`,
        ]),
  ]
}

function orderRowsOf({ openIntents, nowMs }: StatusBody): string[][] {
  const triggerText = triggersIn(
    openIntents,
    ({ market }) => market,
    ({ triggerPrice }) => [triggerPrice],
  )
  return openIntents.map((row) => orderRow(row, nowMs, triggerText))
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
    row.orderType ?? '',
    triggerText(row, row.triggerPrice),
    row.strategy,
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
            `${span(row.presumedDeadForSeconds * 1_000)} past its deadline, outcome not proven: perpd orders resolve`,
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

/** The exposure; where a fill may be counted twice, that this is the careful reading. */
function exposureText({ exposureUsd, exposureMaybeTwiceUsd: twiceUsd }: StatusBody): string {
  const whole = money(BigInt(exposureUsd))
  return BigInt(twiceUsd) === 0n
    ? whole
    : `at most ${whole} (${money(BigInt(twiceUsd))} of it may be one fill counted twice)`
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

const positionColumns: readonly Column[] = [
  { title: 'MARKET', rank: 0 },
  { title: 'SIDE', rank: 0 },
  { title: 'SIZE', rank: 1, word: 'size', isFigure: true },
  { title: 'PNL', rank: 2, word: 'PnL', isFigure: true },
  { title: 'NET', rank: 3, word: 'net', isFigure: true },
  { title: 'ENTRY', rank: 4, word: 'entry', isFigure: true },
  { title: 'LIQUIDATION', rank: 5, word: 'liquidation', isFigure: true },
  { title: 'MARK', rank: 6, word: 'mark', isFigure: true },
]

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

function dataText({ feedAgesMs }: StatusBody): string {
  const ages = Object.entries(feedAgesMs).map(([feed, ageMs]) => `${feed} ${span(ageMs)}`)
  return ages.length === 0 ? 'nothing read yet' : `${ages.join(', ')} old`
}
