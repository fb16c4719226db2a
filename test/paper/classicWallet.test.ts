/** Classic mode over a real socket: a viem wallet approves, creates, edits and cancels with transactions of its own. */
import { decodeErrorResult, type Hex, parseEventLogs } from 'viem'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { customErrors } from '../../src/paper/blocks/customErrors.ts'
import { chains } from '../../src/protocol/chains/index.ts'
import { eventOf } from './chainSupport.ts'
import {
  contracts,
  ETHER,
  erc20,
  GWEI,
  orderOf,
  router,
  startWallet,
  toSend,
  type Wallet,
} from './classicSupport.ts'
import { type Any, ethMarket, stranger, usd, usdc, weth } from './support.ts'

let me: Wallet
beforeEach(async () => {
  me = await startWallet()
})
afterEach(() => me.paper.close())

const FEE = 10n ** 15n
const COLLATERAL = 200_000_000n

/** Names of the order events in a receipt. */
const eventsOf = (receipt: Any): string[] =>
  receipt.logs
    .filter((log: Any) => log.address === contracts.eventEmitter.toLowerCase())
    .map((log: Any) => eventOf(log).name)

/** The custom error that a tried call reverts with. */
async function revertOf(work: Promise<unknown>): Promise<{ errorName: string; args: readonly unknown[] }> {
  const error: Any = await work.then(
    () => undefined,
    (one) => one,
  )
  const data = error?.walk((one: Any) => typeof one.data === 'string')?.data as Hex
  const { errorName, args = [] } = decodeErrorResult({ abi: customErrors, data })
  return { errorName, args }
}

const tried = (...calls: readonly Hex[]) =>
  me.node.call({ account: me.account, ...router.multicall(...calls), value: FEE })

/** Creates a resting long by hand; its key. */
async function rest(triggerPrice = 10n ** 15n): Promise<Hex> {
  const order = orderOf(me.account.address, { orderType: 3, numbers: { triggerPrice } })
  const calls = [router.sendWnt(FEE), router.sendTokens(COLLATERAL), router.create(order)]
  const receipt = await me.send({ ...router.multicall(...calls), value: FEE })
  expect(receipt.status).toBe('success')
  return (await me.orders())[0].key
}

test('a wallet approves the router, reads the allowance back, and the event says so', async () => {
  const read = () =>
    me.node.readContract({
      address: usdc,
      abi: erc20,
      functionName: 'allowance',
      args: [me.account.address, contracts.router],
    })
  expect(await read()).toBe(0n)
  const receipt = await me.approve(usdc, 250_000_000n)
  expect(receipt).toMatchObject({
    status: 'success',
    to: usdc.toLowerCase(),
    from: me.account.address.toLowerCase(),
  })
  expect(await read()).toBe(250_000_000n)
  const [event] = parseEventLogs({ abi: erc20, logs: receipt.logs, eventName: 'Approval' })
  expect(event?.args).toEqual({ owner: me.account.address, spender: contracts.router, value: 250_000_000n })
  const found = await me.node.getLogs({ address: usdc, fromBlock: receipt.blockNumber })
  expect(found.map(({ transactionHash }) => transactionHash)).toEqual([receipt.transactionHash])
  const rows = (await me.paper.get(`/allowances?address=${me.account.address}&spender=router`)).body
  expect(rows.find((row: Any) => row.symbol === 'USDC').allowance).toBe('250000000')
})

test('an approval of somebody else than the router lets the router take nothing', async () => {
  const other = stranger.address
  const hash = await me.wallet.writeContract({
    address: usdc,
    abi: erc20,
    functionName: 'approve',
    args: [other, 7n],
  })
  await me.mined(hash)
  const of = (spender: Any) =>
    me.node.readContract({
      address: usdc,
      abi: erc20,
      functionName: 'allowance',
      args: [me.account.address, spender],
    })
  expect([await of(other), await of(contracts.router)]).toEqual([7n, 0n])
})

