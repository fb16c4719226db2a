/** Previews of orders by hand: the order, its expected cost, and its worst price. Nothing is made or written. */

import type { HasStrategies } from '../account/accountParts.ts'
import { defined } from '../base/defined.ts'
import { tolerate } from '../base/tolerate.ts'
import type { Decision } from '../domain/order/decision.ts'
import type { Denial, Intent } from '../domain/order/intent.ts'
import type { Snapshot } from '../domain/snapshot.ts'
import type { HasApi, HasChain, HasFees, HasSigningPolicy } from '../execution/context/executionParts.ts'
import { positionFeesOf } from '../market/marketFees.ts'
import { sameHex } from '../protocol/address.ts'
import { managersOf } from '../protocol/marketName.ts'
import type { Position } from '../protocol/position.ts'
import { impactUsdOf } from '../risk/checks/impactCheck.ts'
import { isDenial } from '../risk/exposure/admissionContext.ts'
import { openWarnings } from './guardWarning.ts'
import { type CloseQuote, closeQuoteOf, type ManualQuote, type QuoteParts, quoteOf } from './manualQuote.ts'
import { denied, type Refusal } from './operatorAnswer.ts'

/** A gas price so young is not read anew for a preview, ms. */
const GAS_YOUNG_MS = 15_000

/** Dependencies of previews. */
export interface PreviewContext extends HasApi, HasChain, HasFees, HasSigningPolicy, HasStrategies {
  /** Returns the intent that the decision would become now, or its denial. */
  readonly judge: (snapshot: Snapshot, decision: Decision, decisionKey: string) => Intent | Denial
}

/** A command as it was understood. */
export interface Previewed {
  readonly snapshot: Snapshot
  readonly decision: Decision
  readonly decisionKey: string
  readonly symbol: string
  /** The rule that took the market of a short symbol. */
  readonly chosen?: string
}

/** Returns the quote of the order that would be accepted now, or the reason why it would not be. Throws what reading throws. */
export async function previewOf(
  context: PreviewContext,
  { snapshot, decision, decisionKey, symbol, chosen }: Previewed,
): Promise<{ readonly quote: ManualQuote } | { readonly closing: CloseQuote } | Refusal> {
  const { api, chain, fees: gasFees, signingPolicy, strategies } = context
  const intent = context.judge(snapshot, decision, decisionKey)
  if (isDenial(intent)) return denied(intent)
  const [configs] = await Promise.all([tolerate(api.getMarketsConfig()), gasFees?.refresh(GAS_YOUNG_MS)])
  const { marketToken, direction, sizeDeltaUsd, referencePrice, triggerPrice } = intent.terms
  const view = snapshot.markets.get(marketToken.toLowerCase())
  const held = heldOf(snapshot, intent)
  const isClose = decision.kind !== 'increase'
  const parts: QuoteParts = {
    policy: signingPolicy(),
    feeTokenDecimals: chain.feeToken.decimals,
    fees: positionFeesOf(configs?.value.find((each) => sameHex(each.marketToken, marketToken))),
    impactUsd:
      view === undefined
        ? undefined
        : impactUsdOf(
            {
              ...{ direction, action: isClose ? 'decrease' : 'increase', sizeDeltaUsd },
              price: triggerPrice ?? referencePrice,
              held: isClose ? held : undefined,
            },
            view,
          ),
    sending: gasFees?.expectedFor(intent),
    held,
  }
  if (isClose && held !== undefined) return { closing: closeQuoteOf(intent, held, parts) }
  const positions = snapshot.positions.value
  const warningsOf = (venueFeesUsd: bigint): readonly string[] =>
    decision.kind === 'increase' && view !== undefined
      ? openWarnings(strategies(), { decision, view, positions, venueFeesUsd })
      : []
  const quote = quoteOf(intent, parts, managersOf(strategies(), symbol), warningsOf)
  return { quote: { ...quote, ...defined({ chosen }) } }
}

/** The position that the order is of. */
function heldOf({ positions }: Snapshot, { terms }: Intent): Position | undefined {
  return positions.value.find(
    (each) =>
      each.sizeInUsd > 0n &&
      sameHex(each.marketToken, terms.marketToken) &&
      sameHex(each.collateralToken, terms.collateralToken.address) &&
      each.direction === terms.direction,
  )
}
