/** What the journal of a world is kept on: lines of a modelled disk, or real files. Either outlives the daemon's processes. */

import type { Timeline } from '../../src/backtest/lab/timeline.ts'
import type { AccountRecord } from '../../src/domain/accountRecords/accountRecord.ts'
import type { IntentState } from '../../src/domain/order/intent.ts'
import type { JournalRecord, StoredRecord } from '../../src/domain/records.ts'
import type { Journal } from '../../src/journal/journal.ts'
import type { SigningGuard } from '../../src/keys/signingGuard.ts'
import type { Hex } from '../../src/protocol/address.ts'
import type { Random } from './random.ts'

/** What the journal tells the world, so that it can end the process at each boundary and check each record. */
export interface JournalHooks {
  /** Called before a record is written, before it is synced and after it; true when the process ended there. */
  boundary(name: string): boolean
  onDurable(record: JournalRecord, state: IntentState, body: string): void
  /** A record of the account is durable. */
  onAccount(record: AccountRecord, body: string): void
  /** Whether the process is there, running or frozen. */
  isAlive(): boolean
  /** Wall clock of the process, Unix ms. */
  wallMs(): number
}

/** The same for a server: a record is durable when it is there, and the process hears of it later, or never. */
export interface ServerHooks extends JournalHooks {
  /** Virtual time as the process has it: nothing comes while it is frozen. */
  readonly timeline: Timeline
  onCommitted(record: JournalRecord, state: IntentState, body: string): void
  onAccountCommitted(body: string): void
}

/** The journal of one process. */
export interface DiskJournal extends Journal {
  /** What `append` does, at once where it can be. Undefined when the process ended on the way, or it is only queued. */
  commit(record: JournalRecord): StoredRecord | undefined
  /** The guard against two signatures beside it, where there is one. */
  readonly guard?: SigningGuard
}

/** The place where journals are kept. */
export interface Storage {
  /**
   * Opens the journal for a process; undefined when the process ended meanwhile.
   *
   * @throws JournalFaultError as a real journal does.
   */
  open(epoch: number, hooks: JournalHooks): DiskJournal | undefined
  /** Opens it in the place of `open` where that takes time, and its process ends by itself with one of these codes, and is started again. */
  readonly server?: {
    open(epoch: number, hooks: ServerHooks): Promise<DiskJournal | undefined>
    readonly endsBy: ReadonlySet<string>
    /** The process that took the lease of an epoch: one that renews a lease it was late with has a new epoch. */
    writerOf(leaseEpoch: number): number | undefined
    /** Records of an intent as the server has them; a process may have heard of fewer. */
    records(intentId: string): readonly JournalRecord[]
  }
  /** The process ended where it stands; when the power failed, what was not synced may be lost or torn. Says what was kept. */
  crash(random: Random, losesTail: boolean): string
  setFull(isFull: boolean): void
  /** The process stopped in order: its journal is closed. */
  stop?(): Promise<void>
  /** A bit of what is kept flips while nothing runs; the operator keeps a good copy. */
  flipBit(random: Random): void
  /** Keeps a backup of what is there now. */
  backUp(): void
  readonly hasBackup: boolean
  /** Puts the backup in place of the newest copy, which the operator keeps. */
  putBackupBack(): void
  dropBackup(): void
  /** The operator brings the newest copy back; false when none was kept. */
  restoreNewest(): boolean
  /** Says whether the armed record of a digest, and its line of the guard where there is one, would survive the power. */
  isOnDisk(digest: Hex): boolean
  /** Whether the text stands anywhere in what was written. */
  contains(text: string): boolean
  /** A second process may open it while a first one has it: then the first is fenced off. */
  readonly takesTwo?: true
  /** Lets everything run that waits for real files; absent where nothing does. */
  readonly settle?: () => Promise<void>
  /** The world is over. */
  discard(): void
}

/** Makes the place of a world. */
export type CreateStorage = (world: {
  readonly seed: number
  readonly timeline: Timeline
  /** No fault comes any more. */
  readonly isQuiet: () => boolean
}) => Storage
