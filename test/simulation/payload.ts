/**
 * What a host of the modelled venue proposes to sign: the message that the intent means, or a hostile one. An honest one has
 * the shapes of the venue's own client library, by chance of its own: nothing that the rest of the world draws moves with it.
 */

import type { Intent } from '../../src/domain/order/intent.ts'
import { anyPriceOf } from '../../src/execution/context/verifyPrice.ts'
import { type OrderRule, rulesOf } from '../../src/execution/verify/orderRules.ts'
import { type Address, type Hex, ZERO_ADDRESS, ZERO_HASH } from '../../src/protocol/address.ts'
import type { CreateOrderParams, UpdateOrderParams } from '../../src/protocol/batch.ts'
import { arbitrum } from '../../src/protocol/chains/arbitrum.ts'
import { emptySubaccountApproval } from '../../src/protocol/signing/approvalTypes.ts'
import { batchTypes } from '../../src/protocol/signing/batchTypes.ts'
import {
  type Batch,
  digestOf,
  domainSeparator,
  hashRelayParams,
  type RelayParams,
  relayRouterDomain,
} from '../../src/protocol/signing/relayRouter.ts'
import { hashSubaccountApproval } from '../../src/protocol/signing/subaccountApproval.ts'
import { bps, contractPriceOf, MAX_UINT256, type TokenAmount, type Usd } from '../../src/protocol/units.ts'
import { markets } from './intentsOf.ts'
import { type Random, randomOf } from './random.ts'

/** How a payload may differ from what was asked. */
export const hostilities = [
  'receiver',
  'size',
  'deadline',
  'router',
  'cancel',
  'fee',
  'market',
  'permit',
] as const

const stranger: Address = '0x00000000000000000000000000000000deadbeef'

/** Fee of an order in calm gas, wei. */
const calmExecutionFee = 10n ** 14n
/** What the relay's own gas costs, and what wei of the native token cost, base units of the fee token. */
const relayGasCost = 70_000n
const feeTokenOf = (wei: bigint): bigint => (wei * 1_800n) / 10n ** 12n

/** Metadata of an order: ASCII padded to 32 bytes. The copy beside the message has the express flag unset. */
function metadataOf(parts: number, isExpress: boolean): Hex {
  const text = `gmxo:1:${parts}:${parts > 0 ? 'abcd' : '0000'}:01:0:${isExpress ? 1 : 0}`
  return `0x${Buffer.from(text.padEnd(32, '\0'), 'latin1').toString('hex')}`
}

/** The asked size, the whole that a part becomes, or the largest uint256 of an exit that waits for all there is. */
function sizeOf({ size }: OrderRule, shape: Random): Usd {
  if (size.isAll && shape.chance(0.3)) return MAX_UINT256
  return size.other !== undefined && shape.chance(0.5) ? size.other : size.asked
}

/** Contract price: the reference moved against the order by impact and slippage, its budget, or any. */
function priceOf({ price, buys }: OrderRule, { terms }: Intent, shape: Random): bigint {
  const { decimals } = terms.indexToken
  if (price.kind === 'none') return 0n
  if (price.kind !== 'around') return anyPriceOf(buys)
  const against = (value: Usd, width: number): Usd => value + (buys ? 1n : -1n) * bps(value, width)
  const moved = against(price.center, price.impactBps ?? shape.int(0, 30))
  // Whether the server puts slippage on top of a limit's budget is not known.
  const slips = terms.orderType === 'market' || shape.chance(0.3)
  return contractPriceOf(slips ? against(moved, terms.slippageBps) : moved, decimals)
}

