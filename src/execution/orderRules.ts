/** An intent as rules: for every order that its message creates, in the order of the message, what each field must be. */
import { type Address, ZERO_ADDRESS } from '../domain/address.ts'
import type { CreateOrderParams } from '../domain/batch.ts'
import type { ExitTerms, Intent, OrderTerms, SwapTerms } from '../domain/intent.ts'
import { expectedOf } from '../domain/machine/expected.ts'
import { contractPriceOf, priceOfContractPrice, type TokenAmount, type Usd } from '../domain/units.ts'
import { anyPriceOf, type PriceRule } from './verifyPrice.ts'

/** What one created order must say. */
export interface OrderRule {
  /** On-chain order type. */
  readonly orderType: number
  readonly market: Address
  readonly initialCollateralToken: Address
  readonly isLong: boolean
  /** Whether it fills upwards: increases of longs, decreases of shorts. */
  readonly buys: boolean
  readonly sizeDeltaUsd: Usd
  readonly collateral: TokenAmount
  /** `most`: the venue reckons it from the position, which moves by itself when leverage is kept. */
  readonly collateralRule: 'exact' | 'most' | 'most-of-position'
  /** Contract price of the index token; 0 for none. */
  readonly trigger: bigint
  readonly price: PriceRule
  /** 1 turns profit into the collateral token, which is what we ask to receive; 2 would pay out in the other token. */
  readonly maxSwapType: bigint
  /**
   * Whether `autoCancel` may be either: on an order that only closes it can do no more than end it with its position, and
   * the venue grants it while there are few of them.
   */
  readonly mayAutoCancel: boolean
  /** Parts of the twap that it is one of; 0: it is none. */
  readonly parts: number
  readonly swap?: SwapTerms
}

/** The rules of an intent's orders. Throws TypeError for terms that cannot be: admission makes none. */
export function rulesOf(intent: Intent): readonly OrderRule[] {
  const { kind, terms } = intent
  const types = expectedOf(intent).orders.map(({ orderType }) => orderType)
  if (kind === 'batch')
    return (terms.batch?.createOrderParamsList ?? []).map((order) => ownRule(order, terms))
  const parts = terms.twap?.parts ?? 1
  const exits = terms.tpsl ?? []
  return types.map((orderType, index) => {
    const exit = exits[index - parts]
    return index < parts || exit === undefined
      ? mainRule(intent, orderType)
      : exitRule(terms, exit, orderType)
  })
}

function mainRule({ kind, terms }: Intent, orderType: number): OrderRule {
  const isLong = terms.direction === 'long'
  if (kind === 'swap') {
    return {
      ...positionRule(terms, orderType),
      market: ZERO_ADDRESS,
      isLong: false,
      buys: false,
      sizeDeltaUsd: 0n,
      collateral: terms.collateralDelta,
      collateralRule: 'exact',
      price: { kind: 'none' },
      maxSwapType: 0n,
      ...(terms.swap === undefined ? {} : { swap: terms.swap }),
    }
  }
  const isIncrease = kind === 'increase' || kind === 'collateral-in'
  const buys = isLong === isIncrease
  const parts = terms.twap?.parts ?? 0
  const share = (amount: bigint) => (parts === 0 ? amount : amount / BigInt(parts))
  const isExact = isIncrease || kind === 'collateral-out'
  return {
    ...positionRule(terms, orderType),
    buys,
    sizeDeltaUsd: share(terms.sizeDeltaUsd),
    collateral: share(terms.collateralDelta),
    collateralRule: isExact ? 'exact' : terms.keepLeverage ? 'most-of-position' : 'most',
    trigger: parts === 0 ? triggerOf(terms) : anyPriceOf(buys),
    price: priceRuleOf(terms),
    maxSwapType: isIncrease ? 0n : 1n,
    mayAutoCancel: terms.orderType === 'take-profit' || terms.orderType === 'stop-loss',
    parts,
  }
}

function exitRule(terms: OrderTerms, exit: ExitTerms, orderType: number): OrderRule {
  return {
    ...positionRule(terms, orderType),
    buys: terms.direction === 'short',
    sizeDeltaUsd: exit.sizeDeltaUsd,
    trigger: contractPriceOf(exit.triggerPrice, terms.indexToken.decimals),
    price: { kind: exit.type === 'take-profit' ? 'around' : 'any', center: exit.triggerPrice },
    maxSwapType: 1n,
    mayAutoCancel: true,
  }
}

/** What every order on the intent's position shares; the callers fill the rest. */
function positionRule(terms: OrderTerms, orderType: number): OrderRule {
  return {
    orderType,
    market: terms.marketToken,
    initialCollateralToken: terms.collateralToken.address,
    isLong: terms.direction === 'long',
    buys: false,
    sizeDeltaUsd: 0n,
    collateral: 0n,
    collateralRule: 'exact',
    trigger: 0n,
    price: { kind: 'none' },
    maxSwapType: 0n,
    mayAutoCancel: false,
    parts: 0,
  }
}

function triggerOf({ triggerPrice, indexToken }: OrderTerms): bigint {
  return triggerPrice === undefined ? 0n : contractPriceOf(triggerPrice, indexToken.decimals)
}

function priceRuleOf({ orderType, triggerPrice, referencePrice }: OrderTerms): PriceRule {
  switch (orderType) {
    case 'market':
      return { kind: 'around', center: referencePrice }
    case 'limit':
    case 'take-profit':
      return { kind: 'around', center: triggerPrice ?? 0n }
    case 'stop-market':
    case 'stop-loss':
      return triggerPrice === undefined ? { kind: 'any' } : { kind: 'any', center: triggerPrice }
    case 'twap':
      return { kind: 'any' }
  }
}

const increases: ReadonlySet<bigint> = new Set([2n, 3n, 8n])
/** Limit increase and take-profit: bounded by their trigger. */
const triggered: ReadonlySet<bigint> = new Set([3n, 5n])
/** Stop-market and stop-loss. */
const stops: ReadonlySet<bigint> = new Set([6n, 8n])

/** The rule of an order in a message of the caller's own: what he wrote, with the price bound of its type. */
function ownRule(order: CreateOrderParams, terms: OrderTerms): OrderRule {
  const { numbers, addresses, orderType, isLong } = order
  const trigger = priceOfContractPrice(numbers.triggerPrice, terms.indexToken.decimals)
  const isIncrease = increases.has(orderType)
  return {
    ...positionRule(terms, Number(orderType)),
    initialCollateralToken: addresses.initialCollateralToken,
    isLong,
    buys: isLong === isIncrease,
    sizeDeltaUsd: numbers.sizeDeltaUsd,
    collateral: numbers.initialCollateralDeltaAmount,
    trigger: numbers.triggerPrice,
    price: stops.has(orderType)
      ? { kind: 'any', center: trigger }
      : { kind: 'around', center: triggered.has(orderType) ? trigger : terms.referencePrice },
    maxSwapType: isIncrease ? 0n : 1n,
    mayAutoCancel: !isIncrease,
  }
}
