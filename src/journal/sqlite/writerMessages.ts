/** Messages to the thread that writes the journal, and its answers: one for each question, in order. */
import { defined } from '../../base/defined.ts'
import type { Facts } from '../../base/errors.ts'
import { JournalFaultError } from '../journal.ts'
import type { Tail } from './hashChain.ts'
import type { RecordRows } from './recordRows.ts'
import type { SnapshotToWrite } from './writeSnapshot.ts'

/** The state in which opening left the file: the thread continues from it. Its first answer says that it could. */
export interface WriterStart {
  readonly path: string
  readonly headPath: string
  readonly maxBytes: number | undefined
  readonly ballast: string
  readonly tail: Tail
  readonly intents: number
  readonly leaseEpoch: number
}

/** A call of a `FileWriter`. */
export type WriterQuestion =
  | { readonly call: 'append'; readonly records: readonly RecordRows[] }
  | { readonly call: 'keep'; readonly snapshot: SnapshotToWrite }
  | { readonly call: 'checkpoint' }
  | { readonly call: 'close' }

/** The result. */
export interface WriterAnswer {
  /** Number of the newest record, of an `append`. */
  readonly seq?: number
  readonly fault?: SentFault
  /** The ballast was asked for some of its bytes. */
  readonly tookRoom: boolean
}

/** A fault between two threads, which keep no class of an error and no fields. */
export interface SentFault {
  readonly code: string
  readonly sentence: string
  readonly facts: Facts
  readonly details: string | undefined
  readonly cause: unknown
}

/** Makes a fault ready to be sent. A cause arrives with its message and its stack. */
export function sentFault(fault: JournalFaultError): SentFault {
  const { code, shortMessage, facts, details, cause } = fault
  return { code, sentence: shortMessage, facts, details, cause }
}

/** Makes the fault again that was sent. */
export function receivedFault({ code, sentence, facts, details, cause }: SentFault): JournalFaultError {
  return new JournalFaultError(sentence, {
    code,
    facts,
    ...defined({ details }),
    cause,
  })
}
