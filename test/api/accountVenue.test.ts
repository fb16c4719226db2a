/** Session keys, account transfers, classic orders and the generic relay through the clients alone, over the paper venue. */
import { decodeFunctionData, encodeFunctionData, parseAbi } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Api } from '../../src/api/client.ts'
import type { Prepared } from '../../src/api/orders/expressOrders.ts'
import { proves, RefusedError } from '../../src/api/transport/apiErrors.ts'
import { relayRouterAbi } from '../../src/paper/keeper/relayCall.ts'
import { hexKey } from '../../src/protocol/address.ts'
import { emptySubaccountApproval } from '../../src/protocol/signing/approvalTypes.ts'
import { digestOf, domainSeparator, hashRelayParams } from '../../src/protocol/signing/relayRouter.ts'
import type { SubaccountApproval } from '../../src/protocol/signing/subaccountApproval.ts'
import { ONE_USD } from '../../src/protocol/units.ts'
import { failureOf, realClock } from './support.ts'
import { carryOut, chain, followed, startClients } from './venueSupport.ts'

const symbol = 'ETH/USD [WETH-USDC]'
const usdc = '0xaf88d065e77c8cC2239327C5EDb3A432268e5831'
const fresh = { isFresh: true }
let clients: Awaited<ReturnType<typeof startClients>>
let api: Api

beforeAll(async () => {
  clients = await startClients()
  api = clients.api
})
afterAll(() => clients.close())

/** An account of its own for each test; the venue gives every new one a balance. */
function newcomer() {
  const signer = privateKeyToAccount(generatePrivateKey())
  return { signer, from: signer.address }
}

const increaseOf = (from: `0x${string}`) =>
  ({
    kind: 'increase',
    orderType: 'market',
    from,
    symbol,
    direction: 'long',
    sizeDeltaUsd: 200n * ONE_USD,
    slippageBps: 300,
    collateralToken: 'USDC',
    collateralToPay: { amount: 100_000_000n, token: 'USDC' },
  }) as const

async function limitOf(from: `0x${string}`) {
  const [ticker] = (await api.getMarketTickers({ symbols: [symbol] })).value
  return { ...increaseOf(from), orderType: 'limit', triggerPrice: (ticker?.markPrice ?? 0n) / 2n } as const
}

test('a session key is approved, trades with the signed approval once, then with the empty one', async () => {
  const owner = newcomer()
  const session = privateKeyToAccount(generatePrivateKey())
  const pair = { account: owner.from, subaccountAddress: session.address }
  expect((await api.getSubaccountStatus(pair)).value).toMatchObject({ isActive: false, approvalNonce: 0n })

  const expiresAtSeconds = Math.floor(realClock.now() / 1000) + 3600
  const proposed = await api.prepareSubaccountApproval({
    ...pair,
    shouldAdd: true,
    expiresAtSeconds,
    maxAllowedCount: 3n,
  })
  const { domain, types, primaryType, message } = proposed.value
  expect(domain.verifyingContract).toBe(chain.contracts.subaccountGelatoRelayRouter)
  const signature = await owner.signer.signTypedData({ domain, types, primaryType, message } as never)
  const signed: SubaccountApproval = { ...message, signature }
  const as = (subaccountApproval: SubaccountApproval) => ({
    signer: session,
    from: owner.from,
    subaccountApproval,
  })
  const request = (subaccountApproval: SubaccountApproval) => ({
    ...increaseOf(owner.from),
    subaccountAddress: session.address,
    subaccountApproval,
  })

  const first = await api.prepareOrder(request(signed))
  expect(first.value.typedData.batch.account).toBe(owner.from)
  expect(first.value.typedData.domain.verifyingContract).toBe(chain.contracts.subaccountGelatoRelayRouter)
  await carryOut(api, first.value, as(signed), ['executed'])
  expect((await api.getSubaccountStatus(pair, fresh)).value).toEqual({
    isActive: true,
    maxAllowedCount: 3n,
    currentActionsCount: 1n,
    remainingActions: 2n,
    expiresAtSeconds,
    approvalNonce: 1n,
    multichainApprovalNonce: 0n,
    integrationId: null,
  })

  const empty = emptySubaccountApproval(session.address, chain.chainId)
  const limit = { ...(await limitOf(owner.from)), subaccountAddress: session.address }
  const second = await api.prepareOrder({ ...limit, subaccountApproval: empty })
  const { orderKeys } = await carryOut(api, second.value, as(empty), ['created'])
  const [orderKey] = orderKeys
  if (orderKey === undefined) throw new Error('no order key')
  const cancel = await api.prepareCancel({
    from: owner.from,
    orderKeys: [orderKey],
    subaccountAddress: session.address,
    subaccountApproval: empty,
  })
  await carryOut(api, cancel.value, as(empty), ['created', 'executed'])
  await expect.poll(async () => (await api.getOrders({ account: owner.from }, fresh)).value).toEqual([])
  expect((await api.getSubaccountStatus(pair, fresh)).value.remainingActions).toBe(0n)
  const [position] = (await api.getPositions({ account: owner.from }, fresh)).value
  expect(position).toMatchObject({ account: owner.from, sizeInUsd: 200n * ONE_USD })
})