function createOf(
  intent: Intent,
  rule: OrderRule,
  index: number,
  nowSeconds: number,
  shape: Random,
): CreateOrderParams {
  const { terms, account } = intent
  const { parts, swap, minOutput } = rule
  const sizeDeltaUsd = sizeOf(rule, shape)
  const step = parts > 1 ? Math.floor((terms.twap?.durationSeconds ?? 0) / (parts - 1)) : 0
  const isDecrease = rule.orderType >= 4 && rule.orderType <= 6
  // A gas spike: what takes risk away is signed all the same.
  const isSpike = isDecrease && shape.chance(0.1)
  return {
    addresses: {
      receiver: account,
      cancellationReceiver: ZERO_ADDRESS,
      callbackContract: ZERO_ADDRESS,
      uiFeeReceiver: ZERO_ADDRESS,
      market: rule.market,
      initialCollateralToken: rule.initialCollateralToken,
      swapPath: swap === undefined ? [] : [markets[0] as Address],
    },
    numbers: {
      sizeDeltaUsd,
      initialCollateralDeltaAmount: collateralOf(rule, sizeDeltaUsd, shape),
      triggerPrice: rule.trigger,
      acceptablePrice: priceOf(rule, intent, shape),
      executionFee: (calmExecutionFee * BigInt(isSpike ? 60 : shape.int(10, 15))) / 10n,
      callbackGasLimit: 0n,
      minOutputAmount:
        minOutput.kind === 'none'
          ? 0n
          : shape.chance(0.5)
            ? minOutput.least
            : minOutput.least + (minOutput.most - minOutput.least) / 2n,
      validFromTime: parts > 0 ? BigInt(nowSeconds + step * index) : 0n,
    },
    orderType: BigInt(rule.orderType),
    decreasePositionSwapType: shape.chance(0.5) ? rule.maxSwapType : 0n,
    isLong: rule.isLong,
    shouldUnwrapNativeToken: swap?.isNativeOut ?? false,
    autoCancel: rule.mayAutoCancel && shape.chance(0.7),
    referralCode: ZERO_HASH,
    dataList: [metadataOf(parts, true)],
  }
}

/** Nothing, all that it may be, or what lies between: the library's choice hangs on costs that move. */
function collateralOf({ collateral }: OrderRule, sizeDeltaUsd: Usd, shape: Random): TokenAmount {
  if (collateral.kind === 'exact') return collateral.amount
  const isWhole =
    collateral.wholeUsd !== undefined &&
    (sizeDeltaUsd === collateral.wholeUsd || sizeDeltaUsd === MAX_UINT256)
  const most = isWhole ? collateral.all : collateral.part
  return shape.pick([0n, most, most, (most * BigInt(shape.int(0, 1_000))) / 1_000n])
}

function updatesOf({ terms: { edit } }: Intent, shape: Random): UpdateOrderParams[] {
  if (edit === undefined) return []
  return [
    {
      key: edit.orderKey,
      sizeDeltaUsd: edit.sizeDeltaUsd,
      acceptablePrice: edit.acceptableContractPrice,
      triggerPrice: edit.triggerContractPrice,
      minOutputAmount: edit.minOutputAmount,
      validFromTime: 0n,
      autoCancel: edit.autoCancel,
      // A venue may add what the order lacks at today's gas, unasked.
      executionFeeIncrease:
        edit.executionFeeIncrease + (shape.chance(0.4) ? BigInt(shape.int(1, 20)) * 10n ** 13n : 0n),
    },
  ]
}

/** What a host offers to sign. */
export interface Offer {
  /** The JSON of a prepare answer's payload. */
  readonly payload: unknown
  readonly digest: Hex
  /** The orders of its message, in their order. */
  readonly creates: readonly CreateOrderParams[]
  readonly userNonce: bigint
}

