/** Intents as people see them: folded from the journal, with labels, marks and the running machine's knowledge. */

import type { HasHoldings, HasOrders, HasTrading } from '../../account/accountParts.ts'
import { listedOrders } from '../../domain/accountRecords/changedOrders.ts'
import { heldOfOrder } from '../../domain/accountRecords/held.ts'
import { type IntentState, isOpen, labelOf } from '../../domain/order/intent.ts'
import { isOpened } from '../../domain/order/orderLegs.ts'
import { signedOrderAmong, signedOrderIn } from '../../domain/order/signedOrder.ts'
import { marksOf } from '../../domain/summaries/orderMarks.ts'
import type { HasClock, HasJournal, HasRules } from '../../execution/context/executionParts.ts'
import { type Hex, hexKey } from '../../protocol/address.ts'
import { unwindOf } from '../../tasks/unwindTask.ts'
import type { EngineApi, LabelledIntent } from './engineStatus.ts'

/** Intents with their labels. */
export interface LabelledOrders extends Pick<EngineApi, 'intents' | 'story'> {
  /** Open ones, oldest first. */
  open(): readonly LabelledIntent[]
}

/** Makes the view over journal and machine. */
export function createLabelledOrders(
  context: HasClock & HasHoldings & HasJournal & HasOrders & HasRules & HasTrading,
): LabelledOrders {
  const { clock, holdings, journal, openOrders, trading } = context
  const costsOf = (orderKey: Hex) => journal.books().fillOf(orderKey)

  /** Returns a journaled intent with the running machine's knowledge of it. */
  function labelled(folded: IntentState): LabelledIntent {
    const { intentId } = folded.intent
    const live = openOrders.open().find((each) => each.state.intent.intentId === intentId)
    return marked(isOpen(folded) && live !== undefined ? live : { state: folded, label: labelOf(folded) })
  }

  function marked(intent: LabelledIntent): LabelledIntent {
    const rules = { ...context.rules, nowMs: clock.now() }
    // Edits of an order that has ended are in the stories of its time alone.
    const signedOf = (orderKey: Hex) =>
      isOpen(intent.state)
        ? signedOrderIn(journal, orderKey)
        : signedOrderAmong(journal.recentIntents(), intent.state, orderKey)
    const marks = marksOf(
      intent.state,
      unwindOf(trading.accountJournal.state().tasks, intent.state.intent.intentId),
      rules,
    )
    const held = isOpened(intent.state)
      ? { heldUsd: heldOfOrder(holdings.journal(), intent.state.intent) }
      : {}
    const changed = listedOrders(trading.accountJournal.state())
    const listedOf = (orderKey: Hex) => changed.get(hexKey(orderKey))
    return { ...intent, signedOf, listedOf, costsOf, ...held, ...marks }
  }

  return {
    open: () => openOrders.open().map(marked),
    async intents(query) {
      return (await journal.intents(query)).map(labelled)
    },
    async story(intentId) {
      const folded = await journal.intent(intentId)
      if (folded === undefined) return undefined
      return { intent: labelled(folded), records: await journal.records(intentId) }
    },
  }
}
