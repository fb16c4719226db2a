import { expect, test } from 'vitest'
import type { Prepared } from '../../src/api/orders/expressOrders.ts'
import type { Intent } from '../../src/domain/order/intent.ts'
import type { SigningPolicy } from '../../src/execution/context/policy.ts'
import { type Rejection, type Verified, verify } from '../../src/execution/verify/verify.ts'
import { ZERO_ADDRESS, ZERO_HASH } from '../../src/protocol/address.ts'
import { arbitrum } from '../../src/protocol/chains/arbitrum.ts'
import { batchTypes } from '../../src/protocol/signing/batchTypes.ts'
import {
  type Batch,
  digestOf,
  domainSeparator,
  hashRelayParams,
  type RelayParams,
  relayRouterDomain,
} from '../../src/protocol/signing/relayRouter.ts'
import {
  account,
  ethMarket,
  ethSwapMarkets,
  intentOf,
  router,
  startMs,
  usdc,
  weth,
} from '../support/intents.ts'

const stranger = '0x1563915e194D8CfBA1943570603F7606A3115508'
const nowSeconds = startMs / 1000
const provider = arbitrum.contracts.chainlinkPriceFeedProvider

const policy: SigningPolicy = {
  minDeadlineSeconds: 20,
  maxDeadlineSeconds: 3700,
  maxExecutionFee: 10n ** 16n,
  maxRelayFee: 5_000_000n,
  priceToleranceBps: 50,
  swapMarkets: ethSwapMarkets,
}

const noCalls: RelayParams['externalCalls'] = {
  sendTokens: [],
  sendAmounts: [],
  externalCallTargets: [],
  externalCallDataList: [],
  refundTokens: [],
  refundReceivers: [],
}

const goodParams: RelayParams = {
  oracleParams: { tokens: [usdc, weth], providers: [provider, provider], data: ['0x', '0x'] },
  externalCalls: noCalls,
  tokenPermits: [],
  fee: { feeToken: usdc, feeAmount: 250_000n, feeSwapPath: [ethMarket] },
  userNonce: 7n,
  deadline: BigInt(nowSeconds + 300),
  desChainId: 42161n,
}

type Order = Batch['createOrderParamsList'][number]

const goodOrder: Order = {
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
    sizeDeltaUsd: 500n * 10n ** 30n,
    initialCollateralDeltaAmount: 250_000_000n,
    triggerPrice: 0n,
    acceptablePrice: 1818n * 10n ** 12n,
    executionFee: 10n ** 14n,
    callbackGasLimit: 0n,
    minOutputAmount: 0n,
    validFromTime: 0n,
  },
  orderType: 2n,
  decreasePositionSwapType: 0n,
  isLong: true,
  shouldUnwrapNativeToken: false,
  autoCancel: false,
  referralCode: ZERO_HASH,
  dataList: ['0x676d786f3a313a303a303030303a30313a303a31000000000000000000000000'],
}

interface Parts {
  readonly order?: Partial<Order>
  readonly addresses?: Partial<Order['addresses']>
  readonly numbers?: Partial<Order['numbers']>
  readonly batch?: Partial<Batch>
  readonly relayParams?: Partial<RelayParams>
  readonly prepared?: Partial<Prepared>
  readonly typedData?: Partial<Prepared['typedData']>
}

function preparedOf(parts: Parts = {}): Prepared {
  const relayParams = { ...goodParams, ...parts.relayParams }
  const order: Order = {
    ...goodOrder,
    ...parts.order,
    addresses: { ...goodOrder.addresses, ...parts.addresses },
    numbers: { ...goodOrder.numbers, ...parts.numbers },
  }
  const batch: Batch = {
    account: ZERO_ADDRESS,
    createOrderParamsList: [order],
    updateOrderParamsList: [],
    cancelOrderKeys: [],
    relayParams: hashRelayParams(relayParams),
    subaccountApproval: ZERO_HASH,
    ...parts.batch,
  }
  return {
    host: 'http://127.0.0.1:1/v1',
    requestId: 'req-1',
    mode: 'express',
    typedData: {
      domain: relayRouterDomain(42161, router),
      primaryType: 'Batch',
      types: batchTypes,
      batch,
      ...parts.typedData,
    },
    relayParams,
    copy: batch,
    echo: { batchParams: {}, relayParams: {} },
    relayRouterAddress: router,
    expiresAtSeconds: nowSeconds + 300,
    estimates: {},
    validationWarnings: [],
    ...parts.prepared,
  }
}

