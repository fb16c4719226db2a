/** What gas costs on the paper chain and the fees that follow from it, over real sockets: asked, checked, paid and returned. */
import { afterEach, expect, test } from 'vitest'
import type { VenueSettings } from '../../src/paper/state/settings.ts'
import { executionFeeOf, expressGasPrice, messageFeesOf } from '../../src/protocol/chains/feeFormula.ts'
import { chainGas } from '../../src/protocol/chains/gas.ts'
import { chains } from '../../src/protocol/chains/index.ts'
import { clientsOf, eventOf } from './chainSupport.ts'
import { type Any, startVenue, trader, usd, weth } from './support.ts'

type Paper = Awaited<ReturnType<typeof startVenue>>
let paper: Paper
afterEach(() => paper.close())

const start = async (settings: Partial<VenueSettings> = {}): Promise<void> => {
  paper = await startVenue({ settings: { keeperJitterMs: 0, ...settings } })
}
const gas = chainGas.arbitrum
const big = (text: Any): bigint => BigInt(text)
const ordersOf = (prepared: Any): Any[] => prepared.body.payload.typedData.message.createOrderParamsList
const feeOf = (prepared: Any): bigint => big(prepared.body.payload.relayParams.fee.feeAmount)
const fault = (change: object) => paper.call('POST', `${paper.control}/faults`, change)
const waiting = async (): Promise<Any[]> => (await paper.get(`/orders?address=${trader.address}`)).body
/** Native coin of the trader at the newest block, wei. */
const native = () => clientsOf(paper).client.getBalance({ address: trader.address })
const gasPrice = async () => {
  const { client } = clientsOf(paper)
  return {
    networkGasPrice: await client.getGasPrice(),
    priorityFee: await client.estimateMaxPriorityFeePerGas(),
  }
}

async function run(prepared: Any): Promise<Any> {
  expect(prepared.status, JSON.stringify(prepared.body)).toBe(200)
  await paper.submit(prepared.body)
  paper.clock.move(3000)
  return (await paper.status(prepared.body.requestId)).body
}

const edit = (orderKeys: readonly string[], fields: Record<string, unknown>) =>
  paper.post('/orders/txns/edit/prepare', {
    mode: 'express',
    from: trader.address,
    orderIds: orderKeys,
    ...fields,
  })

test('fees are what the formula makes of the price that the nodes tell', async () => {
  await start()
  const price = expressGasPrice(gas, await gasPrice())
  const prepared = await paper.prepare({ tpsl: [{ type: 'stop-loss', triggerPrice: usd(10) }] })
  const increase = { kind: 'increase', swaps: 0 } as const
  const exit = { kind: 'decrease', swaps: 0, isDecreaseWithSwapType: true } as const
  expect(ordersOf(prepared).map(({ numbers }) => big(numbers.executionFee))).toEqual([
    executionFeeOf(gas, price, increase),
    executionFeeOf(gas, price, exit),
  ])
  const tickers = (await paper.call('GET', `${paper.oracle}/prices/tickers`)).body
  const priceOf = (symbol: string, side: string, decimals: number): bigint =>
    big(tickers.find(({ tokenSymbol }: Any) => tokenSymbol === symbol)[side]) * 10n ** BigInt(decimals)
  const prices = {
    native: priceOf('ETH', 'maxPrice', 18),
    feeToken: priceOf('USDC', 'minPrice', 6),
    feeTokenDecimals: 6,
  }
  const message = { creates: [increase, exit], updates: 0, cancels: 0 }
  expect(feeOf(prepared)).toBe(messageFeesOf(gas, price, prices, message).feeAmount)
  const { executionFeeAmount } = prepared.body.estimates
  expect(big(executionFeeAmount)).toBe(
    executionFeeOf(gas, price, increase) + executionFeeOf(gas, price, exit),
  )
})

test.each(['arbitrum', 'avalanche', 'megaeth'] as const)(
  'gas on %s walks near its usual price',
  async (name) => {
    const usual = { arbitrum: 20_000_000n, avalanche: 650_000_000n, megaeth: 950_000n }[name]
    paper = await startVenue({ chain: chains[name] })
    const seen = new Set<bigint>()
    for (let i = 0; i < 12; i += 1) {
      const { networkGasPrice, priorityFee } = await gasPrice()
      expect(networkGasPrice * 100n).toBeGreaterThan(usual * 85n)
      expect(networkGasPrice * 100n).toBeLessThan(usual * 115n)
      expect(priorityFee).toBe(chainGas[name].leastPriorityFee ?? 0n)
      seen.add(networkGasPrice)
      paper.clock.move(120_000)
    }
    expect(seen.size).toBeGreaterThan(6)
  },
)

