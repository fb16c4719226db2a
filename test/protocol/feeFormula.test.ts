import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ChainName } from '../../src/protocol/chains/chain.ts'
import {
  calldataBytesOf,
  executionFeeOf,
  expressGasPrice,
  type GasOrder,
  messageFeesOf,
} from '../../src/protocol/chains/feeFormula.ts'
import { chainGas } from '../../src/protocol/chains/gas.ts'
import { encodeBatchCall } from '../../src/protocol/signing/relayCalldata.ts'
import { account, batch, order as created, market, relayParams } from './batches.ts'

/** Fees as the venue's own client library reckons them, by the chain's gas price and the prices it read. */
interface Vector {
  readonly chain: ChainName
  readonly what: string
  readonly networkGasPrice: string
  readonly priorityFee: string
  readonly bufferBps: number
  readonly expressGasPrice: string
  readonly creates: readonly GasOrder[]
  readonly updates: number
  readonly cancels: number
  readonly executionFeeIncreases: string
  readonly feeSwapPrices: number
  readonly isSubaccount: boolean
  readonly nativePrice: string
  readonly feeTokenPrice: string
  readonly feeTokenDecimals: number
  readonly executionFees: readonly string[]
  readonly feeAmount: string
}

const vectors: readonly Vector[] = JSON.parse(
  readFileSync(join(import.meta.dirname, '../fixtures/fees.json'), 'utf8'),
)

function feesOf(vector: Vector) {
  const gas = chainGas[vector.chain]
  const price = expressGasPrice(
    gas,
    { networkGasPrice: BigInt(vector.networkGasPrice), priorityFee: BigInt(vector.priorityFee) },
    vector.bufferBps,
  )
  const prices = {
    native: BigInt(vector.nativePrice),
    feeToken: BigInt(vector.feeTokenPrice),
    feeTokenDecimals: vector.feeTokenDecimals,
  }
  const message = { ...vector, executionFeeIncreases: BigInt(vector.executionFeeIncreases) }
  return { price, ...messageFeesOf(gas, price, prices, message) }
}

describe.each(vectors)('$chain, $what', (vector) => {
  const { price, executionFees, feeAmount } = feesOf(vector)

  test('the gas price and every execution fee are those of the client, to the wei', () => {
    expect(price).toBe(BigInt(vector.expressGasPrice))
    expect(executionFees).toEqual(vector.executionFees.map(BigInt))
  })

  test("the whole fee is the client's but for its swap's price impact: at most a per mille below, never above", () => {
    const found = BigInt(vector.feeAmount)
    expect(feeAmount).toBeLessThanOrEqual(found)
    expect(feeAmount * 1001n).toBeGreaterThanOrEqual(found * 1000n)
  })
})

const arbitrum = chainGas.arbitrum
const prices = { native: 1_740n * 10n ** 30n, feeToken: 10n ** 30n, feeTokenDecimals: 6 }
const order = fc.record({
  kind: fc.constantFrom('increase', 'decrease', 'swap'),
  swaps: fc.integer({ min: 0, max: 3 }),
  isDecreaseWithSwapType: fc.boolean(),
})
const gasPrice = fc.bigInt({ min: 1n, max: 10n ** 13n })

test('execution fees grow with the gas price and with each swap, and scale with the gas price exactly', () => {
  fc.assert(
    fc.property(order, gasPrice, (one, price) => {
      const fee = executionFeeOf(arbitrum, price, one)
      expect(executionFeeOf(arbitrum, 3n * price, one)).toBe(3n * fee)
      const more = executionFeeOf(arbitrum, price, { ...one, swaps: one.swaps + 1 })
      expect(more - fee).toBe(1_250_000n * price)
    }),
  )
})

