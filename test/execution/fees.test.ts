/** Estimates by the chain's gas price: what they stand on, what they let through, and what they tell apart. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Clock } from '../../src/base/clock.ts'
import { BaseError } from '../../src/base/errors.ts'
import { Differences } from '../../src/execution/context/differences.ts'
import { createFees, type FeeMessage, type Fees } from '../../src/execution/context/feeEstimates.ts'
import { createGasWatch } from '../../src/execution/context/gasWatch.ts'
import { createNativePrice } from '../../src/execution/context/nativePrice.ts'
import {
  executionFeeLimit,
  executionFeeSpike,
  relayFeeLimit,
  relayFeeSpike,
  type SigningPolicy,
} from '../../src/execution/context/policy.ts'
import { arbitrum } from '../../src/protocol/chains/arbitrum.ts'
import { executionFeeOf, expressGasPrice } from '../../src/protocol/chains/feeFormula.ts'
import { chainGas } from '../../src/protocol/chains/gas.ts'
import type { GasPrice } from '../../src/protocol/gasPrice.ts'
import type { OraclePrice } from '../../src/protocol/market.ts'
import type { RelayParams } from '../../src/protocol/signing/relayRouter.ts'
import { usd } from '../../src/protocol/units.ts'
import { batch, relayParams } from '../protocol/batches.ts'

const gas = chainGas.arbitrum
const usual = { executionFee: 2n * 10n ** 14n, relayFee: 1_000_000n, factor: 5 }
const gwei = 10n ** 9n
const calm = gwei / 50n
const increase = { kind: 'increase', reservationUsd: usd(100) } as const
const close = { kind: 'close', reservationUsd: 0n } as const

class StandingClock implements Clock {
  atMs = 1_000_000
  now = () => this.atMs
  monotonicMs = () => this.atMs
  /** Nothing here takes time: a wait is over when what it guards is. */
  sleep = (_ms: number, signal?: AbortSignal) =>
    new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve()))
}

const told = (networkGasPrice: bigint): GasPrice => ({ networkGasPrice, priorityFee: 0n })
const express = (networkGasPrice: bigint) => expressGasPrice(gas, told(networkGasPrice))

interface World {
  readonly clock: StandingClock
  readonly fees: Fees
  /** Gas prices that the endpoints tell, wei. */
  prices: readonly bigint[]
  /** What the oracle says an ETH is worth, whole USD; undefined: it does not answer. */
  native: number | undefined
  asked: number
}

function oracleOf(venueState: Pick<World, 'native'>) {
  const answer = <T>(value: T) => ({ value, host: 'here', readAtMs: 0 }) as never
  return {
    getOracleTokens: async () => answer([]),
    getPrices: async () => {
      if (venueState.native === undefined) throw new BaseError('silent', { code: 'SILENT', facts: {} })
      const price = usd(venueState.native)
      const row: OraclePrice = {
        tokenSymbol: 'ETH',
        tokenAddress: arbitrum.contracts.wrappedNative,
        minPrice: price,
        maxPrice: price,
        medianPrice: price,
        updatedAtSeconds: 0,
      }
      return answer([row])
    },
  }
}

function worldOf(prices: readonly bigint[] = [calm]): World {
  const clock = new StandingClock()
  const world = { clock, prices, native: 1_740, asked: 0 } as { -readonly [K in keyof World]: World[K] }
  const gasPrices = async () => {
    world.asked += 1
    return world.prices.map(told)
  }
  world.fees = createFees({
    chain: arbitrum,
    clock,
    usual,
    gas: createGasWatch(gas, gasPrices, clock),
    nativePrice: createNativePrice(oracleOf(world), arbitrum, clock),
  })
  return world
}

/** A message of one increase that says these fees. */
function messageOf(executionFee: bigint, feeAmount: bigint): FeeMessage {
  const [order] = batch.createOrderParamsList
  if (order === undefined) throw new Error('no order')
  const numbers = { ...order.numbers, executionFee }
  const params: RelayParams = { ...relayParams, fee: { ...relayParams.fee, feeAmount } }
  return { batch: { ...batch, createOrderParamsList: [{ ...order, numbers }] }, relayParams: params }
}

const honestFee = (networkGasPrice: bigint) =>
  executionFeeOf(gas, express(networkGasPrice), { kind: 'increase', swaps: 0 })