function check(parts: Parts = {}, intent: Intent = intentOf()): Verified | Rejection {
  return verify(arbitrum, intent, preparedOf(parts), policy, nowSeconds)
}

function fieldsOf(result: Verified | Rejection): readonly string[] {
  return 'kind' in result ? result.differences.map(({ field }) => field) : []
}

test('a payload that says what the intent says is verified, with the digest computed here', () => {
  const result = check()
  expect(fieldsOf(result)).toEqual([])
  expect(result).toMatchObject({
    digest: digestOf(domainSeparator(42161, router), preparedOf().typedData.batch),
    deadlineSeconds: nowSeconds + 300,
  })
})

test('of a fee in wrapped native the list of prices holds that token once, or nothing', () => {
  const paid = { ...arbitrum, feeToken: { ...arbitrum.feeToken, address: weth } }
  const provider = arbitrum.contracts.chainlinkPriceFeedProvider
  const judged = (tokens: readonly `0x${string}`[]) => {
    const relayParams = {
      fee: { feeToken: weth, feeAmount: 250_000n, feeSwapPath: [] },
      oracleParams: { tokens, providers: tokens.map(() => provider), data: tokens.map(() => '0x' as const) },
    }
    return fieldsOf(verify(paid, intentOf(), preparedOf({ relayParams }), policy, nowSeconds))
  }
  expect([judged([weth]), judged([])]).toEqual([[], []])
  expect(judged([weth, weth])).toEqual(['relayParams.oracleParams.tokens[1]'])
  expect(judged([usdc])).toEqual(['relayParams.oracleParams.tokens[0]'])
})

