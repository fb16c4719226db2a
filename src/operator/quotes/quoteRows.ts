/** The preview of an order that opens or adds in words: the order, one table of its costs, and what follows from it. Every surface shows these rows. Pure. */
import { formatPrice, placesOf } from '../../protocol/priceText.ts'
import { BPS_ONE, formatAtMost, formatSize } from '../../protocol/units.ts'
import type { ManualQuote, QuoteRows, ShownPosition } from './manualQuote.ts'

type Quote = Omit<ManualQuote, 'rows'>
type Row = readonly [name: string, text: string]

/** Rows of a quote. Every price has the places of its market; the story of an order has its exact trigger. */
export function quoteRows(quote: Quote): QuoteRows {
  return {
    order: [
      ['open', orderText(quote)],
      ...optional('size', quote.cap ?? undefined),
      ...optional('pool', quote.chosen),
      ['price', priceText(quote)],
      ...exitRows(quote),
    ],
    costs: costRows(quote),
    outcome: [
      ['position', positionText(quote)],
      ['liquidation', liquidationText(quote)],
      ...outcomeRows(quote),
      ...limitRows(quote),
      ['afterwards', 'closing it is up to you'],
      ...quote.guardWarnings.map((text): Row => ['WARNING', text]),
    ],
  }
}

function optional(name: string, text: string | undefined): readonly Row[] {
  return text === undefined ? [] : [[name, text]]
}

function orderText({ market, direction, sizeUsd, tokens, leverageBps, collateral }: Quote): string {
  return `${direction} ${market}, ${amount(sizeUsd)} (${tokens}) at ${leverageBps / BPS_ONE}x with ${collateral}`
}

function priceText(quote: Quote): string {
  const { orderType, triggerPrice, referencePrice, boundPrice } = quote
  const now = price(quote, referencePrice)
  const bound = boundPrice === null ? '' : `; not beyond ${price(quote, boundPrice)}`
  if (triggerPrice === null) return `at the market, about ${now} now${roomText(quote)}${bound}`
  const waits = orderType === 'limit' ? 'rests until the price reaches' : 'rests as a stop at'
  return `${waits} ${price(quote, triggerPrice)} (${now} now)${roomText(quote)}${bound}`
}

/** The room beyond its price in which the order fills: of a limit a budget for price impact, of a market order slippage, of a stop any. */
function roomText({ signedPrice, slippageBps, impactBudgetBps }: Quote): string {
  if (signedPrice === null) return ', and fills at any price then'
  return impactBudgetBps === null
    ? `, with up to ${slippageBps / 100}% of slippage`
    : `, with up to ${impactBudgetBps / 100}% of price impact`
}

function exitRows(quote: Quote): readonly Row[] {
  const { exits, planned = [], heldUsd, sizeUsd, triggerPrice } = quote
  const plan = planned.map((exit) => `${exit.type} at ${price(quote, exit.triggerPrice)}`)
  const planRows: readonly Row[] =
    plan.length === 0
      ? []
      : [
          [
            'exits',
            `${plan.join(', ')}: planned for the position (perpd protect), and ${plan.length === 1 ? 'grows' : 'grow'} by this order once it fills`,
          ],
        ]
  if (exits.length === 0) return plan.length === 0 ? [['exits', 'no stop-loss and no take-profit']] : planRows
  const each = exits.map((exit) => `${exit.type} at ${price(quote, exit.triggerPrice)}`)
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
  return [...planRows, ...rows]
}

/** The costs of opening, a row each: expected, and at most. */
function costRows({
  expected,
  boundPriceUsd,
  venueFeesUsd,
  orderFeesUsd,
  worstCostUsd,
  comesBackUsd,
}: Quote): QuoteRows['costs'] {
  const { priceImpactUsd, positionFeeUsd, sendingUsd, totalUsd } = expected
  const known = (value: string | null) => (value === null ? 'not known' : amount(value))
  const most = (value: string | null) => (value === null ? 'any' : formatAtMost(BigInt(value)))
  const back = comesBackUsd === null ? 'a part comes back' : `${amount(comesBackUsd)} comes back`
  return [
    ['price impact and slippage', known(priceImpactUsd), most(boundPriceUsd)],
    ["venue's fee", amount(positionFeeUsd), most(venueFeesUsd)],
    [`sending and execution, ${back}`, known(sendingUsd), most(orderFeesUsd)],
    ['all, to open', amount(totalUsd), most(worstCostUsd)],
  ]
}

function positionText({ before, after, sizeUsd, heldUsd }: Quote): string {
  const sizeAfter = after?.sizeUsd ?? `${BigInt(sizeUsd) + BigInt(heldUsd)}`
  const leverage = (shown: ShownPosition | null) =>
    shown?.leverageBps == null ? '' : ` at ${(Number(shown.leverageBps) / BPS_ONE).toFixed(2)}x`
  return `${before === null ? 'none' : `${amount(before.sizeUsd)}${leverage(before)}`} > ${amount(sizeAfter)}${leverage(after)}`
}

function liquidationText(quote: Quote): string {
  const { before, after, exits, planned = [], direction } = quote
  if (after === null) return 'not known'
  const at = (shown: ShownPosition | null) =>
    shown?.liquidationPrice == null ? 'none' : price(quote, shown.liquidationPrice)
  const way = after.liquidationBps === null ? '' : `, ${after.liquidationBps / 100}% away`
  const { liquidationPrice } = after
  const isBefore = (stop: string) =>
    direction === 'long'
      ? BigInt(stop) > BigInt(liquidationPrice ?? '0')
      : BigInt(stop) < BigInt(liquidationPrice ?? '0')
  // One of the order was judged against the liquidation already.
  const hasStop =
    exits.some(({ type }) => type === 'stop-loss') ||
    planned.some(({ type, triggerPrice }) => type === 'stop-loss' && isBefore(triggerPrice))
  const first =
    liquidationPrice === null
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

function amount(value: string): string {
  return formatSize(BigInt(value))
}

/** A price in the places of the market: those of its price now, whatever this one is. */
function price({ referencePrice }: Quote, value: string): string {
  return formatPrice(BigInt(value), placesOf([BigInt(referencePrice)]))
}
