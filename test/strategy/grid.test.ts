import { expect, test } from 'vitest'
import type { Position } from '../../src/protocol/position.ts'
import { type Usd, usd } from '../../src/protocol/units.ts'
import { grid } from '../../src/strategy/kinds/grid.ts'
import type { OpenIntent, RestingOrder } from '../../src/strategy/resting.ts'
import { viewOf } from '../../src/strategy/strategy.ts'
import { MARKET, marketView, oraclePrice, position, SYMBOL, snapshot, USDC } from '../risk/world.ts'

const key = (n: number) => `0x${n.toString(16).padStart(64, '0')}` as const

function decide(
  parts: {
    readonly price?: Usd
    readonly positions?: readonly Position[]
    readonly restingOrders?: readonly RestingOrder[]
    readonly openIntents?: readonly OpenIntent[]
    readonly params?: Record<string, unknown>
  } = {},
) {
  const price = parts.price ?? usd(2010)
  const view = marketView({ oraclePrice: { value: oraclePrice({ medianPrice: price }), atMs: 0 } })
  return grid.decide(
    viewOf({
      snapshot: snapshot({ view, positions: parts.positions ?? [] }),
      params: grid.params.parse({ stepUsd: 50, levels: 3, stopBps: 500, ...parts.params }),
      instance: {
        name: 'eth-grid',
        symbols: [SYMBOL],
        size: { usd: usd(200), leverageBps: 20_000, collateral: 'short' },
      },
      openIntents: parts.openIntents ?? [],
      restingOrders: parts.restingOrders ?? [],
    }),
  )
}

function resting(n: number, parts: Partial<RestingOrder> = {}): RestingOrder {
  return {
    orderKey: key(n),
    intentId: `intent-${n}`,
    orderType: 'limit',
    marketToken: MARKET,
    direction: 'long',
    collateralToken: USDC,
    sizeDeltaUsd: usd(200),
    triggerPrice: usd(2000),
    isFrozen: false,
    isChanging: false,
    ...parts,
  }
}

const onTheWay = (parts: Partial<OpenIntent> = {}): OpenIntent => ({
  intentId: 'intent-way',
  kind: 'increase',
  marketToken: MARKET,
  direction: 'long',
  orderType: 'limit',
  sizeDeltaUsd: usd(200),
  acceptedAtMs: 0,
  isUnresolved: false,
  isUnwanted: false,
  onlyExitsRest: false,
  ...parts,
})

const triggers = (decisions: ReturnType<typeof decide>) =>
  decisions.map((decision) => [
    decision.kind,
    'orderType' in decision ? decision.orderType : undefined,
    'triggerPrice' in decision ? decision.triggerPrice : undefined,
  ])

test('the first order rests on the nearest line below the price', () => {
  expect(triggers(decide({ price: usd(2030) }))).toEqual([['increase', 'limit', usd(2000)]])
})

test('a line too near to the price is passed by', () => {
  expect(triggers(decide({ price: usd(2010) }))).toEqual([['increase', 'limit', usd(1950)]])
})

test('a short rests its orders above the price', () => {
  expect(triggers(decide({ price: usd(2030), params: { direction: 'short' } }))).toEqual([
    ['increase', 'limit', usd(2050)],
  ])
})

test('the lines are filled one after the other, and no more of them than levels', () => {
  const orders = [resting(1, { triggerPrice: usd(2000) })]
  expect(triggers(decide({ price: usd(2030), restingOrders: orders }))).toEqual([
    ['increase', 'limit', usd(1950)],
  ])
  orders.push(resting(2, { triggerPrice: usd(1950) }), resting(3, { triggerPrice: usd(1900) }))
  expect(decide({ price: usd(2030), restingOrders: orders })).toEqual([])
})

test('while an increase is on its way nothing more is opened', () => {
  expect(decide({ price: usd(2030), openIntents: [onTheWay()] })).toEqual([])
})

test('orders that the price left behind and orders that froze are cancelled; one line more is let be', () => {
  const orders = [
    resting(1, { triggerPrice: usd(2000) }),
    resting(2, { triggerPrice: usd(1950), isFrozen: true }),
    resting(3, { triggerPrice: usd(1900) }),
  ]
  const near = decide({ price: usd(2080), restingOrders: orders })
  expect(near[0]).toMatchObject({ kind: 'cancel', orderKeys: [key(2)] })
  const far = decide({ price: usd(2130), restingOrders: orders })
  expect(far[0]).toMatchObject({ kind: 'cancel', orderKeys: [key(2), key(3)] })
  const changing = orders.map((order) => ({ ...order, isChanging: true }))
  expect(decide({ price: usd(2130), restingOrders: changing })).toEqual([])
})

