/**
 * Log of the events since the state file was last written, one line each, appended before the response leaves. It holds prepared requests, accepted
 * operations, transactions sent, and withdrawals prepared and submitted. A killed process loses none of them; everything else follows from them and
 * from the clock.
 */
import { closeSync, existsSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import type { SubmitEntry } from '../state/submitRecord.ts'
import type { PooledTransaction, Withdrawal } from '../state/venueRecords.ts'
import { schedule, type VenueState } from '../state/venueState.ts'
import { nextNonceOf, putInPool } from '../transactions/transactionPool.ts'
import { keepRecord, type OrderChainRecord, type Peer, recordOf } from './peer.ts'
import { readOperation, type WrittenOperation } from './writtenOperation.ts'

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
      readonly operation: WrittenOperation
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

/** The log beside a state file, in parts: each begins where a state was taken, and that state's file says which. */
export interface StateLog {
  /** Appends a line; it survives the process, though not a power cut. Throws what the file system throws. */
  append(line: StateLogLine): void
  /** Begins another part and returns its number. */
  begin(): number
  /** Forgets the parts before this one; a state file has them. */
  forgetBefore(part: number): void
  /** Characters of the part that lines go to. */
  length(): number
}

/** The log of a state file, which continues after the parts that lie there. */
export function createStateLog(statePath: string): StateLog {
  const parts = partsOf(statePath)
  let current = parts.at(-1) ?? 0
  let length = 0
  let file: number | undefined
  return {
    append: (line) => {
      file ??= openSync(partPathOf(statePath, current), 'a', 0o600)
      const text = `${encodeState(line)}\n`
      writeFileSync(file, text)
      length += text.length
    },
    begin: () => {
      if (file !== undefined) closeSync(file)
      file = undefined
      current += 1
      length = 0
      parts.push(current)
      return current
    },
    forgetBefore: (part) => {
      while ((parts[0] ?? part) < part) rmSync(partPathOf(statePath, parts.shift() ?? 0), { force: true })
    },
    length: () => length,
  }
}

function partPathOf(statePath: string, part: number): string {
  return part === 0 ? `${statePath}.log` : `${statePath}.log.${part}`
}

/** Numbers of the parts that lie beside a state file, ascending; the one without a number, 0, is of files of before. */
function partsOf(statePath: string): number[] {
  const folder = dirname(statePath)
  if (!existsSync(folder)) return []
  const name = `${basename(statePath)}.log`
  return readdirSync(folder)
    .flatMap((one) => {
      if (one === name) return [0]
      const digits = one.startsWith(`${name}.`) ? one.slice(name.length + 1) : ''
      return /^[1-9]\d{0,14}$/.test(digits) ? [Number(digits)] : []
    })
    .sort((one, other) => one - other)
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

/** Lines of the log from a part on; a last line that a kill cut short is left out: its answer never left. */
export function readStateLog(statePath: string, from: number): StateLogLine[] {
  return partsOf(statePath)
    .filter((part) => part >= from)
    .flatMap((part) => {
      const lines = readFileSync(partPathOf(statePath, part), 'utf8').split('\n')
      lines.pop()
      return lines.map((line) => decodeState(line) as StateLogLine)
    })
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
    venue.record.push(entry)
    const { requestId, taskId } = operation
    const record = requestId === null ? undefined : recordOf(peers, requestId)
    if (record !== undefined) record.taskId = taskId
    venueState.operations.set(taskId, readOperation(operation, peers))
    schedule(venueState, { atMs: operation.landsAtMs, kind: 'land', taskId })
  }
}
