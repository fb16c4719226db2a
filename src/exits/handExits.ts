/**
 * Exits that an operator placed by hand (`perpd open --stop-loss --take-profit`), and those that an ended task of an operator left: no file and no
 * task maintains them, so they are fitted to the operator's book here. A reduction of the book reduces them too. They are cancelled where nothing of
 * the book is left while others hold the position. They are never enlarged or moved.
 */

import type { HasOrders } from '../account/accountParts.ts'
import type { AccountJournal } from '../account/halts/accountJournal.ts'
import { OPERATOR } from '../account/halts/tradingHalts.ts'
import { madeByTasks } from '../account/runningTasks.ts'
import type { Clock } from '../base/clock.ts'
import { type PositionSide, sideOfIntent } from '../domain/accountRecords/accountRecord.ts'
import type { Event } from '../domain/event.ts'
import type { Decision } from '../domain/order/decision.ts'
import type { Denial, IntentState } from '../domain/order/intent.ts'
import { signedOrderIn } from '../domain/order/signedOrder.ts'
import { marketOf, type Snapshot } from '../domain/snapshot.ts'
import type { HasJournal } from '../execution/context/executionParts.ts'
import type { Hex } from '../protocol/address.ts'
import { checkExitsLeft, settledExits } from './exitsLeft.ts'
import { fitExits, goneExits } from './syncExits.ts'

/** After a denial it is tried again no sooner, ms. */
const DENIED_PAUSE_MS = 15_000

/** Dependencies of the fitting. */
export interface HandExitsParts extends HasJournal, HasOrders {
  readonly trading: { readonly accountJournal: AccountJournal }
  readonly clock: Clock
  readonly emit: (event: Event) => void
  readonly read: (symbols: readonly string[]) => Promise<Snapshot>
  /** Returns the operator's intents that a snapshot may not show in full yet. */
  readonly unseen: (snapshot: Snapshot) => readonly IntentState[]
  /** Tells whether others' books hold the whole position of a side. */
  readonly isOthers: (side: PositionSide, snapshot: Snapshot) => boolean
  readonly admit: (snapshot: Snapshot, decision: Decision, decisionKey: string) => Promise<Denial | undefined>
}

/** Fits them at each look at the account; after a denial it waits a while. Throws what reading and the journal throw. */
export function createHandExits(parts: HandExitsParts): { look(): Promise<void> } {
  const { clock } = parts
  let pausedUntilMs = 0
  return {
    async look() {
      if (clock.monotonicMs() < pausedUntilMs) return
      if (!(await fitOnce(parts))) pausedUntilMs = clock.monotonicMs() + DENIED_PAUSE_MS
    },
  }
}

/** False: something was denied. */
async function fitOnce(parts: HandExitsParts): Promise<boolean> {
  const { journal, openOrders, read, clock, emit } = parts
  const open = openOrders.open().map(({ state }) => state)
  const signedOrder = (orderKey: Hex) => signedOrderIn(journal, orderKey)
  const facts = {
    orders: { open, pending: [], signedOrder },
    own: { parts: journal.books().partsOf(OPERATOR) },
  }
  const own = open.filter(({ intent }) => intent.strategy === OPERATOR)
  // Nothing is read while the book and the resting exits agree.
  const over = own.filter((state) => {
    const isSettled = settledExits(state).length > 0
    return isSettled && checkExitsLeft(facts, OPERATOR, sideOfIntent(state.intent)) !== undefined
  })
  if (over.length === 0) return true
  const snapshot = await read([...new Set(over.map(({ intent }) => intent.terms.symbol))])
  let isDone = true
  for (const [index, decision] of decisionsOf(parts, snapshot).entries()) {
    const decisionKey = `${OPERATOR}#exits-${clock.now()}-${index}`
    const symbol = marketOf(snapshot, decision.marketToken)?.market.symbol ?? ''
    const told = { strategy: OPERATOR, decisionKey, decision, symbol }
    emit({ type: 'decision.made', ...told })
    const denial = await parts.admit(snapshot, decision, decisionKey)
    if (denial === undefined) continue
    isDone = false
    emit({ type: 'decision.denied', ...told, denial })
  }
  return isDone
}

function decisionsOf(
  { journal, trading, unseen, isOthers }: HandExitsParts,
  snapshot: Snapshot,
): readonly Decision[] {
  const states = unseen(snapshot)
  const ofTasks = madeByTasks(trading, states)
  const parts = journal.books().partsOf(OPERATOR)
  const byHand = states.filter(({ intent }) => !ofTasks.has(intent.intentId))
  const reason = 'The operator has no part of the position left: resting manual exits are cancelled.'
  return [
    ...fitExits({ snapshot, states, parts, ofTasks, mayTry: () => true }),
    ...goneExits({ snapshot, states: byHand }, (side) => isOthers(side, snapshot), reason),
  ]
}
