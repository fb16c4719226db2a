/** What a host of the modelled venue proposes to sign: the message that the intent means, or a hostile one. */

import { emptySubaccountApproval } from '../../src/chains/approvalTypes.ts'
import { arbitrum } from '../../src/chains/arbitrum.ts'
import { batchTypes } from '../../src/chains/batchTypes.ts'
import { hashRelayParams, type RelayParams, relayRouterDomain } from '../../src/chains/relayRouter.ts'
import { hashSubaccountApproval } from '../../src/chains/subaccountApproval.ts'
import { type Address, ZERO_ADDRESS, ZERO_HASH } from '../../src/domain/address.ts'
import type { CreateOrderParams, UpdateOrderParams } from '../../src/domain/batch.ts'
import type { Intent } from '../../src/domain/intent.ts'
import { contractPriceOf, type TokenAmount } from '../../src/domain/units.ts'
import { type OrderRule, rulesOf } from '../../src/execution/orderRules.ts'
import { anyPriceOf } from '../../src/execution/verifyPrice.ts'
import { markets } from './intentsOf.ts'
import type { Random } from './random.ts'

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

function createOf(intent: Intent, rule: OrderRule, index: number, nowSeconds: number): CreateOrderParams {
  const { terms, account } = intent
  const { decimals } = terms.indexToken
  const { price, parts, swap } = rule
  const acceptable =
    price.kind === 'none'
      ? 0n
      : price.kind === 'around'
        ? contractPriceOf(price.center, decimals)
        : anyPriceOf(rule.buys)
  const step = parts > 1 ? Math.floor((terms.twap?.durationSeconds ?? 0) / (parts - 1)) : 0
  const metadata = Buffer.from(`gmxo:1:${parts}:abcd:00:0:1`.padEnd(32, '\0'), 'latin1').toString('hex')
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
      sizeDeltaUsd: rule.size.asked,
      initialCollateralDeltaAmount: collateralOf(rule),
      triggerPrice: rule.trigger,
      acceptablePrice: acceptable,
      executionFee: 10n ** 14n,
      callbackGasLimit: 0n,
      minOutputAmount: swap?.minOutputAmount ?? 0n,
      validFromTime: parts > 0 ? BigInt(nowSeconds + step * index) : 0n,
    },
    orderType: BigInt(rule.orderType),
    decreasePositionSwapType: 0n,
    isLong: rule.isLong,
    shouldUnwrapNativeToken: swap?.isNativeOut ?? false,
    autoCancel: false,
    referralCode: ZERO_HASH,
    dataList: parts > 0 ? [`0x${metadata}`] : [],
  }
}

function collateralOf({ collateral, size }: OrderRule): TokenAmount {
  if (collateral.kind === 'exact') return collateral.amount
  return size.asked === collateral.wholeUsd ? collateral.all : collateral.part
}

function updatesOf({ terms: { edit } }: Intent): UpdateOrderParams[] {
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
      executionFeeIncrease: edit.executionFeeIncrease,
    },
  ]
}

/** The JSON of a prepare answer's payload. `hostility` is what is wrong with it; `delegate` the session key that signs. */
export function payloadOf(
  intent: Intent,
  times: { readonly nowSeconds: number; readonly deadlineSeconds: number },
  random: Random,
  hostility: (typeof hostilities)[number] | undefined,
  delegate: Address | undefined,
): unknown {
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
      feeAmount: hostility === 'fee' ? 10n ** 15n : 250_000n,
      feeSwapPath: [...arbitrum.feeSwapPath],
    },
    userNonce: BigInt(times.nowSeconds) * 1_000_000n + BigInt(random.int(0, 999_999)),
    deadline: BigInt(hostility === 'deadline' ? times.nowSeconds + 10 ** 6 : times.deadlineSeconds),
    desChainId: BigInt(arbitrum.chainId),
  }
  const rules = intent.kind === 'edit' || intent.kind === 'cancel' ? { main: [], exits: [] } : rulesOf(intent)
  const creates = [...rules.main, ...rules.exits].map((rule, index) => {
    const order = createOf(intent, rule, index, times.nowSeconds)
    const { addresses, numbers } = order
    if (hostility === 'receiver') return { ...order, addresses: { ...addresses, receiver: stranger } }
    if (hostility === 'market') return { ...order, addresses: { ...addresses, market: stranger } }
    if (hostility === 'size')
      return { ...order, numbers: { ...numbers, sizeDeltaUsd: numbers.sizeDeltaUsd * 2n + 1n } }
    return order
  })
  const cancels = [...(intent.terms.cancelOrderKeys ?? [])]
  if (hostility === 'cancel') cancels.push(random.hex(32))
  const { gelatoRelayRouter, subaccountGelatoRelayRouter } = arbitrum.contracts
  const router = delegate === undefined ? gelatoRelayRouter : subaccountGelatoRelayRouter
  const verifyingContract = hostility === 'router' ? stranger : router
  const approval = delegate === undefined ? undefined : emptySubaccountApproval(delegate, arbitrum.chainId)
  return {
    typedData: {
      domain: relayRouterDomain(arbitrum.chainId, verifyingContract),
      types: batchTypes,
      primaryType: 'Batch',
      message: {
        account: delegate === undefined ? ZERO_ADDRESS : intent.account,
        createOrderParamsList: creates.map(orderJson),
        updateOrderParamsList: updatesOf(intent),
        cancelOrderKeys: cancels,
        relayParams: hashRelayParams(relayParams),
        subaccountApproval: approval === undefined ? ZERO_HASH : hashSubaccountApproval(approval),
      },
    },
    batchParams: {
      createOrderParams: creates.map((order) => ({
        params: {},
        orderPayload: orderJson(order),
        tokenTransfersParams: {},
      })),
      updateOrderParams: updatesOf(intent).map(({ key, executionFeeIncrease, ...rest }) => ({
        params: {},
        updatePayload: { orderKey: key, ...rest, executionFeeTopUp: executionFeeIncrease },
      })),
      cancelOrderParams: cancels.map((orderKey) => ({ orderKey })),
    },
    relayParams,
    relayRouterAddress: router,
  }
}

function orderJson(order: CreateOrderParams): unknown {
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