test('the transaction of a classic prepare works as it is: the order is created, executed and shown as any other', async () => {
  await me.approve(usdc, COLLATERAL)
  const prepared = await me.increase()
  expect(prepared.payload.to).toBe(contracts.exchangeRouter)
  const before = await me.native()
  const receipt = await me.send(toSend(prepared))
  expect(receipt.status).toBe('success')
  expect(eventsOf(receipt)).toEqual(['OrderCreated'])
  const [created] = receipt.logs.filter((log) => log.address === contracts.eventEmitter.toLowerCase())
  const { items } = eventOf(created as Any)
  expect([items.account, items.initialCollateralDeltaAmount]).toEqual([me.account.address, COLLATERAL])
  // Execution fee and gas come from the native balance, the collateral through the allowance.
  const gas = receipt.gasUsed * receipt.effectiveGasPrice
  expect(before - (await me.native())).toBe(BigInt(prepared.payload.value) + gas)
  expect(await me.tokens(usdc)).toBe(100_000n * 10n ** 6n - COLLATERAL)
  me.paper.clock.move(3000)
  const [position] = await me.positions()
  expect(position.sizeInUsd).toBe(usd(1000))
  const { trades } = (await me.paper.post('/trades/search', { address: me.account.address })).body
  expect(trades.map(({ eventName, orderKey }: Any) => [eventName, orderKey])).toEqual([
    ['OrderExecuted', items.key],
  ])
})

test('a classic prepare in the native coin sends the collateral as value, and a decrease needs its fee alone', async () => {
  const opened = await me.increase({
    collateralToken: 'ETH',
    collateralToPay: { amount: (ETHER / 10n).toString(), token: 'ETH' },
  })
  expect(BigInt(opened.payload.value)).toBeGreaterThan(ETHER / 10n)
  expect((await me.send(toSend(opened))).status).toBe('success')
  me.paper.clock.move(3000)
  const [position] = await me.positions()
  expect(BigInt(position.collateralAmount)).toBeGreaterThan((ETHER * 99n) / 1000n)
  const closed = await me.prepare('/orders/txns/prepare', {
    kind: 'decrease',
    orderType: 'market',
    symbol: 'ETH/USD [WETH-USDC]',
    direction: 'long',
    size: usd(1000),
    collateralToken: 'ETH',
    receiveToken: 'ETH',
  })
  expect((await me.send(toSend(closed))).status).toBe('success')
  const before = await me.native()
  me.paper.clock.move(3000)
  expect(await me.positions()).toEqual([])
  expect(await me.native()).toBeGreaterThan(before)
})

test('a wallet edits and cancels its resting order with the transactions of classic prepares', async () => {
  await me.approve(usdc, COLLATERAL)
  const resting = await me.increase({ orderType: 'limit', triggerPrice: `${1000n * 10n ** 30n}` })
  expect((await me.send(toSend(resting))).status).toBe('success')
  const [order] = await me.orders()
  const edit = await me.prepare('/orders/txns/edit/prepare', {
    orderIds: [order.key],
    newSize: usd(800),
    executionFeeTopUp: '5000000000000',
  })
  const edited = await me.send(toSend(edit))
  expect([edited.status, eventsOf(edited)]).toEqual(['success', ['OrderUpdated']])
  const [changed] = await me.orders()
  expect(changed.sizeDeltaUsd).toBe(usd(800))
  expect(BigInt(changed.executionFee) - BigInt(order.executionFee)).toBe(5_000_000_000_000n)
  const cancelled = await me.send(
    toSend(await me.prepare('/orders/txns/cancel/prepare', { orderId: order.key })),
  )
  expect([cancelled.status, eventsOf(cancelled)]).toEqual([
    'success',
    ['OrderCancelled', 'KeeperExecutionFee', 'ExecutionFeeRefund'],
  ])
  expect(await me.orders()).toEqual([])
  expect(await me.tokens(usdc)).toBe(100_000n * 10n ** 6n)
})

test('a multicall made by hand creates, edits and cancels in one transaction each', async () => {
  await me.approve(usdc, COLLATERAL)
  const key = await rest()
  const terms = [BigInt(usd(700)), 2n ** 256n - 1n, 10n ** 15n, 0n, 0n, false]
  const both = router.multicall(router.update(key, ...terms), router.cancel(key))
  const receipt = await me.send(both)
  expect(eventsOf(receipt)).toEqual([
    'OrderUpdated',
    'OrderCancelled',
    'KeeperExecutionFee',
    'ExecutionFeeRefund',
  ])
  expect(await me.orders()).toEqual([])
})

test('an order takes what the vault received, whatever its parameters say', async () => {
  await me.approve(usdc, COLLATERAL)
  const order = orderOf(me.account.address, { orderType: 3, numbers: { triggerPrice: 1n } })
  const calls = [router.sendWnt(2n * FEE), router.sendTokens(50_000_000n), router.create(order)]
  expect((await me.send({ ...router.multicall(...calls), value: 2n * FEE })).status).toBe('success')
  const [row] = await me.orders()
  expect([row.initialCollateralDeltaAmount, row.executionFee]).toEqual(['50000000', (2n * FEE).toString()])
})