test('an order of a session key that nobody approved is reverted, and moves nothing', async () => {
  const { from } = newcomer()
  const session = privateKeyToAccount(generatePrivateKey())
  const subaccountApproval = emptySubaccountApproval(session.address, chain.chainId)
  const subaccount = { subaccountAddress: session.address, subaccountApproval }
  const { value: prepared } = await api.prepareOrder({ ...increaseOf(from), ...subaccount })
  const who = { signer: session, from, subaccountApproval }
  const status = await carryOut(api, prepared, who, ['relay_reverted', 'relay_failed'])
  expect(status.error?.code).toBeTypeOf('string')
  expect((await api.getPositions({ account: from }, fresh)).value).toEqual([])
})

test('a deposit is a transaction that pays its bridge', async () => {
  const { from } = newcomer()
  const request = { srcChainId: 8453, account: from, amount: 1_000_000n } as const
  const bySymbol = (await api.prepareDeposit({ ...request, token: { symbol: 'USDC' } })).value
  const byAddress = (await api.prepareDeposit({ ...request, token: { address: usdc } })).value
  expect(bySymbol.transaction.value).toBeGreaterThanOrEqual(bySymbol.nativeFee)
  expect([bySymbol.composeGas > 0n, bySymbol.nativeFee > 0n]).toEqual([true, true])
  expect(byAddress.transaction).toEqual(bySymbol.transaction)
  const refused = await failureOf(
    api.prepareDeposit({ ...request, srcChainId: 10, token: { symbol: 'USDC' } }),
  )
  expect(refused).toMatchObject({ status: 400, serverCode: 'INVALID_PARAMS' })
})

test('a withdrawal is signed for the source chain, handed in once, and followed where it was prepared', async () => {
  const { signer, from } = newcomer()
  const { value: prepared } = await api.prepareWithdrawal({
    srcChainId: 8453,
    account: from,
    bridgeOutParams: {
      token: usdc,
      amount: 500_000n,
      minAmountOut: 495_000n,
      provider: '0xe8CDF27AcD73a434D661C84887215F7598e7d0d3',
      data: `0x${(30_184).toString(16).padStart(64, '0')}`,
    },
  })
  const { domain, message } = prepared.typedData
  expect([domain.chainId, domain.verifyingContract]).toEqual([8453, chain.contracts.multichainTransferRouter])
  expect(hashRelayParams(prepared.relayParams)).toBe(message.relayParams)
  expect(prepared.gasPaymentParams.relayerFeeAmount).toBeGreaterThan(0n)

  const stranger = await newcomer().signer.signTypedData(prepared.typedData as never)
  const wrong = await failureOf(api.submitWithdrawal(prepared, stranger))
  expect(wrong).toBeInstanceOf(RefusedError)
  expect(proves(wrong)).toBe('refused')

  const signature = await signer.signTypedData(prepared.typedData as never)
  expect((await api.submitWithdrawal(prepared, signature)).value.status).toBe('relay_accepted')
  await followed(() => api.getWithdrawalStatus(prepared), ['executed', 'created'])
  const peer = api.hosts.api.find((host) => host !== prepared.host) ?? ''
  const elsewhere = await failureOf(api.getWithdrawalStatus({ ...prepared, host: peer }))
  expect(elsewhere).toMatchObject({ status: 404, serverMessage: 'Transaction not found' })
  expect(proves(elsewhere)).toBe('nothing')
})

const multicall = parseAbi(['function multicall(bytes[] data) payable'])

