/** Whose word it was that an order ended by: a cancel of ours explains it from the moment that it may have left. */
import { expect, test } from 'vitest'
import { cancelAskedBy } from '../../src/domain/order/cancelAsked.ts'
import type { Attempt, Evidence, IntentState } from '../../src/domain/order/intent.ts'
import { armedFacts, intentOf, orderKey, startMs } from '../support/intents.ts'

const evidence: Evidence = { level: 'chain-latest', atMs: startMs, statement: 'seen' }

/** An order that the account itself cancelled. */
const ended: IntentState = {
  intent: intentOf(),
  attempts: [
    {
      n: 1,
      lane: 'order-chain',
      host: 'http://127.0.0.1:1/v1',
      phase: 'LANDED',
      armed: armedFacts(),
      evidence,
      children: [{ index: 0, orderKey, phase: 'CANCELLED', role: 'main', evidence }],
    },
  ],
  closing: {
    outcome: 'CANCELLED',
    code: 'CANCELLED',
    reason: 'The chain shows the order as cancelled: USER_INITIATED_CANCEL',
    evidence,
  },
  updatedAtMs: startMs,
}

/** A cancel of it, by ann's hand, whose message is at this phase. */
function cancelAt(phase: Attempt['phase']): IntentState {
  const { decision, terms } = intentOf()
  return {
    intent: intentOf({
      intentId: 'cafe00000000000000000001',
      strategy: '@operator',
      kind: 'cancel',
      decision: { ...decision, facts: { by: 'ann' } },
      terms: { ...terms, cancelOrderKeys: [orderKey] },
    }),
    attempts: [{ n: 1, lane: 'order-chain', host: 'http://127.0.0.1:1/v1', phase, children: [] }],
    updatedAtMs: startMs,
  }
}

test('an own cancel that may have left explains the end of its order, though its own landing is seen later', () => {
  for (const phase of ['ARMED', 'ACKED', 'UNRESOLVED', 'LANDED'] as const)
    expect([phase, cancelAskedBy(ended, [cancelAt(phase)])]).toEqual([phase, 'as ann asked (order cafe0000)'])
  for (const phase of ['PREPARING', 'DEAD', 'VOID_CONSUMED', 'NOT_SENT'] as const)
    expect([phase, cancelAskedBy(ended, [cancelAt(phase)])]).toEqual([phase, undefined])
})
