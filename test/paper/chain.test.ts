/**
 * The paper chain through viem: blocks, receipts, event logs, digests (contract `BaseGelatoRelayRouter`, `digests`;
 * contract `EventEmitter`, `EventLogData`).
 */
import { erc20Abi, type Hex, keccak256, stringToHex } from 'viem'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { chains } from '../../src/protocol/chains/index.ts'
import {
  clientsOf,
  digestsAbi,
  emitter,
  encodedAgain,
  eventOf,
  isMarketEvent,
  isOfEmitter,
  router,
  topicOf,
} from './chainSupport.ts'
import { type Any, ethMarket, START_MS, startVenue, trader, usd, usdc } from './support.ts'

let paper: Awaited<ReturnType<typeof startVenue>>
let client: ReturnType<typeof clientsOf>['client']
beforeEach(async () => {
  paper = await startVenue()
  client = clientsOf(paper).client
})
afterEach(() => paper.close())

const EVENT_LOG_2: Hex = '0x468a25a7ba624ceea6e540ad6f49171b52495b648417ae91bca21676d8a24dc5'
const nameTopic = (name: string) => keccak256(stringToHex(name))
const rawLogs = (topics: readonly unknown[], extra: object = {}): Promise<Any[]> =>
  client.request({
    method: 'eth_getLogs',
    params: [{ address: emitter, topics, fromBlock: '0x17d78400', toBlock: 'latest', ...extra }],
  } as never)

