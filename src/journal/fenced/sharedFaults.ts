/** Faults of a journal on a server, for the operator. */
import { isoTime } from '../../base/clock.ts'
import { defined } from '../../base/defined.ts'
import { BaseError, reasonOf } from '../../base/errors.ts'
import type { JournalFaultError } from '../journal.ts'
import { journalFault } from '../journalFaults.ts'
import type { Tail } from '../sqlite/hashChain.ts'
import type { Head, Right } from './sharedServer.ts'

/** Makes the fault of a writer that lost the lease to another process. */
export function fencedFault(name: string, right: Right, head: Head): JournalFaultError {
  return journalFault(
    'JOURNAL_FENCED',
    name,
    'Another perpd has taken over this journal.',
    'perpd stops on purpose: nothing that needs a record is sent after this. Every open order is in the hands of the other one, and what this one armed before counts there as sent.',
    {
      facts: { epoch: right.epoch, newerEpoch: head.epoch, holder: nameOfHolder(head.holder) },
    },
  )
}

/** Makes the fault of an opening while another live process has the lease. */
export function heldFault(name: string, head: Head): JournalFaultError {
  return journalFault(
    'JOURNAL_LOCKED',
    name,
    'Another perpd writes this journal.',
    'This one changed nothing and stops: two daemons on one journal would trade twice. Stop the other one first, or start again: seconds after the other one died the journal is free.',
    {
      facts: {
        epoch: head.epoch,
        holder: nameOfHolder(head.holder),
        ...defined({ since: head.sinceMs === undefined ? undefined : isoTime(head.sinceMs) }),
      },
    },
  )
}

/** Makes the fault of a server that lost acknowledged records, which this process cannot restore. */
export function goneFault(name: string, tail: Tail, head: Head): JournalFaultError {
  return journalFault(
    'JOURNAL_ROLLED_BACK',
    name,
    'The server of the journal has lost records that were acknowledged: it was restored from an older copy, or a standby without them took over.',
    'perpd stops on purpose: a signed order may be open that the server does not know. Bring the newest server back. When there is none: perpd journal accept-loss --by NAME continues with the remaining records once the last lost signature has expired.',
    { facts: { lastRecordWritten: tail.seq, lastRecordFound: head.seq, epoch: head.epoch } },
  )
}

/** Makes the fault of a writer whose right was not confirmed for so long that another may have had it, on a server that was replaced meanwhile. */
export function replacedFault(name: string, right: Right, ageMs: number): JournalFaultError {
  return journalFault(
    'JOURNAL_SERVER_REPLACED',
    name,
    'The server of the journal was replaced while this perpd could not reach it: another one may have had the right meanwhile, and its records may be lost.',
    'perpd stops on purpose: it would sign once more what a lost record has signed. Start it again: it notes the doubt, closes what was not signed, and only reduces until no lost signature can land.',
    { facts: { epoch: right.epoch, ageMs: Math.round(ageMs) } },
  )
}

/** Makes the fault of a statement whose outcome stayed unknown for as long as perpd waits. */
export function unreachableFault(name: string, afterMs: number, cause: unknown): JournalFaultError {
  return journalFault(
    'JOURNAL_UNREACHABLE',
    name,
    'The server of the journal does not answer, or its answers are no proof.',
    'perpd stops on purpose: it never trades without its journal, and takes nothing for written that was not acknowledged. Nothing is sent after this. Look at the server and the network, then start perpd; it resumes every open order from the journal.',
    { facts: { afterMs, reason: causeOf(cause) }, cause },
  )
}

/** Returns what kept an outcome from being known, as a connection that was refused; its sentence says only that it is not known. */
function causeOf(error: unknown): string {
  const reason = error instanceof BaseError ? error.facts.reason : undefined
  return typeof reason === 'string' && reason !== '' ? reason : reasonOf(error)
}

/** Makes the fault of a lease whose last confirmation is too old for a signature. */
export function staleFault(name: string, ageMs: number): JournalFaultError {
  return journalFault(
    'JOURNAL_LEASE_STALE',
    name,
    'The right to this journal was not confirmed lately; another perpd may be about to take it.',
    'Nothing is signed until the server confirms it.',
    { facts: { ageMs: Math.round(ageMs) } },
  )
}

/** Returns host and process of a holder, without the unique part of its name. */
export function nameOfHolder(holder: string): string {
  return holder === '' ? 'nobody' : (holder.split(' ')[0] ?? '')
}
