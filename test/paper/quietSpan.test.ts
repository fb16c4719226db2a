/**
 * Spans in which the keeper finds nothing, against the slow way: at every second of a span that is called quiet the full checks of
 * orders, positions and pools find nothing either, and a venue that passes over such spans tells the same trades as one that does not.
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { exceedsPoolShare, isLiquidatableByCheck } from '../../src/paper/keeper/keeperOrders.ts'
import { quietUntil } from '../../src/paper/keeper/quietSpan.ts'
import { isReady } from '../../src/paper/keeper/waitingOrders.ts'
import { cannotBeLiquidated } from '../../src/paper/math/liquidationBound.ts'
import { cloneMarket, type MarketPrices, type Side } from '../../src/paper/math/marketState.ts'
import { newPosition } from '../../src/paper/math/positionMath.ts'
import type { PositionState } from '../../src/paper/math/positionState.ts'
import { createVenue } from '../../src/paper/server/venue.ts'
import { storePosition } from '../../src/paper/state/accounts.ts'
import { orderTypes } from '../../src/paper/state/orderTypes.ts'
import type { VenueMarket } from '../../src/paper/state/seedMarkets.ts'
import type { OrderRecord, PositionRecord } from '../../src/paper/state/venueRecords.ts'
import { marketPrices, slotToken, type VenueState } from '../../src/paper/state/venueState.ts'
import { chains } from '../../src/protocol/chains/index.ts'
import { positionKeyOf } from '../../src/protocol/signing/relayRouter.ts'
import { manualClock, START_MS, startVenue, stranger, trader, usd } from './support.ts'

const seed = 20_261_125
const START = START_MS / 1000
const DOLLAR = 10n ** 30n

/** A part of a whole, by thousandths. */
const part = (whole: bigint, thousandths: number): bigint => (whole * BigInt(thousandths)) / 1000n

/** What a position is drawn from. */
const drawn = fc.record({
  market: fc.nat(200),
  isLong: fc.boolean(),
  isLongToken: fc.boolean(),
  sizeUsd: fc.integer({ min: 10, max: 300_000 }),
  leverageTenths: fc.integer({ min: 11, max: 1000 }),
  /** The entry price against the price of now, thousandths. */
  entry: fc.integer({ min: 900, max: 1100 }),
  /** The stored impact against the size, thousandths of the tokens. */
  pending: fc.integer({ min: -5, max: 5 }),
  /** The rate that is saved against the highest, thousandths. */
  saved: fc.integer({ min: -1000, max: 1000 }),
  agoSeconds: fc.integer({ min: 0, max: 2_000_000 }),
})
type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never

function newVenue(seedOfPrices: number): VenueState {
  return createVenue({ clock: manualClock(), chain: chains.arbitrum, seed: seedOfPrices }).venueState
}

function perpsOf(venueState: VenueState): readonly VenueMarket[] {
  return venueState.markets.filter(({ settings }) => !settings.isSpotOnly)
}

/** The position, put into the market's open interest as one that was opened a while ago. */
function positionOf(venueState: VenueState, market: VenueMarket, one: Drawn): PositionRecord {
  const prices = marketPrices(venueState, market, START)
  const side: Side = one.isLong ? 'long' : 'short'
  const slot = one.isLongToken ? 0 : 1
  const token = slotToken(market, slot)
  const sizeInUsd = BigInt(one.sizeUsd) * DOLLAR
  const sizeInTokens = sizeInUsd / (part(prices.index.min, one.entry) + 1n)
  const collateralPrice = slot === 0 ? prices.long.min : prices.short.min
  const state: PositionState = {
    ...newPosition(market.settings, market.state, side, slot),
    sizeInUsd,
    sizeInTokens,
    collateralAmount: (sizeInUsd * 10n) / BigInt(one.leverageTenths) / collateralPrice,
    pendingImpactAmount: part(sizeInTokens, one.pending),
  }
  const draft = cloneMarket(market.state)
  const stored = market.settings.isSameCollaterals ? 0 : slot
  draft[side].interestUsd[stored] += sizeInUsd
  draft[side].interestInTokens[stored] += sizeInTokens
  const { long, short } = market.settings.maxFundingFactorPerSecond
  draft.savedFundingFactorPerSecond = part(long > short ? long : short, one.saved)
  draft.fundingUpdatedAtSeconds = START - one.agoSeconds
  draft.borrowingUpdatedAtSeconds = START - one.agoSeconds
  market.state = draft
  return {
    contractKey: positionKeyOf(trader.address, market.catalog.marketToken, token.address, one.isLong),
    account: trader.address,
    marketKey: market.key,
    collateralToken: token,
    state,
  }
}

