/**
 * Every kind of intent with a message that says it as the venue would. docs/reference/messages.md has the rule of each field of each of them.
 */
import type { Intent } from '../../src/domain/order/intent.ts'
import type { OrderKind, OrderTerms } from '../../src/domain/order/orderTerms.ts'
import { type Hex, ZERO_HASH } from '../../src/protocol/address.ts'
import type { CreateOrderParams, UpdateOrderParams } from '../../src/protocol/batch.ts'
import {
  collateral,
  contractOf,
  decrease,
  editedKey,
  estimateOf,
  type Facts,
  increase,
  isAbove,
  MAX,
  type Parts,
  priceOf,
  swap,
  triggerOf,
  twap,
  withExits,
} from './honestOrders.ts'
import { intentOf } from './intents.ts'

/** Names of the orders that a message can create; docs/reference/messages.md has a rule of each of their fields. */
export const orderNames = [
  'market increase',
  'limit increase',
  'stop entry',
  'twap increase',
  'take-profit exit',
  'stop-loss exit',
  'market decrease',
  'kept-leverage decrease',
  'close',
  'take-profit',
  'stop-loss',
  'twap decrease',
  'collateral-in',
  'collateral-out',
  'swap',
  'own order',
] as const

/** Names of the changes of orders. */
export const changeNames = ['edit', 'own update', 'cancel'] as const

/** See `orderNames` and `changeNames`. */
export type SceneName = (typeof orderNames)[number] | (typeof changeNames)[number]

/** An intent, an honest message of it, and which of its created or updated orders the scene is of. */
export interface Scene {
  readonly name: SceneName
  readonly facts: Facts
  readonly intent: Intent
  readonly orders: readonly CreateOrderParams[]
  readonly updates: readonly UpdateOrderParams[]
  readonly cancels: readonly Hex[]
  readonly at: number
}

/** A scene of these facts. */
export function sceneOf(name: SceneName, facts: Facts): Scene {
  const parts = partsOf(name, facts)
  const { kind, orders = [], updates = [], cancels = [], at = 0 } = parts
  const base = intentOf().terms
  const terms: OrderTerms = {
    ...base,
    direction: facts.direction,
    slippageBps: facts.slippageBps,
    referencePrice: facts.referencePrice,
    sizeDeltaUsd: 0n,
    collateralDelta: 0n,
    ...parts.terms,
  }
  const adds = kind === 'increase' ? terms.sizeDeltaUsd : 0n
  const intent = intentOf({ kind, terms, reservationUsd: parts.reservationUsd ?? adds })
  return { name, facts, intent, orders, updates, cancels, at }
}

function partsOf(name: SceneName, facts: Facts): Parts {
  switch (name) {
    case 'market increase':
    case 'limit increase':
    case 'stop entry':
      return increase(name, facts)
    case 'take-profit exit':
    case 'stop-loss exit':
      return withExits(name, facts)
    case 'market decrease':
    case 'kept-leverage decrease':
    case 'close':
    case 'take-profit':
    case 'stop-loss':
      return decrease(name, facts)
    case 'twap increase':
    case 'twap decrease':
      return twap(name, facts)
    case 'collateral-in':
    case 'collateral-out':
      return collateral(name, facts)
    case 'swap':
      return swap(facts)
    case 'own order':
    case 'own update':
      return own(name, facts)
    case 'edit':
      return edit(facts)
    case 'cancel':
      return {
        kind: 'cancel',
        terms: { cancelOrderKeys: [editedKey, ZERO_HASH] },
        cancels: [editedKey, ZERO_HASH],
      }
  }
}

/** Orders and updates that the caller wrote himself. */
function own(name: 'own order' | 'own update', facts: Facts): Parts {
  const { orderType } = facts
  const isIncrease = orderType === 'market increase' || orderType === 'limit' || orderType === 'stop-market'
  const alike: SceneName =
    orderType === 'limit' ? 'limit increase' : orderType === 'stop-market' ? 'stop entry' : orderType
  const near: Facts = { ...facts, impactBps: 30 }
  const { orders = [] } = isIncrease ? increase(alike, near) : decrease(alike, near)
  const updates: readonly UpdateOrderParams[] = name === 'own update' ? updatesOf(facts) : []
  const creates = name === 'own order' ? orders : []
  const addedUsd = creates.reduce((sum, { numbers }) => sum + (isIncrease ? numbers.sizeDeltaUsd : 0n), 0n)
  return {
    kind: 'batch',
    terms: {
      sizeDeltaUsd: addedUsd,
      batch: { createOrderParamsList: creates, updateOrderParamsList: updates, cancelOrderKeys: [] },
    },
    orders: creates,
    updates,
    reservationUsd: addedUsd,
  }
}

function updatesOf(facts: Facts): readonly UpdateOrderParams[] {
  const { direction, orderType, sizeDeltaUsd } = facts
  const kind: OrderKind =
    orderType === 'market increase' || orderType === 'market decrease' ? 'limit' : orderType
  const buys = (direction === 'long') === (kind === 'limit' || kind === 'stop-market')
  const trigger = triggerOf(facts, isAbove(kind, direction))
  const isAny = kind === 'stop-market' || kind === 'stop-loss'
  return [
    {
      key: editedKey,
      sizeDeltaUsd,
      acceptablePrice: isAny ? (buys ? MAX : 0n) : priceOf(buys, trigger, 30),
      triggerPrice: contractOf(trigger),
      minOutputAmount: 0n,
      validFromTime: 0n,
      autoCancel: kind === 'take-profit' || kind === 'stop-loss',
      executionFeeIncrease: 10_000_000_000_000n,
    },
  ]
}

/** An edit of size and trigger: what it does not name stays as it is stored. */
function edit(facts: Facts): Parts {
  const [update] = updatesOf(facts)
  if (update === undefined) throw new TypeError('an edit has one update')
  const { orderType } = facts
  const kind: OrderKind =
    orderType === 'market increase' || orderType === 'market decrease' ? 'limit' : orderType
  return {
    kind: 'edit',
    terms: {
      orderType: kind,
      sizeDeltaUsd: update.sizeDeltaUsd,
      triggerPrice: update.triggerPrice * 10n ** 18n,
      ...estimateOf(facts),
      edit: {
        orderKey: update.key,
        sizeDeltaUsd: update.sizeDeltaUsd,
        triggerContractPrice: update.triggerPrice,
        acceptableContractPrice: update.acceptablePrice,
        minOutputAmount: update.minOutputAmount,
        autoCancel: update.autoCancel,
        executionFeeIncrease: update.executionFeeIncrease,
        changed: ['size', 'trigger'],
      },
    },
    updates: [update],
    // It grows nothing: what it changes tells what bounds it.
    reservationUsd: 0n,
  }
}
