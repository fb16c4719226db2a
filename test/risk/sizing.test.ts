import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Limits, tighten } from '../../src/domain/limits/limits.ts'
import type { JitDataStatus, MarketDataStatus } from '../../src/protocol/market.ts'
import { BPS_ONE, ONE_USD, usd, usdOfAmount } from '../../src/protocol/units.ts'
import { isDenial } from '../../src/risk/exposure/admissionContext.ts'
import { distanceAfterBps } from '../../src/risk/sizing/liquidation.ts'
import { FEE_MARGIN_BPS, type Sized, sizeIncrease, sizeReduction } from '../../src/risk/sizing/sizing.ts'
import {
  capacity,
  close,
  decrease,
  desk,
  increase,
  intentState,
  MARKET,
  marketView,
  NOW_MS,
  OTHER_MARKET,
  order,
  position,
  snapshot,
  USDC,
  WETH,
} from './world.ts'

const SEED = 20_260_901

function sized(result: ReturnType<typeof sizeIncrease>): Sized {
  if (isDenial(result)) throw new Error(`denied: ${JSON.stringify(result)}`)
  return result
}

function withCapacity(changes: Parameters<typeof capacity>[0], atMs = NOW_MS) {
  return snapshot({ view: marketView({ capacityLong: { value: capacity(changes), atMs } }) })
}

test('a wish within every limit is granted whole, with collateral at the min price, rounded up', () => {
  const result = sized(sizeIncrease(increase(), desk()))
  expect(result.sizeDeltaUsd).toBe(usd(1000))
  // 1000 / 5x = 200 USD; at 0.9997 USD per USDC that is 200.060018...
  expect(result.collateralDelta).toBe(200_060_019n)
  expect(result.referencePrice).toBe(usd(2001))
  expect(result.sizing).toEqual({
    wantedUsd: usd(1000),
    sizeDeltaUsd: usd(1000),
    basis: 'availableLiquidity',
    capacityUsd: usd(100_000),
    roomUsd: usd(100_000),
    cuts: [],
    dataAgeMs: 0,
  })
})

test('a short is sized at the min price and pays with the long token when that backs it', () => {
  const result = sized(sizeIncrease(increase({ direction: 'short', collateralToken: WETH }), desk()))
  expect(result.referencePrice).toBe(usd(1999))
  expect(result.collateralDelta).toBe((200n * 10n ** 18n) / 1999n + 1n)
})

test('without available JIT data the base capacity is the room', () => {
  for (const jitDataStatus of ['stale', 'unavailable', 'unrecognised'] as const) {
    const result = sized(
      sizeIncrease(
        increase({ sizeDeltaUsd: usd(90_000) }),
        desk({ snapshot: withCapacity({ jitDataStatus }) }),
      ),
    )
    expect(result.sizing.basis).toBe('baseAvailableLiquidity')
    expect(result.sizeDeltaUsd).toBe(usd(60_000))
    expect(result.sizing.cuts).toEqual([{ by: 'capacity', toUsd: usd(60_000) }])
  }
})

test('stale market data leaves no room at all, whatever the figures say', () => {
  for (const marketDataStatus of ['stale', 'unrecognised'] as const) {
    expect(sizeIncrease(increase(), desk({ snapshot: withCapacity({ marketDataStatus }) }))).toEqual({
      code: 'MARKET_DATA_STALE',
      reason: 'The venue reports that its data of ETH/USD [WETH-USDC] is stale; increases wait.',
      wanted: 'marketDataStatus fresh',
      allowed: `marketDataStatus ${marketDataStatus}`,
    })
  }
})

test('a capacity reading older than allowed leaves no room', () => {
  const old = desk({ snapshot: withCapacity({}, NOW_MS - 10_001), limits: { maxDataAgeMs: 10_000 } })
  expect(sizeIncrease(increase(), old)).toEqual({
    code: 'CAPACITY_TOO_OLD',
    reason: 'The trading capacity of ETH/USD [WETH-USDC] long is too old to size an order.',
    wanted: '10001 ms old',
    allowed: 'at most 10000 ms',
  })
  const { capacityLong: _, ...none } = marketView()
  expect(sizeIncrease(increase(), desk({ snapshot: snapshot({ view: none }) }))).toMatchObject({
    code: 'CAPACITY_UNKNOWN',
  })
})

