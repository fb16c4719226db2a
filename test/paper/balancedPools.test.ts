/**
 * Pools are in balance, those of a new world and those that prices, trades and swaps pushed away from it: nobody gets more out of swaps
 * than he puts in, and in a new world the venue's own route costs its fees.
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { commit } from '../../src/paper/keeper/settle.ts'
import { isCalm } from '../../src/paper/math/arbitrage.ts'
import type { MarketState } from '../../src/paper/math/marketState.ts'
import { ProtocolRevert } from '../../src/paper/math/protocolRevert.ts'
import { findSwapPath, swapAlong } from '../../src/paper/pools/swaps.ts'
import { createVenue } from '../../src/paper/server/venue.ts'
import { marketPrices, slotOf, slotToken, tokenPrice } from '../../src/paper/state/venueState.ts'
import { hexKey } from '../../src/protocol/address.ts'
import { chainNames, chains } from '../../src/protocol/chains/index.ts'
import { usd } from '../../src/protocol/units.ts'
import { manualClock, START_MS } from './support.ts'

const seconds = START_MS / 1000
const put = usd(1_000)

/** A new world, and each token that its pools swap. */
function worldOf(chain: (typeof chainNames)[number], seed: number, traders = 0) {
  const clock = manualClock()
  const venue = createVenue({ clock, chain: chains[chain], seed, settings: { traders } })
  const { venueState } = venue
  const pools = venueState.markets.filter(({ settings }) => !settings.isSameCollaterals)
  const tokens = new Map(
    pools.flatMap(({ longToken, shortToken }) =>
      [longToken, shortToken].map((token) => [hexKey(token.address), token] as const),
    ),
  )
  const amountOf = (token: typeof tokens extends Map<string, infer T> ? T : never) =>
    put / tokenPrice(venueState, token, seconds).max
  return { venue, clock, venueState, pools, tokens, amountOf }
}
type World = ReturnType<typeof worldOf>

/** Holds that one swap of so many dollars through any pool, either way, is worth less at its end than what was put in: so is any route of them. */
function expectNoGain({ venueState, pools }: World, atSeconds: number, putUsd: bigint): void {
  for (const market of pools) {
    for (const slot of [0, 1] as const) {
      const [from, to] = [slotToken(market, slot), slotToken(market, slot === 0 ? 1 : 0)]
      const worth = (token: typeof from, amount: bigint) => {
        const { min, max } = tokenPrice(venueState, token, atSeconds)
        return (amount * (min + max)) / 2n
      }
      const amount = putUsd / tokenPrice(venueState, from, atSeconds).max
      const path = [market.catalog.marketToken]
      const out = trySwapAlong(venueState, from.address, amount, path, atSeconds)
      if (out === undefined) continue
      const label = `${from.symbol} to ${to.symbol} by ${market.catalog.symbol}`
      expect(worth(to, out.amount) < worth(from, amount), label).toBe(true)
    }
  }
}

/** The swap; undefined where the pool refuses it. */
function trySwapAlong(
  venueState: World['venueState'],
  from: `0x${string}`,
  amount: bigint,
  path: readonly `0x${string}`[],
  atSeconds: number,
  drafts = new Map<string, MarketState>(),
) {
  try {
    return { ...swapAlong(venueState, drafts, from, amount, path, atSeconds), drafts }
  } catch (error) {
    if (error instanceof ProtocolRevert) return undefined
    throw error
  }
}

const worlds = chainNames.flatMap((chain) => [7, 1].map((seed) => [chain, seed] as const))

