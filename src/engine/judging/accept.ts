/** Makes what takes decisions: one judgement at a time over all strategies. */

import type { LookAtAccount } from '../../account/facts.ts'
import type { HasEmit } from '../../execution/context/executionParts.ts'
import type { OrderManager } from '../../execution/orderManager.ts'

/** Takes decisions: they are judged by the facts of their moment, one at a time over all strategies, and the admitted ones accepted. */
export interface Accept extends HasEmit {
  /** Looks at the account for the decisions of a source on a snapshot. */
  readonly facts: LookAtAccount
  readonly accept: OrderManager['accept']
  readonly acceptTogether: OrderManager['acceptTogether']
  /** False once a stop was requested: nothing is decided or accepted after it. */
  readonly isDeciding: () => boolean
  /** Runs admissions one at a time over all strategies, so that each sees the effect of the previous one. */
  readonly inTurn: <T>(work: () => Promise<T>) => Promise<T>
}

/** Parts that it uses. */
export interface AcceptParts extends HasEmit {
  readonly orderManager: OrderManager
  readonly facts: LookAtAccount
  /** False once a stop was requested. */
  readonly isDeciding: () => boolean
}

/** Makes it. */
export function createAccept({ emit, facts, isDeciding, orderManager }: AcceptParts): Accept {
  let turn: Promise<unknown> = Promise.resolve()
  return {
    emit,
    facts,
    accept: orderManager.accept,
    acceptTogether: orderManager.acceptTogether,
    isDeciding,
    inTurn(work) {
      const next = turn.then(work)
      turn = next.catch(() => undefined)
      return next
    },
  }
}
