/**
 * What happened since the state file was last written, one line each, appended before the answer leaves: prepared requests,
 * accepted operations, transactions sent, and withdrawals prepared and submitted. A killed process loses neither; everything else follows from them and from the clock.
 */
import { appendFileSync, existsSync, readFileSync, rmSync } from 'node:fs'
import type { SubmitEntry } from '../state/submitRecord.ts'
import type { Operation, PooledTransaction, Withdrawal } from '../state/venueRecords.ts'
import { schedule, type VenueState } from '../state/venueState.ts'
import { nextNonceOf, putInPool } from '../transactions/transactionPool.ts'
import { keepRecord, type OrderChainRecord, type Peer } from './peer.ts'

/** One line of the log. */
export type StateLogLine =
  | {
      readonly kind: 'prepared'
      readonly host: string
      readonly record: OrderChainRecord
      readonly request: number
      readonly nonce: number
    }
  | {
      readonly kind: 'accepted'
      readonly operation: Operation
      readonly entry: SubmitEntry
      readonly task: number
    }
  /** A transaction that an account sent. */
  | { readonly kind: 'sent'; readonly transaction: PooledTransaction; readonly sent: number }
  | {
      readonly kind: 'withdrawal'
      /** Key in the venue: host and request id. */
      readonly key: string
      readonly withdrawal: Withdrawal
      readonly request: number
      readonly nonce: number
    }
  | {
      readonly kind: 'withdrawn'
      readonly key: string
      readonly withdrawal: Withdrawal
      readonly task: number
    }

/** The log beside a state file. */
export interface StateLog {
  /** Appends a line; it survives the process, though not a power cut. Throws what the file system throws. */
  append(line: StateLogLine): void
  /** Forgets all lines; the state file has them. */
  clear(): void
}

/** The log of a state file. */
export function createStateLog(statePath: string): StateLog {
  const path = logPathOf(statePath)
  return {
    append: (line) => appendFileSync(path, `${encodeState(line)}\n`),
    clear: () => rmSync(path, { force: true }),
  }
}

function logPathOf(statePath: string): string {
  return `${statePath}.log`
}

/** JSON with bigints as `{"$bigint":"..."}`. */
export function encodeState(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'bigint' ? { $bigint: inner.toString() } : inner,
  )
}

/** Reads what `encodeState` wrote. Throws SyntaxError. */
export function decodeState(text: string): unknown {
  return JSON.parse(text, (_key, value: unknown) =>
    typeof value === 'object' && value !== null && '$bigint' in value ? BigInt(String(value.$bigint)) : value,
  )
}

/** Lines of the log; a last line that a kill cut short is left out: its answer never left. */
export function readStateLog(statePath: string): StateLogLine[] {
  const path = logPathOf(statePath)
  if (!existsSync(path)) return []
  const lines = readFileSync(path, 'utf8').split('\n')
  lines.pop()
  return lines.map((line) => decodeState(line) as StateLogLine)
}

/** A withdrawal from a line: JSON leaves an absent task out. */
function whole(withdrawal: Withdrawal): Withdrawal {
  return { ...withdrawal, taskId: withdrawal.taskId }
}

/** Does again what the lines say, leaving out what the state already has. */
export function replayStateLog(
  lines: readonly StateLogLine[],
  venue: { readonly venueState: VenueState; readonly peers: readonly Peer[]; readonly record: SubmitEntry[] },
): void {
  const { venueState, peers } = venue
  const { counters } = venueState
  for (const line of lines) {
    if (line.kind === 'prepared') {
      counters.request = Math.max(counters.request, line.request)
      counters.nonce = Math.max(counters.nonce, line.nonce)
      const peer = peers.find((one) => one.host === line.host)
      if (peer !== undefined && !peer.byRequestId.has(line.record.requestId)) {
        keepRecord(peer, { ...line.record, taskId: undefined })
      }
      continue
    }
    if (line.kind === 'sent') {
      const { nonce, signed } = line.transaction
      counters.sent = Math.max(counters.sent, line.sent)
      if (nonce >= nextNonceOf(venueState, signed.from)) putInPool(venueState, line.transaction)
      continue
    }
    if (line.kind === 'withdrawal') {
      counters.request = Math.max(counters.request, line.request)
      counters.nonce = Math.max(counters.nonce, line.nonce)
      if (!venueState.withdrawals.has(line.key)) venueState.withdrawals.set(line.key, whole(line.withdrawal))
      continue
    }
    counters.task = Math.max(counters.task, line.task)
    if (line.kind === 'withdrawn') {
      // A state file of after the line has it submitted, and perhaps landed.
      if (venueState.withdrawals.get(line.key)?.taskId !== undefined) continue
      venueState.withdrawals.set(line.key, whole(line.withdrawal))
      const atMs = line.withdrawal.submittedAtMs + venueState.settings.relayDelayMs
      schedule(venueState, { atMs, kind: 'withdraw', key: line.key })
      continue
    }
    const { operation, entry } = line
    if (venueState.operations.has(operation.taskId)) continue
    venueState.operations.set(operation.taskId, operation)
    schedule(venueState, { atMs: operation.landsAtMs, kind: 'land', taskId: operation.taskId })
    venue.record.push(entry)
    for (const peer of peers) {
      const record = operation.requestId === null ? undefined : peer.byRequestId.get(operation.requestId)
      if (record !== undefined) record.taskId = operation.taskId
    }
  }
}