test('orders, edits, cancels and collateral have their classic form: a multicall of the exchange router', async () => {
  const owner = newcomer()
  const { from } = owner
  await carryOut(api, (await api.prepareOrder(increaseOf(from))).value, owner, ['executed'])
  const resting = await api.prepareOrder(await limitOf(from))
  const [orderKey] = (await carryOut(api, resting.value, owner, ['created'])).orderKeys
  const [position] = (await api.getPositions({ account: from }, fresh)).value
  if (orderKey === undefined || position === undefined) throw new Error('no order or no position')
  const { positionKey } = position
  const prepared = await Promise.all([
    api.prepareClassicOrder(increaseOf(from)),
    api.prepareClassicEdit({ from, orderKeys: [orderKey], newSizeUsd: 150n * ONE_USD }),
    api.prepareClassicCancel({ from, orderKeys: [orderKey] }),
    api.prepareClassicCollateral({ from, operation: 'deposit', positionKey, amount: 1_000_000n }),
    api.prepareClassicCollateral({ from, operation: 'withdraw', positionKey, amount: 1_000_000n }),
  ])
  for (const { value } of prepared) {
    expect(hexKey(value.transaction.to)).toBe(hexKey(chain.contracts.exchangeRouter))
    const { args } = decodeFunctionData({ abi: multicall, data: value.transaction.data })
    expect(args[0].length).toBeGreaterThan(0)
  }
  const [order, , cancel] = prepared.map(({ value }) => value.transaction.value)
  expect(order).toBeGreaterThan(0n)
  expect(cancel).toBe(0n)
})

test('collateral is taken out of a position as it is put in', async () => {
  const owner = newcomer()
  await carryOut(api, (await api.prepareOrder(increaseOf(owner.from))).value, owner, ['executed'])
  const [position] = (await api.getPositions({ account: owner.from }, fresh)).value
  if (position === undefined) throw new Error('no position')
  const { value } = await api.prepareCollateral({
    from: owner.from,
    operation: 'withdraw',
    positionKey: position.positionKey,
    amount: 20_000_000n,
    slippageBps: 300,
  })
  await carryOut(api, value, owner, ['executed'])
  const after = (await api.getPosition({ positionKey: position.positionKey }, fresh)).value
  expect(after.sizeInUsd).toBe(position.sizeInUsd)
  const less = position.collateralAmount - after.collateralAmount
  expect(less).toBeGreaterThanOrEqual(20_000_000n)
  expect(less).toBeLessThan(20_100_000n)
})

test('what was prepared is signed by any library of typed data', async () => {
  const { signer, from } = newcomer()
  const { value: prepared } = await api.prepareOrder(increaseOf(from))
  const { domain, types, primaryType, batch } = prepared.typedData
  const signature = await signer.signTypedData({ domain, types, primaryType, message: batch } as never)
  const { value } = await api.submitOrder(prepared, { from, signature, echo: prepared.echo })
  // On a slow machine the relay has begun with it before the answer is written.
  expect(['relay_accepted', 'relay_pending']).toContain(value.status)
})

/** The relay router's calldata of what was prepared. */
function calldataOf({ relayParams, typedData }: Prepared, from: `0x${string}`, signature: `0x${string}`) {
  const { createOrderParamsList, updateOrderParamsList, cancelOrderKeys } = typedData.batch
  const orders = createOrderParamsList.map((order) => ({
    ...order,
    orderType: Number(order.orderType),
    decreasePositionSwapType: Number(order.decreasePositionSwapType),
  }))
  const actions = { createOrderParamsList: orders, updateOrderParamsList, cancelOrderKeys }
  return encodeFunctionData({
    abi: relayRouterAbi,
    functionName: 'batch',
    args: [{ ...relayParams, signature }, from, actions],
  })
}

test('calldata of our own is relayed, and any host tells how it fared', async () => {
  const { signer, from } = newcomer()
  const { value: prepared } = await api.prepareOrder(increaseOf(from))
  const { batch, domain } = prepared.typedData
  const hash = digestOf(domainSeparator(domain.chainId, domain.verifyingContract), batch)
  const data = calldataOf(prepared, from, await signer.sign({ hash }))
  const { value: receipt } = await api.submitRelay({ to: domain.verifyingContract, data })
  for (const host of api.hosts.api) {
    await expect
      .poll(async () => (await api.getRelayStatus({ taskId: receipt.taskId }, { host })).value.status)
      .toBe('executed')
  }
  await expect.poll(async () => (await api.getPositions({ account: from }, fresh)).value.length).toBe(1)
  const unknown = await failureOf(api.getRelayStatus({ taskId: `0x${'00'.repeat(32)}` }))
  expect(proves(unknown)).toBe('nothing')
  const elsewhere = await failureOf(api.submitRelay({ to: from, data }))
  expect(elsewhere).toMatchObject({ status: 400 })
})
