/**
 * The effect on chain of an intent's one message when it lands: the orders it creates, in the order of the message, and its changes of existing
 * orders (docs/reference/api-coverage.md POST /orders/txns/prepare). Evidence is compared with this list alone.
 */
import { defined } from '../../base/defined.ts'
import type { Address, Hex } from '../../protocol/address.ts'
import type { Direction } from '../../protocol/market.ts'
import type { TokenAmount, Usd } from '../../protocol/units.ts'
import type { ArmedFacts, ChildRole, Intent, SignedOrder } from '../order/intent.ts'

/** One order that a landing creates. */
export interface ExpectedOrder {
  readonly role: ChildRole
  /** On-chain order type (contract `Order`, `OrderType`). */
  readonly orderType: number
  /** Absent for swaps: the venue may choose the market of a swap. */
  readonly marketToken?: Address
  readonly direction?: Direction
  /**
   * USD; absent where the venue may say another size than we asked: a reduction that would leave too little becomes a full
   * close, and the parts of a twap are rounded down.
   */
  readonly sizeDeltaUsd?: Usd
  /** Requested size, USD, where `sizeDeltaUsd` is left open: among several fitting orders, the one of this size is meant. */
  readonly askedSizeUsd?: Usd
  /**
   * Base units of the collateral token; what is paid or taken out where no size tells one order from another: in swaps and
   * changes of collateral. Used as `askedSizeUsd` is.
   */
  readonly askedCollateral?: TokenAmount
}

/** One change of an existing order, with the event that shows it. */
export interface ExpectedChange {
  readonly orderKey: Hex
  readonly event: 'OrderUpdated' | 'OrderCancelled'
}

/** All that one landing does. */
export interface Expected {
  readonly orders: readonly ExpectedOrder[]
  readonly changes: readonly ExpectedChange[]
}

const increaseTypes: Readonly<Record<string, number>> = { market: 2, limit: 3, 'stop-market': 8, twap: 3 }
const decreaseTypes: Readonly<Record<string, number>> = {
  market: 4,
  'take-profit': 5,
  'stop-loss': 6,
  twap: 5,
}
const swapTypes: Readonly<Record<string, number>> = { market: 0, limit: 1, twap: 1 }
const exitTypes = { 'take-profit': 5, 'stop-loss': 6 } as const

/** Returns the effect of the intent's message. Throws TypeError for impossible terms, which admission never makes. */
export function expectedOf(intent: Intent): Expected {
  const { kind, terms } = intent
  switch (kind) {
    case 'increase':
    case 'decrease':
    case 'close':
    case 'swap':
      return { orders: [...mainOrders(intent), ...exitOrders(intent)], changes: [] }
    case 'collateral-in':
    case 'collateral-out':
      return {
        orders: [
          {
            role: 'main',
            orderType: kind === 'collateral-in' ? 2 : 4,
            marketToken: terms.marketToken,
            direction: terms.direction,
            sizeDeltaUsd: 0n,
            askedCollateral: terms.collateralDelta,
          },
        ],
        changes: [],
      }
    case 'edit':
      if (terms.edit === undefined) throw new TypeError('expectedOf: an edit without its terms')
      return { orders: [], changes: [{ orderKey: terms.edit.orderKey, event: 'OrderUpdated' }] }
    case 'cancel':
      return { orders: [], changes: cancels(terms.cancelOrderKeys ?? []) }
    case 'batch':
      return batchEffects(intent)
  }
}

/**
 * Returns the effect of the attempt's message, with the signed sizes and amounts where the record of the arming has them. A reduction may be signed
 * larger than requested: the requested sizes alone cannot separate two of them in one transaction.
 */
export function expectedOfSigned(
  intent: Intent,
  armed: { readonly creates: readonly SignedOrder[] },
): Expected {
  const { orders, changes } = expectedOf(intent)
  const { creates } = armed
  if (creates.length !== orders.length) return { orders, changes }
  return {
    orders: asSigned(orders, creates).map((order, index) => {
      const signed = creates[index]
      if (signed === undefined) return order
      return {
        ...order,
        ...defined({
          askedSizeUsd: order.sizeDeltaUsd === undefined ? signed.sizeDeltaUsd : undefined,
          askedCollateral: order.askedCollateral === undefined ? undefined : signed.collateralAmount,
        }),
      }
    }),
    changes,
  }
}

