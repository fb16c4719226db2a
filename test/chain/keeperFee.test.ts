/** The parts of fees that keepers kept, and that they and the relay gave back, from the logs of a transaction. */
import { encodeAbiParameters, type Hex, keccak256, pad, stringToHex } from 'viem'
import { expect, test } from 'vitest'
import { cancelSettlementOf, executionOf, settlementOf } from '../../src/chain/logs/executionLogs.ts'
import { relayReturnedUsd } from '../../src/chain/logs/relayReturns.ts'
import type { LogRow } from '../../src/chain/node/blockRows.ts'
import type { Address } from '../../src/protocol/address.ts'
import { arbitrum } from '../../src/protocol/chains/arbitrum.ts'
import { emitter, emitterAbi } from '../paper/chainSupport.ts'
import { account, ethMarket } from '../support/intents.ts'

const ours: Hex = `0x${'0a'.repeat(32)}`
const exit: Hex = `0x${'0b'.repeat(32)}`
const topicOf = (text: string): Hex => keccak256(stringToHex(text))
const inputsOf = (name: string) =>
  (emitterAbi.find((one) => one.name === name)?.inputs ?? []).filter(
    (input) => !('indexed' in input && input.indexed),
  )
const none = { items: [], arrayItems: [] }

function log(
  at: number,
  kind: 'EventLog1' | 'EventLog2',
  name: string,
  key: Hex,
  amount?: bigint,
  token?: Address,
): LogRow {
  const amountKey = { ExecutionFeeRefund: 'refundFeeAmount', OraclePriceUpdate: 'minPrice' }[name]
  const data = {
    addressItems: token === undefined ? none : { items: [{ key: 'token', value: token }], arrayItems: [] },
    uintItems: {
      items: amount === undefined ? [] : [{ key: amountKey ?? 'executionFeeAmount', value: amount }],
      arrayItems: [],
    },
    intItems: none,
    boolItems: none,
    bytes32Items: { items: [{ key: 'key', value: key }], arrayItems: [] },
    bytesItems: none,
    stringItems: none,
  }
  const kinds = {
    EventLog1: '0x137a44067c8961cd7e1d876f4754a5a3a75989b4552f1843fc69c3b372def160',
    EventLog2: '0x468a25a7ba624ceea6e540ad6f49171b52495b648417ae91bca21676d8a24dc5',
  } as const
  return {
    address: emitter.toLowerCase() as Hex,
    topics: [kinds[kind], topicOf(name), key, ...(kind === 'EventLog2' ? [pad(account)] : [])],
    data: encodeAbiParameters(inputsOf(kind) as never, [account, name, data] as never),
    blockNumber: 1n,
    blockHash: ours,
    transactionHash: ours,
    logIndex: at,
  }
}

const keeper = pad('0x1563915e194D8CfBA1943570603F7606A3115508')

test('of a transaction that also pays for exits that ended, the order has the payment that follows its own execution', () => {
  const logs = [
    log(0, 'EventLog1', 'KeeperExecutionFee', keeper, 1n),
    log(1, 'EventLog2', 'OrderExecuted', ours),
    log(2, 'EventLog1', 'KeeperExecutionFee', keeper, 70n),
    log(3, 'EventLog2', 'OrderCancelled', exit),
    log(4, 'EventLog1', 'KeeperExecutionFee', keeper, 500n),
  ]
  const execution = executionOf(logs, emitter, ours, arbitrum.facts.markets, arbitrum.contracts.wrappedNative)
  expect(execution.executionFeePaid).toBe(70n)
  const settlement = settlementOf(
    execution,
    { marketToken: ethMarket, indexTokenDecimals: 18 },
    { transactionHash: ours, timestampSeconds: 1 },
  )
  expect(settlement.executionFeePaid).toBe(70n)
})

const { wrappedNative } = arbitrum.contracts
const lowerNative = wrappedNative.toLowerCase() as Hex
const settled = (logs: readonly LogRow[]) =>
  settlementOf(
    executionOf(logs, emitter, ours, arbitrum.facts.markets, wrappedNative),
    { marketToken: ethMarket, indexTokenDecimals: 18 },
    { transactionHash: ours, timestampSeconds: 1 },
  )
const price = log(0, 'EventLog1', 'OraclePriceUpdate', pad(lowerNative), 2_000n, wrappedNative)
const executedLog = log(1, 'EventLog2', 'OrderExecuted', ours)
const kept = log(2, 'EventLog1', 'KeeperExecutionFee', keeper, 70n)
const refund = log(3, 'EventLog1', 'ExecutionFeeRefund', pad(account), 30n)

test("what a keeper gives back of the order's own fee is worth the native token's price of the transaction", () => {
  // A refund for an exit that ended in the same transaction is not the order's.
  const ofExit = log(5, 'EventLog1', 'ExecutionFeeRefund', pad(account), 900n)
  const paidForExit = log(4, 'EventLog1', 'KeeperExecutionFee', keeper, 500n)
  expect(settled([price, executedLog, kept, refund, paidForExit, ofExit])).toMatchObject({
    executionFeePaid: 70n,
    executionFeeReturnedUsd: 60_000n,
  })
  expect(settled([price, executedLog, kept, paidForExit, ofExit])).not.toHaveProperty(
    'executionFeeReturnedUsd',
  )
})

