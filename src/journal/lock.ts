/**
 * One writer per journal. The right is an exclusive sqlite lock on a tiny file beside the journal, which the operating
 * system takes back when the process dies, however it dies; so a reused process id or a stale file can never keep
 * anybody out. A second file says who holds it, for the message alone. Where the lock does not hold (it was removed, or two
 * machines share the volume) the lease in the journal does: see lease.ts.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { DatabaseSync } from 'node:sqlite'
import type { JournalFaultError } from './journal.ts'
import { isBusy, journalFault, openFault } from './journalFaults.ts'
import { createPrivateFile } from './journalPath.ts'

/** Holder of a journal; written next to it. */
interface Owner {
  readonly pid: number
  readonly startedAt: string
  readonly hostname: string
  readonly bootId: string
  readonly holder: string
}

/** The right to write one journal. */
export interface WriterLock {
  /** Gives the right back; safe to call twice. */
  release(): void
}

/**
 * Takes the right to write the journal at `path`.
 *
 * @throws JournalFaultError JOURNAL_LOCKED when another process (or this one) has it; the message names the holder.
 */
export function acquireWriterLock(path: string, holder: string, nowMs: number): WriterLock {
  const lockPath = `${path}.lock`
  const ownerPath = `${path}.owner.json`
  const owner: Owner = {
    pid: process.pid,
    startedAt: new Date(nowMs).toISOString(),
    hostname: hostname(),
    bootId: bootId(),
    holder,
  }
  const ownerText = `${JSON.stringify(owner)}\n`
  let db: DatabaseSync | undefined
  try {
    createPrivateFile(lockPath)
    db = new DatabaseSync(lockPath, { timeout: 0 })
    db.exec('PRAGMA journal_mode = MEMORY')
    db.exec('BEGIN EXCLUSIVE')
    // The file there belongs to a dead holder, or is a link that somebody planted: it is never written through.
    rmSync(ownerPath, { force: true })
    writeFileSync(ownerPath, ownerText, { mode: 0o600, flag: 'wx' })
  } catch (cause) {
    if (db?.isOpen) db.close()
    throw isBusy(cause) ? lockedFault(path, ownerPath, cause) : openFault(path, cause)
  }
  const held = db
  return {
    release: () => {
      if (!held.isOpen) return
      removeOwn(ownerPath, ownerText)
      held.close()
    },
  }
}

/** Removes the holder's name, unless another holder has written its own since: the lock did not keep it out. */
function removeOwn(ownerPath: string, ownerText: string): void {
  try {
    if (readFileSync(ownerPath, 'utf8') === ownerText) rmSync(ownerPath)
  } catch {
    // Gone already, or not ours to read: the name is for a message alone.
  }
}

function lockedFault(path: string, ownerPath: string, cause: unknown): JournalFaultError {
  const owner = readOwner(ownerPath)
  return journalFault(
    'JOURNAL_LOCKED',
    path,
    'Another perpd uses this journal.',
    'This one changed nothing and stops: two daemons on one journal would trade twice. Stop the other one first, or set another journal for this one.',
    {
      facts: owner
        ? { pid: owner.pid, startedAt: owner.startedAt, hostname: owner.hostname, holder: owner.holder }
        : { pid: 'not known yet' },
      cause,
    },
  )
}

function readOwner(ownerPath: string): Owner | undefined {
  try {
    const owner = JSON.parse(readFileSync(ownerPath, 'utf8')) as Owner
    return typeof owner.pid === 'number' && mayLive(owner) ? owner : undefined
  } catch {
    // The holder is between taking the lock and writing its name, or leaving.
    return undefined
  }
}

/** Tells whether the named process may be the holder: one that died on this machine left its name behind. */
function mayLive(owner: Owner): boolean {
  if (owner.hostname !== hostname()) return true
  if (owner.bootId !== bootId()) return false
  try {
    process.kill(owner.pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  } catch {
    return 'unknown'
  }
}
