/** Session keys over real sockets: approval, first use, empty approval, counts, expiry. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { encodeFunctionData, type Hex, hashTypedData } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { minifiedDigest } from '../../src/paper/blocks/signature.ts'
import { approvalDigest, hashApproval } from '../../src/paper/http/approval.ts'
import { subaccountRouterAbi } from '../../src/paper/keeper/relayCall.ts'
import { chains } from '../../src/protocol/chains/index.ts'
import {
  domainSeparator,
  hashRelayParams,
  relayRouterDomain,
} from '../../src/protocol/signing/relayRouter.ts'
import { type Any, START_MS, startVenue, stranger, trader, usd } from './support.ts'

let paper: Awaited<ReturnType<typeof startVenue>>
beforeEach(async () => {
  paper = await startVenue()
})
afterEach(() => paper.close())

const session = privateKeyToAccount(`0x${'33'.repeat(32)}`)
const router = chains.arbitrum.contracts.subaccountGelatoRelayRouter
const START = Math.floor(START_MS / 1000)
const WEEK = 604_800

const ask = async (): Promise<Any> =>
  (await paper.post('/subaccounts/status', { account: trader.address, subaccountAddress: session.address }))
    .body

/** An approval prepared by the venue and signed by the account. */
async function approve(fields: Record<string, unknown> = {}, signer = trader): Promise<Any> {
  const { body } = await paper.post('/subaccounts/approval/prepare', {
    account: trader.address,
    subaccountAddress: session.address,
    shouldAdd: true,
    expiresAt: String(START + WEEK),
    maxAllowedCount: '3',
    ...fields,
  })
  const { domain, types, message, primaryType } = body
  return { ...message, signature: await signer.signTypedData({ domain, types, message, primaryType }) }
}

const emptyApproval = {
  subaccount: session.address,
  shouldAdd: true,
  expiresAt: '0',
  maxAllowedCount: '0',
  actionType: '0x2a0791687fd34f2095c484a9fa4e25057d3ef79a97fcd8c61436047a7bdf4cbe',
  nonce: '0',
  desChainId: '42161',
  deadline: '0',
  integrationId: `0x${'00'.repeat(32)}`,
  signature: '0x',
}

/** Prepares with the session key, signs with it, submits, and gives the last status. */
async function tradeWith(
  approval: Any,
  signer = session,
  fields: Record<string, unknown> = {},
): Promise<Any> {
  const prepared = await paper.prepare({
    subaccountAddress: session.address,
    subaccountApproval: approval,
    ...fields,
  })
  expect(prepared.status, JSON.stringify(prepared.body)).toBe(200)
  const submitted = await submitWith(prepared.body, approval, signer)
  if (submitted.status !== 200) return submitted
  paper.clock.move(2500)
  return (await paper.status(prepared.body.requestId)).body
}

async function submitWith(prepared: Any, approval: Any, signer = session) {
  const { typedData, batchParams, relayParams } = prepared.payload
  return paper.post('/orders/txns/submit', {
    mode: 'express',
    requestId: prepared.requestId,
    from: trader.address,
    signature: await signer.signTypedData(typedData),
    eip712Data: { batchParams, relayParams, subaccountApproval: approval },
  })
}

test('J.1 a pair that was never used is answered with zeros, and bad addresses with a field map', async () => {
  expect(await ask()).toEqual({
    active: false,
    maxAllowedCount: '0',
    currentActionsCount: '0',
    remainingActions: '0',
    expiresAt: '0',
    approvalNonce: '0',
    multichainApprovalNonce: '0',
    integrationId: null,
  })
  const bad = await paper.post('/subaccounts/status', { account: 'x' })
  expect(bad.status).toBe(400)
  expect(bad.body).toEqual({
    message: {
      account: { message: "'account' is not an address", value: 'x' },
      subaccountAddress: { message: "'subaccountAddress' is required" },
    },
  })
  expect(bad.headers.get('x-trace-id')).not.toBeNull()
})

test('J.2 an approval is typed data of the subaccount router with the current nonce, for an unfunded account too', async () => {
  const { status, body } = await paper.post('/subaccounts/approval/prepare', {
    account: stranger.address.toLowerCase(),
    subaccountAddress: session.address.toLowerCase(),
    shouldAdd: true,
    expiresAt: '1800604800',
    maxAllowedCount: '90',
  })
  expect(status).toBe(200)
  expect(body).toMatchObject({
    domain: { name: 'GmxBaseGelatoRelayRouter', version: '1', chainId: 42161, verifyingContract: router },
    primaryType: 'SubaccountApproval',
    relayRouterAddress: router,
    nonce: '0',
    message: {
      subaccount: session.address,
      shouldAdd: true,
      expiresAt: '1800604800',
      maxAllowedCount: '90',
      actionType: emptyApproval.actionType,
      nonce: '0',
      desChainId: '42161',
      deadline: '1800604800',
      integrationId: emptyApproval.integrationId,
    },
  })
  expect(Object.keys(body.types)).toEqual(['SubaccountApproval'])
})

