/** Intents of every kind, as admission would hand them to the shell, and the orders that their messages create. */
import { expectedOf } from '../../src/domain/machine/expected.ts'
import type { Intent, IntentKind } from '../../src/domain/order/intent.ts'
import type { LaneName } from '../../src/domain/order/laneTable.ts'
import type { OrderKind, OrderTerms } from '../../src/domain/order/orderTerms.ts'
import { swapMarketsOf } from '../../src/execution/context/swapPath.ts'
import type { Address, Hex } from '../../src/protocol/address.ts'
import type { CreateOrderParams } from '../../src/protocol/batch.ts'
import { arbitrum } from '../../src/protocol/chains/arbitrum.ts'
import { usd } from '../../src/protocol/units.ts'
import { intentOf, usdc, weth } from '../support/intents.ts'
import type { OrderSpec } from './chainModel.ts'
import type { Random } from './random.ts'

/** What a strategy of the simulation may ask for. */
export const shapes = [
  'increase market',
  'increase limit',
  'increase stop-market',
  'increase twap',
  'increase market with exits',
  'decrease market',
  'decrease take-profit',
  'decrease stop-loss',
  'decrease twap',
  'close market',
  'swap market',
  'collateral-in market',
  'collateral-out market',
  'edit',
  'cancel',
  'batch',
] as const

/** One of them. */
export type Shape = (typeof shapes)[number]

/** Markets of the simulation. */
export const markets: readonly Address[] = [
  '0x70d95587d40A2caf56bd97485aB3Eec10Bee6336',
  '0x47c031236e19d024b42f8AE6780E44A573170703',
  '0x09400D9DB990D5ed3f35D7be61DfAEB900Af03C9',
]
/** What swaps go through: the chain's own way of the fee, and the first market. */
export const swapMarkets = swapMarketsOf(
  [...markets, ...arbitrum.feeSwapPath].map((marketToken) => ({
    marketToken,
    indexToken: weth,
    longToken: weth,
    shortToken: usdc,
  })),
)

/** What makes an intent. */
export interface Wish {
  readonly shape: Shape
  /** Number of the decision; the same number is the same decision. */
  readonly number: number
  readonly account: Address
  readonly lane: LaneName
  /** Wall clock of the daemon, Unix ms. */
  readonly nowMs: number
  /** Whole USD of an increase; decreases ask for as much. */
  readonly sizeUsd: number
  readonly market: Address
  readonly direction: 'long' | 'short'
  /** The order that an edit or a cancel is about. */
  readonly target?: Hex
  readonly expiresAfterMs: number
}

/** The id of the intent of a decision. */
export function intentIdOf(number: number): string {
  return `51${number.toString(16).padStart(22, '0')}`
}

/** Which decision an amount of one of these intents belongs to. */
export function numberOfAmount(amount: bigint): number {
  // Parts of a twap lose up to two units of the sum.
  return Math.round(Number(amount % 10_000n) / 10)
}

function marked(number: number): bigint {
  return BigInt(number) * 10n
}

const symbol = 'ETH/USD [WETH-USDC]'

/** The intent of a decision. Throws TypeError for an edit or cancel without its order. */
export function intentOfWish(wish: Wish): Intent {
  const [kindText, orderText = 'market'] = wish.shape.split(' ')
  const kind = kindText as IntentKind
  // The last digits say which decision it is, so that the modelled venue knows what it is asked for.
  const sizeDeltaUsd = kind.startsWith('collateral') ? 0n : usd(wish.sizeUsd) + marked(wish.number)
  const pays = kind === 'increase' || kind === 'swap' || kind.startsWith('collateral')
  const base = intentOf()
  const terms: OrderTerms = {
    ...base.terms,
    orderType: orderText as OrderKind,
    symbol,
    marketToken: wish.market,
    indexToken: { symbol: 'WETH', address: weth, decimals: 18 },
    direction: wish.direction,
    collateralToken: { symbol: 'USDC', address: usdc, decimals: 6 },
    sizeDeltaUsd,
    collateralDelta: pays ? BigInt(wish.sizeUsd) * 500_000n + marked(wish.number) : 0n,
    referencePrice: usd(1800),
    ...extraTerms(wish, kind, orderText),
  }
  const adds = kind === 'increase' || kind === 'batch'
  return {
    ...base,
    intentId: intentIdOf(wish.number),
    decisionKey: `sim@${wish.number}`,
    strategy: 'sim',
    account: wish.account,
    lane: kind === 'batch' ? 'relay' : wish.lane,
    kind,
    decision: { ...base.decision, marketToken: wish.market, direction: wish.direction },
    terms,
    sizing: { wantedUsd: sizeDeltaUsd, sizeDeltaUsd, cuts: [], dataAgeMs: 10 },
    reservationUsd: adds ? sizeDeltaUsd : 0n,
    acceptedAtMs: wish.nowMs,
    expiresAtMs: wish.nowMs + wish.expiresAfterMs,
  }
}

