/** Prices that may be read wrongly: nothing is sized, bounded or signed by one. */
import type { Denial } from '../../domain/order/intent.ts'
import type { MarketView } from '../../domain/snapshot.ts'
import { sameHex } from '../../protocol/address.ts'
import { formatPrice } from '../../protocol/priceText.ts'
import type { ClassifiedDecision } from './checks.ts'

/**
 * PRICE_DOUBTED: an oracle price that the decision needs is too far from its possible values. A doubted index token denies everything but a cancel,
 * since every signed bound rests on its price; a doubted collateral denies orders that add risk.
 */
export function checkPrices(classified: ClassifiedDecision, view: MarketView): Denial | undefined {
  if (classified.decision.kind === 'cancel') return undefined
  const doubt = view.priceDoubts?.find(
    ({ tokenAddress }) => classified.adds || sameHex(tokenAddress, view.market.indexToken),
  )
  if (doubt === undefined) return undefined
  return {
    code: 'PRICE_DOUBTED',
    reason: `The oracle's price of ${doubt.tokenSymbol} may be wrong; check it before trading on it.`,
    wanted: `${formatPrice(doubt.price)} (${doubt.code})`,
    allowed: `${formatPrice(doubt.least)} to ${formatPrice(doubt.most)}`,
  }
}