test('approvals hash to the published values', () => {
  const approval = {
    subaccount: stranger.address,
    shouldAdd: true,
    expiresAt: 1_800_604_800n,
    maxAllowedCount: 90n,
    actionType: emptyApproval.actionType as Hex,
    nonce: 0n,
    desChainId: 42161n,
    deadline: 1_800_604_800n,
    integrationId: emptyApproval.integrationId as Hex,
    signature:
      '0x4f2b2698d5d2d7b76a2e350acc9f41c5a9e8739078ed355b9d8fd96772b0cb0b55157f0e745e8092015c9b6bf8d2d4a445a5928828c83965b220b25de8b4bf7d1b' as Hex,
  }
  expect(approvalDigest(chains.arbitrum, approval)).toBe(
    '0x8329bdfd04be8972f4acacb035002563f97c7405610815b35fd36cbd872534ad',
  )
  expect(hashApproval(approval)).toBe('0x892d73720764c5ff10e56b51fa67dcbdd13d519aa2c6c8a26b47dc94530b3882')
  expect(
    hashApproval({ ...approval, expiresAt: 0n, maxAllowedCount: 0n, deadline: 0n, signature: '0x' }),
  ).toBe('0x626bced854cc08f05b4fcd5874e31e62f9514cb71c29de1f8075c5cb3da6ac59')
})

test('J.3 the first use writes the approval, later uses send the empty one, each action counts', async () => {
  const first = await tradeWith(await approve())
  expect(first).toMatchObject({ status: 'executed' })
  expect(await ask()).toMatchObject({
    active: true,
    maxAllowedCount: '3',
    currentActionsCount: '1',
    remainingActions: '2',
    expiresAt: String(START + WEEK),
    approvalNonce: '1',
  })
  expect(await paper.positions()).toHaveLength(1)

  expect(await tradeWith(emptyApproval)).toMatchObject({ status: 'executed' })
  expect(await ask()).toMatchObject({ currentActionsCount: '2', approvalNonce: '1' })
  expect(await tradeWith(emptyApproval)).toMatchObject({ status: 'executed' })
  expect(await tradeWith(emptyApproval)).toMatchObject({
    status: 'relay_reverted',
    error: { code: 'MaxSubaccountActionCountExceeded' },
  })
  expect(await ask()).toMatchObject({ currentActionsCount: '3', remainingActions: '0' })
})

test('J.3 the batch names the account, carries the hash of the approval, and pays the account', async () => {
  const { body } = await paper.prepare({
    subaccountAddress: session.address,
    subaccountApproval: await approve(),
  })
  const { typedData, relayRouterAddress } = body.payload
  expect(relayRouterAddress).toBe(router)
  expect(typedData.domain.verifyingContract).toBe(router)
  expect(typedData.message.account).toBe(trader.address)
  expect(typedData.message.subaccountApproval).not.toBe(`0x${'00'.repeat(32)}`)
  expect(typedData.message.createOrderParamsList[0].addresses.receiver).toBe(trader.address)
})

test('J.3 a used approval, one of somebody else, one of another chain and a late one revert by name', async () => {
  const used = await approve()
  await tradeWith(used)
  expect(await tradeWith(used)).toMatchObject({ error: { code: 'InvalidSubaccountApprovalNonce' } })
  expect(await tradeWith(await approve({}, stranger))).toMatchObject({
    status: 'relay_reverted',
    error: { code: 'InvalidSignature' },
  })
  expect(await tradeWith({ ...(await approve()), desChainId: '1' })).toMatchObject({
    error: { code: 'InvalidSubaccountApprovalDesChainId' },
  })
  expect(await tradeWith(await approve({ expiresAt: String(START - 1) }))).toMatchObject({
    error: { code: 'SubaccountApprovalDeadlinePassed' },
  })
  expect(await ask()).toMatchObject({ approvalNonce: '1', currentActionsCount: '1' })
})

test('J.3 the empty approval needs an active key that has not expired', async () => {
  expect(await tradeWith(emptyApproval)).toMatchObject({
    status: 'relay_reverted',
    error: { code: 'SubaccountNotAuthorized' },
  })
  await tradeWith(await approve({ expiresAt: String(START + 60) }))
  paper.clock.move(120_000)
  expect(await tradeWith(emptyApproval)).toMatchObject({ error: { code: 'SubaccountApprovalExpired' } })
})

