/** `perpd status`: what the running daemon says about itself, asked at its control port. */
import type { StatusBody } from '../control/routes.ts'
import { isoTime } from '../domain/clock.ts'
import { formatUsd } from '../domain/units.ts'
import { liftText } from '../engine/trading.ts'
import { unmanagedText } from '../monitor/phraseAccount.ts'
import { counted, money, shortId, span } from '../monitor/text.ts'
import type { Call } from './command.ts'
import { askStatus } from './daemon.ts'
import { exitCodes } from './exit.ts'
import { wrapped } from './screen.ts'
import { columns } from './table.ts'

/** Prints the daemon's status, as text or with `--json`. Exit code 3 when no daemon answers. */
export async function status({ loaded, flags, out }: Call): Promise<number> {
  const body = await askStatus(loaded)
  out(flags.has('json') ? JSON.stringify(body, undefined, 2) : statusText(body))
  return exitCodes.ok
}

/** The status as text, without a line break at its end. */
export function statusText(body: StatusBody): string {
  const ready = body.notReady.length === 0 ? 'ready' : `not ready: ${body.notReady.join('; ')}`
  const blocks = [
    columns([
      [
        'perpd',
        `${body.version}, profile ${body.profile} on ${body.chain}, up ${span(body.nowMs - body.startedAtMs)}`,
      ],
      ['state', body.state === 'running' ? `running, ${ready}` : body.state],
      ['account', body.account],
      [
        'trading',
        `${body.tradingState}, exposure ${money(BigInt(body.exposureUsd))}, ${counted(body.openIntents.length, 'open order')}, ${body.unresolved} unresolved${body.unresolved === 0 ? '' : `, the oldest for ${span(body.oldestUnresolvedSeconds * 1_000)}`}`,
      ],
      ...body.holds.map((hold) => [
        '',
        `${hold.scope} is ${hold.state} by ${hold.cause} since ${span(body.nowMs - hold.sinceMs)}, ${hold.by}: ${hold.reason}; ${liftText(hold)}`,
      ]),
      ...(body.kill === undefined || body.kill.endedAtMs !== undefined
        ? []
        : [['kill', killText(body.kill)]]),
      ...(body.equity === undefined
        ? []
        : [
            [
              'equity',
              `${money(BigInt(body.equity.equityUsd))}, peak ${money(BigInt(body.equity.peakUsd))}, ${money(BigInt(body.equity.equityUsd) - BigInt(body.equity.dayStartUsd))} since 00:00 UTC${equityAge(body.equity.equityAtMs, body.nowMs)}`,
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
      ['evidence', body.evidence],
      [
        'journal',
        `${body.journal.path}: ${counted(body.journal.records, 'record')} of ${counted(body.journal.intents, 'order')}`,
      ],
      ['data', dataText(body)],
      ['hosts', [...body.apiHosts, ...body.oracleHosts].join(', ')],
    ]),
    `strategies\n${columns(
      body.strategies.map((each) => [
        each.name,
        each.kind,
        each.symbols.length === 0 ? 'every market with a position' : each.symbols.join(', '),
        `every ${span(each.cadenceMs)}`,
        `${counted(each.ticks, 'turn')}, ${counted(each.decisions, 'decision')}, ${each.admitted} admitted, ${each.denied} denied${each.lastTickAtMs === undefined ? '' : `, last ${span(body.nowMs - each.lastTickAtMs)} ago`}${each.failures === 0 ? '' : `; FAILING (${each.failures} in a row): ${each.lastError ?? ''}`}${each.pausedForMs === undefined ? '' : `; PAUSED for another ${span(each.pausedForMs)}`}`,
      ]),
      '  ',
    )}`,
  ]
  if (body.findings.length > 0) {
    const rows = body.findings.map(({ finding }) => [finding.kind, finding.statement])
    blocks.push(`the journal cannot explain (perpd findings)\n${columns(rows, '  ')}`)
  }
  if (body.contradictions.length > 0) {
    const rows = body.contradictions.map(({ host, statement }) => [host, statement])
    blocks.push(
      `hosts contradict what markets are; nothing is added there (perpd markets)\n${columns(rows, '  ')}`,
    )
  }
  if (body.hidden.length > 0)
    blocks.push(`lists and journal contradict each other\n  ${body.hidden.join('\n  ')}`)
  if (body.positions.length > 0) {
    const rows = body.positions.map((position) => [
      position.direction,
      body.symbols[position.marketToken.toLowerCase()] ?? position.marketToken,
      money(BigInt(position.sizeInUsd)),
      price('entry', position.entryPrice),
      price('mark', position.markPrice),
      price('liquidation', position.liquidationPrice),
      `PnL after fees ${money(BigInt(position.pnlAfterFeesUsd))}`,
    ])
    blocks.push(`positions\n${columns(rows, '  ')}`)
  }
  if (body.unmanaged.length > 0) {
    const rows = body.unmanaged.flatMap((each) =>
      wrapped('  ', unmanagedText({ ...each, sizeUsd: BigInt(each.sizeUsd) })),
    )
    blocks.push(`positions without a manager\n${rows.join('\n')}`)
  }
  if (body.openIntents.length > 0) {
    const rows = body.openIntents.map((row) => [
      shortId(row.intentId),
      row.standing,
      row.strategy,
      `${row.kind} ${row.direction} ${row.market}`,
      money(BigInt(row.sizeDeltaUsd)),
      [
        `${span(body.nowMs - Date.parse(row.acceptedAt))} old`,
        ...(row.observedStatus === null ? [] : [`the venue says ${row.observedStatus}`]),
        ...(row.warnings.length === 0 ? [] : [`warned of ${row.warnings.join(', ')}`]),
        ...(row.unwantedBy === null ? [] : [`not wanted by ${row.unwantedBy}: undone if it lands`]),
        ...(row.presumedDeadForSeconds === null
          ? []
          : [
              `${span(row.presumedDeadForSeconds * 1_000)} past its deadline and nothing shows it: perpd orders resolve`,
            ]),
      ].join(', '),
    ])
    blocks.push(`open orders\n${columns(rows, '  ')}`)
  }
  return blocks.join('\n\n')
}

/** What a kill is at: `cancelling and closing: 2 orders, 1 position, 1 in flight left`. */
export function killText(kill: NonNullable<StatusBody['kill']>): string {
  const { left, problem, close, outcome } = kill
  if (outcome !== undefined) return outcome === 'done' ? 'done: nothing is left' : 'abandoned'
  const doing = close ? 'cancelling and closing' : 'cancelling'
  const rest =
    left === undefined
      ? 'looking'
      : `${counted(left.orders, 'order')}, ${close ? `${counted(left.positions, 'position')}, ` : ''}${left.inFlight} in flight left`
  return `${doing}: ${rest}${problem === undefined ? '' : `; ${problem}`}`
}

/** Lists that are behind a fill give no figure; a reading is made every few seconds. */
const freshEquityMs = 20_000

function equityAge(atMs: number | undefined, nowMs: number): string {
  if (atMs === undefined) return ' (by lists that may be apart: orders are settling)'
  const ageMs = nowMs - atMs
  return ageMs < freshEquityMs ? '' : ` (${span(ageMs)} old: lists are settling)`
}

function price(name: string, value: string | undefined): string {
  return value === undefined ? '' : `${name} ${formatUsd(BigInt(value))}`
}

function dataText({ feedAgesMs }: StatusBody): string {
  const ages = Object.entries(feedAgesMs).map(([feed, ageMs]) => `${feed} ${span(ageMs)}`)
  return ages.length === 0 ? 'nothing read yet' : `${ages.join(', ')} old`
}