test('a chain may have another gas price, and its fees follow', async () => {
  await start()
  const usual = feeOf(await paper.prepare({}))
  await paper.close()
  await start({ gasPriceWei: 200_000_000n })
  const { networkGasPrice } = await gasPrice()
  expect(networkGasPrice).toBeGreaterThan(170_000_000n)
  const dear = feeOf(await paper.prepare({}))
  expect(Number(dear) / Number(usual)).toBeCloseTo(10, 1)
})

test('a gas spike is told by the nodes and asked for in fees from then on, and changes no block of before', async () => {
  await start()
  const { client } = clientsOf(paper)
  paper.clock.move(10_000)
  const before = await gasPrice()
  const usual = feeOf(await paper.prepare({}))
  const past = await client.getBlock()
  expect((await fault({ gasSpikePercent: 5_000 })).status).toBe(200)
  paper.clock.move(2_000)
  const { networkGasPrice } = await gasPrice()
  expect(Number(networkGasPrice) / Number(before.networkGasPrice)).toBeCloseTo(50, -1)
  expect(Number(feeOf(await paper.prepare({}))) / Number(usual)).toBeCloseTo(50, -1)
  expect((await client.getBlock({ blockNumber: past.number })).baseFeePerGas).toBe(past.baseFeePerGas)
  expect((await client.getBlock()).baseFeePerGas ?? 0n).toBeGreaterThan((past.baseFeePerGas ?? 0n) * 40n)
  await fault({ gasSpikePercent: 100 })
  paper.clock.move(2_000)
  expect((await gasPrice()).networkGasPrice).toBeLessThan(before.networkGasPrice * 2n)
  expect((await fault({ gasSpikePercent: -1 })).status).toBe(400)
})

test('what the relay does not need returns as wrapped native token, what the keeper does not as native coin', async () => {
  await start()
  const [before, wrapped] = [await native(), await paper.balanceOf('WETH')]
  const prepared = await paper.prepare({})
  const asked = big(prepared.body.estimates.executionFeeAmount)
  const { executionTxnHash } = await run(prepared)
  const returned = (await native()) - before
  expect(returned).toBeGreaterThan(0n)
  expect(returned).toBeLessThan(asked)
  const { client } = clientsOf(paper)
  const { logs } = await client.getTransactionReceipt({ hash: executionTxnHash })
  const events = logs.map(eventOf).filter(({ name }) => /ExecutionFee/.test(name))
  expect(events.map(({ name, items }) => [name, items])).toEqual([
    ['KeeperExecutionFee', { keeper: expect.any(String), executionFeeAmount: asked - returned }],
    ['ExecutionFeeRefund', { receiver: trader.address, refundFeeAmount: returned }],
  ])
  const fromRelay = (await paper.balanceOf('WETH')) - wrapped
  expect(fromRelay).toBeGreaterThan(0n)
  expect(fromRelay).toBeLessThan(asked)
})

test('an order that the owner cancels gives nearly all of its execution fee back', async () => {
  await start()
  const limit = await paper.prepare({ orderType: 'limit', triggerPrice: usd(100) })
  const { orderKeys } = await run(limit)
  const before = await native()
  const change = { mode: 'express', from: trader.address, orderIds: orderKeys }
  await run(await paper.post('/orders/txns/cancel/prepare', change))
  const back = (await native()) - before
  const asked = big(limit.body.estimates.executionFeeAmount)
  expect(back * 100n).toBeGreaterThan(asked * 85n)
  expect(back).toBeLessThan(asked)
})

test('a message that was prepared before gas rose pays too little and reverts whole', async () => {
  await start()
  const prepared = await paper.prepare({})
  await fault({ gasSpikePercent: 1_000 })
  paper.clock.move(1_000)
  const usdcBefore = await paper.balanceOf('USDC')
  expect(await run(prepared)).toMatchObject({
    status: 'relay_reverted',
    error: { code: 'InsufficientRelayFee' },
  })
  expect(await paper.balanceOf('USDC')).toBe(usdcBefore)
  expect(await paper.balanceOf('WETH')).toBe(0n)
})