/** Returns the orders in the order of the signed message: exits that came with an increase may have another order there than in the request. */
function asSigned(
  orders: readonly ExpectedOrder[],
  creates: ArmedFacts['creates'],
): readonly ExpectedOrder[] {
  const left = [...orders]
  const found = creates.flatMap(({ orderType }) => {
    const at = orderType === undefined ? 0 : left.findIndex((order) => order.orderType === orderType)
    return at < 0 ? [] : left.splice(at, 1)
  })
  return found.length === orders.length ? found : orders
}

function mainOrders({ kind, terms }: Intent): readonly ExpectedOrder[] {
  const types = kind === 'increase' ? increaseTypes : kind === 'swap' ? swapTypes : decreaseTypes
  const orderType = types[terms.orderType]
  if (orderType === undefined) throw new TypeError(`expectedOf: ${kind} ${terms.orderType}`)
  const isSwap = kind === 'swap'
  const isExact = kind === 'increase' && terms.twap === undefined
  const askedSizeUsd = terms.sizeDeltaUsd / BigInt(terms.twap?.parts ?? 1)
  const order: ExpectedOrder = {
    role: terms.twap === undefined ? 'main' : 'part',
    orderType,
    ...defined({
      marketToken: isSwap ? undefined : terms.marketToken,
      direction: isSwap ? undefined : terms.direction,
      sizeDeltaUsd: isExact ? terms.sizeDeltaUsd : undefined,
      askedCollateral: isSwap && terms.twap === undefined ? terms.collateralDelta : undefined,
      askedSizeUsd: isExact || isSwap ? undefined : askedSizeUsd,
    }),
  }
  return Array.from({ length: terms.twap?.parts ?? 1 }, () => order)
}

function exitOrders({ terms }: Intent): readonly ExpectedOrder[] {
  return (terms.tpsl ?? []).map(({ type }) => ({
    role: type,
    orderType: exitTypes[type],
    marketToken: terms.marketToken,
    direction: terms.direction,
  }))
}

function cancels(orderKeys: readonly Hex[]): readonly ExpectedChange[] {
  return orderKeys.map((orderKey) => ({ orderKey, event: 'OrderCancelled' }))
}

function batchEffects({ terms: { batch } }: Intent): Expected {
  if (batch === undefined) throw new TypeError('expectedOf: a batch without its message')
  return {
    orders: batch.createOrderParamsList.map((order) => ({
      role: 'main',
      orderType: Number(order.orderType),
      marketToken: order.addresses.market,
      direction: order.isLong ? 'long' : 'short',
      sizeDeltaUsd: order.numbers.sizeDeltaUsd,
    })),
    changes: [
      ...batch.updateOrderParamsList.map(
        ({ key }): ExpectedChange => ({ orderKey: key, event: 'OrderUpdated' }),
      ),
      ...cancels(batch.cancelOrderKeys),
    ],
  }
}

/** A created order, wherever it was seen. */
export interface CreatedOrder {
  readonly orderKey: Hex
  readonly orderType: number
  readonly marketToken?: string
  readonly direction?: string
  readonly sizeDeltaUsd?: Usd
  /** Collateral at its creation, base units; only the chain's events are read for it. */
  readonly collateralAmount?: TokenAmount
}

/** Tells whether a created order can be the expected one. */
export function fits(expected: ExpectedOrder, created: CreatedOrder): boolean {
  return (
    created.orderType === expected.orderType &&
    (expected.marketToken === undefined ||
      created.marketToken?.toLowerCase() === expected.marketToken.toLowerCase()) &&
    (expected.direction === undefined || created.direction === expected.direction) &&
    (expected.sizeDeltaUsd === undefined ||
      created.sizeDeltaUsd === undefined ||
      created.sizeDeltaUsd === expected.sizeDeltaUsd)
  )
}

/**
 * Gives each expected order its created one, or undefined when they do not fit one to one. `created` in chain order where
 * there is one; expected orders are served in the order of the message, so that equal parts keep their order.
 */
export function match(
  expected: readonly ExpectedOrder[],
  created: readonly CreatedOrder[],
): readonly CreatedOrder[] | undefined {
  if (expected.length !== created.length) return undefined
  const left = [...created]
  const matched: CreatedOrder[] = []
  for (const order of expected) {
    const at = left.findIndex((candidate) => fits(order, candidate))
    const [found] = at < 0 ? [] : left.splice(at, 1)
    if (found === undefined) return undefined
    matched.push(found)
  }
  return matched
}
