/** Figures that hundreds of turns share of lists, states and candles equal those that each would have made alone. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { lastExposure } from '../../src/account/holdings/lastExposure.ts'
import { createRowFigures } from '../../src/account/holdings/rowFigures.ts'
import { createUnseen } from '../../src/account/holdings/unseen.ts'
import { LIST_LAG_MS } from '../../src/domain/accountRecords/listLag.ts'
import { positionOf, positionsOn } from '../../src/domain/snapshot.ts'
import type { OrderManager } from '../../src/execution/orderManager.ts'
import { sameHex } from '../../src/protocol/address.ts'
import type { Position } from '../../src/protocol/position.ts'
import { usd } from '../../src/protocol/units.ts'
import { exposureOf } from '../../src/risk/exposure/accountExposure.ts'
import { closedFigures } from '../../src/strategy/closedFigures.ts'
import { atr, closedCandles, ema } from '../../src/strategy/indicators.ts'
import {
  candles,
  increase,
  intentState,
  MARKET,
  NOW_MS,
  OTHER_MARKET,
  order,
  position,
  snapshot,
  USDC,
  WETH,
} from '../risk/world.ts'

const sides = [MARKET, OTHER_MARKET].flatMap((marketToken) =>
  (['long', 'short'] as const).flatMap((direction) =>
    [USDC, WETH].map((collateralToken) => ({ marketToken, direction, collateralToken })),
  ),
)
const heldOn = (...sizes: readonly number[]) =>
  sides
    .slice(0, sizes.length)
    .flatMap((side, index) =>
      sizes[index] ? [position({ ...side, sizeInUsd: usd(sizes[index] ?? 0) })] : [],
    )

test('the exposure that is asked again is the one that is folded anew, whichever list, state or size changed between', () => {
  const lists = [[], heldOn(100, 0, 50), heldOn(100, 20)]
  const orders = [[], [order()], [order({ orderKey: `0x${'0e'.repeat(32)}`, direction: 'short' })]]
  const states = [
    intentState({ intentId: 'a' }),
    intentState({ intentId: 'b', decision: increase({ direction: 'short' }), orderKey: order().orderKey }),
    intentState({ intentId: 'c', closed: true }),
  ]
  const sizes = [undefined, ...lists.map(sizesOf)]
  const scene = fc.record({
    value: fc.constantFrom(...lists),
    missing: fc.constantFrom(undefined, [
      { index: 0, problem: 'torn', marketToken: MARKET, sizeInUsd: usd(7) },
    ]),
    atMs: fc.constantFrom(NOW_MS, NOW_MS + 40_000),
    orders: fc.constantFrom(...orders),
    open: fc.subarray(states),
    journal: fc.constantFrom(...sizes),
    hosts: fc.constantFrom(...sizes),
  })
  fc.assert(
    fc.property(fc.array(scene, { minLength: 1, maxLength: 8 }), (scenes) => {
      const asked = lastExposure()
      for (const { value, missing, atMs, orders: resting, open, journal, hosts } of scenes) {
        const positions = { value, atMs, ...(missing && { missing }) }
        const seen = { positions, orders: { value: resting, atMs } }
        const others = { ...(journal && { journal }), ...(hosts && { hosts }) }
        const anew = exposureOf(seen, open, others)
        for (const _ of [1, 2]) expect(asked({ ...seen }, [...open], { ...others })).toEqual(anew)
      }
    }),
    { seed: 36, numRuns: 300 },
  )
})

function sizesOf(rows: readonly Position[]) {
  return new Map(
    rows.map(({ marketToken, direction, collateralToken, sizeInUsd }) => [
      `${marketToken}:${direction}:${collateralToken}`.toLowerCase(),
      { marketToken, direction, collateralToken, sizeUsd: sizeInUsd },
    ]),
  )
}

test('the row of a side is the first that a search of the list finds, in any case of its letters', () => {
  const rows = [...heldOn(1, 2, 0, 4), ...heldOn(5, 0, 6)]
  const seen = snapshot({ positions: rows })
  for (const side of sides) {
    const lower = { ...side, marketToken: side.marketToken.toLowerCase() as typeof MARKET }
    const found = positionsOn(seen, side.marketToken, side.direction).find((row) =>
      sameHex(row.collateralToken, side.collateralToken),
    )
    for (const asked of [side, lower]) expect(positionOf(seen, asked)).toBe(found)
  }
})

test('figures of rows that are judged again are those of rows judged anew, whatever hosts and prices said between', () => {
  const row = (liquidation: number, collateral: bigint, mark: number) =>
    position({ liquidationPrice: usd(liquidation), collateralAmount: collateral, markPrice: usd(mark) })
  const { leverageBps: _none, ...ruined } = position({ markPrice: usd(1700) })
  const lists = [[row(1620, 200n, 1999)], [row(1900, 200n, 1999)], [row(1620, 20n, 1500)], [ruined], []]
  const scene = fc.record({
    rows: fc.constantFrom(...lists),
    lists: fc.array(fc.constantFrom(...lists), { maxLength: 3 }),
    price: fc.constantFrom(undefined, usd(2000), usd(1700)),
  })
  fc.assert(
    fc.property(fc.array(scene, { minLength: 1, maxLength: 10 }), (scenes) => {
      const [shared, plain] = [createRowFigures(), createRowFigures()]
      for (const { rows, lists: shown, price } of scenes) {
        const priceOf = () => price
        // Lists that are copied are others each time, so that these are judged anew.
        for (const _ of [1, 2])
          expect(shared.judged(rows, { lists: shown, priceOf })).toEqual(
            plain.judged([...rows], { lists: shown, priceOf }),
          )
      }
    }),
    { seed: 36, numRuns: 500 },
  )
})

test('a strategy’s intents are those of all that are its, open ones and fills that lists may not show', () => {
  const states = ['a', 'b', 'a', 'b', 'c'].map((strategy, index) => {
    const state = intentState({ intentId: `intent-${index}`, decision: increase() })
    return { ...state, intent: { ...state.intent, strategy } }
  })
  const agoMs = (id: string) => (id === 'intent-4' ? LIST_LAG_MS : 1)
  const orderManager: Pick<OrderManager, 'open' | 'recentlyLanded' | 'closedAgoMs'> = {
    open: () => states.slice(0, 2).map((state) => ({ state, label: 'waiting' })) as never,
    recentlyLanded: () => states.slice(2),
    closedAgoMs: agoMs,
  }
  const unseen = createUnseen(orderManager as OrderManager, { now: () => NOW_MS }, () => new Map())
  const all = unseen.in(snapshot())
  expect(all.map(({ intent }) => intent.intentId)).toEqual(['intent-0', 'intent-1', 'intent-2', 'intent-3'])
  for (const name of ['a', 'b', 'c', 'd'])
    expect(unseen.in(snapshot(), name)).toEqual(all.filter(({ intent }) => intent.strategy === name))
})

test('a landed intent is compared with lists once, and by its age each time', () => {
  let [compared, agoMs] = [0, 1]
  const landed = [1, 2].map((number) => {
    const state = intentState({ intentId: `intent-${number}`, decision: increase() })
    return Object.defineProperty({ ...state }, 'closing', {
      get: () => {
        compared += 1
        return undefined
      },
    })
  })
  const orderManager: Pick<OrderManager, 'open' | 'recentlyLanded' | 'closedAgoMs'> = {
    open: () => [],
    recentlyLanded: () => landed,
    closedAgoMs: () => agoMs,
  }
  const unseen = createUnseen(orderManager as OrderManager, { now: () => NOW_MS }, () => new Map())
  const world = snapshot()
  for (const _turn of [1, 2, 3]) expect(unseen.in(world)).toHaveLength(2)
  expect(compared).toBe(2)
  agoMs = LIST_LAG_MS
  expect(unseen.in(world)).toEqual([])
  agoMs = 1
  expect(unseen.in({ ...world, positions: { ...world.positions, value: [] } })).toHaveLength(2)
  expect(compared).toBe(4)
})

test('readings between two closes share the figures of their closed candles, and those of no other ones', () => {
  const at = (minute: number, close: number) => ({
    ...{ timestampSeconds: NOW_MS / 1000 + minute * 60, open: close, high: close + 1, low: close - 1, close },
  })
  const closed = Array.from({ length: 30 }, (_, index) => at(index - 30, 100 + (index % 7)))
  const figuresOf = (list: typeof closed) => closedFigures({ period: '1m', candles: list }, NOW_MS)
  const figures = figuresOf([...closed, at(0, 90)])
  expect(figuresOf([...closed, at(0, 80)])).toBe(figures)
  const changed = closed.with(9, at(-21, 500))
  expect(figuresOf([...changed, at(0, 90)]).ema(5)).toBe(ema(changed, 5))
  expect(figuresOf(closed.slice(0, -1)).atr(5)).toBe(atr(closed.slice(0, -1), 5))
  expect(figuresOf([...closed, at(0, 90)]).ema(5)).toBe(ema(closed, 5))
  // Each reading's own running candle ends them, whatever the one before had.
  const ended = closed.map((candle) => ({ ...candle }))
  const figuresBefore = figuresOf(ended)
  const running = [...ended, at(0, 90)]
  expect(figuresOf(running)).toBe(figuresBefore)
  expect(closedFigures({ period: '1m', candles: running }, NOW_MS + 60_000).candles).toEqual(running)
})

test('figures of closed candles are those of candles that are closed by then, wherever the clock goes', () => {
  const closes = fc.array(fc.double({ min: 1, max: 9_999, noNaN: true }), { minLength: 1, maxLength: 40 })
  const asked = fc.array(
    fc.record({
      minutes: fc.integer({ min: -50, max: 3 }),
      length: fc.integer({ min: 1, max: 9 }),
      isHour: fc.boolean(),
    }),
    { maxLength: 12 },
  )
  fc.assert(
    fc.property(closes, asked, (rising, steps) => {
      const list = candles(rising).value.candles
      for (const { minutes, length, isHour } of steps) {
        const [period, nowMs] = [isHour ? '1h' : '1m', NOW_MS + minutes * 60_000] as const
        const closed = closedCandles(list, period, nowMs)
        const figures = closedFigures({ period, candles: list }, nowMs)
        for (const _ of [1, 2]) {
          expect(figures.candles).toEqual(closed)
          expect(figures.ema(length)).toBe(ema(closed, length))
          expect(figures.atr(length)).toBe(atr(closed, length))
        }
      }
    }),
    { seed: 36, numRuns: 200 },
  )
})