test('headroom, our own flight and unexplained orders come off the room', () => {
  const world = snapshot({ orders: [order()] })
  const intents = [intentState({ decision: increase({ sizeDeltaUsd: usd(4700) }) })]
  const result = sized(
    sizeIncrease(
      increase({ sizeDeltaUsd: usd(99_000) }),
      desk({ snapshot: world, intents, limits: { capacityHeadroomBps: 1000 } }),
    ),
  )
  // 100000 - 10 % - 4700 reserved - 300 resting
  expect(result.sizeDeltaUsd).toBe(usd(85_000))
})

test('each limit cuts in its turn and every cut is kept', () => {
  const world = snapshot({ positions: [position({ sizeInUsd: usd(100) })] })
  const result = sized(
    sizeIncrease(
      increase({ sizeDeltaUsd: usd(10_000), leverageBps: 100_000 }),
      desk({
        snapshot: world,
        limits: {
          maxLeverageBps: 50_000,
          maxOrderSizeUsd: usd(3000),
          maxPositionSizeUsd: usd(2500),
          maxTotalExposureUsd: usd(1000),
        },
      }),
    ),
  )
  expect(result.sizing.cuts).toEqual([
    { by: 'maxLeverageBps', toUsd: usd(5000) },
    { by: 'maxOrderSizeUsd', toUsd: usd(3000) },
    { by: 'maxPositionSizeUsd', toUsd: usd(2400) },
    { by: 'maxTotalExposureUsd', toUsd: usd(900) },
  ])
  expect(result.sizeDeltaUsd).toBe(usd(900))
})

test('what a cut leaves too small is denied in the name of that cut', () => {
  const held = snapshot({ positions: [position({ sizeInUsd: usd(2000) })] })
  expect(
    sizeIncrease(increase(), desk({ snapshot: held, limits: { maxPositionSizeUsd: usd(2000) } })),
  ).toEqual({
    code: 'MAX_POSITION_SIZE',
    reason: 'This side of the market has reached its position limit, open orders included.',
    wanted: '$1,000.00',
    allowed: '$0.00',
  })
  expect(
    sizeIncrease(increase(), desk({ snapshot: withCapacity({ availableLiquidity: 0n }) })),
  ).toMatchObject({
    code: 'NO_CAPACITY',
    allowed: '$0.00, but at least $1.00',
  })
  expect(
    sizeIncrease(increase({ sizeDeltaUsd: usd(5) }), desk({ limits: { minOrderSizeUsd: usd(10) } })),
  ).toEqual({
    code: 'ORDER_TOO_SMALL',
    reason: 'The order is below the smallest allowed size.',
    wanted: '$5.00',
    allowed: 'at least $10.00',
  })
})

test('collateral that fees would take below the minimum is denied, unless the position already brings enough', () => {
  const thin = increase({ sizeDeltaUsd: usd(10), leverageBps: 100_000 })
  expect(sizeIncrease(thin, desk())).toEqual({
    code: 'COLLATERAL_BELOW_MINIMUM',
    reason: "The remaining collateral after fees would be below the venue's minimum.",
    wanted: '$1.00 collateral for $10.00',
    allowed: 'at least $1.02 collateral',
  })
  const held = desk({ snapshot: snapshot({ positions: [position()] }) })
  expect(sized(sizeIncrease(thin, held)).sizeDeltaUsd).toBe(usd(10))
})

test('a wish that makes no sense is refused with its reason', () => {
  expect(sizeIncrease(increase({ sizeDeltaUsd: 0n }), desk())).toMatchObject({ code: 'SIZE_NOT_POSITIVE' })
  expect(sizeIncrease(increase({ leverageBps: 1.5 }), desk())).toMatchObject({
    code: 'LEVERAGE_NOT_POSITIVE',
  })
  expect(sizeIncrease(increase({ collateralToken: MARKET }), desk())).toMatchObject({
    code: 'COLLATERAL_TOKEN_UNKNOWN',
  })
  expect(sizeIncrease(increase({ marketToken: OTHER_MARKET }), desk())).toMatchObject({
    code: 'MARKET_UNKNOWN',
  })
  const { oraclePrice: _, ...blind } = marketView()
  expect(sizeIncrease(increase(), desk({ snapshot: snapshot({ view: blind }) }))).toMatchObject({
    code: 'ORACLE_PRICE_UNKNOWN',
  })
  const view = marketView()
  const { minPrice: __, ...unpriced } = view.shortToken
  expect(
    sizeIncrease(increase(), desk({ snapshot: snapshot({ view: { ...view, shortToken: unpriced } }) })),
  ).toMatchObject({ code: 'COLLATERAL_PRICE_UNKNOWN' })
})

