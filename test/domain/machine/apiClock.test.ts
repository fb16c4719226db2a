/** Evidence without a chain stands neither on our own clock nor on rows that may be another order's: what the simulation found. */
import { describe, expect, test } from 'vitest'
import type { IntentState } from '../../../src/domain/intent.ts'
import { contestedBy } from '../../../src/domain/machine/apiEvidence.ts'
import { foldRecords } from '../../../src/domain/machine/fold.ts'
import { type MachineEvent, step } from '../../../src/domain/machine/step.ts'
import type { JournalRecord } from '../../../src/domain/records.ts'
import { usd } from '../../../src/domain/units.ts'
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

test('the row that two orders of the relay lane may have made is taken for neither', () => {
  const trade = tradeOf()
  const looked = (contested: readonly string[], txHash: boolean) =>
    run([
      { type: 'accept', nowMs: startMs, intent: intentOf({ lane: 'relay' }) },
      { type: 'begin', nowMs: startMs, host: 'http://127.0.0.1:1/v1' },
      { type: 'signed', nowMs: startMs, armed: armedFacts({ deadlineSeconds: startMs / 1000 + 120 }) },
      { type: 'sent', nowMs: startMs, send: { result: 'accepted' } },
      {
        type: 'observed',
        nowMs: startMs + 5_000,
        observation: {
          ...observationOf(
            statusAnswer('created', txHash ? { txHash: `0x${'c0'.repeat(32)}` } : {}),
            emptyAccount({ trades: [trade] }),
          ),
          contested: new Set(contested),
        },
      },
    ])?.attempts[0]?.children.length
  expect(looked([], true)).toBe(1)
  expect(looked([trade.orderKey], true)).toBe(0)
  expect(looked([], false)).toBe(0)
})

describe('a row that an order of the relay lane is guessed from', () => {
  const deadlineSeconds = startMs / 1000 + 120
  const armedOnce: readonly MachineEvent[] = [
    { type: 'accept', nowMs: startMs, intent: intentOf({ lane: 'relay' }) },
    { type: 'begin', nowMs: startMs, host: 'http://127.0.0.1:1/v1' },
    { type: 'signed', nowMs: startMs, armed: armedFacts({ deadlineSeconds }) },
    { type: 'sent', nowMs: startMs, send: { result: 'accepted' } },
  ]
  const word: MachineEvent = { type: 'resolved', nowMs: startMs + 1_000, as: 'cancelled', by: 'Ada' }
  const contested = (events: readonly MachineEvent[], row: Parameters<typeof tradeOf>[0] = {}) =>
    contestedBy(
      [run(events)].filter((state) => state !== undefined),
      [tradeOf(row)],
    ).size === 1
  const pastDeadline = (seconds: number) => ({ timestampSeconds: deadlineSeconds + seconds })

  test('may be of another whose fate is not known, open or closed by the word of an operator', () => {
    expect(contested(armedOnce)).toBe(true)
    expect(contested([...armedOnce, word])).toBe(true)
    expect(contested([...armedOnce, word], { sizeDeltaUsd: usd(501) })).toBe(false)
    // Nothing was signed.
    expect(contested(armedOnce.slice(0, 2))).toBe(false)
  })

  test('is contested by what a word closed for as long as an order at the market may live, and of one that waits for good', () => {
    const waiting = intentOf({ lane: 'relay', terms: { ...intentOf().terms, orderType: 'limit' } })
    const resting: readonly MachineEvent[] = [
      { type: 'accept', nowMs: startMs, intent: waiting },
      ...armedOnce.slice(1),
    ]
    expect(contested([...armedOnce, word], pastDeadline(900))).toBe(true)
    expect(contested([...armedOnce, word], pastDeadline(901))).toBe(false)
    expect(contested(armedOnce, pastDeadline(901))).toBe(true)
    expect(contested([...resting, word], { ...pastDeadline(86_400), orderType: 3 })).toBe(true)
  })

  test('is not looked for where the host names the transaction of the end: the trade that shows it is not listed yet', () => {
    const [created, ended] = [`0x${'7a'.repeat(32)}`, `0x${'7e'.repeat(32)}`] as const
    const looked = (row: Parameters<typeof tradeOf>[0], named: Parameters<typeof statusAnswer>[1]) =>
      run([
        ...armedOnce,
        {
          type: 'observed',
          nowMs: startMs + 5_000,
          observation: observationOf(
            statusAnswer('executed', { txHash: created, ...named }),
            emptyAccount({ trades: [tradeOf(row)] }),
          ),
        },
      ])?.attempts[0]?.children.length
    // Somebody deleveraged the same position, and the indexer has that trade and not ours.
    expect(looked({ transactionHash: `0x${'ad'.repeat(32)}` }, { executionTxnHash: ended })).toBe(0)
    expect(looked({ transactionHash: ended }, { executionTxnHash: ended })).toBe(1)
    expect(looked({ transactionHash: ended }, {})).toBe(1)
  })
})
