/** Preview of a close by hand as text, and the lines of every preview of an order. Pure. */
import { NOBODY } from '../../books/bookView.ts'
import { OPERATOR } from '../../domain/accountRecords/operatorName.ts'
import type { Plain } from '../../domain/summaries/orderView.ts'
import type { ExpectedCost } from '../../market/orderCost.ts'
import { money } from '../../monitor/text.ts'
import type { CloseQuote } from '../../operator/quotes/manualQuote.ts'
import { formatPrice } from '../../protocol/priceText.ts'
import { formatAtMost } from '../../protocol/units.ts'
import { wrapped } from './screen.ts'

type Close = Plain<CloseQuote>

/** The close, whose parts it takes, what it leaves of their PnL, and its one worst price with the cost of it. */
export function closeQuoteText(quote: Close): string {
  const { market, direction, sizeUsd, heldUsd, pnlUsd, netPnlUsd, expected, referencePrice, parts } = quote
  const what =
    BigInt(sizeUsd) >= BigInt(heldUsd)
      ? `all of the ${direction} ${market} of ${amount(heldUsd)}`
      : `${amount(sizeUsd)} of the ${direction} ${market} of ${amount(heldUsd)}`
  return rowsText([
    ['close', `${what}, at the market, about ${price(referencePrice)} now`],
    ...(parts.length === 0 ? [] : [['of', parts.map(partText).join(', ')] as const]),
    ['PnL', `${amount(pnlUsd)} of it now, before closing costs; what opening it cost is not in it`],
    ['expected', `${costText(expected, "with the entry's")}; PnL after these costs ${amount(netPnlUsd)}`],
    ['at worst', worstText(quote)],
  ])
}

/** `the part opened by hand, $150.00 (PnL $0.50)`. */
function partText({ strategy, sizeUsd, pnlUsd }: Close['parts'][number]): string {
  const whose =
    strategy === OPERATOR
      ? 'the part opened by hand'
      : strategy === NOBODY
        ? 'what nobody here opened'
        : strategy
  return `${whose}, ${amount(sizeUsd)} (PnL ${amount(pnlUsd)})`
}

/** A line of a preview: its name, and its text, which may be folded. */
type Row = readonly [name: string, text: string]

/** Lines of a preview, their names in one column. */
export function rowsText(rows: readonly Row[]): string {
  return rows.flatMap(([name, text]) => wrapped(name.padEnd(12), text)).join('\n')
}

const sources: Readonly<Record<NonNullable<ExpectedCost['sendingBy']>, string>> = {
  chain: "by the chain's gas price",
  landed: 'by what landed before',
  usual: 'as configured',
}

function costText(expected: ExpectedCost, impactNote: string): string {
  const { positionFeeUsd, positionFeeBps100, priceImpactUsd, sendingUsd, sendingBy, totalUsd } = expected
  const bps = positionFeeBps100 === null ? '' : ` (${basisPoints(positionFeeBps100)} bps)`
  const paid = priceImpactUsd === null ? undefined : amount(priceImpactUsd.replace('-', ''))
  const pays = priceImpactUsd?.startsWith('-') === true && paid !== '$0.00' ? ' pays' : ''
  const impact = paid === undefined ? 'price impact not known' : `price impact${pays} ${paid} (${impactNote})`
  const sending =
    sendingUsd === null || sendingBy === null
      ? 'sending and executing not known'
      : `sending and executing ${amount(sendingUsd)} (${sources[sendingBy]}; a part comes back)`
  return `about ${amount(totalUsd)}: position fee ${amount(positionFeeUsd)}${bps}, ${impact}, ${sending}`
}

function worstText(quote: Close): string {
  const { worstCostUsd, boundPrice, venueFeesUsd, orderFeesUsd } = quote
  if (worstCostUsd === null || boundPrice === null)
    return `not bounded, for a stop fills at any price; fees are at most ${atMost(`${BigInt(venueFeesUsd) + BigInt(orderFeesUsd)}`)}`
  return `a fill at ${price(boundPrice)}, or none: at most ${atMost(worstCostUsd)} with all fees`
}

/** Hundredths of a basis point as basis points: `6`, `4.5`. */
export function basisPoints(bps100: number): string {
  return `${bps100 / 100}`
}

/** Dollars that something costs at most. */
function atMost(value: string): string {
  return formatAtMost(BigInt(value))
}

/** Dollars. */
function amount(value: string): string {
  return money(BigInt(value))
}

/** A price with the places of its size. */
export function price(value: string): string {
  return formatPrice(BigInt(value))
}
