/** Pools of a new world are in balance: nobody gets more out of swaps than he puts in, and the venue's own route costs its fees. */
import { expect, test } from 'vitest'
import { findSwapPath, swapAlong } from '../../src/paper/market/swaps.ts'
import { createVenue } from '../../src/paper/server/venue.ts'
import { slotOf, slotToken, tokenPrice } from '../../src/paper/state/venueState.ts'
import { hexKey } from '../../src/protocol/address.ts'
import { chainNames, chains } from '../../src/protocol/chains/index.ts'
import { usd } from '../../src/protocol/units.ts'
import { manualClock, START_MS } from './support.ts'

const seconds = START_MS / 1000
const put = usd(1_000)

/** A new world, and each token that its pools swap. */
function worldOf(chain: (typeof chainNames)[number], seed: number) {
  const { venueState } = createVenue({ clock: manualClock(), chain: chains[chain], seed })
  const pools = venueState.markets.filter(({ settings }) => !settings.isSameCollaterals)
  const tokens = new Map(
    pools.flatMap(({ longToken, shortToken }) =>
      [longToken, shortToken].map((token) => [hexKey(token.address), token] as const),
    ),
  )
  const amountOf = (token: typeof tokens extends Map<string, infer T> ? T : never) =>
    put / tokenPrice(venueState, token, seconds).max
  return { venueState, pools, tokens, amountOf }
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
