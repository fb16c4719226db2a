/**
 * Trend follower: holds at most one position a market, in the direction of the trend, until the trend turns.
 *
 * The trend's strength is the distance between a fast and a slow average of closed candles, in average true ranges. It enters above `entryStrength`,
 * and leaves only when the strength has turned by `exitStrength` against the position. A price that hovers around the crossing therefore does not
 * make it trade. A turn of the trend first closes the position; the other side is opened on a later tick, when nothing is held or in flight. An open
 * order never keeps it from requesting a close: risk decides whether that may go out again while a first close is unresolved. It trades by its own
 * part of positions; exits that rest for it do not keep it from adding.
 */
import type { Decision, DecisionFacts } from '../../domain/order/decision.ts'
import type { MarketView } from '../../domain/snapshot.ts'
import { sameHex } from '../../protocol/address.ts'
import type { Candle, Direction } from '../../protocol/market.ts'
import type { Usd } from '../../protocol/units.ts'
import { secondsOfPeriod } from '../closedCandles.ts'
import { closedFigures } from '../closedFigures.ts'
import { countField } from '../fields.ts'
import { levelOfPrice } from '../levels.ts'
import { defineStrategy, type OwnPosition, type StrategyView, z } from '../strategy.ts'
import { backingTokenOf } from './shared/marketScene.ts'
import { heldText, levelPrices, type MarketLine, statusOfMarkets } from './shared/marketStatus.ts'

const schema = z
  .strictObject({
    period: z.enum(['1m', '5m', '15m', '1h', '4h', '1d']).default('1m').describe('length of a candle'),
    fastCandles: countField({ min: 2, max: 500 })
      .default(12)
      .describe('candles in the fast average; fewer than slowCandles'),
    slowCandles: countField({ min: 3, max: 900 }).default(48).describe('candles in the slow average'),
    atrCandles: countField({ min: 2, max: 500 })
      .default(14)
      .describe('candles in the average true range (ATR), the unit of the fields below'),
    entryStrength: z
      .number()
      .min(0)
      .max(20)
      .default(0.25)
      .describe('distance between the averages that opens a position, ATRs'),
    exitStrength: z
      .number()
      .min(0)
      .max(20)
      .default(0.25)
      .describe('distance against the position that closes it, ATRs'),
    maxExtension: z
      .number()
      .positive()
      .max(100)
      .default(6)
      .describe(
        'largest distance of the price from the fast average for an entry, ATRs; half of it when the price fell back',
      ),
    stopAtr: z
      .number()
      .positive()
      .max(1000)
      .default(12)
      .describe('loss from the entry price that closes the position, ATRs'),
    takeAtr: z
      .number()
      .positive()
      .max(1000)
      .optional()
      .describe('profit from the entry price that closes the position, ATRs; off when left out'),
    pyramid: countField({ min: 1, max: 10 }).default(1).describe('most orders in one position; 1 never adds'),
  })
  .refine((params) => params.fastCandles < params.slowCandles, {
    path: ['fastCandles'],
    message: 'fewer candles than slowCandles',
  })

type TrendParams = z.output<typeof schema>

interface Signal {
  /** (fast - slow) / ATR: positive when the trend is up. */
  readonly strength: number
  /** (price - fast) / ATR: how far the price has run from the fast average. */
  readonly extension: number
  /** Price and range in USD, for signals. */
  readonly price: number
  readonly range: number
  /** The two averages, USD, for signals. */
  readonly fast: number
  readonly slow: number
  /** Made for those who show them: most turns do not. */
  readonly facts: () => DecisionFacts
}

/** The kind `trend`. */
export const trend = defineStrategy({
  kind: 'trend',
  description: 'Follows the trend of each market: fast over slow average, with a band against flipping.',
  params: schema,
  needs: (params, symbols) => ({
    symbols,
    candles: symbols.map((symbol) => ({
      symbol,
      period: params.period,
      // Four spans of the slow average, after which its seed weighs under 1 %; the oracle serves at most 1000 well.
      limit: Math.min(1000, params.slowCandles * 4 + params.atrCandles + 1),
    })),
  }),
  decide: (view) =>
    view.instance.symbols.flatMap((symbol) => {
      const market = view.market(symbol)
      const decision = market && decideMarket(view, market)
      return decision ? [decision] : []
    }),
  status: (view) => statusOfMarkets(view, (symbol) => statusOf(view, symbol)),
})

/** One line on a market: the strength of its trend, and the strength that it waits for. */
function statusOf(view: StrategyView<TrendParams>, symbol: string): MarketLine | undefined {
  const { params } = view
  const market = view.market(symbol)
  const signal = market && signalOf(view, market)
  if (signal === undefined)
    return { text: `waits for ${params.slowCandles} candles of ${params.period} and a price` }
  const { strength, facts, extension, fast, slow } = signal
  const measure = `strength ${strength.toFixed(2)}`
  const line = (text: string): MarketLine => ({ text, facts: facts(), prices: levelPrices({ fast, slow }) })
  const held = view.ownPositions(symbol).filter(({ sizeInUsd }) => sizeInUsd > 0n)
  const [first] = held
  if (first !== undefined) {
    const edge = first.direction === 'long' ? `below ${-params.exitStrength}` : `above ${params.exitStrength}`
    return line(`${heldText(held)}${measure}, closes ${edge}`)
  }
  if (view.isBusy(symbol)) return line(`${measure}, an order is in flight`)
  const direction: Direction = strength > 0 ? 'long' : 'short'
  if (Math.abs(strength) < params.entryStrength)
    return line(`${measure}, waits for ${params.entryStrength} up or down`)
  return isNearAverage(signal, direction, params.maxExtension)
    ? line(`${measure}, enters ${direction}`)
    : line(
        `${measure}, waits for a price nearer to the average than ${Math.abs(extension).toFixed(1)} ranges`,
      )
}

