/**
 * Prices of the markets of a world: each walks by itself, drifts for a while, and jumps now and then, so that within a run
 * orders that wait come to their triggers and others do not. When the world is to end, prices sweep over what still waits.
 */

import type { Timeline } from '../../src/backtest/lab/timeline.ts'
import type { Hex } from '../../src/protocol/address.ts'
import { contractPriceOf, priceOfContractPrice, type Usd, usd } from '../../src/protocol/units.ts'
import type { Random } from './random.ts'

/** Time between two steps, ms. */
const stepMs = 2_000
/** Farthest from where it began, bps: positions of a leverage of two live through it. */
const farthestBps = 2_500
/** What a sweep moves in one step, bps: less than two sources of prices may differ by, however late one of them is read. */
const sweepBps = 40

/** The prices of a world. */
export interface PriceWalk {
  /** USD per whole index token of a market now. */
  priceOf(marketToken: string): Usd
  /** A price as orders write it, USD per whole index token. */
  ofContract(marketToken: string, contractPrice: bigint): Usd
  /** And the other way. */
  toContract(marketToken: string, price: Usd): bigint
  /** `run` is called after each step. */
  onStep(run: () => void): void
  /** From now on prices sweep up and down over the triggers that `waiting` gives, USD, until none is left. */
  sweep(waiting: (marketToken: string) => readonly Usd[]): void
}

/** Where prices are from a time on: ms, and bps from where they began. */
export type PricePath = readonly (readonly [atMs: number, awayBps: number])[]

interface Walk {
  readonly base: Usd
  /** Of its index token. */
  readonly decimals: number
  awayBps: number
  driftBps: number
  /** Steps for which it drifts so. */
  left: number
  isRising: boolean
}

/** Starts the walk of these markets; prices begin at whole USD per token, go along `path` where there is one, and farther where it is lively. */
export function createPriceWalk(
  timeline: Timeline,
  random: Random,
  markets: readonly { readonly marketToken: Hex; readonly priceUsd: number; readonly decimals: number }[],
  { path, isLively = false }: { readonly path?: PricePath; readonly isLively?: boolean } = {},
): PriceWalk {
  const walks = new Map(
    markets.map(({ marketToken, priceUsd, decimals }): [string, Walk] => [
      marketToken.toLowerCase(),
      { base: usd(priceUsd), decimals, awayBps: 0, driftBps: 0, left: 0, isRising: true },
    ]),
  )
  const told: (() => void)[] = []
  const pace = isLively ? 2 : 1
  let waiting: ((marketToken: string) => readonly Usd[]) | undefined

  function walkOf(marketToken: string): Walk {
    const walk = walks.get(marketToken.toLowerCase())
    if (walk === undefined) throw new RangeError(`no prices of ${marketToken}`)
    return walk
  }

  const priceAt = ({ base, awayBps }: Walk): Usd => (base * BigInt(10_000 + awayBps)) / 10_000n

  function wander(walk: Walk): void {
    if (path !== undefined) {
      walk.awayBps = path.findLast(([atMs]) => atMs <= timeline.nowMs)?.[1] ?? 0
      return
    }
    if (walk.left === 0) {
      walk.left = random.int(5, 25)
      walk.driftBps = random.pick([-8, -4, 0, 0, 4, 8])
    }
    walk.left -= 1
    const jumpBps = random.chance(0.02) ? random.pick([-1, 1]) * random.int(50, 250) : 0
    walk.awayBps += pace * (walk.driftBps + random.int(-10, 10)) + jumpBps
  }

  /** On towards what still waits on this side, and back when nothing does. */
  function follow(walk: Walk, triggers: readonly Usd[]): void {
    if (triggers.length === 0) return
    const price = priceAt(walk)
    const isAhead = triggers.some((trigger) => (walk.isRising ? trigger >= price : trigger <= price))
    if (!isAhead) walk.isRising = !walk.isRising
    walk.awayBps += walk.isRising ? sweepBps : -sweepBps
  }

  function step(): void {
    for (const [marketToken, walk] of walks) {
      if (waiting === undefined) wander(walk)
      else follow(walk, waiting(marketToken))
      walk.awayBps = Math.max(-farthestBps, Math.min(farthestBps, walk.awayBps))
      if (Math.abs(walk.awayBps) === farthestBps) walk.isRising = walk.awayBps < 0
    }
    for (const run of told) run()
    timeline.after(stepMs, step)
  }
  timeline.after(stepMs, step)

  return {
    priceOf: (marketToken) => priceAt(walkOf(marketToken)),
    ofContract: (marketToken, contractPrice) =>
      priceOfContractPrice(contractPrice, walkOf(marketToken).decimals),
    toContract: (marketToken, price) => contractPriceOf(price, walkOf(marketToken).decimals),
    onStep: (run) => void told.push(run),
    sweep(triggersOf) {
      waiting = triggersOf
    },
  }
}