const scaled = (prices: MarketPrices, index: number, long: number, short: number): MarketPrices => ({
  index: { min: part(prices.index.min, index), max: part(prices.index.max, index) },
  long: { min: part(prices.long.min, long), max: part(prices.long.max, long) },
  short: { min: part(prices.short.min, short), max: part(prices.short.max, short) },
})

test('what the bound calls safe the full check never liquidates, at any moment and prices within', () => {
  const venueState = newVenue(3)
  const markets = perpsOf(venueState).map((market) => ({ market, state: market.state }))
  const percent = fc.integer({ min: 0, max: 1000 })
  let [safe, near] = [0, 0]
  fc.assert(
    fc.property(
      drawn,
      fc.integer({ min: 940, max: 1000 }),
      fc.integer({ min: 1000, max: 1060 }),
      fc.nat(100_000),
      fc.array(fc.tuple(percent, percent, percent, percent), { minLength: 6, maxLength: 6 }),
      (one, lowest, highest, spanSeconds, moments) => {
        const found = markets[one.market % markets.length]
        if (found === undefined) return
        const { market, state } = found
        market.state = state
        const record = positionOf(venueState, market, one)
        const now = marketPrices(venueState, market, START)
        const bounds = {
          low: scaled(now, lowest, lowest, lowest),
          high: scaled(now, highest, highest, highest),
        }
        const isSafe = cannotBeLiquidated(
          market.settings,
          market.state,
          record.state,
          bounds,
          START + spanSeconds,
        )
        if (isSafe) safe += 1
        const at = (thousandths: number): number =>
          lowest + Math.floor(((highest - lowest) * thousandths) / 1000)
        for (const [index, long, short, time] of [...moments, [0, 0, 0, 1000], [1000, 0, 0, 1000]] as const) {
          const prices = scaled(now, at(index), at(long), at(short))
          const seconds = START + Math.floor((spanSeconds * time) / 1000)
          const isLiquidatable = isLiquidatableByCheck(market, record, prices, seconds)
          if (isLiquidatable) near += 1
          if (isSafe) expect(isLiquidatable, `${market.catalog.symbol} at ${seconds}`).toBe(false)
        }
        market.state = state
      },
    ),
    { seed, numRuns: 800 },
  )
  expect(safe).toBeGreaterThan(150)
  expect(near).toBeGreaterThan(150)
})

test('the least collateral that the bound calls safe is enough for the full check, whatever impact and fees take', () => {
  const venueState = newVenue(4)
  const markets = perpsOf(venueState).map((market) => ({ market, state: market.state }))
  let found = 0
  fc.assert(
    fc.property(
      drawn,
      fc.constantFrom(0n, 1n, 5n, 20n),
      fc.nat(2_000),
      (one, impactThousandths, spanSeconds) => {
        const place = markets[one.market % markets.length]
        if (place === undefined) return
        place.market.state = place.state
        const record = positionOf(venueState, place.market, { ...one, agoSeconds: one.agoSeconds % 5_000 })
        const settings = {
          ...place.market.settings,
          maxPositionImpactFactorForLiquidations: impactThousandths * 10n ** 27n,
        }
        const market = { ...place.market, settings }
        const prices = marketPrices(venueState, market, START)
        const until = START + spanSeconds
        const isSafe = (collateralAmount: bigint): boolean =>
          cannotBeLiquidated(
            settings,
            market.state,
            { ...record.state, collateralAmount },
            { low: prices, high: prices },
            until,
          )
        let [low, high] = [0n, record.state.collateralAmount * 200n]
        if (!isSafe(high)) return
        found += 1
        while (high - low > 1n) {
          const middle = (low + high) / 2n
          if (isSafe(middle)) high = middle
          else low = middle
        }
        const edge = { ...record, state: { ...record.state, collateralAmount: high } }
        for (const seconds of [START, until])
          expect(isLiquidatableByCheck(market, edge, prices, seconds)).toBe(false)
      },
    ),
    { seed, numRuns: 300 },
  )
  expect(found).toBeGreaterThan(200)
})

test('no span is quiet while the profit of a side is more than its pool may give', () => {
  const calm = {
    market: 0,
    isLongToken: false,
    sizeUsd: 10_000,
    leverageTenths: 20,
    pending: 0,
    saved: 0,
    agoSeconds: 0,
  }
  for (const isLong of [true, false]) {
    const venueState = newVenue(6)
    const market = perpsOf(venueState)[0] as VenueMarket
    const record = positionOf(venueState, market, { ...calm, isLong, entry: isLong ? 900 : 1100 })
    storePosition(venueState, record, record.state)
    expect(quietUntil(venueState, START, START + 60)).toBe(START + 60)
    const { pool } = market.state
    market.state = { ...cloneMarket(market.state), pool: [pool[0] / 1_000_000n, pool[1] / 1_000_000n] }
    const prices = marketPrices(venueState, market, START + 1)
    const side: Side = isLong ? 'long' : 'short'
    market.state[side].interestUsd = [0n, record.state.sizeInUsd]
    market.state[side].interestInTokens = [0n, record.state.sizeInTokens]
    expect(exceedsPoolShare(market.settings, market.state, side, prices)).toBe(true)
    // What is reserved counts for the borrowing rate too; no time has passed for it.
    market.state.borrowingUpdatedAtSeconds = 0
    expect(
      cannotBeLiquidated(market.settings, market.state, record.state, { low: prices, high: prices }, START),
    ).toBe(true)
    expect(quietUntil(venueState, START, START + 60)).toBe(START)
  }
})

