/** The rounds of a strategy's part of a side: from when it is opened until nothing of it is left. Pure. */
import type { SideLog } from './sideLog.ts'
import type { Part } from './sideParts.ts'

/** Queries of folds about the rounds of parts. */
export interface Rounds {
  /** Returns the round of a strategy's part: the end of the previous one; undefined while it has no part. */
  now(strategy: string, sideKey: string): string | undefined
  /** Returns the round in which an order filled, while late fills may still move it; undefined: they cannot any more. */
  at(strategy: string, sideKey: string, orderKey: string): string | undefined
  /** Tells whether the part may return to that round if the chain takes something back. */
  mayReturn(strategy: string, sideKey: string, round: string): boolean
}

/** Those of the books with these sides. */
export function roundsOf(sides: ReadonlyMap<string, SideLog>): Rounds {
  return {
    now(strategy, sideKey) {
      const part = sides.get(sideKey)?.now.parts.get(strategy)
      return part === undefined || part.sizeUsd <= 0n ? undefined : roundOf(part)
    },
    mayReturn(strategy, sideKey, round) {
      const log = sides.get(sideKey)
      if (log === undefined) return false
      return roundOf(log.settled.parts.get(strategy)) === round || log.after(round) !== undefined
    },
    at(strategy, sideKey, orderKey) {
      const parts = sides.get(sideKey)?.after(orderKey)?.parts
      return parts === undefined ? undefined : roundOf(parts.get(strategy))
    },
  }
}

/** Identifies the round of a part by the end of the previous round. */
function roundOf(part: Part | undefined): string {
  return part?.ended?.id ?? ''
}

/** The key of a strategy's book of a side. */
export function bookKeyOf(strategy: string, sideKey: string): string {
  return `${strategy} ${sideKey}`
}