function extraTerms(wish: Wish, kind: IntentKind, orderText: string): Partial<OrderTerms> {
  const target = wish.target
  if (kind === 'edit') {
    if (target === undefined) throw new TypeError('intentOfWish: an edit without its order')
    return {
      edit: {
        orderKey: target,
        sizeDeltaUsd: usd(wish.sizeUsd) + marked(wish.number),
        triggerContractPrice: 1_700n * 10n ** 12n,
        acceptableContractPrice: 1_710n * 10n ** 12n,
        minOutputAmount: 0n,
        autoCancel: false,
        executionFeeIncrease: 0n,
        changed: ['trigger'],
      },
    }
  }
  if (kind === 'cancel') {
    if (target === undefined) throw new TypeError('intentOfWish: a cancel without its order')
    return { cancelOrderKeys: [target] }
  }
  if (kind === 'batch') {
    return {
      batch: {
        createOrderParamsList: [createParams(wish)],
        updateOrderParamsList: [],
        cancelOrderKeys: target === undefined ? [] : [target],
      },
    }
  }
  if (kind === 'swap') {
    return {
      swap: {
        receiveToken: { symbol: 'WETH', address: weth, decimals: 18 },
        isNativeOut: false,
        minOutputAmount: 1n,
      },
    }
  }
  const isWaiting = orderText !== 'market' && orderText !== 'twap'
  return {
    ...(kind.startsWith('collateral')
      ? { positionKey: `${wish.account}:${wish.market}:${usdc}:${wish.direction === 'long'}` }
      : {}),
    ...(isWaiting ? { triggerPrice: usd(1750) } : {}),
    ...(orderText === 'twap' ? { twap: { parts: 3, durationSeconds: 90 } } : {}),
    ...(wish.shape === 'increase market with exits'
      ? {
          tpsl: [
            { type: 'take-profit', triggerPrice: usd(2000), sizeDeltaUsd: usd(wish.sizeUsd) },
            { type: 'stop-loss', triggerPrice: usd(1600), sizeDeltaUsd: usd(wish.sizeUsd) },
          ],
        }
      : {}),
  }
}

function createParams(wish: Wish): CreateOrderParams {
  const zero: Hex = `0x${'00'.repeat(20)}`
  return {
    addresses: {
      receiver: wish.account,
      cancellationReceiver: zero,
      callbackContract: zero,
      uiFeeReceiver: zero,
      market: wish.market,
      initialCollateralToken: usdc,
      swapPath: [],
    },
    numbers: {
      sizeDeltaUsd: usd(wish.sizeUsd) + marked(wish.number),
      initialCollateralDeltaAmount: BigInt(wish.sizeUsd) * 500_000n,
      triggerPrice: 0n,
      acceptablePrice: 1_818n * 10n ** 12n,
      executionFee: 10n ** 14n,
      callbackGasLimit: 0n,
      minOutputAmount: 0n,
      validFromTime: 0n,
    },
    orderType: 2n,
    decreasePositionSwapType: 0n,
    isLong: wish.direction === 'long',
    shouldUnwrapNativeToken: false,
    autoCancel: false,
    referralCode: `0x${'00'.repeat(32)}`,
    dataList: [],
  }
}

/** The orders that the intent's message creates on the modelled chain; where a message was really signed, its sizes count. */
export function specsOf(intent: Intent, random: Random): readonly OrderSpec[] {
  const { terms, kind } = intent
  const parts = BigInt(terms.twap?.parts ?? 1)
  return expectedOf(intent).orders.map((expected) => {
    const isOwn = expected.role === 'main' || expected.role === 'part'
    const asked = expected.sizeDeltaUsd ?? (isOwn ? terms.sizeDeltaUsd / parts : terms.sizeDeltaUsd)
    // The protocol makes a reduction that would leave too little a full close.
    const grows = kind === 'decrease' && random.chance(0.2)
    return {
      role: expected.role,
      orderType: expected.orderType,
      marketToken: (expected.marketToken ?? terms.marketToken) as Hex,
      direction: expected.direction ?? 'short',
      sizeDeltaUsd: grows ? asked * 2n : asked,
      ...(expected.askedCollateral === undefined ? {} : { collateralAmount: terms.collateralDelta }),
      adds: isOwn && (kind === 'increase' || kind === 'batch'),
    }
  })
}
