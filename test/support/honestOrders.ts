/** Orders as the venue makes them, built from plain facts by none of the rules that verification holds messages to. */
import type { IntentKind } from '../../src/domain/order/intent.ts'
import type { HeldPosition, OrderKind, OrderTerms } from '../../src/domain/order/orderTerms.ts'
import { type Address, type Hex, ZERO_ADDRESS, ZERO_HASH } from '../../src/protocol/address.ts'
import type { CreateOrderParams, UpdateOrderParams } from '../../src/protocol/batch.ts'
import { arbitrum } from '../../src/protocol/chains/arbitrum.ts'
import type { Direction } from '../../src/protocol/market.ts'
import type { RelayParams } from '../../src/protocol/signing/relayRouter.ts'
import type { TokenAmount, Usd } from '../../src/protocol/units.ts'
import { account, ethMarket, startMs, usdc, weth } from './intents.ts'

/** What a scene is made from. Amounts in base units of a 6-decimals dollar coin, prices USD per whole 18-decimals token. */
export interface Facts {
  readonly direction: Direction
  readonly referencePrice: Usd
  readonly slippageBps: number
  /** What an order adds or takes off; the whole position, where it is of all. */
  readonly sizeDeltaUsd: Usd
  /** What an increase, a swap or a change of collateral pays or takes. */
  readonly amount: TokenAmount
  readonly held: HeldPosition
  /** Of reductions and exits: whether they are of all that there is; of a part, whether sizing made it all. */
  readonly isWhole: boolean
  /** Of a take-profit or stop-loss of a part: whether it takes collateral along. */
  readonly keepsLeverage: boolean
  /** Most collateral that a reduction may take along. */
  readonly taken: TokenAmount
  /** How far triggers lie from the price, bps. */
  readonly triggerBps: number
  /** Impact that limits and take-profits name; absent: none. */
  readonly impactBps?: number
  /** Our own estimate of the price impact of every order, negative at our cost; absent: none. */
  readonly estimateBps?: number
  readonly parts: number
  readonly durationSeconds: number
  /** A swap that gives the native token. */
  readonly isNativeOut: boolean
  /** What sizing found that the venue may make of a part. */
  readonly otherSizeDeltaUsd?: Usd
  /** Type of an order, or of the order that is changed, of the caller's own. */
  readonly orderType:
    | 'limit'
    | 'stop-market'
    | 'take-profit'
    | 'stop-loss'
    | 'market increase'
    | 'market decrease'
}

/** Unix seconds at which scenes play. */
export const nowSeconds = startMs / 1000
/** The order that edits change. */
export const editedKey: Hex = `0x${'ed'.repeat(32)}`

/** The largest uint256. */
export const MAX = 2n ** 256n - 1n
const provider = arbitrum.contracts.chainlinkPriceFeedProvider

/** The metadata word of an order. */
export function wordOf(parts = 0, twapId = '0000', rest = '01:0:1'): Hex {
  const text = `gmxo:1:${parts}:${twapId}:${rest}`
  return `0x${Buffer.from(text.padEnd(32, '\0'), 'latin1').toString('hex')}`
}

/** Relay parameters as the venue makes them, for a message of so many orders. */
export function relayParamsFor(orders: number): RelayParams {
  return {
    oracleParams: { tokens: [usdc, weth], providers: [provider, provider], data: ['0x', '0x'] },
    externalCalls: {
      sendTokens: [],
      sendAmounts: [],
      externalCallTargets: [],
      externalCallDataList: [],
      refundTokens: [],
      refundReceivers: [],
    },
    tokenPermits: [],
    fee: { feeToken: usdc, feeAmount: 400_000n * BigInt(Math.max(1, orders)), feeSwapPath: [ethMarket] },
    userNonce: 7n,
    deadline: BigInt(nowSeconds + 300),
    desChainId: 42161n,
  }
}

/** An address that nobody asked for. */
export const stranger: Address = '0x1563915e194D8CfBA1943570603F7606A3115508'

/** A price as orders say it. */
export const contractOf = (price: Usd): bigint => price / 10n ** 18n
/** A price so many bps further up, or down where negative. */
const moved = (price: Usd, basisPoints: number): Usd => (price * BigInt(10_000 + basisPoints)) / 10_000n

/** The trigger of a waiting order: above the price, or below. */
export function triggerOf({ referencePrice, triggerBps }: Facts, isAbove: boolean): Usd {
  return contractOf(moved(referencePrice, isAbove ? triggerBps : -triggerBps)) * 10n ** 18n
}

const onChain = {
  'market increase': 2n,
  'market decrease': 4n,
  limit: 3n,
  'stop-market': 8n,
  'take-profit': 5n,
  'stop-loss': 6n,
} as const

