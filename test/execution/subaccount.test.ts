/**
 * A delegated key trades for its owner, over real sockets and in both lanes: the first order carries the owner's approval,
 * later ones the empty one; what is left is counted, and the last actions are kept for closing.
 */
import { expect, test } from 'vitest'
import { removalTypedData } from '../../src/daemon/signers/removalFile.ts'
import type { Decision } from '../../src/domain/order/decision.ts'
import { lastAttempt } from '../../src/domain/order/intent.ts'
import type { LaneName } from '../../src/domain/order/laneTable.ts'
import { removalOf } from '../../src/execution/approval/removal.ts'
import { arbitrum } from '../../src/protocol/chains/arbitrum.ts'
import { encodeRemovalCall } from '../../src/protocol/signing/relayCalldata.ts'
import { type TokenAmount, usd } from '../../src/protocol/units.ts'
import { usdc } from '../support/intents.ts'
import { delegate, ethSymbol, type KindsBench, kindsBench, signer } from '../support/kinds.ts'

async function bench(approvedActions: number, lane: LaneName = 'order-chain', approvedSeconds = 604_800) {
  const at = await kindsBench({ approvedActions, approvedSeconds, lane, isByChain: true })
  const { subaccount } = at
  if (subaccount === undefined) throw new Error('no watch')
  const marketToken = await at.marketToken(ethSymbol)
  const base = {
    marketToken,
    direction: 'long',
    collateralToken: usdc,
    reason: 'the test wishes it',
  } as const
  const increase: Decision = { ...base, kind: 'increase', sizeDeltaUsd: usd(100), leverageBps: 20_000 }
  const closing: Decision = { ...base, kind: 'close' }
  return { ...at, subaccount, increase, closing }
}

const armedOf = (at: KindsBench, intentId: string) => lastAttempt(at.story(intentId))?.armed
const left = (at: Awaited<ReturnType<typeof bench>>) => at.subaccount.report()?.remainingActions

test.each(['order-chain', 'relay'] as const)(
  'in the %s lane the first order carries the approval and the second the empty one, both for the owner',
  async (lane) => {
    const at = await bench(10, lane)
    await at.subaccount.check(0)
    expect(at.subaccount.report()).toMatchObject({
      isActive: false,
      isApprovalWaiting: true,
      remainingActions: 10,
    })
    const first = await at.accept(at.increase)
    await at.clock.advance(10_000)
    expect(first.account).toBe(signer.address)
    expect(at.story(first.intentId).closing?.outcome).toBe('EXECUTED')
    expect(armedOf(at, first.intentId)?.router).toBe(arbitrum.contracts.subaccountGelatoRelayRouter)
    await at.subaccount.check(1)
    expect(at.subaccount.report()).toMatchObject({
      address: delegate.address,
      isActive: true,
      isApprovalWaiting: false,
      remainingActions: 9,
      neededActions: 1,
    })
    const second = await at.accept(at.closing)
    await at.clock.advance(10_000)
    expect(at.story(second.intentId).closing?.outcome).toBe('EXECUTED')
    expect((await at.snapshot()).positions.value).toEqual([])
    await at.subaccount.check(0)
    expect(left(at)).toBe(8)
    await at.close()
  },
)

test('nothing is signed before the approval was read, and the first read lets it go on', async () => {
  const at = await bench(10)
  const intent = await at.accept(at.increase)
  await at.clock.advance(3_000)
  expect(armedOf(at, intent.intentId)).toBeUndefined()
  await at.subaccount.check(0)
  await at.clock.advance(10_000)
  expect(at.story(intent.intentId).closing?.outcome).toBe('EXECUTED')
  await at.close()
})

test('while the first order carries the approval no other does; the next goes when the chain knows it', async () => {
  const at = await bench(10)
  await at.subaccount.check(0)
  const first = await at.accept(at.increase)
  const other = { ...at.increase, direction: 'short' } as const
  const second = await at.accept(other)
  await at.clock.advance(5_000)
  expect(at.story(first.intentId).closing?.outcome).toBe('EXECUTED')
  expect(armedOf(at, second.intentId)).toBeUndefined()
  await at.subaccount.check(1)
  await at.clock.advance(10_000)
  expect(at.story(second.intentId).closing?.outcome).toBe('EXECUTED')
  await at.subaccount.check(2)
  expect(left(at)).toBe(8)
  await at.close()
})

test('increases stop before the actions that closing needs, reductions go on to the last one', async () => {
  const at = await bench(4)
  await at.subaccount.check(0)
  const first = await at.accept(at.increase)
  await at.clock.advance(10_000)
  expect(at.story(first.intentId).closing?.outcome).toBe('EXECUTED')
  // 3 left; 1 is needed to close, 2 are kept.
  await at.subaccount.check(1)
  expect(at.events.filter(({ type }) => type === 'subaccount.low')).toHaveLength(1)
  const refused = await at.accept(at.increase)
  await at.clock.advance(5_000)
  expect(at.story(refused.intentId).closing).toMatchObject({
    outcome: 'REFUSED_LOCAL',
    code: 'SUBACCOUNT_LOW',
  })
  const close = await at.accept(at.closing)
  await at.clock.advance(10_000)
  expect(at.story(close.intentId).closing?.outcome).toBe('EXECUTED')
  await at.close()
})

test('after its end the approval signs nothing', async () => {
  const at = await bench(10, 'order-chain', 600)
  await at.subaccount.check(0)
  await at.accept(at.increase)
  await at.clock.advance(10_000)
  await at.subaccount.check(1)
  await at.clock.advance(600_000)
  const late = await at.accept(at.closing)
  await at.clock.advance(5_000)
  expect(at.story(late.intentId).closing).toMatchObject({
    outcome: 'REFUSED_LOCAL',
    code: 'SUBACCOUNT_SPENT',
  })
  await at.close()
})

test('a key that its owner removed signs nothing more, and its end is told at once although a warning was told before', async () => {
  const at = await bench(4)
  await at.subaccount.check(0)
  await at.accept(at.increase)
  await at.clock.advance(10_000)
  await at.subaccount.check(1)
  const lows = () => at.events.filter((event) => event.type === 'subaccount.low')
  expect(lows()).toHaveLength(1)

  const chain = arbitrum
  const nowSeconds = Math.floor(at.clock.now() / 1000)
  const terms = {
    subaccount: delegate.address,
    feeAmount: 1_000_000n as TokenAmount,
    userNonce: 7n,
    deadline: BigInt(nowSeconds + 120),
  }
  const removal = removalOf(chain, terms)
  const { digest, relayParams } = removal
  const signature = await signer.sign({ digest, typedData: removalTypedData(chain, removal) })
  const data = encodeRemovalCall({
    account: signer.address,
    subaccount: delegate.address,
    relayParams,
    signature,
  })
  const to = chain.contracts.subaccountGelatoRelayRouter
  const { value: task } = await at.context.api.submitRelay({ to, data })
  await at.clock.advance(2_000)
  expect((await at.context.api.getRelayStatus(task)).value).toMatchObject({ status: 'executed' })
  await at.subaccount.check(1)
  await at.subaccount.check(1)
  expect(lows()).toHaveLength(2)
  expect(lows()[1]).toMatchObject({
    report: { isActive: false, isApprovalWaiting: false, remainingActions: 0 },
  })
  const close = await at.accept(at.closing)
  await at.clock.advance(5_000)
  expect(at.story(close.intentId).closing).toMatchObject({
    outcome: 'REFUSED_LOCAL',
    code: 'SUBACCOUNT_SPENT',
    reason: expect.stringContaining('is not approved on the chain'),
  })
  await at.close()
})
