/** The preview of an order by hand that opens or adds, as text: the order, one table of its costs, and what follows from it. Pure. */
import type { Plain } from '../../domain/summaries/orderView.ts'
import type { ManualQuote, ShownPosition } from '../../operator/manualQuote.ts'
import { formatExactPrice } from '../../protocol/priceText.ts'
import { BPS_ONE } from '../../protocol/units.ts'
import { amount, atMarket, atMost, price, type Row, roomText, rowsText } from './quoteText.ts'

type Quote = Plain<ManualQuote>

/** Widths of the table of costs: name, expected, at most. */
const [NAME, FIGURE] = [40, 14]

/** Quote of an order that would open or add. */
export function openQuoteText(quote: Quote): string {
  return [
    rowsText([
      ['open', whatText(quote)],
      ...optional('size', quote.cap),
      ...optional('pool', quote.chosen ?? null),
      ['price', priceText(quote)],
      ...exitRows(quote),
    ]),
    costTable(quote),
    rowsText([
      ['position', positionText(quote)],
      ['liquidation', liquidationText(quote)],
      ...outcomeRows(quote),
      ...limitRows(quote),
      ['afterwards', 'closing it is up to you'],
      ...quote.guardWarnings.map((text): Row => ['WARNING', text]),
    ]),
  ].join('\n')
}

/** The question that an entry far from the price asks in place of the usual one; undefined: it is near. */
export function farQuestion({ farBps, triggerPrice, referencePrice }: Quote): string | undefined {
  if (farBps === null || triggerPrice === null) return undefined
  return `${exact(triggerPrice)} is ${farBps / 100}% from ${price(referencePrice)}, the price now. Send it all the same?`
}

function optional(name: string, text: string | null): readonly Row[] {
  return text === null ? [] : [[name, text]]
}

function whatText({ market, direction, sizeUsd, tokens, leverageBps, collateral }: Quote): string {
  return `${direction} ${market}, ${amount(sizeUsd)} (${tokens}) at ${leverageBps / BPS_ONE}x with ${collateral}`
}

function priceText(quote: Quote): string {
  const { orderType, triggerPrice, referencePrice, boundPrice } = quote
  const bound = boundPrice === null ? '' : `; not beyond ${price(boundPrice)}`
  if (triggerPrice === null) return `${atMarket(quote)}${bound}`
  const waits = orderType === 'limit' ? 'rests until the price reaches' : 'rests as a stop at'
  return `${waits} ${exact(triggerPrice)} (${price(referencePrice)} now)${roomText(quote)}${bound}`
}

function exitRows({ exits, heldUsd, sizeUsd, triggerPrice }: Quote): readonly Row[] {
  if (exits.length === 0) return [['exits', 'no stop-loss and no take-profit']]
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

/** The costs of opening, a row each: expected, and at most. */
function costTable({
  expected,
  boundPriceUsd,
  venueFeesUsd,
  orderFeesUsd,
  worstCostUsd,
  comesBackUsd,
}: Quote): string {
  const { priceImpactUsd, positionFeeUsd, sendingUsd, totalUsd } = expected
  const known = (value: string | null) => (value === null ? 'not known' : amount(value))
  const most = (value: string | null) => (value === null ? 'any' : atMost(value))
  const back = comesBackUsd === null ? 'a part comes back' : `${amount(comesBackUsd)} comes back`
  const rows: readonly (readonly [string, string, string])[] = [
    ['costs', 'expected', 'at most'],
    ['price impact and slippage', known(priceImpactUsd), most(boundPriceUsd)],
    ["venue's fee", amount(positionFeeUsd), atMost(venueFeesUsd)],
    [`sending and execution, ${back}`, known(sendingUsd), atMost(orderFeesUsd)],
    ['all, to open', amount(totalUsd), most(worstCostUsd)],
  ]
  return rows
    .map(([name, first, last]) => `${name.padEnd(NAME)}${first.padStart(FIGURE)}${last.padStart(FIGURE)}`)
    .join('\n')
}

function positionText({ before, after, sizeUsd, heldUsd }: Quote): string {
  const sizeAfter = after?.sizeUsd ?? `${BigInt(sizeUsd) + BigInt(heldUsd)}`
  const leverage = (shown: ShownPosition | null) =>
    shown?.leverageBps == null ? '' : ` at ${(Number(shown.leverageBps) / BPS_ONE).toFixed(2)}x`
  return `${before === null ? 'none' : `${amount(before.sizeUsd)}${leverage(before)}`} > ${amount(sizeAfter)}${leverage(after)}`
}

function liquidationText({ before, after, exits }: Quote): string {
  if (after === null) return 'not known'
  const at = (shown: ShownPosition | null) =>
    shown?.liquidationPrice == null ? 'none' : price(shown.liquidationPrice)
  const way = after.liquidationBps === null ? '' : `, ${after.liquidationBps / 100}% away`
  const hasStop = exits.some(({ type }) => type === 'stop-loss')
  const first =
    after.liquidationPrice === null
      ? ''
      : hasStop
        ? '; the stop-loss comes first'
        : '; no stop-loss comes before it'
  return `${at(before)} > ${at(after)}${way}${first}`
}

function outcomeRows({ lostAtStopUsd, wonAtTargetUsd }: Quote): readonly Row[] {
  const parts = [
    ...(lostAtStopUsd === null ? [] : [`${amount(lostAtStopUsd)} at the stop-loss`]),
    ...(wonAtTargetUsd === null ? [] : [`${amount(wonAtTargetUsd)} at the take-profit`]),
  ]
  if (parts.length === 0) return []
  const hasRatio = lostAtStopUsd !== null && wonAtTargetUsd !== null && BigInt(lostAtStopUsd) < 0n
  const ratio = hasRatio ? `, ${ratioText(BigInt(wonAtTargetUsd), -BigInt(lostAtStopUsd))} to 1` : ''
  return [['result', `${parts.join(', ')}${ratio}, after all costs`]]
}

/** A gain in multiples of a loss, to two places, rounded half up. `loss`: above 0. */
function ratioText(gain: bigint, loss: bigint): string {
  const hundredths = (gain * 200n + loss) / (2n * loss)
  return `${hundredths / 100n}.${(hundredths % 100n).toString().padStart(2, '0')}`
}

function limitRows({ limits }: Quote): readonly Row[] {
  const each = limits.map(
    ({ limit, usedUsd, wholeUsd }) => `${limit} ${amount(usedUsd)} of ${amount(wholeUsd)}`,
  )
  return each.length === 0 ? [] : [['limits then', each.join(', ')]]
}

function exact(value: string): string {
  return formatExactPrice(BigInt(value))
}
