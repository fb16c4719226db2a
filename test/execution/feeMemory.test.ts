/** Our own estimate of fees: what it is learned from, and what it keeps from being signed. */
import { afterEach, expect, test } from 'vitest'
import { systemClock } from '../../src/base/systemClock.ts'
import type { IncreaseDecision } from '../../src/domain/order/decision.ts'
import type { Attempt, IntentState } from '../../src/domain/order/intent.ts'
import { labelOf } from '../../src/domain/order/intent.ts'
import { createFees, type Fees } from '../../src/execution/context/feeEstimates.ts'
import { executionFeeLimit, relayFeeLimit } from '../../src/execution/context/policy.ts'
import { createOrderManager } from '../../src/execution/orderManager.ts'
import { arbitrum } from '../../src/protocol/chains/arbitrum.ts'
import { usd } from '../../src/protocol/units.ts'
import { armedFacts, intentOf, usdc } from '../support/intents.ts'
import { ethSymbol, type KindsBench, kindsBench } from '../support/kinds.ts'

const usual = { executionFee: 100n, relayFee: 10n, factor: 5 }

/** What keepers kept of the execution fee, as the chain shows it. */
function paid(...fees: readonly bigint[]): Partial<Attempt> {
  return {
    children: fees.map((executionFeePaid, index) => ({
      index,
      orderKey: `0x${index.toString(16).padStart(64, '0')}` as const,
      phase: 'EXECUTED' as const,
      role: 'main' as const,
      settlement: { executionFeePaid },
    })),
  }
}

/** Estimates of an API-only daemon. */
function feesOf(): Fees {
  return createFees({ chain: arbitrum, clock: systemClock, usual })
}

function landed(
  n: number,
  executionFee: bigint,
  relayFeeAmount: bigint,
  fields: Partial<Attempt> = {},
): IntentState {
  const intent = intentOf({ intentId: n.toString(16).padStart(24, '0') })
  const attempt: Attempt = {
    n: 1,
    lane: 'order-chain',
    host: 'here',
    phase: 'LANDED',
    children: [],
    armed: armedFacts({ executionFee, relayFeeAmount }),
    ...fields,
  }
  return { intent, attempts: [attempt], updatedAtMs: 0 }
}

const increase = { kind: 'increase', reservationUsd: usd(100) } as const

test('before anything landed a fee is taken for the usual one, and never for less after', () => {
  const memory = feesOf()
  expect(memory.estimateFor(increase)).toMatchObject({ source: 'usual', executionFee: 100n, relayFee: 10n })
  memory.learn(landed(1, 1n, 1n))
  expect(memory.estimateFor(increase)).toMatchObject({ source: 'usual', executionFee: 100n, relayFee: 10n })
})

test('the middle of what was paid counts, for each order of a message, and only of its kind', () => {
  const memory = feesOf()
  for (const [n, fee] of [300n, 9_000n, 400n].entries()) memory.learn(landed(n, 9_000n, fee / 10n, paid(fee)))
  expect(memory.estimateFor(increase)).toMatchObject({ source: 'landed', executionFee: 400n, relayFee: 40n })
  expect(memory.estimateFor({ ...increase, kind: 'swap' })?.executionFee).toBe(100n)
  const twap = landed(9, 0n, 0n)
  const parts = {
    ...twap,
    intent: intentOf({
      intentId: 'f'.repeat(24),
      terms: { ...twap.intent.terms, orderType: 'twap', twap: { parts: 4, durationSeconds: 60 } },
    }),
    attempts: twap.attempts.map((each) => ({
      ...each,
      armed: armedFacts({ executionFee: 1_600n }),
      ...paid(400n, 400n, 400n, 400n),
    })),
  }
  const other = feesOf()
  other.learn(parts)
  expect(other.estimateFor(increase)?.executionFee).toBe(400n)
})

test('what never landed, or landed twice over, teaches nothing more', () => {
  const memory = feesOf()
  for (const phase of ['PREPARING', 'ARMED', 'ACKED', 'UNRESOLVED', 'DEAD', 'VOID_CONSUMED'] as const)
    memory.learn(landed(1, 10_000n, 10_000n, { phase }))
  expect(memory.estimateFor(increase)?.executionFee).toBe(100n)
  memory.learn(landed(2, 150n, 15n))
  memory.learn(landed(3, 150n, 15n))
  for (let again = 0; again < 9; again += 1) memory.learn(landed(4, 9_000n, 900n))
  expect(memory.estimateFor(increase)?.executionFee).toBe(150n)
})

