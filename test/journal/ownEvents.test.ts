/** What the ledger keeps for strategies with a memory: each event of their own orders once, until the memory that knew it is written. */
import { expect, test } from 'vitest'
import { ACCOUNT_ID, type AccountRecord } from '../../src/domain/accountRecords/accountRecord.ts'
import { RECORD_VERSION } from '../../src/domain/accountRecords/recordVersion.ts'
import type { Evidence } from '../../src/domain/order/intent.ts'
import type { AnyRecord, ChildMoved } from '../../src/domain/records.ts'
import { createLedger, type Ledger } from '../../src/journal/journalLedger.ts'
import { decodeSnapshot } from '../../src/journal/ledgerState.ts'
import { storyOf, wholeStory } from './story.ts'

/** A memory of the stories' strategy that knows all up to a record. */
function remembered(throughSeq: number, memory: unknown = {}): AccountRecord {
  const stamp = { v: RECORD_VERSION, atMs: 1, intentId: ACCOUNT_ID } as const
  const kept = { strategyKind: 'k', version: 1, memory, tickMs: 0, throughSeq, denied: [] }
  return { ...stamp, kind: 'strategy.remembered', strategy: 'trend', ...kept }
}

function foldAll(ledger: Ledger, records: readonly AnyRecord[]): void {
  for (const record of records) ledger.fold(record)
}

const told = (ledger: Ledger) => ledger.ownEvents('trend').events.map(({ seq, kind }) => `${seq} ${kind}`)

const latest: Evidence = { level: 'chain-latest', atMs: 6, statement: 'seen' }
const toLanding = wholeStory(1).slice(0, 5)
const executed = storyOf(1).childExecuted() as ChildMoved
const closed = storyOf(1).closed()

test('an instance that never remembered anything is told nothing', () => {
  const ledger = createLedger()
  foldAll(ledger, wholeStory(1))
  expect(ledger.ownEvents('trend')).toEqual({ events: [], missed: 0 })
})

test('fills and ends wait until the memory that was given them is written; what came meanwhile waits on', () => {
  const ledger = createLedger()
  foldAll(ledger, [remembered(0), ...toLanding, executed])
  expect(told(ledger)).toEqual(['7 filled'])
  expect(ledger.ownEvents('trend').events[0]).toMatchObject({
    intentId: 'intent-1',
    decisionKey: 'key-1',
    role: 'main',
    adds: true,
    executionPrice: 3_001n * 10n ** 30n,
    isProvisional: false,
  })
  // The end comes while the strategy decides on the fill.
  foldAll(ledger, [closed, remembered(7)])
  expect(told(ledger)).toEqual(['8 closed'])
  foldAll(ledger, [remembered(8)])
  expect(told(ledger)).toEqual([])
})

test('a fill that is written again when it is final is told once; one that the chain took back is told as that', () => {
  const ledger = createLedger()
  foldAll(ledger, [remembered(0), ...toLanding, { ...executed, evidence: latest }, executed, closed])
  expect(told(ledger)).toEqual(['7 filled', '9 closed'])
  const other = createLedger()
  const { settlement: _, ...child } = executed
  const reopened = { ...child, kind: 'child.reopened', evidence: latest } as const
  const elsewhere = { ...executed, settlement: { executionPrice: 2n, sizeDeltaUsd: 5n } }
  foldAll(other, [
    remembered(0),
    ...toLanding,
    { ...executed, evidence: latest },
    reopened,
    { ...elsewhere, evidence: latest },
    { ...elsewhere, settlement: { executionPrice: 3n, sizeDeltaUsd: 5n } },
  ])
  expect(told(other)).toEqual(['7 filled', '8 unfilled', '9 filled', '10 unfilled', '10 filled'])
})

test('a snapshot carries what waits, and a memory that is forgotten takes its events with it', () => {
  const ledger = createLedger()
  foldAll(ledger, [remembered(0, { rungs: 3n }), ...toLanding, executed])
  const { head, part, seq } = ledger.snapshot()
  const state = decodeSnapshot({ seq, head, parts: [part] })
  const again = createLedger(state)
  expect(again.ownEvents('trend')).toEqual(ledger.ownEvents('trend'))
  expect(again.account().memories).toEqual(ledger.account().memories)
  const stamp = { v: RECORD_VERSION, atMs: 2, intentId: ACCOUNT_ID } as const
  again.fold({ ...stamp, kind: 'strategy.forgotten', strategy: 'trend', by: 'ann' })
  again.fold(closed)
  expect(again.ownEvents('trend')).toEqual({ events: [], missed: 0 })
  expect(again.account().memories?.has('trend')).toBe(false)
})

test('of more than two thousand events the oldest are dropped, and counted', () => {
  const ledger = createLedger()
  foldAll(ledger, [remembered(0)])
  for (let n = 1; n <= 1_005; n += 1) foldAll(ledger, wholeStory(n))
  const { events, missed } = ledger.ownEvents('trend')
  expect([events.length, missed]).toEqual([2_000, 10])
  expect(events.at(-1)).toMatchObject({ kind: 'closed', intentId: storyOf(1_005).intentId })
})