test('what was sent to the vault without an order waits there for the next one', async () => {
  await me.approve(usdc, COLLATERAL)
  expect((await me.send(router.multicall(router.sendTokens(COLLATERAL)))).status).toBe('success')
  expect(await me.tokens(usdc, contracts.orderVault)).toBe(COLLATERAL)
  const order = orderOf(me.account.address, { orderType: 3, numbers: { triggerPrice: 1n } })
  const calls = [router.sendWnt(FEE), router.create(order)]
  await me.send({ ...router.multicall(...calls), value: FEE })
  expect((await me.orders())[0].initialCollateralDeltaAmount).toBe(COLLATERAL.toString())
  expect(await me.tokens(usdc, contracts.orderVault)).toBe(0n)
})

test('a call that would revert is answered with code 3 and the custom error as data', async () => {
  await me.approve(usdc, COLLATERAL)
  const create = router.create(orderOf(me.account.address))
  const pay = [router.sendWnt(FEE), router.sendTokens(COLLATERAL)] as const
  expect(await revertOf(tried(router.sendTokens(COLLATERAL), create))).toEqual({
    errorName: 'InsufficientWntAmountForExecutionFee',
    args: [0n, FEE],
  })
  const cheap = router.create(orderOf(me.account.address, { numbers: { executionFee: 1000n } }))
  const short = await revertOf(tried(router.sendWnt(1000n), router.sendTokens(COLLATERAL), cheap))
  expect([short.errorName, short.args[1]]).toEqual(['InsufficientExecutionFee', 1000n])
  expect(short.args[0]).toBeGreaterThan(1000n)
  expect(await revertOf(tried(router.sendWnt(FEE), router.sendTokens(COLLATERAL + 1n), create))).toEqual({
    errorName: 'Error',
    args: ['ERC20: transfer amount exceeds allowance'],
  })
  const names: [Any, string][] = [
    [{ addresses: { market: stranger.address } }, 'EmptyMarket'],
    [{ addresses: { receiver: `0x${'00'.repeat(20)}` } }, 'EmptyReceiver'],
    [{ addresses: { cancellationReceiver: contracts.orderVault } }, 'InvalidReceiver'],
    [{ addresses: { swapPath: Array(4).fill(ethMarket) } }, 'MaxSwapPathLengthExceeded'],
    [{ numbers: { validFromTime: 1n } }, 'UnexpectedValidFromTime'],
    [{ orderType: 7 }, 'OrderTypeCannotBeCreated'],
    [{ autoCancel: true }, 'UnsupportedOrderTypeForAutoCancellation'],
    [{ dataList: Array(19).fill(`0x${'00'.repeat(32)}`) }, 'MaxDataListLengthExceeded'],
  ]
  for (const [over, name] of names) {
    const { errorName } = await revertOf(tried(...pay, router.create(orderOf(me.account.address, over))))
    expect(errorName).toBe(name)
  }
  const nothing = orderOf(me.account.address, { numbers: { sizeDeltaUsd: 0n } })
  expect((await revertOf(tried(router.sendWnt(FEE), router.create(nothing)))).errorName).toBe('EmptyOrder')
  const estimate = me.node.estimateGas({ account: me.account, ...router.multicall(create), value: FEE })
  expect((await revertOf(estimate)).errorName).toBe('InsufficientWntAmountForExecutionFee')
})

test('orders of others can be neither edited nor cancelled', async () => {
  await me.approve(usdc, COLLATERAL)
  const key = await rest()
  const foreign = (call: Hex) => me.node.call({ account: stranger, ...router.multicall(call) })
  const update = router.update(key, 1n, 1n, 1n, 0n, 0n, false)
  expect(await revertOf(foreign(update))).toEqual({
    errorName: 'Unauthorized',
    args: [stranger.address, 'account for updateOrder'],
  })
  expect(await revertOf(foreign(router.cancel(key)))).toEqual({
    errorName: 'Unauthorized',
    args: [stranger.address, 'account for cancelOrder'],
  })
  const unknown = router.cancel(`0x${'ab'.repeat(32)}`)
  expect((await revertOf(foreign(unknown))).errorName).toBe('EmptyOrder')
})

