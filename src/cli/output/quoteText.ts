/** Previews of orders by hand as text: what would be sent, its signed price, and what it costs as expected and at worst. Pure. */
import type { Plain } from '../../domain/views/orderView.ts'
import { tradesToo } from '../../engine/operator/manualAnswers.ts'
import type { CloseQuote, ManualQuote } from '../../engine/operator/manualQuote.ts'
import type { ExpectedCost } from '../../engine/operator/orderCost.ts'
import { money } from '../../monitor/text.ts'
import { formatExactPrice, formatPrice } from '../../protocol/priceText.ts'
import { BPS_ONE, formatAtMost } from '../../protocol/units.ts'
import { wrapped } from './screen.ts'

type Open = Plain<ManualQuote>
type Close = Plain<CloseQuote>

/** What would open or add. */
export function quoteText(quote: Open): string {
  const { market, direction, orderType, sizeUsd, heldUsd, leverageBps, collateral, triggerPrice } = quote
  const adds = heldUsd === '0' ? '' : `, added to ${amount(heldUsd)} that is held`
  const waits =
    triggerPrice === null
      ? `at the market, about ${price(quote.referencePrice)} now`
      : `${orderType === 'limit' ? 'waits for the price to reach' : 'waits as a stop at'} ${exact(triggerPrice)} (${price(quote.referencePrice)} now)`
  return textOf([
    [
      'open',
      `${direction} ${market}, ${amount(sizeUsd)} at ${leverageBps / BPS_ONE}x with ${collateral}${adds}`,
    ],
    ['price', waits],
    ['signed', signedText(quote)],
    ...exitRows(quote),
    ['expected', costText(quote.expected, 'settled when the position closes')],
    ['worst cost', worstText(quote)],
    [
      'afterwards',
      quote.managers.length === 0
        ? 'no strategy manages this position: you close it'
        : tradesToo(quote.managers),
    ],
    ...quote.guardWarnings.map((text): Row => ['WARNING', text]),
  ])
}

/** What would be closed, what that leaves of its PnL, and the worst of it. */
export function closeQuoteText(quote: Close): string {
  const { market, direction, sizeUsd, heldUsd, pnlUsd, netPnlUsd, referencePrice, expected } = quote
  const what =
    BigInt(sizeUsd) >= BigInt(heldUsd)
      ? `all of the ${direction} ${market} of ${amount(heldUsd)}`
      : `${amount(sizeUsd)} of the ${direction} ${market} of ${amount(heldUsd)}`
  return textOf([
    ['close', `${what}, at the market, about ${price(referencePrice)} now`],
    ['signed', signedText(quote)],
    ['PnL', `${amount(pnlUsd)} of it now, before closing costs; what opening it cost is not in it`],
    ['expected', `${costText(expected, "with the entry's")}; ${amount(netPnlUsd)} of the PnL is left`],
    ['worst cost', worstText(quote)],
  ])
}

type Row = readonly [name: string, text: string]

function textOf(rows: readonly Row[]): string {
  return rows.flatMap(([name, text]) => wrapped(name.padEnd(12), text)).join('\n')
}

/** The price that is signed, and what it is made of: a limit order has a budget for price impact in the place of the slippage. */
function signedText({ signedPrice, slippageBps, impactBudgetBps }: Open | Close): string {
  const room =
    impactBudgetBps === null
      ? `the price now with its price impact, and slippage of ${slippageBps / 100}%`
      : `the limit, and ${impactBudgetBps / 100}% for price impact; slippage is not added`
  return signedPrice === null
    ? 'any price: a stop fills wherever the market is then'
    : `to fill at about ${price(signedPrice)} at worst, or not at all (${room})`
}

function exitRows({ exits, heldUsd, sizeUsd, triggerPrice }: Open): readonly Row[] {
  if (exits.length === 0) return []
  const each = exits.map(({ type, triggerPrice }) => `${type} at ${exact(triggerPrice)}`)
  const scope =
    heldUsd === '0'
      ? `closes at most the ${amount(sizeUsd)} of this order; what is added later needs its own`
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
    return `no bound, since a stop fills at any price; its fees are at most ${atMost(`${BigInt(venueFeesUsd) + BigInt(orderFeesUsd)}`)}`
  return `at most ${atMost(worstCostUsd)}, with all fees, at ${price(boundPrice)}: no price beyond that is signed`
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
