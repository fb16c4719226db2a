/** The mark of an order that only an operator can close. */
import { expect, test } from 'vitest'
import { RECORD_VERSION } from '../../src/domain/accountRecords/recordVersion.ts'
import { foldRecords } from '../../src/domain/machine/fold.ts'
import type { IntentState } from '../../src/domain/order/intent.ts'
import type { JournalRecord } from '../../src/domain/records.ts'
import { marksOf } from '../../src/domain/summaries/orderMarks.ts'
import { armedFacts, intentOf, startMs } from '../support/intents.ts'

const deadlineMs = armedFacts().deadlineSeconds * 1_000
const rules = { source: 'api', deadlineMarginMs: 5_000 } as const

function unknown(...more: readonly object[]): IntentState {
  const intent = intentOf()
  const base = { v: RECORD_VERSION, atMs: startMs, intentId: intent.intentId }
  const records = [
    { kind: 'intent.accepted', intent },
    { kind: 'attempt.preparing', attempt: 1, lane: 'order-chain', host: 'h' },
    { kind: 'attempt.armed', attempt: 1, armed: armedFacts() },
    { kind: 'send.result', attempt: 1, send: { result: 'unanswered' } },
    ...more,
  ].map((record) => ({ ...base, ...record }) as JournalRecord)
  return foldRecords(records) as IntentState
}

test('without a chain an order is presumed dead once its deadline has passed by the margin', () => {
  const at = (nowMs: number) => marksOf(unknown(), undefined, { ...rules, nowMs })
  expect(at(deadlineMs + 5_000)).toEqual({})
  expect(at(deadlineMs + 5_001)).toEqual({ presumedDeadForSeconds: 5 })
  expect(at(deadlineMs + 7_200_000)).toEqual({ presumedDeadForSeconds: 7_200 })
})

test('nothing is presumed where the chain proves, nor of what landed, ended, or was never signed', () => {
  const late = { ...rules, nowMs: deadlineMs + 7_200_000 }
  const evidence = { level: 'api', atMs: startMs, statement: 'seen' }
  const landed = {
    kind: 'landed',
    attempt: 1,
    orderKeys: [`0x${'0a'.repeat(32)}`],
    roles: ['main'],
    evidence,
  }
  const closing = {
    outcome: 'DEAD',
    code: 'RESOLVED_BY_OPERATOR',
    reason: 'r',
    evidence: { ...evidence, level: 'operator' },
  }
  expect(marksOf(unknown(), undefined, { ...late, source: 'chain' })).toEqual({})
  expect(marksOf(unknown(landed), undefined, late)).toEqual({})
  expect(marksOf(unknown({ kind: 'intent.closed', closing }), undefined, late)).toEqual({})
  expect(marksOf({ ...unknown(), attempts: [] }, undefined, late)).toEqual({})
})
