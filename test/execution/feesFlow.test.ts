/** Fees on the road, over real sockets: what an edit asks for and accepts, and what the chain's gas price explains. */
import { afterEach, expect, test } from 'vitest'
import type { EditDecision, IncreaseDecision } from '../../src/domain/order/decision.ts'
import { prepare } from '../../src/execution/lanes/prepare.ts'
import { verifyBatch } from '../../src/execution/verify/verify.ts'
import { arbitrum } from '../../src/protocol/chains/arbitrum.ts'
import type { Order } from '../../src/protocol/position.ts'
import { hashRelayParams } from '../../src/protocol/signing/relayRouter.ts'
import { type Usd, usd } from '../../src/protocol/units.ts'
import { usdc } from '../support/intents.ts'
import { ethSymbol, type KindsBench, type KindsOptions, kindsBench, signer } from '../support/kinds.ts'

let at: KindsBench

afterEach(() => at?.close())

async function market(options: KindsOptions = {}): Promise<IncreaseDecision & { readonly price: Usd }> {
  at = await kindsBench(options)
  const ticker = (await at.api.getMarketTickers({ symbols: [ethSymbol] })).value[0]
  return {
    kind: 'increase',
    marketToken: await at.marketToken(ethSymbol),
    direction: 'long',
    collateralToken: usdc,
    reason: 'the test wishes it',
    sizeDeltaUsd: usd(300),
    leverageBps: 30_000,
    price: ticker?.maxPrice ?? 0n,
  }
}

/** A limit order that rests 20 % below the market, and the decision to move it. */
async function resting(options: KindsOptions = {}): Promise<{ edit: EditDecision; order: Order }> {
  const { price, ...open } = await market(options)
  await at.accept({ ...open, orderType: 'limit', triggerPrice: (price * 8n) / 10n })
  await at.clock.advance(5_000)
  const [order] = (await at.api.getOrders({ account: signer.address })).value
  if (order === undefined) throw new Error('nothing rests')
  const { marketToken, direction, reason } = open
  const triggerPrice = (price * 82n) / 100n
  return {
    edit: { kind: 'edit', marketToken, direction, reason, orderKey: order.orderKey, triggerPrice },
    order,
  }
}

test('an edit asks for what its order lacks of the fee that executing it costs now, and the order holds it after', async () => {
  const { edit, order } = await resting()
  const held = order.executionFee ?? 0n
  const needed = at.context.fees?.executionFeeOf('limit') ?? 0n
  expect(held).toBeLessThan(needed)
  const { terms, intentId } = await at.accept(edit)
  expect(terms.edit).toMatchObject({ executionFeeIncrease: needed - held, executionFeeHeld: held })
  await at.clock.advance(5_000)
  expect(at.story(intentId).closing).toMatchObject({ outcome: 'EXECUTED' })
  const [edited] = (await at.api.getOrders({ account: signer.address })).value
  expect(edited?.executionFee).toBe(needed)
})

test('an edit of an order that holds enough asks for nothing', async () => {
  const { edit, order } = await resting({ settings: { gasPriceWei: 60_000_000n } })
  expect(order.executionFee).toBeGreaterThanOrEqual(at.context.fees?.executionFeeOf('limit') ?? 0n)
  const { terms } = await at.accept(edit)
  expect(terms.edit?.executionFeeIncrease).toBe(0n)
  expect(terms.edit?.changed).not.toContain('execution-fee')
})

test('a venue may add to an edited order from nothing up to what such an order may hold, and no more', async () => {
  const { edit, order } = await resting()
  const admitted = await at.judge(edit)
  if (admitted.kind === 'denial') throw new Error(admitted.denial.code)
  const { intent } = admitted
  const prepared = await prepare(at.context, intent, at.api.hosts.api[0] ?? '')
  const { batch } = prepared.typedData
  const policy = at.context.signingPolicy()
  const codeOf = (executionFeeIncrease: bigint): string => {
    const updateOrderParamsList = batch.updateOrderParamsList.map((each) => ({
      ...each,
      executionFeeIncrease,
    }))
    const { relayParams } = prepared
    const changed = { ...batch, updateOrderParamsList, relayParams: hashRelayParams(relayParams) }
    const proposal = { batch: changed, relayParams }
    const result = verifyBatch(arbitrum, intent, proposal, policy, at.clock.now() / 1000)
    return 'kind' in result ? result.code : 'verified'
  }
  const room = policy.maxExecutionFee - (order.executionFee ?? 0n)
  expect(codeOf(0n)).toBe('verified')
  expect(codeOf(room)).toBe('verified')
  expect(codeOf(room + 1n)).toBe('FEE_ABOVE_LIMIT')
  expect(codeOf(100n * policy.maxExecutionFee + 1n)).toBe('TYPED_DATA_MISMATCH')
})

test("with a chain endpoint an order's fees are judged by the gas price, and the journal says what they were taken for", async () => {
  const { price: _, ...open } = await market({ isByChain: true })
  const { intentId } = await at.accept(open)
  await at.clock.advance(10_000)
  const { feeEstimate, executionFee, relayFeeAmount } = at.story(intentId).attempts[0]?.armed ?? {}
  expect(feeEstimate?.source).toBe('chain')
  expect(executionFee).toBeLessThanOrEqual(3n * (feeEstimate?.executionFee ?? 0n))
  expect(relayFeeAmount).toBeLessThanOrEqual(3n * (feeEstimate?.relayFee ?? 0n))
})

test('an honest spike of gas holds an increase back as too dear, and no host rests for it', async () => {
  for (const isByChain of [true, false]) {
    const { price: _, ...open } = await market({ isByChain, settings: { gasPriceWei: 10n ** 9n } })
    const { intentId } = await at.accept(open)
    await at.clock.advance(5_000)
    expect(at.story(intentId).closing).toMatchObject({ outcome: 'REFUSED_LOCAL', code: 'FEE_ABOVE_LIMIT' })
    expect(at.api.hosts.api.some((host) => at.api.isCoolingDown(host))).toBe(false)
    await at.close()
  }
})

test('a venue that asks for what no gas price explains is a liar with an endpoint, and dear without one', async () => {
  for (const isByChain of [true, false]) {
    const { price: _, ...open } = await market({ isByChain })
    at.venue.faults.askedFeePercent = 3_000
    const { intentId } = await at.accept(open)
    await at.clock.advance(5_000)
    const code = isByChain ? 'TYPED_DATA_MISMATCH' : 'FEE_ABOVE_LIMIT'
    expect(at.story(intentId).closing).toMatchObject({ outcome: 'REFUSED_LOCAL', code })
    expect(at.api.hosts.api.some((host) => at.api.isCoolingDown(host))).toBe(isByChain)
    await at.close()
  }
})
