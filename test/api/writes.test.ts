/** What is prepared besides new orders: edits, cancels, collateral, classic orders, subaccounts, account transfers. */
import { expect, test } from 'vitest'
import {
  getWithdrawalStatus,
  prepareDeposit,
  prepareWithdrawal,
  submitWithdrawal,
} from '../../src/api/accounts/accountTransfers.ts'
import { getSubaccountStatus, prepareSubaccountApproval } from '../../src/api/accounts/subaccounts.ts'
import {
  prepareClassicCancel,
  prepareClassicCollateral,
  prepareClassicEdit,
  prepareClassicOrder,
} from '../../src/api/orders/classicOrders.ts'
import { getOrderStatus, submitOrder } from '../../src/api/orders/expressOrders.ts'
import { prepareCancel, prepareCollateral, prepareEdit } from '../../src/api/orders/orderChanges.ts'
import type { PrepareRequest } from '../../src/api/orders/prepareRequest.ts'
import { DecodeError, proves } from '../../src/api/transport/apiErrors.ts'
import { emptySubaccountApproval } from '../../src/protocol/signing/approvalTypes.ts'
import { hashRelayParams } from '../../src/protocol/signing/relayRouter.ts'
import { ONE_USD } from '../../src/protocol/units.ts'
import { failureOf, fixtureText, type Reply, type Seen, scriptedTransport } from './support.ts'

const from = '0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A'
const subaccountAddress = '0x1563915e194D8CfBA1943570603F7606A3115508'
const usdc = '0xaf88d065e77c8cC2239327C5EDb3A432268e5831'
const orderKey = `0x${'0b'.repeat(32)}` as const
const signature = `0x${'1b'.repeat(65)}` as const

const answering = (fixture: string) => scriptedTransport(() => ({ body: fixtureText(fixture) }))
const bodyOf = (seen: readonly Seen[], index = 0) => JSON.parse(seen[index]?.body ?? 'null') as unknown

test('an edit says what changes and nothing else, and goes the way of every order', async () => {
  const { transport, seen } = scriptedTransport(({ url }) => ({
    body: url.endsWith('/prepare')
      ? fixtureText('edit-prepare')
      : { requestId: '6f1c-0a7e', status: 'relay_accepted' },
  }))
  const { value: prepared } = await prepareEdit(transport, {
    from,
    orderKeys: [orderKey],
    newTriggerPrice: 1_800n * ONE_USD,
    newAcceptablePrice: 1_818n * ONE_USD,
  })
  expect(seen[0]?.url).toBe('http://one/v1/orders/txns/edit/prepare')
  expect(bodyOf(seen)).toEqual({
    mode: 'express',
    from,
    orderIds: [orderKey],
    newTriggerPrice: (1_800n * ONE_USD).toString(),
    newAcceptablePrice: (1_818n * ONE_USD).toString(),
  })
  expect(prepared).toMatchObject({ host: 'http://one/v1', requestId: '6f1c-0a7e' })
  expect(prepared.typedData.batch.updateOrderParamsList[0]).toMatchObject({
    key: orderKey,
    triggerPrice: 1_800_000_000_000_000n,
  })
  await submitOrder(transport, prepared, { from, signature, echo: prepared.echo })
  await getOrderStatus(transport, prepared)
  expect(seen.map(({ url }) => new URL(url).host)).toEqual(['one', 'one', 'one'])
})

test('an edit can change size, cancel rule and fee, for a subaccount too', async () => {
  const { transport, seen } = answering('edit-prepare')
  await prepareEdit(transport, {
    from,
    orderKeys: [orderKey],
    newSizeUsd: 10n * ONE_USD,
    newAutoCancel: true,
    executionFeeTopUp: 5n,
    gasPaymentToken: usdc,
    subaccountAddress,
    subaccountApproval: emptySubaccountApproval(subaccountAddress, 42_161),
  })
  expect(bodyOf(seen)).toEqual({
    mode: 'express',
    from,
    gasPaymentToken: usdc,
    subaccountAddress,
    subaccountApproval: {
      subaccount: subaccountAddress,
      shouldAdd: true,
      expiresAt: '0',
      maxAllowedCount: '0',
      actionType: '0x2a0791687fd34f2095c484a9fa4e25057d3ef79a97fcd8c61436047a7bdf4cbe',
      nonce: '0',
      desChainId: '42161',
      deadline: '0',
      integrationId: `0x${'00'.repeat(32)}`,
      signature: '0x',
    },
    orderIds: [orderKey],
    newSize: (10n * ONE_USD).toString(),
    newAutoCancel: true,
    executionFeeTopUp: '5',
  })
})

