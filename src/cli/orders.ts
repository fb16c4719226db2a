/** `perpd orders`: the orders of the journal, newest first. Works with the daemon running or not. */

import { systemClock } from '../api/systemClock.ts'
import { labelOf } from '../domain/intent.ts'
import { marksOf } from '../domain/orderMarks.ts'
import { type OrderRow, orderRow } from '../domain/orderView.ts'
import { money, shortId, span } from '../monitor/text.ts'
import type { Call } from './command.ts'
import { evidenceSourceOf } from './evidence.ts'
import { CommandError, exitCodes } from './exit.ts'
import { withJournal } from './journalFile.ts'
import { columns } from './table.ts'

const DEFAULT_LIMIT = 50

/** Lists orders, as text or with `--json`. */
export async function orders({ loaded, flags, out, err }: Call): Promise<number> {
  const limit = limitOf(flags.get('limit'))
  const strategy = flags.get('strategy')
  const marks = {
    source: evidenceSourceOf(loaded.config),
    deadlineMarginMs: loaded.config.execution.deadlineMarginSeconds * 1_000,
    nowMs: systemClock.now(),
  }
  const { rows, total } = await withJournal(loaded.config, (journal) => ({
    rows: journal
      .intents({
        openOnly: flags.has('open'),
        limit,
        ...(typeof strategy === 'string' && { strategy }),
      })
      .map((state) =>
        orderRow({ state, label: labelOf(state), ...marksOf(state, journal.account().flattens, marks) }),
      ),
    total: journal.summary().intents,
  }))
  if (flags.has('json')) {
    out(JSON.stringify(rows, undefined, 2))
    return exitCodes.ok
  }
  if (rows.length === 0) {
    const kind = `${flags.has('open') ? 'open ' : ''}orders${typeof strategy === 'string' ? ` of ${strategy}` : ''}`
    out(total === 0 ? 'No orders yet.' : `No ${kind}; the journal holds ${total} in all.`)
    return exitCodes.ok
  }
  out(columns([heading, ...rows.map(lineOf)]))
  if (rows.length === limit && total > limit) {
    err(`The newest ${limit}; the journal holds ${total} in all. More with --limit N`)
  }
  return exitCodes.ok
}

const heading = ['ID', 'STATUS', 'STRATEGY', 'ORDER', 'SIZE', 'ACCEPTED (UTC)', 'REASON']

function lineOf(row: OrderRow): string[] {
  return [
    shortId(row.intentId),
    statusOf(row),
    row.strategy,
    `${row.kind} ${row.direction} ${row.market}`,
    money(BigInt(row.sizeDeltaUsd)),
    row.acceptedAt.slice(0, 19).replace('T', ' '),
    row.reason ?? waitsFor(row),
  ]
}

/** `unknown, not wanted, presumed dead`. */
function statusOf({ status, unwantedBy, presumedDeadForSeconds }: OrderRow): string {
  return [
    status,
    ...(unwantedBy === null ? [] : ['not wanted']),
    ...(presumedDeadForSeconds === null ? [] : ['presumed dead']),
  ].join(', ')
}

function waitsFor({ presumedDeadForSeconds }: OrderRow): string {
  return presumedDeadForSeconds === null
    ? ''
    : `${span(presumedDeadForSeconds * 1_000)} past its deadline, nothing shows it: perpd orders resolve`
}

function limitOf(text: string | true | undefined): number {
  if (text === undefined) return DEFAULT_LIMIT
  if (typeof text === 'string' && /^[1-9]\d{0,8}$/.test(text)) return Number(text)
  throw new CommandError(`--limit is ${String(text)}; expected a whole number from 1.`, exitCodes.error)
}