const at = 'message.createOrderParamsList[0]'
const poisons: readonly (readonly [string, Parts, string])[] = [
  ['another receiver', { addresses: { receiver: stranger } }, `${at}.addresses.receiver`],
  [
    'another cancellation receiver',
    { addresses: { cancellationReceiver: stranger } },
    `${at}.addresses.cancellationReceiver`,
  ],
  ['a callback', { addresses: { callbackContract: stranger } }, `${at}.addresses.callbackContract`],
  ['a fee receiver', { addresses: { uiFeeReceiver: stranger } }, `${at}.addresses.uiFeeReceiver`],
  ['another market', { addresses: { market: stranger } }, `${at}.addresses.market`],
  [
    'another collateral',
    { addresses: { initialCollateralToken: weth } },
    `${at}.addresses.initialCollateralToken`,
  ],
  ['a swap path', { addresses: { swapPath: [ethMarket] } }, `${at}.addresses.swapPath`],
  [
    'a size that is one unit larger',
    { numbers: { sizeDeltaUsd: 500n * 10n ** 30n + 1n } },
    `${at}.numbers.sizeDeltaUsd`,
  ],
  [
    'one unit more collateral',
    { numbers: { initialCollateralDeltaAmount: 250_000_001n } },
    `${at}.numbers.initialCollateralDeltaAmount`,
  ],
  ['a trigger price', { numbers: { triggerPrice: 1n } }, `${at}.numbers.triggerPrice`],
  ['any price', { numbers: { acceptablePrice: 2n ** 256n - 1n } }, `${at}.numbers.acceptablePrice`],
  ['a price of zero', { numbers: { acceptablePrice: 0n } }, `${at}.numbers.acceptablePrice`],
  [
    'an execution fee above the cap',
    { numbers: { executionFee: 10n ** 16n + 1n } },
    `${at}.numbers.executionFee`,
  ],
  ['callback gas', { numbers: { callbackGasLimit: 1n } }, `${at}.numbers.callbackGasLimit`],
  ['a minimum output', { numbers: { minOutputAmount: 1n } }, `${at}.numbers.minOutputAmount`],
  ['a later start', { numbers: { validFromTime: 1n } }, `${at}.numbers.validFromTime`],
  ['another order type', { order: { orderType: 3n } }, `${at}.orderType`],
  ['a swap of the profit', { order: { decreasePositionSwapType: 1n } }, `${at}.decreasePositionSwapType`],
  ['the other side', { order: { isLong: false } }, `${at}.isLong`],
  ['unwrapping', { order: { shouldUnwrapNativeToken: true } }, `${at}.shouldUnwrapNativeToken`],
  ['auto-cancel', { order: { autoCancel: true } }, `${at}.autoCancel`],
  ['a referral code', { order: { referralCode: `0x${'01'.repeat(32)}` } }, `${at}.referralCode`],
  ['unknown data', { order: { dataList: [`0x${'01'.repeat(32)}`] } }, `${at}.dataList[0]`],
  ['more data', { order: { dataList: [...goodOrder.dataList, ...goodOrder.dataList] } }, `${at}.dataList`],
  [
    'a second order',
    { batch: { createOrderParamsList: [goodOrder, goodOrder] } },
    'message.createOrderParamsList.length',
  ],
  ['no order', { batch: { createOrderParamsList: [] } }, 'message.createOrderParamsList.length'],
  ['a cancel', { batch: { cancelOrderKeys: [`0x${'0a'.repeat(32)}`] } }, 'message.cancelOrderKeys[0]'],
  ['another account', { batch: { account: stranger } }, 'message.account'],
  [
    'a subaccount approval',
    { batch: { subaccountApproval: `0x${'01'.repeat(32)}` } },
    'message.subaccountApproval',
  ],
  [
    'relay parameters that are not the hashed ones',
    { batch: { relayParams: `0x${'01'.repeat(32)}` } },
    'message.relayParams',
  ],
  [
    'an external call',
    {
      relayParams: {
        externalCalls: { ...noCalls, externalCallTargets: [stranger], externalCallDataList: ['0x00'] },
      },
    },
    'relayParams.externalCalls.externalCallTargets',
  ],
  [
    'a token to send',
    { relayParams: { externalCalls: { ...noCalls, sendTokens: [usdc], sendAmounts: [1n] } } },
    'relayParams.externalCalls.sendTokens',
  ],
  [
    'a refund receiver',
    { relayParams: { externalCalls: { ...noCalls, refundReceivers: [stranger] } } },
    'relayParams.externalCalls.refundReceivers',
  ],
  [
    'a permit',
    {
      relayParams: {
        tokenPermits: [
          {
            owner: account,
            spender: stranger,
            value: 1n,
            deadline: 1n,
            v: 27,
            r: ZERO_HASH,
            s: ZERO_HASH,
            token: usdc,
          },
        ],
      },
    },
    'relayParams.tokenPermits',
  ],
  [
    'another fee token',
    { relayParams: { fee: { ...goodParams.fee, feeToken: weth } } },
    'relayParams.fee.feeToken',
  ],
  [
    'a fee above the cap',
    { relayParams: { fee: { ...goodParams.fee, feeAmount: 5_000_001n } } },
    'relayParams.fee.feeAmount',
  ],
  [
    'a fee swap through a stranger',
    { relayParams: { fee: { ...goodParams.fee, feeSwapPath: [stranger] } } },
    'relayParams.fee.feeSwapPath[0]',
  ],
  [
    'another price provider',
    { relayParams: { oracleParams: { ...goodParams.oracleParams, providers: [provider, stranger] } } },
    'relayParams.oracleParams.providers[1]',
  ],
  [
    'price data',
    { relayParams: { oracleParams: { ...goodParams.oracleParams, data: ['0x', '0x01'] } } },
    'relayParams.oracleParams.data[1]',
  ],
  ['another chain', { relayParams: { desChainId: 1n } }, 'relayParams.desChainId'],
  [
    'a deadline that is too far',
    { relayParams: { deadline: BigInt(nowSeconds + 3701) } },
    'relayParams.deadline',
  ],
  [
    'a deadline that is too near',
    { relayParams: { deadline: BigInt(nowSeconds + 19) } },
    'relayParams.deadline',
  ],
  ['an offer that ends', { prepared: { expiresAtSeconds: nowSeconds + 9 } }, 'expiresAt'],
  [
    'another router',
    { typedData: { domain: relayRouterDomain(42161, stranger) } },
    'typedData.domain.verifyingContract',
  ],
  [
    'the subaccount router',
    { typedData: { domain: relayRouterDomain(42161, arbitrum.contracts.subaccountGelatoRelayRouter) } },
    'typedData.domain.verifyingContract',
  ],
  [
    'another domain chain',
    { typedData: { domain: relayRouterDomain(1, router) } },
    'typedData.domain.chainId',
  ],
  [
    'another domain name',
    { typedData: { domain: { ...relayRouterDomain(42161, router), name: 'Other' } } },
    'typedData.domain.name',
  ],
  ['another primary type', { typedData: { primaryType: 'SubaccountApproval' } }, 'typedData.primaryType'],
  [
    'an extra field in a type',
    {
      typedData: {
        types: { ...batchTypes, Batch: [...batchTypes.Batch, { name: 'extra', type: 'uint256' }] },
      },
    },
    'typedData.types.Batch',
  ],
  [
    'an extra type',
    { typedData: { types: { ...batchTypes, Permit: [{ name: 'spender', type: 'address' }] } } },
    'typedData.types.Permit',
  ],
  [
    'another router address beside the payload',
    { prepared: { relayRouterAddress: stranger } },
    'relayRouterAddress',
  ],
]

