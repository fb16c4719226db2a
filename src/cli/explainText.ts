/** The story of an order as one screen of text. Pure. */
import type { Facts } from '../domain/errors.ts'
import {
  type Attempt,
  type Evidence,
  type IntentState,
  type Label,
  labelOf,
  lastAttempt,
  type SendClass,
} from '../domain/intent.ts'
import type { JournalRecord, StoredRecord } from '../domain/records.ts'
import { formatUnits, formatUsd } from '../domain/units.ts'
import { money, span, termsOf } from '../monitor/text.ts'
import { kindLines } from './explainTerms.ts'

/** What a label means for the operator: what is known, and what comes next. */
const meanings: Readonly<Record<Label, string>> = {
  planned: 'admitted; nothing was signed yet',
  pending: 'on its way: signed and sent, or accepted, and not yet decided',
  resting: 'waits at the venue for its price or time',
  executed: 'executed at the venue',
  cancelled: 'cancelled by the venue; the position did not change',
  reverted: 'reverted on chain and proven dead',
  failed: 'failed and proven dead',
  unknown:
    'its outcome is not proven: it counts as exposure, and is looked at until there is proof; it is never sent again',
  expired: 'its time ran out and nothing of it can land any more',
  refused: 'never left this machine',
}

function meaningOf(label: Label, { intent }: IntentState): string {
  const isChange = ['edit', 'cancel', 'collateral-in', 'collateral-out'].includes(intent.kind)
  return isChange && label === 'executed' ? 'done at the venue' : meanings[label]
}

/** The text of `perpd explain`, without a line break at its end. */
export function explainText(state: IntentState, records: readonly StoredRecord[]): string {
  const { intent, closing } = state
  const label = labelOf(state)
  const lines = [
    `${intent.intentId}`,
    `${label}: ${termsOf(intent)} by ${intent.strategy}, account ${intent.account} on ${intent.chain}`,
    `  ${meaningOf(label, state)}`,
    '',
    ...section('why', [
      intent.decision.reason,
      ...factLines(intent.decision.facts),
      `decision ${intent.decisionKey}`,
    ]),
    ...section('terms', kindLines(intent)),
    ...section('size', sizingLines(state)),
    ...section(
      'story',
      records.flatMap(({ record }) => storyLines(record, state)),
    ),
    ...section('warned', warningLines(state)),
    ...section('result', resultLines(state)),
    ...section(
      'proof',
      closing === undefined ? openProof(state) : proofLines(decisive(records) ?? closing.evidence),
    ),
  ]
  return lines.join('\n').trimEnd()
}

function section(title: string, body: readonly string[]): string[] {
  return body.map((text, at) => `${(at === 0 ? title : '').padEnd(8)}${text}`)
}

function factLines(facts: Facts | undefined): string[] {
  const entries = Object.entries(facts ?? {})
  return entries.length === 0 ? [] : [entries.map(([name, value]) => `${name} ${String(value)}`).join(', ')]
}

function sizingLines({ intent }: IntentState): string[] {
  const { sizing, terms, reservationUsd } = intent
  const lines = [
    `wished ${money(sizing.wantedUsd)}, admitted ${money(sizing.sizeDeltaUsd)}, on data ${span(sizing.dataAgeMs)} old`,
  ]
  if (sizing.basis !== undefined && sizing.capacityUsd !== undefined) {
    const room =
      sizing.roomUsd === undefined
        ? ''
        : `, room after headroom and orders in flight ${money(sizing.roomUsd)}`
    lines.push(`capacity ${money(sizing.capacityUsd)} (${sizing.basis})${room}`)
  }
  for (const { by, toUsd } of sizing.cuts) lines.push(`cut to ${money(toUsd)} by ${by}`)
  if (intent.kind === 'cancel') return lines
  const collateral =
    terms.collateralDelta === 0n
      ? ''
      : `, collateral ${formatUnits(terms.collateralDelta, terms.collateralToken.decimals)} ${terms.collateralToken.symbol}`
  lines.push(
    `price ${formatUsd(terms.referencePrice)} (oracle), slippage asked ${terms.slippageBps / 100} %${collateral}, reserved ${money(reservationUsd)}`,
  )
  return lines
}

