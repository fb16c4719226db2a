/** The daemon's status as text: today's result, positions, tasks and resting orders first, what perpd itself is about last. Pure. */
import { replayText } from '../../base/candles/replayPlace.ts'
import { isoTime } from '../../base/clock.ts'
import type { StatusBody } from '../../control/routes.ts'
import { releaseText } from '../../domain/accountRecords/haltRelease.ts'
import { unlistedText, unmanagedText } from '../../monitor/events/accountFamily.ts'
import { counted, money, span, tradingText } from '../../monitor/text.ts'
import { formatPercent } from '../../protocol/percentText.ts'
import { killText } from '../output/killText.ts'
import { restingTable } from '../output/restingTable.ts'
import { SCREEN_COLUMNS, wrapped } from '../output/screen.ts'
import { serverText } from '../output/standbyText.ts'
import { columns } from '../output/table.ts'
import { heldPositions, pnlText, positionsTable } from './positionsTable.ts'
import {
  dayPartsText,
  equityAge,
  inFlightTable,
  noStopText,
  sinceText,
  strategiesTable,
  transfersText,
} from './statusParts.ts'

/**
 * The status as text for a screen of so many columns, without a line break at its end: today's result, positions, tasks and resting orders first, what
 * perpd itself is about last.
 */
export function statusText(body: StatusBody, width = SCREEN_COLUMNS): string {
  return [
    headText(body, width),
    ...positionsBlock(body, width),
    ...tasksBlock(body, width),
    ...restingBlock(body, width),
    ...inFlightBlock(body, width),
    ...problemBlocks(body),
    `strategies\n${strategiesTable(body, width)}`,
    ...silentText(body, width),
    sourcesText(body),
  ].join('\n\n')
}

/** State, halts, today's result and the account's figures. */
function headText(body: StatusBody, width: number): string {
  const { profile, chain, state, notReady, openOrders, unresolved, equity, replay, kill, nowMs } = body
  const ready = notReady.length === 0 ? 'ready' : `not ready: ${notReady.join('; ')}`
  const oldest = unresolved === 0 ? '' : ` (oldest ${span(body.oldestUnresolvedSeconds * 1_000)})`
  const attention = attentionText(body)
  return columns([
    ['perpd', `${profile} on ${chain}, ${state === 'running' ? `running, ${ready}` : state}`],
    ...(replay === undefined ? [] : [['replay', replayText(replay)]]),
    [
      'trading',
      `${body.tradingState}, notional ${exposureText(body)}, ${counted(openOrders, 'open order')}, ${unresolved} unresolved${oldest}`,
    ],
    ...body.halts.map((hold) => [
      '',
      `${tradingText(hold.scope, hold.state)} by ${hold.cause} for ${span(nowMs - hold.sinceMs)}, ${hold.by}: ${hold.reason}; ${releaseText(hold)}`,
    ]),
    ...(kill === undefined || kill.endedAtMs !== undefined
      ? []
      : [['kill', killText(kill, body.openIntents)]]),
    ...(equity === undefined
      ? []
      : [
          [
            'today',
            `${money(BigInt(equity.equityUsd) - BigInt(equity.dayStartUsd))} ${sinceText(equity, nowMs)}${transfersText(equity)}`,
          ],
          ...dayRows(equity, width),
          [
            'equity',
            `${money(BigInt(equity.equityUsd))}, peak ${money(BigInt(equity.peakUsd))}, drawdown ${drawdownText(equity)}${equityAge(equity, nowMs)}`,
          ],
        ]),
    ...(body.desk ?? []).map(({ limit, value, used = '', ofDesk = '' }, at) => [
      at === 0 ? 'desk' : '',
      `${limit} ${used} used, budget ${value} of the desk's ${ofDesk}`,
    ]),
    ...(attention === '' ? [] : [['attention', attention]]),
  ])
}

/** Columns of the head's names. */
const HEAD_INDENT = 9

/** The parts of today's result, which add up to it as they are shown. */
function dayRows(equity: NonNullable<StatusBody['equity']>, width: number): readonly (readonly string[])[] {
  const parts = dayPartsText(equity)
  return parts === ''
    ? []
    : wrapped('', parts, width - HEAD_INDENT).map((line, at) => [at === 0 ? 'PnL' : '', line])
}

/** The fall of the equity below its peak, in percent of the peak. */
function drawdownText({ equityUsd, peakUsd }: NonNullable<StatusBody['equity']>): string {
  const fallUsd = BigInt(peakUsd) - BigInt(equityUsd)
  return formatPercent(fallUsd > 0n ? fallUsd : 0n, BigInt(peakUsd))
}