test('a market order can be cancelled by its owner only once it has expired', async () => {
  await me.approve(usdc, COLLATERAL)
  await me.paper.call('POST', `${me.paper.control}/faults`, { keeperExtraDelayMs: 900_000 })
  await me.send(toSend(await me.increase()))
  const [order] = await me.orders()
  const cancel = () => me.node.call({ account: me.account, ...router.multicall(router.cancel(order.key)) })
  expect((await revertOf(cancel())).errorName).toBe('RequestNotYetCancellable')
  me.paper.clock.move(301_000)
  expect((await me.send(router.multicall(router.cancel(order.key)))).status).toBe('success')
})

test('a transaction that reverts costs nonce and gas and changes nothing else', async () => {
  await me.approve(usdc, COLLATERAL)
  const before = { native: await me.native(), usdc: await me.tokens(usdc), nonce: await nonce() }
  // Everything but the last call would work.
  const order = orderOf(me.account.address, { orderType: 3, numbers: { triggerPrice: 1n } })
  const calls = [
    router.sendWnt(FEE),
    router.sendTokens(COLLATERAL),
    router.create(order),
    router.cancel(`0x${'ab'.repeat(32)}`),
  ]
  const receipt = await me.send({ ...router.multicall(...calls), value: FEE, gas: 3_000_000n })
  expect(receipt).toMatchObject({ status: 'reverted', logs: [] })
  expect(await me.orders()).toEqual([])
  expect(await me.tokens(usdc)).toBe(before.usdc)
  expect(await me.tokens(weth, contracts.orderVault)).toBe(0n)
  expect(await nonce()).toBe(before.nonce + 1)
  expect(before.native - (await me.native())).toBe(receipt.gasUsed * receipt.effectiveGasPrice)
  expect(receipt.gasUsed).toBeLessThan(3_000_000n)
  const { status } = await me.node.getTransactionReceipt({ hash: receipt.transactionHash })
  expect(status).toBe('reverted')
})

const nonce = () => me.node.getTransactionCount({ address: me.account.address })

test('a transaction with too little gas uses all of it up and does nothing', async () => {
  const before = await me.native()
  const receipt = await me.send({ ...router.multicall(router.sendWnt(FEE)), value: FEE, gas: 40_000n })
  expect([receipt.status, receipt.gasUsed]).toEqual(['reverted', 40_000n])
  expect(before - (await me.native())).toBe(40_000n * receipt.effectiveGasPrice)
})

test('what a gas estimate says is enough, and little more than is used', async () => {
  await me.approve(usdc, 10n * COLLATERAL)
  const order = router.create(orderOf(me.account.address))
  const work = { ...router.multicall(router.sendWnt(FEE), router.sendTokens(COLLATERAL), order), value: FEE }
  const gas = await me.node.estimateGas({ account: me.account, ...work })
  const receipt = await me.send({ ...work, gas })
  expect(receipt.status).toBe('success')
  expect(receipt.gasUsed).toBeGreaterThan((gas * 95n) / 100n)
  const plain = { account: me.account, to: stranger.address, value: 1n }
  expect(await me.node.estimateGas(plain)).toBe(21_000n)
})

test('trying a call changes nothing, not even an account that was never seen', async () => {
  const { venueState } = me.paper.venue
  const state = () =>
    JSON.stringify(
      [
        venueState.orders,
        venueState.outcomes,
        venueState.accounts,
        venueState.contractHoldings,
        venueState.trades,
        venueState.counters,
        venueState.due,
        venueState.blockChain.transactions,
      ].map((part) => (part instanceof Map ? [...part] : part)),
      (_key, value) => (typeof value === 'bigint' ? `${value}` : value instanceof Map ? [...value] : value),
    )
  const before = state()
  const approve = { to: usdc, data: `0x095ea7b3${'11'.repeat(32)}${'01'.repeat(32)}` as Hex }
  await me.node.call({ account: me.account, ...approve })
  const order = orderOf(me.account.address, { orderType: 2, addresses: { initialCollateralToken: weth } })
  await me.node.call({
    account: me.account,
    ...router.multicall(router.sendWnt(2n * FEE), router.create(order)),
    value: 2n * FEE,
  })
  await me.node.estimateGas({ account: me.account, to: stranger.address, value: 5n })
  expect(state()).toBe(before)
})

