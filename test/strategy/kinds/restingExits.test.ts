/** An entry that is filled and whose exits rest leaves every kind that trades as able to act as without them. */
import { expect, test } from 'vitest'
import { ownPositionsOf } from '../../../src/books/ownPositions.ts'
import { noPart } from '../../../src/books/sideParts.ts'
import type { Child, IntentState } from '../../../src/domain/order/intent.ts'
import type { MarketView } from '../../../src/domain/snapshot.ts'
import { contractPriceOf, usd } from '../../../src/protocol/units.ts'
import { builtInKinds } from '../../../src/strategy/kinds/kinds.ts'
import { openIntentsOf, restingOrdersOf } from '../../../src/strategy/resting.ts'
import { type OwnPosition, type Strategy, viewOf } from '../../../src/strategy/strategy.ts'
import {
  candles,
  increase,
  intentState,
  MARKET,
  marketView,
  NOW_MS,
  OTHER_MARKET,
  oraclePrice,
  order,
  position,
  SYMBOL,
  snapshot,
  ticker,
  USDC,
} from '../../risk/world.ts'
import { size } from './kindScene.ts'

interface Case {
  readonly params?: Record<string, unknown>
  readonly memory?: unknown
  readonly priceUsd?: number
  readonly closes?: readonly number[]
  readonly view?: Partial<MarketView>
  /** What it asks for. */
  readonly asks: string
}

const rising = Array.from({ length: 220 }, (_none, index) => 1_781 + index)
const wish = {
  signal: 1,
  action: 'flat',
  symbol: SYMBOL,
  closes: ['long', 'short'],
  expiresAtMs: NOW_MS + 1_000,
}
const rung = { intentId: 'intent-1', price: usd(2_000), sizeUsd: usd(500), atMs: NOW_MS - 60_000 }

/** A long of $500 from $2,000, with a take-profit at $2,200 and a stop at $1,800, and why each kind would act on it. */
const cases: Readonly<Record<string, Case>> = {
  trend: {
    params: { pyramid: 4, entryStrength: 0, maxExtension: 100 },
    closes: rising.map((close) => close + 60),
    asks: 'increase long',
  },
  breakout: {
    params: { period: '1m' },
    closes: Array.from({ length: 60 }, () => 2_100),
    priceUsd: 2_050,
    asks: 'close long',
  },
  'mean-reversion': {
    params: { period: '1m' },
    closes: Array.from({ length: 220 }, (_none, index) =>
      index > 215 ? 2_000 : index % 2 === 0 ? 1_990 : 2_010,
    ),
    asks: 'close long',
  },
  carry: { asks: 'close long' },
  'hedged-carry': { memory: { aloneSinceMs: NOW_MS - 3_600_000 }, asks: 'close long' },
  'impact-capture': {
    params: { maxHoldSeconds: 600 },
    memory: { sinceMs: { [MARKET]: NOW_MS - 601_000 } },
    asks: 'close long',
  },
  rotation: { memory: { chosen: [], chosenAtMs: NOW_MS, deniedAtMs: {} }, asks: 'close long' },
  rebalancer: { params: { weights: { [SYMBOL]: 10_000 }, totalUsd: 1_000 }, asks: 'increase long' },
  'target-exposure': { params: { targetUsd: 1_000 }, asks: 'increase long' },
  'target-exposure, less': { params: { targetUsd: 300 }, asks: 'decrease long' },
  ladder: {
    params: { stepBps: 200, maxUsd: 1_400, takeProfitBps: 1_000, stopBps: 1_000 },
    memory: { ladders: { [SYMBOL]: { rungs: [rung] } } },
    priceUsd: 1_950,
    asks: 'increase long',
  },
  grid: {
    params: { stepUsd: 50, takeProfitBps: 1_000, stopBps: 1_000 },
    asks: 'increase long',
  },
  signal: { memory: { wishes: [wish] }, asks: 'close long' },
}

const keys = {
  main: `0x${'01'.repeat(32)}`,
  'take-profit': `0x${'02'.repeat(32)}`,
  'stop-loss': `0x${'03'.repeat(32)}`,
} as const

/** The entry as the journal has it. */
function entry(phase: Child['phase'] = 'EXECUTED'): IntentState {
  const state = intentState({ decision: increase({ sizeDeltaUsd: usd(500) }), orderKey: keys.main })
  const [attempt] = state.attempts
  const exit = (index: number, role: 'take-profit' | 'stop-loss'): Child => ({
    index,
    role,
    orderKey: keys[role],
    phase: 'OPEN',
  })
  return {
    ...state,
    attempts:
      attempt === undefined
        ? []
        : [
            {
              ...attempt,
              children: [
                { index: 0, role: 'main', orderKey: keys.main, phase },
                exit(1, 'take-profit'),
                exit(2, 'stop-loss'),
              ],
            },
          ],
  }
}

const exits = [
  order({
    orderKey: keys['take-profit'],
    orderType: 5,
    sizeDeltaUsd: usd(500),
    triggerContractPrice: contractPriceOf(usd(2_200), 18),
  }),
  order({
    orderKey: keys['stop-loss'],
    orderType: 6,
    sizeDeltaUsd: usd(500),
    triggerContractPrice: contractPriceOf(usd(1_800), 18),
  }),
]

