/**
 * Breakout: opens when the price leaves the channel of the last candles (Donchian), and leaves when it falls back through a shorter one.
 *
 * The channel is of closed candles, so that the price can be outside of it. The stop that goes to the venue with an entry lies at the edge of the
 * shorter channel, but at most `stopBps` away. If the running candle has been beyond the other edge of the shorter channel too, nothing is opened
 * before it is over. It trades by its own part of positions.
 */
import type { Decision } from '../../domain/order/decision.ts'
import type { Candle, CandlePeriod, Direction } from '../../protocol/market.ts'
import { maxOf, minOf } from '../../protocol/units.ts'
import { bpsField, countField } from '../fields.ts'
import { closedCandles, highest, lowest } from '../indicators.ts'
import { levelOfPrice, priceOfLevel } from '../levels.ts'
import { defineStrategy, type StrategyView, z } from '../strategy.ts'
import {
  closeOf,
  entryOf,
  freshCandles,
  isPastStop,
  periodField,
  rounded,
  sceneOf,
  sidesField,
  stopPriceOf,
} from './shared/marketScene.ts'
import { edgesText, levelPrices, type MarketLine, statusOfMarkets } from './shared/marketStatus.ts'

const schema = z
  .strictObject({
    period: periodField.default('5m').describe('length of a candle'),
    entryCandles: countField({ min: 2, max: 900 })
      .default(48)
      .describe('candles of the channel that it must leave'),
    exitCandles: countField({ min: 1, max: 900 })
      .default(24)
      .describe('candles of the channel that closes it'),
    bufferBps: bpsField({ max: 1000 }).default(5).describe('basis points beyond the channel before it opens'),
    stopBps: bpsField({ min: 10, max: 9000 })
      .default(400)
      .describe('furthest stop, basis points from the entry'),
    sides: sidesField.default('both').describe('sides it may open'),
  })
  .refine((params) => params.exitCandles < params.entryCandles, {
    path: ['exitCandles'],
    message: 'fewer candles than entryCandles',
  })

type BreakoutParams = z.output<typeof schema>

/** The kind `breakout`. */
export const breakout = defineStrategy({
  kind: 'breakout',
  description:
    'Opens when the price leaves the channel of the last candles, and leaves through a shorter channel.',
  params: schema,
  needs: (params, symbols) => ({
    symbols,
    candles: symbols.map((symbol) => ({ symbol, period: params.period, limit: params.entryCandles + 2 })),
  }),
  decide: (view) =>
    view.instance.symbols.flatMap((symbol) => {
      const decision = decideMarket(view, symbol)
      return decision ? [decision] : []
    }),
  status: (view) => statusOfMarkets(view, (symbol) => statusOf(view, symbol)),
})

/** One line on a market: the price, and the edges of the channel that it waits for. */
function statusOf(view: StrategyView<BreakoutParams>, symbol: string): MarketLine | undefined {
  const { params } = view
  const scene = sceneOf(view, symbol)
  const candles = scene && freshCandles(view, symbol, params.period)
  const [held] = scene?.held ?? []
  const span = held === undefined ? params.entryCandles : params.exitCandles
  const top = candles && highest(candles, span)
  const bottom = candles && lowest(candles, span)
  if (scene === undefined || top === undefined || bottom === undefined)
    return { text: `waits for ${span} candles of ${params.period} and a price` }
  const price = levelOfPrice(scene.price)
  const facts = { price: rounded(price), top: rounded(top), bottom: rounded(bottom) }
  const prices = levelPrices({ top, bottom })
  if (held !== undefined) {
    const edge = held.direction === 'long' ? `below ${rounded(bottom)}` : `above ${rounded(top)}`
    return { text: `holds ${held.direction}, price ${rounded(price)}, closes ${edge}`, facts, prices }
  }
  const share = params.bufferBps / 10_000
  const edges = edgesText(params.sides, {
    long: `above ${rounded(top * (1 + share))}`,
    short: `below ${rounded(bottom * (1 - share))}`,
  })
  return {
    text: `price ${rounded(price)}, ${scene.isBusy ? 'an order is in flight' : `waits for ${edges}`}`,
    facts,
    prices,
  }
}

function decideMarket(view: StrategyView<BreakoutParams>, symbol: string): Decision | undefined {
  const { params } = view
  const scene = sceneOf(view, symbol)
  if (scene === undefined) return undefined
  const price = levelOfPrice(scene.price)
  const candles = freshCandles(view, symbol, params.period) ?? []
  const floor = lowest(candles, params.exitCandles)
  const ceiling = highest(candles, params.exitCandles)
  for (const position of scene.held) {
    const { direction } = position
    if (isPastStop(position, scene.price, params.stopBps)) {
      return closeOf(
        scene,
        direction,
        `The price is ${params.stopBps} bps or more against the ${direction} position.`,
        { price: rounded(price) },
      )
    }
    const edge = direction === 'long' ? floor : ceiling
    if (edge === undefined || (direction === 'long' ? price >= edge : price <= edge)) continue
    return closeOf(
      scene,
      direction,
      `${symbol} fell back through the channel of ${params.exitCandles} candles.`,
      { price: rounded(price), edge: rounded(edge) },
    )
  }
  const top = highest(candles, params.entryCandles)
  const bottom = lowest(candles, params.entryCandles)
  if (top === undefined || bottom === undefined || floor === undefined || ceiling === undefined)
    return undefined
  if (scene.isBusy || scene.held.length > 0 || scene.market.status === 'closed') return undefined
  const share = params.bufferBps / 10_000
  const direction: Direction | undefined =
    price > top * (1 + share) ? 'long' : price < bottom * (1 - share) ? 'short' : undefined
  if (direction === undefined || (params.sides !== 'both' && params.sides !== direction)) return undefined
  // A price that left a channel the other way within this very candle waits for the next: a swinging price must not be followed at each turn.
  const running = runningCandle(view, symbol, params.period)
  const isSwinging =
    direction === 'long' ? (running?.low ?? floor) < floor : (running?.high ?? ceiling) > ceiling
  if (isSwinging) return undefined
  const furthest = stopPriceOf(scene.price, direction, params.stopBps)
  const stopPrice =
    direction === 'long' ? maxOf(furthest, priceOfLevel(floor)) : minOf(furthest, priceOfLevel(ceiling))
  return entryOf(
    scene,
    direction,
    `${symbol} is ${direction === 'long' ? 'above the high' : 'below the low'} of the last ${params.entryCandles} candles.`,
    { price: rounded(price), top: rounded(top), bottom: rounded(bottom) },
    stopPrice,
  )
}

/** The candle that is not over yet; undefined where the venue shows none. */
function runningCandle(view: StrategyView, symbol: string, period: CandlePeriod): Candle | undefined {
  const rows = view.candles(symbol, period)?.value ?? []
  const over = new Set(closedCandles(rows, period, view.snapshot.atMs))
  return rows.findLast((row) => !over.has(row))
}