function orderOf(
  orderType: bigint,
  facts: Facts,
  numbers: Partial<CreateOrderParams['numbers']>,
  other: Partial<CreateOrderParams> = {},
): CreateOrderParams {
  return {
    addresses: {
      receiver: account,
      cancellationReceiver: ZERO_ADDRESS,
      callbackContract: ZERO_ADDRESS,
      uiFeeReceiver: ZERO_ADDRESS,
      market: ethMarket,
      initialCollateralToken: usdc,
      swapPath: [],
    },
    numbers: {
      sizeDeltaUsd: 0n,
      initialCollateralDeltaAmount: 0n,
      triggerPrice: 0n,
      acceptablePrice: 0n,
      executionFee: 120_000_000_000_000n,
      callbackGasLimit: 0n,
      minOutputAmount: 0n,
      validFromTime: 0n,
      ...numbers,
    },
    orderType,
    decreasePositionSwapType: 0n,
    isLong: facts.direction === 'long',
    shouldUnwrapNativeToken: false,
    autoCancel: false,
    referralCode: ZERO_HASH,
    dataList: [wordOf()],
    ...other,
  }
}

/** What a scene consists of. */
export interface Parts {
  readonly kind: IntentKind
  readonly terms: Partial<OrderTerms>
  readonly orders?: readonly CreateOrderParams[]
  readonly updates?: readonly UpdateOrderParams[]
  readonly cancels?: readonly Hex[]
  readonly at?: number
  readonly reservationUsd?: Usd
}

const waiting: Readonly<Record<string, OrderKind>> = {
  'limit increase': 'limit',
  'stop entry': 'stop-market',
  'take-profit': 'take-profit',
  'stop-loss': 'stop-loss',
}

/** Whether a type's trigger lies above the price. */
export function isAbove(kind: OrderKind, direction: Direction): boolean {
  return (kind === 'stop-market' || kind === 'take-profit') === (direction === 'long')
}

/** Acceptable price at the slippage, or at what is named, towards the bad side. */
export function priceOf(buys: boolean, from: Usd, bps: number): bigint {
  return contractOf(moved(from, buys ? bps : -bps))
}

/** The estimate in the terms of an order or of an exit. */
export const estimateOf = ({ estimateBps }: Facts): { readonly priceImpactBps?: number } =>
  estimateBps === undefined ? {} : { priceImpactBps: estimateBps }

/** An increase. */
export function increase(name: string, facts: Facts): Parts {
  const { direction, sizeDeltaUsd, amount, slippageBps, impactBps } = facts
  const kind = waiting[name] ?? 'market'
  const buys = direction === 'long'
  const trigger = kind === 'market' ? undefined : triggerOf(facts, isAbove(kind, direction))
  const price =
    kind === 'stop-market'
      ? buys
        ? MAX
        : 0n
      : kind === 'limit'
        ? priceOf(buys, trigger ?? 0n, impactBps ?? 30)
        : priceOf(buys, facts.referencePrice, slippageBps)
  return {
    kind: 'increase',
    terms: {
      orderType: kind,
      sizeDeltaUsd,
      collateralDelta: amount,
      ...estimateOf(facts),
      ...(trigger === undefined ? {} : { triggerPrice: trigger }),
      ...(kind !== 'limit' || impactBps === undefined ? {} : { acceptablePriceImpactBps: impactBps }),
    },
    orders: [
      orderOf(onChain[kind === 'market' ? 'market increase' : (kind as 'limit')], facts, {
        sizeDeltaUsd,
        initialCollateralDeltaAmount: amount,
        triggerPrice: contractOf(trigger ?? 0n),
        acceptablePrice: price,
      }),
    ],
  }
}

/** An increase with a take-profit and a stop-loss, of all that there is then or of a part of what is added. */
export function withExits(name: string, facts: Facts): Parts {
  const { direction, sizeDeltaUsd, isWhole, held } = facts
  const main = increase('market increase', facts)
  const exits = (['take-profit', 'stop-loss'] as const).map((type) => ({
    type,
    triggerPrice: triggerOf(facts, isAbove(type, direction)),
    sizeDeltaUsd: isWhole ? held.sizeInUsd + sizeDeltaUsd : (sizeDeltaUsd * 2n) / 5n,
    ...estimateOf(facts),
  }))
  const sells = direction === 'long'
  return {
    ...main,
    terms: { ...main.terms, tpsl: exits, held },
    orders: [
      ...(main.orders ?? []),
      ...exits.map(({ type, triggerPrice, sizeDeltaUsd: size }) =>
        orderOf(
          onChain[type],
          facts,
          {
            sizeDeltaUsd: size,
            triggerPrice: contractOf(triggerPrice),
            acceptablePrice: type === 'take-profit' ? priceOf(!sells, triggerPrice, 30) : sells ? 0n : MAX,
          },
          { autoCancel: true, decreasePositionSwapType: 1n },
        ),
      ),
    ],
    at: name === 'take-profit exit' ? 1 : 2,
  }
}