test('chain id and version are the chain’s', async () => {
  expect(await client.getChainId()).toBe(42161)
  expect(await client.request({ method: 'net_version' })).toBe('42161')
  expect(await client.request({ method: 'web3_clientVersion' })).toMatch(/^perpd-paper\//)
})

test('a block comes every 250 ms of the clock, linked to its parent, with the time it began', async () => {
  paper.clock.move(10_000)
  const head = await client.getBlock()
  paper.clock.move(250)
  const next = await client.getBlock()
  expect(next.number).toBe((head.number ?? 0n) + 1n)
  expect(next.parentHash).toBe(head.hash)
  expect(Number(next.timestamp)).toBe(Math.floor((START_MS + 10_000) / 1000))
  expect(await client.getBlock({ blockHash: head.hash ?? '0x' })).toEqual(head)
  expect(await client.getBlockNumber()).toBe(next.number)
})

test('safe and finalized are behind latest, and earliest is block 0', async () => {
  paper.clock.move(60_000)
  const { number } = await client.getBlock()
  expect((await client.getBlock({ blockTag: 'safe' })).number).toBe(number - 20n)
  expect((await client.getBlock({ blockTag: 'finalized' })).number).toBe(number - 100n)
  expect((await client.getBlock({ blockTag: 'earliest' })).number).toBe(0n)
  await expect(client.getBlock({ blockNumber: number + 1n })).rejects.toThrow('could not be found')
})

test('the same seed and clock give the same blocks and transactions', async () => {
  const other = await startVenue()
  try {
    const done = await Promise.all([paper, other].map((one) => one.trade({})))
    expect(done[1].executionTxnHash).toBe(done[0].executionTxnHash)
    const blocks = await Promise.all([paper, other].map((one) => clientsOf(one).client.getBlock()))
    expect(blocks[1]).toEqual(blocks[0])
  } finally {
    await other.close()
  }
})

test('an order is created in the relayed transaction and executed in the keeper’s, position event first', async () => {
  const done = await paper.trade({})
  const [orderKey] = done.orderKeys
  const logs = await rawLogs([EVENT_LOG_2, null, orderKey])
  expect(logs.map((log) => eventOf(log).name)).toEqual(['OrderCreated', 'OrderExecuted'])
  const [created, executed] = logs
  expect(executed.transactionHash).toBe(done.executionTxnHash)
  expect(created.transactionHash).toBe(done.createdTxnHash)
  const receipt = await client.getTransactionReceipt({ hash: done.executionTxnHash })
  expect(receipt.status).toBe('success')
  const names = receipt.logs.map(eventOf)
  expect(names.filter(isMarketEvent).map(({ name }) => name)).toEqual([
    'ClaimableFundingAmountPerSizeUpdated',
    'ClaimableFundingAmountPerSizeUpdated',
    'OpenInterestUpdated',
    'OpenInterestInTokensUpdated',
    'FundingFeeAmountPerSizeUpdated',
    'FundingFeeAmountPerSizeUpdated',
    'CumulativeBorrowingFactorUpdated',
    'PoolAmountUpdated',
  ])
  expect(names.filter((event) => !isMarketEvent(event)).map(({ name }) => name)).toEqual([
    'OraclePriceUpdate',
    'OraclePriceUpdate',
    'PositionFeesCollected',
    'PositionIncrease',
    'OrderExecuted',
    'KeeperExecutionFee',
    'ExecutionFeeRefund',
  ])
  expect(receipt.logs.map((log) => log.logIndex)).toEqual(names.map((_event, index) => index))
  const block = await client.getBlock({ blockHash: receipt.blockHash, includeTransactions: true })
  expect(block.transactions.map(({ hash }) => hash)).toEqual([done.executionTxnHash])
  expect(block.gasUsed).toBe(receipt.gasUsed)
  expect(block.logsBloom).toBe(receipt.logsBloom)
})

test('OrderCreated carries the order as it was signed', async () => {
  const prepared = (await paper.prepare({})).body
  await paper.submit(prepared)
  paper.clock.move(1000)
  const [log] = await rawLogs([EVENT_LOG_2, nameTopic('OrderCreated'), null, topicOf(trader.address)])
  const { items, topics } = eventOf(log)
  const [order] = prepared.payload.typedData.message.createOrderParamsList
  expect(topics[2]).toBe(items.key)
  expect(topics[3]).toBe(topicOf(trader.address))
  expect(items).toMatchObject({
    account: trader.address,
    receiver: trader.address,
    market: ethMarket,
    initialCollateralToken: usdc,
    swapPath: order.addresses.swapPath,
    orderType: 2n,
    sizeDeltaUsd: BigInt(order.numbers.sizeDeltaUsd),
    acceptablePrice: BigInt(order.numbers.acceptablePrice),
    executionFee: BigInt(order.numbers.executionFee),
    updatedAtTime: BigInt(Math.floor((START_MS + 500) / 1000)),
    srcChainId: 0n,
    isLong: true,
    dataList: order.dataList,
  })
  const { timestamp } = await client.getBlock({ blockHash: log.blockHash })
  expect(timestamp).toBe(items.updatedAtTime)
})

test('position events agree with the positions and trades that the application shows', async () => {
  await paper.trade({})
  paper.clock.move(60_000)
  const [position] = await paper.positions()
  const increases = await rawLogs([null, nameTopic('PositionIncrease'), topicOf(trader.address)])
  const increase = eventOf(increases[0]).items
  expect(increase).toMatchObject({
    sizeInUsd: BigInt(position.sizeInUsd),
    sizeInTokens: BigInt(position.sizeInTokens),
    collateralAmount: BigInt(position.collateralAmount),
    positionKey: position.contractKey,
    orderType: 2n,
  })
  await paper.trade({ kind: 'decrease', collateralToPay: undefined, size: usd(400) })
  await paper.trade({ kind: 'decrease', collateralToPay: undefined, size: usd(600) })
  const decreases = await rawLogs([null, nameTopic('PositionDecrease'), topicOf(trader.address)])
  const rows = decreases.map((log) => eventOf(log).items)
  expect(rows.map((items) => items.sizeInUsd)).toEqual([BigInt(usd(600)), 0n])
  const { trades } = (await paper.get(`/trades?address=${trader.address}`)).body
  const [lastTrade] = trades
  expect(rows[1]).toMatchObject({
    executionPrice: BigInt(lastTrade.executionPrice),
    basePnlUsd: BigInt(lastTrade.basePnlUsd),
    collateralAmount: 0n,
  })
  const fees = (await rawLogs([null, nameTopic('PositionFeesCollected')])).map((log) => eventOf(log).items)
  expect(fees.map((items) => [items.trader, items.isIncrease])).toEqual([
    [trader.address, true],
    [trader.address, false],
    [trader.address, false],
  ])
  expect(fees[2]?.positionFeeAmount).toBe(BigInt(lastTrade.positionFeeAmount))
})

test('a cancel by the user is in the transaction of its own batch, with the protocol’s reason', async () => {
  const limit = (await paper.prepare({ orderType: 'limit', triggerPrice: usd(1000) })).body
  await paper.submit(limit)
  paper.clock.move(1000)
  const [orderKey] = (await paper.status(limit.requestId)).body.orderKeys
  const cancel = (
    await paper.post('/orders/txns/cancel/prepare', {
      mode: 'express',
      from: trader.address,
      orderIds: [orderKey],
    })
  ).body
  await paper.submit(cancel)
  paper.clock.move(1000)
  const done = (await paper.status(cancel.requestId)).body
  const logs = await rawLogs([EVENT_LOG_2, nameTopic('OrderCancelled'), orderKey])
  expect(eventOf(logs[0]).items).toMatchObject({ reason: 'USER_INITIATED_CANCEL', reasonBytes: '0x' })
  expect(logs[0].transactionHash).toBe(done.createdTxnHash ?? done.txHash)
})

test('a cancelled market order carries the custom error of its failure', async () => {
  const prepared = [
    (await paper.prepare({ slippage: 0 })).body,
    (await paper.prepare({ slippage: 0, direction: 'short' })).body,
  ]
  for (const one of prepared) await paper.submit(one)
  paper.clock.move(3000)
  const logs = await rawLogs([EVENT_LOG_2, nameTopic('OrderCancelled'), null, topicOf(trader.address)])
  expect(logs).toHaveLength(1)
  const { items } = eventOf(logs[0])
  expect(items.reason).toBe('')
  // OrderNotFulfillableAtAcceptablePrice(uint256,uint256)
  expect(items.reasonBytes).toMatch(/^0xe09ad0e9[0-9a-f]{128}$/)
  const statuses = await Promise.all(prepared.map(({ requestId }) => paper.status(requestId)))
  const cancelled = statuses.map(({ body }) => body).find(({ status }) => status === 'cancelled')
  expect(logs[0].transactionHash).toBe(cancelled.executionTxnHash)
})

test('every event is encoded as viem encodes it', async () => {
  await paper.trade({})
  const limit = (await paper.prepare({ orderType: 'limit', triggerPrice: usd(1000) })).body
  await paper.submit(limit)
  paper.clock.move(1000)
  const orderIds = (await paper.status(limit.requestId)).body.orderKeys
  const change = { mode: 'express', from: trader.address, orderIds }
  const edit = await paper.post('/orders/txns/edit/prepare', { ...change, newTriggerPrice: usd(900) })
  await paper.submit(edit.body)
  paper.clock.move(1000)
  await paper.submit((await paper.post('/orders/txns/cancel/prepare', change)).body)
  paper.clock.move(1000)
  // Above the position: what waits is cut to it when it executes.
  const oversized = { orderType: 'take-profit', triggerPrice: usd(1000), size: usd(5000) }
  await paper.trade({ kind: 'decrease', collateralToPay: undefined, ...oversized })
  const logs = await rawLogs([])
  expect(new Set(logs.map(eventOf).flatMap((event) => (isMarketEvent(event) ? [] : [event.name])))).toEqual(
    new Set([
      'OrderCreated',
      'OrderExecuted',
      'OrderUpdated',
      'OrderCancelled',
      'KeeperExecutionFee',
      'ExecutionFeeRefund',
      'OrderSizeDeltaAutoUpdated',
      'OraclePriceUpdate',
      'PositionFeesCollected',
      'PositionIncrease',
      'PositionDecrease',
    ]),
  )
  for (const log of logs) expect(encodedAgain(log)).toBe(log.data)
})

test('logs are found by account and names, by range and by block, and never outside', async () => {
  const done = await paper.trade({})
  const wanted = [
    EVENT_LOG_2,
    [nameTopic('OrderCreated'), nameTopic('OrderExecuted')],
    null,
    topicOf(trader.address),
  ]
  expect(await rawLogs(wanted)).toHaveLength(2)
  expect(await rawLogs([EVENT_LOG_2, null, null, topicOf(emitter)])).toEqual([])
  expect(await rawLogs(wanted, { address: router })).toEqual([])
  expect(await rawLogs(wanted, { address: [router, emitter] })).toHaveLength(2)
  const receipt = await client.getTransactionReceipt({ hash: done.executionTxnHash })
  const inBlock = await client.getLogs({ blockHash: receipt.blockHash })
  expect(inBlock.map((log) => log.logIndex)).toEqual(receipt.logs.map((_log, index) => index))
  const before = await client.getLogs({ fromBlock: 400_000_000n, toBlock: receipt.blockNumber - 1n })
  // The oracle's prices of the swap of the fee, and the wrapped native token that the relay gave back, are of the same transaction.
  expect(before.filter(isOfEmitter).map((log) => eventOf(log).name)).toEqual([
    'OraclePriceUpdate',
    'OraclePriceUpdate',
    'OrderCreated',
  ])
  expect(before.filter((log) => !isOfEmitter(log)).map(({ address }) => address)).toEqual([
    chains.arbitrum.contracts.wrappedNative.toLowerCase(),
  ])
  await expect(client.getLogs({ fromBlock: 0n })).rejects.toThrow('block range is wider than 100000 blocks')
})

test('a digest is unused before its block and used from it on, asked by number and by hash (EIP-1898)', async () => {
  const prepared = (await paper.prepare({})).body
  await paper.submit(prepared)
  paper.clock.move(2000)
  const { digest } = paper.venue.record()[0] ?? {}
  const createdTxnHash = (await paper.status(prepared.requestId)).body.createdTxnHash
  const receipt = await client.getTransactionReceipt({ hash: createdTxnHash })
  const used = (blockNumber: bigint) =>
    client.readContract({
      address: router,
      abi: digestsAbi,
      functionName: 'digests',
      args: [digest as Hex],
      blockNumber,
    })
  expect(await used(receipt.blockNumber - 1n)).toBe(false)
  expect(await used(receipt.blockNumber)).toBe(true)
  const call = (block: unknown) =>
    client.request({
      method: 'eth_call',
      params: [{ to: router, data: `0x01ac4293${digest?.slice(2)}` }, block],
    } as never)
  expect(await call({ blockHash: receipt.blockHash, requireCanonical: true })).toBe(
    `0x${'1'.padStart(64, '0')}`,
  )
  const parent = await client.getBlock({ blockNumber: receipt.blockNumber - 1n })
  expect(await call({ blockHash: parent.hash })).toBe(`0x${'0'.repeat(64)}`)
  await expect(call({ blockHash: `0x${'ab'.repeat(32)}` })).rejects.toThrow('header for hash not found')
  expect(await call('finalized')).toBe(`0x${'0'.repeat(64)}`)
  const subaccountRouter = chains.arbitrum.contracts.subaccountGelatoRelayRouter
  const elsewhere = { address: subaccountRouter, abi: digestsAbi, functionName: 'digests' } as const
  expect(await client.readContract({ ...elsewhere, args: [digest as Hex] })).toBe(false)
})

test('a reverted batch leaves a failed receipt without logs and its digest unused', async () => {
  const prepared = (await paper.prepare({})).body
  await paper.submit(prepared)
  await paper.call('POST', `${paper.control}/accounts`, { address: trader.address, balances: { USDC: '0' } })
  paper.clock.move(1000)
  const { digest, taskId } = paper.venue.record()[0] ?? {}
  const { txHash } = (await paper.post('/relay/status', { taskId })).body
  const receipt = await client.getTransactionReceipt({ hash: txHash })
  expect(receipt).toMatchObject({ status: 'reverted', logs: [] })
  const read = { address: router, abi: digestsAbi, functionName: 'digests' } as const
  expect(await client.readContract({ ...read, args: [digest as Hex] })).toBe(false)
})

test('token reads answer what the application answers', async () => {
  const read = { address: usdc, abi: erc20Abi } as const
  expect(await client.readContract({ ...read, functionName: 'symbol' })).toBe('USDC')
  expect(await client.readContract({ ...read, functionName: 'decimals' })).toBe(6)
  const balanceOf = { ...read, functionName: 'balanceOf', args: [trader.address] } as const
  expect(await client.readContract(balanceOf)).toBe(await paper.balanceOf('USDC'))
  const allowance = { ...read, functionName: 'allowance' } as const
  const spender = chains.arbitrum.contracts.router
  expect(await client.readContract({ ...allowance, args: [trader.address, spender] })).toBe(2n ** 256n - 1n)
  expect(await client.readContract({ ...allowance, args: [trader.address, emitter] })).toBe(0n)
  const results = await client.multicall({
    contracts: [
      balanceOf,
      { address: usdc, abi: digestsAbi, functionName: 'digests', args: [`0x${'00'.repeat(32)}`] },
    ],
  })
  expect(results.map(({ status }) => status)).toEqual(['success', 'failure'])
  expect(await client.getBalance({ address: trader.address })).toBe(50n * 10n ** 18n)
})

test('balances and allowances are those of the block asked for', async () => {
  const block = await client.getBlockNumber()
  await paper.call('POST', `${paper.control}/accounts`, {
    address: trader.address,
    balances: { USDC: '700', ETH: '3' },
    allowances: { USDC: '600' },
  })
  paper.clock.move(1000)
  const changed = await client.getBlockNumber()
  const done = await paper.trade({})
  paper.clock.move(1000)
  const { blockNumber } = await client.getTransactionReceipt({ hash: done.createdTxnHash })
  const read = { address: usdc, abi: erc20Abi } as const
  const at = async (number: bigint) =>
    Promise.all([
      client.readContract({
        ...read,
        functionName: 'balanceOf',
        args: [trader.address],
        blockNumber: number,
      }),
      client.readContract({
        ...read,
        functionName: 'allowance',
        args: [trader.address, chains.arbitrum.contracts.router],
        blockNumber: number,
      }),
      client.getBalance({ address: trader.address, blockNumber: number }),
    ])
  expect(await at(block)).toEqual([100_000_000_000n, 2n ** 256n - 1n, 50n * 10n ** 18n])
  expect(await at(changed)).toEqual([700_000_000n, 600_000_000n, 3n * 10n ** 18n])
  expect(await at(blockNumber - 1n)).toEqual(await at(changed))
  const [balance, allowance] = await at(blockNumber)
  expect(700_000_000n - balance).toBe(600_000_000n - allowance)
  expect(balance).toBeLessThan(500_000_000n)
  expect(balance).toBe(await paper.balanceOf('USDC'))
})

test('code is where contracts are, an unknown call of a contract reverts, and an empty address answers nothing', async () => {
  expect(await client.getCode({ address: router })).toMatch(/^0x6080/)
  expect(await client.getCode({ address: trader.address })).toBeUndefined()
  await expect(client.call({ to: router, data: '0xdeadbeef' })).rejects.toThrow('execution reverted')
  expect(await client.call({ to: trader.address, data: '0xdeadbeef' })).toEqual({ data: undefined })
})

test('fees move from block to block and the history agrees with the blocks', async () => {
  paper.clock.move(10_000)
  const { number } = await client.getBlock()
  const history = await client.getFeeHistory({ blockCount: 4, rewardPercentiles: [50] })
  expect(history.oldestBlock).toBe(number - 3n)
  expect(history.reward).toEqual([[0n], [0n], [0n], [0n]])
  expect(history.baseFeePerGas).toHaveLength(5)
  const first = await client.getBlock({ blockNumber: number - 3n })
  expect(history.baseFeePerGas[0]).toBe(first.baseFeePerGas)
  expect(new Set(history.baseFeePerGas).size).toBeGreaterThan(1)
  expect(await client.getGasPrice()).toBe(history.baseFeePerGas[4])
  expect(await client.estimateMaxPriorityFeePerGas()).toBe(0n)
  const plain = await client.estimateGas({ account: trader.address, to: trader.address, value: 1n })
  expect(plain).toBe(21_000n)
})

test('a relayed transaction shows the router’s calldata and the relayer’s nonce', async () => {
  const done = await paper.trade({})
  const transaction = await client.getTransaction({ hash: done.createdTxnHash })
  expect(transaction.to).toBe(router.toLowerCase())
  expect(transaction.input.slice(0, 10)).toBe('0x0427ef5f')
  expect(transaction.nonce).toBe(0)
  expect(await client.getTransactionCount({ address: transaction.from })).toBe(1)
})