/** What the verifier says of an execution fee: nothing, or the code of its refusal. */
function verdictOf({ fees }: World, intent: typeof increase | typeof close, fee: bigint): string {
  const feeEstimate = fees.estimateFor(intent, messageOf(fee, 1n))
  const policy = {
    maxExecutionFee: 10n ** 16n,
    maxRelayFee: 5_000_000n,
    reducing: { maxExecutionFee: 10n ** 16n, maxRelayFee: 26_000_000n, priceToleranceBps: 200 },
    ...(feeEstimate === undefined ? {} : { feeEstimate }),
  } as SigningPolicy
  const differences = new Differences()
  differences.fee('fee', executionFeeLimit(policy, intent), fee, executionFeeSpike(policy, intent))
  return differences.list.length === 0 ? 'signed' : differences.code
}

test('with an endpoint the estimate is the formula at the gas price of now, and says so', async () => {
  const venueState = worldOf()
  await venueState.fees.refresh(0)
  const estimate = venueState.fees.estimateFor(increase, messageOf(1n, 1n))
  expect(estimate).toMatchObject({ source: 'chain', executionFee: honestFee(calm), factor: 3n })
  expect(estimate?.whole.executionFee).toBe(honestFee(calm))
  expect(estimate?.relayFee).toBeGreaterThan(300_000n)
  expect(estimate?.relayFee).toBeLessThan(500_000n)
  venueState.prices = [gwei]
  await venueState.fees.refresh(0)
  expect(venueState.fees.estimateFor(increase, messageOf(1n, 1n))?.executionFee).toBe(honestFee(gwei))
})

test('of two endpoints the lower counts, so that none alone makes a fee believable', async () => {
  await fc.assert(
    fc.asyncProperty(fc.bigInt(1n, 10n ** 13n), fc.bigInt(1n, 10n ** 13n), async (honest, lie) => {
      const venueState = worldOf([honest, lie])
      await venueState.fees.refresh(0)
      const estimate = venueState.fees.estimateFor(increase, messageOf(1n, 1n))
      const lower = honest < lie ? honest : lie
      expect(estimate?.executionFee).toBe(honestFee(lower))
      expect(executionFeeLimit(policyWith(estimate), increase)).toBeLessThanOrEqual(10n ** 16n)
    }),
  )
})

function policyWith(feeEstimate: ReturnType<Fees['estimateFor']>): SigningPolicy {
  const bounds = { maxExecutionFee: 10n ** 16n, maxRelayFee: 5_000_000n } as SigningPolicy
  return feeEstimate === undefined ? bounds : { ...bounds, feeEstimate }
}

test('a reading of more than a minute ago, or no price of the native token, leaves what landed and is usual', async () => {
  const venueState = worldOf()
  await venueState.fees.refresh(0)
  venueState.clock.atMs += 60_001
  expect(venueState.fees.estimateFor(increase, messageOf(1n, 1n))?.source).toBe('usual')
  const silent = worldOf()
  silent.native = undefined
  await silent.fees.refresh(0)
  expect(silent.fees.estimateFor(increase, messageOf(1n, 1n))).toMatchObject({
    source: 'usual',
    executionFee: usual.executionFee,
  })
})

test('a young reading is not asked for again, and endpoints that say nothing leave what was known', async () => {
  const venueState = worldOf()
  await venueState.fees.refresh(15_000)
  await venueState.fees.refresh(15_000)
  expect(venueState.asked).toBe(1)
  venueState.clock.atMs += 20_000
  venueState.prices = []
  await venueState.fees.refresh(15_000)
  expect(venueState.asked).toBe(2)
  expect(venueState.fees.estimateFor(increase, messageOf(1n, 1n))?.executionFee).toBe(honestFee(calm))
})

test('an endpoint that hangs holds an order back for a second and no longer', async () => {
  const clock = new StandingClock()
  const waits: number[] = []
  clock.sleep = async (ms) => void waits.push(ms)
  const gasWatch = createGasWatch(gas, () => new Promise(() => undefined), clock)
  const fees = createFees({ chain: arbitrum, clock, usual, gas: gasWatch })
  await fees.refresh(0)
  expect(waits).toEqual([1_000])
})

test('an honest fee at every gas price is signed of a close up to its limit, and never called tampering', async () => {
  for (const price of [calm, gwei / 5n, gwei / 2n, gwei, 5n * gwei]) {
    const venueState = worldOf([price])
    await venueState.fees.refresh(0)
    const fee = honestFee(price)
    expect(verdictOf(venueState, close, fee)).toBe(fee <= 10n ** 16n ? 'signed' : 'FEE_ABOVE_LIMIT')
    expect(verdictOf(venueState, increase, fee)).toBe(fee <= 10n ** 16n ? 'signed' : 'FEE_ABOVE_LIMIT')
  }
})

