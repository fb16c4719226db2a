/**
 * A kind of the user's own as the daemon sees it: it runs in a separate thread, and receives questions as messages. Whatever it does there (throws,
 * hangs, ends the process, fills the memory) is a fault of this one instance.
 */

import { BaseError } from '../../base/errors.ts'
import type { OwnPosition } from '../../books/ownPositions.ts'
import type { OwnEvent } from '../../domain/memory/ownEvent.ts'
import type { GivenSignal } from '../../domain/memory/tradeSignal.ts'
import type { Snapshot } from '../../domain/snapshot.ts'
import type { SubaccountReport } from '../../domain/subaccountReport.ts'
import type { OwnTask } from '../../domain/taskStates/ownTask.ts'
import type { Hex } from '../../protocol/address.ts'
import type { GivenMemory } from '../kindMemory.ts'
import type { OpenIntent, RestingOrder } from '../resting.ts'
import type { Needs, StatusLine, StrategyInstance } from '../strategy.ts'
import type { SchemaIssue } from './schemaProblems.ts'

/** Reason of the end of a kind's thread: its time was over, its memory, it left by itself, or an uncaught error. */
export type ThreadEnd = 'timeout' | 'memory' | 'exit' | 'crash'

/** A kind of the user's own did not answer, or not with decisions. The short message begins with file and line if known. */
export class KindFault extends BaseError {
  /** Absent while its thread runs. */
  readonly ended: ThreadEnd | undefined

  constructor(reason: string, options: { readonly place?: string | undefined; readonly ended?: ThreadEnd }) {
    super(options.place === undefined ? reason : `${options.place}: ${reason}`, {
      code: 'STRATEGY_KIND_FAILED',
      facts: { place: options.place, ended: options.ended },
      details:
        'This turn gives no decision. Other strategies are not affected; it runs again at its next tick.',
    })
    this.ended = options.ended
  }
}

/** Part of a view that crosses to the thread; settings and instance are there already. */
export interface Scene {
  readonly snapshot: Snapshot
  readonly openIntents: readonly OpenIntent[]
  /** Positions of the instance by its own book. */
  readonly own: readonly OwnPosition[]
  readonly restingOrders: readonly RestingOrder[]
  /** None when absent. */
  readonly tasks?: readonly OwnTask[]
  /** Absent when the account's own key signs. */
  readonly approval?: SubaccountReport
  /** Present only for a kind that tidies. */
  readonly strayOrders?: readonly Hex[]
  /** Present only for a kind with a memory. */
  readonly events?: readonly OwnEvent[]
  readonly eventsMissed?: number
  /** Present only for a kind that takes signals. */
  readonly signals?: readonly GivenSignal[]
  /** Saved memory; absent before the first turn. */
  readonly memory?: GivenMemory
}

/** Result of a turn. */
export interface KindRun {
  /** Whatever `decide` returned; of a kind with a memory a `CheckedTurn`. The decisions are not looked at yet. */
  readonly returned: unknown
  /** The line on what it waits for; absent: it says none. */
  readonly status?: StatusLine
  /** Failure in the thread since the previous turn, outside of `decide`. */
  readonly crash?: KindFault
  /** Size of the handed-over view, bytes. */
  readonly viewBytes: number
  /**
   * Processor time that `decide` took in its thread, ms: other work of the machine does not count. Absent for a thread's first turns, in which its
   * code is compiled.
   */
  readonly spentMs?: number
}

/** A kind in its own thread. One belongs to one instance. */
export interface HostedKind {
  /** The kind's file as people read it: from the working directory when it is below it. */
  readonly path: string
  /** SHA-256 of the kind's file when it was loaded, hexadecimal: tells a file that was edited since. */
  readonly sourceHash: string
  /** Files of the user's that its thread imported when it was loaded: the kind's own, and what that one imports. */
  readonly modules: readonly string[]
  readonly kind: string
  readonly description: string
  readonly opensPositions: boolean
  /** True if the kind has a memory. */
  readonly remembers: boolean
  /** True if external signals may be sent to it. */
  readonly takesSignals: boolean
  /** Checks the `params` of the file; with none wrong they are the thread's from now on. Rejects with KindFault. */
  takeParams(raw: unknown): Promise<readonly SchemaIssue[]>
  /** Hands the instance to the thread, and returns the data to read for it. Rejects with KindFault. */
  takeInstance(instance: StrategyInstance): Promise<Needs>
  /** One turn. Rejects with KindFault, and MemoryUnfitError for a memory that the kind cannot take; a thread that ended is started anew for the next turn. */
  decide(scene: Scene): Promise<KindRun>
  /** `strategies/mine.ts:14`: where a field is written when that is one place, else `decide, which begins at strategies/mine.ts:7`. */
  placeOf(field?: string): string
  /** Receives the lines that the kind prints; one listener. */
  onSaid(listener: (text: string) => void): void
  /** Ends the thread. */
  close(): Promise<void>
}
