/** Swaps through market pools: routes, and what comes out at their end. */
import { type Address, hexKey, sameHex } from '../../protocol/address.ts'
import { mine } from '../blocks/blockChain.ts'
import { actorsOf } from '../blocks/keeperCall.ts'
import type { CatalogToken } from '../catalog/catalog.ts'
import { arbitrage, isCalm } from '../math/arbitrage.ts'
import {
  cloneMarket,
  type MarketPrices,
  type MarketState,
  type PricePair,
  type Slot,
  slotPrice,
} from '../math/marketState.ts'
import { type PoolSwap, swapInPool } from '../math/poolSwap.ts'
import { ProtocolRevert } from '../math/protocolRevert.ts'
import { isEnabled, requireEnabled } from '../state/enabled.ts'
import { type MarketMove, marketLogsOf } from '../state/marketEvents.ts'
import type { VenueMarket } from '../state/seedMarkets.ts'
import {
  madeHash,
  marketPrices,
  slotOf,
  slotToken,
  tokenPrice,
  type VenueState,
} from '../state/venueState.ts'

/** Longest route (contract setting). */
export const MAX_SWAP_PATH = 3

/** Market pools a token can be swapped in: deepest first. */
function neighbours(venueState: VenueState, token: Address, seconds: number): VenueMarket[] {
  const depth = (market: VenueMarket): bigint =>
    market.state.pool[0] * tokenPrice(venueState, market.longToken, seconds).min +
    market.state.pool[1] * tokenPrice(venueState, market.shortToken, seconds).min
  return venueState.markets
    .filter(
      (market) =>
        !market.settings.isSameCollaterals &&
        slotOf(market, token) !== undefined &&
        isEnabled(venueState, market.key),
    )
    .map((market) => ({ market, depth: depth(market) }))
    .sort((a, b) => (a.depth < b.depth ? 1 : -1))
    .map(({ market }) => market)
}

