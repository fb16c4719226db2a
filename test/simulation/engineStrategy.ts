/**
 * The strategies of a whole daemon in a world: each decisions at its times for what the seed chose, and repeats itself at
 * every tick until the decision is over, as strategies do.
 */
import type { Limits } from '../../src/domain/limits/limits.ts'
import type { Decision } from '../../src/domain/order/decision.ts'
import type { Direction } from '../../src/protocol/market.ts'
import { type Usd, usd } from '../../src/protocol/units.ts'
import type { LoadedStrategy } from '../../src/strategy/files/load.ts'
import { defineStrategy, type StrategyView, z } from '../../src/strategy/strategy.ts'
import { usdc } from '../support/intents.ts'
import { loadedOf } from '../support/loaded.ts'
import { type ModelMarket, modelMarkets } from './engineMarkets.ts'
import type { Random } from './random.ts'

const shapes = [
  'market',
  'market',
  'market',
  'limit',
  'stop-market',
  'twap',
  'exits',
  'decrease',
  'decrease',
  'take-profit',
  'stop-loss',
  'close',
  'close',
  'edit',
  'cancel',
  'collateral-in',
] as const

const opening = ['market', 'market', 'exits', 'limit', 'twap'] as const

/** One decision, and while it lasts. Ms since the world began. */
export interface StrategyWish {
  readonly shape: (typeof shapes)[number]
  readonly fromMs: number
  readonly untilMs: number
  readonly sizeUsd: number
  readonly market: ModelMarket
  readonly direction: Direction
  /** How far from the price what it places lies, bps. */
  readonly awayBps: number
}

/** Where prices hardly move, what waits lies so far away, bps. */
const farBps = 500

/** Decisions of one strategy until `spanMs`. `near`: chance of distances that prices come to. */
export function planWishes(random: Random, spanMs: number, near?: Random): readonly StrategyWish[] {
  return Array.from({ length: random.int(8, 24) }, (_, index) => {
    // What opens comes first: there is nothing to close before.
    const fromMs = index < 3 ? random.int(0, 20_000) : random.int(0, spanMs)
    return {
      shape: index < 3 ? random.pick(opening) : random.pick(shapes),
      fromMs,
      untilMs: fromMs + random.int(8_000, 60_000),
      sizeUsd: random.pick([150, 500, 500, 1_500, 4_000]),
      market: random.pick(modelMarkets.slice(0, random.int(1, 3))),
      direction: random.chance(0.7) ? 'long' : 'short',
      awayBps: near === undefined ? farBps : near.int(10, 120),
    }
  })
}

/** A price of so many bps of another. */
function at(price: Usd, basisPoints: number): Usd {
  return (price * BigInt(basisPoints)) / 10_000n
}

function decisionOf(wish: StrategyWish, view: StrategyView): Decision | undefined {
  const { shape, direction, sizeUsd, market, awayBps } = wish
  const price = view.market(market.symbol)?.oraclePrice?.value.medianPrice
  if (price === undefined) return undefined
  const side = { marketToken: market.marketToken, direction, reason: `the seed wishes for ${shape}` } as const
  const isLong = direction === 'long'
  const below = at(price, isLong ? 10_000 - awayBps : 10_000 + awayBps)
  const above = at(price, isLong ? 10_000 + awayBps : 10_000 - awayBps)
  const increase = {
    ...side,
    kind: 'increase',
    sizeDeltaUsd: usd(sizeUsd),
    leverageBps: 20_000,
    collateralToken: usdc,
  } as const
  const decrease = {
    ...side,
    kind: 'decrease',
    sizeDeltaUsd: usd(sizeUsd),
    collateralToken: usdc,
    keepLeverage: false,
  } as const
  const resting = view.restingOrders.find(
    (order) =>
      !order.isChanging &&
      order.direction === direction &&
      order.marketToken.toLowerCase() === market.marketToken.toLowerCase(),
  )
  switch (shape) {
    case 'market':
      return increase
    case 'limit':
      return { ...increase, orderType: 'limit', triggerPrice: below }
    case 'stop-market':
      return { ...increase, orderType: 'stop-market', triggerPrice: above }
    case 'twap':
      return { ...increase, orderType: 'twap', twap: { parts: 3, durationSeconds: 60 } }
    case 'exits':
      return {
        ...increase,
        tpsl: [
          { type: 'take-profit', triggerPrice: above },
          { type: 'stop-loss', triggerPrice: below, shareBps: 5_000 },
        ],
      }
    case 'decrease':
      return decrease
    case 'take-profit':
      return { ...decrease, orderType: 'take-profit', triggerPrice: above }
    case 'stop-loss':
      return { ...decrease, orderType: 'stop-loss', triggerPrice: below }
    case 'close':
      return { ...side, kind: 'close', collateralToken: usdc }
    case 'edit': {
      if (resting?.triggerPrice === undefined) return undefined
      return {
        ...side,
        kind: 'edit',
        orderKey: resting.orderKey,
        triggerPrice: at(resting.triggerPrice, 9_990),
      }
    }
    case 'cancel':
      return resting === undefined ? undefined : { ...side, kind: 'cancel', orderKeys: [resting.orderKey] }
    case 'collateral-in':
      return { ...side, kind: 'collateral-in', collateralToken: usdc, amount: 10_000_000n }
  }
}

