/** Signed to Armed: the right to send, which a committed J3 and the guard's durable line give together. */
import type { StoredRecord } from '../../domain/records.ts'
import type { Signed } from '../verify/sign.ts'

declare const armedBrand: unique symbol

/** The right to send one digest once. */
export interface Armed {
  readonly [armedBrand]: true
  readonly signed: Signed
  /** Place of the J3 record in the journal. */
  readonly seq: number
  /** Host to which J3 sends it. */
  readonly host: string
}

/**
 * The right to send, from the durable J3 of exactly this signature, once the guard's line is durable too: both are written side by
 * side. Rejects with TypeError for any other record, and with GuardError when the line cannot be written.
 */
export async function armedBy(stored: StoredRecord, signed: Signed): Promise<Armed> {
  const { record } = stored
  if (record.kind !== 'attempt.armed' || record.armed.digest !== signed.verified.digest) {
    throw new TypeError('armedBy: the record is not the J3 of this signature')
  }
  await signed.recorded
  return { signed, seq: stored.seq, host: record.armed.host } as Armed
}
