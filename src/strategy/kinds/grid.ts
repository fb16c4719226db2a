/**
 * Grid: rests limit orders on fixed price lines on the losing side of the price, and closes each fill with a profit.
 *
 * Lines lie at whole multiples of `stepUsd`, so that no memory is needed: resting orders, positions and orders in flight show which lines are taken.
 * Up to `levels` orders of a side rest or are filled at once. A fill gets a take-profit and a stop-loss that rest at the venue, which closes the
 * position also while perpd is down. Without `stopBps` the stop lies a step beyond the whole grid, counted from the averaged entry, so that the loss
 * of a side is bounded. Orders that the price has left behind, and frozen orders, are cancelled. With `direction: both` longs rest below the price
 * and shorts above it: two positions at this venue, each with its own orders, exits and `levels`. It trades by its own parts of positions.
 */
import { defined } from '../../base/defined.ts'
import type { MarketSide } from '../../domain/accountRecords/accountRecord.ts'
import { type ExitPlan, type ExitType, keepExits, type PlannedExits, sumOf } from '../../domain/exitKeeper.ts'
import type { Decision, DecisionFacts } from '../../domain/order/decision.ts'
import type { MarketView } from '../../domain/snapshot.ts'
import { sameHex } from '../../protocol/address.ts'
import type { Direction } from '../../protocol/market.ts'
import { formatExactPrice, formatPrice } from '../../protocol/priceText.ts'
import { bps, MAX_UINT256, maxOf, minOf, type Usd } from '../../protocol/units.ts'
import { bpsField, countField, usdField } from '../fields.ts'
import type { RestingOrder } from '../resting.ts'
import { defineStrategy, type OrderSize, type OwnPosition, type StrategyView, z } from '../strategy.ts'
import { backingTokenOf } from './shared/marketScene.ts'
import { heldText, statusOfMarkets } from './shared/marketStatus.ts'

const schema = z.strictObject({
  direction: z
    .enum(['long', 'short', 'both'])
    .default('long')
    .describe('long: orders below the price; short: above it; both: either, as two positions'),
  stepUsd: usdField().describe('distance between two lines, US dollars; lines lie at its whole multiples'),
  levels: countField({ min: 1, max: 20 })
    .default(3)
    .describe('most orders of a side that rest or are filled at once'),
  takeProfitBps: bpsField({ min: 5, max: 5000 })
    .default(100)
    .describe('distance from the entry price at which a fill closes with a profit'),
  stopBps: bpsField({ min: 10, max: 9000 })
    .optional()
    .describe(
      'distance from the average entry at which a side closes with a loss; levels + 1 steps when left out',
    ),
})

type GridParams = z.output<typeof schema>

/** The kind `grid`. */
export const grid = defineStrategy({
  kind: 'grid',
  description: 'Places resting limit orders on price lines, and a resting take-profit for each fill.',
  params: schema,
  needs: (_params, symbols) => ({ symbols }),
  decide: (view) =>
    view.instance.symbols.flatMap((symbol) => {
      const market = view.market(symbol)
      const { size } = view.instance
      if (market === undefined || size === undefined) return []
      return sidesOf(view.params).flatMap((side) => {
        const scene = sceneOfSide(view, market, size, side)
        return scene === undefined ? [] : decideSide(scene)
      })
    }),
  status: (view) =>
    statusOfMarkets(view, (symbol) => {
      const market = view.market(symbol)
      const price = market?.oraclePrice?.value.medianPrice
      if (market === undefined || price === undefined) return { text: 'waits for a price' }
      const resting = view.restingOrders.filter(({ marketToken }) =>
        sameHex(marketToken, market.market.marketToken),
      )
      const lines = resting.filter(({ orderType }) => orderType === 'limit').length
      const held = view.ownPositions(symbol).filter(({ sizeInUsd }) => sizeInUsd > 0n)
      const facts = { price: formatPrice(price), lines, exits: resting.length - lines }
      return {
        text: `${heldText(held)}price ${formatPrice(price)}, ${lines} lines and ${facts.exits} exits rest`,
        facts,
        prices: nearestLines(view, market),
      }
    }),
})

function sidesOf({ direction }: GridParams): readonly Direction[] {
  return direction === 'both' ? ['long', 'short'] : [direction]
}

