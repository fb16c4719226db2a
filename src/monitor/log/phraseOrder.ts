/** Formats the log lines about decisions, orders, their records, and orders to unwind. */
import { defined } from '../../base/defined.ts'
import { isCancelledByAccount } from '../../domain/order/cancelAsked.ts'
import { lastAttempt, type Settlement } from '../../domain/order/intent.ts'
import { isExit, isFillTold, isOpened, type OrderLeg } from '../../domain/order/orderLegs.ts'
import type { Difference, OrderEvent } from '../../domain/orderEvent.ts'
import { shortHex } from '../../protocol/address.ts'
import { formatExactPrice, formatPrice } from '../../protocol/priceText.ts'
import { formatAtMost, formatUnits, parseUnits, USD_DECIMALS, type Usd } from '../../protocol/units.ts'
import { money, plain, shortId, span, termsOf } from '../text.ts'
import { type Line, line, type Phrases, usdField } from './line.ts'
import {
  attemptFields,
  decisionFields,
  decisionText,
  isBelowCent,
  labelLevels,
  labelWords,
  orderFields,
} from './orderWords.ts'

function moved(event: Extract<OrderEvent, { type: 'order.moved' }>): Line {
  const { intent, from, to, state, askedBy, legs = [], inForce } = event
  const settlement = state.closing?.settlement
  const main = legs.find((leg) => !isExit(leg) && leg.phase === 'EXECUTED')
  const facts: string[] = []
  if (to === 'executed') {
    if (settlement?.executionPrice !== undefined) facts.push(`at ${formatPrice(settlement.executionPrice)}`)
    if (settlement?.feesUsd !== undefined) facts.push(`fees ${money(settlement.feesUsd)}`)
    if (main?.pnlUsd !== undefined) facts.push(pnlText(main, main.pnlUsd))
  }
  // Fills that have lines of their own are not told again.
  const told = (lastAttempt(state)?.children ?? []).filter(
    (child) => child.phase === 'EXECUTED' && isFillTold(state, child),
  )
  if (to === 'executed' && told.length > 0) facts.splice(0)
  // A price belongs to the verb; everything else follows after a comma.
  const [first, ...rest] = facts
  const price = first === undefined ? '' : first.startsWith('at ') ? ` ${first}` : `, ${first}`
  const more = rest.map((fact) => `, ${fact}`).join('')
  const next =
    to === 'unknown'
      ? '. It counts as exposure; perpd polls it until there is proof, and never sends it again'
      : ''
  // The resting order has ended, and its end is not final yet: it is reported when it is.
  const isEnding = from === 'resting' && to === 'pending'
  const verb = isEnding
    ? 'has ended at the venue, not final yet'
    : askedBy !== undefined
      ? `is cancelled ${askedBy}`
      : isCancelledByAccount(state)
        ? 'was cancelled by another client of the account'
        : labelWords[to]
  const why =
    askedBy !== undefined || isEnding
      ? ''
      : to === 'executed' || to === 'planned' || event.reason === ''
        ? ''
        : `: ${plain(event.reason)}`
  const done = told.length > 0 ? 'is done: all of its orders ended' : labelWords[to]
  return {
    // Its fill and its exits were told by themselves.
    level: isOpened(state) || isEnding ? 'debug' : askedBy !== undefined ? 'info' : labelLevels[to],
    word: 'order',
    text: `${shortId(intent.intentId)} ${to === 'executed' ? done : verb}${price}${more} (${termsOf(intent, inForce)})${why}${next}`,
    fields: {
      ...orderFields(intent),
      ...attemptFields(state),
      ...(from !== undefined && { state_from: from }),
      state_to: to,
      reason: event.reason,
      ...(state.closing && { outcome: state.closing.outcome, code: state.closing.code }),
      ...(settlement && { settlement: settlementFields(settlement, main) }),
      ...(to !== 'planned' && { latency_ms: Math.max(0, state.updatedAtMs - intent.acceptedAtMs) }),
    },
  }
}