test.each(poisons)('a payload with %s is refused and names the field', (_what, parts, field) => {
  expect(fieldsOf(check(parts))).toContain(field)
})

test('a time that is not known widens the window of deadlines by what it may be later, to the second', () => {
  const of = (aheadSeconds: number, unsureSeconds: number) => {
    const prepared = preparedOf({ relayParams: { deadline: BigInt(nowSeconds + aheadSeconds) } })
    return fieldsOf(verify(arbitrum, intentOf(), prepared, { ...policy, unsureSeconds }, nowSeconds))
  }
  expect(of(3_850, 150)).toEqual([])
  expect(of(3_851, 150)).toEqual(['relayParams.deadline'])
  expect(of(20, 150)).toEqual([])
  expect(of(19, 150)).toEqual(['relayParams.deadline'])
})

test('a deadline that came too near while it was waited for is an offer that expired; one that was too near is poison', () => {
  const codeOf = (aheadSeconds: number, askedAgoSeconds: number) => {
    const prepared = preparedOf({ relayParams: { deadline: BigInt(nowSeconds + aheadSeconds) } })
    const result = verify(arbitrum, intentOf(), prepared, { ...policy, askedAgoSeconds }, nowSeconds)
    return 'kind' in result ? result.code : undefined
  }
  expect(codeOf(20, 0)).toBeUndefined()
  expect(codeOf(19, 0)).toBe('TYPED_DATA_MISMATCH')
  expect(codeOf(19, 0.4)).toBe('OFFER_EXPIRED')
  expect(codeOf(-180, 200)).toBe('OFFER_EXPIRED')
  expect(codeOf(-181, 200)).toBe('TYPED_DATA_MISMATCH')
  expect(codeOf(3_701, 200)).toBe('TYPED_DATA_MISMATCH')
})

test('all differences are reported at once', () => {
  const result = check({
    addresses: { receiver: stranger },
    order: { isLong: false },
    batch: { account: stranger },
  })
  expect(fieldsOf(result)).toEqual(['message.account', `${at}.addresses.receiver`, `${at}.isLong`])
  expect(result).toMatchObject({ kind: 'rejected', code: 'TYPED_DATA_MISMATCH' })
})

test('a price that moved is told apart from poison', () => {
  expect(check({ numbers: { acceptablePrice: 1828n * 10n ** 12n } })).toMatchObject({
    code: 'PRICE_OUT_OF_BOUNDS',
    differences: [{ expected: 'between 1791 and 1827.09 USD', found: '1828 USD' }],
  })
})

test('the price bound lies on the side where the order would overpay, for both sides and both actions', () => {
  const decrease: Parts = { order: { orderType: 4n }, numbers: { initialCollateralDeltaAmount: 0n } }
  const bound = (direction: 'long' | 'short', kind: 'increase' | 'decrease', usdPrice: bigint) => {
    const base = intentOf()
    const collateralDelta = kind === 'increase' ? base.terms.collateralDelta : 0n
    const intent = intentOf({ kind, terms: { ...base.terms, direction, collateralDelta } })
    const parts: Parts = kind === 'decrease' ? decrease : {}
    const result = check(
      {
        order: { ...parts.order, isLong: direction === 'long' },
        numbers: { ...parts.numbers, acceptablePrice: usdPrice * 10n ** 12n },
      },
      intent,
    )
    return fieldsOf(result).length === 0
  }
  // 1800 with 1 % slippage and 0.5 % tolerance: buys up to 1827, sells down to 1773.
  expect([bound('long', 'increase', 1827n), bound('long', 'increase', 1774n)]).toEqual([true, false])
  expect([bound('short', 'increase', 1773n), bound('short', 'increase', 1826n)]).toEqual([true, false])
  expect([bound('long', 'decrease', 1773n), bound('long', 'decrease', 1826n)]).toEqual([true, false])
  expect([bound('short', 'decrease', 1827n), bound('short', 'decrease', 1774n)]).toEqual([true, false])
})
