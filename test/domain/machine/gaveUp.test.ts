/** Without a chain: an order whose host gave it up, and which landed all the same. */
import { expect, test } from 'vitest'
import { foldRecords } from '../../../src/domain/machine/fold.ts'
import type { HostAnswer } from '../../../src/domain/machine/observation.ts'
import { type MachineEvent, step } from '../../../src/domain/machine/step.ts'
import type { Intent, IntentState } from '../../../src/domain/order/intent.ts'
import type { JournalRecord } from '../../../src/domain/records.ts'
import type { Trade } from '../../../src/protocol/position.ts'
import {
  armedFacts,
  emptyAccount,
  intentOf,
  observationOf,
  orderKey,
  startMs,
  statusAnswer,
  tradeOf,
} from '../../support/intents.ts'

const rules = { source: 'api', trustVenue: false, deadlineMarginMs: 10_000 } as const
const { transactionHash: txHash } = tradeOf()

/** What became of an intent that was sent, and looked at with this answer and these trades. */
function seen(
  answer: HostAnswer,
  trades: readonly Trade[],
  options: {
    readonly intent?: Partial<Intent>
    readonly sent?: object
    readonly explained?: readonly string[]
  } = {},
): IntentState {
  const events: readonly MachineEvent[] = [
    { type: 'accept', nowMs: startMs, intent: intentOf(options.intent) },
    { type: 'begin', nowMs: startMs, host: 'http://127.0.0.1:1/v1' },
    { type: 'signed', nowMs: startMs, armed: armedFacts() },
    { type: 'sent', nowMs: startMs, send: { result: 'accepted', ...options.sent } },
    {
      type: 'observed',
      nowMs: startMs,
      observation: observationOf(answer, emptyAccount({ trades }), options.explained),
    },
  ]
  const records: JournalRecord[] = []
  for (const event of events) {
    for (let again = true; again; ) {
      const made = step(foldRecords(records), event, rules)
      if (made.record !== undefined) records.push(made.record)
      again = made.again
    }
  }
  return foldRecords(records) as IntentState
}

for (const status of ['relay_failed', 'relay_reverted']) {
  test(`${status}: own rows of the order that the host named close it`, () => {
    expect(seen(statusAnswer(status, { orderKeys: [orderKey] }), [tradeOf()]).closing).toMatchObject({
      outcome: 'EXECUTED',
      evidence: { level: 'api', tradeIds: ['trade-1'] },
    })
    const reason = 'OrderNotFulfillableAtAcceptablePrice'
    const cancelled = tradeOf({ eventName: 'OrderCancelled', reason })
    expect(seen(statusAnswer(status, { orderKeys: [orderKey] }), [cancelled]).closing).toMatchObject({
      outcome: 'CANCELLED',
    })
  })

  test(`${status}: rows that its transaction alone names close nothing: a relay bundles messages, and another may have made them`, () => {
    expect(seen(statusAnswer(status, { txHash }), [tradeOf()]).closing).toBeUndefined()
    expect(seen(statusAnswer(status), [tradeOf()], { sent: { txHash } }).closing).toBeUndefined()
  })

  test(`${status}: rows that nothing names close nothing, however well they fit`, () => {
    expect(seen(statusAnswer(status), [tradeOf()]).closing).toBeUndefined()
    expect(seen(statusAnswer(status), [tradeOf()], { intent: { lane: 'relay' } }).closing).toBeUndefined()
    // Nor do those of another key, of another account, of another size, or that another intent explains.
    const other = `0x${'7b'.repeat(32)}` as const
    expect(seen(statusAnswer(status, { orderKeys: [other] }), [tradeOf()]).closing).toBeUndefined()
    const answer = statusAnswer(status, { orderKeys: [orderKey] })
    expect(seen(answer, [tradeOf({ account: `0x${'11'.repeat(20)}` })]).closing).toBeUndefined()
    expect(seen(answer, [tradeOf({ sizeDeltaUsd: 1n })]).closing).toBeUndefined()
    expect(seen(answer, [tradeOf()], { explained: [orderKey] }).closing).toBeUndefined()
  })
}

test('a host that says prepared has sent nothing, and names nothing that counts', () => {
  expect(seen(statusAnswer('prepared', { txHash }), [tradeOf()]).closing).toBeUndefined()
})
