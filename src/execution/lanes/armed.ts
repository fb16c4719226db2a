/** Signed to Armed: the right to send, which a committed J3 alone gives. */
import type { StoredRecord } from '../../domain/records.ts'
import type { Signed } from '../verify/sign.ts'

declare const armedBrand: unique symbol

/** The right to send one digest once. */
export interface Armed {
  readonly [armedBrand]: true
  readonly signed: Signed
  /** Place of the J3 record in the journal. */
  readonly seq: number
  /** Where J3 says that it goes. */
  readonly host: string
}

/** The right to send, from the durable J3 of exactly this signature. Throws TypeError for any other record. */
export function armedBy(stored: StoredRecord, signed: Signed): Armed {
  const { record } = stored
  if (record.kind !== 'attempt.armed' || record.armed.digest !== signed.verified.digest) {
    throw new TypeError('armedBy: the record is not the J3 of this signature')
  }
  return { signed, seq: stored.seq, host: record.armed.host } as Armed
}