/** The nearest price line of each side on which an order may rest; of a side that is full there is none. */
function nearestLines(view: StrategyView<GridParams>, market: MarketView): Readonly<Record<string, Usd>> {
  const { size } = view.instance
  const lines = sidesOf(view.params).flatMap((side) => {
    const scene = size && sceneOfSide(view, market, size, side)
    if (scene === undefined) return []
    const filled = filledLevels(scene)
    const [nearest] = linesOf(scene, filled, view.params.levels - filled)
    return nearest === undefined ? [] : [[`${side}Line`, nearest] as const]
  })
  return Object.fromEntries(lines)
}

/** Facts for one side of a market's grid. */
interface Scene {
  readonly params: GridParams
  readonly direction: Direction
  readonly market: MarketView
  readonly size: OrderSize
  readonly collateralToken: `0x${string}`
  readonly price: Usd
  readonly position: OwnPosition | undefined
  /** This side's resting orders of the instance. */
  readonly resting: readonly RestingOrder[]
  /** This side's intents of the instance that show no resting order. */
  readonly onTheWay: StrategyView['openIntents']
}

/** Undefined where the market has no price. */
function sceneOfSide(
  view: StrategyView<GridParams>,
  market: MarketView,
  size: OrderSize,
  direction: Direction,
): Scene | undefined {
  const { params } = view
  const price = market.oraclePrice?.value.medianPrice
  if (price === undefined || price <= 0n) return undefined
  const { marketToken, symbol } = market.market
  const isHere = (order: { readonly marketToken: string; readonly direction: Direction }) =>
    sameHex(order.marketToken, marketToken) && order.direction === direction
  const resting = view.restingOrders.filter(isHere)
  const shown = new Set(resting.map(({ intentId }) => intentId))
  const collateralToken = backingTokenOf(view, market, size, direction)
  return {
    params,
    direction,
    market,
    size,
    collateralToken,
    price,
    position: view
      .ownPositions(symbol, direction)
      .find((held) => sameHex(held.collateralToken, collateralToken)),
    resting,
    onTheWay: view.openIntents.filter((open) => isHere(open) && !shown.has(open.intentId)),
  }
}

function decideSide(scene: Scene): readonly Decision[] {
  const exits = exitsOf(scene)
  // The position has priority; the next tick continues.
  return exits.length > 0 ? exits : entriesOf(scene)
}

/** Keeps a target and a stop for all of the position. */
function exitsOf(scene: Scene): readonly Decision[] {
  const { position, params, direction, resting, onTheWay, market, price } = scene
  if (position?.entryPrice === undefined) return []
  const { entryPrice: entry } = position
  const isLong = direction === 'long'
  const [gain, loss] = [bps(entry, params.takeProfitBps), stopWay(entry, params)]
  const { marketToken, collateralToken, sizeInUsd: sizeUsd } = position
  // An exit that came with a line is of that line while it waits.
  const waiting = new Set(
    resting.flatMap(({ orderType, intentId }) => (orderType === 'limit' ? [intentId] : [])),
  )
  const own = resting.filter(({ intentId }) => !waiting.has(intentId))
  // A close in flight covers all of it.
  const isClosing = onTheWay.some(
    ({ kind, orderType }) => kind === 'close' || (kind === 'decrease' && orderType === 'market'),
  )
  const elsewhere = [...resting.filter(({ intentId }) => waiting.has(intentId)), ...onTheWay]
  const plannedOf = (type: ExitType, triggerPrice: Usd): PlannedExits => {
    const facts = () => factsOf(price, { entry, trigger: triggerPrice })
    const reason = `The price is already past the ${type} of the last fill.`
    return {
      ...{ type, keepsLeverage: true, levels: isClosing ? [] : [{ triggerPrice, facts }] },
      elsewhereUsd: sumOf(elsewhere.filter(({ orderType }) => orderType === type)),
      past: { action: 'reduce', keepsLeverage: true, why: () => ({ reason, facts: facts() }) },
    }
  }
  // An order in flight may fill the position up, or be the change itself: nothing is made smaller then.
  const isBusy = onTheWay.length > 0 || own.some(({ isChanging }) => isChanging)
  const plan: ExitPlan = {
    ...{ owner: 'this grid', side: { marketToken, direction, collateralToken } },
    ...{ sizeUsd, mostUsd: isBusy ? MAX_UINT256 : sizeUsd, toleranceBps: 0 },
    exits: [
      plannedOf('take-profit', isLong ? entry + gain : entry - gain),
      plannedOf('stop-loss', isLong ? entry - loss : entry + loss),
    ],
  }
  return keepExits(plan, { resting: own, price, leastUsd: market.market.minPositionSizeUsd })
}