function decideMarket(view: StrategyView<TrendParams>, market: MarketView): Decision | undefined {
  const { params, instance } = view
  const { size } = instance
  const signal = signalOf(view, market)
  if (size === undefined || signal === undefined) return undefined
  const { marketToken, symbol } = market.market

  const collateralToken = backingTokenOf(view, market, size)
  const held = view
    .ownPositions(symbol)
    .filter((position) => sameHex(position.collateralToken, collateralToken) && position.sizeInUsd > 0n)
  for (const position of held) {
    const reason = reasonToClose(position, signal, params)
    if (reason === undefined) continue
    const { direction } = position
    return { kind: 'close', marketToken, direction, collateralToken, reason, facts: signal.facts() }
  }

  if (view.isBusy(symbol) || market.status === 'closed') return undefined
  const direction: Direction = signal.strength > 0 ? 'long' : 'short'
  const strength = Math.abs(signal.strength)
  if (strength < params.entryStrength || !isNearAverage(signal, direction, params.maxExtension))
    return undefined
  if (held.some((position) => position.direction !== direction)) return undefined
  const position = held[0]
  if (position !== undefined && !mayAdd(position, size.usd, signal, params)) return undefined
  return {
    kind: 'increase',
    marketToken,
    direction,
    sizeDeltaUsd: size.usd,
    leverageBps: size.leverageBps,
    collateralToken,
    reason: `The ${params.period} trend of ${symbol} is ${direction === 'long' ? 'up' : 'down'}: the average of ${params.fastCandles} candles is ${strength.toFixed(2)} average ranges ${direction === 'long' ? 'above' : 'below'} that of ${params.slowCandles}.`,
    facts: signal.facts(),
  }
}

function reasonToClose(position: OwnPosition, signal: Signal, params: TrendParams): string | undefined {
  const sign = position.direction === 'long' ? 1 : -1
  if (signal.strength * sign <= -params.exitStrength) {
    return `The ${params.period} trend turned against the ${position.direction} position, by ${Math.abs(signal.strength).toFixed(2)} average ranges.`
  }
  if (position.entryPrice === undefined) return undefined
  const gained = ((signal.price - levelOfPrice(position.entryPrice)) / signal.range) * sign
  if (gained <= -params.stopAtr) {
    return `The price went ${(-gained).toFixed(1)} average ranges against the ${position.direction} position; the stop is ${params.stopAtr}.`
  }
  if (params.takeAtr !== undefined && gained >= params.takeAtr) {
    return `The price went ${gained.toFixed(1)} average ranges in favour of the ${position.direction} position; the take is ${params.takeAtr}.`
  }
  return undefined
}

/** Not run away with the trend, nor fallen back against it by half as much, as it has just after a stop. */
function isNearAverage(signal: Signal, direction: Direction, maxExtension: number): boolean {
  const withTrend = direction === 'long' ? signal.extension : -signal.extension
  return withTrend <= maxExtension && withTrend >= -maxExtension / 2
}

/** Adds only to a winner, one average range or more ahead, and never above `pyramid` orders in all. */
function mayAdd(position: OwnPosition, orderUsd: Usd, signal: Signal, params: TrendParams): boolean {
  if (position.entryPrice === undefined) return false
  if (position.sizeInUsd + orderUsd > orderUsd * BigInt(params.pyramid)) return false
  const sign = position.direction === 'long' ? 1 : -1
  return ((signal.price - levelOfPrice(position.entryPrice)) / signal.range) * sign >= 1
}

/** Undefined when there are too few candles, they are old, the price is missing, or nothing moves. */
function signalOf(view: StrategyView<TrendParams>, market: MarketView): Signal | undefined {
  const { params, snapshot } = view
  const reading = market.candles
  if (reading === undefined || market.oraclePrice === undefined || reading.value.period !== params.period)
    return undefined
  const closed = closedFigures(reading.value, snapshot.atMs)
  if (isOld(closed.candles, secondsOfPeriod(params.period), snapshot.atMs)) return undefined
  const fast = closed.ema(params.fastCandles)
  const slow = closed.ema(params.slowCandles)
  const range = closed.atr(params.atrCandles)
  if (fast === undefined || slow === undefined || range === undefined || range <= 0) return undefined
  const price = levelOfPrice(market.oraclePrice.value.medianPrice)
  const strength = (fast - slow) / range
  const extension = (price - fast) / range
  const facts = () => ({
    price: rounded(price),
    fast: rounded(fast),
    slow: rounded(slow),
    atr: rounded(range),
    strength: rounded(strength),
    extension: rounded(extension),
  })
  return { strength, extension, price, range, fast, slow, facts }
}

/** Tells whether the newest closed candle ended more than two periods ago. */
function isOld(candles: readonly Candle[], periodSeconds: number, nowMs: number): boolean {
  const newest = candles.at(-1)
  return newest === undefined || nowMs > (newest.timestampSeconds + 3 * periodSeconds) * 1000
}

function rounded(value: number): number {
  return Number(value.toPrecision(6))
}
