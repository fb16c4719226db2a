/** Orders that wait, parts, exits, edits and cancels, followed on the chain alone, over real sockets. */
import { afterEach, expect, test } from 'vitest'
import { reservedOf } from '../../src/domain/machine/intentExposure.ts'
import { type Intent, labelOf, lastAttempt } from '../../src/domain/order/intent.ts'
import { ownRelayFee, relayProposal } from '../../src/execution/lanes/relayParams.ts'
import type { BatchTerms, CreateOrderParams } from '../../src/protocol/batch.ts'
import { arbitrum } from '../../src/protocol/chains/arbitrum.ts'
import { encodeBatchCall } from '../../src/protocol/signing/relayCalldata.ts'
import { digestOf, domainSeparator } from '../../src/protocol/signing/relayRouter.ts'
import { contractPriceOf, usd } from '../../src/protocol/units.ts'
import { type ChainBench, chainBench, signer } from '../support/chain.ts'
import { createdOrder } from '../support/createdOrder.ts'
import { ethMarket, intentOf } from '../support/intents.ts'

let world: ChainBench
afterEach(() => world.close())

const nobody: BatchTerms = { createOrderParamsList: [], updateOrderParamsList: [], cancelOrderKeys: [] }

async function price(): Promise<bigint> {
  return (await world.api.getMarketTickers({ addresses: [ethMarket] })).value[0]?.maxPrice ?? 0n
}

function batchIntent(intentId: string, batch: BatchTerms, parts: Partial<Intent> = {}): Intent {
  return intentOf({
    intentId,
    decisionKey: intentId,
    account: signer.address,
    lane: 'relay',
    kind: 'batch',
    acceptedAtMs: world.clock.now(),
    expiresAtMs: world.clock.now() + 30_000,
    ...parts,
    terms: { ...intentOf().terms, orderType: 'limit', batch, ...parts.terms },
  })
}

const phases = (intentId: string) =>
  (lastAttempt(world.story(intentId))?.children ?? []).map(({ phase }) => phase)

/** Signs, journals and sends an intent's message as a process did that died right after its send: no answer is known. */
async function sentBefore(intent: Intent, orders: readonly CreateOrderParams[]): Promise<void> {
  const actions = { ...nobody, createOrderParamsList: orders }
  const nowSeconds = Math.floor(world.clock.now() / 1000)
  const fee = ownRelayFee(arbitrum, actions, 1_000_000n)
  const router = arbitrum.contracts.gelatoRelayRouter
  const policy = {
    minDeadlineSeconds: 20,
    maxDeadlineSeconds: 3700,
    maxExecutionFee: 10n ** 17n,
    maxRelayFee: 50_000_000n,
    priceToleranceBps: 100,
    swapMarkets: new Map(),
  }
  const message = { intent, attempt: 1, actions, fee, nowSeconds, validForSeconds: 120 }
  const { batch, relayParams } = relayProposal(arbitrum, policy, message)
  const digest = digestOf(domainSeparator(arbitrum.chainId, router), batch)
  const typedData = {
    domain: { name: '', version: '', chainId: arbitrum.chainId, verifyingContract: router },
    types: {},
    primaryType: 'Batch',
    message: {},
  }
  const signature = await signer.sign({ digest, typedData })
  const armBlock = (await world.reader.latestBlocks())[0]?.block
  const base = { v: 1, atMs: world.clock.now(), intentId: intent.intentId } as const
  await world.journal.append({ ...base, kind: 'intent.accepted', intent })
  await world.journal.append({ ...base, kind: 'attempt.preparing', attempt: 1, lane: 'relay', host: 'h' })
  await world.journal.append({
    ...base,
    kind: 'attempt.armed',
    attempt: 1,
    armed: {
      host: world.api.hosts.api[0] ?? '',
      router,
      digest,
      deadlineSeconds: nowSeconds + 120,
      userNonce: relayParams.userNonce,
      signature,
      acceptableContractPrice: 0n,
      creates: [],
      comparedFields: 0,
      executionFee: 2n * 10n ** 14n,
      relayFeeToken: relayParams.fee.feeToken,
      relayFeeAmount: relayParams.fee.feeAmount,
      validationWarnings: [],
      leaseEpoch: 1,
      ...(armBlock === undefined ? {} : { armBlockNumber: armBlock.number }),
    },
  })
  const data = encodeBatchCall({ account: signer.address, relayParams, signature, batch })
  await world.api.submitRelay({ to: router, data })
  world.orderManager.restore(world.journal.openIntents(), [])
  const recovered = world.orderManager.recover()
  await world.clock.advance(3_000)
  await recovered
}

