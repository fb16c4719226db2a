/** `perpd orders`: the orders of the journal, newest first. Works with the daemon running or not. */

import { systemClock } from '../api/systemClock.ts'
import { type IntentState, labelOf } from '../domain/intent.ts'
import { marksOf } from '../domain/orderMarks.ts'
import { type OrderLegRow, type OrderRow, orderRow } from '../domain/orderView.ts'
import { signedOrderAmong } from '../domain/signedOrder.ts'
import { formatUsd } from '../domain/units.ts'
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
  const { rows, total } = await withJournal(loaded.config, (journal) => {
    const shown = journal.intents({
      openOnly: flags.has('open'),
      limit,
      ...(typeof strategy === 'string' && { strategy }),
    })
    const hasExits = shown.some(({ attempts }) => (attempts.at(-1)?.children.length ?? 0) > 1)
    const changes = hasExits ? changesIn(journal.intents()) : []
    return {
      rows: shown.map((state) =>
        orderRow({
          state,
          label: labelOf(state),
          signedOf: (orderKey) => signedOrderAmong(changes, state, orderKey),
          feeTokenDecimals: loaded.config.venue.chain.feeToken.decimals,
          ...marksOf(state, journal.account().flattens, marks),
        }),
      ),
      total: journal.summary().intents,
    }
  })
  if (flags.has('json')) {
    out(JSON.stringify(rows, undefined, 2))
    return exitCodes.ok
  }
  if (rows.length === 0) {
    const kind = `${flags.has('open') ? 'open ' : ''}orders${typeof strategy === 'string' ? ` of ${strategy}` : ''}`
    out(total === 0 ? 'No orders yet.' : `No ${kind}; the journal holds ${total} in all.`)
    return exitCodes.ok
  }
  out(columns([heading, ...rows.flatMap(linesOf)]))
  if (rows.length === limit && total > limit) {
    err(`The newest ${limit}; the journal holds ${total} in all. More with --limit N`)
  }
  return exitCodes.ok
}

const heading = ['ID', 'STATUS', 'STRATEGY', 'ORDER', 'SIZE', 'ACCEPTED (UTC)', 'REASON']

/** Edits and batches, which may have changed an order that rests. */
export function changesIn(stories: readonly IntentState[]): readonly IntentState[] {
  return stories.filter(({ intent: { kind } }) => kind === 'edit' || kind === 'batch')
}

/** The row of an order, and one for each exit or part that came with it. */
function linesOf(row: OrderRow): string[][] {
  const own = row.legs.filter(({ role }) => role !== 'main')
  return [lineOf(row), ...own.map(legLine)]
}

function legLine(leg: OrderLegRow): string[] {
  const { role, status, triggerPrice, sizeDeltaUsd } = leg
  return [
    '',
    status,
    '',
    `  ${role}${triggerPrice === null ? '' : ` at ${formatUsd(BigInt(triggerPrice))}`}`,
    sizeDeltaUsd === null ? '' : money(BigInt(sizeDeltaUsd)),
    '',
    figuresOf(leg),
  ]
}

/** `at $1,649.80, fees $0.30, PnL -$26.12, not final yet`; nothing before a fill. */
function figuresOf({ status, executionPrice, feesUsd, pnlUsd, isProvisional }: OrderLegRow): string {
  if (status !== 'filled') return ''
  return [
    executionPrice === null ? '' : `at ${formatUsd(BigInt(executionPrice))}`,
    feesUsd === null ? '' : `fees ${money(BigInt(feesUsd))}`,
    pnlUsd === null ? '' : `PnL ${money(BigInt(pnlUsd))}`,
    isProvisional ? 'not final yet' : '',
  ]
    .filter((part) => part !== '')
    .join(', ')
}

/** Why it is where it stands: its fill where there is one, else what the journal says. */
function reasonOf(row: OrderRow): string {
  const fills = row.legs.filter(({ role, status }) => role === 'main' && status === 'filled')
  const [only] = fills
  if (only !== undefined && fills.length === 1) return figuresOf(only)
  return row.reason ?? waitsFor(row)
}

function lineOf(row: OrderRow): string[] {
  return [
    shortId(row.intentId),
    statusOf(row),
    row.strategy,
    `${row.kind} ${row.direction} ${row.market}`,
    money(BigInt(row.sizeDeltaUsd)),
    row.acceptedAt.slice(0, 19).replace('T', ' '),
    reasonOf(row),
  ]
}

/** `unknown, not wanted, presumed dead`. */
function statusOf({ standing, unwantedBy, presumedDeadForSeconds }: OrderRow): string {
  return [
    standing,
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