test('coins and tokens go to another address', async () => {
  await me.send({ to: stranger.address, value: ETHER })
  expect(await me.node.getBalance({ address: stranger.address })).toBe(51n * ETHER)
  const hash = await me.wallet.writeContract({
    address: usdc,
    abi: erc20,
    functionName: 'transfer',
    args: [stranger.address, 1_000_000n],
  })
  const { logs } = await me.mined(hash)
  expect(await me.tokens(usdc, stranger.address)).toBe(100_001_000_000n)
  expect(parseEventLogs({ abi: erc20, logs, eventName: 'Transfer' })[0]?.args).toEqual({
    from: me.account.address,
    to: stranger.address,
    value: 1_000_000n,
  })
  const tooMuch = me.node.simulateContract({
    account: me.account,
    address: usdc,
    abi: erc20,
    functionName: 'transfer',
    args: [stranger.address, 10n ** 20n],
  })
  await expect(tooMuch).rejects.toThrow('ERC20: transfer amount exceeds balance')
})

test('a classic order that the keeper cannot execute is cancelled and its collateral comes back', async () => {
  await me.approve(usdc, COLLATERAL)
  await me.paper.call('POST', `${me.paper.control}/faults`, { keeperFails: 'InsufficientReserve' })
  await me.send(toSend(await me.increase()))
  me.paper.clock.move(3000)
  expect(await me.orders()).toEqual([])
  expect(await me.tokens(usdc)).toBe(100_000n * 10n ** 6n)
})

test('gas is paid at the base fee and the tip of the block', async () => {
  const receipt = await me.send({
    to: stranger.address,
    value: 1n,
    maxFeePerGas: GWEI,
    maxPriorityFeePerGas: 3n,
  })
  const { baseFeePerGas } = await me.node.getBlock({ blockNumber: receipt.blockNumber })
  expect(receipt.effectiveGasPrice).toBe((baseFeePerGas ?? 0n) + 3n)
  expect(receipt.gasUsed).toBe(21_000n)
})

test('orders of absurd numbers end as any that fails, and the world goes on', async () => {
  await me.approve(usdc, 1000n * COLLATERAL)
  const most = 2n ** 256n - 1n
  const numbers = [
    { sizeDeltaUsd: most },
    { sizeDeltaUsd: most, acceptablePrice: 0n },
    { sizeDeltaUsd: 1n },
    { minOutputAmount: most },
    { callbackGasLimit: most },
  ]
  for (const over of numbers) {
    for (const orderType of [0, 2, 4]) {
      const order = router.create(orderOf(me.account.address, { orderType, numbers: over }))
      const paid = orderType === 4 ? [] : [router.sendTokens(COLLATERAL)]
      const work = router.multicall(router.sendWnt(FEE), ...paid, order)
      expect((await me.send({ ...work, value: FEE })).status).toBe('success')
    }
  }
  me.paper.clock.move(10_000)
  expect(await me.orders()).toEqual([])
  const whole = `/orders?address=${me.account.address}`
  expect((await me.paper.get(whole)).status).toBe(200)
})

test.each(['arbitrum', 'avalanche', 'megaeth'] as const)(
  'on %s a classic order is sent with the chain id and the contracts of that chain',
  async (name) => {
    const chain = chains[name]
    const other = await startWallet({ chain, settings: { startAllowance: true } })
    try {
      const { account, paper } = other
      const markets: Any[] = (await paper.get('/markets')).body
      const market = markets.find(({ symbol }) => symbol.startsWith('ETH/USD'))
      const token = chain.feeToken
      const { payload } = await other.increase({
        symbol: market.symbol,
        collateralToken: token.symbol,
        collateralToPay: { amount: (200n * 10n ** BigInt(token.decimals)).toString(), token: token.symbol },
      })
      expect(payload.to).toBe(chain.contracts.exchangeRouter)
      const fields = { ...toSend({ payload }), type: 'eip1559', nonce: 0, gas: 3_000_000n } as const
      const fees = { maxFeePerGas: 100n * GWEI, maxPriorityFeePerGas: 0n }
      const [elsewhere, serializedTransaction] = await Promise.all(
        [1, chain.chainId].map((chainId) => account.signTransaction({ ...fields, ...fees, chainId })),
      )
      await expect(
        other.wallet.sendRawTransaction({ serializedTransaction: elsewhere as Hex }),
      ).rejects.toThrow('invalid chain id')
      const hash = await other.wallet.sendRawTransaction({
        serializedTransaction: serializedTransaction as Hex,
      })
      paper.clock.move(5000)
      expect((await other.node.getTransactionReceipt({ hash })).status).toBe('success')
      paper.clock.move(5000)
      expect((await other.positions()).map(({ sizeInUsd }) => sizeInUsd)).toEqual([usd(1000)])
    } finally {
      await other.paper.close()
    }
  },
)