test('J.3 only the session key may sign, and the approval must be echoed', async () => {
  const approval = await approve()
  expect(await tradeWith(approval, trader as never)).toMatchObject({
    status: 400,
    body: { code: 'INVALID_SIGNATURE' },
  })
  const prepared = (await paper.prepare({ subaccountAddress: session.address, subaccountApproval: approval }))
    .body
  const other = await submitWith(prepared, emptyApproval)
  expect(other).toMatchObject({ status: 400, body: { code: 'INVALID_PARAMS' } })
  expect(await paper.positions()).toEqual([])
})

test('J.3 cancels and edits with a session key count too', async () => {
  await tradeWith(await approve({ maxAllowedCount: '10' }), session, {
    orderType: 'limit',
    triggerPrice: usd(1000),
  })
  const [order] = (await paper.get(`/orders?address=${trader.address}`)).body
  for (const [path, fields] of [
    ['edit', { orderIds: [order.key], newSize: usd(900) }],
    ['cancel', { orderId: order.key }],
  ] as const) {
    const prepared = await paper.post(`/orders/txns/${path}/prepare`, {
      mode: 'express',
      from: trader.address,
      subaccountAddress: session.address,
      subaccountApproval: emptyApproval,
      ...fields,
    })
    expect((await submitWith(prepared.body, emptyApproval)).status).toBe(200)
    paper.clock.move(2500)
    expect((await paper.status(prepared.body.requestId)).body.status).toBe('executed')
  }
  expect(await ask()).toMatchObject({ currentActionsCount: '3' })
  expect((await paper.get(`/orders?address=${trader.address}`)).body).toEqual([])
})

test('J.3 a malformed approval is a field map, and one of another key is refused', async () => {
  const missing = await paper.prepare({ subaccountAddress: session.address })
  expect(missing.status).toBe(400)
  expect(missing.body).toEqual({
    message: { subaccountApproval: { message: "'subaccountApproval' is missing or malformed" } },
  })
  const foreign = await paper.prepare({
    subaccountAddress: stranger.address,
    subaccountApproval: emptyApproval,
  })
  expect(foreign).toMatchObject({ status: 400, body: { code: 'INVALID_PARAMS' } })
})

test('10 the relay takes calldata of the subaccount router', async () => {
  const approval = await approve()
  const prepared = (await paper.prepare({ subaccountAddress: session.address, subaccountApproval: approval }))
    .body
  const { typedData, relayParams } = prepared.payload
  const signature = await session.sign({ hash: hashTypedData(typedData) })
  const { createOrderParamsList, updateOrderParamsList, cancelOrderKeys } = big(typedData.message)
  const data = encodeFunctionData({
    abi: subaccountRouterAbi,
    functionName: 'batch',
    args: [
      { ...big(relayParams), signature },
      big(approval),
      trader.address,
      session.address,
      { createOrderParamsList, updateOrderParamsList, cancelOrderKeys },
    ],
  })
  expect(data.slice(0, 10)).toBe('0x412a08b7')
  const { body } = await paper.post('/relay/submit', { to: router, data })
  expect(body).toMatchObject({ status: 'pending' })
  paper.clock.move(2500)
  expect((await paper.post('/relay/status', { taskId: body.taskId })).body.status).toBe('executed')
  expect(await ask()).toMatchObject({ active: true, currentActionsCount: '1', approvalNonce: '1' })
  // Sent again, the digest is used.
  const again = (await paper.post('/relay/submit', { to: router, data })).body
  paper.clock.move(2500)
  expect((await paper.post('/relay/status', { taskId: again.taskId })).body).toMatchObject({
    status: 'reverted',
    reason: expect.stringContaining('InvalidUserDigest'),
    revertData: expect.stringMatching(/^0x1041c08a/),
  })
})

/** Calldata of the owner's word that the session key is removed, and the digest of it. */
async function removal(
  options: { signer?: typeof trader; minified?: boolean; changes?: Any; key?: Hex } = {},
) {
  const { relayParams } = (await paper.prepare({})).body.payload
  const params = { ...big(relayParams), ...options.changes }
  const subaccount = options.key ?? session.address
  const message = { subaccount, relayParams: hashRelayParams(params) }
  const domain = relayRouterDomain(42_161, router)
  const types = {
    RemoveSubaccount: [
      { name: 'subaccount', type: 'address' },
      { name: 'relayParams', type: 'bytes32' },
    ],
  } as const
  const digest = hashTypedData({ domain, types, primaryType: 'RemoveSubaccount', message })
  const hash = options.minified === true ? minifiedDigest(domainSeparator(42_161, router), digest) : digest
  const signature = await (options.signer ?? trader).sign({ hash })
  const args = [{ ...params, signature }, trader.address, subaccount] as const
  const data = encodeFunctionData({ abi: subaccountRouterAbi, functionName: 'removeSubaccount', args })
  return { to: router, data }
}