test('without a refund, a price of the native token, or a payment, nothing is known to come back', () => {
  const other = log(0, 'EventLog1', 'OraclePriceUpdate', pad(account), 2_000n, account)
  const foreign = { ...refund, address: ours }
  for (const logs of [
    [price, executedLog, kept],
    [executedLog, kept, refund],
    [other, executedLog, kept, refund],
    [price, executedLog, kept, foreign],
    [price, executedLog, refund],
    [price, kept, refund, executedLog],
  ])
    expect(settled(logs)).not.toHaveProperty('executionFeeReturnedUsd')
})

test('without a price of the transaction, what came back is worth what its message paid for it; with one, that one counts', () => {
  const at = { transactionHash: ours, timestampSeconds: 1 }
  const market = { marketToken: ethMarket, indexTokenDecimals: 18 }
  const read = (logs: readonly LogRow[]) =>
    executionOf(logs, emitter, ours, arbitrum.facts.markets, wrappedNative)
  const priceless = read([executedLog, kept, refund])
  expect(settlementOf(priceless, market, at, 1_900n).executionFeeReturnedUsd).toBe(57_000n)
  expect(cancelSettlementOf(priceless, 1_900n)).toEqual({ executionFeeReturnedUsd: 57_000n })
  const priced = read([price, executedLog, kept, refund])
  expect(settlementOf(priced, market, at, 1_900n).executionFeeReturnedUsd).toBe(60_000n)
  expect(settlementOf(read([executedLog, kept]), market, at, 1_900n)).not.toHaveProperty(
    'executionFeeReturnedUsd',
  )
  expect(settlementOf(priceless, market, at)).not.toHaveProperty('executionFeeReturned')
})

test('without such an event, or of another emitter, nobody knows what was kept', () => {
  const executed = log(0, 'EventLog2', 'OrderExecuted', ours)
  expect(
    executionOf([executed], emitter, ours, arbitrum.facts.markets, arbitrum.contracts.wrappedNative)
      .executionFeePaid,
  ).toBeUndefined()
  const foreign = { ...log(1, 'EventLog1', 'KeeperExecutionFee', keeper, 70n), address: ours }
  expect(
    executionOf([executed, foreign], emitter, ours, arbitrum.facts.markets, arbitrum.contracts.wrappedNative)
      .executionFeePaid,
  ).toBeUndefined()
  const before = [log(0, 'EventLog1', 'KeeperExecutionFee', keeper, 70n), executed]
  expect(
    executionOf(before, emitter, ours, arbitrum.facts.markets, arbitrum.contracts.wrappedNative)
      .executionFeePaid,
  ).toBeUndefined()
})

test('a cancelled order has the refund that follows its own cancel, and nothing of what the keeper kept', () => {
  const cancel = log(1, 'EventLog2', 'OrderCancelled', exit)
  const other = log(3, 'EventLog1', 'ExecutionFeeRefund', pad(account), 900n)
  const read = (logs: readonly LogRow[], key: Hex) =>
    cancelSettlementOf(executionOf(logs, emitter, key, arbitrum.facts.markets, wrappedNative))
  const logs = [price, executedLog, kept, other, cancel, kept, refund]
  expect(read(logs, exit)).toEqual({ executionFeeReturnedUsd: 60_000n })
  expect(settled(logs)).toMatchObject({ executionFeePaid: 70n, executionFeeReturnedUsd: 1_800_000n })
  expect(read([price, executedLog, kept, other, cancel, kept], exit)).toBeUndefined()
})

const router = arbitrum.contracts.gelatoRelayRouter
const transfer = (parts: { readonly from?: Hex; readonly to?: Hex; readonly token?: Address }): LogRow => ({
  ...log(4, 'EventLog1', 'ExecutionFeeRefund', ours),
  address: (parts.token ?? wrappedNative).toLowerCase() as Hex,
  topics: [
    topicOf('Transfer(address,address,uint256)'),
    pad((parts.from ?? router).toLowerCase() as Hex),
    pad((parts.to ?? account).toLowerCase() as Hex),
  ],
  data: pad('0x1e'),
})
const parties = { emitter, wrappedNative, router, account }
const returnedIn = (...logs: readonly LogRow[]) => relayReturnedUsd(logs, parties)

test('the wrapped native token that the relay router sends to the account is worth the lowest price of the transaction', () => {
  const dearer = log(2, 'EventLog1', 'OraclePriceUpdate', pad(lowerNative), 3_000n, wrappedNative)
  expect(returnedIn(price, transfer({}))).toBe(60_000n)
  expect(returnedIn(dearer, price, executedLog, transfer({}))).toBe(60_000n)
})

test('transfers of others, several, or without a price say nothing of what the relay gave back', () => {
  const elsewhere = log(0, 'EventLog1', 'OraclePriceUpdate', pad(account), 2_000n, account)
  const broken = { ...price, data: '0x1234' as Hex }
  const cases: readonly (readonly LogRow[])[] = [
    [price],
    [transfer({})],
    [elsewhere, transfer({})],
    [broken, transfer({})],
    [{ ...price, address: account.toLowerCase() as Hex }, transfer({})],
    [price, transfer({ from: account })],
    [price, transfer({ to: router })],
    [price, transfer({ token: account })],
    [price, transfer({}), transfer({})],
    [price, { ...transfer({}), data: '0x' }],
  ]
  for (const logs of cases) expect(returnedIn(...logs)).toBeUndefined()
})
