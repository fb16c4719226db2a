/** Simulated executions through the exchange router and the simulation router: they always revert, and say why. */
import { decodeErrorResult, encodeFunctionData, type Hex } from 'viem'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { customErrors } from '../../src/paper/blocks/customErrors.ts'
import { marketPrices } from '../../src/paper/state/venueState.ts'
import { simulationRouterAbi } from '../../src/paper/transactions/exchangeRouterAbi.ts'
import { contracts, orderOf, router, startWallet, toSend, type Wallet } from './classicSupport.ts'
import { type Any, ethMarket, usdc, weth } from './support.ts'

const FEE = 10n ** 15n
const COLLATERAL = 200_000_000n

let me: Wallet
beforeEach(async () => {
  me = await startWallet()
  await me.approve(usdc, 10n * COLLATERAL)
})
afterEach(() => me.paper.close())

/** Prices of now, scaled, at a time in seconds from now. */
function pricesOf(percent = 100n, secondsFromNow = 10, tokens = [weth, usdc]) {
  const { venueState } = me.paper.venue
  const seconds = Math.floor(me.paper.clock.now() / 1000)
  const market = venueState.marketByKey.get(ethMarket.toLowerCase())
  if (market === undefined) throw new Error('no market')
  const { long, short } = marketPrices(venueState, market, seconds)
  const scaled = { min: (long.min * percent) / 100n, max: (long.max * percent) / 100n }
  const time = BigInt(seconds + secondsFromNow)
  return {
    primaryTokens: tokens,
    primaryPrices: tokens.map((token) => (token === weth ? scaled : short)),
    minTimestamp: time,
    maxTimestamp: time,
  }
}

/** How a call ends: the error by name and arguments, one level into `ExternalCallFailed`. */
async function endOf(call: { to: Any; data: Hex; value?: bigint }) {
  const error: Any = await me.node.call({ account: me.account, ...call }).then(
    () => undefined,
    (one) => one,
  )
  const data = error?.walk((one: Any) => typeof one.data === 'string')?.data as Hex
  const outer = decodeErrorResult({ abi: customErrors, data })
  if (outer.errorName !== 'ExternalCallFailed') return { outer: outer.errorName, ...outer }
  return { outer: outer.errorName, ...decodeErrorResult({ abi: customErrors, data: outer.args[0] }) }
}

const latest = (prices: ReturnType<typeof pricesOf>): Hex =>
  encodeFunctionData({ abi: simulationRouterAbi, functionName: 'simulateExecuteLatestOrder', args: [prices] })
const created = (over: Any = {}): Hex[] => [
  router.sendWnt(FEE),
  router.sendTokens(COLLATERAL),
  router.create(orderOf(me.account.address, over)),
]

test('an order that would execute ends its simulation with EndOfOracleSimulation, by either router', async () => {
  const ofOld = router.multicall(...created(), router.simulateLatest(pricesOf()))
  expect(await endOf({ ...ofOld, value: FEE })).toMatchObject({ outer: 'EndOfOracleSimulation' })
  const external = router.external(contracts.simulationRouter, latest(pricesOf()))
  const ofNew = router.multicall(...created(), external)
  expect(await endOf({ ...ofNew, value: FEE })).toMatchObject({
    outer: 'ExternalCallFailed',
    errorName: 'EndOfOracleSimulation',
  })
  expect(await me.orders()).toEqual([])
})

test('an order that would fail ends its simulation with what it would fail with', async () => {
  const over = { numbers: { acceptablePrice: 10n ** 14n } }
  const multicall = router.multicall(...created(over), router.simulateLatest(pricesOf()))
  expect(await endOf({ ...multicall, value: FEE })).toMatchObject({
    outer: 'OrderNotFulfillableAtAcceptablePrice',
  })
})

test('a simulation runs at the prices that it is given', async () => {
  const { long } = marketPrices(
    me.paper.venue.venueState,
    me.paper.venue.venueState.marketByKey.get(ethMarket.toLowerCase()) as Any,
    Math.floor(me.paper.clock.now() / 1000),
  )
  const over = { numbers: { acceptablePrice: (long.max * 105n) / 100n } }
  const at = (percent: bigint) =>
    endOf({ ...router.multicall(...created(over), router.simulateLatest(pricesOf(percent))), value: FEE })
  expect((await at(100n)).outer).toBe('EndOfOracleSimulation')
  expect((await at(110n)).outer).toBe('OrderNotFulfillableAtAcceptablePrice')
})