test('a message never costs less than its orders together, nor less when it does more', () => {
  fc.assert(
    fc.property(fc.array(order, { minLength: 1, maxLength: 10 }), gasPrice, (creates, price) => {
      const one = messageFeesOf(arbitrum, price, prices, { creates, updates: 0, cancels: 0 })
      const sum = one.executionFees.reduce((total, fee) => total + fee, 0n)
      // A wei is worth less than a unit of the fee token: rounding is upwards.
      expect(one.feeAmount * 10n ** 12n).toBeGreaterThanOrEqual(sum * 1_740n)
      const more = messageFeesOf(arbitrum, price, prices, { creates, updates: 1, cancels: 2 })
      expect(more.feeAmount).toBeGreaterThanOrEqual(one.feeAmount)
      expect(more.executionFees).toEqual(one.executionFees)
    }),
  )
})

test('a fee in the wrapped native token is not swapped: it is the sum, without the gas of a swap', () => {
  const wrapped = { native: 10n ** 30n, feeToken: 10n ** 30n, feeTokenDecimals: 18 }
  const creates: readonly GasOrder[] = [{ kind: 'increase', swaps: 0 }]
  const fees = messageFeesOf(arbitrum, 27_000_000n, wrapped, { creates, updates: 0, cancels: 0, feeSwaps: 0 })
  expect(fees.feeAmount).toBe((fees.executionFees[0] ?? 0n) + fees.relayFee)
})

test('the chains add what they add: none on Arbitrum, a floor of the priority fee elsewhere, a premium on Avalanche', () => {
  const calm = { networkGasPrice: 1_000_000_000n, priorityFee: 1n }
  expect(expressGasPrice(chainGas.arbitrum, calm)).toBe(1_400_000_000n)
  expect(expressGasPrice(chainGas.avalanche, calm)).toBe(3_000_000_000n + 6_000_000_000n)
  expect(expressGasPrice(chainGas.megaeth, calm)).toBe(1_400_700_000n)
  const busy = { networkGasPrice: 1_000_000_000n, priorityFee: 2_000_000_000n }
  expect(expressGasPrice(chainGas.avalanche, busy)).toBe(3_600_000_000n + 6_000_000_000n)
})

test('the size of a call is that of the call itself, unsigned, for both signers and any number of actions', () => {
  const increase: GasOrder = { kind: 'increase', swaps: 0 }
  const approval = {
    subaccount: account,
    shouldAdd: true,
    expiresAt: 1n,
    maxAllowedCount: 2n,
    actionType: batch.subaccountApproval,
    nonce: 0n,
    desChainId: 42161n,
    deadline: 3n,
    integrationId: batch.subaccountApproval,
    signature: `0x${'11'.repeat(65)}`,
  } as const
  const update = {
    key: batch.subaccountApproval,
    sizeDeltaUsd: 1n,
    acceptablePrice: 1n,
    triggerPrice: 1n,
    minOutputAmount: 0n,
    validFromTime: 0n,
    autoCancel: false,
    executionFeeIncrease: 0n,
  }
  const swapped = { ...created, addresses: { ...created.addresses, swapPath: [market, market] } }
  const several = {
    createOrderParamsList: [created, swapped],
    updateOrderParamsList: [update],
    cancelOrderKeys: [batch.relayParams, batch.relayParams],
  }
  const bytesOf = (data: string) => (data.length - 2) / 2
  const encoded = { account, relayParams, signature: '0x' } as const
  expect(bytesOf(encodeBatchCall({ ...encoded, batch }))).toBe(
    calldataBytesOf({ creates: [increase], updates: 0, cancels: 0 }),
  )
  const call = { creates: [increase, { ...increase, swaps: 2 }], updates: 1, cancels: 2 }
  expect(bytesOf(encodeBatchCall({ ...encoded, batch: several }))).toBe(calldataBytesOf(call))
  expect(bytesOf(encodeBatchCall({ ...encoded, batch: several, subaccountApproval: approval }))).toBe(
    calldataBytesOf({ ...call, isSubaccount: true }),
  )
})
