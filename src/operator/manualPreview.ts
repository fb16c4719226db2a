/** Previews of orders by hand: the order, its expected cost, and its worst price. Nothing is made or written. */

import type { HasStrategies } from '../account/accountParts.ts'
import { defined } from '../base/defined.ts'
import { tolerate } from '../base/tolerate.ts'
import type { Decision, ExitRequest, IncreaseDecision } from '../domain/order/decision.ts'
import type { Denial, Intent } from '../domain/order/intent.ts'
import type { Snapshot } from '../domain/snapshot.ts'
import type { Room } from '../engine/judging/judgeDecision.ts'
import type {
  HasApi,
  HasChain,
  HasFees,
  HasJournal,
  HasSigningPolicy,
} from '../execution/context/executionParts.ts'
import { positionFeesOf } from '../market/marketFees.ts'
import { sameHex } from '../protocol/address.ts'
import { managersOf } from '../protocol/marketName.ts'
import type { Position } from '../protocol/position.ts'
import { impactUsdOf } from '../risk/checks/impactCheck.ts'
import { isDenial } from '../risk/exposure/admissionContext.ts'
import { farBpsOf } from './farPrice.ts'
import { guardWarnings } from './guardWarning.ts'
import { withOutlook } from './openOutlook.ts'
import { denied, type Refusal } from './operatorAnswer.ts'
import { LOOKED_AT } from './ownExperience.ts'
import {
  type BoundQuote,
  type CloseQuote,
  closeQuoteOf,
  type ManualQuote,
  type QuoteDrift,
  type QuoteParts,
  quoteOf,
} from './quotes/manualQuote.ts'
import { quoteRows } from './quotes/quoteRows.ts'

/** A gas price so young is not read anew for a preview, ms. */
const GAS_YOUNG_MS = 15_000

/** Dependencies of previews. */
export interface PreviewContext
  extends HasApi,
    HasChain,
    HasFees,
    HasJournal,
    HasSigningPolicy,
    HasStrategies {
  readonly judging: Judging
}

/** Judges orders by hand before they are made. */
interface Judging {
  /** Returns the intent that the decision would become now, or its denial. */
  readonly judge: (snapshot: Snapshot, decision: Decision, decisionKey: string) => Intent | Denial
  /** Returns the room that limits and capacity leave for an increase now, or the reason why it is unknown. */
  readonly roomFor: (snapshot: Snapshot, decision: IncreaseDecision, decisionKey: string) => Room | Denial
}

/** A command as it was understood. */
export interface Previewed {
  readonly snapshot: Snapshot
  readonly decision: Decision
  readonly decisionKey: string
  readonly symbol: string
  /** The rule that took the market of a short symbol. */
  readonly chosen?: string
  /** The cap that made its size smaller than its risk allows. */
  readonly cap?: string
  /** Exits that a plan of the operator keeps on its position. */
  readonly planned?: readonly ExitRequest[]
}

/** Room of the shown bounds while a person reads them, bps: a price moves by less in ten seconds of a calm market, and gas by a tenth. */
const SHOWN_DRIFT: QuoteDrift = { priceBps: 10, feesBps: 1_000 }

/** A preview: of an order that opens the quote as it is shown, and its bounds of this moment; or of one that closes. */
type Preview = { readonly quote: ManualQuote; readonly now: BoundQuote } | { readonly closing: CloseQuote }

/**
 * Returns the quote of the order that would be accepted now, or the reason why it would not be: a denial, or STOP_BEHIND_LIQUIDATION. Throws what reading
 * throws.
 */
export async function previewOf(
  context: PreviewContext,
  { snapshot, decision, decisionKey, symbol, chosen, cap, planned: plan }: Previewed,
): Promise<Preview | Refusal> {
  const { api, chain, fees: gasFees, signingPolicy, strategies } = context
  const intent = context.judging.judge(snapshot, decision, decisionKey)
  if (isDenial(intent)) return denied(intent)
  const [configs] = await Promise.all([tolerate(api.getMarketsConfig()), gasFees?.refresh(GAS_YOUNG_MS)])
  const { marketToken, direction, sizeDeltaUsd, referencePrice, triggerPrice } = intent.terms
  const config = configs?.value.find((each) => sameHex(each.marketToken, marketToken))
  const view = snapshot.markets.get(marketToken.toLowerCase())
  const held = heldOf(snapshot, intent)
  const isClose = decision.kind !== 'increase'
  const parts: QuoteParts = {
    policy: signingPolicy(),
    feeTokenDecimals: chain.feeToken.decimals,
    fees: positionFeesOf(config),
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
  if (isClose && held !== undefined) {
    const books = context.journal.books().all()
    return { closing: closeQuoteOf(intent, held, { ...parts, books }) }
  }
  if (decision.kind !== 'increase' || view === undefined)
    throw new TypeError(`previewOf: a ${decision.kind} has no quote`)
  const positions = snapshot.positions.value
  const warningsOf = (venueFeesUsd: bigint): readonly string[] =>
    guardWarnings(strategies(), { decision, view, positions, venueFeesUsd })
  const managers = managersOf(strategies(), symbol)
  const now = quoteOf(intent, parts, managers, warningsOf)
  const room = context.judging.roomFor(snapshot, decision, decisionKey)
  const shown = withOutlook(quoteOf(intent, { ...parts, drift: SHOWN_DRIFT }, managers, warningsOf), {
    ...{ intent, view, parts, config, cap },
    limits: isDenial(room) ? [] : room.limits,
    states: context.journal.recentIntents({ limit: LOOKED_AT }),
    farBps: farBpsOf(snapshot, decision),
    atMs: snapshot.atMs,
  })
  if (isDenial(shown)) return denied(shown)
  const planned = plan?.map(({ type, triggerPrice: at }) => ({ type, triggerPrice: at.toString() }))
  const quote = { ...shown, ...defined({ chosen, planned }) }
  return { quote: { ...quote, rows: quoteRows(quote) }, now }
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
