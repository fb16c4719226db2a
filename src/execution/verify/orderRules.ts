/** An intent as rules: the required value of each field, for every order that its message creates, in the order of the message. */
import { defined } from '../../base/defined.ts'
import { expectedOf } from '../../domain/machine/expected.ts'
import type { ContestedPrice } from '../../domain/order/contestedPrice.ts'
import type { Intent } from '../../domain/order/intent.ts'
import { type ExitTerms, keptShare, type OrderTerms, type SwapTerms } from '../../domain/order/orderTerms.ts'
import { type Address, ZERO_ADDRESS } from '../../protocol/address.ts'
import type { CreateOrderParams } from '../../protocol/batch.ts'
import {
  contractPriceOf,
  MAX_UINT256,
  priceOfContractPrice,
  type TokenAmount,
  type Usd,
} from '../../protocol/units.ts'
import { anyPriceOf, type PriceRule } from '../context/verifyPrice.ts'

/** Required content of one created order. */
export interface OrderRule {
  /** On-chain order type. */
  readonly orderType: number
  readonly market: Address
  readonly initialCollateralToken: Address
  readonly isLong: boolean
  /** True if it fills upwards: increases of longs, decreases of shorts. */
  readonly buys: boolean
  readonly size: SizeRule
  readonly collateral: CollateralRule
  /** Contract price of the index token; 0 for none. */
  readonly trigger: bigint
  readonly price: PriceRule
  readonly minOutput: MinOutputRule
  /** 1 turns profit into the collateral token, which is the token that we request; 2 would pay out in the other token. */
  readonly maxSwapType: bigint
  /**
   * True if `autoCancel` may have either value. On a closing order it can only end the order with its position, and the venue grants it while
   * there are few of them.
   */
  readonly mayAutoCancel: boolean
  /** Parts of the twap that it is one of; 0: it is none. */
  readonly parts: number
  readonly swap?: SwapTerms
}

/** Intended sizes, USD. */
export interface SizeRule {
  readonly asked: Usd
  /** Another size that the venue may give it; absent: none. */
  readonly other?: Usd
  /** True if it closes the whole position when it executes: the largest uint256 then means the same, on waiting orders. */
  readonly isAll: boolean
  /** The whole position, or its share in each part of a twap, for orders that reduce one now. */
  readonly wholeUsd?: Usd
}

/** Intended amounts of collateral, base units. */
export type CollateralRule =
  | { readonly kind: 'exact'; readonly amount: TokenAmount }
  /**
   * At most `part`; at most `all` where the order closes the whole position. That is so when its size is the position's, or was meant to be and
   * differs from the size that `part` was made from. A full close pays all of it out, whatever the order says
   * (DecreasePositionUtils.decreasePosition).
   */
  | {
      readonly kind: 'at-most'
      readonly part: TokenAmount
      readonly all: TokenAmount
      readonly wholeUsd: Usd | undefined
    }

/** Intended least outputs: base units of the received token for a swap, USD for a decrease. */
export type MinOutputRule =
  | { readonly kind: 'none' }
  | { readonly kind: 'between'; readonly least: bigint; readonly most: bigint }

const noMinOutput: MinOutputRule = { kind: 'none' }

/** The rules of an intent's orders: those of the order itself first, then those of its exits. Throws TypeError for terms that cannot be: admission makes none. */
export function rulesOf(intent: Intent): {
  readonly main: readonly OrderRule[]
  readonly exits: readonly OrderRule[]
} {
  const { kind, terms } = intent
  const types = expectedOf(intent).orders.map(({ orderType }) => orderType)
  if (kind === 'batch') {
    return {
      main: (terms.batch?.createOrderParamsList ?? []).map((order) => ownRule(order, intent)),
      exits: [],
    }
  }
  const parts = terms.twap?.parts ?? 1
  const exits = terms.tpsl ?? []
  return {
    main: types.slice(0, parts).map((orderType) => mainRule(intent, orderType)),
    exits: exits.map((exit, index) => exitRule(terms, exit, types[parts + index] ?? 0)),
  }
}

function mainRule({ kind, terms: given, sizing }: Intent, orderType: number): OrderRule {
  // A close of a journal of before says nothing of the position; whatever collateral it names, a full close pays all of it out.
  const terms =
    kind === 'close' && given.held === undefined
      ? { ...given, held: { sizeInUsd: given.sizeDeltaUsd, collateralAmount: MAX_UINT256 } }
      : given
  const isLong = terms.direction === 'long'
  if (kind === 'swap') {
    const least = terms.swap?.minOutputAmount ?? 0n
    return {
      ...positionRule(terms, orderType),
      market: ZERO_ADDRESS,
      isLong: false,
      collateral: { kind: 'exact', amount: terms.collateralDelta },
      price: { kind: 'none' },
      // Never less than was meant; more than twice as much could only ever be cancelled, at our cost.
      minOutput: { kind: 'between', least, most: 2n * least },
      ...defined({ swap: terms.swap }),
    }
  }
  const isIncrease = kind === 'increase' || kind === 'collateral-in'
  const buys = isLong === isIncrease
  const parts = terms.twap?.parts ?? 0
  const share = (amount: bigint) => (parts === 0 ? amount : amount / BigInt(parts))
  const isExact = isIncrease || kind === 'collateral-out'
  const waits = terms.orderType === 'take-profit' || terms.orderType === 'stop-loss'
  return {
    ...positionRule(terms, orderType),
    buys,
    size: {
      asked: share(terms.sizeDeltaUsd),
      ...defined({ other: terms.otherSizeDeltaUsd }),
      ...defined({
        wholeUsd:
          kind === 'decrease' || kind === 'close'
            ? share(terms.held?.sizeInUsd ?? terms.sizeDeltaUsd)
            : undefined,
      }),
      isAll: waits && terms.held !== undefined && terms.sizeDeltaUsd >= terms.held.sizeInUsd,
    },
    collateral: isExact
      ? { kind: 'exact', amount: share(terms.collateralDelta) }
      : {
          kind: 'at-most',
          part: share(closesAll(terms) ? (terms.held?.collateralAmount ?? 0n) : terms.collateralDelta),
          all: share(terms.held?.collateralAmount ?? terms.collateralDelta),
          wholeUsd: terms.held?.sizeInUsd,
        },
    trigger: parts === 0 ? triggerOf(terms) : anyPriceOf(buys),
    price: kind === 'collateral-in' ? { kind: 'unchecked' } : priceRuleOf(terms, sizing.contested),
    minOutput:
      terms.mostOutputUsd === undefined
        ? noMinOutput
        : { kind: 'between', least: 0n, most: terms.mostOutputUsd },
    maxSwapType: isIncrease ? 0n : 1n,
    mayAutoCancel: waits,
    parts,
  }
}

