/** `perpd status`: what the running daemon says about itself, asked at its control port. */
import type { StatusBody } from '../control/routes.ts'
import { reasonOf } from '../domain/errors.ts'
import { formatUsd } from '../domain/units.ts'
import { counted, money, shortId, span } from '../monitor/text.ts'
import type { Call } from './command.ts'
import type { Config } from './config/types.ts'
import { CommandError, exitCodes } from './exit.ts'
import { columns } from './table.ts'

const TIMEOUT_MS = 5_000

/** Prints the daemon's status, as text or with `--json`. Exit code 3 when no daemon answers. */
export async function status({ loaded, flags, out }: Call): Promise<number> {
  const body = await askStatus(loaded.config)
  out(flags.has('json') ? JSON.stringify(body, undefined, 2) : statusText(body))
  return exitCodes.ok
}

async function askStatus({ control, profile }: Config): Promise<StatusBody> {
  const address = `http://${control.host.includes(':') ? `[${control.host}]` : control.host}:${control.port}`
  let body: unknown
  try {
    const response = await fetch(`${address}/api/status`, { signal: AbortSignal.timeout(TIMEOUT_MS) })
    body = await response.json()
  } catch (error) {
    throw new CommandError(
      `No perpd answers at ${address} (${causeOf(error)}).\n  Start it with: perpd run (in a checkout: npm start). When it serves another port, say which: --port N. Orders are readable without it: perpd orders`,
      exitCodes.notRunning,
    )
  }
  if (!isStatus(body)) {
    throw new CommandError(
      `Something answers at ${address}, but it is no perpd.\n  Say where the daemon serves: --port N`,
      exitCodes.notRunning,
    )
  }
  if (body.profile !== profile) {
    throw new CommandError(
      `The perpd at ${address} runs the profile ${body.profile}, not ${profile}.\n  Ask it with --profile ${body.profile}, or name the other's port with --port N`,
      exitCodes.notRunning,
    )
  }
  return body
}

function causeOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined
  if (cause instanceof Error && 'code' in cause) return String(cause.code)
  return reasonOf(error)
}

function isStatus(body: unknown): body is StatusBody {
  return typeof body === 'object' && body !== null && 'notReady' in body && 'tradingState' in body
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
        `${counted(each.ticks, 'turn')}, ${counted(each.decisions, 'decision')}, ${each.admitted} admitted, ${each.denied} denied${each.lastTickAtMs === undefined ? '' : `, last ${span(body.nowMs - each.lastTickAtMs)} ago`}${each.failures === 0 ? '' : `; FAILING (${each.failures} in a row): ${each.lastError ?? ''}`}`,
      ]),
      '  ',
    )}`,
  ]
  if (body.findings.length > 0) {
    const rows = body.findings.map(({ finding }) => [finding.kind, finding.statement])
    blocks.push(`the journal cannot explain (perpd findings)\n${columns(rows, '  ')}`)
  }
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
  if (body.openIntents.length > 0) {
    const rows = body.openIntents.map((row) => [
      shortId(row.intentId),
      row.status,
      row.strategy,
      `${row.kind} ${row.direction} ${row.market}`,
      money(BigInt(row.sizeDeltaUsd)),
      `${span(body.nowMs - Date.parse(row.acceptedAt))} old${row.observedStatus === undefined ? '' : `, the venue says ${row.observedStatus}`}`,
    ])
    blocks.push(`open orders\n${columns(rows, '  ')}`)
  }
  return blocks.join('\n\n')
}

function price(name: string, value: string | undefined): string {
  return value === undefined ? '' : `${name} ${formatUsd(BigInt(value))}`
}

function dataText({ feedAgesMs }: StatusBody): string {
  const ages = Object.entries(feedAgesMs).map(([feed, ageMs]) => `${feed} ${span(ageMs)}`)
  return ages.length === 0 ? 'nothing read yet' : `${ages.join(', ')} old`
}