/** The offer of a prepare answer. `hostility` is what is wrong with it; `delegate` the session key that signs. */
export function offerOf(
  intent: Intent,
  times: { readonly nowSeconds: number; readonly deadlineSeconds: number },
  random: Random,
  hostility: (typeof hostilities)[number] | undefined,
  delegate: Address | undefined,
): Offer {
  const shape = randomOf(times.nowSeconds, `shape ${intent.intentId}`)
  const { main, exits } =
    intent.kind === 'edit' || intent.kind === 'cancel' ? { main: [], exits: [] } : rulesOf(intent)
  const ordered = shape.chance(0.3) ? exits.toReversed() : exits
  const honest = [...main, ...ordered].map((rule, index) =>
    createOf(intent, rule, index, times.nowSeconds, shape),
  )
  const updates = updatesOf(intent, shape)
  const executionFees = [
    ...honest.map(({ numbers }) => numbers.executionFee),
    ...updates.map(({ executionFeeIncrease }) => executionFeeIncrease),
  ].reduce((sum, fee) => sum + fee, 0n)
  const relayParams: RelayParams = {
    oracleParams: { tokens: [], providers: [], data: [] },
    externalCalls: {
      sendTokens: [],
      sendAmounts: [],
      externalCallTargets: [],
      externalCallDataList: [],
      refundTokens: hostility === 'permit' ? [stranger] : [],
      refundReceivers: hostility === 'permit' ? [stranger] : [],
    },
    tokenPermits: [],
    fee: {
      feeToken: arbitrum.feeToken.address,
      feeAmount: hostility === 'fee' ? 10n ** 15n : relayGasCost + feeTokenOf(executionFees),
      feeSwapPath: [...arbitrum.feeSwapPath],
    },
    userNonce: BigInt(times.nowSeconds) * 1_000_000n + BigInt(random.int(0, 999_999)),
    deadline: BigInt(hostility === 'deadline' ? times.nowSeconds + 10 ** 6 : times.deadlineSeconds),
    desChainId: BigInt(arbitrum.chainId),
  }
  const creates = honest.map((order) => {
    const { addresses, numbers } = order
    if (hostility === 'receiver') return { ...order, addresses: { ...addresses, receiver: stranger } }
    if (hostility === 'market') return { ...order, addresses: { ...addresses, market: stranger } }
    if (hostility === 'size')
      // All of the position cannot be more: there it is one unit less.
      return {
        ...order,
        numbers: {
          ...numbers,
          sizeDeltaUsd:
            numbers.sizeDeltaUsd === MAX_UINT256 ? MAX_UINT256 - 1n : numbers.sizeDeltaUsd * 2n + 1n,
        },
      }
    return order
  })
  const cancels = [...(intent.terms.cancelOrderKeys ?? [])]
  if (hostility === 'cancel') cancels.push(random.hex(32))
  const { gelatoRelayRouter, subaccountGelatoRelayRouter } = arbitrum.contracts
  const router = delegate === undefined ? gelatoRelayRouter : subaccountGelatoRelayRouter
  const verifyingContract = hostility === 'router' ? stranger : router
  const approval = delegate === undefined ? undefined : emptySubaccountApproval(delegate, arbitrum.chainId)
  const message: Batch = {
    account: delegate === undefined ? ZERO_ADDRESS : intent.account,
    createOrderParamsList: creates,
    updateOrderParamsList: updates,
    cancelOrderKeys: cancels,
    relayParams: hashRelayParams(relayParams),
    subaccountApproval: approval === undefined ? ZERO_HASH : hashSubaccountApproval(approval),
  }
  const payload = {
    typedData: {
      domain: relayRouterDomain(arbitrum.chainId, verifyingContract),
      types: batchTypes,
      primaryType: 'Batch',
      message: { ...message, createOrderParamsList: creates.map(orderJson) },
    },
    batchParams: {
      createOrderParams: creates.map((order, index) => ({
        params: {},
        orderPayload: {
          ...orderJson(order),
          dataList: [metadataOf(index < main.length ? (main[index]?.parts ?? 0) : 0, false)],
        },
        tokenTransfersParams: {},
      })),
      updateOrderParams: updates.map(({ key, executionFeeIncrease, ...rest }) => ({
        params: {},
        updatePayload: { orderKey: key, ...rest, executionFeeTopUp: executionFeeIncrease },
      })),
      cancelOrderParams: cancels.map((orderKey) => ({ orderKey })),
    },
    relayParams,
    relayRouterAddress: router,
  }
  const digest = digestOf(domainSeparator(arbitrum.chainId, verifyingContract), message)
  return { payload, digest, creates, userNonce: relayParams.userNonce }
}

function orderJson(order: CreateOrderParams): object {
  return {
    ...order,
    orderType: Number(order.orderType),
    decreasePositionSwapType: Number(order.decreasePositionSwapType),
  }
}

/** JSON with amounts as decimal texts. */
export function jsonText(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'bigint' ? inner.toString() : inner,
  )
}