/** PnL after all costs in words; where others opened some of it, that their part of the entry is not in it. */
function pnlText({ costs }: OrderLeg, pnlUsd: Usd): string {
  const lacks = costs?.isEntryKnown === false ? ', without those of an unknown entry' : ''
  return `PnL ${money(pnlUsd)} after all costs${lacks}`
}

/** As of every line: `pnlUsd` is after all costs, and the venue's own figure has that name. */
function settlementFields(
  { pnlUsd: venuePnlUsd, ...rest }: Settlement,
  leg: OrderLeg | undefined,
): Record<string, unknown> {
  return {
    ...rest,
    ...defined({ pnlUsd: leg?.pnlUsd, venuePnlUsd }),
  }
}

/** A fill of one order: which of them it was, its price, its costs, and what a reduction brought after all of them. */
function filled({
  intent,
  leg,
  isTakenBack,
  sendingFee,
  inForce,
}: Extract<OrderEvent, { type: 'order.filled' }>): Line {
  const { role, executionPrice, sizeDeltaUsd, feesUsd, priceImpactUsd, pnlUsd } = leg
  const name = role === 'main' ? '' : `${role} `
  const side = `${intent.terms.direction} ${intent.terms.symbol}`
  const fields = {
    ...orderFields(intent),
    role,
    order_key: leg.orderKey,
    ...(executionPrice !== undefined && { execution_price: usdField(executionPrice) }),
    ...(sizeDeltaUsd !== undefined && { filled_usd: usdField(sizeDeltaUsd) }),
    ...(feesUsd !== undefined && { fees_usd: usdField(feesUsd) }),
    ...(pnlUsd !== undefined && { pnl_usd: usdField(pnlUsd) }),
    ...(leg.venuePnlUsd !== undefined && { venue_pnl_usd: usdField(leg.venuePnlUsd) }),
    ...(leg.fundingReceivedUsd !== undefined && {
      funding_received_usd: usdField(leg.fundingReceivedUsd),
    }),
    ...(leg.costs !== undefined && { sending_usd: usdField(leg.costs.sendingUsd) }),
    ...(leg.costs !== undefined &&
      leg.venuePnlUsd !== undefined && { entry_costs_usd: usdField(leg.costs.entryCostsUsd) }),
    provisional: leg.isProvisional,
  }
  if (isTakenBack) {
    const text = `${shortId(intent.intentId)} ${name}fill removed by a reorganisation: the order rests again (${termsOf(intent, inForce)})`
    return line('warn', 'order', text, fields)
  }
  const what =
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
  const text = `${shortId(intent.intentId)} ${name}filled${price}${what}${facts.map((fact) => `, ${fact}`).join('')}`
  return line('info', 'order', text, fields)
}

/** The exits that rest now that the position is open. */
function exitsRest({ intent, exits }: Extract<OrderEvent, { type: 'order.exits' }>): Line {
  const each = exits.map(
    ({ role, triggerPrice }) =>
      `${role}${triggerPrice === undefined ? '' : ` at ${formatExactPrice(triggerPrice)}`}`,
  )
  return line(
    'info',
    'order',
    `${shortId(intent.intentId)} ${intent.terms.direction} ${intent.terms.symbol} is open; resting: ${each.join(', ')}`,
    { ...orderFields(intent), exits: exits.map(({ role, orderKey }) => `${role} ${orderKey}`) },
  )
}

/** Says what happens to an order with a warning. */
function warnedWords({ action, reason, toUsd }: Extract<OrderEvent, { type: 'order.warned' }>): string {
  switch (action) {
    case 'sign':
      return 'The policy signs it anyway'
    case 'shrink':
      return `The policy shrinks it to ${money(toUsd ?? 0n)}`
    case 'drop':
      return reason === undefined ? 'The policy drops it' : `perpd drops it: ${plain(reason)}`
  }
}

