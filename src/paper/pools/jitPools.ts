/**
 * Just-in-time liquidity: vaults hold pool tokens of several markets and can shift them into the one where an increase needs
 * room. A vault here is all markets with the same two collateral tokens. What it can bring is a part of what the pool itself
 * may reserve, and swings from hour to hour (docs/reference/api-coverage.md GET /jit/liquidity_info and A3).
 */
import { getAddress, keccak256, toHex } from 'viem/utils'
import type { Address } from '../../protocol/address.ts'
import { type Capacity, tradingCapacity } from '../math/capacity.ts'
import { fac, max, min, ONE } from '../math/integer.ts'
import {
  cloneMarket,
  type MarketPrices,
  type MarketState,
  maxReservedUsd,
  poolUsd,
  reservedUsd,
  type Side,
} from '../math/marketState.ts'
import { bell, hashText } from '../math/random.ts'
import { poolNameOf } from '../state/lookup.ts'
import type { VenueMarket } from '../state/seedMarkets.ts'
import { marketPrices, type VenueState } from '../state/venueState.ts'

/** A vault of pool tokens. */
export interface JitVault {
  readonly glv: Address
  /** Collateral tokens, as `WETH-USDC`. */
  readonly poolName: string
  readonly markets: readonly VenueMarket[]
}

/** Fewest markets that make a vault. */
const MIN_VAULT_MARKETS = 3
const HOUR = 3600

const vaultMemo = new WeakMap<VenueState, ReadonlyMap<string, JitVault>>()

function vaultsByPool(venueState: VenueState): ReadonlyMap<string, JitVault> {
  const known = vaultMemo.get(venueState)
  if (known !== undefined) return known
  const byPool = new Map<string, VenueMarket[]>()
  for (const market of venueState.markets) {
    if (market.settings.isSpotOnly || market.settings.isSameCollaterals) continue
    const name = poolNameOf(market)
    byPool.set(name, [...(byPool.get(name) ?? []), market])
  }
  const vaults = new Map<string, JitVault>()
  for (const [poolName, markets] of byPool) {
    if (markets.length < MIN_VAULT_MARKETS) continue
    const hash = keccak256(toHex(`GLV [${poolName}] ${venueState.chain.name}`))
    vaults.set(poolName, { glv: getAddress(`0x${hash.slice(26)}`), poolName, markets })
  }
  vaultMemo.set(venueState, vaults)
  return vaults
}

/** All vaults of the chain. */
export function jitVaults(venueState: VenueState): readonly JitVault[] {
  return [...vaultsByPool(venueState).values()]
}

const vaultOfMarket = new WeakMap<VenueMarket, JitVault | null>()

/** The vault that can help a market, or undefined. */
function vaultOf(venueState: VenueState, market: VenueMarket): JitVault | undefined {
  let vault = vaultOfMarket.get(market)
  if (vault === undefined) {
    const { isSpotOnly, isSameCollaterals } = market.settings
    vault =
      isSpotOnly || isSameCollaterals ? null : (vaultsByPool(venueState).get(poolNameOf(market)) ?? null)
    vaultOfMarket.set(market, vault)
  }
  return vault ?? undefined
}

/** USD that the vault can add to what a side may reserve, given what the pool itself lets it reserve at that time. */
export function jitLiquidityUsd(
  venueState: VenueState,
  market: VenueMarket,
  side: Side,
  seconds: number,
  poolReserveUsd: bigint,
): bigint {
  if (vaultOf(venueState, market) === undefined) return 0n
  const stream = hashText(`${venueState.seed}:${market.key}:jit:${side}`)
  const hour = Math.floor(seconds / HOUR)
  const part = seconds / HOUR - hour
  const swing = bell(stream, hour) * (1 - part) + bell(stream, hour + 1) * part
  const shareBps = Math.max(0, Math.round(venueState.settings.jitPoolShareBps * (1 + 0.9 * swing)))
  return (poolReserveUsd * BigInt(shareBps)) / 10_000n
}