test.each(worlds)(
  'on %s with seed %i no route of up to three swaps of 1,000 dollars gives more than was put in',
  (chain, seed) => {
    const { venueState, pools, tokens, amountOf } = worldOf(chain, seed)
    for (const [start, token] of tokens) {
      // The most of each token after so many swaps. More in gives more out, so that no route gives more than the best of each step.
      let most = new Map([[start, amountOf(token)]])
      for (let swaps = 0; swaps < 3; swaps += 1) {
        const next = new Map<string, bigint>()
        for (const [from, amount] of most) {
          for (const market of pools) {
            const slot = slotOf(market, from as `0x${string}`)
            if (slot === undefined) continue
            const { marketToken } = market.catalog
            const out = swapAlong(
              venueState,
              new Map(),
              from as `0x${string}`,
              amount,
              [marketToken],
              seconds,
            )
            const to = slotToken(market, slot === 0 ? 1 : 0)
            const key = hexKey(to.address)
            if (out.amount > (next.get(key) ?? 0n)) next.set(key, out.amount)
            const worth = out.amount * tokenPrice(venueState, to, seconds).min
            expect(worth < put, `${token.symbol} to ${to.symbol} by ${market.catalog.symbol}`).toBe(true)
          }
        }
        most = next
      }
    }
  },
)

test.each(worlds)(
  'on %s with seed %i the own route of a swap of 1,000 dollars costs its fees, the spread and half a dollar of impact at most',
  (chain, seed) => {
    const { venueState, tokens, amountOf } = worldOf(chain, seed)
    for (const from of tokens.values()) {
      for (const to of tokens.values()) {
        const path = findSwapPath(venueState, from.address, to.address, seconds) ?? []
        if (path.length === 0) continue
        const out = swapAlong(venueState, new Map(), from.address, amountOf(from), path, seconds)
        const spread = [from, to].reduce((sum, token) => {
          const { min, max } = tokenPrice(venueState, token, seconds)
          return sum + (put * (max - min)) / max
        }, 0n)
        const cost = put - out.amount * tokenPrice(venueState, to, seconds).min
        const label = `${from.symbol} to ${to.symbol}: ${cost / 10n ** 26n} of ${out.feeUsd / 10n ** 26n}`
        expect(cost < out.feeUsd + spread + usd(1), label).toBe(true)
        expect(out.impactUsd > -usd(1) / 2n, label).toBe(true)
      }
    }
  },
)

/** Somebody swaps as many dollars through a pool as it lets him, or time passes, in which traders of the venue open and close. */
const deed = fc.oneof(
  fc.record({
    pool: fc.nat(),
    slot: fc.constantFrom(0 as const, 1 as const),
    dollars: fc.integer({ min: 100, max: 5_000_000 }),
  }),
  fc.record({ seconds: fc.integer({ min: 1, max: 20_000 }) }),
)

test('after any swaps and trades, and as prices move, no swap of any size gains anything, and the pools come back to balance', () => {
  fc.assert(
    fc.property(fc.nat(1_000), fc.array(deed, { minLength: 4, maxLength: 8 }), (seed, deeds) => {
      const world = worldOf('arbitrum', seed, 20)
      const { venue, clock, venueState, pools } = world
      for (const each of deeds) {
        const atSeconds = clock.now() / 1_000
        if ('seconds' in each) {
          clock.move(each.seconds * 1_000)
          venue.advance()
        } else {
          const market = pools[each.pool % pools.length]
          if (market === undefined) continue
          const token = slotToken(market, each.slot)
          const amount = usd(each.dollars) / tokenPrice(venueState, token, atSeconds).max
          const path = [market.catalog.marketToken]
          const done = trySwapAlong(venueState, token.address, amount, path, atSeconds)
          if (done !== undefined) commit(venueState, done.drafts)
        }
        for (const dollars of [50, 1_000, 200_000]) expectNoGain(world, clock.now() / 1_000, usd(dollars))
      }
      clock.move(600_000)
      venue.advance()
      const atSeconds = Math.floor(clock.now() / 600_000) * 600
      const isLeft = pools.filter(
        (market) => !isCalm(market.settings, market.state, marketPrices(venueState, market, atSeconds)),
      )
      expect(isLeft.map(({ catalog }) => catalog.symbol)).toEqual([])
    }),
    { seed: 20_261_127, numRuns: 3 },
  )
})