/** A reduction. */
export function decrease(name: string, facts: Facts): Parts {
  const { direction, held, isWhole, taken, slippageBps, impactBps, otherSizeDeltaUsd } = facts
  const kind = waiting[name] ?? 'market'
  const buys = direction === 'short'
  const isAll = name === 'close' || isWhole
  const keeps = name === 'kept-leverage decrease' || (facts.keepsLeverage && kind !== 'market')
  const sizeDeltaUsd = isAll ? held.sizeInUsd : facts.sizeDeltaUsd
  const turned = isAll && name !== 'close' && kind === 'market' ? facts.sizeDeltaUsd : otherSizeDeltaUsd
  const trigger = kind === 'market' ? undefined : triggerOf(facts, isAbove(kind, direction))
  const price =
    kind === 'stop-loss'
      ? buys
        ? MAX
        : 0n
      : kind === 'take-profit'
        ? priceOf(buys, trigger ?? 0n, impactBps ?? 30)
        : priceOf(buys, facts.referencePrice, slippageBps)
  return {
    kind: name === 'close' ? 'close' : 'decrease',
    terms: {
      orderType: kind,
      sizeDeltaUsd,
      held,
      keepLeverage: keeps,
      collateralDelta: keeps ? taken : 0n,
      ...estimateOf(facts),
      ...(trigger === undefined ? {} : { triggerPrice: trigger }),
      ...(kind !== 'take-profit' || impactBps === undefined ? {} : { acceptablePriceImpactBps: impactBps }),
      ...(turned === undefined || name === 'close' ? {} : { otherSizeDeltaUsd: turned }),
    },
    orders: [
      orderOf(
        onChain[kind === 'market' ? 'market decrease' : (kind as 'stop-loss')],
        facts,
        {
          sizeDeltaUsd,
          initialCollateralDeltaAmount: isAll ? held.collateralAmount : keeps ? taken : 0n,
          triggerPrice: contractOf(trigger ?? 0n),
          acceptablePrice: price,
        },
        { autoCancel: kind !== 'market' },
      ),
    ],
  }
}

/** A twap, its parts due one after the other. */
export function twap(name: string, facts: Facts): Parts {
  const { direction, held, isWhole, parts, durationSeconds, amount, taken } = facts
  const isIncrease = name === 'twap increase'
  const buys = (direction === 'long') === isIncrease
  const sizeDeltaUsd = !isIncrease && isWhole ? held.sizeInUsd : facts.sizeDeltaUsd
  const most = isIncrease ? amount : isWhole ? held.collateralAmount : taken
  const count = BigInt(parts)
  return {
    kind: isIncrease ? 'increase' : 'decrease',
    terms: {
      orderType: 'twap',
      sizeDeltaUsd,
      collateralDelta: isIncrease ? amount : isWhole ? 0n : taken,
      twap: { parts, durationSeconds },
      ...(isIncrease ? {} : { held }),
    },
    orders: Array.from({ length: parts }, (_, index) =>
      orderOf(
        isIncrease ? 3n : 5n,
        facts,
        {
          sizeDeltaUsd: sizeDeltaUsd / count,
          initialCollateralDeltaAmount: most / count,
          triggerPrice: buys ? MAX : 0n,
          acceptablePrice: buys ? MAX : 0n,
          validFromTime: BigInt(nowSeconds) + (BigInt(durationSeconds) * BigInt(index)) / (count - 1n),
        },
        { dataList: [wordOf(parts, '1a2b')] },
      ),
    ),
  }
}

/** A change of collateral. */
export function collateral(name: 'collateral-in' | 'collateral-out', facts: Facts): Parts {
  const { direction, amount, held, referencePrice, slippageBps } = facts
  const isIn = name === 'collateral-in'
  const buys = (direction === 'long') === isIn
  return {
    kind: name,
    terms: {
      collateralDelta: amount,
      held,
      positionKey: 'position-1',
      // A dollar coin: its amount with 6 decimals as USD with 30.
      ...(isIn ? {} : { mostOutputUsd: amount * 10n ** 24n }),
    },
    orders: [
      orderOf(isIn ? 2n : 4n, facts, {
        initialCollateralDeltaAmount: amount,
        acceptablePrice: priceOf(buys, referencePrice, slippageBps),
      }),
    ],
  }
}

/** A swap through one market. */
export function swap(facts: Facts): Parts {
  const { amount, referencePrice, isNativeOut } = facts
  const fair = (amount * 10n ** 42n) / referencePrice
  const least = (fair * 98n) / 100n
  const order = orderOf(0n, facts, {
    initialCollateralDeltaAmount: amount,
    minOutputAmount: (fair * 99n) / 100n,
  })
  return {
    kind: 'swap',
    terms: {
      collateralDelta: amount,
      swap: {
        receiveToken: { symbol: 'WETH', address: weth, decimals: 18 },
        isNativeOut,
        minOutputAmount: least,
      },
    },
    orders: [
      {
        ...order,
        addresses: { ...order.addresses, market: ZERO_ADDRESS, swapPath: [ethMarket] },
        isLong: false,
        shouldUnwrapNativeToken: isNativeOut,
      },
    ],
  }
}
