import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isOrderDecision } from '../../src/domain/order/decision.ts'
import type { Position } from '../../src/protocol/position.ts'
import { liquidationDistanceBps } from '../../src/protocol/position.ts'
import { usd } from '../../src/protocol/units.ts'
import { admit } from '../../src/risk/admit.ts'
import { guard } from '../../src/strategy/kinds/guard.ts'
import { openIntentsOf } from '../../src/strategy/resting.ts'
import { type OpenIntent, viewOf } from '../../src/strategy/strategy.ts'
import {
  close,
  desk,
  intentState,
  MARKET,
  NOW_MS,
  OTHER_MARKET,
  position,
  SYMBOL,
  snapshot,
  USDC,
} from '../risk/world.ts'

function decide(
  positions: readonly Position[],
  parts: {
    readonly params?: Record<string, unknown>
    readonly symbols?: readonly string[]
    readonly openIntents?: readonly OpenIntent[]
  } = {},
) {
  return guard
    .decide(
      viewOf({
        snapshot: snapshot({ positions }),
        params: guard.params.parse(parts.params ?? {}),
        instance: { name: 'guard', symbols: parts.symbols ?? [] },
        openIntents: parts.openIntents ?? [],
      }),
    )
    .filter(isOrderDecision)
}

test('a position far from liquidation is left alone', () => {
  expect(decide([position()])).toEqual([])
})

test('a position that comes near is halved with its collateral kept, and says why', () => {
  const near = position({ markPrice: usd(2000), liquidationPrice: usd(1900) })
  expect(decide([near])).toEqual([
    {
      kind: 'decrease',
      marketToken: MARKET,
      direction: 'long',
      collateralToken: USDC,
      sizeDeltaUsd: usd(500),
      keepLeverage: false,
      reason: 'The long position is 500 bps from its liquidation price; the guard keeps it 800 bps away.',
      facts: {
        markPrice: '$2,000.00',
        sizeUsd: '$1,000.00',
        remainingCollateralUsd: '$200.00',
        liquidationPrice: '$1,900.00',
        distanceBps: 500,
        leverageBps: 50_000,
      },
    },
  ])
})

test('a position that comes too near is closed, a short as well', () => {
  const short = position({ direction: 'short', markPrice: usd(2000), liquidationPrice: usd(2060) })
  expect(decide([short])).toMatchObject([
    {
      kind: 'close',
      direction: 'short',
      reason: 'The short position is 300 bps from its liquidation price; the guard closes it at 300 bps.',
    },
  ])
  const past = position({ markPrice: usd(1000), liquidationPrice: usd(1900) })
  expect(decide([past])).toMatchObject([{ kind: 'close', facts: { distanceBps: 0 } }])
})

test('a position without collateral left is closed', () => {
  const { leverageBps: _, ...broken } = position()
  expect(decide([broken])).toMatchObject([
    { kind: 'close', reason: 'The long position has no collateral left after losses and fees.' },
  ])
})

test('a position above the leverage allowed is reduced to a twentieth below it, so that the next small move asks for nothing', () => {
  const heavy = position({ sizeInUsd: usd(3000), leverageBps: 150_000n, netValueUsd: usd(200) })
  expect(decide([heavy], { params: { maxLeverage: 10 } })).toMatchObject([
    {
      kind: 'decrease',
      sizeDeltaUsd: usd(1100),
      reason: 'The long position has 15.00x leverage; the guard keeps it at 10.00x or less.',
    },
  ])
})

test('it watches every position when no market is named, else those named', () => {
  const near = { markPrice: usd(2000), liquidationPrice: usd(1990) }
  const positions = [position(near), position({ ...near, marketToken: OTHER_MARKET })]
  expect(decide(positions).map((decision) => decision.marketToken)).toEqual([MARKET, OTHER_MARKET])
  expect(decide(positions, { symbols: [SYMBOL] }).map((decision) => decision.marketToken)).toEqual([MARKET])
  expect(guard.needs(guard.params.parse({}), [])).toEqual({ symbols: [], allPositionMarkets: true })
  expect(guard.needs(guard.params.parse({}), [SYMBOL])).toEqual({
    symbols: [SYMBOL],
    allPositionMarkets: false,
  })
})

test('its own unresolved close does not silence it; risk lets the next one through when its time has come', () => {
  const near = position({ markPrice: usd(2000), liquidationPrice: usd(1990) })
  const openIntents = openIntentsOf([intentState({ decision: close() })])
  const [decision] = decide([near], { openIntents })
  if (decision === undefined) throw new Error('the guard should have wished')
  const judged = (agoMs: number) =>
    admit(
      decision,
      desk({
        snapshot: snapshot({ positions: [near] }),
        limits: { reduceAgainAfterMs: 120_000 },
        intents: [intentState({ decision, acceptedAtMs: NOW_MS - agoMs })],
      }),
    )
  expect(judged(5000)).toMatchObject({ denial: { code: 'REDUCE_IN_FLIGHT' } })
  expect(judged(120_000)).toMatchObject({ kind: 'intent' })
})

test('the distance is 0 at or beyond the liquidation price, and the same for a long and its mirrored short', () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: usd(1), max: usd(100_000) }),
      fc.bigInt({ min: -usd(1000), max: usd(1000) }),
      (markPrice, gap) => {
        const long = liquidationDistanceBps({
          direction: 'long',
          markPrice,
          liquidationPrice: markPrice - gap,
        })
        const short = liquidationDistanceBps({
          direction: 'short',
          markPrice,
          liquidationPrice: markPrice + gap,
        })
        expect(long).toBe(short)
        expect(long).toBe(gap <= 0n ? 0 : Number((gap * 10_000n) / markPrice))
      },
    ),
    { seed: 7, numRuns: 300 },
  )
  expect(liquidationDistanceBps({ direction: 'long', markPrice: usd(1) })).toBeUndefined()
})
