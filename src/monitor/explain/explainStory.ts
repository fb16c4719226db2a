/** Tells the events of an order, record by record. Pure. */
import type { IntentState, SendClass, SendFacts } from '../../domain/order/intent.ts'
import { describeLane } from '../../domain/order/laneTable.ts'
import type { WarnedFacts } from '../../domain/order/warnedFacts.ts'
import type { JournalRecord, StoredRecord } from '../../domain/records.ts'
import { formatPrice } from '../../protocol/priceText.ts'
import { money, span } from '../text.ts'
import { seen, timeOf } from './explainEvidence.ts'

/** One thing that happened: when, and what, one text or two. */
export interface Happening {
  /** Number of its record in the journal. */
  readonly seq: number
  /** Distance from the acceptance: `+1.6 s`. */
  readonly when: string
  readonly texts: readonly string[]
}

/** The records of one order as happenings, in order. */
export function storyOf(state: IntentState, records: readonly StoredRecord[]): readonly Happening[] {
  return records.map(({ seq, record }) => {
    const offset = record.atMs - state.intent.acceptedAtMs
    return { seq, when: `${offset < 0 ? '-' : '+'}${span(Math.abs(offset))}`, texts: happened(record, state) }
  })
}

const sendWords: Readonly<Record<SendClass, string>> = {
  accepted: 'accepted',
  refused: 'refused by the host, which proves nothing',
  unanswered: 'not answered conclusively',
  'not-sent': 'not sent: nothing left this machine',
}

function happened(record: JournalRecord, state: IntentState): string[] {
  const order = (child: number) => `order ${child}${roleOf(state, child)}`
  switch (record.kind) {
    case 'intent.accepted':
      return [
        `accepted at ${timeOf(record.atMs)}; perpd signs nothing new for it after ${timeOf(record.intent.expiresAtMs)}`,
      ]
    case 'attempt.preparing':
      return [
        `attempt ${record.attempt}, ${describeLane(record.lane).label}: request to ${record.host} to prepare`,
      ]
    case 'attempt.warned':
      return warnedTexts(record.attempt, record.warned)
    case 'attempt.armed': {
      const { armed } = record
      return [
        `attempt ${record.attempt}: ${armed.comparedFields} fields compared, none differs; signed; cannot land after ${timeOf(armed.deadlineSeconds * 1_000)}`,
      ]
    }
    case 'send.result':
      return [
        `attempt ${record.attempt}: its one submit was ${sendWords[record.send.result]}${sendFacts(record.send)}`,
      ]
    case 'attempt.doubted':
      return [
        `attempt ${record.attempt}: the venue gave up on it, which proves nothing; unknown`,
        seen(record.evidence),
      ]
    case 'landed': {
      const final = record.evidence.level === 'chain-final' ? ' and final' : ''
      const count = record.orderKeys.length
      const orders = count === 0 ? '' : `, ${count} ${count === 1 ? 'order' : 'orders'} created`
      return [`attempt ${record.attempt}: landed${final}${orders}`, seen(record.evidence)]
    }
    case 'attempt.unlanded':
      return [
        `attempt ${record.attempt}: a reorganisation removed its landing; unknown again`,
        seen(record.evidence),
      ]
    case 'child.executed': {
      const price = record.settlement?.executionPrice
      return [
        `${order(record.child)} executed${price === undefined ? '' : ` at ${formatPrice(price)}`}`,
        seen(record.evidence),
      ]
    }
    case 'child.cancelled':
      return [
        record.cancelReason === 'USER_INITIATED_CANCEL'
          ? `${order(record.child)} was cancelled at the request of the account`
          : `${order(record.child)} was cancelled by the venue${because(record.cancelReason)}`,
        seen(record.evidence),
      ]
    case 'child.reopened':
      return [`${order(record.child)} is open again: a reorganisation removed its end`, seen(record.evidence)]
    case 'child.frozen':
      return [`${order(record.child)} is frozen${because(record.cancelReason)}`, seen(record.evidence)]
    case 'attempt.dead':
      return [`attempt ${record.attempt}: dead, it can no longer land`, seen(record.evidence)]
    case 'attempt.void':
      return [
        `attempt ${record.attempt}: void, another transaction consumed its digest`,
        seen(record.evidence),
      ]
    case 'intent.closed': {
      const { outcome, code, reason } = record.closing
      return [`closed ${outcome}${code === outcome ? '' : `, ${code}`}: ${reason}`]
    }
  }
}

/** Describes the venue's warnings and the action taken, for the story. */
function warnedTexts(attempt: number, { warnings, action, reason, shrunk }: WarnedFacts): string[] {
  const codes = warnings.map(({ code, reason }) => (reason === undefined ? code : `${code}, ${reason}`))
  const done = {
    sign: 'signed anyway',
    shrink: `made smaller: ${money(shrunk?.terms.sizeDeltaUsd ?? 0n)}`,
    drop: 'dropped',
  }[action]
  return [
    `attempt ${attempt}: the venue warns of ${codes.join('; ')}; by policy ${done}`,
    ...(reason === undefined ? [] : [reason]),
  ]
}

function sendFacts(send: SendFacts): string {
  const facts = [
    send.httpStatus === undefined ? '' : `HTTP ${send.httpStatus}`,
    send.status ?? '',
    send.code ?? '',
    send.message ?? '',
    send.durationMs === undefined ? '' : `after ${span(send.durationMs)}`,
    send.traceId === undefined ? '' : `trace ${send.traceId}`,
  ].filter((fact) => fact !== '')
  return facts.length === 0 ? '' : ` (${facts.join(', ')})`
}

/** Lists the order's ids elsewhere, for a reader who checks its evidence: ids and hashes of each attempt, and order keys. */
export function idLines(state: IntentState, records: readonly StoredRecord[]): string[] {
  const { edit, cancelOrderKeys = [] } = state.intent.terms
  const settled = state.closing?.settlement?.transactionHash
  const keys = records.flatMap(({ record }) => (record.kind === 'landed' ? record.orderKeys : []))
  return [
    ...(edit === undefined ? [] : [`edits order ${edit.orderKey}`]),
    ...cancelOrderKeys.map((key) => `cancels order ${key}`),
    ...state.attempts.flatMap(({ n, armed, send }) =>
      armed === undefined
        ? []
        : [
            `attempt ${n}: ${armed.requestId === undefined ? 'parameters of our own' : `request ${armed.requestId}`}, nonce ${shortNumber(armed.userNonce)}`,
            `digest ${armed.digest}`,
            ...(send?.taskId === undefined ? [] : [`task ${send.taskId}`]),
            ...(send?.txHash === undefined ? [] : [`sent in transaction ${send.txHash}`]),
          ],
    ),
    ...[...new Set(keys)].map((key) => `created order ${key}`),
    ...(settled === undefined ? [] : [`settled in transaction ${settled}`]),
  ]
}

/** A nonce of the relay lane has 77 digits and is made from the order's id, so its beginning is enough. */
function shortNumber(value: bigint): string {
  const text = value.toString()
  return text.length <= 12 ? text : `${text.slice(0, 8)}...`
}

/** Describes the role of a created order when it is not the main one: ` (take-profit)`, ` (part)`. */
export function roleOf({ attempts }: IntentState, child: number): string {
  const role = attempts.at(-1)?.children[child]?.role
  return role === undefined || role === 'main' ? '' : ` (${role})`
}

function because(reason: string | undefined): string {
  return reason === undefined ? '' : `: ${reason}`
}