test('a simulation without a price, or with one older than the order, says so', async () => {
  const bare = router.multicall(...created(), router.simulateLatest(pricesOf(100n, 10, [usdc])))
  expect((await endOf({ ...bare, value: FEE })).errorName).toBe('EmptyPrimaryPrice')
  const old = router.multicall(...created(), router.simulateLatest(pricesOf(100n, -60)))
  expect((await endOf({ ...old, value: FEE })).errorName).toBe('OracleTimestampsAreSmallerThanRequired')
  const late = router.multicall(...created(), router.simulateLatest(pricesOf(100n, 400)))
  expect((await endOf({ ...late, value: FEE })).errorName).toBe(
    'OracleTimestampsAreLargerThanRequestExpirationTime',
  )
  const uneven = { ...pricesOf(), primaryPrices: [] }
  const wrong = router.multicall(...created(), router.simulateLatest(uneven))
  expect((await endOf({ ...wrong, value: FEE })).errorName).toBe('InvalidPrimaryPricesForSimulation')
})

test('a resting order is simulated by its key: its trigger counts', async () => {
  const over = { orderType: 3, numbers: { triggerPrice: 10n ** 15n } }
  await me.send({ ...router.multicall(...created(over)), value: FEE })
  const [{ key }] = await me.orders()
  const call = (percent: bigint) => ({
    to: contracts.exchangeRouter,
    data: router.simulate(key, pricesOf(percent)),
  })
  expect((await endOf(call(100n))).errorName).toBe('InvalidOrderPrices')
  expect((await endOf(call(20n))).errorName).toBe('EndOfOracleSimulation')
  const unknown = { to: contracts.exchangeRouter, data: router.simulate(`0x${'ab'.repeat(32)}`, pricesOf()) }
  expect((await endOf(unknown)).errorName).toBe('EmptyOrder')
})

test('a close is simulated like an opening, and leaves the position as it is', async () => {
  await me.send(toSend(await me.increase()))
  me.paper.clock.move(3000)
  const before = await me.positions()
  const close = router.create(orderOf(me.account.address, { orderType: 4, numbers: { acceptablePrice: 0n } }))
  const multicall = router.multicall(router.sendWnt(FEE), close, router.simulateLatest(pricesOf()))
  expect((await endOf({ ...multicall, value: FEE })).errorName).toBe('EndOfOracleSimulation')
  expect((await me.positions()).map(({ sizeInUsd }) => sizeInUsd)).toEqual(
    before.map(({ sizeInUsd }) => sizeInUsd),
  )
})

test('a transaction that simulates is mined, reverts, and costs its gas', async () => {
  const work = router.multicall(...created(), router.simulateLatest(pricesOf()))
  const receipt = await me.send({ ...work, value: FEE, gas: 5_000_000n })
  expect(receipt.status).toBe('reverted')
  expect(await me.orders()).toEqual([])
})

test('no price of a simulation, however absurd, fails the endpoint', async () => {
  for (const price of [1n, 10n ** 60n, 2n ** 256n - 1n]) {
    for (const size of [1n, 10n ** 40n, 2n ** 256n - 1n]) {
      const prices = pricesOf()
      const absurd = {
        ...prices,
        primaryPrices: prices.primaryPrices.map(() => ({ min: price, max: price })),
      }
      const over = { numbers: { sizeDeltaUsd: size } }
      const work = router.multicall(...created(over), router.simulateLatest(absurd))
      const call = { from: me.account.address, ...work, value: `0x${FEE.toString(16)}` }
      const { body } = await me.paper.call('POST', me.paper.served.rpc[0] ?? '', {
        jsonrpc: '2.0',
        id: 1,
        method: 'eth_call',
        params: [call, 'latest'],
      })
      expect(body.error.code).toBe(3)
    }
  }
})
