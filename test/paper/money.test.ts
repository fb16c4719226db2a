/** Money: nothing is made from nothing, pools and balances never go below zero, reductions never increase. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decreasePosition } from '../../src/paper/math/decrease.ts'
import { increasePosition } from '../../src/paper/math/increase.ts'
import { ceilDiv, fac, pow30 } from '../../src/paper/math/integer.ts'
import {
  cloneMarket,
  interestInTokens,
  interestUsd,
  type MarketPrices,
  type Side,
  type Slot,
} from '../../src/paper/math/marketState.ts'
import type { PositionState } from '../../src/paper/math/positionState.ts'
import { ProtocolRevert } from '../../src/paper/math/protocolRevert.ts'
import { defaultVenueSettings } from '../../src/paper/state/settings.ts'
import { createVenueState, marketPrices } from '../../src/paper/state/venueState.ts'
import { chains } from '../../src/protocol/chains/index.ts'
import { type Any, ethMarket, manualClock, START_MS, startVenue, trader, usd } from './support.ts'

const seed = 20_261_120
const venueState = createVenueState({
  chain: chains.arbitrum,
  clock: manualClock(),
  seed: 7,
  settings: defaultVenueSettings,
})

const action = fc.record({
  kind: fc.constantFrom('increase', 'decrease', 'withdraw'),
  side: fc.constantFrom<Side>('long', 'short'),
  slot: fc.constantFrom<Slot>(0, 1),
  sizeUsd: fc.integer({ min: 1, max: 2_000_000 }),
  leverage: fc.integer({ min: 1, max: 60 }),
  /** Part of the position to take off, permille; above 1000 asks for more than there is. */
  part: fc.integer({ min: 1, max: 1200 }),
  priceMoveBps: fc.integer({ min: -300, max: 300 }),
})

test('tokens of a market are conserved but for the fee receiver, whatever traders do', () => {
  const symbols = ['ETH/USD [WETH-USDC]', 'BTC/USD [BTC-USDC]', 'DOGE/USD [WETH-USDC]']
  fc.assert(
    fc.property(fc.constantFrom(...symbols), fc.array(action, { maxLength: 14 }), (symbol, actions) => {
      const market = venueState.markets.find((one) => one.catalog.symbol === symbol)
      if (market === undefined) throw new Error(`no market ${symbol}`)
      const { settings } = market
      const now = venueState.epochSeconds
      const start = market.state
      let state = cloneMarket(start)
      let prices = marketPrices(venueState, market, now)
      const positions = new Map<string, PositionState>()
      /** Paid in less paid out, by slot. */
      const net: [bigint, bigint] = [0n, 0n]
      let receiverFees: [bigint, bigint] = [0n, 0n]
      for (const { kind, side, slot, sizeUsd, leverage, part, priceMoveBps } of actions) {
        prices = moved(prices, priceMoveBps)
        const key = `${side}:${slot}`
        const position = positions.get(key)
        const collateralPrice = (slot === 0 ? prices.long : prices.short).min
        const draft = cloneMarket(state)
        try {
          if (kind === 'increase' || position === undefined) {
            const sizeDeltaUsd = BigInt(sizeUsd) * 10n ** 30n
            const collateralAmount = sizeDeltaUsd / BigInt(leverage) / collateralPrice
            const done = increasePosition(
              settings,
              draft,
              position,
              { side, slot, sizeDeltaUsd, collateralAmount },
              prices,
              now,
            )
            positions.set(key, done.position)
            net[slot] += collateralAmount
            receiverFees = plus(receiverFees, slot, done.fees.totalCostAmount - done.fees.feeAmountForPool)
            expect(done.position.sizeInUsd).toBe((position?.sizeInUsd ?? 0n) + sizeDeltaUsd)
          } else {
            const sizeDeltaUsd = kind === 'withdraw' ? 0n : (position.sizeInUsd * BigInt(part)) / 1000n
            const collateralAmount = kind === 'withdraw' ? position.collateralAmount / 3n : 0n
            const terms = { sizeDeltaUsd, collateralAmount, kind: 'trigger' as const }
            const done = decreasePosition(settings, draft, position, terms, prices, now)
            if (done.position === undefined) positions.delete(key)
            else positions.set(key, done.position)
            expect((done.position?.sizeInUsd ?? 0n) <= position.sizeInUsd).toBe(true)
            expect(done.outputAmount >= 0n && done.secondaryOutputAmount >= 0n).toBe(true)
            net[slot] -= done.outputAmount
            net[side === 'long' ? 0 : 1] -= done.secondaryOutputAmount
            net[0] -= done.claimableCollateral[0]
            net[1] -= done.claimableCollateral[1]
            receiverFees = plus(receiverFees, slot, done.fees.totalCostAmount - done.fees.feeAmountForPool)
          }
          state = draft
        } catch (error) {
          if (!(error instanceof ProtocolRevert)) throw error
        }
        for (const one of [0, 1] as const) {
          const held = [...positions.values()]
            .filter((open) => open.slot === one)
            .reduce((sum, open) => sum + open.collateralAmount, 0n)
          expect(state.long.collateralSum[one] + state.short.collateralSum[one]).toBe(held)
          expect(state.pool[one] >= 0n).toBe(true)
          expect(state.pool[one] + held + receiverFees[one]).toBe(start.pool[one] + net[one])
        }
        for (const one of ['long', 'short'] as const) {
          const open = [...positions.values()].filter((open) => open.side === one)
          const usdSum = open.reduce((sum, each) => sum + each.sizeInUsd, 0n)
          const tokenSum = open.reduce((sum, each) => sum + each.sizeInTokens, 0n)
          expect(interestUsd(settings, state, one)).toBe(interestUsd(settings, start, one) + usdSum)
          expect(interestInTokens(settings, state, one)).toBe(
            interestInTokens(settings, start, one) + tokenSum,
          )
        }
        expect(state.positionImpactPoolAmount >= 0n && state.lentPositionImpactPoolAmount >= 0n).toBe(true)
      }
    }),
    { seed, numRuns: 150 },
  )
})

