import { expect, test } from 'vitest'
import type { MarketView } from '../../../src/domain/snapshot.ts'
import type { Position } from '../../../src/protocol/position.ts'
import type { ImpactData } from '../../../src/protocol/priceImpact.ts'
import { ONE_USD, usd } from '../../../src/protocol/units.ts'
import { impactCapture } from '../../../src/strategy/kinds/impactCapture.ts'
import { openIntentsOf } from '../../../src/strategy/resting.ts'
import { viewOf } from '../../../src/strategy/strategy.ts'
import {
  intentState,
  MARKET,
  marketView,
  NOW_MS,
  oraclePrice,
  position,
  SYMBOL,
  snapshot,
} from '../../risk/world.ts'
import { size } from './kindScene.ts'

type Memory = Parameters<typeof impactCapture.decide>[1]

/** Shorts outweigh longs by so much, USD; the impact of $500 there is about 2 × imbalance × factor. */
function data(imbalanceUsd: number, changes: Partial<ImpactData> = {}): ImpactData {
  return {
    positionImpactFactorPositive: 2n * 10n ** 21n,
    positionImpactFactorNegative: 4n * 10n ** 21n,
    positionImpactExponentFactorPositive: 2n * ONE_USD,
    positionImpactExponentFactorNegative: 2n * ONE_USD,
    maxPositionImpactFactorPositive: ONE_USD / 50n,
    maxPositionImpactFactorNegative: ONE_USD / 50n,
    balanceIn: 'usd',
    longInterest: usd(1_000_000),
    shortInterest: usd(1_000_000 + imbalanceUsd),
    positionFeeFactors: { balancing: (ONE_USD * 4n) / 10_000n, unbalancing: (ONE_USD * 6n) / 10_000n },
    ...changes,
  }
}

function turn(
  imbalanceUsd: number,
  parts: {
    readonly held?: readonly Position[]
    readonly memory?: Memory
    readonly view?: Partial<MarketView>
    readonly isBusy?: boolean
    readonly priceUsd?: number
    readonly atMs?: number
    readonly params?: Record<string, unknown>
  } = {},
) {
  const { held = [], memory = { sinceMs: {} }, isBusy = false, priceUsd = 2_000, atMs = NOW_MS } = parts
  const view = marketView({
    oraclePrice: { value: oraclePrice({ medianPrice: usd(priceUsd) }), atMs },
    impact: { value: data(imbalanceUsd), atMs },
    ...parts.view,
  })
  const world = { ...snapshot({ view, positions: held }), atMs }
  return impactCapture.decide(
    viewOf({
      snapshot: world,
      params: impactCapture.params.parse({ sendingBps: 0, ...parts.params }),
      instance: { name: 'mine', symbols: [SYMBOL], size },
      openIntents: isBusy ? openIntentsOf([intentState()]) : [],
    }),
    memory,
  )
}

test('the side that balances is opened with a stop once its impact pays more than the fees of both ways', () => {
  const { decisions } = turn(1_000_000)
  expect(decisions).toMatchObject([
    { kind: 'increase', direction: 'long', sizeDeltaUsd: usd(500), tpsl: [{ triggerPrice: usd(1_970) }] },
  ])
  const [decision] = decisions
  // 2 × 1,000,000 × 2e-9 of the size are 40 bps, and the fees of both ways 10.
  expect(decision?.facts).toEqual({ impactBps: 30 })
  expect(turn(-700_000).decisions).toMatchObject([{ direction: 'short' }])
  expect(turn(1_000_000, { params: { sides: 'short' } }).decisions).toEqual([])
})

test('a balance that pays too little, a closed market, old figures and an order under way open nothing', () => {
  expect(turn(400_000).decisions).toEqual([])
  expect(turn(1_000_000, { params: { minImpactBps: 31 } }).decisions).toEqual([])
  expect(turn(1_000_000, { view: { status: 'closed' } }).decisions).toEqual([])
  const old = { impact: { value: data(1_000_000), atMs: NOW_MS - 31_000 } }
  expect(turn(1_000_000, { view: old }).decisions).toEqual([])
  expect(turn(1_000_000, { isBusy: true }).decisions).toEqual([])
})

test('it is kept while closing would give the impact back, and closed when the balance has turned', () => {
  const held = [position({ entryPrice: usd(2_000), sizeInUsd: usd(500) })]
  const kept = turn(1_000_000, { held })
  expect(kept.decisions).toEqual([])
  expect(kept.memory).toEqual({ sinceMs: { [MARKET]: NOW_MS } })
  // Longs outweigh now: taking a long off balances, and pays.
  expect(turn(-1_000_000, { held }).decisions).toMatchObject([{ kind: 'close', direction: 'long' }])
  // What the price moved counts too.
  expect(turn(0, { held, priceUsd: 2_003 }).decisions).toMatchObject([{ kind: 'close' }])
})

test('what sending costs is off what opening pays, and half of it off what closing brings', () => {
  // 40 bps of impact, 10 of fees.
  expect(turn(1_000_000, { params: { sendingBps: 20 } }).decisions).toMatchObject([
    // Said before costs: protect.minEdgeBps takes them off once more.
    { kind: 'increase', facts: { impactBps: 10 }, expectedEdgeBps: 40 },
  ])
  expect(turn(1_000_000, { params: { sendingBps: 21 } }).decisions).toEqual([])
  const held = [position({ entryPrice: usd(2_000), sizeInUsd: usd(500) })]
  const brings = (sendingBps: number) =>
    turn(0, { held, priceUsd: 2_004, params: { sendingBps, takeBps: 0 } }).decisions[0]?.facts?.brings
  expect(Number(brings(0)) - Number(brings(9))).toBe(5)
  expect(brings(80)).toBeUndefined()
})

test('its time and its stop close it whatever the balance says, and however old the figures are', () => {
  const held = [position({ entryPrice: usd(2_000), sizeInUsd: usd(500) })]
  const memory = { sinceMs: { [MARKET]: NOW_MS - 172_800_000 } }
  expect(turn(1_000_000, { held, memory }).decisions).toMatchObject([{ kind: 'close' }])
  const old = { impact: { value: data(1_000_000), atMs: NOW_MS - 600_000 } }
  expect(turn(1_000_000, { held, view: old, priceUsd: 1_960 }).decisions).toMatchObject([{ kind: 'close' }])
  expect(turn(1_000_000, { held, view: old }).decisions).toEqual([])
})

test('a position that a clock wrote down which was ahead is closed in its time after the clock was set back', () => {
  const held = [position()]
  const params = { maxHoldSeconds: 600 }
  const atMs = NOW_MS - 18_000_000
  const { memory } = turn(0, { held, params, memory: turn(0, { held, params }).memory, atMs })
  expect(turn(0, { held, params, memory, atMs: atMs + 599_000 }).decisions).toEqual([])
  expect(turn(0, { held, params, memory, atMs: atMs + 600_000 }).decisions).toMatchObject([{ kind: 'close' }])
})
