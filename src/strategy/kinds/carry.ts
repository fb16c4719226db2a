/**
 * Carry: holds the side that the market pays for being held, while it pays enough for the cost of opening and closing.
 *
 * A side earns the ticker's net rate: funding received less borrowing paid. It opens when the rate is at least `enterBpsPerDay` and earns `costBps`
 * (fees, price impact and sending of the way in and out) within `holdHours`. It leaves below `exitBpsPerDay`, so that a rate at the edge does not
 * make it trade. No view shows the cost of sending, so the file states it, by the size of its orders. The price is not hedged: each entry brings a
 * stop. It trades by its own part of positions.
 */
import { defined } from '../../base/defined.ts'
import type { Decision } from '../../domain/order/decision.ts'
import { isFresh } from '../../domain/snapshot.ts'
import type { Direction } from '../../protocol/market.ts'
import { bpsField, countField, secondsField } from '../fields.ts'
import { defineStrategy, type StrategyView, z } from '../strategy.ts'
import {
  closeOf,
  entryOf,
  isPastStop,
  rounded,
  sceneOf,
  sidesField,
  stopPriceOf,
} from './shared/marketScene.ts'
import { type MarketLine, statusOfMarkets } from './shared/marketStatus.ts'
import { milliBpsPerDay, rateText } from './shared/netRate.ts'

const schema = z
  .strictObject({
    enterBpsPerDay: bpsField({ min: 1, max: 5000 })
      .default(16)
      .describe('net rate that opens, basis points of the size a day'),
    exitBpsPerDay: bpsField({ max: 5000 })
      .default(3)
      .describe('net rate below which it closes, in the same unit'),
    costBps: bpsField({ max: 1000 })
      .default(48)
      .describe(
        'all costs of opening and closing, basis points of the size: fees (12), price impact, and sending, about 1 US dollar: 34 of 300, 10 of 1000',
      ),
    holdHours: countField({ min: 1, max: 2160 })
      .default(72)
      .describe('hours within which the rate must earn costBps'),
    stopBps: bpsField({ min: 10, max: 9000 }).default(500).describe('stop, basis points from the entry'),
    maxRateAgeSeconds: secondsField({ min: 1, max: 3600 })
      .default(60_000)
      .describe('greatest age of the rates that it uses, seconds (60)'),
    sides: sidesField.default('both').describe('sides it may open'),
  })
  .refine((params) => params.exitBpsPerDay < params.enterBpsPerDay, {
    path: ['exitBpsPerDay'],
    message: 'fewer basis points than enterBpsPerDay',
  })

type CarryParams = z.output<typeof schema>

/** The kind `carry`. */
export const carry = defineStrategy({
  kind: 'carry',
  description: 'Holds the side that earns funding after borrowing, while that pays for opening and closing.',
  params: schema,
  needs: (_params, symbols) => ({ symbols }),
  decide: (view) =>
    view.instance.symbols.flatMap((symbol) => {
      const decision = decideMarket(view, symbol)
      return decision ? [decision] : []
    }),
  status: (view) => statusOfMarkets(view, (symbol) => statusOf(view, symbol)),
})

/** One line on a market: what holding earns, and the rate that it waits for. */
function statusOf(view: StrategyView<CarryParams>, symbol: string): MarketLine | undefined {
  const { params, snapshot } = view
  const scene = sceneOf(view, symbol)
  const reading = scene?.market.ticker
  if (scene === undefined || reading === undefined || !isFresh(snapshot, reading, params.maxRateAgeSeconds))
    return { text: 'waits for a fresh rate and a price' }
  const rateOf = (direction: Direction) => Number(milliBpsPerDay(reading.value, direction)) / 1000
  const [held] = scene.held
  if (held !== undefined) {
    const rate = rateOf(held.direction)
    const text = `holds ${held.direction}, earns ${rate} bps a day, closes below ${params.exitBpsPerDay}`
    return { text, facts: { netBpsPerDay: rate } }
  }
  const sides = params.sides === 'both' ? (['long', 'short'] as const) : [params.sides]
  const rates = sides.map((direction) => ({ direction, rate: rateOf(direction) }))
  const best = rates.toSorted((one, other) => other.rate - one.rate)[0]
  if (best === undefined) return undefined
  const least = Math.max(params.enterBpsPerDay, (params.costBps * 24) / params.holdHours)
  const next = scene.isBusy ? 'an order is in flight' : `waits for ${rounded(least)}`
  return {
    text: `${best.direction} earns ${best.rate} bps a day, ${next}`,
    facts: { netBpsPerDay: best.rate },
  }
}

function decideMarket(view: StrategyView<CarryParams>, symbol: string): Decision | undefined {
  const { params, snapshot } = view
  const scene = sceneOf(view, symbol)
  if (scene === undefined) return undefined
  const reading = scene.market.ticker
  const isUsable = reading !== undefined && isFresh(snapshot, reading, params.maxRateAgeSeconds)
  const rateOf = (direction: Direction) => (isUsable ? milliBpsPerDay(reading.value, direction) : undefined)
  for (const position of scene.held) {
    const { direction } = position
    const rate = rateOf(direction)
    const facts = defined({ netBpsPerDay: rate === undefined ? undefined : Number(rate) / 1000 })
    if (isPastStop(position, scene.price, params.stopBps)) {
      return closeOf(
        scene,
        direction,
        `The price is ${params.stopBps} bps or more against the ${direction} position.`,
        facts,
      )
    }
    if (rate === undefined || rate >= BigInt(params.exitBpsPerDay) * 1000n) continue
    return closeOf(
      scene,
      direction,
      `Holding ${symbol} ${direction} earns ${rateText(rate)} bps a day; below ${params.exitBpsPerDay} it is closed.`,
      facts,
    )
  }
  if (scene.isBusy || scene.held.length > 0 || scene.market.status === 'closed') return undefined
  const sides = params.sides === 'both' ? (['long', 'short'] as const) : [params.sides]
  const best = sides
    .flatMap((direction) => {
      const rate = rateOf(direction)
      return rate === undefined ? [] : [{ direction, rate }]
    })
    .sort((one, other) => (one.rate === other.rate ? 0 : one.rate > other.rate ? -1 : 1))[0]
  if (best === undefined || best.rate < BigInt(params.enterBpsPerDay) * 1000n) return undefined
  const earnsCost = best.rate * BigInt(params.holdHours) >= BigInt(params.costBps) * 24_000n
  if (!earnsCost) return undefined
  return entryOf(
    scene,
    best.direction,
    `Holding ${symbol} ${best.direction} earns ${rateText(best.rate)} bps a day, at least ${params.costBps} bps in ${params.holdHours} hours.`,
    { netBpsPerDay: Number(best.rate) / 1000 },
    stopPriceOf(scene.price, best.direction, params.stopBps),
    Number((best.rate * BigInt(params.holdHours)) / 24_000n),
  )
}
