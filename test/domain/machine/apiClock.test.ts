/** Evidence without a chain stands neither on our own clock nor on rows that may be another order's: what the simulation found. */
import { describe, expect, test } from 'vitest'
import { foldRecords } from '../../../src/domain/machine/fold.ts'
import { type MachineEvent, step } from '../../../src/domain/machine/step.ts'
import type { IntentState } from '../../../src/domain/order/intent.ts'
import type { JournalRecord } from '../../../src/domain/records.ts'
import {
  armedFacts,
  emptyAccount,
  intentOf,
  observationOf,
  startMs,
  statusAnswer,
  tradeOf,
} from '../../support/intents.ts'

const rules = { source: 'api', trustVenue: false, deadlineMarginMs: 10_000 } as const

function run(events: readonly MachineEvent[]): IntentState | undefined {
  const records: JournalRecord[] = []
  for (const event of events) {
    for (let again = true; again; ) {
      const made = step(foldRecords(records), event, rules)
      if (made.record !== undefined) records.push(made.record)
      again = made.again
    }
  }
  return foldRecords(records)
}

test('an order that was armed while our clock was hours ahead closes by its trade all the same', () => {
  const aheadMs = 2 * 3_600_000
  const intent = intentOf({ expiresAtMs: startMs + aheadMs + 60_000 })
  const state = run([
    { type: 'accept', nowMs: startMs + aheadMs, intent },
    { type: 'begin', nowMs: startMs + aheadMs, host: 'http://127.0.0.1:1/v1' },
    { type: 'signed', nowMs: startMs + aheadMs, armed: armedFacts() },
    { type: 'sent', nowMs: startMs + aheadMs, send: { result: 'accepted' } },
    {
      type: 'observed',
      nowMs: startMs + 5_000,
      observation: observationOf(
        statusAnswer('executed', { orderKeys: [tradeOf().orderKey] }),
        emptyAccount({ trades: [tradeOf()] }),
      ),
    },
  ])
  expect(state?.closing?.outcome).toBe('EXECUTED')
})

test('parts that a host does not name are counted in the order of their creation, though trades come newest first', () => {
  const transactionHash = `0x${'7a'.repeat(32)}` as const
  const base = intentOf()
  const intent = intentOf({
    terms: { ...base.terms, orderType: 'twap', twap: { parts: 3, durationSeconds: 60 } },
  })
  const keys = ['01', '02', '03'].map((part) => `0x${part.repeat(32)}` as const)
  const trades = keys
    .toReversed()
    .map((orderKey) =>
      tradeOf({ id: orderKey, orderKey, transactionHash, eventName: 'OrderCreated', orderType: 3 }),
    )
  const state = run([
    { type: 'accept', nowMs: startMs, intent },
    { type: 'begin', nowMs: startMs, host: 'http://127.0.0.1:1/v1' },
    { type: 'signed', nowMs: startMs, armed: armedFacts() },
    { type: 'sent', nowMs: startMs, send: { result: 'accepted' } },
    {
      type: 'observed',
      nowMs: startMs + 5_000,
      observation: observationOf(
        statusAnswer('created', { createdTxnHash: transactionHash }),
        emptyAccount({ trades }),
      ),
    },
  ])
  expect(state?.attempts[0]?.children.map(({ orderKey }) => orderKey)).toEqual(keys)
})

describe('an order of the relay lane, whose status names no order', () => {
  const deadlineSeconds = startMs / 1000 + 120
  const [created, ended] = [`0x${'7a'.repeat(32)}`, `0x${'7e'.repeat(32)}`] as const
  const looked = (
    rows: readonly Parameters<typeof tradeOf>[0][],
    named: Parameters<typeof statusAnswer>[1] = { txHash: created },
    explained: readonly string[] = [],
  ) =>
    run([
      { type: 'accept', nowMs: startMs, intent: intentOf({ lane: 'relay' }) },
      { type: 'begin', nowMs: startMs, host: 'http://127.0.0.1:1/v1' },
      { type: 'signed', nowMs: startMs, armed: armedFacts({ deadlineSeconds }) },
      { type: 'sent', nowMs: startMs, send: { result: 'accepted' } },
      {
        type: 'observed',
        nowMs: startMs + 5_000,
        observation: {
          ...observationOf(
            statusAnswer('created', named),
            emptyAccount({ trades: rows.map((row) => tradeOf(row)) }),
          ),
          explained: new Set(explained),
        },
      },
    ])?.attempts[0]?.children.length
  const creation = { eventName: 'OrderCreated', transactionHash: created } as const

  test('has landed when its own rows show what the named transaction created, or what the named end executed', () => {
    expect(looked([creation])).toBe(1)
    expect(looked([{ transactionHash: ended }, creation])).toBe(1)
    expect(looked([{ transactionHash: ended }], { txHash: created, executionTxnHash: ended })).toBe(1)
  })

  test('is not guessed from a row that merely fits: a deleveraging, or a trade by hand, looks the same', () => {
    expect(looked([{ transactionHash: ended }])).toBe(0)
    expect(looked([{ ...creation, transactionHash: `0x${'ad'.repeat(32)}` }])).toBe(0)
    expect(looked([creation], {})).toBe(0)
  })

  test('shares a transaction with another of ours: what that one explains is not counted, and two that fit are none', () => {
    const other = { ...creation, id: 'b', orderKey: `0x${'0b'.repeat(32)}` } as const
    expect(looked([creation, other])).toBe(0)
    expect(looked([creation, other], { txHash: created }, [other.orderKey])).toBe(1)
  })
})
