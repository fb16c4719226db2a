/** Words, fields and the notice of orders that move and fill. */
import { defined } from '../../base/defined.ts'
import { isCancelledByAccount } from '../../domain/order/cancelAsked.ts'
import { lastAttempt } from '../../domain/order/intent.ts'
import { isExit, isFillTold, type OrderLeg } from '../../domain/order/orderLegs.ts'
import type { OrderEvent } from '../../domain/orderEvent.ts'
import { formatExactPrice, formatPrice } from '../../protocol/priceText.ts'
import { formatAtMost, formatUnits, parseUnits, USD_DECIMALS, type Usd } from '../../protocol/units.ts'
import { money, plain, shortId, termsOf } from '../text.ts'
import type { Field, NoticeFacts } from './eventRow.ts'
import { isBelowCent, labelWords } from './orderWords.ts'

type Moved = Extract<OrderEvent, { type: 'order.moved' }>
type Filled = Extract<OrderEvent, { type: 'order.filled' }>

/** Fills of an order's newest attempt, and those of them that have lines of their own. */
function fillsOf({ state }: Moved) {
  const fills = (lastAttempt(state)?.children ?? []).filter(({ phase }) => phase === 'EXECUTED')
  return { fills, told: fills.filter((child) => isFillTold(state, child)) }
}

const mainFill = ({ legs = [] }: Moved): OrderLeg | undefined =>
  legs.find((leg) => !isExit(leg) && leg.phase === 'EXECUTED')

/** Tells whether the resting order has ended and its end is not final yet: it is reported when it is. */
export function isEnding({ from, to }: Moved): boolean {
  return from === 'resting' && to === 'pending'
}

/** The sentence of an order whose label changed. */
export function movedText(event: Moved): string {
  const { intent, to, state, askedBy, inForce } = event
  const settlement = state.closing?.settlement
  const main = mainFill(event)
  const { told } = fillsOf(event)
  const isDone = to === 'executed' && told.length > 0
  // A price belongs to the verb; everything else follows after a comma. Fills with lines of their own are not reported again.
  const facts =
    to !== 'executed' || isDone
      ? []
      : [
          settlement?.executionPrice === undefined ? '' : ` at ${formatPrice(settlement.executionPrice)}`,
          settlement?.feesUsd === undefined ? '' : `, fees ${money(settlement.feesUsd)}`,
          main?.pnlUsd === undefined ? '' : `, ${pnlText(main, main.pnlUsd)}`,
        ]
  const next =
    to === 'unknown'
      ? '. It counts as exposure; perpd polls it until there is proof, and never sends it again'
      : ''
  const isAsked = askedBy !== undefined
  const verb = isDone
    ? 'is done: all of its orders ended'
    : to === 'executed'
      ? labelWords.executed
      : isEnding(event)
        ? 'has ended at the venue, not final yet'
        : isAsked
          ? `is cancelled ${askedBy}`
          : isCancelledByAccount(state)
            ? 'was cancelled by another client of the account'
            : labelWords[to]
  const isExplained = !isAsked && !isEnding(event) && to !== 'executed' && to !== 'planned'
  const why = isExplained && event.reason !== '' ? `: ${plain(event.reason)}` : ''
  return `${shortId(intent.intentId)} ${verb}${facts.join('')} (${termsOf(intent, inForce)})${why}${next}`
}

/** PnL after all costs in words; where others opened some of it, that their part of the entry is not in it. */
function pnlText({ costs }: OrderLeg, pnlUsd: Usd): string {
  const lacks = costs?.isEntryKnown === false ? ', without those of an unknown entry' : ''
  return `PnL ${money(pnlUsd)} after all costs${lacks}`
}

/** The settlement as a field: `pnlUsd` is after all costs, as of every line, and the venue's own figure has that name. */
export function settlementOf(event: Moved): Record<string, unknown> | undefined {
  const settlement = event.state.closing?.settlement
  if (settlement === undefined) return undefined
  const { pnlUsd: venuePnlUsd, ...rest } = settlement
  return { ...rest, ...defined({ pnlUsd: mainFill(event)?.pnlUsd, venuePnlUsd }) }
}

/** Number of an order's fills that an event reports for the first time. */
export function fillsIn(event: Moved | Filled): number {
  if (event.type === 'order.filled') return event.isTakenBack ? 0 : 1
  if (event.to !== 'executed' || ['cancel', 'edit'].includes(event.intent.kind)) return 0
  // For a single order that hosts show, only its end is reported.
  const { fills, told } = fillsOf(event)
  return fills.length - told.length
}

