/** Events of orders and their records, from the accepted order to its last fill. */
import { untidyCauses } from '../../domain/order/decisionSchema.ts'
import { isOpened } from '../../domain/order/orderLegs.ts'
import type { Difference, OrderEvent } from '../../domain/orderEvent.ts'
import { shortHex } from '../../protocol/address.ts'
import type { SeriesMaker } from '../seriesMaker.ts'
import { money, plain, shortId, span, termsOf } from '../text.ts'
import type { EventFamily } from './eventRow.ts'
import {
  exitsText,
  filledFields,
  filledText,
  fillsIn,
  isEnding,
  movedNotice,
  movedText,
  settlementOf,
} from './fillWords.ts'
import { attemptFields, closedLabels, labelLevels, networkBuckets, orderFields } from './orderWords.ts'

const steps = ['accept', 'prepare', 'verify', 'sign', 'arm', 'submit', 'total'] as const
const hotBuckets = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1]
const MOST_CODES = 50

function series({ counter, histogram }: SeriesMaker) {
  const ended = counter('perpd_orders_total', 'Ended orders, by their final label.', ['outcome'])
  for (const outcome of closedLabels) ended.inc({ outcome }, 0)
  const step = histogram(
    'perpd_order_step_duration_seconds',
    'Duration of one step of an order, seconds; `prepare` runs beside `accept` and ends after it; `total` runs from the decision to the response to the submit.',
    ['step'],
    networkBuckets,
  )
  for (const each of steps) step.zero({ step: each })
  const untidy = counter(
    'perpd_untidy_orders_total',
    'Resting orders that an order janitor reported, by problem.',
    ['cause'],
  )
  for (const cause of untidyCauses) untidy.inc({ cause }, 0)
  // These codes come from a server; a label must not grow with what it makes up.
  const codes = new Set<string>()
  return {
    ended,
    step,
    untidy,
    boundedCode(code: string): string {
      if (codes.size < MOST_CODES) codes.add(code)
      return codes.has(code) ? code : 'other'
    },
    filled: counter(
      'perpd_fills_total',
      'Filled orders of ours, exits and parts included, each once. A fill that a reorganisation removed counts again when the order fills again.',
      ['market', 'strategy'],
    ),
    mismatches: counter(
      'perpd_payload_mismatches_total',
      'Payload mismatches: prepared messages that differ from the order; perpd signed none.',
    ),
    notSigned: counter(
      'perpd_payloads_not_signed_total',
      'Payloads not signed because price, fee, position or time moved beyond a limit, by code: PRICE_OUT_OF_BOUNDS, PRICE_CONTESTED, FEE_ABOVE_LIMIT, POSITION_MOVED, OFFER_EXPIRED.',
      ['code'],
    ),
    warned: counter(
      'perpd_validation_warnings_total',
      "The venue's warnings before signing, by code and by action: sign, shrink or drop.",
      ['code', 'action'],
    ),
    commit: histogram(
      'perpd_journal_commit_duration_seconds',
      'Time from appending a record until it is durable, seconds.',
      [],
      hotBuckets,
    ),
  }
}

type Series = ReturnType<typeof series>

function countFills({ filled }: Series, event: Parameters<typeof fillsIn>[0]): void {
  const count = fillsIn(event)
  const { terms, strategy } = event.intent
  if (count > 0) filled.inc({ market: terms.symbol, strategy }, count)
}

/** Events of orders. */
export const orderFamily: EventFamily<
  Extract<OrderEvent, { type: `order.${string}` | `journal.${string}` }>,
  Series