const big = (value: Any): Any =>
  typeof value === 'string' && /^\d+$/.test(value)
    ? BigInt(value)
    : Array.isArray(value)
      ? value.map(big)
      : typeof value === 'object' && value !== null
        ? Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, big(inner)]))
        : value

async function relayed(call: Any): Promise<Any> {
  const { status, body } = await paper.post('/relay/submit', call)
  expect(status, JSON.stringify(body)).toBe(200)
  paper.clock.move(2500)
  return (await paper.post('/relay/status', { taskId: body.taskId })).body
}

test("a session key that its owner removed trades no more, and its count stays; the owner's word is used once", async () => {
  expect(await tradeWith(await approve())).toMatchObject({ status: 'executed' })
  const call = await removal()
  expect(await relayed(call)).toMatchObject({ status: 'executed' })
  expect(await ask()).toMatchObject({ active: false, currentActionsCount: '1', approvalNonce: '1' })
  expect(await tradeWith(emptyApproval)).toMatchObject({
    status: 'relay_reverted',
    error: { code: 'SubaccountNotAuthorized' },
  })
  expect(await relayed(call)).toMatchObject({
    status: 'reverted',
    reason: expect.stringContaining('InvalidUserDigest'),
  })
  // A new approval brings it back.
  expect(await tradeWith(await approve({ maxAllowedCount: '5' }))).toMatchObject({ status: 'executed' })
  expect(await relayed(await removal({ minified: true }))).toMatchObject({ status: 'executed' })
  expect(await ask()).toMatchObject({ active: false, currentActionsCount: '2' })
})

test('a removal that the owner did not sign, late, or with a call beside it removes nothing, and one of another key not this one', async () => {
  expect(await tradeWith(await approve())).toMatchObject({ status: 'executed' })
  const foreign = await paper.post('/relay/submit', await removal({ signer: stranger }))
  expect(foreign).toMatchObject({ status: 400, body: { code: 'INVALID_SIGNATURE' } })
  const own = await paper.post('/relay/submit', await removal({ signer: session }))
  expect(own.status).toBe(400)
  const toOwn = await paper.post('/relay/submit', {
    ...(await removal()),
    to: chains.arbitrum.contracts.gelatoRelayRouter,
  })
  expect(toOwn.status).toBe(400)
  const late = await removal({ changes: { deadline: BigInt(START - 1) } })
  expect(await relayed(late)).toMatchObject({
    status: 'reverted',
    reason: expect.stringContaining('DeadlinePassed'),
  })
  const calls = {
    sendTokens: [],
    sendAmounts: [],
    externalCallTargets: [stranger.address],
    externalCallDataList: ['0x'],
    refundTokens: [],
    refundReceivers: [],
  }
  expect(await relayed(await removal({ changes: { externalCalls: calls } }))).toMatchObject({
    status: 'reverted',
    reason: expect.stringContaining('NonEmptyExternalCallsForSubaccountOrder'),
  })
  expect(await relayed(await removal({ key: stranger.address }))).toMatchObject({ status: 'executed' })
  expect(await ask()).toMatchObject({ active: true })
})

test('an approval that the owner signed in its minified form counts as one', async () => {
  const { signature: _, ...message } = await approve()
  const digest = approvalDigest(chains.arbitrum, { ...big(message), signature: '0x' })
  const hash = minifiedDigest(domainSeparator(42_161, router), digest)
  const minified = { ...message, signature: await trader.sign({ hash }) }
  expect(await tradeWith(minified)).toMatchObject({ status: 'executed' })
  expect(await ask()).toMatchObject({ active: true, maxAllowedCount: '3' })
})

test('a removal that the relay took lands although the venue was killed before, without having saved its world', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'perpd-removal-'))
  await paper.close()
  const stateFile = join(folder, 'world.json')
  paper = await startVenue({ stateFile })
  try {
    expect(await tradeWith(await approve())).toMatchObject({ status: 'executed' })
    paper.venue.save()
    const { status } = await paper.post('/relay/submit', await removal())
    expect(status).toBe(200)
    expect(await ask()).toMatchObject({ active: true })
    await paper.close()
    paper = await startVenue({ stateFile })
    paper.clock.move(10_000)
    expect(await ask()).toMatchObject({ active: false, currentActionsCount: '1' })
  } finally {
    rmSync(folder, { recursive: true })
  }
})
