/** Previews of orders by hand as text: the order, its expected cost and its one worst cost. Pure. */
import type { Plain } from '../../domain/summaries/orderView.ts'
import type { ExpectedCost } from '../../market/orderCost.ts'
import { money } from '../../monitor/text.ts'
import type { CloseQuote, ManualQuote } from '../../operator/manualQuote.ts'
import { formatExactPrice, formatPrice } from '../../protocol/priceText.ts'
import { BPS_ONE, formatAtMost } from '../../protocol/units.ts'
import { wrapped } from './screen.ts'

type Open = Plain<ManualQuote>
type Close = Plain<CloseQuote>

/** Quote of an order that would open or add. */
export function quoteText(quote: Open): string {
  const { market, direction, orderType, sizeUsd, heldUsd, leverageBps, collateral, triggerPrice } = quote
  const adds = heldUsd === '0' ? '' : `, added to a position of ${amount(heldUsd)}`
  const waits =
    triggerPrice === null
      ? atMarket(quote)
      : `${orderType === 'limit' ? 'rests until the price reaches' : 'rests as a stop at'} ${exact(triggerPrice)} (${price(quote.referencePrice)} now)${roomText(quote)}`
  return textOf([
    [
      'open',
      `${direction} ${market}, ${amount(sizeUsd)} at ${leverageBps / BPS_ONE}x with ${collateral}${adds}`,
    ],
    ...(quote.chosen === undefined ? [] : [['pool', quote.chosen] as const]),
    ['price', waits],
    ...exitRows(quote),
    ['expected', costText(quote.expected, 'settled when the position closes')],
    ['worst cost', worstText(quote)],
    ['afterwards', 'closing it is up to you'],
    ...quote.guardWarnings.map((text): Row => ['WARNING', text]),
  ])
}

/** The close, what it leaves of the PnL, and its one worst cost. */
export function closeQuoteText(quote: Close): string {
  const { market, direction, sizeUsd, heldUsd, pnlUsd, netPnlUsd, expected } = quote
  const what =
    BigInt(sizeUsd) >= BigInt(heldUsd)
      ? `all of the ${direction} ${market} of ${amount(heldUsd)}`
      : `${amount(sizeUsd)} of the ${direction} ${market} of ${amount(heldUsd)}`
  return textOf([
    ['close', `${what}, ${atMarket(quote)}`],
    ['PnL', `${amount(pnlUsd)} of it now, before closing costs; what opening it cost is not in it`],
    ['expected', `${costText(expected, "with the entry's")}; ${amount(netPnlUsd)} of the PnL is left`],
    ['worst cost', worstText(quote)],
  ])
}

type Row = readonly [name: string, text: string]

function textOf(rows: readonly Row[]): string {
  return rows.flatMap(([name, text]) => wrapped(name.padEnd(12), text)).join('\n')
}

function atMarket(quote: Open | Close): string {
  return `at the market, about ${price(quote.referencePrice)} now${roomText(quote)}`
}

/** The room beyond its price in which the order fills: of a limit a budget for price impact, of a market order slippage, of a stop any. */
function roomText({ signedPrice, slippageBps, impactBudgetBps }: Open | Close): string {
  if (signedPrice === null) return ', and fills at any price then'
  return impactBudgetBps === null
    ? `, with up to ${slippageBps / 100}% of slippage`
    : `, with up to ${impactBudgetBps / 100}% of price impact`
}

function exitRows({ exits, heldUsd, sizeUsd, triggerPrice }: Open): readonly Row[] {
  if (exits.length === 0) return []
  const each = exits.map(({ type, triggerPrice }) => `${type} at ${exact(triggerPrice)}`)
  const scope =
    heldUsd === '0'
      ? `closes at most the ${amount(sizeUsd)} of this order; later increases need their own`
      : `closes at most the ${amount(sizeUsd)} that this order adds; the ${amount(heldUsd)} held before keeps the exits it has`
  const rows: Row[] = [['exits', `${each.join(', ')}: ${exits.length === 1 ? 'it' : 'each'} ${scope}`]]
  // The venue's exits see the whole position of their side, and rest from the moment that the order does.
  if (triggerPrice !== null && heldUsd !== '0') {
    const text = `the exits rest while this order still waits: one whose price is reached before closes up to ${amount(sizeUsd)} of the ${amount(heldUsd)} that is held, and is gone when this order fills`
    rows.push(['WARNING', text])
  }
  return rows
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

function worstText(quote: Open | Close): string {
  const { worstCostUsd, boundPrice, venueFeesUsd, orderFeesUsd } = quote
  if (worstCostUsd === null || boundPrice === null)
    return `not bounded, for a stop fills at any price; fees are at most ${atMost(`${BigInt(venueFeesUsd) + BigInt(orderFeesUsd)}`)}`
  return `at most ${atMost(worstCostUsd)} with all fees, by a fill at ${price(boundPrice)}`
}

/** Hundredths of a basis point as basis points: `6`, `4.5`. */
export function basisPoints(bps100: number): string {
  return `${bps100 / 100}`
}

function atMost(value: string): string {
  return formatAtMost(BigInt(value))
}

function amount(value: string): string {
  return money(BigInt(value))
}

function price(value: string): string {
  return formatPrice(BigInt(value))
}

function exact(value: string): string {
  return formatExactPrice(BigInt(value))
}