const restingTypes = [
  orderTypes.limitIncrease,
  orderTypes.stopIncrease,
  orderTypes.limitDecrease,
  orderTypes.stopLossDecrease,
] as const

test('no second of a span that is called quiet triggers an order, liquidates or deleverages', () => {
  const order = fc.record({
    position: fc.nat(3),
    type: fc.constantFrom(...restingTypes),
    isLong: fc.boolean(),
    /** The trigger against the price, ten thousandths. */
    trigger: fc.integer({ min: 9_800, max: 10_200 }),
    validInSeconds: fc.constantFrom(0, 0, 0, 40, 900),
    isFrozen: fc.boolean(),
  })
  const calm = drawn.map((one) => ({
    ...one,
    leverageTenths: 11 + (one.leverageTenths % 300),
    entry: 980 + (one.entry % 40),
    agoSeconds: one.agoSeconds % 100_000,
  }))
  let [quietSeconds, asked, ended] = [0, 0, 0]
  fc.assert(
    fc.property(
      fc.nat(1_000_000),
      fc.array(calm, { minLength: 1, maxLength: 3 }),
      fc.array(order, { maxLength: 3 }),
      fc.integer({ min: 1, max: 700 }),
      (seedOfPrices, positions, orders, seconds) => {
        const venueState = newVenue(seedOfPrices)
        const markets = perpsOf(venueState)
        const records = positions.map((one) => {
          const market = markets[one.market % markets.length] as VenueMarket
          const record = positionOf(venueState, market, one)
          storePosition(venueState, record, record.state)
          return { record, market }
        })
        orders.forEach((one, i) => {
          const { record, market } = records[one.position % records.length] as (typeof records)[number]
          const trigger = (marketPrices(venueState, market, START).index.min * BigInt(one.trigger)) / 10_000n
          const key = `0x${(i + 1).toString(16).padStart(64, '0')}` as const
          const resting = restingOrder(record, market, key, one.type, one.isLong, trigger)
          resting.params.numbers.validFromTime = BigInt(START + one.validInSeconds)
          resting.isFrozen = one.isFrozen && one.validInSeconds === 40
          venueState.orders.set(key, resting)
        })
        const until = quietUntil(venueState, START, START + seconds)
        asked += seconds
        quietSeconds += until - START
        if (until < START + seconds) ended += 1
        for (let second = START + 1; second <= until; second += 1) {
          for (const resting of venueState.orders.values())
            expect(isReady(venueState, resting, second)).toBe(false)
          for (const { record, market } of records) {
            const prices = marketPrices(venueState, market, second)
            expect(isLiquidatableByCheck(market, record, prices, second)).toBe(false)
            expect(exceedsPoolShare(market.settings, market.state, record.state.side, prices)).toBe(false)
          }
        }
      },
    ),
    { seed, numRuns: 40 },
  )
  expect(quietSeconds).toBeGreaterThan(asked / 10)
  expect(ended).toBeGreaterThan(5)
})

function restingOrder(
  record: PositionRecord,
  market: VenueMarket,
  key: `0x${string}`,
  orderType: number,
  isLong: boolean,
  triggerPrice: bigint,
): OrderRecord & { params: { numbers: { validFromTime: bigint } } } {
  return {
    key,
    account: record.account,
    params: {
      addresses: {
        receiver: record.account,
        cancellationReceiver: record.account,
        callbackContract: stranger.address,
        uiFeeReceiver: stranger.address,
        market: market.catalog.marketToken,
        initialCollateralToken: record.collateralToken.address,
        swapPath: [],
      },
      numbers: {
        sizeDeltaUsd: DOLLAR,
        initialCollateralDeltaAmount: 0n,
        triggerPrice,
        acceptablePrice: 0n,
        executionFee: 0n,
        callbackGasLimit: 0n,
        minOutputAmount: 0n,
        validFromTime: 0n,
      },
      orderType: BigInt(orderType),
      decreasePositionSwapType: 0n,
      isLong,
      shouldUnwrapNativeToken: false,
      autoCancel: false,
      referralCode: `0x${'00'.repeat(32)}`,
      dataList: [],
    },
    isFrozen: false,
    updatedAtSeconds: START,
    requestId: null,
  }
}

