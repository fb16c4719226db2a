/** Makes what takes decisions: one judgement at a time over all strategies. */
import type { LookAtAccount } from '../../account/facts.ts'
import type { HasEmit } from '../../execution/context/executionParts.ts'
import type { HasOrders } from '../context/engineParts.ts'
import type { Accept } from '../context/turnContext.ts'

/** Parts that it uses. */
export interface AcceptParts extends HasEmit, HasOrders {
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
