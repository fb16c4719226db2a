/**
 * Mean reversion: opens against a price that went far from its mean and has begun to turn, and leaves near the mean.
 *
 * One of three signals over closed candles measures the distance: standard deviations (`zscore`), half-widths of the Bollinger bands (`bollinger`),
 * or points from 50 (`rsi`). A stop goes to the venue with each entry. It does not enter while the price still moves away: the newest candle must be
 * nearer to the mean than the one before. It trades by its own part of positions.
 */
import { defined, ifDefined } from '../../base/defined.ts'
import type { Decision } from '../../domain/order/decision.ts'
import type { Candle, Direction } from '../../protocol/market.ts'
import { bpsField, countField } from '../fields.ts'
import { bollinger, rsi, zScore } from '../indicators.ts'
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
    signal: z
      .enum(['zscore', 'bollinger', 'rsi'])
      .default('zscore')
      .describe('measure of the distance of the price from its mean'),
    candles: countField({ min: 2, max: 500 }).default(20).describe('candles that the signal uses'),
    deviations: z
      .number()
      .positive()
      .max(10)
      .default(2)
      .describe('standard deviations in a half-width of bollinger'),
    entry: z
      .number()
      .positive()
      .max(50)
      .default(2)
      .describe('distance that opens: standard deviations, half-widths (1), or points of RSI from 50 (20)'),
    exit: z.number().min(0).max(50).default(0.5).describe('distance at which it closes, in the same unit'),
    stopBps: bpsField({ min: 10, max: 9000 }).default(300).describe('stop, basis points from the entry'),
    sides: sidesField.default('both').describe('sides it may open'),
  })
  .refine((params) => params.exit < params.entry, { path: ['exit'], message: 'less than entry' })

type MeanReversionParams = z.output<typeof schema>

/** The kind `mean-reversion`. */
export const meanReversion = defineStrategy({
  kind: 'mean-reversion',
  description: 'Opens against a price that moved far from its mean and turns, and closes near the mean.',
  params: schema,
  needs: (params, symbols) => ({
    symbols,
    // RSI is smoothed (Wilder): four spans, after which its seed hardly weighs.
    candles: symbols.map((symbol) => ({
      symbol,
      period: params.period,
      limit: Math.min(1000, params.candles * 4 + 2),
    })),
  }),
  decide: (view) =>
    view.instance.symbols.flatMap((symbol) => {
      const decision = decideMarket(view, symbol)
      return decision ? [decision] : []
    }),
  status: (view) => statusOfMarkets(view, (symbol) => statusOf(view, symbol)),
})

/** One line on a market: the distance, and the one that opens or closes. */
function statusOf(view: StrategyView<MeanReversionParams>, symbol: string): MarketLine | undefined {
  const { params } = view
  const { entry, exit, signal, sides } = params
  const scene = sceneOf(view, symbol)
  const candles = scene && freshCandles(view, symbol, params.period)
  const now = candles && distanceOf(candles, params)
  if (scene === undefined || now === undefined)
    return { text: `waits for ${params.period} candles and a price` }
  // RSI is known by its own scale, which has its mean at 50.
  const told = (value: number) => (signal === 'rsi' ? (50 + value).toFixed(0) : value.toFixed(2))
  const facts = { distance: rounded(now) }
  const prices = levelPrices(levelsOf(candles ?? [], params))
  const measure = `${signal === 'rsi' ? 'RSI' : signal} ${told(now)}`
  const [held] = scene.held
  if (held !== undefined) {
    const edge = held.direction === 'long' ? `above ${told(-exit)}` : `below ${told(exit)}`
    return { text: `holds ${held.direction}, ${measure}, closes ${edge}`, facts, prices }
  }
  if (scene.isBusy) return { text: `${measure}, an order is in flight`, facts, prices }
  const isFar = Math.abs(now) >= entry && (sides === 'both' || sides === (now < 0 ? 'long' : 'short'))
  const edges = edgesText(sides, { long: `below ${told(-entry)}`, short: `above ${told(entry)}` })
  return { text: `${measure}, waits for ${isFar ? 'a turn' : edges}`, facts, prices }
}

function decideMarket(view: StrategyView<MeanReversionParams>, symbol: string): Decision | undefined {
  const { params } = view
  const scene = sceneOf(view, symbol)
  if (scene === undefined) return undefined
  const candles = freshCandles(view, symbol, params.period)
  const now = candles && distanceOf(candles, params)
  const before = candles && distanceOf(candles.slice(0, -1), params)
  const facts = defined({ distance: ifDefined(now, rounded) })
  for (const position of scene.held) {
    const { direction } = position
    // A stop needs no candles.
    if (isPastStop(position, scene.price, params.stopBps)) {
      return closeOf(
        scene,
        direction,
        `The price is ${params.stopBps} bps or more against the ${direction} position.`,
        facts,
      )
    }
    if (now === undefined) continue
    if (direction === 'long' ? now >= -params.exit : now <= params.exit) {
      return closeOf(
        scene,
        direction,
        `${symbol} is back near its mean: the ${params.signal} distance is ${now.toFixed(2)}.`,
        facts,
      )
    }
  }
  if (now === undefined || before === undefined) return undefined
  if (scene.isBusy || scene.held.length > 0 || scene.market.status === 'closed') return undefined
  const direction: Direction = now < 0 ? 'long' : 'short'
  const isTurning = Math.abs(now) < Math.abs(before) && now * before > 0
  const mayOpen = params.sides === 'both' || params.sides === direction
  if (Math.abs(now) < params.entry || !isTurning || !mayOpen) return undefined
  return entryOf(
    scene,
    direction,
    `${symbol} is far ${now < 0 ? 'below' : 'above'} its mean and turns: the ${params.signal} distance went from ${before.toFixed(2)} to ${now.toFixed(2)}.`,
    { ...facts, before: rounded(before) },
    stopPriceOf(scene.price, direction, params.stopBps),
  )
}

/** The mean, and the levels on both sides of it at which it opens, USD; none by RSI, which has no price. */
function levelsOf(
  candles: readonly Candle[],
  { signal, candles: length, deviations, entry }: MeanReversionParams,
): Readonly<Record<string, number>> {
  const width = signal === 'bollinger' ? entry * deviations : entry
  const bands = signal === 'rsi' ? undefined : bollinger(candles, length, width)
  return bands === undefined ? {} : { mean: bands.middle, opensLong: bands.lower, opensShort: bands.upper }
}

/** Signed distance from the mean in the signal's unit; undefined with too few candles or a price that does not move. */
function distanceOf(
  candles: readonly Candle[],
  { signal, candles: length, deviations }: MeanReversionParams,
): number | undefined {
  if (signal === 'zscore') return zScore(candles, length)
  if (signal === 'rsi') {
    const value = rsi(candles, length)
    return value === undefined ? undefined : value - 50
  }
  const bands = bollinger(candles, length, deviations)
  const newest = candles.at(-1)
  if (bands === undefined || newest === undefined) return undefined
  const halfWidth = bands.upper - bands.middle
  return halfWidth > 0 ? (newest.close - bands.middle) / halfWidth : undefined
}