> = {
  series,
  rows: {
    'journal.committed': {
      levels: ['debug'],
      meaning: 'A record of an order is durable.',
      word: 'journal',
      text: ({ record, commitMs }) =>
        `${shortId(record.intentId)} ${record.kind} is durable after ${span(commitMs)}`,
      fields: [
        ['intent_id', ({ record }) => record.intentId],
        ['record', ({ record }) => record.kind],
        ...attemptFields,
        ['latency_ms', ({ commitMs }) => commitMs],
      ],
      moves: ({ commit }, { commitMs }) => commit.observe(commitMs / 1_000),
    },
    'order.moved': {
      levels: ['debug', 'info', 'warn'],
      // Its fill and its exits have lines of their own.
      level(event) {
        if (isOpened(event.state) || isEnding(event)) return 'debug'
        return event.askedBy === undefined ? labelLevels[event.to] : 'info'
      },
      meaning: "An order's label changed.",
      word: 'order',
      text: movedText,
      fields: [
        ...orderFields,
        ...attemptFields,
        ['state_from', ({ from }) => from],
        ['state_to', ({ to }) => to],
        'reason',
        ['outcome', ({ state }) => state.closing?.outcome],
        ['code', ({ state }) => state.closing?.code],
        ['settlement', settlementOf],
        [
          'latency_ms',
          ({ to, state, intent }) =>
            to === 'planned' ? undefined : Math.max(0, state.updatedAtMs - intent.acceptedAtMs),
        ],
      ],
      moves(all, event) {
        if (closedLabels.includes(event.to)) all.ended.inc({ outcome: event.to })
        countFills(all, event)
      },
      notice: movedNotice,
    },
    'order.filled': {
      levels: ['info', 'warn'],
      level: ({ isTakenBack }) => (isTakenBack ? 'warn' : 'info'),
      meaning: 'A created order was filled; at warn, a reorganisation removed the fill.',
      word: 'order',
      text: filledText,
      fields: [...orderFields, ...filledFields],
      moves: countFills,
      notice: ({ intent, leg, isTakenBack }) => ({
        kind: isTakenBack ? 'order-reverted' : 'order-executed',
        cause: `fill:${intent.intentId}:${leg.orderKey}:${isTakenBack}:${leg.isProvisional}`,
      }),
    },
    'order.exits': {
      levels: ['info'],
      meaning: 'A position is open and its exits rest.',
      word: 'order',
      text: exitsText,
      fields: [
        ...orderFields,
        ['exits', ({ exits }) => exits.map(({ role, orderKey }) => `${role} ${orderKey}`)],
      ],
    },
    'order.warned': {
      levels: ['warn'],
      meaning: 'The venue warns before signing.',
      word: 'order',
      text: (event) =>
        `${shortId(event.intent.intentId)} (${termsOf(event.intent)}) the venue warns before signing: ${event.warnings.map(({ code, message }) => (message === '' ? code : `${plain(message)} [${code}]`)).join('; ')}. ${warnedWords(event)}`,
      fields: [...orderFields, 'host', 'request_id', 'warnings', 'action', 'reason', 'to_usd'],
      isFromOutside: true,
      moves({ warned, boundedCode }, { warnings, action }) {
        for (const { code } of warnings) warned.inc({ code: boundedCode(code), action })
      },
    },
    'order.payload_rejected': {
      levels: ['error'],
      meaning: 'A host prepared a message that does not match the order; nothing was signed.',
      word: 'order',
      text: ({ intent, host, differences }) =>
        `${shortId(intent.intentId)} (${termsOf(intent)}) NOT SIGNED: ${host} prepared a message that does not match the order: ${differencesText(differences)}. perpd dropped the order and the host is in cooldown; check the host before you trust it again`,
      fields: [...orderFields, 'host', 'request_id', 'differences'],
      moves: ({ mismatches }) => mismatches.inc(),
      notice: ({ host }) => ({
        kind: 'payload-rejected',
        cause: `payload:${host}`,
        action: `Check the responses of ${host} before you trust it again.`,
      }),
    },
    'order.not_signed': {
      levels: ['warn'],
      meaning: 'A price, a fee, the position or the time moved beyond a limit.',
      word: 'order',
      text: ({ intent, code, differences, host }) =>
        `${shortId(intent.intentId)} (${termsOf(intent)}) not signed: ${movedWords[code] ?? code}: ${differencesText(differences)}. Nothing was sent, ${host} is not at fault, and the strategy decides again`,
      fields: [...orderFields, 'host', 'request_id', 'code', 'differences'],
      moves: ({ notSigned }, { code }) => notSigned.inc({ code }),
    },
    'order.observed': {
      levels: ['debug'],
      meaning: 'Status of an unresolved attempt, by a host.',
      word: 'order',
      text: ({ intent, host, status, reason }) =>
        `${shortId(intent.intentId)} ${host} says ${status}${reason === undefined ? '' : `: ${plain(reason)}`}`,
      fields: [...orderFields, 'attempt', 'status', 'host', 'trace_id', 'reason'],
      isFromOutside: true,
    },
    'order.timing': {
      levels: ['debug'],
      meaning: 'Duration of a step of an order.',
      word: 'order',
      text: ({ intentId, step, durationMs }) => `${shortId(intentId)} ${step} took ${span(durationMs)}`,
      fields: ['intent_id', 'step', ['latency_ms', ({ durationMs }) => durationMs]],
      moves: (all, { step, durationMs }) => all.step.observe({ step }, durationMs / 1_000),
    },
    'order.untidy': {
      levels: ['info', 'warn'],
      level: ({ isOver }) => (isOver ? 'info' : 'warn'),
      meaning: 'An order janitor reports a useless resting order; at info, it is resolved.',
      word: 'order',
      text: ({ orderKey, direction, symbol, reason, strategy, isOver }) =>
        `${shortHex(orderKey)} (${direction} ${symbol}): ${plain(reason)}; ${strategy} ${isOver ? 'reported it before' : 'leaves it to you'}`,
      fields: [
        'order_key',
        ['market', ({ symbol }) => symbol],
        ...(['direction', 'cause', 'strategy', 'is_over', 'reason'] as const),
      ],
      moves({ untidy }, { cause, isOver }) {
        if (!isOver) untidy.inc({ cause })
      },
      notice: ({ orderKey, cause, isOver }) => ({
        kind: 'order-untidy',
        cause: `untidy:${orderKey}:${cause}`,
        ...(isOver
          ? { isEnd: true }
          : { action: `Change it at the venue, or cancel it: perpd cancel ${orderKey}` }),
      }),
    },
  },
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