/** Words for causes that change on their own. */
const movedWords: Readonly<Record<string, string>> = {
  PRICE_OUT_OF_BOUNDS: 'the price has moved beyond the bound',
  PRICE_CONTESTED: 'hosts differ on the price, and this one is outside the majority',
  FEE_ABOVE_LIMIT: 'the fee is above the limit',
  POSITION_MOVED: 'the position has changed',
  OFFER_EXPIRED: "the host's offer has expired",
}

function differencesText(differences: readonly Difference[]): string {
  return differences.map((each) => `${each.field} is ${each.found}, expected ${each.expected}`).join('; ')
}

/** The line of each event of decisions, orders and their records. */
export const orderPhrases: Phrases<OrderEvent['type']> = {
  'decision.made': (event) =>
    line(
      'info',
      'decision',
      `${event.strategy} wants to ${decisionText(event.decision, event.symbol)}: ${plain(event.decision.reason)}`,
      {
        strategy: event.strategy,
        market: event.symbol,
        decision_key: event.decisionKey,
        ...decisionFields(event.decision),
        reason: event.decision.reason,
        ...(event.decision.facts && { facts: event.decision.facts }),
      },
    ),
  'decision.denied': (event) => {
    const { denial } = event
    const sizes = [
      denial.wanted === undefined ? '' : `wanted ${denial.wanted}`,
      denial.allowed === undefined ? '' : `allowed ${denial.allowed}`,
    ].filter((part) => part !== '')
    return line(
      'info',
      'denied',
      `${event.strategy} may not ${decisionText(event.decision, event.symbol)}: ${plain(denial.reason)}${sizes.length === 0 ? '' : ` (${sizes.join(', ')})`}`,
      {
        strategy: event.strategy,
        market: event.symbol,
        decision_key: event.decisionKey,
        ...decisionFields(event.decision),
        code: denial.code,
        reason: denial.reason,
        ...(denial.wanted !== undefined && { wanted: denial.wanted }),
        ...(denial.allowed !== undefined && { allowed: denial.allowed }),
      },
    )
  },
  'decision.admitted': (event) => {
    const { intent } = event
    const { sizing } = intent
    const cut =
      sizing.sizeDeltaUsd < sizing.wantedUsd
        ? `, cut from ${money(sizing.wantedUsd)} by ${sizing.cuts.map((each) => each.by).join(', ')}`
        : ''
    return line('info', 'order', `${shortId(intent.intentId)} admitted: ${termsOf(intent)}${cut}`, {
      ...orderFields(intent),
      decision_key: intent.decisionKey,
      wanted_usd: usdField(sizing.wantedUsd),
    })
  },
  'journal.committed': (event) =>
    line(
      'debug',
      'journal',
      `${shortId(event.record.intentId)} ${event.record.kind} is durable after ${span(event.commitMs)}`,
      {
        intent_id: event.record.intentId,
        record: event.record.kind,
        ...attemptFields(event.state),
        latency_ms: event.commitMs,
      },
    ),
  'order.moved': moved,
  'order.filled': filled,
  'order.exits': exitsRest,
  'order.warned': (event) =>
    line(
      'warn',
      'order',
      `${shortId(event.intent.intentId)} (${termsOf(event.intent)}) the venue warns before signing: ${event.warnings.map(({ code, message }) => (message === '' ? code : `${plain(message)} [${code}]`)).join('; ')}. ${warnedWords(event)}`,
      {
        ...orderFields(event.intent),
        host: event.host,
        request_id: event.requestId,
        warnings: event.warnings,
        action: event.action,
        ...(event.reason !== undefined && { reason: event.reason }),
        ...(event.toUsd !== undefined && { to_usd: usdField(event.toUsd) }),
      },
    ),
  'order.payload_rejected': (event) =>
    line(
      'error',
      'order',
      `${shortId(event.intent.intentId)} (${termsOf(event.intent)}) NOT SIGNED: ${event.host} prepared a message that does not match the order: ${differencesText(event.differences)}. perpd dropped the order and the host is in cooldown; check the host before you trust it again`,
      {
        ...orderFields(event.intent),
        host: event.host,
        request_id: event.requestId,
        differences: event.differences,
      },
    ),
  'order.not_signed': (event) =>
    line(
      'warn',
      'order',
      `${shortId(event.intent.intentId)} (${termsOf(event.intent)}) not signed: ${movedWords[event.code] ?? event.code}: ${differencesText(event.differences)}. Nothing was sent, ${event.host} is not at fault, and the strategy decides again`,
      {
        ...orderFields(event.intent),
        host: event.host,
        request_id: event.requestId,
        code: event.code,
        differences: event.differences,
      },
    ),
  'order.observed': (event) =>
    line(
      'debug',
      'order',
      `${shortId(event.intent.intentId)} ${event.host} says ${event.status}${event.reason === undefined ? '' : `: ${plain(event.reason)}`}`,
      {
        ...orderFields(event.intent),
        attempt: event.attempt,
        status: event.status,
        host: event.host,
        ...(event.traceId !== undefined && { trace_id: event.traceId }),
        ...(event.reason !== undefined && { reason: event.reason }),
      },
    ),
  'order.untidy': (event) =>
    line(
      event.isOver ? 'info' : 'warn',
      'order',
      `${shortHex(event.orderKey)} (${event.direction} ${event.symbol}): ${plain(event.reason)}; ${event.strategy} ${event.isOver ? 'reported it before' : 'leaves it to you'}`,
      {
        order_key: event.orderKey,
        market: event.symbol,
        direction: event.direction,
        cause: event.cause,
        strategy: event.strategy,
        is_over: event.isOver,
        reason: event.reason,
      },
    ),
  'unwind.requested': (event) =>
    line(
      'warn',
      'order',
      `${shortId(event.intent.intentId)} (${termsOf(event.intent)}) will be unwound: if it lands, perpd closes what it opens. ${event.by}: ${plain(event.reason)}`,
      { ...orderFields(event.intent), by: event.by, reason: event.reason },
    ),
  'unwind.waits': (event) =>
    line('warn', 'order', `${shortId(event.intentId)} cannot be unwound yet: ${plain(event.reason)}`, {
      intent_id: event.intentId,
      reason: event.reason,
    }),
  'unwind.ended': (event) => {
    const next =
      event.outcome === 'given-up' ? '. Check the position; perpd kill --close closes everything' : ''
    return line(
      event.outcome === 'given-up' ? 'error' : 'info',
      'order',
      `${shortId(event.intentId)} is unwound for ${event.by}: ${plain(event.statement)}${next}`,
      { intent_id: event.intentId, by: event.by, outcome: event.outcome, statement: event.statement },
    )
  },
  'task.started': (event) =>
    line('info', 'order', `task ${event.taskId} began for ${event.by}: ${plain(event.asked)}`, {
      task: event.taskId,
      by: event.by,
      asked: event.asked,
    }),
  'task.waits': (event) =>
    line('warn', 'order', `task ${event.taskId} waits: ${plain(event.reason)}`, {
      task: event.taskId,
      reason: event.reason,
    }),
  'task.ended': (event) =>
    line(
      event.outcome === 'done' ? 'info' : 'warn',
      'order',
      `task ${event.taskId} of ${event.by} ended: ${event.outcome}; ${plain(event.statement)}`,
      { task: event.taskId, by: event.by, outcome: event.outcome, statement: event.statement },
    ),
  'order.timing': (event) =>
    line('debug', 'order', `${shortId(event.intentId)} ${event.step} took ${span(event.durationMs)}`, {
      intent_id: event.intentId,
      step: event.step,
      latency_ms: event.durationMs,
    }),
}