/** Shortest route from one token to another, deepest pools first; [] when they are the same, undefined when none. */
export function findSwapPath(
  venueState: VenueState,
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
      for (const market of neighbours(venueState, token, seconds)) {
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

function otherToken(market: VenueMarket, token: Address): CatalogToken {
  return slotOf(market, token) === 0 ? market.shortToken : market.longToken
}

/** The token that comes out of a route, or undefined when the route does not hold together. */
export function swapPathEnd(
  venueState: VenueState,
  from: Address,
  path: readonly Address[],
): Address | undefined {
  let token = from
  const used = new Set<string>()
  for (const step of path) {
    const market = venueState.marketByKey.get(hexKey(step))
    if (market === undefined || market.settings.isSameCollaterals) return undefined
    if (used.has(market.key) || slotOf(market, token) === undefined) return undefined
    used.add(market.key)
    token = otherToken(market, token).address
  }
  return token
}

/** One pool of a route. */
export interface SwapStep extends PoolSwap {
  readonly market: VenueMarket
  readonly tokenIn: CatalogToken
  readonly tokenOut: CatalogToken
  readonly prices: { readonly in: PricePair; readonly out: PricePair }
  /** Amount in and fee at the token's min price, USD. */
  readonly volumeUsd: bigint
  readonly feeUsd: bigint
  readonly feeForPoolUsd: bigint
}

/** Result of a swap route. */
export interface SwapResult {
  readonly token: Address
  readonly amount: bigint
  /** Swap fees of all steps, USD. */
  readonly feeUsd: bigint
  /** Price impact of all steps, USD, signed. */
  readonly impactUsd: bigint
  /** Pool by pool. */
  readonly steps: readonly SwapStep[]
}

/** A pool's swap with its tokens and prices. */
export function stepOf(market: VenueMarket, slotIn: Slot, moment: MarketPrices, swap: PoolSwap): SwapStep {
  const slotOut: Slot = slotIn === 0 ? 1 : 0
  const prices = { in: slotPrice(moment, slotIn), out: slotPrice(moment, slotOut) }
  return {
    ...swap,
    market,
    tokenIn: slotToken(market, slotIn),
    tokenOut: slotToken(market, slotOut),
    prices,
    volumeUsd: swap.amountIn * prices.in.min,
    feeUsd: swap.feeAmount * prices.in.min,
    feeForPoolUsd: swap.feeAmountForPool * prices.in.min,
  }
}

/** A draft of a market that a swap is to go through: whoever swaps for a gain was there before it. */
export function draftForSwap(venueState: VenueState, market: VenueMarket, seconds: number): MarketState {
  const draft = cloneMarket(market.state)
  if (hasOwnPools(venueState, market)) return draft
  arbitrage(market.settings, draft, marketPrices(venueState, market, seconds))
  return draft
}

/** Tells whether a history has the pools of a market: whoever swapped for a gain is in it. */
function hasOwnPools({ settings }: VenueState, { key }: VenueMarket): boolean {
  return settings.followed.get(key)?.steps[0]?.figures !== undefined
}

/** Seconds between looks at whether a pool has left its balance while nobody swapped. */
const POOL_LOOK_SECONDS = 600

/** The next second at which the pools are looked at. */
export function nextPoolLook(afterSecond: number): number {
  return (Math.floor(afterSecond / POOL_LOOK_SECONDS) + 1) * POOL_LOOK_SECONDS
}

/** Most looks at the pools in one catch-up: of a longer gap the last ones are done. */
const MAX_POOL_LOOKS = 144

/** Brings every pool back into balance that prices and trades pushed out of it, at each look after one second and up to another. */
export function balancePools(venueState: VenueState, fromSecond: number, toSecond: number): void {
  const oldest = toSecond - MAX_POOL_LOOKS * POOL_LOOK_SECONDS
  for (
    let second = nextPoolLook(Math.max(fromSecond, oldest));
    second <= toSecond;
    second += POOL_LOOK_SECONDS
  ) {
    for (const market of venueState.markets) {
      if (market.settings.isSameCollaterals || !isEnabled(venueState, market.key)) continue
      if (hasOwnPools(venueState, market)) continue
      const prices = marketPrices(venueState, market, second)
      if (isCalm(market.settings, market.state, prices)) continue
      const draft = cloneMarket(market.state)
      arbitrage(market.settings, draft, prices)
      const move = { market, before: market.state }
      market.state = draft
      mineSwap(venueState, move, second)
    }
  }
}

/** Mines the swap by which a stranger brought a pool into balance, so that the chain tells of it. */
function mineSwap(venueState: VenueState, move: MarketMove, second: number): void {
  const { blockChain, chain } = venueState
  const logs = marketLogsOf(move)
  if (logs.length === 0) return
  blockChain.atMs = Math.max(blockChain.atMs, second * 1000)
  mine(blockChain, {
    hash: madeHash(venueState, `swap:${move.market.key}`, second),
    ...{ sender: 'stranger', to: actorsOf(chain).orderHandler, input: '0x' },
  }).logs.push(...logs)
}

/**
 * Swaps an amount along a route on drafts of the markets (by market key, filled as needed).
 *
 * @throws ProtocolRevert InvalidSwapMarket, DuplicatedMarketInSwapPath, DisabledMarket, and what a pool refuses
 */
export function swapAlong(
  venueState: VenueState,
  drafts: Map<string, MarketState>,
  from: Address,
  amountIn: bigint,
  path: readonly Address[],
  seconds: number,
): SwapResult {
  requireEnabled(venueState, path)
  let token = from
  let amount = amountIn
  const steps: SwapStep[] = []
  for (const [i, hop] of path.entries()) {
    const market = venueState.marketByKey.get(hexKey(hop))
    const slot = market === undefined ? undefined : slotOf(market, token)
    if (market === undefined || slot === undefined || market.settings.isSameCollaterals) {
      throw new ProtocolRevert('InvalidSwapMarket', [hop])
    }
    if (path.slice(0, i).some((before) => sameHex(before, hop))) {
      throw new ProtocolRevert('DuplicatedMarketInSwapPath', [hop])
    }
    const draft = drafts.get(market.key) ?? draftForSwap(venueState, market, seconds)
    const prices = marketPrices(venueState, market, seconds)
    const step = stepOf(market, slot, prices, swapInPool(market.settings, draft, slot, amount, prices))
    drafts.set(market.key, draft)
    steps.push(step)
    amount = step.amountOut
    token = step.tokenOut.address
  }
  const sum = (of: (step: SwapStep) => bigint): bigint => steps.reduce((all, step) => all + of(step), 0n)
  return {
    token,
    amount,
    feeUsd: sum((step) => step.feeUsd),
    impactUsd: sum((step) => step.priceImpactUsd),
    steps,
  }
}
