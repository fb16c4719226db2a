/** Figures of a run: the deepest fall, and how many times the costs would leave nothing. */
import { expect, test } from 'vitest'
import type { RunFill } from '../../src/backtest/runFiles.ts'
import { breakEvenOf, drawdownOf, runCostsOf } from '../../src/backtest/runResult.ts'
import type { IntentState } from '../../src/domain/order/intent.ts'
import { usd } from '../../src/protocol/units.ts'
import { decrease, intentState } from '../risk/world.ts'

const points = (...dollars: number[]) =>
  dollars.map((each, second) => ({ second, equityUsd: usd(each), holdUsd: 0n, longUsd: 0n, shortUsd: 0n }))

test('the deepest fall is from the highest point before it, in dollars and in parts of that point', () => {
  expect(drawdownOf(points(100, 120, 90, 130, 110))).toEqual({ usd: usd(30), bps: 2_500 })
  expect(drawdownOf(points(100, 101, 102))).toEqual({ usd: 0n, bps: 0 })
  expect(drawdownOf([])).toEqual({ usd: 0n, bps: 0 })
})

test('costs break even where they take all that was made before them; there is no such multiple without costs or without a gain', () => {
  expect(breakEvenOf(usd(100), usd(50))).toBe('3.00')
  expect(breakEvenOf(-usd(25), usd(50))).toBe('0.50')
  expect(breakEvenOf(-usd(50), usd(50))).toBeNull()
  expect(breakEvenOf(usd(10), 0n)).toBeNull()
})

test('funding that a position received is taken off the funding that was paid', () => {
  const nothing = {
    impactUsd: 0n,
    positionFeeUsd: 0n,
    borrowingFeeUsd: 0n,
    liquidationFeeUsd: 0n,
    swapFeeUsd: 0n,
  }
  const fill = (second: number, fundingFeeUsd: bigint): RunFill => ({
    ...{
      ...nothing,
      second,
      fundingFeeUsd,
      market: 'ETH',
      side: 'long',
      action: 'decrease',
      price: usd(3_000),
    },
    ...{ sizeDeltaUsd: -usd(100), sendingFeeUsd: 0n, collateral: 'USDC', collateralDelta: 0n, pnlUsd: 0n },
    ...{ isAmbiguous: false, strategy: 'one', intentId: 'intent-1' },
  })
  const state = intentState({ decision: decrease(usd(100)), orderKey: `0x${'0a'.repeat(32)}` })
  const received: IntentState = {
    ...state,
    intent: { ...state.intent, intentId: 'intent-1' },
    attempts: state.attempts.map((attempt) => ({
      ...attempt,
      children: attempt.children.map((child) => ({
        ...child,
        phase: 'EXECUTED' as const,
        settlement: { timestampSeconds: 7, fundingReceivedUsd: usd(5) },
      })),
    })),
  }
  expect(runCostsOf([fill(7, usd(2))], [received])).toMatchObject({ fundingUsd: -usd(3) })
  expect(runCostsOf([fill(8, usd(2))], [received])).toMatchObject({ fundingUsd: usd(2) })
})
