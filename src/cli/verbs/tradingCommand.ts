/** `perpd trading`, `perpd limits` and `perpd limits apply`: an operator's word to the running daemon. */

import type { LimitRow, WaitingLimit } from '../../account/liveLimits.ts'
import { defined } from '../../base/defined.ts'
import { CommandError, exitCodes } from '../../config/exit.ts'
import type { StatusBody } from '../../control/routes.ts'
import { releaseText } from '../../domain/accountRecords/haltRelease.ts'
import { limitSetName } from '../../domain/limits/limits.ts'
import { ended, span } from '../../monitor/text.ts'
import type { Call } from '../call/command.ts'
import { command, commandAnswer, queryStatus } from '../call/daemonClient.ts'
import { commander } from '../call/whoAsks.ts'
import { limitWords } from '../output/limitWords.ts'
import { type Column, table } from '../output/table.ts'

const states = ['active', 'reducing', 'halted'] as const

/** Sets the trading state, or lists what holds trading back. */
export async function trading(call: Call): Promise<number> {
  const { loaded, flags, positionals, out } = call
  const [word] = positionals
  if (word === undefined) {
    const status = await queryStatus(loaded)
    const { tradingState, halts } = status
    out(
      flags.has('json')
        ? JSON.stringify({ tradingState, halts }, undefined, 2)
        : haltsText(status, call.width),
    )
    return exitCodes.ok
  }
  const state = states.find((each) => each === word)
  if (state === undefined) {
    throw new CommandError(`${word} is not a trading state; expected ${states.join(', ')}.`, exitCodes.error)
  }
  const [scope, reason] = [flags.get('scope'), flags.get('reason')]
  const statement = await command(loaded, '/api/trading', {
    state,
    ...defined({ scope: typeof scope === 'string' ? scope : undefined }),
    ...defined({ reason: typeof reason === 'string' ? reason : undefined }),
    by: commander(call),
  })
  out(flags.has('json') ? JSON.stringify({ statement }) : ended(statement))
  return exitCodes.ok
}

/** The daemon reads all strategy files for it, and loads kinds of the user's own. */
const LIMITS_TIMEOUT_MS = 60_000

/** Shows the limits in force, and those that are configured otherwise. Nothing is changed. */
export async function limits(call: Call): Promise<number> {
  const { statement, limits: rows = [], waiting = [] } = await asked(call, { preview: true })
  if (call.flags.has('json')) {
    call.out(JSON.stringify({ statement, limits: rows, waiting }, undefined, 2))
    return exitCodes.ok
  }
  call.out(ended(statement))
  if (waiting.length > 0) call.out(`\n${waitingText(call, waiting)}`)
  showRows(call, rows)
  return exitCodes.ok
}

/** Has the daemon read its limits anew, and shows those in force. */
export async function applyLimits(call: Call): Promise<number> {
  const { statement, limits: rows = [] } = await asked(call, { confirm: call.flags.has('confirm') })
  if (call.flags.has('json')) call.out(JSON.stringify({ statement, limits: rows }, undefined, 2))
  else {
    call.out(ended(statement))
    showRows(call, rows)
  }
  return exitCodes.ok
}

/** Makes one limit of the account tighter in the running daemon; with `--dry-run` it only shows what would change. */
export async function tightenLimit(call: Call): Promise<number> {
  const { loaded, flags, positionals, out } = call
  const [limit = '', value = ''] = positionals
  const body = { limit, value, preview: flags.has('dry-run'), by: commander(call) }
  const {
    statement,
    waiting = [],
    limits: rows = [],
  } = await commandAnswer(loaded, '/api/limits/tighten', body)
  if (flags.has('json')) {
    out(JSON.stringify({ statement, waiting, limits: rows }, undefined, 2))
    return exitCodes.ok
  }
  const changes = waiting.map(
    (row) =>
      `${limitSetName(row.scope, row.limit)}: ${wordsOf(call, row, row.value)} -> ${wordsOf(call, row, row.configured)}`,
  )
  out([...changes, ended(statement)].join('\n'))
  return exitCodes.ok
}

async function asked(call: Call, body: Readonly<Record<string, boolean>>) {
  return await commandAnswer(call.loaded, '/api/limits', { ...body, by: commander(call) }, LIMITS_TIMEOUT_MS)
}

function wordsOf({ loaded }: Call, { scope, limit }: LimitRow, value: string): string {
  return limitWords(scope, limit, value, loaded.config.venue.chain.nativeSymbol)
}

/** The value in force; of a budget of the desk with its whole limit, and what is used of it. */
function inForceText(call: Call, row: LimitRow): string {
  const value = wordsOf(call, row, row.value)
  if (row.ofDesk === undefined) return value
  return `${value} of ${wordsOf(call, row, row.ofDesk)}, ${wordsOf(call, row, row.used ?? '')} used`
}

function showRows(call: Call, rows: readonly LimitRow[]): void {
  const cells = rows.map((row) => [row.scope, limitSetName(row.scope, row.limit), inForceText(call, row)])
  if (cells.length > 0) call.out(`\n${table(limitColumns, cells, call.width)}`)
  call.out('\nMeaning and setting of each: perpd config, docs/reference/configuration.md.')
}

/** Lists the limits that are configured otherwise, a line each, and how to make them take effect. */
function waitingText(call: Call, waiting: readonly WaitingLimit[]): string {
  const lines = waiting.map(
    (row) =>
      `  ${row.isTighter ? 'tighter' : 'looser '}  ${row.scope} ${limitSetName(row.scope, row.limit)}: ${wordsOf(call, row, row.value)} -> ${wordsOf(call, row, row.configured)}`,
  )
  const ways = [
    ...(waiting.some(({ isTighter }) => isTighter) ? ['Apply the tighter limits: perpd limits apply'] : []),
    ...(waiting.some(({ isTighter }) => !isTighter)
      ? ['Apply all, including looser limits: perpd limits apply --confirm (or a restart)']
      : []),
  ]
  return [...lines, ...ways].join('\n')
}

const limitColumns: readonly Column[] = [
  { title: 'SCOPE', rank: 0 },
  { title: 'LIMIT', rank: 0 },
  { title: 'IN FORCE', rank: 0, isFigure: true },
]

const haltColumns: readonly Column[] = [
  { title: 'SCOPE', rank: 0 },
  { title: 'STATE', rank: 0 },
  { title: 'CAUSE', rank: 1, word: 'by' },
  { title: 'FOR', rank: 2, word: 'for' },
  { title: 'BY', rank: 3, word: 'by' },
  { title: 'REASON', rank: 4, isProse: true },
]

function haltsText({ halts, nowMs, tradingState }: StatusBody, width: number): string {
  if (halts.length === 0) return 'Trading is active; no halts.'
  const rows = halts.map((halt) => [
    halt.scope,
    halt.state,
    halt.cause,
    span(nowMs - halt.sinceMs),
    halt.by,
    `${halt.reason}; ${releaseText(halt)}`,
  ])
  return `Trading is ${tradingState}.\n\n${table(haltColumns, rows, width, '  ')}`
}