const money = (maxUsd: number) => fc.bigInt({ min: 0n, max: BigInt(maxUsd) * ONE_USD })
const worlds = fc.record({
  wantedUsd: money(50_000),
  leverageBps: fc.integer({ min: 1000, max: 2_000_000 }),
  available: money(40_000),
  base: money(40_000),
  jit: fc.constantFrom<JitDataStatus>('available', 'stale', 'unavailable', 'unrecognised'),
  market: fc.constantFrom<MarketDataStatus>('fresh', 'fresh', 'fresh', 'stale', 'unrecognised'),
  ageMs: fc.integer({ min: 0, max: 20_000 }),
  heldUsd: money(10_000),
  reservedUsd: money(10_000),
  collateralIsLong: fc.boolean(),
  price: fc.bigInt({ min: 1n, max: usd(100_000) }),
  maxLeverageBps: fc.integer({ min: 1000, max: 2_000_000 }),
  equityUsd: fc.bigInt({ min: usd(5_000), max: usd(50_000) }),
  limits: fc.record(
    {
      maxPositionSizeUsd: money(30_000),
      maxPositionEquityBps: fc.integer({ min: 1_000, max: 200_000 }),
      maxMarketExposureUsd: money(30_000),
      maxTotalExposureUsd: money(30_000),
      maxExposureEquityBps: fc.integer({ min: 1_000, max: 200_000 }),
      maxCapacityShareBps: fc.integer({ min: 500, max: 10_000 }),
      maxOrderSizeUsd: money(30_000),
      minOrderSizeUsd: money(100),
      maxLeverageBps: fc.integer({ min: 1000, max: 1_000_000 }),
      capacityHeadroomBps: fc.integer({ min: 0, max: 10_000 }),
      maxDataAgeMs: fc.constant(15_000),
    },
    { requiredKeys: [] },
  ),
})

/** Worlds that ask for a distance from the liquidation, too. */
const nearWorlds = fc
  .tuple(worlds, fc.integer({ min: 0, max: 2_000 }))
  .map(([world, minLiquidationDistanceBps]) => ({
    ...world,
    limits: { ...world.limits, minLiquidationDistanceBps },
  }))

type World =
  typeof worlds extends fc.Arbitrary<infer T> ? Omit<T, 'limits'> & { readonly limits: Limits } : never

function deskOf(world: World, available = world.available, base = world.base) {
  const view = marketView({
    capacityLong: {
      value: capacity({
        availableLiquidity: available,
        baseAvailableLiquidity: base,
        jitDataStatus: world.jit,
        marketDataStatus: world.market,
      }),
      atMs: NOW_MS - world.ageMs,
    },
  })
  const priced: typeof view = {
    ...view,
    market: { ...view.market, maxLeverageBps: world.maxLeverageBps },
    longToken: { ...view.longToken, minPrice: world.price },
  }
  return desk({
    snapshot: snapshot({
      view: priced,
      positions: world.heldUsd > 0n ? [position({ sizeInUsd: world.heldUsd })] : [],
    }),
    intents:
      world.reservedUsd > 0n
        ? [intentState({ decision: increase({ sizeDeltaUsd: world.reservedUsd }) })]
        : [],
    limits: world.limits,
    equityUsd: world.equityUsd,
  })
}

function wishOf(world: World) {
  return increase({
    sizeDeltaUsd: world.wantedUsd,
    leverageBps: world.leverageBps,
    collateralToken: world.collateralIsLong ? WETH : USDC,
  })
}