function sceneOf({ priceUsd, closes, view }: Case) {
  const price = usd(priceUsd ?? closes?.at(-1) ?? 2_000)
  const value = oraclePrice({ minPrice: price, maxPrice: price, medianPrice: price })
  const market = marketView({
    oraclePrice: { value, atMs: NOW_MS },
    ticker: { value: ticker(), atMs: NOW_MS },
    ...(closes === undefined ? {} : { candles: candles(closes) }),
    ...view,
  })
  const held = position({ sizeInUsd: usd(500), sizeInTokens: 25n * 10n ** 16n })
  const world = snapshot({ view: market, positions: [held], orders: exits })
  const part = {
    ...noPart,
    marketToken: MARKET,
    direction: 'long' as const,
    collateralToken: USDC,
    ...{ sizeUsd: usd(500), sizeInTokens: 25n * 10n ** 16n, costUsd: usd(500), collateral: 200_000_000n },
  } as const
  return { world, own: ownPositionsOf([part], world) }
}

function asked(
  name: string,
  each: Case,
  states: readonly IntentState[],
  more: { readonly own?: readonly OwnPosition[]; readonly isListed?: boolean } = {},
): readonly string[] {
  const kind = builtInKinds[name.split(',')[0] ?? ''] as Strategy
  const { world: whole, own: parts } = sceneOf(each)
  const world =
    more.isListed === false ? { ...whole, orders: { value: exits.slice(0, 1), atMs: NOW_MS } } : whole
  const own = more.own ?? parts
  const view = viewOf({
    snapshot: world,
    params: kind.params.parse(each.params ?? {}),
    instance: { name: 'mine', symbols: [SYMBOL], size },
    openIntents: openIntentsOf(states, { orders: world.orders, own }),
    own,
    restingOrders: restingOrdersOf(world, [entry()]),
  })
  const returned = kind.decide(view, each.memory ?? kind.memory?.first)
  const decisions = 'decisions' in returned ? returned.decisions : returned
  return decisions.map((decision) => `${decision.kind} ${'direction' in decision ? decision.direction : ''}`)
}

test('every kind that opens positions is in the table', () => {
  const opening = Object.entries(builtInKinds).flatMap(([name, { opensPositions }]) =>
    opensPositions ? [name] : [],
  )
  expect([...new Set(Object.keys(cases).map((name) => name.split(',')[0]))].sort()).toEqual(opening.sort())
})

test.each(Object.entries(cases))(
  '%s acts on what it holds while the exits of its entry rest, as without them',
  (name, each) => {
    expect(asked(name, each, [])).toEqual([each.asks])
    expect(asked(name, each, [entry()])).toEqual([each.asks])
  },
)

test.each(Object.entries(cases).filter(([, { asks }]) => asks.startsWith('increase')))(
  '%s adds nothing while its entry is not filled, an exit is being changed or is gone from the list, or its part is not listed whole',
  (name, each) => {
    // These two follow their own events and lines, and not what is under way alone.
    if (name === 'ladder' || name === 'grid') return
    const edit = intentState({
      intentId: 'intent-2',
      decision: {
        kind: 'edit',
        marketToken: MARKET,
        direction: 'long',
        orderKey: keys['stop-loss'],
        sizeDeltaUsd: usd(400),
        reason: 'The test wishes it.',
      },
    })
    const isWhole = false
    expect(asked(name, each, [entry('OPEN')])).toEqual([])
    expect(asked(name, each, [entry(), edit])).toEqual([])
    expect(asked(name, each, [entry()], { isListed: false })).toEqual([])
    expect(
      asked(name, each, [entry()], { own: sceneOf(each).own.map((part) => ({ ...part, isWhole })) }),
    ).toEqual([])
  },
)

test('what a book has is shared, priced and bounded by what is listed', () => {
  const side = { marketToken: MARKET, direction: 'long', collateralToken: USDC } as const
  const part = {
    ...noPart,
    ...side,
    ...{ sizeUsd: usd(400), sizeInTokens: 25n * 10n ** 16n, costUsd: usd(450), collateral: 100_000_000n },
  }
  const shared = snapshot({ positions: [position()] })
  expect(ownPositionsOf([part], shared)).toEqual([
    {
      ...side,
      sizeInUsd: usd(400),
      sizeInTokens: 25n * 10n ** 16n,
      collateralAmount: 100_000_000n,
      entryPrice: usd(1_800),
      isWhole: true,
    },
  ])
  const less = snapshot({ positions: [position({ sizeInUsd: usd(100) })] })
  expect(ownPositionsOf([part], less)).toMatchObject([
    { sizeInUsd: usd(100), sizeInTokens: 625n * 10n ** 14n, collateralAmount: 25_000_000n, isWhole: false },
  ])
  expect(ownPositionsOf([part], snapshot())).toEqual([])
  expect(ownPositionsOf([{ ...part, marketToken: OTHER_MARKET }], shared)).toEqual([])
  expect(ownPositionsOf([{ ...part, sizeInTokens: 0n }], shared)).toMatchObject([{ entryPrice: usd(2_000) }])
})