test('a cancel names orders or means all', async () => {
  const { transport, seen } = answering('cancel-prepare')
  const { value } = await prepareCancel(transport, { from, orderKeys: [orderKey] })
  await prepareCancel(transport, { from, all: true })
  expect(value.typedData.batch.cancelOrderKeys).toEqual([orderKey])
  expect([bodyOf(seen), bodyOf(seen, 1)]).toEqual([
    { mode: 'express', from, orderIds: [orderKey] },
    { mode: 'express', from, all: true },
  ])
})

test('collateral moves by the position’s key and the collateral token’s units', async () => {
  const { transport, seen } = answering('prepare')
  await prepareCollateral(transport, {
    from,
    operation: 'withdraw',
    positionKey: 'account:market:token:true',
    amount: 2_500_000n,
    slippageBps: 30,
  })
  expect(seen[0]?.url).toBe('http://one/v1/orders/txns/collateral/prepare')
  expect(bodyOf(seen)).toEqual({
    mode: 'express',
    from,
    operation: 'withdraw',
    positionKey: 'account:market:token:true',
    amount: '2500000',
    slippage: 30,
  })
})

const increase: PrepareRequest = {
  kind: 'increase',
  orderType: 'market',
  from,
  symbol: 'ETH/USD [WETH-USDC]',
  direction: 'long',
  sizeDeltaUsd: 10n * ONE_USD,
  slippageBps: 100,
  collateralToken: 'USDC',
  collateralToPay: { amount: 3_000_000n, token: 'USDC' },
}

test('a classic order is a transaction for the wallet, with its warnings', async () => {
  const { transport, seen } = answering('classic-prepare')
  const { value } = await prepareClassicOrder(transport, increase)
  expect(bodyOf(seen)).toMatchObject({ mode: 'classic', kind: 'increase' })
  expect(value).toEqual({
    host: 'http://one/v1',
    requestId: '6f1c-c1',
    mode: 'classic',
    transaction: { to: `0x${'e1'.repeat(20)}`, data: '0xac9650d8', value: 10n ** 14n },
    estimates: { executionFeeAmount: 10n ** 14n, sizeDeltaUsd: 10n * ONE_USD },
    validationWarnings: [
      {
        code: 'TRADING_CAPACITY_UNAVAILABLE',
        message: 'unchecked',
        details: { reason: 'COLLATERAL_SWAP' },
      },
    ],
    expiresAtSeconds: 1_800_000_300,
  })
})

test('edits, cancels and collateral have their classic form at the same paths', async () => {
  const { transport, seen } = answering('classic-prepare')
  await prepareClassicEdit(transport, { from, orderKeys: [orderKey], newSizeUsd: 1n })
  await prepareClassicCancel(transport, { from, all: true })
  await prepareClassicCollateral(transport, {
    from,
    operation: 'deposit',
    positionKey: 'key',
    amount: 1n,
  })
  expect(seen.map(({ url, body }) => [new URL(url).pathname, JSON.parse(body ?? '').mode])).toEqual([
    ['/v1/orders/txns/edit/prepare', 'classic'],
    ['/v1/orders/txns/cancel/prepare', 'classic'],
    ['/v1/orders/txns/collateral/prepare', 'classic'],
  ])
})

test('typed data is no transaction, and a transaction is nothing to sign', async () => {
  expect(
    await failureOf(prepareClassicOrder(answering('prepare').transport, increase, { attempts: 1 })),
  ).toBeInstanceOf(DecodeError)
  const edit = { from, orderKeys: [orderKey], newSizeUsd: 1n } as const
  expect(
    await failureOf(prepareEdit(answering('classic-prepare').transport, edit, { attempts: 1 })),
  ).toMatchObject({
    path: 'mode',
    problem: 'is not express',
  })
})

test('a subaccount tells what it may still do', async () => {
  const { transport, seen } = answering('subaccount-status')
  const { value } = await getSubaccountStatus(transport, { account: from, subaccountAddress })
  expect([seen[0]?.method, bodyOf(seen)]).toEqual(['POST', { account: from, subaccountAddress }])
  expect(value).toEqual({
    isActive: true,
    maxAllowedCount: 90n,
    currentActionsCount: 12n,
    remainingActions: 78n,
    expiresAtSeconds: 1_800_604_800,
    approvalNonce: 1n,
    multichainApprovalNonce: 0n,
    integrationId: null,
  })
})

test('an approval is typed data for the main key', async () => {
  const { transport, seen } = answering('subaccount-approval')
  const { value } = await prepareSubaccountApproval(transport, {
    account: from,
    subaccountAddress,
    shouldAdd: true,
    expiresAtSeconds: 1_800_604_800,
    maxAllowedCount: 90n,
  })
  expect(bodyOf(seen)).toEqual({
    account: from,
    subaccountAddress,
    shouldAdd: true,
    expiresAt: '1800604800',
    maxAllowedCount: '90',
  })
  expect(value).toMatchObject({
    primaryType: 'SubaccountApproval',
    domain: { chainId: 42_161 },
    message: { subaccount: subaccountAddress, shouldAdd: true, maxAllowedCount: 90n, nonce: 0n },
    nonce: 0n,
  })
})