test('no increase is ever above a limit, above the room less headroom, or above its leverage', () => {
  let granted = 0
  fc.assert(
    fc.property(worlds, (world) => {
      const result = sizeIncrease(wishOf(world), deskOf(world))
      if (isDenial(result)) return
      granted++
      const { limits } = world
      const size = result.sizeDeltaUsd
      expect(world.market).toBe('fresh')
      if (limits.maxDataAgeMs !== undefined) expect(world.ageMs).toBeLessThanOrEqual(limits.maxDataAgeMs)
      expect(size > 0n && size <= world.wantedUsd).toBe(true)
      expect(size <= (limits.maxOrderSizeUsd ?? size)).toBe(true)
      expect(size >= (limits.minOrderSizeUsd ?? 0n)).toBe(true)
      const after = world.heldUsd + world.reservedUsd + size
      expect(after <= (limits.maxPositionSizeUsd ?? after)).toBe(true)
      expect(after <= (limits.maxTotalExposureUsd ?? after)).toBe(true)
      expect(after <= (limits.maxMarketExposureUsd ?? after)).toBe(true)
      for (const shareBps of [limits.maxPositionEquityBps, limits.maxExposureEquityBps]) {
        if (shareBps === undefined) continue
        expect(after * BigInt(BPS_ONE) <= world.equityUsd * BigInt(shareBps)).toBe(true)
      }

      const capacityUsd = world.jit === 'available' ? world.available : world.base
      const headroomBps = BigInt(limits.capacityHeadroomBps ?? 0)
      expect((size + world.reservedUsd) * 10_000n <= capacityUsd * (10_000n - headroomBps)).toBe(true)
      const shareBps = BigInt(limits.maxCapacityShareBps ?? 10_000)
      expect(size * 10_000n <= capacityUsd * shareBps).toBe(true)

      const { collateralToken } = result
      const collateralUsd = usdOfAmount(
        result.collateralDelta,
        collateralToken.minPrice ?? 0n,
        collateralToken.decimals,
      )
      const cap = Math.min(
        world.leverageBps,
        world.maxLeverageBps,
        limits.maxLeverageBps ?? world.leverageBps,
      )
      expect(size * BigInt(BPS_ONE) <= collateralUsd * BigInt(cap)).toBe(true)
      // Rounded up by less than one unit: one unit less would be too little.
      const less =
        ((result.collateralDelta - 1n) * (collateralToken.minPrice ?? 0n) * BigInt(cap)) /
        10n ** BigInt(collateralToken.decimals)
      expect(less < size * BigInt(BPS_ONE) + BigInt(cap)).toBe(true)
      const held = world.heldUsd > 0n && !world.collateralIsLong ? usd(200) : 0n
      expect(collateralUsd + held >= usd(1) + (size * BigInt(FEE_MARGIN_BPS)) / 10_000n).toBe(true)
      expect(result.sizing.cuts.at(-1)?.toUsd ?? world.wantedUsd).toBe(size)
    }),
    { seed: SEED, numRuns: 4000 },
  )
  expect(granted).toBeGreaterThan(200)
})

test('more capacity never gives a smaller increase, less never a larger one', () => {
  fc.assert(
    fc.property(fc.oneof(worlds, nearWorlds), money(5000), (world, more) => {
      const sizeAt = (extra: bigint): bigint => {
        const result = sizeIncrease(wishOf(world), deskOf(world, world.available + extra, world.base + extra))
        return isDenial(result) ? 0n : result.sizeDeltaUsd
      }
      expect(sizeAt(more) >= sizeAt(0n)).toBe(true)
    }),
    { seed: SEED, numRuns: 500 },
  )
})

test('a tighter limit never gives a larger increase, but less leverage where that is what was wanting', () => {
  const wantsLess = ['COLLATERAL_BELOW_MINIMUM', 'LIQUIDATION_TOO_NEAR']
  fc.assert(
    fc.property(worlds, nearWorlds, (world, other) => {
      const both = tighten(world.limits, other.limits)
      const sizeWith = (limits: Limits): bigint | undefined => {
        const result = sizeIncrease(wishOf(world), deskOf({ ...world, limits }))
        if (!isDenial(result)) return result.sizeDeltaUsd
        const isMended = limits.maxLeverageBps !== both.maxLeverageBps && wantsLess.includes(result.code)
        return isMended ? undefined : 0n
      }
      const tightened = sizeWith(both) ?? 0n
      for (const looser of [sizeWith(world.limits), sizeWith(other.limits)])
        expect(looser === undefined || tightened <= looser).toBe(true)
    }),
    { seed: SEED, numRuns: 2_000 },
  )
})

