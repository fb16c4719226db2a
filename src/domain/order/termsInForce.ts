/** An order that was edited while it rested: the terms in force instead of the accepted ones, by its own edits and other clients'. Pure. */
import { defined } from '../../base/defined.ts'
import { MAX_UINT256, priceOfContractPrice, type Usd } from '../../protocol/units.ts'
import { hasEnded, type IntentState, isWaiting, lastAttempt } from './intent.ts'
import type { LegLookups } from './orderLegs.ts'

/** Trigger and size of an order where they are not those that it was accepted with; a field that is the same is absent. */
export interface TermsInForce {
  /** USD per whole index token. */
  readonly triggerPrice?: Usd
  readonly sizeDeltaUsd?: Usd
}

/** The changes by later messages, ours or another client's, to the one order of an intent that waits for a price; empty: none. */
export function termsInForce(state: IntentState, { signedOf, listedOf }: LegLookups): TermsInForce {
  const { intent } = state
  const attempt = lastAttempt(state)
  const [main, ...others] = (attempt?.children ?? []).filter(({ role }) => role === 'main')
  if (main === undefined || others.length > 0 || !isWaiting(intent, main)) return {}
  const listed = hasEnded(main) ? undefined : listedOf?.(main.orderKey)
  const created = attempt?.armed?.creates[main.index]
  const signed = signedOf?.(main.orderKey)
  const trigger = signed?.kept?.triggerContractPrice
  const edited: TermsInForce = defined({
    triggerPrice:
      trigger === undefined || trigger === created?.kept?.triggerContractPrice
        ? undefined
        : priceOfContractPrice(trigger, intent.terms.indexToken.decimals),
    sizeDeltaUsd: signed?.sizeDeltaUsd === created?.sizeDeltaUsd ? undefined : signed?.sizeDeltaUsd,
  })
  const { sizeDeltaUsd, ...rest } = { ...edited, ...listed }
  // The largest amount stands for all of a position: its size is no figure.
  return sizeDeltaUsd === undefined || sizeDeltaUsd === MAX_UINT256 ? rest : { ...rest, sizeDeltaUsd }
}