test('a deposit is a transaction on the source chain that pays its bridge', async () => {
  const { transport, seen } = answering('deposit-prepare')
  const { value } = await prepareDeposit(transport, {
    srcChainId: 8453,
    account: from,
    amount: 1_000_000n,
    token: { symbol: 'USDC' },
    composeGas: 800_000n,
  })
  expect(bodyOf(seen)).toEqual({
    srcChainId: 8453,
    account: from,
    tokenSymbol: 'USDC',
    amount: '1000000',
    composeGas: '800000',
  })
  expect(value).toEqual({
    host: 'http://one/v1',
    transaction: { to: `0x${'e2'.repeat(20)}`, data: '0x01', value: 52_000_000_000_000n },
    composeGas: 800_000n,
    nativeFee: 42_000_000_000_000n,
    expiresAtSeconds: 1_800_000_300,
  })
})

const withdrawal = {
  srcChainId: 8453,
  account: from,
  bridgeOutParams: {
    token: usdc,
    amount: 500_000n,
    minAmountOut: 500_000n,
    provider: '0xe8CDF27AcD73a434D661C84887215F7598e7d0d3',
    data: `0x${'00'.repeat(30)}75e8`,
  },
} as const

function withdrawing(after: (seen: Seen, index: number) => Reply) {
  return scriptedTransport((seen, index) =>
    seen.url.endsWith('/prepare') ? { body: fixtureText('withdraw-prepare') } : after(seen, index),
  )
}

test('a withdrawal is handed in to the host that prepared it, with the echo as it came', async () => {
  const { transport, seen } = withdrawing(() => ({ body: fixtureText('withdraw-status') }))
  const { value: prepared } = await prepareWithdrawal(transport, withdrawal)
  const { typedData } = prepared
  expect(typedData.domain.chainId).toBe(8453)
  expect(hashRelayParams(prepared.relayParams)).toBe(typedData.message.relayParams)
  expect(typedData.message).toMatchObject(withdrawal.bridgeOutParams)
  await submitWithdrawal(transport, prepared, signature)
  const status = await getWithdrawalStatus(transport, prepared)
  const wire = JSON.parse(fixtureText('withdraw-prepare')) as { payload: { relayParams: unknown } }
  const bridgeOutParams = { ...withdrawal.bridgeOutParams, amount: '500000', minAmountOut: '500000' }
  expect([bodyOf(seen), bodyOf(seen, 1), bodyOf(seen, 2)]).toEqual([
    { srcChainId: 8453, account: from, bridgeOutParams },
    {
      srcChainId: 8453,
      account: from,
      signature,
      bridgeOutParams,
      relayParamsPayload: wire.payload.relayParams,
      relayerFeeTokenAddress: '0x82aF49447D8a07e3bd95BD0d56f35241523fBab1',
      relayerFeeAmount: '31000000000000',
      requestId: 'wd-1a',
    },
    { requestId: 'wd-1a' },
  ])
  expect(new Set(seen.map(({ url }) => new URL(url).host))).toEqual(new Set(['one']))
  expect(status.value).toMatchObject({ status: 'executed', txHash: `0x${'ee'.repeat(32)}` })
})

test('withdrawal submit and status obey the host pin: no answer moves them to the peer', async () => {
  for (const reply of [{ status: 503 }, { status: 404, body: { message: 'no' } }, 'silence'] as const) {
    const { transport, clock, seen } = withdrawing(() => reply)
    const { value: prepared } = await prepareWithdrawal(transport, withdrawal)
    const submitted = await clock.drive(failureOf(submitWithdrawal(transport, prepared, signature)))
    expect(seen.filter(({ url }) => url.endsWith('/submit'))).toHaveLength(1)
    expect(proves(submitted)).toBe(reply === 'silence' || reply.status === 503 ? 'nothing' : 'refused')
    await clock.drive(failureOf(getWithdrawalStatus(transport, prepared)))
    expect(new Set(seen.map(({ url }) => new URL(url).host))).toEqual(new Set(['one']))
  }
})

test('a withdrawal’s status about another request, or of another kind of data, is no answer', async () => {
  const other = withdrawing(() => ({ body: { requestId: 'wd-2', status: 'executed' } }))
  const { value: prepared } = await prepareWithdrawal(other.transport, withdrawal)
  expect(await failureOf(getWithdrawalStatus(other.transport, prepared, { attempts: 1 }))).toMatchObject({
    path: 'requestId',
  })
  expect(
    await failureOf(prepareWithdrawal(answering('prepare').transport, withdrawal, { attempts: 1 })),
  ).toMatchObject({
    path: 'payload.typedData.primaryType',
  })
})
