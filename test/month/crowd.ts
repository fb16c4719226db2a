/**
 * Other traders of a simulated month, all together: on each market the open interest of one side grows for some hours, stays larger than
 * the other's for days, and shrinks again. The interest that the venue begins with is near balance and nobody moves it, so funding stays
 * at its least and impact pays nobody; beside a crowd both do what they do where people trade. Only the sums of a market move: a
 * crowd holds no positions, pays no fees and is never liquidated. At each step funding and borrowing are counted up to now, as any
 * order does that touches the market.
 */

import { accrueBorrowing } from '../../src/paper/math/borrowing.ts'
import { accrueFunding } from '../../src/paper/math/funding.ts'
import { mid, otherSide, type Side } from '../../src/paper/math/marketState.ts'
import type { Venue } from '../../src/paper/server/venue.ts'
import type { VenueMarket } from '../../src/paper/state/seedMarkets.ts'
import { marketPrices } from '../../src/paper/state/venueState.ts'
import { randomOf } from '../simulation/random.ts'

const DAY_MS = 86_400_000
/** Steps in which a crowd covers most of the way to where it leans; of ten minutes each they are three hours. */
const STEPS_TO_LEAN = 18n

/** What the crowd holds of a side, by slot of the collateral: USD and index token units. */
interface Held {
  readonly usd: [bigint, bigint]
  readonly tokens: [bigint, bigint]
}

interface Spell {
  readonly side: Side
  /** What the crowd wants to hold more on that side, USD. */
  readonly wantedUsd: bigint
  readonly untilMs: number
}

/**
 * Makes a crowd over all markets of a venue that positions can be held on; `seed` decides where it leans and for how long, on each
 * market by itself, so that a market has the same crowd whichever others there are.
 */
export function createCrowd(venue: Venue, seed: number): { step(nowMs: number): void } {
  const { venueState } = venue
  const markets = venueState.markets.filter(({ settings }) => !settings.isSpotOnly)
  const held = new Map(markets.map(({ key }) => [key, { long: nothing(), short: nothing() }]))
  const randoms = new Map(markets.map(({ key }) => [key, randomOf(seed, `crowd ${key}`)]))
  const spells = new Map<string, Spell>()

  function spellOf(market: VenueMarket, nowMs: number): Spell {
    const now = spells.get(market.key)
    const random = randoms.get(market.key) ?? randomOf(seed, `crowd ${market.key}`)
    if (now !== undefined && nowMs < now.untilMs) return now
    const side: Side = random.chance(0.5) ? 'long' : 'short'
    const leanBps = random.chance(0.25) ? 0 : random.int(1_000, 4_000)
    const next = {
      side,
      wantedUsd: (sumOf(market.state[side].interestUsd) * BigInt(leanBps)) / 10_000n,
      untilMs: nowMs + random.int(2, 6) * DAY_MS,
    }
    spells.set(market.key, next)
    return next
  }

  return {
    step(nowMs) {
      const nowSeconds = Math.floor(nowMs / 1000)
      for (const market of markets) {
        const { settings, state, key } = market
        const prices = marketPrices(venueState, market, nowSeconds)
        accrueFunding(settings, state, prices, nowSeconds)
        accrueBorrowing(settings, state, prices, nowSeconds)
        const { side, wantedUsd } = spellOf(market, nowMs)
        const own = held.get(key) ?? { long: nothing(), short: nothing() }
        const index = mid(prices.index)
        move(market, side, own[side], wantedUsd, index)
        move(market, otherSide(side), own[otherSide(side)], 0n, index)
      }
    },
  }
}

const nothing = (): Held => ({ usd: [0n, 0n], tokens: [0n, 0n] })
const sumOf = ([one, other]: readonly [bigint, bigint]): bigint => one + other

/** Brings what the crowd holds of a side a step nearer to what it wants; what it gives up leaves at the price that it came at. */
function move(market: VenueMarket, side: Side, own: Held, wantedUsd: bigint, index: bigint): void {
  const { state, settings } = market
  const stepUsd = (wantedUsd - sumOf(own.usd)) / STEPS_TO_LEAN
  const slots = settings.isSameCollaterals ? ([0] as const) : ([0, 1] as const)
  for (const slot of slots) {
    const usd = stepUsd / BigInt(slots.length)
    const tokens =
      usd > 0n ? usd / index : own.usd[slot] === 0n ? 0n : (own.tokens[slot] * usd) / own.usd[slot]
    own.usd[slot] += usd
    own.tokens[slot] += tokens
    state[side].interestUsd[slot] += usd
    state[side].interestInTokens[slot] += tokens
    const sign = side === 'long' ? -1n : 1n
    state.virtualInventory.usd += sign * usd
    state.virtualInventory.tokens += sign * tokens
  }
}
