/** The story of an order in words, part by part. Pure. */

import type { Facts } from '../../base/errors.ts'
import { BY_HAND, OPERATOR } from '../../domain/accountRecords/operatorName.ts'

import type { OrderEdit } from '../../domain/accountRecords/orderEdits.ts'
import type { Ending } from '../../domain/accountRecords/spend.ts'
import { reservedOf } from '../../domain/machine/intentExposure.ts'
import { type Evidence, type IntentState, labelOf, lastAttempt } from '../../domain/order/intent.ts'
import {
  inForceOf,
  isExit,
  isOpened,
  type LegLookups,
  legsOf,
  type OrderLeg,
  ownEntryUsdOf,
} from '../../domain/order/orderLegs.ts'
import { termsInForce } from '../../domain/order/termsInForce.ts'
import type { StoredRecord } from '../../domain/records.ts'
import { sameHex } from '../../protocol/address.ts'
import { formatExactPrice, formatPrice } from '../../protocol/priceText.ts'
import { MAX_UINT256, type Usd } from '../../protocol/units.ts'
import type { UnwindState } from '../../tasks/unwindTask.ts'
import { money, shortId, termsOf } from '../text.ts'
import { evidenceLines, timeOf } from './explainEvidence.ts'
import { type FateRules, fateLines } from './explainFate.ts'
import { feeLines } from './explainFees.ts'
import { meaningOf, sizingLines } from './explainSize.ts'
import { type Happening, idLines, roleOf, storyOf } from './explainStory.ts'
import { kindLines } from './explainTerms.ts'

/** Facts of a story that its records do not hold. */
export interface ExplainContext extends LegLookups {
  readonly rules: FateRules
  /** Request to unwind the order, and its result. */
  readonly unwind?: UnwindState
  /** The edits of its resting orders, oldest first; absent: none is known. */
  readonly edits?: readonly OrderEdit[]
  /** Ends of its strategy's orders in the day before it was accepted. */
  readonly endings: readonly Ending[]
  /** Budget of endings by one cause, 24 hours; undefined for none. */
  readonly attemptsPerCause: number | undefined
  readonly feeToken: { readonly symbol: string; readonly decimals: number }
  /** Requester of its cancel, as `cancelAskedBy` words it. Absent: nobody of this journal requested it. */
  readonly askedBy?: string
  /** Size held on its side by the journal, USD: no exit closes more than that. Absent: not known. */
  readonly heldUsd?: Usd
}

/** One part of a story, about one subject. */
export interface ExplainedPart {
  /** One word: `why`, `size`, `proof`. */
  readonly title: string
  /** Its texts, one or more. */
  readonly texts: readonly string[]
}

/** The story of an order in words. All its times are UTC and say so nowhere else. */
export interface ExplainedOrder {
  readonly intentId: string
  /** Where it stands, what that means, and whose it is. */
  readonly head: readonly string[]
  /** Why, on which terms, and how big. */
  readonly before: readonly ExplainedPart[]
  /** Events, one for each record. */
  readonly steps: readonly Happening[]
  /** Results: orders, PnL, proof, ids, budget, and the alternatives. */
  readonly after: readonly ExplainedPart[]
}

/** The story in words, as `perpd explain` prints it and the console shows it. */
export function explainedOrder(
  state: IntentState,
  records: readonly StoredRecord[],
  context: ExplainContext,
): ExplainedOrder {
  const { intent, closing } = state
  const label = labelOf(state)
  const newest = lastAttempt(state)
  const shown = newest?.phase === 'UNRESOLVED' ? undefined : newest?.evidence
  const proof = closing === undefined ? shown : (decisive(records) ?? closing.evidence)
  const head = [
    `${isOpened(state) ? 'open' : label}: ${termsOf(intent, termsInForce(state, context))} ${intent.strategy === OPERATOR ? BY_HAND : `by ${intent.strategy}`}`,
    meaningOf(label, state, context.askedBy),
    `account ${intent.account} on ${intent.chain}`,
  ]
  const before = [
    part('why', [
      intent.decision.reason,
      ...factLines(intent.decision.facts),
      `decision ${intent.decisionKey}`,
    ]),
    part(isOpened(state) && kindLines(intent).length > 0 ? 'signed' : 'terms', kindLines(intent)),
    part('size', sizingLines(state)),
  ]
  const after = [
    part('orders', orderLines(state, context)),
    part('edits', editLines(state, context.edits)),
    part('warned', warningLines(state)),
    part('result', resultLines(state)),
    part('PnL', pnlLines(state, context)),
    part('proof', proof === undefined ? [noProof(state)] : evidenceLines(proof)),
    part('ids', idLines(state, records)),
    part('unwind', unwindLines(state, context.unwind)),
    part('budget', budgetLines(state, context)),
    part('else', fateLines(state, context.rules)),
  ]
  return {
    intentId: intent.intentId,
    head,
    before: before.filter(({ texts }) => texts.length > 0),
    steps: storyOf(state, records).map((step) => ({ ...step, texts: step.texts.map(inOneZone) })),
    after: after.filter(({ texts }) => texts.length > 0),
  }
}

