/** Ends of intents: the joint proof of its attempts, and the closing of one that never left. */
import { defined } from '../../base/defined.ts'
import { RECORD_VERSION } from '../accountRecords/recordVersion.ts'
import { type Attempt, type Closing, hasEnded, type IntentState, isProvisional } from '../order/intent.ts'
import { isExit } from '../order/orderLegs.ts'
import type { JournalRecord } from '../records.ts'

/** Action to carry out once the record, if any, is durable. */
export type Effect =
  /** Feed `begin` back, with the host to ask next. */
  | { readonly type: 'begin' }
  | { readonly type: 'prepare'; readonly attempt: number; readonly again: boolean }
  | { readonly type: 'submit'; readonly attempt: number }
  | { readonly type: 'follow'; readonly attempt: number }

/** One step: at most one record, its effects, and whether the same event may give more. */
export interface Step {
  readonly record?: JournalRecord
  readonly effects: readonly Effect[]
  /** Feed the same event again after the commit: one record a transaction. */
  readonly again: boolean
}

/** J7, when the attempt leaves nothing more to come. */
export function conclude(state: IntentState, attempt: Attempt, nowMs: number): Step | undefined {
  switch (attempt.phase) {
    case 'NOT_SENT':
      return close(state, nowMs, {
        outcome: 'REFUSED_LOCAL',
        code: 'NOT_SENT',
        reason: `the order was signed but not sent: ${attempt.send?.message ?? 'the host could not be reached'}`,
        evidence: local(nowMs, 'the journal shows the only attempt as not sent'),
      })
    case 'DEAD':
    case 'VOID_CONSUMED':
      return close(state, nowMs, {
        outcome: attempt.phase,
        code: attempt.phase === 'DEAD' ? 'DEADLINE_PASSED' : 'DIGEST_USED_BY_ANOTHER',
        reason: attempt.evidence?.statement ?? 'the attempt can never land',
        evidence: attempt.evidence ?? local(nowMs, 'recorded earlier'),
        ...deadStatus(attempt),
      })
    case 'LANDED':
      return concludeLanded(state, attempt, nowMs)
    default:
      return undefined
  }
}

/** The venue's last word decides between reverted, failed and expired: what it says now, what it said to the submit. */
function deadStatus(attempt: Attempt): { readonly observedStatus?: string } {
  const said = [attempt.evidence?.status, attempt.send?.status].find((status) => status?.startsWith('relay_'))
  if (said === 'relay_reverted' || said === 'relay_failed') return { observedStatus: said }
  return defined({ observedStatus: attempt.send?.result === 'refused' ? 'refused' : undefined })
}

function concludeLanded(state: IntentState, attempt: Attempt, nowMs: number): Step | undefined {
  const { children } = attempt
  if (isProvisional(attempt.evidence)) return undefined
  if (!children.every((child) => hasEnded(child) && !isProvisional(child.evidence))) return undefined
  // Exits that came with an order end when its position does; they do not decide what became of the order.
  const own = children.filter((child) => !isExit(child))
  const executed = own.filter((child) => child.phase === 'EXECUTED')
  const [first] = executed
  const [shown] = [first, ...own].flatMap((child) => child?.evidence ?? [])
  const evidence = shown ?? attempt.evidence ?? local(nowMs, 'recorded earlier')
  if (children.length === 0) {
    const reason = 'the change was made'
    return close(state, nowMs, { outcome: 'EXECUTED', code: 'EXECUTED', reason, evidence })
  }
  if (first === undefined) {
    const reason = own.map((child) => child.cancelReason ?? '').find((text) => text !== '') ?? ''
    if (reason === 'USER_INITIATED_CANCEL') {
      return close(state, nowMs, {
        outcome: 'CANCELLED',
        code: 'CANCELLED_BY_ACCOUNT',
        reason: `the account itself cancelled the order: ${reason}`,
        evidence,
      })
    }
    return close(state, nowMs, {
      outcome: 'CANCELLED',
      code: 'CANCELLED_BY_KEEPER',
      reason: reason === '' ? 'the keeper cancelled the order' : `the keeper cancelled the order: ${reason}`,
      evidence,
    })
  }
  return close(state, nowMs, {
    outcome: executed.length === own.length ? 'EXECUTED' : 'PARTIAL',
    code: 'EXECUTED',
    reason: `${executed.length} of ${own.length} orders executed`,
    evidence,
    ...defined({ settlement: first.settlement }),
  })
}

/** Closes an intent that was never sent and whose time is over. */
export function expire(state: IntentState, nowMs: number, reason: string): Step {
  return close(state, nowMs, {
    outcome: 'EXPIRED',
    code: 'INTENT_EXPIRED',
    reason,
    evidence: local(nowMs, 'no signature left the process: the journal holds no armed attempt'),
  })
}

/** Closes the intent, with its outcome and evidence. */
export function close(state: IntentState, nowMs: number, closing: Closing): Step {
  return { record: { ...stamp(state, nowMs), kind: 'intent.closed', closing }, effects: [], again: false }
}

/** Returns local evidence: nothing left the process. */
export function local(atMs: number, statement: string): Closing['evidence'] {
  return { level: 'local', atMs, statement }
}

/** Returns the fields that every record of an intent carries. */
export function stamp(
  state: IntentState,
  atMs: number,
): { v: typeof RECORD_VERSION; atMs: number; intentId: string } {
  return { v: RECORD_VERSION, atMs, intentId: state.intent.intentId }
}
