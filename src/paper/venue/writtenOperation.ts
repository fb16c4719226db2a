/**
 * Operations as log and state file have them: the batch of a prepared request is in the request's record already, and would be a quarter
 * of both.
 */
import { defined } from '../../base/defined.ts'
import type { Operation, SignedBatch } from '../state/venueRecords.ts'
import { type Peer, recordOf } from './peer.ts'

type OfRecord = 'batch' | 'relayParams' | 'subaccount'

/** An operation that is written; absent are the fields that the record of its request has. */
export type WrittenOperation = Omit<Operation, OfRecord> & {
  readonly [Name in OfRecord]?: SignedBatch[Name] | undefined
}

/** Copies an operation for log or state file, whole where no peer has its record. */
export function writtenOperation(operation: Operation, peers: readonly Peer[]): WrittenOperation {
  const { requestId } = operation
  if (requestId === null || recordOf(peers, requestId) === undefined) return { ...operation }
  return { ...operation, batch: undefined, relayParams: undefined, subaccount: undefined }
}

/** The operation of what was written. Throws SyntaxError where neither it nor a record has the batch. */
export function readOperation(written: WrittenOperation, peers: readonly Peer[]): Operation {
  const record = written.requestId === null ? undefined : recordOf(peers, written.requestId)
  const { batch = record?.batch, relayParams = record?.relayParams, subaccount, ...rest } = written
  if (batch === undefined || relayParams === undefined) {
    throw new SyntaxError(
      `the operation ${written.taskId} has no batch, and no peer has a record of its request`,
    )
  }
  const session = written.batch === undefined ? record?.subaccount : subaccount
  return { ...rest, batch, relayParams, ...defined({ subaccount: session }) }
}
