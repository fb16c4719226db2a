/** Time from which a side may be without a stop, by the journal: the end of our last stop on it. Folded over records of intents. Pure. */

import { sideKeyOf } from '../domain/accountRecords/accountRecord.ts'
import { stopChildrenOf } from '../domain/accountRecords/stopChildren.ts'
import { type IntentState, lastAttempt } from '../domain/order/intent.ts'
import { hexKey } from '../protocol/address.ts'

/** As a snapshot keeps it. */
export interface StopEndsState {
  /** Side by key of a stop of ours that rests. */
  readonly resting: readonly (readonly [orderKey: string, side: string])[]
  /** Times when the newest stop of a side ended, Unix ms, by side. */
  readonly ended: readonly (readonly [side: string, atMs: number])[]
}

const ending: ReadonlySet<string> = new Set([
  'landed',
  'child.executed',
  'child.cancelled',
  'child.frozen',
  'child.reopened',
  'intent.closed',
])

/** The fold: resting stops of open intents, and one moment a side. */
export class StopEnds {
  readonly #resting: Map<string, string>
  readonly #ended: Map<string, number>

  constructor({ resting, ended }: StopEndsState) {
    this.#resting = new Map(resting)
    this.#ended = new Map(ended)
  }

  /** Takes in a record of an intent: its kind, and the intent with it. */
  fold(kind: string, after: IntentState): void {
    if (!ending.has(kind)) return
    const rests = new Set<string>()
    for (const { orderKey, phase, side } of stopChildrenOf(after)) {
      if (phase !== 'OPEN' || after.closing !== undefined) continue
      rests.add(hexKey(orderKey))
      this.#resting.set(hexKey(orderKey), sideKeyOf(side))
    }
    for (const { orderKey } of lastAttempt(after)?.children ?? []) {
      const key = hexKey(orderKey)
      const side = this.#resting.get(key)
      if (side === undefined || rests.has(key)) continue
      this.#resting.delete(key)
      this.#ended.set(side, after.updatedAtMs)
    }
  }

  /** Returns the time when the newest stop that rested on a side ended, Unix ms; undefined: none of ours ever did. */
  of(side: string): number | undefined {
    return this.#ended.get(side)
  }

  /** For a snapshot. */
  state(): StopEndsState {
    return { resting: [...this.#resting], ended: [...this.#ended] }
  }
}