/** A running strategy with its decisions; `isOver` keeps it quiet from then on. */
export function strategyOf(parts: {
  readonly name: string
  readonly wishes: readonly StrategyWish[]
  readonly limits: Limits
  readonly cadenceMs: number
  readonly nowMs: () => number
  readonly isOver: () => boolean
}): LoadedStrategy {
  const { name, wishes, limits, cadenceMs, nowMs, isOver } = parts
  const symbols = modelMarkets.map(({ symbol }) => symbol)
  const strategy = defineStrategy({
    kind: 'seeded',
    description: 'Wishes for what the seed chose.',
    params: z.strictObject({}),
    needs: () => ({ symbols }),
    decide: (view) =>
      wishes.flatMap((wish) => {
        const isDue = !isOver() && wish.fromMs <= nowMs() && nowMs() < wish.untilMs
        return (isDue ? decisionOf(wish, view) : undefined) ?? []
      }),
  })
  return loadedOf(strategy, name, symbols, {
    instance: { name, symbols, size: { usd: usd(500), leverageBps: 20_000, collateral: 'short' } },
    cadenceMs,
    limits,
  })
}

/** Where an eager strategy enters. */
interface EagerSide {
  readonly market: ModelMarket
  readonly direction: Direction
}

/** A side by chance. */
function eagerSide(random: Random): EagerSide {
  return { market: random.pick(modelMarkets), direction: random.chance(0.5) ? 'long' : 'short' }
}

/** A strategy that holds something on one side all the time: it enters whenever no entry of its own is open, and at times adds or reduces. */
function eagerOf(parts: {
  readonly name: string
  readonly random: Random
  readonly side: EagerSide
  readonly spanMs: number
  readonly nowMs: () => number
  readonly isOver: () => boolean
}): LoadedStrategy {
  const { name, random, spanMs, nowMs, isOver } = parts
  const { market, direction } = parts.side
  const sizeUsd = random.pick([200, 500])
  const wishOf = (shape: StrategyWish['shape'], fromMs = 0): StrategyWish => ({
    ...{ shape, fromMs, untilMs: fromMs + 12_000, market, direction },
    sizeUsd: shape === 'decrease' ? sizeUsd / 2 : sizeUsd,
    awayBps: random.int(5, 40),
  })
  const nudges = Array.from({ length: random.int(0, 4) }, () =>
    wishOf(
      random.pick(['market', 'limit', 'decrease', 'decrease', 'close'] as const),
      random.int(20_000, spanMs),
    ),
  )
  const entry = wishOf(random.chance(0.8) ? 'market' : 'limit')
  const symbols = [market.symbol]
  const strategy = defineStrategy({
    kind: 'eager',
    description: 'Enters again as soon as nothing of its own is open.',
    params: z.strictObject({}),
    needs: () => ({ symbols }),
    decide(view) {
      if (isOver()) return []
      const due = nudges.filter(({ fromMs, untilMs }) => fromMs <= nowMs() && nowMs() < untilMs)
      const isIn = view.openIntents.some((open) => open.kind === 'increase' && open.direction === direction)
      return [...(isIn ? [] : [entry]), ...due].flatMap((wish) => decisionOf(wish, view) ?? [])
    },
  })
  return loadedOf(strategy, name, symbols, {
    instance: { name, symbols, size: { usd: usd(sizeUsd), leverageBps: 20_000, collateral: 'short' } },
    cadenceMs: random.pick([3_000, 4_000, 5_000]),
  })
}

/** The eager strategies of a world: one, in a lively world up to three, as a rule on the same side, and in a crowded one three on one side. */
export function eagersOf(
  parts: Omit<Parameters<typeof eagerOf>[0], 'name' | 'side'> & {
    readonly isLively: boolean
    readonly isCrowded: boolean
  },
): readonly LoadedStrategy[] {
  const { random, isLively, isCrowded } = parts
  const side = eagerSide(random)
  const most = isCrowded ? 3 : isLively ? random.int(1, 3) : 1
  return ['eager', 'keen', 'rash'].slice(0, most).map((name, at) => {
    const isThere = at === 0 || isCrowded || random.chance(0.7)
    return eagerOf({ ...parts, name, side: isThere ? side : eagerSide(random) })
  })
}