test('a limit order rests, freezes with its reason, is open again when an update lifts it, and executes', async () => {
  world = await chainBench()
  const now = await price()
  const limit = createdOrder({
    type: 3,
    sizeUsd: 100,
    collateral: 50_000_000n,
    triggerUsd: now / 2n,
    acceptableUsd: now / 2n,
  })
  await world.orderManager.accept(batchIntent('limit', { ...nobody, createOrderParamsList: [limit] }))
  await world.clock.advance(8_000)
  expect(labelOf(world.story('limit'))).toBe('resting')
  const key = lastAttempt(world.story('limit'))?.children[0]?.orderKey ?? '0x'

  world.set({ keeperFails: 'InsufficientReserve' })
  const update = {
    key,
    sizeDeltaUsd: usd(100),
    acceptablePrice: contractPriceOf(now * 2n, 18),
    triggerPrice: contractPriceOf(now * 2n, 18),
    minOutputAmount: 0n,
    validFromTime: 0n,
    autoCancel: false,
    executionFeeIncrease: 0n,
  }
  await world.orderManager.accept(batchIntent('touch', { ...nobody, updateOrderParamsList: [update] }))
  await world.clock.advance(40_000)
  expect(world.story('touch').closing?.outcome).toBe('EXECUTED')
  expect(phases('limit')).toEqual(['FROZEN'])
  expect(lastAttempt(world.story('limit'))?.children[0]?.cancelReason).toMatch(/^InsufficientReserve\(/)
  expect(reservedOf(world.story('limit'))).toBe(usd(500))

  world.set({ keeperFails: '' })
  await world.orderManager.accept(batchIntent('again', { ...nobody, updateOrderParamsList: [update] }))
  await world.clock.advance(40_000)
  expect(world.story('again').closing?.outcome).toBe('EXECUTED')
  expect(world.story('limit').closing).toMatchObject({
    outcome: 'EXECUTED',
    settlement: { sizeDeltaUsd: usd(100) },
    evidence: { level: 'chain-final' },
  })
})

test('a cancel closes with its own event, and so does the order it cancelled', async () => {
  world = await chainBench({ endpoints: 2 })
  const now = await price()
  const limit = createdOrder({
    type: 3,
    sizeUsd: 100,
    collateral: 50_000_000n,
    triggerUsd: now / 2n,
    acceptableUsd: now / 2n,
  })
  await world.orderManager.accept(batchIntent('limit', { ...nobody, createOrderParamsList: [limit, limit] }))
  await world.clock.advance(8_000)
  const children = lastAttempt(world.story('limit'))?.children ?? []
  expect(children).toHaveLength(2)
  const cancelOrderKeys = children.map(({ orderKey }) => orderKey)
  await world.orderManager.accept(
    batchIntent('cancel', { ...nobody, cancelOrderKeys }, { reservationUsd: 0n }),
  )
  await world.clock.advance(40_000)
  expect(world.story('cancel').closing).toMatchObject({
    outcome: 'EXECUTED',
    evidence: { level: 'chain-final' },
  })
  expect(world.story('limit').closing?.outcome).toBe('CANCELLED')
  expect(world.story('limit').closing?.reason).toContain('USER_INITIATED_CANCEL')
})

test('an increase found armed at start-up lands with its exits, and each ends by its own event', async () => {
  world = await chainBench()
  const now = await price()
  const terms = {
    ...intentOf().terms,
    referencePrice: now,
    tpsl: [
      { type: 'take-profit', triggerPrice: now * 2n, sizeDeltaUsd: usd(500) },
      { type: 'stop-loss', triggerPrice: now / 2n, sizeDeltaUsd: usd(500) },
    ],
  } as const
  const intent = batchIntent('exits', nobody, { kind: 'increase', terms })
  await sentBefore(intent, [
    createdOrder({ type: 2, sizeUsd: 500, collateral: 250_000_000n, acceptableUsd: now * 2n }),
    createdOrder({ type: 5, sizeUsd: 500, triggerUsd: now * 2n, acceptableUsd: now }),
    createdOrder({ type: 6, sizeUsd: 500, triggerUsd: now / 2n, acceptableUsd: 0n }),
  ])
  await world.clock.advance(10_000)
  const children = lastAttempt(world.story('exits'))?.children ?? []
  expect(children.map(({ role, phase }) => [role, phase])).toEqual([
    ['main', 'EXECUTED'],
    ['take-profit', 'OPEN'],
    ['stop-loss', 'OPEN'],
  ])
  // The increase is done: what is left can only close it.
  expect(reservedOf(world.story('exits'))).toBe(0n)
  const cancelOrderKeys = children.slice(1).map(({ orderKey }) => orderKey)
  await world.orderManager.accept(
    batchIntent('cancel', { ...nobody, cancelOrderKeys }, { reservationUsd: 0n }),
  )
  await world.clock.advance(40_000)
  expect(world.story('exits').closing).toMatchObject({
    outcome: 'EXECUTED',
    settlement: { sizeDeltaUsd: usd(500) },
  })
})

test('the parts of a twap end one by one, and the reservation shrinks with them', async () => {
  world = await chainBench()
  const now = await price()
  const terms = {
    ...intentOf().terms,
    orderType: 'twap',
    referencePrice: now,
    twap: { parts: 3, durationSeconds: 90 },
  } as const
  const intent = batchIntent('twap', nobody, { kind: 'increase', terms, reservationUsd: usd(300) })
  const firstSeconds = BigInt(Math.floor(world.clock.now() / 1000))
  const part = createdOrder({
    type: 3,
    sizeUsd: 100,
    collateral: 50_000_000n,
    triggerUsd: now * 2n,
    acceptableUsd: now * 2n,
  })
  await sentBefore(
    intent,
    [0n, 30n, 60n].map((after) => ({
      ...part,
      numbers: { ...part.numbers, validFromTime: firstSeconds + after },
    })),
  )
  await world.clock.advance(12_000)
  expect(phases('twap')).toEqual(['EXECUTED', 'OPEN', 'OPEN'])
  expect(reservedOf(world.story('twap'))).toBe(usd(200))
  expect(labelOf(world.story('twap'))).toBe('resting')
  await world.clock.advance(100_000)
  expect(phases('twap')).toEqual(['EXECUTED', 'EXECUTED', 'EXECUTED'])
  expect(world.story('twap').closing).toMatchObject({ outcome: 'EXECUTED', reason: '3 of 3 orders executed' })
})
