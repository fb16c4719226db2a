/** Explains the meaning of an order's label, and how its decision became a size. Pure. */
import { isCancelledByAccount } from '../../domain/order/cancelAsked.ts'
import type { IntentState, Label } from '../../domain/order/intent.ts'
import { isOpened } from '../../domain/order/orderLegs.ts'
import { formatPrice } from '../../protocol/priceText.ts'
import { formatUnits } from '../../protocol/units.ts'
import { contestedText, money, sourceTexts, span } from '../text.ts'

/** Meaning of each label for the operator: the known facts, and the next step. */
const meanings: Readonly<Record<Label, string>> = {
  planned: 'admitted, not signed yet',
  pending: 'in flight: signed and sent, or accepted, without an outcome yet',
  resting: 'waits at the venue for its price or time',
  executed: 'executed at the venue',
  cancelled: 'cancelled by the venue; the position did not change',
  reverted: 'reverted on chain and proven dead',
  failed: 'failed and proven dead',
  unknown:
    'its outcome is not proven: it counts as exposure, and perpd polls it until there is proof; it is never sent again',
  expired: 'it expired and can no longer land',
  refused: 'never left this machine',
}

/**
 * Says what the label means for this order.
 *
 * @param askedBy requester of its cancel in this journal, as `cancelAskedBy` words it
 */
export function meaningOf(label: Label, state: IntentState, askedBy?: string): string {
  const { intent } = state
  if (askedBy !== undefined || isCancelledByAccount(state)) {
    const who = askedBy ?? 'by another client of the account, not by this journal'
    return `cancelled ${who}; the position did not change`
  }
  if (isOpened(state)) return 'the position is open: its entry is filled, and its exits rest at the venue'
  const isChange = ['edit', 'cancel', 'collateral-in', 'collateral-out'].includes(intent.kind)
  return isChange && label === 'executed' ? 'done at the venue' : meanings[label]
}

/** Says how the decision became a size. */
export function sizingLines({ intent }: IntentState): string[] {
  const { sizing, terms, reservationUsd } = intent
  const lines = [
    `wanted ${money(sizing.wantedUsd)}, admitted ${money(sizing.sizeDeltaUsd)}, on data ${span(sizing.dataAgeMs)} old`,
  ]
  if (sizing.basis !== undefined && sizing.capacityUsd !== undefined) {
    const room =
      sizing.roomUsd === undefined
        ? ''
        : `, left after headroom and orders in flight ${money(sizing.roomUsd)}`
    lines.push(`capacity ${money(sizing.capacityUsd)} (${sizing.basis})${room}`)
  }
  for (const { by, toUsd } of sizing.cuts) lines.push(`cut to ${money(toUsd)} by ${by}`)
  if (intent.kind === 'cancel') return lines
  const collateral =
    terms.collateralDelta === 0n
      ? ''
      : `, collateral ${formatUnits(terms.collateralDelta, terms.collateralToken.decimals)} ${terms.collateralToken.symbol}`
  lines.push(
    `price ${formatPrice(terms.referencePrice)} (${sizing.priceSource === undefined ? 'oracle' : `${sourceTexts[sizing.priceSource]}: no fresh oracle price`}), requested slippage ${terms.slippageBps / 100} %${collateral}, reserved ${money(reservationUsd)}`,
  )
  if (sizing.contested !== undefined) {
    const { lowest, highest, words } = sizing.contested
    lines.push(
      `hosts differed on the price: ${contestedText(words)}; signed around ${formatPrice(lowest)} to ${formatPrice(highest)}`,
    )
  }
  return lines
}