test('a fee that no gas price explains is tampering, of increases and of what takes risk away', async () => {
  const venueState = worldOf()
  await venueState.fees.refresh(0)
  // The usual fee stands in for a calm: 3 times it is 0.0006 ETH.
  expect(verdictOf(venueState, increase, 6n * 10n ** 14n)).toBe('FEE_ABOVE_LIMIT')
  expect(verdictOf(venueState, increase, 6n * 10n ** 14n + 1n)).toBe('TYPED_DATA_MISMATCH')
  expect(verdictOf(venueState, increase, 100n * honestFee(calm))).toBe('TYPED_DATA_MISMATCH')
  expect(verdictOf(venueState, close, 100n * honestFee(calm))).toBe('TYPED_DATA_MISMATCH')
  expect(verdictOf(venueState, close, 10n ** 16n)).toBe('signed')
})

test('a host that still counts with the gas of a spike that is over is too dear, and no attacker, for ten minutes', async () => {
  const venueState = worldOf([gwei])
  await venueState.fees.refresh(0)
  venueState.prices = [calm]
  venueState.clock.atMs += 30_000
  await venueState.fees.refresh(0)
  expect(verdictOf(venueState, increase, honestFee(gwei))).toBe('FEE_ABOVE_LIMIT')
  venueState.clock.atMs += 600_000
  await venueState.fees.refresh(0)
  expect(verdictOf(venueState, increase, honestFee(gwei))).toBe('TYPED_DATA_MISMATCH')
})

test('a whole fee counts for each order of its message, and is told apart the same way', async () => {
  const venueState = worldOf()
  await venueState.fees.refresh(0)
  const [order] = batch.createOrderParamsList
  if (order === undefined) throw new Error('no order')
  const many = { batch: { ...batch, createOrderParamsList: Array(10).fill(order) }, relayParams }
  const estimate = venueState.fees.estimateFor(increase, many)
  const policy = policyWith(estimate)
  const each = estimate?.relayFee ?? 0n
  expect(relayFeeLimit(policy, increase)).toBe(3n * each)
  expect(relayFeeSpike(policy, increase)).toBe(3n * (each > usual.relayFee ? each : usual.relayFee))
  expect(10n * each).toBeGreaterThanOrEqual(estimate?.whole.relayFee ?? 0n)
})

test('what a resting order must hold follows the gas price, else what landed and is usual', async () => {
  const venueState = worldOf([gwei])
  expect(venueState.fees.executionFeeOf('limit')).toBe(usual.executionFee)
  await venueState.fees.refresh(0)
  expect(venueState.fees.executionFeeOf('limit')).toBe(honestFee(gwei))
  // An exit may turn its profit: one swap and one price more.
  expect(venueState.fees.executionFeeOf('stop-loss') - honestFee(gwei)).toBe(1_250_000n * express(gwei))
})

test('a message of our own offers the relay what its gas needs, and its own execution fees with it', async () => {
  const venueState = worldOf([gwei])
  expect(venueState.fees.ownFeeAmount(messageOf(10n ** 15n, 1n))).toBeUndefined()
  await venueState.fees.refresh(0)
  const one = venueState.fees.ownFeeAmount(messageOf(10n ** 15n, 1n)) ?? 0n
  const two = venueState.fees.ownFeeAmount(messageOf(2n * 10n ** 15n, 1n)) ?? 0n
  // 0.001 ETH at 1740 USD, and what swapping the fee costs.
  expect(two - one).toBe(1_780_051n)
  expect(
    venueState.fees.estimateFor({ kind: 'batch', reservationUsd: 0n }, messageOf(1n, 1n)),
  ).toBeUndefined()
})

test('a price of the native token that jumped threefold is a wrong reading, and a silent oracle leaves the last', async () => {
  const clock = new StandingClock()
  const world: { native: number | undefined } = { native: 1_740 }
  const price = createNativePrice(oracleOf(world), arbitrum, clock)
  expect(price.usd()).toBeUndefined()
  await price.refresh(0)
  expect(price.usd()).toBe(usd(1_740))
  for (const wrong of [5_221, 579, undefined]) {
    world.native = wrong
    await price.refresh(0)
    expect(price.usd()).toBe(usd(1_740))
  }
  world.native = 5_000
  await price.refresh(0)
  expect(price.usd()).toBe(usd(5_000))
})