/** Tells whether a reduction was decided to be of the whole position, the parts of a twap together; false where sizing made a part the whole. */
function closesAll({ held, sizeDeltaUsd, otherSizeDeltaUsd }: OrderTerms): boolean {
  return held !== undefined && sizeDeltaUsd >= held.sizeInUsd && otherSizeDeltaUsd === undefined
}

function exitRule(terms: OrderTerms, exit: ExitTerms, orderType: number): OrderRule {
  const wholeUsd = (terms.held?.sizeInUsd ?? 0n) + terms.sizeDeltaUsd
  const all = (terms.held?.collateralAmount ?? 0n) + terms.collateralDelta
  return {
    ...positionRule(terms, orderType),
    buys: terms.direction === 'short',
    size: { asked: exit.sizeDeltaUsd, isAll: exit.sizeDeltaUsd >= wholeUsd },
    // An exit sees the position as it is when it fires; it may take its share, as the venue's interface lets exits do.
    collateral: { kind: 'at-most', part: keptShare(all, exit.sizeDeltaUsd, wholeUsd), all, wholeUsd },
    trigger: contractPriceOf(exit.triggerPrice, terms.indexToken.decimals),
    price: {
      kind: exit.type === 'take-profit' ? 'around' : 'any',
      center: exit.triggerPrice,
      ...estimated(exit),
    },
    maxSwapType: 1n,
    mayAutoCancel: true,
  }
}

/** Returns the common rule of every order on the intent's position; the callers fill the rest. */
function positionRule(terms: OrderTerms, orderType: number): OrderRule {
  return {
    orderType,
    market: terms.marketToken,
    initialCollateralToken: terms.collateralToken.address,
    isLong: terms.direction === 'long',
    buys: false,
    size: { asked: 0n, isAll: false },
    collateral: { kind: 'exact', amount: 0n },
    trigger: 0n,
    price: { kind: 'none' },
    minOutput: noMinOutput,
    maxSwapType: 0n,
    mayAutoCancel: false,
    parts: 0,
  }
}

function triggerOf({ triggerPrice, indexToken }: OrderTerms): bigint {
  return triggerPrice === undefined ? 0n : contractPriceOf(triggerPrice, indexToken.decimals)
}

function estimated({ priceImpactBps }: { readonly priceImpactBps?: number }): {
  readonly estimateBps?: number
} {
  return defined({ estimateBps: priceImpactBps })
}

function priceRuleOf(terms: OrderTerms, contested: ContestedPrice | undefined): PriceRule {
  const { orderType, triggerPrice, referencePrice, acceptablePriceImpactBps } = terms
  switch (orderType) {
    case 'market':
      return { kind: 'around', center: referencePrice, contested, ...estimated(terms) }
    case 'limit':
    case 'take-profit':
      return {
        kind: 'around',
        center: triggerPrice ?? 0n,
        ...estimated(terms),
        ...defined({ impactBps: acceptablePriceImpactBps }),
      }
    case 'stop-market':
    case 'stop-loss':
      return triggerPrice === undefined
        ? { kind: 'any' }
        : { kind: 'any', center: triggerPrice, ...estimated(terms) }
    case 'twap':
      return { kind: 'any' }
  }
}

const increases: ReadonlySet<bigint> = new Set([2n, 3n, 8n])
/** Limit increase and take-profit: bounded by their trigger. */
const triggered: ReadonlySet<bigint> = new Set([3n, 5n])
/** Stop-market and stop-loss. */
const stops: ReadonlySet<bigint> = new Set([6n, 8n])

/** Returns the rule of an order in a message of the caller's own: its own values, with the price bound of its type. */
function ownRule(order: CreateOrderParams, { terms, sizing: { contested } }: Intent): OrderRule {
  const { numbers, addresses, orderType, isLong } = order
  const trigger = priceOfContractPrice(numbers.triggerPrice, terms.indexToken.decimals)
  const isIncrease = increases.has(orderType)
  return {
    ...positionRule(terms, Number(orderType)),
    initialCollateralToken: addresses.initialCollateralToken,
    isLong,
    buys: isLong === isIncrease,
    size: { asked: numbers.sizeDeltaUsd, isAll: false },
    collateral: { kind: 'exact', amount: numbers.initialCollateralDeltaAmount },
    trigger: numbers.triggerPrice,
    price: stops.has(orderType)
      ? { kind: 'any', center: trigger }
      : triggered.has(orderType)
        ? { kind: 'around', center: trigger }
        : { kind: 'around', center: terms.referencePrice, contested },
    minOutput: { kind: 'between', least: numbers.minOutputAmount, most: numbers.minOutputAmount },
    maxSwapType: isIncrease ? 0n : 1n,
    mayAutoCancel: !isIncrease,
  }
}
