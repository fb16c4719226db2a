/** `perpd orders`: the orders of the journal, newest first. Works with the daemon running or not. */

import { defined } from '../../base/defined.ts'
import { systemClock } from '../../base/systemClock.ts'
import { exitCodes } from '../../config/exit.ts'
import { evidenceSourceOf } from '../../daemon/evidence/evidenceSource.ts'
import { withJournal } from '../../daemon/journalFile.ts'
import { listedOrders } from '../../domain/accountRecords/changedOrders.ts'
import { childFillsOf, fillsOf } from '../../domain/accountRecords/fills.ts'
import { heldOfOrder, journalSides } from '../../domain/accountRecords/held.ts'
import { authorText } from '../../domain/accountRecords/operatorName.ts'
import { cancelAskedBy, isCancelledByAccount } from '../../domain/order/cancelAsked.ts'
import { type IntentState, labelOf } from '../../domain/order/intent.ts'
import { isOpened } from '../../domain/order/orderLegs.ts'
import { orderTypeName } from '../../domain/order/orderTerms.ts'
import { signedOrderAmong } from '../../domain/order/signedOrder.ts'
import { marksOf } from '../../domain/summaries/orderMarks.ts'
import { type OrderLegRow, type OrderRow, orderRow } from '../../domain/summaries/orderView.ts'

import { money, shortId, span } from '../../monitor/text.ts'
import { type Hex, hexKey } from '../../protocol/address.ts'
import { formatExactPrice } from '../../protocol/priceText.ts'
import { unwindOf } from '../../tasks/unwindTask.ts'
import type { Call } from '../call/command.ts'
import { wholeFlag } from '../call/numberFlags.ts'
import { moneyCell } from '../output/moneyCell.ts'
import { pnlNote } from '../output/pnlNote.ts'
import { type PriceText, pricesIn, triggersIn } from '../output/pricePlaces.ts'
import { restingTable } from '../output/restingTable.ts'
import { wrapped } from '../output/screen.ts'
import { sizeText } from '../output/sizeText.ts'
import { type Column, table } from '../output/table.ts'
import { type RestingAnswer, readResting } from '../results/readResting.ts'

const DEFAULT_LIMIT = 50
/** The most that `--limit` may be. */
export const MOST_LISTED = 999_999_999

