/** Records as the rows that a store writes of them: plain values, which can be handed to another thread. */
import { defined } from '../../base/defined.ts'
import { endingOf } from '../../domain/accountRecords/spend.ts'
import type { IntentState } from '../../domain/order/intent.ts'
import { type AnyRecord, isAccountRecord } from '../../domain/records.ts'
import type { StoreEntry } from '../journalStore.ts'

/** The ending of a closed intent, as its row. */
export type EndingRow = readonly [
  intentId: string,
  closedAtMs: number,
  strategy: string,
  kind: string,
  marketToken: string,
  direction: string,
  cause: string,
  executionFee: string,
  relayFee: string,
]

/** A record and what follows from it in the other tables. */
export interface RecordRows {
  readonly record: readonly [
    atMs: number,
    intentId: string,
    kind: string,
    attempt: number | null,
    body: string,
  ]
  /** Set for an intent that the record accepts. */
  readonly intent?: readonly [
    intentId: string,
    strategy: string,
    decisionKey: string,
    acceptedAtMs: number,
    reservationUsd: string,
  ]
  /** The intent that the record closes. */
  readonly closes?: string
  readonly ending?: EndingRow
}

/** Makes the rows of a record that is to be written. */
export function rowsOf({ record, body, state }: StoreEntry): RecordRows {
  const rows: RecordRows = {
    record: [record.atMs, record.intentId, record.kind, attemptOf(record), body],
  }
  if (isAccountRecord(record)) return rows
  if (record.kind === 'intent.accepted') {
    const { intentId, strategy, decisionKey, acceptedAtMs, reservationUsd } = record.intent
    return { ...rows, intent: [intentId, strategy, decisionKey, acceptedAtMs, reservationUsd.toString()] }
  }
  if (record.kind !== 'intent.closed') return rows
  const ending = state === undefined ? undefined : endingRowOf(state)
  return { ...rows, closes: record.intentId, ...defined({ ending }) }
}

function attemptOf(record: AnyRecord): number | null {
  return 'attempt' in record ? record.attempt : null
}

/** Makes the row of an intent's ending; undefined while it is open. */
export function endingRowOf(state: IntentState): EndingRow | undefined {
  const ending = endingOf(state)
  if (ending === undefined) return undefined
  return [
    state.intent.intentId,
    ending.closedAtMs,
    ending.strategy,
    ending.kind,
    ending.marketToken,
    ending.direction,
    ending.cause,
    ending.executionFee.toString(),
    ending.relayFee.toString(),
  ]
}