test('an update pays for the execution at the gas of today: without a top-up it reverts whole, with one it lands', async () => {
  await start()
  const limit = await run(await paper.prepare({ orderType: 'limit', triggerPrice: usd(100) }))
  const [row] = await waiting()
  await fault({ gasSpikePercent: 500 })
  paper.clock.move(1_000)
  const bare = await edit(limit.orderKeys, { newTriggerPrice: usd(110) })
  const [update] = bare.body.payload.typedData.message.updateOrderParamsList
  expect(update.executionFeeIncrease).toBe('0')
  expect(await run(bare)).toMatchObject({
    status: 'relay_reverted',
    error: { code: 'InsufficientExecutionFee' },
  })
  expect(await waiting()).toEqual([row])
  const short = await edit(limit.orderKeys, { newTriggerPrice: usd(110), executionFeeTopUp: '1000' })
  expect((await run(short)).error.code).toBe('InsufficientExecutionFee')
  const topUp = big(row.executionFee) * 5n
  const paid = await edit(limit.orderKeys, {
    newTriggerPrice: usd(110),
    executionFeeTopUp: topUp.toString(),
  })
  expect(paid.body.estimates.executionFeeAmount).toBe(topUp.toString())
  expect((await run(paid)).status).toBe('executed')
  expect(await waiting()).toMatchObject([{ executionFee: (big(row.executionFee) + topUp).toString() }])
})

test('a venue may add what is missing by itself, and nothing where nothing is', async () => {
  await start({ topsUpFees: true })
  const limit = await run(await paper.prepare({ orderType: 'limit', triggerPrice: usd(100) }))
  const [row] = await waiting()
  await fault({ gasSpikePercent: 500 })
  paper.clock.move(1_000)
  const price = expressGasPrice(gas, await gasPrice())
  const missing = executionFeeOf(gas, price, { kind: 'increase', swaps: 0 }) - big(row.executionFee)
  const dear = await edit(limit.orderKeys, { newTriggerPrice: usd(110) })
  const [update] = dear.body.payload.typedData.message.updateOrderParamsList
  expect(update.executionFeeIncrease).toBe(missing.toString())
  expect((await run(dear)).status).toBe('executed')
  await fault({ gasSpikePercent: 100 })
  paper.clock.move(1_000)
  const usual = await edit(limit.orderKeys, { newTriggerPrice: usd(120) })
  expect(usual.body.payload.typedData.message.updateOrderParamsList[0].executionFeeIncrease).toBe('0')
  expect((await run(usual)).status).toBe('executed')
})

test('a freeze eats a part of the fee: an edit without a top-up reverts, one with it wakes the order', async () => {
  await start()
  await fault({ keeperFails: 'InsufficientReserve' })
  const prepared = await paper.prepare({ orderType: 'limit', triggerPrice: usd(9_000) })
  const asked = big(prepared.body.estimates.executionFeeAmount)
  const { orderKeys } = await run(prepared)
  const [frozen] = await waiting()
  expect(frozen.isFrozen).toBe(true)
  expect(big(frozen.executionFee)).toBeLessThan(asked / 2n)
  expect(big(frozen.executionFee)).toBeGreaterThan(0n)
  await fault({ keeperFails: '' })
  const bare = await edit(orderKeys, { newSize: usd(500) })
  expect((await run(bare)).error.code).toBe('InsufficientExecutionFee')
  const topUp = (asked - big(frozen.executionFee)).toString()
  await run(await edit(orderKeys, { newSize: usd(500), executionFeeTopUp: topUp }))
  expect(await waiting()).toEqual([])
  expect(await paper.positions()).toMatchObject([{ sizeInUsd: usd(500) }])
})

test('a fee in the wrapped native token needs no swap, and its rest returns in it', async () => {
  await start({ startBalances: { USDC: '1000', WETH: '1', ETH: '1' } })
  const before = await paper.balanceOf('WETH')
  const prepared = await paper.prepare({ gasPaymentToken: weth })
  expect(prepared.body.payload.relayParams.fee.feeSwapPath).toEqual([])
  expect((await run(prepared)).status).toBe('executed')
  const cost = before - (await paper.balanceOf('WETH'))
  expect(cost).toBeLessThan(feeOf(prepared))
  expect(cost).toBeGreaterThan(big(prepared.body.estimates.executionFeeAmount))
})

test('prepare may ask for what no gas explains, while the nodes tell the price that is; what was too much returns', async () => {
  await start()
  const usual = feeOf(await paper.prepare({}))
  const told = await gasPrice()
  await fault({ askedFeePercent: 2_000 })
  const dear = await paper.prepare({})
  expect(Number(feeOf(dear)) / Number(usual)).toBeCloseTo(20, 1)
  expect(await gasPrice()).toEqual(told)
  const before = await native()
  expect((await run(dear)).status).toBe('executed')
  const asked = big(dear.body.estimates.executionFeeAmount)
  expect(((await native()) - before) * 100n).toBeGreaterThan(asked * 90n)
})
