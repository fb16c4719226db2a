/**
 * A backtest's accounting against the contracts' functions applied by hand. `increasePosition` and `decreasePosition` are held to the public
 * vectors to the unit (`test/paper/vectors.test.ts`): here the lives of positions that a run traded are lived again with them alone.
 */
import { renameSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { RunFill } from '../../src/backtest/runFiles.ts'
import { usualModel } from '../../src/backtest/runModel.ts'
import type { Decision } from '../../src/domain/order/decision.ts'
import { lastAttempt } from '../../src/domain/order/intent.ts'
import { decreasePosition } from '../../src/paper/math/decrease.ts'
import { increasePosition } from '../../src/paper/math/increase.ts'
import { cloneMarket, type MarketState } from '../../src/paper/math/marketState.ts'
import type { PositionState } from '../../src/paper/math/positionState.ts'
import { findMarket } from '../../src/paper/state/lookup.ts'
import { marketPrices, type VenueState } from '../../src/paper/state/venueState.ts'
import type { Direction } from '../../src/protocol/market.ts'
import { usd } from '../../src/protocol/units.ts'
import type { StrategyView } from '../../src/strategy/strategy.ts'
import { runFor, startSeconds, strategyOf, testFolder, writeMinutes } from './runKit.ts'

/** A market that no message's fee is swapped in: its pool is moved by the run's positions alone. */
const market = 'ARB/USD [ARB-USDC]'

/** Increases and decreases at minutes of a run, USD of size each; a decrease of all closes. */
type Plan = Readonly<Record<number, number | 'close'>>

function follows(direction: Direction, plan: Plan) {
  return (view: StrategyView): readonly Decision[] => {
    const row = view.market(market)
    const step = plan[(view.snapshot.atMs / 1000 - startSeconds) / 60]
    if (row === undefined || step === undefined) return []
    const { marketToken, shortToken } = row.market
    const base = { marketToken, direction, collateralToken: shortToken, reason: 'as the test says' }
    if (step === 'close') return [{ kind: 'close', ...base }]
    const sizeDeltaUsd = usd(Math.abs(step))
    return [
      (step > 0
        ? { kind: 'increase', ...base, sizeDeltaUsd, leverageBps: 20_000 }
        : { kind: 'decrease', ...base, sizeDeltaUsd, keepLeverage: false }) as Decision,
    ]
  }
}

/** The life of one position by the contracts' functions, from the state in which a venue began. */
function lifeIn(venueState: VenueState) {
  const found = findMarket(venueState, market)
  if (found === undefined) throw new Error(`there is no ${market}`)
  const { settings } = found
  let state: MarketState = cloneMarket(found.state)
  let position: PositionState | undefined
  const pools: { readonly second: number; readonly pool: readonly [bigint, bigint] }[] = []
  const claimable: [bigint, bigint] = [0n, 0n]
  const pricesAt = (second: number) => marketPrices(venueState, found, second)
  const units = 10n ** BigInt(found.indexToken.decimals)
  /** Arbitrage evens a pool's halves every ten minutes where the price moved: plans act then, and take the pool as it is. */
  function takePool(second: number): void {
    const last = pools.findLast((each) => each.second <= second)
    if (last !== undefined) state.pool = [...last.pool]
  }
  return {
    claimable,
    units,
    pricesAt,
    look: (second: number) => void pools.push({ second, pool: [...found.state.pool] }),
    increase(side: Direction, sizeDeltaUsd: bigint, collateralAmount: bigint, second: number) {
      takePool(second)
      const done = increasePosition(
        settings,
        state,
        position,
        { side, slot: 1, sizeDeltaUsd, collateralAmount },
        pricesAt(second),
        second,
      )
      position = done.position
      claimable[0] += done.fees.claimableLongTokenAmount
      claimable[1] += done.fees.claimableShortTokenAmount
      return done
    },
    /** Of a copy where `isTried`: nothing changes then. */
    decrease(sizeDeltaUsd: bigint, second: number, isTried = false) {
      if (position === undefined) throw new Error('nothing is held')
      if (!isTried) takePool(second)
      const draft = cloneMarket(state)
      const terms = {
        sizeDeltaUsd,
        collateralAmount: 0n,
        kind: 'market',
        swapProfitToCollateral: true,
      } as const
      const done = decreasePosition(settings, draft, position, terms, pricesAt(second), second)
      if (isTried) return done
      state = draft
      position = done.position
      claimable[0] += done.fees.claimableLongTokenAmount
      claimable[1] += done.fees.claimableShortTokenAmount
      return done
    },
    held: () => position,
  }
}

async function lived(
  name: string,
  direction: Direction,
  plan: Plan,
  minutes: number,
  bar: (minute: number) => number,
) {
  const folder = testFolder()
  const path = writeMinutes(folder, minutes, bar)
  const data = join(folder, 'arb-usd.csv')
  renameSync(path, data)
  const loaded = await strategyOf(folder, name, follows(direction, plan), { market })
  let life: ReturnType<typeof lifeIn> | undefined
  const run = await runFor(folder, data, minutes, [{ ...loaded, needs: { symbols: [market] } }], {
    out: name,
    model: { ...usualModel, skewBps: 500 },
    told: (second) => life?.look(second),
    begin({ venueState }) {
      life = lifeIn(venueState)
    },
  })
  if (life === undefined) throw new Error('the run did not begin')
  return { ...run, life }
}

/** Lives through the fills of a run by hand, each held to what the run wrote of it. */
function relive(life: ReturnType<typeof lifeIn>, fills: readonly RunFill[]): void {
  for (const fill of fills) {
    const { side, second, sizeDeltaUsd, collateralDelta } = fill
    const price = life.pricesAt(second).short.min
    if (fill.action === 'increase') {
      const { execution, fees } = life.increase(side, sizeDeltaUsd, collateralDelta, second)
      expect(fill).toMatchObject({
        price: execution.executionPrice * life.units,
        positionFeeUsd: fees.positionFeeAmount * price,
        borrowingFeeUsd: fees.borrowingFeeAmount * price,
        fundingFeeUsd: fees.fundingFeeAmount * price,
      })
      continue
    }
    const done = life.decrease(-sizeDeltaUsd, second)
    expect(fill).toMatchObject({
      price: done.executionPrice * life.units,
      pnlUsd: done.basePnlUsd,
      impactUsd: done.totalImpactUsd - done.priceImpactDiffUsd,
      positionFeeUsd: done.fees.positionFeeAmount * price,
      borrowingFeeUsd: done.fees.borrowingFeeAmount * price,
      fundingFeeUsd: done.fees.fundingFeeAmount * price,
      collateralDelta: -done.outputAmount,
    })
  }
}

test('buy and hold on a frozen market is worth what the contracts would pay for it at each moment, to the unit', async () => {
  const { life, fills, tally } = await lived('keeps', 'long', { 0: 1000 }, 60, () => 0.5)
  expect(fills.map(({ action }) => action)).toEqual(['increase'])
  relive(life, fills)
  const boughtAt = fills[0]?.second ?? 0
  const points = tally.equity.filter(({ second }) => second > boughtAt + 60)
  expect(points.length).toBeGreaterThan(50)
  /** What a close would bring at a moment: the formula of a position whose price stands. */
  const worthAt = (second: number): bigint => {
    const held = life.held()
    if (held === undefined) throw new Error('nothing is held')
    const { index, short, long } = life.pricesAt(second)
    const { fees, totalImpactUsd, executionPrice: _ } = life.decrease(held.sizeInUsd, second, true)
    const priceResult = held.sizeInTokens * index.min - held.sizeInUsd
    const claims = fees.claimableLongTokenAmount * long.min + fees.claimableShortTokenAmount * short.min
    return (
      held.collateralAmount * short.min +
      priceResult +
      totalImpactUsd -
      fees.totalCostAmount * short.max +
      claims
    )
  }
  // Wallet and refunds stand still too: all that is left of the equity is the same at each point.
  const rests = points.map(({ second, equityUsd }) => equityUsd - worthAt(second))
  expect(new Set(rests).size).toBe(1)
  const { USDC = 0n, ETH = 0n, WETH = 0n } = tally.amounts
  expect(rests[0]).toBeGreaterThan(USDC * 10n ** 24n)
  expect(USDC).toBe(10_000_000_000n - (fills[0]?.collateralDelta ?? 0n) - sentOf(tally))
  expect(ETH + WETH).toBeGreaterThan(0n)
  expect(points[0]?.equityUsd).toBeGreaterThan(points.at(-1)?.equityUsd ?? 0n)
})

test.each(['long', 'short'] as const)(
  'a %s that is added to, reduced and closed while the price moves is accounted as the contracts do it, to the unit',
  async (direction) => {
    // The price stands within a minute: no way inside a candle decides anything.
    const wave = (minute: number): number => Math.round(5_000 + 150 * Math.sin(minute / 6)) / 10_000
    const plan: Plan = { 0: 2000, 10: 1500, 20: -1000, 30: 500, 40: 'close' }
    const { life, fills, tally, result } = await lived(direction, direction, plan, 55, wave)
    expect(fills.map(({ action }) => action)).toEqual([
      ...['increase', 'increase', 'decrease', 'increase', 'decrease'],
    ])
    relive(life, fills)
    expect(life.held()).toBeUndefined()
    // Deposits, less what was paid in, plus what was paid out and may be claimed, less what messages cost, is the end.
    const paid = fills.reduce((sum, { collateralDelta }) => sum + collateralDelta, 0n)
    const { start = 0n, end } = result.balances.USDC ?? {}
    expect(end).toBe(start - paid - sentOf(tally) + life.claimable[1])
    expect(tally.amounts.ARB ?? 0n).toBe(life.claimable[0])
  },
)

/** Relay fees of messages that landed, in the stable coin. */
function sentOf({ intents }: Awaited<ReturnType<typeof runFor>>['tally']): bigint {
  return intents.reduce((sum, state) => {
    const attempt = lastAttempt(state)
    return attempt?.phase === 'LANDED' ? sum + (attempt.armed?.relayFeeAmount ?? 0n) : sum
  }, 0n)
}
