/** Of one side of the account: its parts as they are for good, and the moves that the chain may still take back, in their order. */
import type { PositionSide } from '../account/accountRecord.ts'
import type { Move } from './sideMove.ts'
import { applyMove, type Posting, type SideParts } from './sideParts.ts'

/** A move that may be taken back, and when it was written down. */
export interface Waiting {
  readonly move: Move
  readonly foldedMs: number
}

/** What books keep of a side. */
export interface SideLog {
  readonly side: PositionSide
  /** `sideKeyOf` the side. */
  readonly key: string
  settled: SideParts
  pending: readonly Waiting[]
  now: SideParts
  /** Of the moves that wait. */
  postings: readonly Posting[]
}

/** Reckons what is now from what is for good and what waits. */
export function refold(log: SideLog): void {
  log.now = log.settled
  log.postings = []
  for (const { move } of log.pending) {
    const { after, postings } = applyMove(log.now, log.side.direction, move)
    log.now = after
    log.postings = [...log.postings, ...postings]
  }
}