/** Lists orders, as text or with `--json`: those that rest, then the journal's, newest first; with `--resting` the former alone. */
export async function orders(call: Call): Promise<number> {
  const { loaded, flags, width, out, err } = call
  const limit = wholeFlag(flags, 'limit', { least: 1, most: MOST_LISTED }) ?? DEFAULT_LIMIT
  const strategy = flags.get('strategy')
  if (flags.has('resting')) {
    const { text, rows } = await restingPart(call)
    out(flags.has('json') ? JSON.stringify(rows, undefined, 2) : text)
    return exitCodes.ok
  }
  const marks = {
    source: evidenceSourceOf(loaded.config),
    deadlineMarginMs: loaded.config.execution.deadlineMarginSeconds * 1_000,
    nowMs: systemClock.now(),
  }
  const asked = new Map<string, string>()
  const { rows, total } = await withJournal(loaded.config, async (journal) => {
    const shown = await journal.intents({
      openOnly: flags.has('open'),
      limit,
      ...defined({ strategy: typeof strategy === 'string' ? strategy : undefined }),
    })
    const hasExits = shown.some(({ attempts }) => (attempts.at(-1)?.children.length ?? 0) > 1)
    const hasFills = shown.some((state) => childFillsOf(state).length > 0)
    const all = hasFills ? await journal.history() : undefined
    const asks = hasExits || shown.some(isCancelledByAccount)
    const stories = all?.intents ?? (asks ? await journal.intents() : [])
    const changes = changesIn(stories)
    const account = await journal.account()
    const sides = shown.some(isOpened) ? journalSides(stories.flatMap(fillsOf), account) : undefined
    const changed = listedOrders(account)
    for (const state of shown) {
      const askedBy = cancelAskedBy(state, stories)
      if (askedBy !== undefined) asked.set(state.intent.intentId, askedBy)
    }
    const costsOf = all && ((orderKey: Hex) => all.books.fillOf(orderKey))
    return {
      rows: shown.map((state) =>
        orderRow({
          state,
          label: labelOf(state),
          signedOf: (orderKey) => signedOrderAmong(changes, state, orderKey),
          listedOf: (orderKey) => changed.get(hexKey(orderKey)),
          ...defined({ costsOf, heldUsd: sides && heldOfOrder(sides, state.intent) }),
          ...marksOf(state, unwindOf(account.tasks, state.intent.intentId), marks),
        }),
      ),
      total: (await journal.summary()).intents,
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
  const marketOf = ({ market }: OrderRow) => market
  const prices = {
    fill: pricesIn(rows, marketOf, ({ legs }) => legs.map(({ executionPrice }) => executionPrice)),
    trigger: triggersIn(rows, marketOf, ({ triggerPrice, legs }) => [
      triggerPrice,
      ...legs.map((leg) => leg.triggerPrice),
    ]),
  }
  const text = table(
    columnsOf,
    rows.flatMap((row) => linesOf(row, width, asked.get(row.intentId), prices)),
    width,
  )
  const notes = [
    ...(text.includes(ACCEPTED) ? [] : ['Times are UTC.']),
    ...pnlNote(rows.flatMap(({ legs }) => legs)),
  ]
  const resting = await restingPart(call)
  const first = resting.rows.length === 0 ? [] : [`${resting.text}\n`]
  out([...first, text, ...(notes.length === 0 ? [] : wrapped('', notes.join(' ')))].join('\n'))
  if (rows.length === limit && total > limit) {
    err(`The newest ${limit}; the journal holds ${total} in all. More with --limit N`)
  }
  return exitCodes.ok
}

/** The resting orders as a table with what it lacks, and as rows. */
async function restingPart(
  call: Call,
): Promise<{ readonly text: string; readonly rows: RestingAnswer['rows'] }> {
  const { flags, width } = call
  const strategy = flags.get('strategy')
  const { rows, isOfDaemon } = await readResting(call, typeof strategy === 'string' ? strategy : undefined)
  if (rows.length === 0) return { rows, text: 'No order rests.' }
  const note = isOfDaemon
    ? []
    : wrapped(
        '',
        'No perpd answers: these are its own orders by the journal. Distances, and orders of other clients, are known while it runs.',
        width,
      )
  const shown = restingTable(rows, systemClock.now(), { width, isNoted: true })
  return { rows, text: ['resting orders', shown, ...note].join('\n') }
}

const ACCEPTED = 'ACCEPTED (UTC)'

const columnsOf: readonly Column[] = [
  { title: 'ID', rank: 0 },
  { title: 'STATUS', rank: 0 },
  { title: 'ORDER', rank: 0 },
  { title: 'SIZE', rank: 1, word: 'size', isFigure: true },
  { title: 'TYPE', rank: 6, word: 'type' },
  { title: 'TRIGGER', rank: 4, word: 'trigger', isFigure: true },
  { title: 'PRICE', rank: 2, word: 'price', isFigure: true },
  { title: 'FEES', rank: 5, word: 'fees', isFigure: true },
  { title: 'PNL', rank: 3, word: 'PnL', isFigure: true },
  { title: ACCEPTED, rank: 7 },
  { title: 'OWNER', rank: 8, word: 'owner', isName: true },
  { title: 'REASON', rank: 9, isProse: true },
]

/** Edits and batches, which may have changed an order that rests. */
export function changesIn(stories: readonly IntentState[]): readonly IntentState[] {
  return stories.filter(({ intent: { kind } }) => kind === 'edit' || kind === 'batch')
}

/** Texts of the two columns of prices. */
interface OrderPrices {
  readonly fill: PriceText<OrderRow>
  readonly trigger: PriceText<OrderRow>
}

/** The row of an order, and one for each exit or part that came with it. */
function linesOf(row: OrderRow, width: number, askedBy: string | undefined, prices: OrderPrices): string[][] {
  const own = row.legs.filter(({ role }) => role !== 'main')
  return [lineOf(row, width, askedBy, prices), ...own.map((leg) => legLine(row, leg, prices))]
}

function legLine(row: OrderRow, leg: OrderLegRow, prices: OrderPrices): string[] {
  const { role, status, triggerPrice, sizeDeltaUsd, inForceUsd } = leg
  const signed = sizeDeltaUsd === null ? '' : moneyCell(BigInt(sizeDeltaUsd))
  const size = inForceUsd === null ? signed : money(BigInt(inForceUsd))
  const held =
    inForceUsd === null || inForceUsd === sizeDeltaUsd
      ? settling([leg])
      : `size of the position; signed for ${signed}`
  const note = changeText(leg) ?? held
  return [
    '',
    status,
    `  ${role}`,
    size,
    '',
    prices.trigger(row, triggerPrice),
    ...fillOf(row, leg, prices),
    '',
    '',
    note,
  ]
}

/**
 * Says that another client changed a resting order, with the terms in force and the terms that perpd signed. Example: `another client changed it: in force
 * trigger $1,700.00, signed $1,600.00`. Undefined where nobody did.
 */
export function changeText({ changedFrom, triggerPrice, sizeDeltaUsd }: OrderLegRow): string | undefined {
  if (changedFrom === null) return undefined
  const facts = [
    ...(changedFrom.triggerPrice === triggerPrice
      ? []
      : [
          `trigger ${triggerText(triggerPrice) || 'any'}, signed ${triggerText(changedFrom.triggerPrice) || 'any'}`,
        ]),
    ...(changedFrom.sizeDeltaUsd === sizeDeltaUsd
      ? []
      : [`size ${sizeOf(sizeDeltaUsd)}, signed ${sizeOf(changedFrom.sizeDeltaUsd)}`]),
  ]
  const told = facts.length === 0 ? '' : `: in force ${facts.join('; ')}`
  return `another client changed it${told}`
}

function sizeOf(sizeDeltaUsd: string | null): string {
  return sizeDeltaUsd === null ? '-' : money(BigInt(sizeDeltaUsd))
}

/** Price, fees and PnL of what filled; empty before. */
function fillOf(
  row: OrderRow,
  leg: OrderLegRow | undefined,
  prices: OrderPrices,
): readonly [price: string, fees: string, pnl: string] {
  if (leg?.status !== 'filled') return ['', '', '']
  const amount = (text: string | null) => (text === null ? '' : moneyCell(BigInt(text)))
  return [prices.fill(row, leg.executionPrice), amount(leg.feesUsd), amount(leg.pnlUsd)]
}

/** A trigger to the last digit that its order holds. */
function triggerText(price: string | null): string {
  return price === null ? '' : formatExactPrice(BigInt(price))
}

function settling(legs: readonly OrderLegRow[]): string {
  return legs.some(({ status, isProvisional }) => status === 'filled' && isProvisional) ? 'not final yet' : ''
}

function lineOf(row: OrderRow, width: number, askedBy: string | undefined, prices: OrderPrices): string[] {
  const mains = row.legs.filter(({ role }) => role === 'main')
  const changed = mains.find(({ changedFrom }) => changedFrom !== null)
  return [
    shortId(row.intentId),
    statusOf(row),
    `${row.kind} ${row.direction} ${row.market}`,
    changed === undefined ? sizeText(row) : sizeOf(changed.sizeDeltaUsd),
    orderTypeName(row.orderType ?? ''),
    prices.trigger(row, row.triggerPrice),
    ...fillOf(row, mains.length === 1 ? mains[0] : undefined, prices),
    row.acceptedAt.slice(0, 19).replace('T', ' '),
    authorText(row.strategy),
    (changed === undefined ? undefined : changeText(changed)) ??
      (askedBy === undefined ? reasonOf(row, settling(mains), width) : `cancelled ${askedBy}`),
  ]
}

/** Says on one line why the order failed, what it waits for, or why it was made. */
function reasonOf(row: OrderRow, note: string, width: number): string {
  const { status, reason, decisionReason } = row
  const waits = waitsFor(row)
  if (waits !== '') return waits
  if (reason !== null && status !== 'executed') return reason
  const text = note === '' ? decisionReason : `${note}; ${decisionReason}`
  const most = Math.max(width - ID_WIDTH, MIN_REASON)
  if (text.length <= most) return text
  return `${text.slice(0, most - 3).replace(/\s+\S*$/, '')}...`
}

/** The first column and its gap; and the least of a reason that says anything. */
const ID_WIDTH = 10
const MIN_REASON = 40

/** `unknown, unwind requested, presumed dead`; `filled` for an entry whose exits rest. */
function statusOf({ standing, unwantedBy, presumedDeadForSeconds }: OrderRow): string {
  return [
    // Its entry is filled, and what is open is a position.
    standing === 'open' ? 'filled' : standing,
    ...(unwantedBy === null ? [] : ['unwind requested']),
    ...(presumedDeadForSeconds === null ? [] : ['presumed dead']),
  ].join(', ')
}

function waitsFor({ presumedDeadForSeconds }: OrderRow): string {
  return presumedDeadForSeconds === null
    ? ''
    : `${span(presumedDeadForSeconds * 1_000)} past its deadline, outcome not proven: perpd orders resolve`
}