test('a fill gets its take-profit and its stop-loss before anything else is opened', () => {
  const held = position({ sizeInUsd: usd(200), entryPrice: usd(2000) })
  expect(triggers(decide({ price: usd(1990), positions: [held] }))).toEqual([
    ['decrease', 'take-profit', usd(2020)],
    ['decrease', 'stop-loss', usd(1900)],
  ])
})

test('a fill that has its exits is followed by the next line below it', () => {
  const held = position({ sizeInUsd: usd(200), entryPrice: usd(2000) })
  const exits = [
    resting(1, { orderType: 'take-profit', triggerPrice: usd(2020) }),
    resting(2, { orderType: 'stop-loss', triggerPrice: usd(1900) }),
  ]
  expect(triggers(decide({ price: usd(1995), positions: [held], restingOrders: exits }))).toEqual([
    ['increase', 'limit', usd(1950)],
  ])
  // Two fills stand around their average.
  const two = position({ sizeInUsd: usd(400), entryPrice: usd(1975) })
  const covered = exits.map((exit) => ({ ...exit, sizeDeltaUsd: usd(400) }))
  expect(triggers(decide({ price: usd(1990), positions: [two], restingOrders: covered }))).toEqual([
    ['increase', 'limit', usd(1900)],
  ])
})

test('what a fill added gets exits of its own size, and an exit on its way counts', () => {
  const held = position({ sizeInUsd: usd(400), entryPrice: usd(1975) })
  const decisions = decide({
    price: usd(1960),
    positions: [held],
    restingOrders: [resting(1, { orderType: 'take-profit', triggerPrice: usd(2020) })],
    openIntents: [
      onTheWay({ kind: 'decrease', orderType: 'stop-loss', sizeDeltaUsd: usd(400), triggerPrice: usd(1870) }),
    ],
  })
  expect(decisions).toMatchObject([
    { kind: 'decrease', orderType: 'take-profit', sizeDeltaUsd: usd(200), triggerPrice: usd('1994.75') },
  ])
})

test('a price that is past the exit already closes the fill at once', () => {
  const held = position({ sizeInUsd: usd(200), entryPrice: usd(2000) })
  const [first] = decide({ price: usd(2100), positions: [held] })
  expect(first).toMatchObject({ kind: 'decrease', sizeDeltaUsd: usd(200) })
  expect(first).not.toHaveProperty('orderType')
  const closing = onTheWay({ kind: 'decrease', orderType: 'market' })
  expect(
    decide({ price: usd(2100), positions: [held], openIntents: [closing] }).map(({ kind }) => kind),
  ).not.toContain('decrease')
})

test('where the price is past the target of a fill, no stop is placed beside the order that closes it', () => {
  const held = position({ sizeInUsd: usd(200), entryPrice: usd(2000) })
  expect(triggers(decide({ price: usd(2100), positions: [held] }))).toEqual([
    ['decrease', undefined, undefined],
  ])
})

test('an exit that froze at its trigger is retried', () => {
  const held = position({ sizeInUsd: usd(200), entryPrice: usd(2000) })
  const exits = (isFrozen: boolean) => [
    resting(1, { orderType: 'take-profit', triggerPrice: usd(2020) }),
    resting(2, { orderType: 'stop-loss', triggerPrice: usd(1900), isFrozen }),
  ]
  const kinds = (isFrozen: boolean) =>
    decide({ price: usd(1995), positions: [held], restingOrders: exits(isFrozen) }).map(({ kind }) => kind)
  expect(kinds(true)).toEqual(['edit'])
  expect(kinds(false)).toEqual(['increase'])
})