/** Most that a side may reserve with the vault's help now; undefined where JIT cannot be counted on. */
function maxReservedWithJit(
  venueState: VenueState,
  market: VenueMarket,
  side: Side,
  prices: MarketPrices,
  seconds: number,
): bigint | undefined {
  if (venueState.dataFaults.jitData !== 'available' || vaultOf(venueState, market) === undefined)
    return undefined
  const native = maxReservedUsd(market.settings, market.state, side, prices)
  return native + jitLiquidityUsd(venueState, market, side, seconds, native)
}

/** Trading capacity of a side at given prices, JIT included when its data is usable. */
export function capacityAt(
  venueState: VenueState,
  market: VenueMarket,
  side: Side,
  prices: MarketPrices,
  seconds: number,
): Capacity {
  return tradingCapacity(
    market.settings,
    market.state,
    side,
    prices,
    maxReservedWithJit(venueState, market, side, prices, seconds),
  )
}

/** Room above what is exactly needed that a shift brings, bps: the size in tokens is not known before the execution. */
const SHIFT_MARGIN_BPS = 200n

/**
 * Shifts liquidity of the vault into a market's pool when an increase needs it and the vault has it; the tokens leave the pool
 * of the vault's market with the most to spare. Works on drafts by market key; without need or help nothing changes.
 */
export function shiftForIncrease(
  venueState: VenueState,
  drafts: Map<string, MarketState>,
  market: VenueMarket,
  side: Side,
  sizeDeltaUsd: bigint,
  prices: MarketPrices,
  seconds: number,
): void {
  const vault = vaultOf(venueState, market)
  if (vault === undefined || sizeDeltaUsd <= 0n) return
  const { settings } = market
  const draft = drafts.get(market.key) ?? cloneMarket(market.state)
  const withJit = maxReservedWithJit(venueState, market, side, prices, seconds)
  if (withJit === undefined) return
  const wanted = reservedUsd(settings, draft, side, prices) + sizeDeltaUsd
  const native = maxReservedUsd(settings, draft, side, prices)
  const limit = max(0n, withJit - native)
  const missing = wanted + (sizeDeltaUsd * SHIFT_MARGIN_BPS) / 10_000n - native
  if (missing <= 0n || wanted - native > limit) return
  const factor = min(settings.reserveFactor[side], settings.openInterestReserveFactor[side])
  const slot = side === 'long' ? 0 : 1
  const price = side === 'long' ? prices.long.min : prices.short.min
  const tokens = (missing * ONE) / factor / price + 1n
  const source = spareMarket(venueState, vault, market, side, tokens * price, seconds)
  if (source === undefined) return
  const sourceDraft = drafts.get(source.key) ?? cloneMarket(source.state)
  sourceDraft.pool[slot] -= tokens
  draft.pool[slot] += tokens
  drafts.set(source.key, sourceDraft)
  drafts.set(market.key, draft)
}

/** The vault's other market with the most unreserved pool, if it has enough. */
export function spareMarket(
  venueState: VenueState,
  vault: JitVault,
  target: VenueMarket,
  side: Side,
  wantedUsd: bigint,
  seconds: number,
): VenueMarket | undefined {
  let best: VenueMarket | undefined
  let bestUsd = wantedUsd
  for (const market of vault.markets) {
    if (market === target) continue
    const prices = marketPrices(venueState, market, seconds)
    const { settings, state } = market
    const factor = settings.reserveFactor[side]
    if (factor === 0n) continue
    const spare =
      poolUsd(settings, state, side, prices) - (reservedUsd(settings, state, side, prices) * ONE) / factor
    // Never more than half of what is free: the source keeps trading.
    if (fac(spare, ONE / 2n) >= bestUsd) {
      best = market
      bestUsd = fac(spare, ONE / 2n)
    }
  }
  return best
}