test('what was asked and not shown to be paid counts for twice what is usual at most; what was paid counts whole', () => {
  const memory = feesOf()
  memory.learn(landed(1, 9_000n, 900n))
  expect(memory.estimateFor(increase)).toMatchObject({ executionFee: 200n, relayFee: 20n })
  // It was asked for a lot and kept little: the rest came back.
  memory.learn(landed(1, 9_000n, 900n, paid(120n)))
  expect(memory.estimateFor(increase)).toMatchObject({ executionFee: 120n, relayFee: 24n })
  const dear = feesOf()
  dear.learn(landed(2, 9_000n, 900n, paid(8_000n)))
  expect(dear.estimateFor(increase)).toMatchObject({ executionFee: 8_000n, relayFee: 900n })
})

test('a host that asks for all it may each time never raises the estimate beyond twice the usual', () => {
  const memory = feesOf()
  const policy = { maxExecutionFee: 10_000n, maxRelayFee: 1_000n } as Parameters<typeof executionFeeLimit>[0]
  const limits: bigint[] = []
  for (let n = 0; n < 60; n += 1) {
    const feeEstimate = memory.estimateFor(increase)
    const asked = { ...policy, ...(feeEstimate === undefined ? {} : { feeEstimate }) }
    limits.push(executionFeeLimit(asked, increase))
    memory.learn(landed(n, executionFeeLimit(asked, increase), relayFeeLimit(asked, increase)))
  }
  expect(limits[0]).toBe(500n)
  expect(Math.max(...limits.map(Number))).toBe(1_000)
})

test('what takes risk away is bounded by the highest fees alone, and a message of our own has no estimate', () => {
  const memory = feesOf()
  const highest = { maxExecutionFee: 10_000n, maxRelayFee: 1_000n } as Parameters<typeof executionFeeLimit>[0]
  for (const kind of ['decrease', 'close', 'cancel', 'collateral-in', 'edit'] as const) {
    const intent = { kind, reservationUsd: 0n }
    const feeEstimate = memory.estimateFor(intent)
    if (feeEstimate === undefined) throw new Error(kind)
    expect(executionFeeLimit({ ...highest, feeEstimate }, intent), kind).toBe(10_000n)
    expect(relayFeeLimit({ ...highest, feeEstimate }, intent), kind).toBe(1_000n)
  }
  expect(memory.estimateFor({ kind: 'batch', reservationUsd: usd(1) })).toBeUndefined()
})

let at: KindsBench

afterEach(() => at?.close())

async function open(gasPriceWei: bigint): Promise<IncreaseDecision> {
  at = await kindsBench({ settings: { gasPriceWei } })
  return {
    kind: 'increase',
    marketToken: await at.marketToken(ethSymbol),
    direction: 'long',
    collateralToken: usdc,
    reason: 'the test wishes it',
    sizeDeltaUsd: usd(300),
    leverageBps: 30_000,
  }
}

test('an order that lands teaches the road its fees', async () => {
  const decision = await open(80_000_000n)
  const before = at.context.fees?.estimateFor(increase)?.executionFee ?? 0n
  const { intentId } = await at.accept(decision)
  await at.clock.advance(5_000)
  const asked = at.story(intentId).attempts[0]?.armed?.executionFee ?? 0n
  expect(asked).toBeGreaterThan(2n * before)
  expect(at.context.fees?.estimateFor(increase)?.executionFee).toBe(2n * before)
})

test('a venue that asks for many times the usual fee within the cap opens nothing and still closes', async () => {
  const decision = await open(200_000_000n)
  const refused = await at.accept(decision)
  await at.clock.advance(5_000)
  expect(at.story(refused.intentId).closing).toMatchObject({ code: 'FEE_ABOVE_LIMIT' })
  // The same order with the caps alone is signed.
  const { fees: _, ...capsAlone } = at.context
  const admitted = await at.judge(decision)
  if (admitted.kind === 'denial') throw new Error(admitted.denial.code)
  await createOrderManager(capsAlone).accept(admitted.intent)
  await at.clock.advance(35_000)
  const { marketToken, direction, collateralToken, reason } = decision
  const closed = await at.accept({ kind: 'close', marketToken, direction, collateralToken, reason })
  await at.clock.advance(5_000)
  expect(labelOf(at.story(closed.intentId))).toBe('executed')
})
