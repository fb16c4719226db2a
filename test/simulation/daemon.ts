/** What a world knows of a daemon, and what a daemon is handed: the same for both tiers. */

import type { Timeline } from '../../src/backtest/lab/timeline.ts'
import type { AccountRecord } from '../../src/domain/accountRecords/accountRecord.ts'
import type { EvidenceRules } from '../../src/domain/machine/observation.ts'
import type { Intent, IntentState } from '../../src/domain/order/intent.ts'
import type { JournalRecord } from '../../src/domain/records.ts'
import type { Address } from '../../src/protocol/address.ts'
import type { ModelChain } from './chainModel.ts'
import type { Endpoint } from './endpoints.ts'
import type { ExitStory } from './exitStory.ts'
import type { Faults } from './faults.ts'
import type { Network } from './network.ts'
import type { PriceWalk } from './priceWalk.ts'
import type { Random } from './random.ts'
import type { CreateStorage, DiskJournal } from './storage.ts'
import type { Transcript } from './transcript.ts'
import type { Truth } from './truth.ts'
import type { VenueModel } from './venueModel.ts'

/** One run of the daemon's process. */
export interface Process {
  readonly epoch: number
  isAlive: boolean
}

/** What a process of the daemon is made of. */
export interface DaemonParts {
  readonly process: Process
  /** The account that is traded. */
  readonly account: Address
  /** The key that signs for it, when it is not its own. */
  readonly delegate?: Address
  readonly timeline: Timeline
  /** The same, but for that it goes on whatever becomes of the process. */
  readonly worldTimeline: Timeline
  readonly random: Random
  /** Chance of what an operator does besides: one more draw of it moves nothing of what was there before. */
  readonly later: Random
  /** Chance of a strategy with a memory. */
  readonly climbing: Random
  /** Whether a strategy works by tasks; `calm`: with few faults, and what they ask for is filled. */
  readonly tasks: 'none' | 'calm' | 'hostile'
  /** Chance of what it begins. */
  readonly tasking: Random
  /** Chance of strategy files: their exits, what holds them back, and how they change. */
  readonly filing: Random
  /** Few faults, and prices and strategies that move much: more is filled, and more follows from it. */
  readonly isLively: boolean
  /** All strategies of a lively world are on one side, and their files change often. */
  readonly isCrowded: boolean
  /** Prices that orders wait for; absent where nobody tells any. */
  readonly prices?: PriceWalk
  /** A fixed story in the place of what chance lays out. */
  readonly story?: ExitStory
  readonly faults: Faults
  readonly network: Network
  readonly venue: VenueModel
  readonly chain: ModelChain
  readonly endpoints: readonly Endpoint[]
  readonly truth: Truth
  readonly journal: DiskJournal
  readonly rules: EvidenceRules
  readonly pollMaxMs: number
  /** Length of the deadlines that hosts sign, seconds. */
  readonly deadlineSeconds: () => number
  /** How far the process's wall clock is off, ms. */
  readonly wallOffsetMs: () => number
  /** A place where the process may end; true when it did. */
  readonly boundary: (name: string) => boolean
  /** The process cannot go on. */
  readonly fatal: (error: unknown) => void
  readonly note: (text: string) => void
  /** Told of what leaves the daemon; absent where nobody reads it. */
  readonly transcript?: Transcript
}

/** A daemon, of any tier. */
export interface Daemon {
  /** Takes up what the journal left open. */
  start(): void
  /** Offers an intent; `done` is told whether it was taken now. Never called when the process ends before. */
  accept(intent: Intent, done: (isAccepted: boolean) => void): void
  /** Open intents as the daemon believes them. */
  states(): readonly IntentState[]
  /** Stops in order; `done` when the journal may be closed. */
  stop(done: () => void): void
  /** An operator's word on an intent. */
  resolve(intentId: string, as: 'dead' | 'executed' | 'cancelled'): void
  /** The same through the running daemon; absent where operators are its own. */
  command?(intentId: string, as: 'dead' | 'executed' | 'cancelled'): void
  /** Whether something of it besides orders is yet to end by itself; absent: nothing ever is. */
  waits?(): boolean
  /** Timers that still run. */
  readonly timers: number
  /** Told of every durable record of this process. */
  onDurable?(record: JournalRecord | AccountRecord, state: IntentState | undefined): void
  /** What must hold besides when all is over. */
  finish?(): void
}

/** What makes a daemon of a tier. */
export interface Tier {
  readonly name: 'core' | 'shell' | 'files' | 'engine' | 'shared' | 'shared-engine'
  /** Its strategies decide by themselves: the world offers it nothing. */
  readonly decides?: true
  create(parts: DaemonParts): Daemon
  /** Lets everything run that waits for nothing but its turn; absent where nothing does. */
  readonly drain?: () => Promise<void>
  /** What its journal is kept on; absent: the modelled disk. */
  readonly storage?: CreateStorage
}