function moved(prices: MarketPrices, basisPoints: number): MarketPrices {
  const move = (value: bigint): bigint => (value * BigInt(10_000 + basisPoints)) / 10_000n
  const index = { min: move(prices.index.min), max: move(prices.index.max) }
  return { ...prices, index }
}

function plus(values: [bigint, bigint], slot: Slot, amount: bigint): [bigint, bigint] {
  return slot === 0 ? [values[0] + amount, values[1]] : [values[0], values[1] + amount]
}

test('the power function is exact where it must be and grows with its base', () => {
  const one = 10n ** 30n
  fc.assert(
    fc.property(fc.bigInt({ min: one, max: 10n ** 42n }), fc.bigInt({ min: one, max: 2n * one }), (x, e) => {
      expect(pow30(x, one)).toBe(x)
      expect(pow30(x + x / 100n, e) >= pow30(x, e)).toBe(true)
      const square = pow30(x, 2n * one)
      const error = square - fac(x, x)
      expect((error < 0n ? -error : error) * 10n ** 12n <= fac(x, x)).toBe(true)
    }),
    { seed, numRuns: 200 },
  )
  expect(pow30(one - 1n, 2n * one)).toBe(0n)
  expect(ceilDiv(7n, 3n)).toBe(3n)
})

test('a position that runs out of collateral is liquidated at its moment, and never before', async () => {
  const paper = await startVenue()
  const open = { size: usd(5000), collateralToPay: { amount: '60000000', token: 'USDC' } }
  await paper.trade({ ...open, direction: 'long' })
  await paper.trade({ ...open, direction: 'short' })
  expect(await paper.positions()).toHaveLength(2)
  let liquidation: Any
  let last: Any[] = []
  for (let minutes = 0; minutes < 600 && liquidation === undefined; minutes += 5) {
    last = await paper.positions()
    paper.clock.move(300_000)
    const { trades } = (await paper.get(`/trades?address=${trader.address}`)).body
    liquidation = trades.find((row: Any) => row.orderType === 7)
  }
  expect(liquidation).toMatchObject({
    eventName: 'OrderExecuted',
    sizeDeltaUsd: usd(5000),
    marketAddress: ethMarket,
  })
  const lost = last.find((row) => row.isLong === liquidation.isLong)
  const threshold = Number(lost.liquidationPrice) / 1e30
  const low = Number(liquidation.indexTokenPriceMin) / 1e12
  expect(Math.abs(low / threshold - 1)).toBeLessThan(0.005)
  expect((await paper.positions()).map((row) => row.isLong)).toEqual([!liquidation.isLong])
  expect(START_MS).toBeLessThan(paper.clock.now())
  await paper.close()
})

test('no body of an order route makes the venue answer 5xx', async () => {
  const paper = await startVenue()
  const value = fc.oneof(
    fc.jsonValue({ maxDepth: 2 }),
    fc.constantFrom<unknown>(
      'express',
      'increase',
      'decrease',
      'swap',
      'market',
      'limit',
      'twap',
      'long',
      'USDC',
      'ETH',
    ),
    fc.constantFrom<unknown>(trader.address, ethMarket, '1', '0', '-1', 10 ** 21, 2 ** 53, '9'.repeat(78)),
    fc.constantFrom<unknown>({ amount: '1', token: 'USDC' }, { amount: '9'.repeat(77), token: 'WETH' }),
  )
  const good = {
    mode: 'express',
    kind: 'increase',
    orderType: 'market',
    from: trader.address,
    symbol: 'ETH/USD',
    direction: 'long',
    size: usd(100),
    collateralToPay: { amount: '100000000', token: 'USDC' },
  }
  const names = [
    ...Object.keys(good),
    'receiveToken',
    'triggerPrice',
    'slippage',
    'twapConfig',
    'tpsl',
    'manualSwapPath',
    'requestId',
    'signature',
    'eip712Data',
    'orderIds',
    'positionKey',
    'taskId',
    'to',
    'data',
    'limit',
    'cursor',
    'address',
  ]
  const routes = [
    '/orders/txns/prepare',
    '/orders/txns/submit',
    '/orders/txns/status',
    '/orders/txns/edit/prepare',
    '/orders/txns/cancel/prepare',
    '/orders/txns/collateral/prepare',
    '/relay/submit',
    '/relay/status',
    '/trades/search',
  ]
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...routes),
      fc.dictionary(fc.constantFrom(...names), value, { maxKeys: 4 }),
      fc.boolean(),
      async (route, fields, isAlmostGood) => {
        const answer = await paper.post(route, isAlmostGood ? { ...good, ...fields } : fields)
        expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(500)
      },
    ),
    { seed, numRuns: 1500 },
  )
  await paper.close()
})
