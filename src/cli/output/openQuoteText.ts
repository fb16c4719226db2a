/** The preview of an order by hand that opens or adds, as text. Pure. */
import type { Plain } from '../../domain/summaries/orderView.ts'
import type { ManualQuote, QuoteRows } from '../../operator/quotes/manualQuote.ts'
import { formatExactPrice } from '../../protocol/priceText.ts'
import { price, rowsText } from './quoteText.ts'

/** Widths of the table of costs: name, expected, at most. */
const [NAME, FIGURE] = [40, 14]

/** The daemon's rows of the order, with the table of its costs between them. */
export function openQuoteText({ order, costs, outcome }: QuoteRows): string {
  const table = [['costs', 'expected', 'at most'] as const, ...costs].map(
    ([name, expected, most]) => `${name.padEnd(NAME)}${expected.padStart(FIGURE)}${most.padStart(FIGURE)}`,
  )
  return [rowsText(order), ...table, rowsText(outcome)].join('\n')
}

/** The question that an entry far from the price asks in place of the usual one; undefined: it is near. */
export function farQuestion({
  farBps,
  triggerPrice,
  referencePrice,
}: Pick<Plain<ManualQuote>, 'farBps' | 'triggerPrice' | 'referencePrice'>): string | undefined {
  if (farBps === null || triggerPrice === null) return undefined
  return `${formatExactPrice(BigInt(triggerPrice))} is ${farBps / 100}% from ${price(referencePrice)}, the price now. Send it all the same?`
}