test('a span that was found quiet is looked at anew once an order, a position or its market is another one, and only then', () => {
  const calm = {
    ...{ market: 0, isLong: true, isLongToken: false, sizeUsd: 10_000, leverageTenths: 20 },
    ...{ entry: 900, pending: 0, saved: 0, agoSeconds: 0 },
  }
  /** Changes a venue of a position and an order that rests; each makes something possible at once. */
  const changes: Readonly<Record<string, (at: Place) => void>> = {
    position: ({ record }) => {
      record.state = { ...record.state, collateralAmount: 0n }
    },
    market: ({ market, record }) => {
      const { pool } = market.state
      const state = {
        ...cloneMarket(market.state),
        pool: [pool[0] / 1_000_000n, pool[1] / 1_000_000n] as const,
      }
      state.long.interestUsd = [0n, record.state.sizeInUsd]
      state.long.interestInTokens = [0n, record.state.sizeInTokens]
      market.state = { ...state, borrowingUpdatedAtSeconds: 0 } as typeof market.state
    },
    terms: ({ order, price }) => {
      const numbers = { ...order.params.numbers, triggerPrice: price * 2n }
      order.params = { ...order.params, numbers }
    },
    'another order': ({ venueState, record, market, price }) => {
      const key = `0x${'2'.padStart(64, '0')}` as const
      venueState.orders.set(
        key,
        restingOrder(record, market, key, orderTypes.stopLossDecrease, true, price * 2n),
      )
    },
  }
  for (const [name, change] of Object.entries(changes)) {
    const venueState = newVenue(6)
    const market = perpsOf(venueState)[0] as VenueMarket
    const record = positionOf(venueState, market, calm)
    storePosition(venueState, record, record.state)
    const price = marketPrices(venueState, market, START).index.min
    const key = `0x${'1'.padStart(64, '0')}` as const
    const order = restingOrder(record, market, key, orderTypes.stopLossDecrease, true, price / 2n)
    let looks = 0
    Object.defineProperty(order.params.numbers, 'triggerPrice', {
      enumerable: true,
      get() {
        looks += 1
        return price / 2n
      },
    })
    venueState.orders.set(key, order)
    // Windows are whole multiples of their length.
    const start = Math.ceil(START / 512) * 512
    expect(quietUntil(venueState, start, start + 60), name).toBe(start + 60)
    const before = looks
    for (let second = start + 1; second < start + 400; second += 1)
      expect(quietUntil(venueState, second, second + 60)).toBe(second + 60)
    expect(looks, name).toBe(before)
    change({ venueState, market, record, order, price })
    expect(quietUntil(venueState, start + 400, start + 460), name).toBe(start + 400)
  }
})

/** A position with its market and an order, and the price of its index. */
interface Place {
  readonly venueState: VenueState
  readonly market: VenueMarket
  readonly record: PositionRecord
  readonly order: OrderRecord
  readonly price: bigint
}

test('a venue that passes over quiet spans tells the same trades as one that looks at every second', async () => {
  const told: unknown[] = []
  for (const looksAlways of [false, true]) {
    const paper = await startVenue()
    const { venue, clock } = paper
    // Whoever has other traders is looked at every second; this one never trades.
    if (looksAlways) venue.venueState.traders.set(stranger.address, 0)
    await paper.trade({})
    await paper.trade({
      direction: 'short',
      symbol: 'BTC/USD [BTC-USDC]',
      collateralToPay: { amount: '12000000', token: 'USDC' },
    })
    const [row] = (await paper.get('/markets/tickers?symbols=ETH%2FUSD%20%5BWETH-USDC%5D')).body
    const mark = Number(row.markPrice) / 1e30
    for (const [share, orderType] of [
      [0.997, 'limit'],
      [1.004, 'stop-market'],
      [0.99, 'limit'],
    ] as const)
      await paper.trade({ orderType, triggerPrice: usd(mark * share) })
    for (let hours = 0; hours < 14; hours += 1) {
      clock.move(3_599_500)
      venue.advance()
    }
    const { trades, positions, orders, accounts } = venue.venueState
    told.push({
      trades: trades.map(({ eventName, orderType, timestamp, fields }) => ({
        eventName,
        orderType,
        timestamp,
        fields,
      })),
      positions: [...positions.values()].map(({ state }) => state),
      orders: orders.size,
      money: [...accounts.values()].map(({ balances }) => [...balances]),
    })
    await paper.close()
  }
  const [skipping, looking] = told
  expect(skipping).toEqual(looking)
  expect((told[0] as { trades: unknown[] }).trades.length).toBeGreaterThan(6)
}, 60_000)