test('no increase leaves a position nearer to its liquidation than allowed', () => {
  let granted = 0
  fc.assert(
    fc.property(nearWorlds, fc.bigInt({ min: usd(200), max: usd(9_000) }), (world, marginUsd) => {
      const there = deskOf(world)
      const held = there.snapshot.positions.value.map((row) => ({
        ...row,
        sizeInTokens: row.sizeInUsd / (2_000n * 10n ** 12n),
        markPrice: usd(2_000),
        remainingCollateralUsd: marginUsd,
        netValueUsd: marginUsd,
        liquidationPrice: 0n,
      }))
      const kept = { ...there, snapshot: { ...there.snapshot, positions: { value: held, atMs: NOW_MS } } }
      const leverageBps = 10_000 + (world.leverageBps % 90_000)
      const wish = increase({ sizeDeltaUsd: world.wantedUsd, leverageBps })
      const result = sizeIncrease(wish, kept)
      if (isDenial(result)) return
      granted++
      const view = there.snapshot.markets.get(MARKET.toLowerCase())
      if (view === undefined) throw new Error('no market')
      const size = result.sizeDeltaUsd
      const collateralUsd = usdOfAmount(result.collateralDelta, usd('0.9997'), 6)
      const after = distanceAfterBps(
        {
          position: held[0],
          direction: 'long',
          addedUsd: size,
          addedMarginUsd: collateralUsd - (size * BigInt(FEE_MARGIN_BPS)) / 10_000n,
          isStable: true,
        },
        view,
      )
      // Each of the two was rounded down once.
      expect(after + 1n >= BigInt(world.limits.minLiquidationDistanceBps)).toBe(true)
    }),
    { seed: SEED, numRuns: 5000 },
  )
  expect(granted).toBeGreaterThan(100)
})

test('a close takes the position exactly, and no limit cuts it', () => {
  const held = position({ sizeInUsd: usd(1000) + 7n })
  const result = sizeReduction(
    close() as Parameters<typeof sizeReduction>[0],
    desk({ snapshot: snapshot({ positions: [held] }), limits: { maxOrderSizeUsd: usd(1) } }),
  )
  expect(result).toMatchObject({
    sizeDeltaUsd: usd(1000) + 7n,
    collateralDelta: 0n,
    referencePrice: usd(1999),
    sizing: { wantedUsd: usd(1000) + 7n, cuts: [] },
  })
})

test('a decrease is cut to the position, and takes it whole rather than leave a rest the venue refuses', () => {
  const world = desk({ snapshot: snapshot({ positions: [position()] }) })
  expect(sizeReduction(decrease(usd(400)), world)).toMatchObject({
    sizeDeltaUsd: usd(400),
    sizing: { cuts: [] },
  })
  expect(sizeReduction(decrease(usd(4000)), world)).toMatchObject({
    sizeDeltaUsd: usd(1000),
    sizing: { wantedUsd: usd(4000), cuts: [{ by: 'sizeInUsd', toUsd: usd(1000) }] },
  })
  expect(sizeReduction(decrease(usd('999.5')), world)).toMatchObject({
    sizeDeltaUsd: usd(1000),
    sizing: { cuts: [{ by: 'minPositionSizeUsd', toUsd: usd(1000) }] },
  })
  // The rest of 4 USD would keep 0.80 of the 200 USD collateral; the venue wants 1.
  expect(sizeReduction(decrease(usd(996), true), world)).toMatchObject({
    sizeDeltaUsd: usd(1000),
    sizing: { cuts: [{ by: 'minCollateralUsd', toUsd: usd(1000) }] },
  })
  expect(sizeReduction(decrease(usd(996), false), world)).toMatchObject({ sizeDeltaUsd: usd(996) })
})

test('a reduction of nothing is refused', () => {
  expect(sizeReduction(decrease(usd(1)), desk())).toEqual({
    code: 'NO_POSITION',
    reason: 'There is no long position in ETH/USD [WETH-USDC] with that collateral to reduce.',
  })
  const world = desk({ snapshot: snapshot({ positions: [position()] }) })
  expect(sizeReduction(decrease(0n), world)).toMatchObject({ code: 'SIZE_NOT_POSITIVE' })
})

test('a reduction is never above the position and never leaves less than the smallest position', () => {
  fc.assert(
    fc.property(money(5000), money(6000), fc.boolean(), (heldUsd, wantedUsd, keepLeverage) => {
      const world = desk({ snapshot: snapshot({ positions: [position({ sizeInUsd: heldUsd })] }) })
      const result = sizeReduction(decrease(wantedUsd, keepLeverage), world)
      if (isDenial(result)) {
        expect(heldUsd === 0n || wantedUsd === 0n).toBe(true)
        return
      }
      const rest = heldUsd - result.sizeDeltaUsd
      expect(rest === 0n || rest >= usd(1)).toBe(true)
      expect(result.sizeDeltaUsd > 0n).toBe(true)
    }),
    { seed: SEED, numRuns: 500 },
  )
})