function part(title: string, texts: readonly string[]): ExplainedPart {
  return { title, texts: texts.map(inOneZone) }
}

/** The zone is said once, at the top. */
function inOneZone(text: string): string {
  return text.replace(
    /(^|[ (])(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}:\d{2})(?:\.\d+)?(?:Z| UTC)(?![\w#])/g,
    '$1$2 $3',
  )
}

function factLines(facts: Facts | undefined): string[] {
  const entries = Object.entries(facts ?? {})
  return entries.length === 0 ? [] : [entries.map(([name, value]) => `${name} ${String(value)}`).join(', ')]
}

/** The created orders one by one: what each is for, where it stands, and what shows it. */
function orderLines(state: IntentState, context: LegLookups & ExplainContext): string[] {
  const { heldUsd } = context
  const children = lastAttempt(state)?.children ?? []
  return legsOf(state, context).flatMap((leg, at) => {
    const { index, phase, isProvisional, executionPrice, triggerPrice, sizeDeltaUsd, changedFrom } = leg
    const isFilled = phase === 'EXECUTED'
    const price = isFilled
      ? executionPrice
      : isExit(leg) || changedFrom !== undefined
        ? triggerPrice
        : undefined
    const { evidence } = children[at] ?? {}
    const inForceUsd = changedFrom === undefined ? inForceOf(leg, heldUsd) : undefined
    const inForce =
      inForceUsd !== undefined && sizeDeltaUsd !== undefined && inForceUsd < sizeDeltaUsd
        ? `, ${money(inForceUsd)} in force, because the position is smaller (signed for ${money(sizeDeltaUsd)})`
        : undefined
    const facts = [
      inForce ??
        (sizeDeltaUsd === undefined || !(isFilled || isExit(leg) || changedFrom !== undefined)
          ? ''
          : `, ${money(sizeDeltaUsd)}`),
      isFilled && leg.feesUsd !== undefined && isExit(leg) ? `, fees ${money(leg.feesUsd)}` : '',
      isFilled && leg.pnlUsd !== undefined && isExit(leg) ? `, PnL ${money(leg.pnlUsd)} after all costs` : '',
      changedFrom === undefined ? '' : changedLine(changedFrom),
      isProvisional ? ', provisional' : '',
      evidence?.block === undefined ? '' : `, block ${evidence.block.number}`,
    ]
    const where = price === undefined ? '' : ` at ${isFilled ? formatPrice(price) : formatExactPrice(price)}`
    return [`${index}${roleOf(state, index)} ${phase}${where}${facts.join('')}`]
  })
}

/** The mark of an order that another client changed: before it stands what is in force at the venue. */
function changedLine({ triggerPrice, sizeDeltaUsd }: NonNullable<OrderLeg['changedFrom']>): string {
  const signed = [
    ...(triggerPrice === undefined ? [] : [`at ${formatExactPrice(triggerPrice)}`]),
    ...(sizeDeltaUsd === undefined ? [] : [`over ${money(sizeDeltaUsd)}`]),
  ]
  return `, changed by another client (signed ${signed.join(' ')}; perpd discrepancies)`
}

/** Each change of a created order while it rested: when, who, to what, and why. */
function editLines(state: IntentState, edits: readonly OrderEdit[] = []): string[] {
  const children = lastAttempt(state)?.children ?? []
  const isSingle = children.length === 1
  return edits.map(({ orderKey, atMs, by, intentId, reason, triggerPrice, sizeDeltaUsd }) => {
    const child = children.find((each) => sameHex(each.orderKey, orderKey))
    const name = child === undefined || isSingle ? '' : `${child.index}${roleOf(state, child.index)} `
    if (by === null) return `${timeOf(atMs)} ${name}${reason}`
    const made = [
      ...(triggerPrice === undefined ? [] : [`at ${formatExactPrice(triggerPrice)}`]),
      ...(sizeDeltaUsd === undefined || sizeDeltaUsd === MAX_UINT256 ? [] : [`over ${money(sizeDeltaUsd)}`]),
    ]
    const what = made.length === 0 ? 'an edit with an unknown fate' : made.join(' ')
    return `${timeOf(atMs)} ${name}${what}, by ${by} (order ${shortId(intentId ?? '')}): ${reason}`
  })
}

function warningLines(state: IntentState): string[] {
  return state.attempts.flatMap(({ n, armed, warned }) => {
    // Stories from before warnings had a record of their own hold those of what was signed.
    const told =
      warned?.flatMap(({ warnings }) => warnings) ??
      armed?.validationWarnings.map((each) => ({ ...each, action: undefined })) ??
      []
    return told.map(
      ({ code, message, action }) =>
        `attempt ${n}, before signing: ${message === '' ? code : `${message} [${code}]`}${action === undefined ? '' : `; policy: ${action}`}`,
    )
  })
}

/** States the result of each fill that reduced, and its components. */
function pnlLines(state: IntentState, context: LegLookups): string[] {
  return legsOf(state, context).flatMap((leg) => {
    const { venuePnlUsd, pnlUsd, fundingReceivedUsd, costs, index } = leg
    if (venuePnlUsd === undefined || pnlUsd === undefined || costs === undefined) return []
    const { sendingUsd, entryCostsUsd, cancellingUsd, isEntryKnown } = costs
    const ownEntryUsd = ownEntryUsdOf(venuePnlUsd, costs, fundingReceivedUsd)
    const received =
      fundingReceivedUsd === undefined
        ? ''
        : `, and ${money(fundingReceivedUsd)} of funding reserved for the account`
    const entry = isEntryKnown
      ? `${money(entryCostsUsd)} of the entry's costs`
      : `${money(entryCostsUsd)} of the entry's known costs; others opened a part of it`
    // The entry's message paid for its exits, so that only what came back is left: no "less" stands before a minus.
    const sending =
      sendingUsd < 0n
        ? `plus ${money(-sendingUsd)} that came back of its fee, less ${entry}`
        : `less ${money(sendingUsd)} for sending it, at most, and ${entry}`
    const cancelling =
      cancellingUsd === 0n
        ? ''
        : cancellingUsd < 0n
          ? `, plus ${money(-cancellingUsd)} that came back of the fees of the remaining exits`
          : `, and ${money(cancellingUsd)} for cancelling the remaining exits`
    const ownEntry =
      ownEntryUsd === 0n
        ? ''
        : `; ${money(ownEntryUsd)} of it because the reduced part has its own entry price and its own share of funding and borrowing`
    return [
      `${index}${roleOf(state, index)}: ${money(pnlUsd)} after all costs: ${money(venuePnlUsd)} by the venue, after price impact, fees, funding and borrowing${received}; ${sending}${cancelling}${ownEntry}`,
    ]
  })
}

function resultLines({ closing }: IntentState): string[] {
  if (closing === undefined) return []
  const { settlement, facts } = closing
  const lines: string[] = []
  if (settlement !== undefined) {
    const parts = [
      settlement.executionPrice === undefined ? '' : `price ${formatPrice(settlement.executionPrice)}`,
      settlement.sizeDeltaUsd === undefined ? '' : `size ${money(settlement.sizeDeltaUsd)}`,
      settlement.feesUsd === undefined ? '' : `fees ${money(settlement.feesUsd)}`,
      settlement.priceImpactUsd === undefined ? '' : `price impact ${money(settlement.priceImpactUsd)}`,
    ].filter((part) => part !== '')
    if (parts.length > 0) lines.push(parts.join(', '))
  } else {
    lines.push(`${closing.code}: ${closing.reason}`)
  }
  lines.push(...factLines(facts))
  if (closing.observedStatus !== undefined) lines.push(`the venue's last status: ${closing.observedStatus}`)
  return lines
}

/** Says who requested the unwind of the order, and its result. */
function unwindLines({ intent, closing }: IntentState, unwind: UnwindState | undefined): string[] {
  if (unwind === undefined) return []
  const { by, reason, sinceMs, statement, outcome } = unwind
  const fate =
    closing === undefined
      ? 'if it lands, perpd cancels its resting orders and closes what it opened; if it never lands, perpd does nothing'
      : 'perpd is closing what it opened'
  return [
    `${by} unwinds it since ${timeOf(sinceMs)}: ${reason}`,
    outcome === undefined ? fate : `${outcome}: ${statement ?? ''}`,
    `by the decisions unwind:${intent.intentId} and unwind-cancel:${intent.intentId}, of ${OPERATOR}`,
  ]
}

/** Finds the evidence that decided the order: the newest end of a child or an attempt. */
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

function noProof(state: IntentState): string {
  const attempt = lastAttempt(state)
  if (attempt?.armed === undefined) return 'none needed yet: nothing was signed'
  return `none yet; perpd polls its status at ${attempt.host}, and its digest cannot land after ${timeOf(attempt.armed.deadlineSeconds * 1_000)}`
}

/** Says what the order reserves and costs, and how often the same decision ended before it. */
function budgetLines(state: IntentState, { endings, attemptsPerCause, feeToken }: ExplainContext): string[] {
  const { intent, closing } = state
  const held =
    closing === undefined
      ? `holds ${money(reservedOf(state))} of the limits until its end`
      : `held ${money(intent.reservationUsd)} of the limits until its end; nothing now`
  const fees = feeLines(state, feeToken)
  const causes = new Map<string, number>()
  for (const { kind, marketToken, direction, cause } of endings) {
    const isSame =
      kind === intent.kind &&
      marketToken.toLowerCase() === intent.terms.marketToken.toLowerCase() &&
      direction === intent.terms.direction
    if (isSame && cause !== 'executed') causes.set(cause, (causes.get(cause) ?? 0) + 1)
  }
  const most = attemptsPerCause === undefined ? '' : ` of ${attemptsPerCause}`
  const before = [...causes].map(
    ([cause, times]) => `the same decision ended "${cause}" ${times}${most} times in the day before it`,
  )
  return [
    held,
    ...fees,
    ...(before.length === 0 ? ['no such decision of its strategy failed in the day before it'] : before),
  ]
}
