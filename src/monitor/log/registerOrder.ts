/** The register of the events of decisions, orders, their records, and what is done over time. */
import type { OrderEvent } from '../../domain/orderEvent.ts'
import { attemptFieldNames, orderFieldNames, type RegisteredEvent, registered } from './registered.ts'

const wishFields = ['strategy', 'market', 'decision_key', 'direction', 'kind', 'label', 'intent_id', 'reason']

/** An entry for each of them; one that is missing is a type error. */
export const orderRegister = {
  'decision.made': registered(['info'], 'A strategy made a decision.', [...wishFields, 'facts']),
  'decision.denied': registered(['info'], 'A limit, a rule or a state denies a decision.', [
    ...wishFields,
    'code',
    'wanted',
    'allowed',
  ]),
  'decision.admitted': registered(['info'], 'A decision became an order; it is durable.', [
    ...orderFieldNames,
    'decision_key',
    'wanted_usd',
  ]),
  'journal.committed': registered(['debug'], 'A record of an order is durable.', [
    'intent_id',
    'record',
    ...attemptFieldNames,
    'latency_ms',
  ]),
  'order.moved': registered(['debug', 'info', 'warn'], "An order's label changed.", [
    ...orderFieldNames,
    ...attemptFieldNames,
    'state_from',
    'state_to',
    'reason',
    'outcome',
    'code',
    'settlement',
    'latency_ms',
  ]),
  'order.filled': registered(
    ['info', 'warn'],
    'A created order was filled; at warn, a reorganisation removed the fill.',
    [
      ...orderFieldNames,
      'role',
      'order_key',
      'execution_price',
      'filled_usd',
      'fees_usd',
      'pnl_usd',
      'venue_pnl_usd',
      'funding_received_usd',
      'sending_usd',
      'entry_costs_usd',
      'provisional',
    ],
  ),
  'order.exits': registered(['info'], 'A position is open and its exits rest.', [
    ...orderFieldNames,
    'exits',
  ]),
  'order.warned': registered(['warn'], 'The venue warns before signing.', [
    ...orderFieldNames,
    'host',
    'request_id',
    'warnings',
    'action',
    'reason',
    'to_usd',
  ]),
  'order.payload_rejected': registered(
    ['error'],
    'A host prepared a message that does not match the order; nothing was signed.',
    [...orderFieldNames, 'host', 'request_id', 'differences'],
  ),
  'order.not_signed': registered(['warn'], 'A price, a fee, the position or the time moved beyond a limit.', [
    ...orderFieldNames,
    'host',
    'request_id',
    'code',
    'differences',
  ]),
  'order.observed': registered(['debug'], 'Status of an unresolved attempt, by a host.', [
    ...orderFieldNames,
    'attempt',
    'status',
    'host',
    'trace_id',
    'reason',
  ]),
  'order.timing': registered(['debug'], 'Duration of a step of an order.', [
    'intent_id',
    'step',
    'latency_ms',
  ]),
  'order.untidy': registered(
    ['info', 'warn'],
    'An order janitor reports a useless resting order; at info, it is resolved.',
    ['order_key', 'market', 'direction', 'cause', 'strategy', 'is_over', 'reason'],
  ),
  'unwind.requested': registered(['warn'], 'An order is unwound if it lands.', [
    ...orderFieldNames,
    'by',
    'reason',
  ]),
  'unwind.waits': registered(['warn'], 'Cause that delays an unwind.', ['intent_id', 'reason']),
  'unwind.ended': registered(['info', 'error'], 'An order is unwound; at error, it was given up.', [
    'intent_id',
    'by',
    'outcome',
    'statement',
  ]),
  'task.started': registered(['info'], 'A task that makes orders over time began.', ['task', 'by', 'asked']),
  'task.waits': registered(['warn'], 'Cause that delays the next order of a task.', ['task', 'reason']),
  'task.ended': registered(['info', 'warn'], 'A task ended; at warn, before it was done.', [
    'task',
    'by',
    'outcome',
    'statement',
  ]),
} as const satisfies Readonly<Record<OrderEvent['type'], RegisteredEvent>>