const OFFSET_WIDTH = 12

function storyLines(record: JournalRecord, state: IntentState): string[] {
  const offset = record.atMs - state.intent.acceptedAtMs
  const when = `${offset < 0 ? '-' : '+'}${span(Math.abs(offset))}`
  return happened(record, state).map((text, at) => `${(at === 0 ? when : '').padEnd(OFFSET_WIDTH)}${text}`)
}

const sendWords: Readonly<Record<SendClass, string>> = {
  accepted: 'accepted',
  refused: 'refused by the host',
  unanswered: 'left without an answer that proves anything',
  'not-sent': 'not sent: no byte of it left this machine',
}

/** What a record says, one line or two. */
function happened(record: JournalRecord, state: IntentState): string[] {
  const order = (child: number) => `order ${child}${roleOf(state, child)}`
  switch (record.kind) {
    case 'intent.accepted':
      return [
        `accepted at ${new Date(record.atMs).toISOString()}; nothing new is signed for it after ${timeOf(record.intent.expiresAtMs)}`,
      ]
    case 'attempt.preparing':
      return [`attempt ${record.attempt}: ${record.host} is asked to prepare`]
    case 'attempt.armed': {
      const { armed } = record
      return [
        `attempt ${record.attempt}: verified and signed; cannot land after ${timeOf(armed.deadlineSeconds * 1_000)}`,
        `${armed.requestId === undefined ? 'relay lane' : `request ${armed.requestId}`}, digest ${armed.digest}`,
      ]
    }
    case 'send.result': {
      const { send } = record
      const facts = [
        send.httpStatus === undefined ? '' : `HTTP ${send.httpStatus}`,
        send.status ?? '',
        send.taskId === undefined ? '' : `task ${send.taskId}`,
        send.code ?? '',
        send.message ?? '',
        send.traceId === undefined ? '' : `trace ${send.traceId}`,
      ].filter((fact) => fact !== '')
      const shown = facts.length === 0 ? '' : ` (${facts.join(', ')})`
      return [`attempt ${record.attempt}: its one submit was ${sendWords[send.result]}${shown}`]
    }
    case 'landed':
      return [
        `attempt ${record.attempt}: landed${record.orderKeys.length === 0 ? '' : ` as ${record.orderKeys.length === 1 ? 'order' : 'orders'} ${record.orderKeys.join(', ')}`}`,
        seen(record.evidence),
      ]
    case 'child.executed': {
      const price = record.settlement?.executionPrice
      return [
        `${order(record.child)} executed${price === undefined ? '' : ` at ${formatUsd(price)}`}`,
        seen(record.evidence),
      ]
    }
    case 'child.cancelled':
      return [
        `${order(record.child)} was cancelled by the venue${because(record.cancelReason)}`,
        seen(record.evidence),
      ]
    case 'attempt.unlanded':
      return [`taken back: ${record.evidence.statement}`]
    case 'child.reopened':
      return [`order ${record.orderKey} is open again`, record.evidence.statement]
    case 'child.frozen':
      return [`${order(record.child)} is frozen${because(record.cancelReason)}`, seen(record.evidence)]
    case 'attempt.dead':
      return [`attempt ${record.attempt}: dead, it cannot land any more`, seen(record.evidence)]
    case 'attempt.void':
      return [
        `attempt ${record.attempt}: void, its digest was used up by somebody else`,
        seen(record.evidence),
      ]
    case 'intent.closed': {
      const { outcome, code, reason } = record.closing
      return [`closed ${outcome}${code === outcome ? '' : `, ${code}`}: ${reason}`]
    }
  }
}