/** Counts what a person must look at and what a small screen may show too far below; empty where there is nothing. */
function attentionText(body: StatusBody): string {
  const counts = [
    [body.unmanaged.length, 'unmanaged position'],
    [body.discrepancies.length, 'discrepanc'],
    [body.contradictions.length, 'contradicting host'],
    [body.hidden.length + (body.unlisted?.length ?? 0), 'contradicting list'],
  ] as const
  return counts
    .flatMap(([count, noun]) =>
      count === 0
        ? []
        : [noun === 'discrepanc' ? `${count} discrepanc${count === 1 ? 'y' : 'ies'}` : counted(count, noun)],
    )
    .join(', ')
}

function positionsBlock(body: StatusBody, width: number): readonly string[] {
  const lagging = [...body.unlistedFills, ...body.closedFills]
  const late =
    lagging.length === 0
      ? []
      : [`positions lag behind fills\n${lagging.flatMap((each) => wrapped('  ', each)).join('\n')}`]
  if (body.positions.length === 0) return late
  const note = noStopText(body).flatMap((text) => wrapped('  ', text, width))
  const rows = positionsTable(heldPositions(body), { width: width - 2, isNoted: false })
  const title = wrapped('positions: ', pnlText(body.positions), width)
  return [[...title, indented(rows), ...note].join('\n'), ...late]
}

function restingBlock({ restingOrders, nowMs }: StatusBody, width: number): readonly string[] {
  if (restingOrders.length === 0) return []
  const rows = restingTable(restingOrders, nowMs, { width: width - 2, isNoted: false })
  return [`resting orders\n${indented(rows)}`]
}

/** Orders whose messages are in flight, and resting ones that need a person: each has its story in a note. */
function inFlightBlock(body: StatusBody, width: number): readonly string[] {
  const resting = new Set(body.restingOrders.map(({ intentId }) => intentId))
  const shown = body.openIntents.filter(
    (row) => !resting.has(row.intentId) || row.unwantedBy !== null || row.warnings.length > 0,
  )
  return shown.length === 0 ? [] : [`orders in flight\n${inFlightTable(shown, body.nowMs, width)}`]
}

function tasksBlock({ tasks, tasksRunning, nowMs }: StatusBody, width: number): readonly string[] {
  const kinds = new Set(tasks.map(({ kind }) => kind))
  const others = Object.entries(tasksRunning).filter(([kind, count]) => count > 0 && !kinds.has(kind))
  if (tasks.length + others.length === 0) return []
  const lines = tasks.flatMap(({ taskId, asked, by, sinceMs }) =>
    wrapped('  ', `${taskId}: ${asked}, by ${by}, for ${span(Math.max(0, nowMs - sinceMs))}`, width),
  )
  const counts = others.map(([kind, count]) => `${count} ${kind}`).join(', ')
  return [`tasks (perpd task list)\n${[...lines, ...(counts === '' ? [] : [`  ${counts}`])].join('\n')}`]
}

/** Contradictions between lists, hosts and the journal, and what nobody manages. */
function problemBlocks(body: StatusBody): readonly string[] {
  const blocks: string[] = []
  if (body.unmanaged.length > 0) {
    const rows = body.unmanaged.flatMap((each) =>
      wrapped('  ', unmanagedText({ ...each, sizeUsd: BigInt(each.sizeUsd) })),
    )
    blocks.push(`unmanaged positions\n${rows.join('\n')}`)
  }
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
  return blocks
}

function indented(text: string): string {
  return text.replaceAll(/^(?=.)/gm, '  ')
}

/** Which hosts and endpoints say nothing, and why; none where all answer. */
function silentText({ silentHosts = [] }: StatusBody, width: number): readonly string[] {
  if (silentHosts.length === 0) return []
  const lines = silentHosts.flatMap(({ name, reason }) => wrapped('  ', `${name}: ${reason}`, width))
  return [`hosts and endpoints in cooldown, or without an answer to the last request\n${lines.join('\n')}`]
}

/** Where what is shown comes from: the least that anybody looks for. */
function sourcesText(body: StatusBody): string {
  const { subaccount } = body
  return columns([
    ['version', `${body.version}, up ${span(body.nowMs - body.startedAtMs)}`],
    ['account', body.account],
    ...(subaccount === undefined
      ? []
      : [
          [
            'approval',
            `${counted(subaccount.remainingActions, 'action')} left, ${subaccount.neededActions} needed for closing, until ${isoTime(subaccount.expiresAtSeconds * 1_000)}; delegated key ${subaccount.address}`,
          ],
        ]),
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

/** The exposure; where a fill may be counted twice, that this is the careful reading. */
function exposureText({ exposureUsd, exposureMaybeTwiceUsd: twiceUsd }: StatusBody): string {
  const whole = money(BigInt(exposureUsd))
  return BigInt(twiceUsd) === 0n
    ? whole
    : `at most ${whole} (${money(BigInt(twiceUsd))} of it may be one fill counted twice)`
}

function dataText({ feedAgesMs }: StatusBody): string {
  const ages = Object.entries(feedAgesMs).map(([feed, ageMs]) => `${feed} ${span(ageMs)}`)
  return ages.length === 0 ? 'nothing read yet' : `${ages.join(', ')} old`
}
