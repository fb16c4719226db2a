/**
 * Explains what would have happened to an order otherwise, or what is still to come. It applies the rules of evidence to this one order with its own
 * times and prices. Pure.
 */
import {
  type Attempt,
  hasEnded,
  type IntentState,
  isProvisional,
  isUnresolved,
  isWaiting,
  lastAttempt,
} from '../../domain/order/intent.ts'
import { type MarkRules, marksOf } from '../../domain/summaries/orderMarks.ts'
import { formatPrice } from '../../protocol/priceText.ts'
import { priceOfContractPrice } from '../../protocol/units.ts'
import { span } from '../text.ts'
import { timeOf } from './explainEvidence.ts'

/** Rules by which an order is closed here. */
export type FateRules = { readonly trustVenue: boolean } & MarkRules

/** One sentence for each way that is still open, or that was. */
export function fateLines(state: IntentState, rules: FateRules): string[] {
  const attempt = lastAttempt(state)
  if (attempt?.armed === undefined) return unsigned(state)
  const deadline = timeOf(attempt.armed.deadlineSeconds * 1_000)
  if (state.closing === undefined) return stillOpen(state, attempt, deadline, rules)
  switch (attempt.phase) {
    case 'LANDED':
      return [
        `Without a landing by ${deadline}, ${deathBy(rules, 'would have')}.`,
        ...childFates(state, attempt),
      ]
    case 'DEAD':
      return [
        `If it had landed by ${deadline}, its events would show it, and perpd would have followed its orders to their ends.`,
      ]
    case 'VOID_CONSUMED':
      return [
        'A third party consumed its digest, so it can never land; otherwise it could have landed until its deadline.',
      ]
    case 'NOT_SENT':
      return [
        `If any byte had left this machine, perpd would count it as sent and follow it past ${deadline}.`,
      ]
    default:
      return [
        `No evidence closed it. It could have landed until ${deadline}; in that case its orders appear as discrepancies: perpd discrepancies.`,
      ]
  }
}

function unsigned({ intent, closing }: IntentState): string[] {
  const expiry = timeOf(intent.expiresAtMs)
  if (closing !== undefined) return ['No signature left this machine, so it could never land.']
  return [`If it is not signed by ${expiry}, it closes as expired and cannot land.`]
}

function stillOpen(state: IntentState, attempt: Attempt, deadline: string, rules: FateRules): string[] {
  if (attempt.phase === 'LANDED') return landedFates(state, attempt)
  const { presumedDeadForSeconds } = marksOf(state, undefined, rules)
  if (presumedDeadForSeconds !== undefined) {
    const { intentId } = state.intent
    return [
      `Presumed dead: it is ${span(presumedDeadForSeconds * 1_000)} past its deadline, and neither its host nor the account's rows show it. It counts as exposure and waits for an operator: check the venue, then perpd orders resolve ${intentId} --as dead --by YOUR_NAME (or executed, cancelled).`,
      'If rows of the account show it later, they close it. It is never sent again.',
    ]
  }
  const lines = [
    rules.source === 'chain'
      ? 'Still open: it lands when a final block shows its digest together with our signature or events.'
      : "Still open: it closes as executed or cancelled when the pinned host says so and the account's own rows show it.",
    `If it has not landed by ${deadline}, ${deathBy(rules, 'will')}.`,
  ]
  if (rules.source === 'chain')
    lines.push('If a third party consumes its digest, it closes as void. It is never sent again.')
  else if (isUnresolved(attempt)) lines.push('It is never sent again.')
  return lines
}

function landedFates(state: IntentState, attempt: Attempt): string[] {
  const lines: string[] = []
  if (isProvisional(attempt.evidence)) {
    lines.push(
      'Provisional: a reorganisation may remove the landing, and the fate would be unknown again. The landing counts once it is final on every endpoint.',
    )
  }
  const open = attempt.children.filter((child) => !hasEnded(child))
  const waiting = open.filter((child) => isWaiting(state.intent, child)).length
  if (waiting > 0)
    lines.push(
      `${waiting} of its orders wait at the venue for a price or a time; they stay until they end or are cancelled.`,
    )
  if (open.length > waiting)
    lines.push(
      `${open.length - waiting} of its orders wait for a keeper, which executes or cancels them; either shows as an event.`,
    )
  if (attempt.children.some((child) => hasEnded(child) && isProvisional(child.evidence)))
    lines.push('A reorganisation may remove a provisional end; the order would then be open again.')
  return lines
}

function deathBy({ source, trustVenue }: FateRules, will: 'will' | 'would have'): string {
  const closes = will === 'will' ? 'it will be closed' : 'it would have been closed'
  const stays = will === 'will' ? 'it stays unknown' : 'it would have stayed unknown'
  if (source === 'chain')
    return `${closes} as expired at the first later final block, with its digest unused on every endpoint`
  if (trustVenue)
    return `${closes} as expired by the venue's own statement after that, or stay unknown without it`
  return `${stays} and counts as exposure, until rows of the account show it or an operator resolves it (perpd orders resolve)`
}

/** Says what the opposite end of each order would have meant, where the journal knows what decided it. */
function childFates({ intent }: IntentState, { children, armed }: Attempt): string[] {
  const { terms, kind } = intent
  const isPriced = kind === 'increase' || kind === 'decrease' || kind === 'close'
  const bound =
    isPriced && terms.orderType === 'market' && armed !== undefined && armed.acceptableContractPrice > 0n
      ? priceOfContractPrice(armed.acceptableContractPrice, terms.indexToken.decimals)
      : undefined
  const executed = children.filter(({ phase }) => phase === 'EXECUTED').length
  // An order that its owner cancelled and an exit that did not happen are not counted: their opposite ends differ.
  const cancelled = children.filter(
    ({ phase, role, cancelReason = '' }) =>
      phase === 'CANCELLED' && role === 'main' && !cancelReason.endsWith('USER_INITIATED_CANCEL'),
  ).length
  const lines: string[] = []
  if (executed > 0)
    lines.push(
      `If the keeper had cancelled instead${bound === undefined ? '' : ` (a price worse than ${formatPrice(bound)})`}, the position would be unchanged, and its share of the limits free.`,
    )
  if (cancelled > 0)
    lines.push(
      `If the keeper had executed the order${bound === undefined ? '' : `, then at ${formatPrice(bound)} or better`}, it would be part of the position now.`,
    )
  return lines
}