/** What a created order is for, where the order itself is not meant: ` (take-profit)`, ` (part)`. */
function roleOf({ attempts }: IntentState, child: number): string {
  const role = attempts.at(-1)?.children[child]?.role
  return role === undefined || role === 'main' ? '' : ` (${role})`
}

function seen({ level, statement }: Evidence): string {
  return `${level}: ${statement}`
}

function because(reason: string | undefined): string {
  return reason === undefined ? '' : `: ${reason}`
}

function warningLines(state: IntentState): string[] {
  return state.attempts.flatMap(({ n, armed }) =>
    (armed?.validationWarnings ?? []).map(
      ({ code, message }) =>
        `attempt ${n}, before signing: ${message === '' ? code : `${message} [${code}]`}`,
    ),
  )
}

function resultLines({ closing }: IntentState): string[] {
  if (closing === undefined) return []
  const { settlement, facts } = closing
  const lines: string[] = []
  if (settlement !== undefined) {
    const parts = [
      settlement.executionPrice === undefined ? '' : `price ${formatUsd(settlement.executionPrice)}`,
      settlement.sizeDeltaUsd === undefined ? '' : `size ${money(settlement.sizeDeltaUsd)}`,
      settlement.feesUsd === undefined ? '' : `fees ${money(settlement.feesUsd)}`,
      settlement.priceImpactUsd === undefined ? '' : `price impact ${money(settlement.priceImpactUsd)}`,
      settlement.pnlUsd === undefined ? '' : `PnL ${money(settlement.pnlUsd)}`,
    ].filter((part) => part !== '')
    if (parts.length > 0) lines.push(parts.join(', '))
    if (settlement.transactionHash !== undefined) lines.push(`transaction ${settlement.transactionHash}`)
  } else {
    lines.push(`${closing.code}: ${closing.reason}`)
  }
  lines.push(...factLines(facts))
  if (closing.observedStatus !== undefined) lines.push(`the venue's last word: ${closing.observedStatus}`)
  return lines
}

/** What decided the order: the newest end of a child or an attempt. */
function decisive(records: readonly StoredRecord[]): Evidence | undefined {
  const ends = records.flatMap(({ record }) => {
    switch (record.kind) {
      case 'child.executed':
      case 'child.cancelled':
      case 'attempt.dead':
      case 'attempt.void':
        return [record.evidence]
      default:
        return []
    }
  })
  return ends.at(-1)
}

function openProof(state: IntentState): string[] {
  const attempt = lastAttempt(state)
  if (attempt?.evidence !== undefined) return proofLines(attempt.evidence)
  if (attempt?.armed === undefined) return ['none needed yet: nothing was signed']
  return [`none yet; ${waitsFor(attempt)}`]
}

function waitsFor({ armed, host }: Attempt): string {
  const deadline =
    armed === undefined ? '' : `, and its digest cannot land after ${timeOf(armed.deadlineSeconds * 1_000)}`
  return `${host} is asked what became of it${deadline}`
}

function proofLines(evidence: Evidence): string[] {
  const facts = [
    evidence.host === undefined ? '' : `host ${evidence.host}`,
    evidence.status === undefined ? '' : `status ${evidence.status}`,
    ...(evidence.orderKeys ?? []).map((key) => `order ${key}`),
    ...(evidence.transactionHashes ?? []).map((hash) => `transaction ${hash}`),
    ...(evidence.tradeIds ?? []).map((id) => `trade ${id}`),
    evidence.serverDateMs === undefined ? '' : `host's clock ${timeOf(evidence.serverDateMs)}`,
  ].filter((fact) => fact !== '')
  return [`${evidence.level}, seen ${timeOf(evidence.atMs)}: ${evidence.statement}`, ...facts]
}

/** `2026-08-22 21:03:11 UTC`. */
function timeOf(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 19).replace('T', ' ')} UTC`
}
