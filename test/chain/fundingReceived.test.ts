/** Funding that others paid to a position, from the logs of the transaction that settled it. */
import { expect, test } from 'vitest'
import { executionOf } from '../../src/chain/logs/executionLogs.ts'
import type { LogRow } from '../../src/chain/node/blockRows.ts'
import type { EventValue } from '../../src/paper/blocks/blockChain.ts'
import { type EventName, logDataOf, topicsOf } from '../../src/paper/blocks/encodeEventData.ts'
import { actorsOf } from '../../src/paper/blocks/keeperCall.ts'
import { type Hex, ZERO_ADDRESS, ZERO_HASH } from '../../src/protocol/address.ts'
import { arbitrum } from '../../src/protocol/chains/arbitrum.ts'
import { account, ethMarket, usdc } from '../support/intents.ts'

const emitter = arbitrum.contracts.eventEmitter
const weth = arbitrum.contracts.wrappedNative
const [ours, another]: readonly Hex[] = [`0x${'0a'.repeat(32)}`, `0x${'0b'.repeat(32)}`]

function log(eventName: EventName, items: Readonly<Record<string, EventValue>>, address = emitter): LogRow {
  const written = { eventName, topics: [ZERO_HASH], items }
  return {
    address: address.toLowerCase() as Hex,
    topics: topicsOf(written),
    data: logDataOf(written, actorsOf(arbitrum).orderHandler),
    blockNumber: 1n,
    blockHash: ours ?? ZERO_HASH,
    transactionHash: ours ?? ZERO_HASH,
    logIndex: 0,
  }
}

/** A contract price: USD with 30 decimals of one base unit. */
const price = (token: Hex, minPrice: bigint, address = emitter): LogRow =>
  log(
    'OraclePriceUpdate',
    { token, provider: ZERO_ADDRESS, minPrice, maxPrice: minPrice + 9n, timestamp: 1n },
    address,
  )

function fees(orderKey: Hex = ours ?? ZERO_HASH, long = 0n, short = 0n, market: Hex = ethMarket): LogRow {
  const uints = [
    ...['tradeSizeUsd', 'latestFundingFeeAmountPerSize', 'latestLongTokenClaimableFundingAmountPerSize'],
    ...['latestShortTokenClaimableFundingAmountPerSize', 'borrowingFeeUsd', 'borrowingFeeReceiverFactor'],
    ...[
      'borrowingFeeAmountForFeeReceiver',
      'positionFeeFactor',
      'protocolFeeAmount',
      'positionFeeReceiverFactor',
    ],
    ...[
      'feeReceiverAmount',
      'feeAmountForPool',
      'positionFeeAmountForPool',
      'uiFeeReceiverFactor',
      'uiFeeAmount',
    ],
  ]
  return log('PositionFeesCollected', {
    ...Object.fromEntries(uints.map((name) => [name, 0n])),
    ...{ orderKey, positionKey: ZERO_HASH, referralCode: ZERO_HASH, market, collateralToken: usdc },
    ...{ affiliate: ZERO_ADDRESS, trader: account, uiFeeReceiver: ZERO_ADDRESS, isIncrease: false },
    ...{ 'collateralTokenPrice.min': 10n ** 24n, 'collateralTokenPrice.max': 10n ** 24n },
    ...{ fundingFeeAmount: 2n, borrowingFeeAmount: 1n, positionFeeAmount: 5n, totalCostAmount: 8n },
    ...{ claimableLongTokenAmount: long, claimableShortTokenAmount: short },
  })
}

const key = ours ?? ZERO_HASH
const prices = [price(weth, 2_000n * 10n ** 12n), price(usdc, 10n ** 24n)]
const receivedIn = (...logs: readonly LogRow[]) =>
  executionOf(logs, emitter, key, arbitrum.facts.markets, arbitrum.contracts.wrappedNative).fundingReceivedUsd

test('both tokens of the market count, each at the lower price of the same transaction, beside the fees', () => {
  expect(receivedIn(...prices, fees(key, 3n, 7n))).toBe(3n * 2_000n * 10n ** 12n + 7n * 10n ** 24n)
  expect(
    executionOf(
      [...prices, fees(key, 3n, 7n)],
      emitter,
      key,
      arbitrum.facts.markets,
      arbitrum.contracts.wrappedNative,
    ),
  ).toMatchObject({
    feesUsd: 8n * 10n ** 24n,
    fundingFeeUsd: 2n * 10n ** 24n,
    borrowingFeeUsd: 10n ** 24n,
  })
})

test('of prices that are set anew the last before it counts', () => {
  const [first] = prices
  if (first === undefined) throw new Error('no price')
  const later = price(weth, 1_900n * 10n ** 12n)
  expect(receivedIn(first, fees(key, 3n), later)).toBe(3n * 2_000n * 10n ** 12n)
  expect(receivedIn(first, later, fees(key, 3n))).toBe(3n * 1_900n * 10n ** 12n)
})

test('nothing received, no price, another market or another order leave it out', () => {
  expect(receivedIn(...prices, fees(key))).toBeUndefined()
  expect(receivedIn(price(usdc, 10n ** 24n), fees(key, 3n, 7n))).toBeUndefined()
  expect(receivedIn(price(usdc, 10n ** 24n), fees(key, 0n, 7n))).toBe(7n * 10n ** 24n)
  expect(receivedIn(...prices, fees(key, 3n, 7n, ZERO_ADDRESS))).toBeUndefined()
  expect(receivedIn(...prices, fees(another, 3n, 7n))).toBeUndefined()
})

test('a price that another contract tells is no price', () => {
  expect(receivedIn(price(weth, 10n ** 20n, ZERO_ADDRESS), fees(key, 3n))).toBeUndefined()
  expect(receivedIn(...prices, price(weth, 10n ** 20n, ZERO_ADDRESS), fees(key, 3n))).toBe(
    3n * 2_000n * 10n ** 12n,
  )
})
