/** Swaps through market pools: routes, and amounts at oracle prices less the swap fee (swap impact is left out). */
import { type Address, hexKey } from '../domain/address.ts'
import type { CatalogToken } from './catalog.ts'
import { isEnabled, requireEnabled } from './enabled.ts'
import type { SwapStep } from './ledger.ts'
import { fac } from './model/integer.ts'
import { cloneMarket, type MarketState, type Slot } from './model/market.ts'
import { ProtocolRevert } from './model/revert.ts'
import type { WorldMarket } from './seedMarkets.ts'
import { marketPrices, slotOf, slotToken, tokenPrice, type World } from './world.ts'

/** Longest route (contract setting). */
export const MAX_SWAP_PATH = 3

/** Market pools a token can be swapped in: deepest first. */
function neighbours(world: World, token: Address, seconds: number): WorldMarket[] {
  const depth = (market: WorldMarket): bigint =>
    market.state.pool[0] * tokenPrice(world, market.longToken, seconds).min +
    market.state.pool[1] * tokenPrice(world, market.shortToken, seconds).min
  return world.markets
    .filter(
      (market) =>
        !market.settings.isSameCollaterals &&
        slotOf(market, token) !== undefined &&
        isEnabled(world, market.key),
    )
    .map((market) => ({ market, depth: depth(market) }))
    .sort((a, b) => (a.depth < b.depth ? 1 : -1))
    .map(({ market }) => market)
}

/** Shortest route from one token to another, deepest pools first; [] when they are the same, undefined when none. */
export function findSwapPath(
  world: World,
  from: Address,
  to: Address,
  seconds: number,
): Address[] | undefined {
  const target = hexKey(to)
  if (hexKey(from) === target) return []
  let frontier: { token: Address; path: Address[] }[] = [{ token: from, path: [] }]
  const seen = new Set([hexKey(from)])
  for (let hops = 0; hops < MAX_SWAP_PATH; hops += 1) {
    const next: typeof frontier = []
    for (const { token, path } of frontier) {
      for (const market of neighbours(world, token, seconds)) {
        const out = otherToken(market, token)
        const step = [...path, market.catalog.marketToken]
        if (hexKey(out.address) === target) return step
        if (!seen.has(hexKey(out.address))) {
          seen.add(hexKey(out.address))
          next.push({ token: out.address, path: step })
        }
      }
    }
    frontier = next
  }
  return undefined
}

function otherToken(market: WorldMarket, token: Address): CatalogToken {
  return slotOf(market, token) === 0 ? market.shortToken : market.longToken
}

/** The token that comes out of a route, or undefined when the route does not hold together. */
export function swapPathEnd(world: World, from: Address, path: readonly Address[]): Address | undefined {
  let token = from
  const used = new Set<string>()
  for (const step of path) {
    const market = world.marketByKey.get(hexKey(step))
    if (market === undefined || market.settings.isSameCollaterals) return undefined
    if (used.has(market.key) || slotOf(market, token) === undefined) return undefined
    used.add(market.key)
    token = otherToken(market, token).address
  }
  return token
}

/** What a route gave. */
export interface SwapResult {
  readonly token: Address
  readonly amount: bigint
  /** Swap fees of all steps, USD. */
  readonly feeUsd: bigint
  /** Pool by pool. */
  readonly steps: readonly SwapStep[]
}

/**
 * Swaps an amount along a route on drafts of the markets (by market key, filled as needed).
 *
 * @throws ProtocolRevert InvalidSwapMarket, InsufficientPoolAmount
 */
export function swapAlong(
  world: World,
  drafts: Map<string, MarketState>,
  from: Address,
  amountIn: bigint,
  path: readonly Address[],
  seconds: number,
): SwapResult {
  requireEnabled(world, path)
  let token = from
  let amount = amountIn
  let feeUsd = 0n
  const steps: SwapStep[] = []
  for (const step of path) {
    const market = world.marketByKey.get(hexKey(step))
    const slot = market === undefined ? undefined : slotOf(market, token)
    if (market === undefined || slot === undefined || market.settings.isSameCollaterals) {
      throw new ProtocolRevert('InvalidSwapMarket', [step])
    }
    const draft = drafts.get(market.key) ?? cloneMarket(market.state)
    drafts.set(market.key, draft)
    const prices = marketPrices(world, market, seconds)
    const out: Slot = slot === 0 ? 1 : 0
    const priceIn = slot === 0 ? prices.long : prices.short
    const priceOut = slot === 0 ? prices.short : prices.long
    const fee = fac(amount, market.settings.swapFeeFactor)
    const received = ((amount - fee) * priceIn.min) / priceOut.max
    if (received > draft.pool[out])
      throw new ProtocolRevert('InsufficientPoolAmount', [draft.pool[out], received])
    draft.pool[slot] += amount
    draft.pool[out] -= received
    feeUsd += fee * priceIn.min
    steps.push({ marketKey: market.key, volumeUsd: amount * priceIn.min, feeUsd: fee * priceIn.min })
    amount = received
    token = slotToken(market, out).address
  }
  return { token, amount, feeUsd, steps }
}
