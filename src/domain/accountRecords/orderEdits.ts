/** The edits of an intent's resting orders. Pure. */
import { type Hex, sameHex } from '../../protocol/address.ts'
import { priceOfContractPrice, type Usd } from '../../protocol/units.ts'
import type { IntentState } from '../order/intent.ts'
import { changesBy } from '../order/signedOrder.ts'
import type { Discrepancies } from './accountRecord.ts'

/** A change of a created order while it rested. */
export interface OrderEdit {
  readonly orderKey: Hex
  /** Time when it landed or was seen, Unix ms. */
  readonly atMs: number
  /** Its author: a strategy, `@operator`, or null for another client. */
  readonly by: string | null
  /** The intent of ours that made it; null for another client. */
  readonly intentId: string | null
  readonly reason: string
  /** The new value; absent where it is not known, or stayed. */
  readonly triggerPrice?: Usd
  readonly sizeDeltaUsd?: Usd
}

/** All changes of an intent's created orders, oldest first: by messages of ours that landed, and by other clients as they were found. */
export function editsOf(
  state: IntentState,
  stories: readonly IntentState[],
  { discrepancies }: Discrepancies,
): readonly OrderEdit[] {
  const { decimals } = state.intent.terms.indexToken
  const keys = state.attempts.flatMap(({ children }) => children.map(({ orderKey }) => orderKey))
  const keyOf = (key: string | undefined) =>
    key === undefined ? undefined : keys.find((each) => sameHex(each, key))
  const own = stories.flatMap((story) =>
    changesBy(story).flatMap(([key, change]): OrderEdit[] => {
      const orderKey = keyOf(key)
      if (orderKey === undefined) return []
      const { intent, closedAtMs, updatedAtMs } = story
      const made = {
        orderKey,
        by: intent.strategy,
        intentId: intent.intentId,
        reason: intent.decision.reason,
      }
      const atMs = closedAtMs ?? updatedAtMs
      if (change === 'unknown') return [{ ...made, atMs }]
      const { sizeDeltaUsd, triggerPrice } = change
      return [{ ...made, atMs, sizeDeltaUsd, triggerPrice: priceOfContractPrice(triggerPrice, decimals) }]
    }),
  )
  const others = [...discrepancies.values()].flatMap(({ discrepancy, raisedAtMs }): OrderEdit[] => {
    const orderKey = discrepancy.kind === 'changed-order' ? keyOf(discrepancy.orderKey) : undefined
    if (orderKey === undefined) return []
    const atMs = discrepancy.atSeconds === undefined ? raisedAtMs : discrepancy.atSeconds * 1_000
    return [
      { orderKey, atMs, by: null, intentId: null, reason: discrepancy.statement, ...discrepancy.listed },
    ]
  })
  return [...own, ...others].toSorted((one, other) => one.atMs - other.atMs)
}