/** The notice of an order's end. A failed order is reported by its cause, whichever order it was; a filled one always. */
export function movedNotice(event: Moved): NoticeFacts | undefined {
  const { intent, from, to, state } = event
  const isOpen = to === 'planned' || to === 'pending' || to === 'resting'
  const unknown = `unknown:${intent.intentId}`
  if (from === 'unknown') return { kind: 'order-proven', cause: unknown, isEnd: true }
  if (isOpen) return undefined
  if (to === 'unknown') {
    const id = intent.intentId.slice(0, 8)
    return {
      kind: 'order-unknown',
      cause: unknown,
      action: `Check its history and whether chain endpoints lag: perpd explain ${id}, perpd status. perpd keeps checking; to close what it opens if it lands: perpd orders unwind ${id} --by NAME`,
    }
  }
  // Each of its fills was reported by itself.
  if (to === 'executed') {
    return fillsOf(event).told.length > 0
      ? undefined
      : { kind: 'order-executed', cause: `executed:${intent.intentId}` }
  }
  const code = state.closing?.code ?? to
  return { kind: `order-${to}`, cause: `${to}:${intent.strategy}:${intent.terms.symbol}:${code}` }
}

/** Fields of a fill. */
export const filledFields: readonly Field<Filled>[] = [
  ['role', ({ leg }) => leg.role],
  ['order_key', ({ leg }) => leg.orderKey],
  ['execution_price', ({ leg }) => leg.executionPrice],
  ['filled_usd', ({ leg }) => leg.sizeDeltaUsd],
  ['fees_usd', ({ leg }) => leg.feesUsd],
  ['pnl_usd', ({ leg }) => leg.pnlUsd],
  ['venue_pnl_usd', ({ leg }) => leg.venuePnlUsd],
  ['funding_received_usd', ({ leg }) => leg.fundingReceivedUsd],
  ['sending_usd', ({ leg }) => leg.costs?.sendingUsd],
  ['entry_costs_usd', ({ leg }) => (leg.venuePnlUsd === undefined ? undefined : leg.costs?.entryCostsUsd)],
  ['provisional', ({ leg }) => leg.isProvisional],
]

/** The sentence of a fill of one order: its role, its price, its costs, and the result of a reduction after all of them. */
export function filledText({ intent, leg, isTakenBack, sendingFee, inForce }: Filled): string {
  const { role, executionPrice, sizeDeltaUsd, feesUsd, priceImpactUsd, pnlUsd } = leg
  const name = `${shortId(intent.intentId)} ${role === 'main' ? '' : `${role} `}`
  if (isTakenBack)
    return `${name}fill removed by a reorganisation: the order rests again (${termsOf(intent, inForce)})`
  const side = `${intent.terms.direction} ${intent.terms.symbol}`
  const closed =
    role === 'take-profit' || role === 'stop-loss'
      ? `: ${sizeDeltaUsd === undefined ? '' : `${money(sizeDeltaUsd)} of `}${side} closed`
      : ` (${termsOf(intent, inForce)})`
  const facts = [
    feesUsd === undefined ? '' : `fees ${money(feesUsd)}`,
    priceImpactUsd === undefined || isBelowCent(priceImpactUsd)
      ? ''
      : `price impact ${money(priceImpactUsd)}`,
    sendingFee === undefined
      ? ''
      : `sending cost at most ${formatAtMost(parseUnits(formatUnits(sendingFee.amount, sendingFee.decimals), USD_DECIMALS))} in ${sendingFee.symbol}`,
    // Sending is among the costs that it is after.
    pnlUsd === undefined ? '' : pnlText(leg, pnlUsd),
    leg.isProvisional ? 'not final yet' : '',
  ].filter((fact) => fact !== '')
  const price = executionPrice === undefined ? '' : ` at ${formatPrice(executionPrice)}`
  return `${name}filled${price}${closed}${facts.map((fact) => `, ${fact}`).join('')}`
}

/** The sentence of exits that rest now that the position is open. */
export function exitsText({ intent, exits }: Extract<OrderEvent, { type: 'order.exits' }>): string {
  const each = exits.map(
    ({ role, triggerPrice }) =>
      `${role}${triggerPrice === undefined ? '' : ` at ${formatExactPrice(triggerPrice)}`}`,
  )
  return `${shortId(intent.intentId)} ${intent.terms.direction} ${intent.terms.symbol} is open; resting: ${each.join(', ')}`
}
