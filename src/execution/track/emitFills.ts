/** Tells of fills as they become durable: the entry's, each exit's, each part's, and the exits that rest once a position is open. */

import { defined } from '../../base/defined.ts'
import { type IntentState, lastAttempt } from '../../domain/order/intent.ts'
import { isExit, isFillTold, isOpened, legsOf, type OrderLeg } from '../../domain/order/orderLegs.ts'
import { signedOrderAmong, signedOrderIn } from '../../domain/order/signedOrder.ts'
import { type TermsInForce, termsInForce } from '../../domain/order/termsInForce.ts'
import type { JournalRecord } from '../../domain/records.ts'
import type { HasChain, HasEmit, HasJournal } from '../context/executionParts.ts'

/** Reports the changes that a record made to an intent; `before` is its state without the record. */
export function emitFills(
  { emit, journal, chain }: HasChain & HasEmit & HasJournal,
  before: IntentState | undefined,
  after: IntentState,
  record: JournalRecord,
): void {
  if (record.kind !== 'child.executed' && record.kind !== 'child.reopened') return
  const wasFilled = lastAttempt(before ?? after)?.children[record.child]?.phase === 'EXECUTED'
  const isTakenBack = record.kind === 'child.reopened'
  // It is written once more when its block is final.
  if (wasFilled !== isTakenBack) return
  const { intent } = after
  const attempt = lastAttempt(after)
  const legs = legsIn({ journal }, after)
  const leg = legs[record.child]
  if (leg === undefined || !isFillTold(isTakenBack ? (before ?? after) : after, record)) return
  const amount = attempt?.armed?.relayFeeAmount
  emit({
    type: 'order.filled',
    intent,
    leg,
    isTakenBack,
    ...editedIn({ journal }, after),
    ...defined({
      sendingFee:
        amount === undefined || isExit(leg)
          ? undefined
          : { amount, symbol: chain.feeToken.symbol, decimals: chain.feeToken.decimals },
    }),
  })
  if (isTakenBack || isExit(leg) || !isOpened(after)) return
  emit({
    type: 'order.exits',
    intent,
    exits: legs.filter((each) => isExit(each) && (each.phase === 'OPEN' || each.phase === 'FROZEN')),
  })
}

/** The changes by edits of ours to the order of an intent that waits for a price, as part of an event; nothing where none did. */
export function editedIn({ journal }: HasJournal, state: IntentState): { readonly inForce?: TermsInForce } {
  const inForce = termsInForce(state, {
    signedOf: (orderKey) => signedOrderAmong(journal.recentIntents(), state, orderKey),
  })
  return defined({ inForce: Object.keys(inForce).length === 0 ? undefined : inForce })
}

/** Returns the created orders of an intent as the journal knows them, with the costs of their fills. */
export function legsIn({ journal }: HasJournal, state: IntentState): readonly OrderLeg[] {
  return legsOf(state, {
    signedOf: (orderKey) => signedOrderIn(journal, orderKey),
    costsOf: (orderKey) => journal.books().fillOf(orderKey),
  })
}
