/** Compares an order with the terms that were shown for it: what became worse is refused, and shown anew. Pure. */
import { formatPrice } from '../protocol/priceText.ts'
import { formatAtMost, usd } from '../protocol/units.ts'
import { costOf } from './openOutlook.ts'
import { type Refusal, refusal } from './operatorAnswer.ts'
import type { BoundQuote, QuotedTerms } from './quotes/manualQuote.ts'

/** QUOTE_WORSE: the order could now fill at a worse price, or cost more, than what was shown. `now`: its bounds of this moment, without any drift. */
export function quoteWorse(now: BoundQuote, { price, cost }: QuotedTerms): Refusal | undefined {
  const [bound, shown] = [now.boundPrice, price]
  const isDearer = costOf(now) > usd(cost)
  const isBeyond =
    shown !== undefined &&
    (bound === null || (now.direction === 'long' ? BigInt(bound) > usd(shown) : BigInt(bound) < usd(shown)))
  if (!isDearer && !isBeyond) return undefined
  const words = [
    ...(isBeyond
      ? [
          `it could fill at ${bound === null ? 'any price' : formatPrice(BigInt(bound))} now, and at ${formatPrice(usd(shown ?? '0'))} by what was shown`,
        ]
      : []),
    ...(isDearer
      ? [`it could cost ${formatAtMost(costOf(now))} now, and ${formatAtMost(usd(cost))} by what was shown`]
      : []),
  ]
  return refusal(
    'QUOTE_WORSE',
    `the order became worse than what was shown: ${words.join('; ')}. Nothing was sent; look at it again`,
  )
}