test('both sides rest their orders around the price, each with its own levels, position and exits', () => {
  const params = { direction: 'both' }
  expect(triggers(decide({ price: usd(2030), params }))).toEqual([
    ['increase', 'limit', usd(2000)],
    ['increase', 'limit', usd(2050)],
  ])
  const long = position({ sizeInUsd: usd(600), entryPrice: usd(1950) })
  const full = [
    resting(1, { orderType: 'take-profit', sizeDeltaUsd: usd(600) }),
    resting(2, { orderType: 'stop-loss', sizeDeltaUsd: usd(600) }),
  ]
  // The longs are all filled; the shorts go on.
  expect(decide({ price: usd(1940), params, positions: [long], restingOrders: full })).toMatchObject([
    { kind: 'increase', direction: 'short', triggerPrice: usd(2000) },
  ])
  const short = position({ direction: 'short', sizeInUsd: usd(200), entryPrice: usd(2000) })
  expect(decide({ price: usd(2010), params, positions: [short] })).toMatchObject([
    { kind: 'increase', direction: 'long', triggerPrice: usd(1950) },
    { kind: 'decrease', direction: 'short', orderType: 'take-profit', triggerPrice: usd(1980) },
    { kind: 'decrease', direction: 'short', orderType: 'stop-loss', triggerPrice: usd(2100) },
  ])
})

test('without a stop of the file the loss is bounded a step beyond the whole grid', () => {
  const params = { stopBps: undefined }
  const stopOf = (side: 'long' | 'short', more: Record<string, unknown> = {}) =>
    triggers(
      decide({
        price: usd(2000),
        positions: [position({ direction: side, sizeInUsd: usd(200), entryPrice: usd(2000) })],
        params: { ...params, direction: side, ...more },
      }),
    )[1]
  expect(stopOf('long')).toEqual(['decrease', 'stop-loss', usd(1800)])
  expect(stopOf('short')).toEqual(['decrease', 'stop-loss', usd(2200)])
  // A grid as wide as the price itself still has one.
  expect(stopOf('long', { levels: 20, stepUsd: 500 })).toEqual(['decrease', 'stop-loss', usd(200)])
})

test('what one exit closed is taken off the others, and the exits of a line that waits stay', () => {
  const held = position({ sizeInUsd: usd(200), entryPrice: usd(2000) })
  const exit = (
    n: number,
    orderType: 'take-profit' | 'stop-loss',
    sizeUsd: number,
    intentId = `intent-${n}`,
  ) => resting(n, { orderType, sizeDeltaUsd: usd(sizeUsd), intentId })
  const profit = exit(1, 'take-profit', 200)
  const at = (restingOrders: readonly RestingOrder[]) =>
    decide({ price: usd(1995), positions: [held], restingOrders })
  expect(at([profit, exit(2, 'stop-loss', 200), exit(3, 'stop-loss', 200)])).toMatchObject([
    { kind: 'cancel', orderKeys: [key(3)] },
  ])
  expect(at([profit, exit(2, 'stop-loss', 500)])).toMatchObject([
    { kind: 'edit', orderKey: key(2), sizeDeltaUsd: usd(200) },
  ])
  expect(
    at([profit, { ...exit(2, 'stop-loss', 500), isChanging: true }]).map(({ kind }) => kind),
  ).not.toContain('edit')
  const line = resting(4, { triggerPrice: usd(1950), intentId: 'intent-5' })
  expect(
    at([profit, exit(2, 'stop-loss', 200), line, exit(5, 'stop-loss', 200)]).map(({ kind }) => kind),
  ).toEqual(['increase'])
})

test('what another token backs than the file says now keeps its exits, and lines that it would back are cancelled once it is gone', () => {
  const { longToken } = marketView().market
  const held = position({ sizeInUsd: usd(200), entryPrice: usd(2000), collateralToken: longToken })
  const exits = [
    resting(1, { orderType: 'take-profit', triggerPrice: usd(2100), collateralToken: longToken }),
    resting(2, { orderType: 'stop-loss', triggerPrice: usd(1900), collateralToken: longToken }),
  ]
  const line = resting(3, { triggerPrice: usd(1900), collateralToken: longToken })
  const kept = decide({ positions: [held], restingOrders: [...exits, line] })
  expect(kept).toMatchObject([{ kind: 'increase', collateralToken: longToken }])
  expect(decide({ positions: [held] })).toMatchObject([
    { kind: 'decrease', orderType: 'take-profit', collateralToken: longToken },
    { kind: 'decrease', orderType: 'stop-loss', collateralToken: longToken },
  ])
  expect(decide({ restingOrders: [line] })).toMatchObject([
    { kind: 'cancel', orderKeys: [key(3)] },
    { kind: 'increase', collateralToken: USDC },
  ])
})