function cancelOf(
  base: MarketSide,
  orders: readonly RestingOrder[],
  reason: string,
  facts?: DecisionFacts,
): readonly Decision[] {
  if (orders.length === 0) return []
  const orderKeys = orders.map(({ orderKey }) => orderKey)
  return [{ ...base, kind: 'cancel', orderKeys, reason, ...defined({ facts }) }]
}

/** The furthest stop, bps of the entry: a long cannot lose more than all. */
const FURTHEST_STOP_BPS = 9_000

/** Way from the averaged entry to the stop, USD per whole index token. */
function stopWay(entry: Usd, { stopBps, stepUsd, levels }: GridParams): Usd {
  const furthest = bps(entry, FURTHEST_STOP_BPS)
  return stopBps === undefined ? minOf(stepUsd * BigInt(levels + 1), furthest) : bps(entry, stopBps)
}

/** The next line without an order, and the orders on lines that are no longer wanted. */
function entriesOf(scene: Scene): readonly Decision[] {
  const { market, params, direction, size, collateralToken, price, resting, onTheWay } = scene
  const base = { marketToken: market.market.marketToken, direction } as const
  const entries = resting.filter(({ orderType }) => orderType === 'limit')
  const filled = filledLevels(scene)
  const wanted = params.levels - filled
  const lines = linesOf(scene, filled, wanted)
  // One line more is let be, so that a price that hovers at a line does not make it trade.
  const furthest = linesOf(scene, filled, wanted + 1).at(-1) ?? price
  const isLeft = ({ triggerPrice, isFrozen, ...order }: RestingOrder) =>
    isFrozen ||
    !sameHex(order.collateralToken, collateralToken) ||
    (triggerPrice !== undefined && (direction === 'long' ? triggerPrice < furthest : triggerPrice > furthest))
  const left = entries.filter((order) => !order.isChanging && isLeft(order))
  const cancel = cancelOf(
    base,
    left,
    `The price has left ${left.length === 1 ? 'an order' : `${left.length} orders`} of the grid out of range.`,
    factsOf(price, { furthest }),
  )
  const isBusy = onTheWay.some(({ kind }) => kind === 'increase')
  const free = lines.find((line) => !entries.some(({ triggerPrice }) => triggerPrice === line))
  if (isBusy || free === undefined || entries.length + filled >= params.levels || market.status === 'closed')
    return cancel
  return [
    ...cancel,
    {
      ...base,
      kind: 'increase',
      orderType: 'limit',
      triggerPrice: free,
      sizeDeltaUsd: size.usd,
      leverageBps: size.leverageBps,
      collateralToken,
      reason: `The line at ${formatExactPrice(free)} has no order.`,
      facts: factsOf(price, { line: free }),
    },
  ]
}

/** Orders that the position stands for, rounded up. */
function filledLevels({ position, size }: Scene): number {
  return position === undefined ? 0 : Number((position.sizeInUsd + size.usd - 1n) / size.usd)
}

/** Returns the first `count` lines, nearest first, that are clear of the price and of fills. */
function linesOf(
  { params, direction, price, position }: Scene,
  filled: number,
  count: number,
): readonly Usd[] {
  const { stepUsd } = params
  const isLong = direction === 'long'
  // Fills lie a step apart around their average, so that the furthest is half of them away from it.
  const entry = position?.entryPrice
  const spread = (stepUsd * BigInt(Math.max(0, filled - 1))) / 2n
  const last = entry === undefined ? price : isLong ? entry - spread : entry + spread
  const from = isLong ? minOf(price, last) : maxOf(price, last)
  const clear = isLong ? from - stepUsd / 4n : from + stepUsd / 4n
  const nearest = isLong ? clear / stepUsd : clear / stepUsd + 1n
  const lines = Array.from({ length: Math.max(0, count) }, (_none, index) =>
    isLong ? (nearest - BigInt(index)) * stepUsd : (nearest + BigInt(index)) * stepUsd,
  )
  return lines.filter((line) => line > 0n)
}

function factsOf(price: Usd, prices: Readonly<Record<string, Usd | undefined>>): DecisionFacts {
  const all = Object.entries({ price, ...prices })
  return Object.fromEntries(
    all.flatMap(([name, value]) => (value === undefined ? [] : [[name, formatPrice(value)]])),
  )
}
