/**
 * Values of markets as they were pulled: every five seconds all of them. A pull that fails leaves what was there, and it ages
 * (docs/reference/api-coverage.md A1 and A35). Virtual inventories have a refresh apart, and a row is as old as the older of the two.
 */
import type { Json } from '../http/http.ts'
import { namesMarket } from '../state/dataFaults.ts'
import type { VenueMarket } from '../state/seedMarkets.ts'
import type { VenueState } from '../state/venueState.ts'
import { valuesRow } from './marketRows.ts'

/** Milliseconds between pulls. */
const PULL_MS = 5000
/** Age at which values are marked stale, ms; for monitoring only, the rows are still served. */
const STALE_VALUES_MS = 15_000

type Row = Readonly<Record<string, Json>>

/** One pull. */
interface Pull {
  /** Unix ms, a multiple of the interval. */
  readonly atMs: number
  /** Rows by market key, made when they are first asked for. */
  readonly rows: Map<string, Row>
}

/** Newest values that a venue pulled, and older ones that remain after failed pulls. */
interface Pulls {
  last: Pull | undefined
  /** The pull that stands while every pull fails. */
  held: Pull | undefined
  /** The pull whose virtual inventories stand while their own refresh fails. */
  inventories: Pull | undefined
  /** Rows of markets whose own refresh fails. */
  readonly kept: Map<string, Row>
}

const pullsOf = new WeakMap<VenueState, Pulls>()

function pulls(venueState: VenueState): Pulls {
  const known = pullsOf.get(venueState) ?? {
    last: undefined,
    held: undefined,
    inventories: undefined,
    kept: new Map<string, Row>(),
  }
  pullsOf.set(venueState, known)
  return known
}

function rowOf(venueState: VenueState, pull: Pull, market: VenueMarket, nowMs: number): Row {
  const row = pull.rows.get(market.key) ?? valuesRow(venueState, market, nowMs)
  pull.rows.set(market.key, row)
  return row
}

/**
 * Holds what stands at this moment, where pulls have begun to fail, and lets go where they work again. To be called when
 * time passes or a fault changes; costs nothing while there is no such fault.
 */
export function holdFailingValues(venueState: VenueState, nowMs: number): void {
  const { marketData, virtualInventory, staleValues } = venueState.dataFaults
  const isFresh = marketData === 'fresh' && virtualInventory !== 'stale'
  if (isFresh && staleValues.length === 0 && !pullsOf.has(venueState)) return
  const known = pulls(venueState)
  known.held = marketData === 'fresh' ? undefined : (known.held ?? wholePull(venueState, nowMs))
  known.inventories =
    virtualInventory === 'stale' ? (known.inventories ?? wholePull(venueState, nowMs)) : undefined
  for (const key of known.kept.keys()) if (!namesMarket(staleValues, key)) known.kept.delete(key)
  if (staleValues.length === 0) return
  for (const market of venueState.markets) {
    if (known.kept.has(market.key) || !namesMarket(staleValues, market.key)) continue
    known.kept.set(market.key, rowOf(venueState, known.held ?? pullAt(venueState, nowMs), market, nowMs))
  }
}

/** The pull that is current at a moment. */
function pullAt(venueState: VenueState, nowMs: number): Pull {
  const known = pulls(venueState)
  const atMs = Math.floor(nowMs / PULL_MS) * PULL_MS
  if (known.last?.atMs !== atMs) known.last = { atMs, rows: new Map() }
  return known.last
}

/** The pull that is current at a moment, with the rows of all markets. */
function wholePull(venueState: VenueState, nowMs: number): Pull {
  const pull = pullAt(venueState, nowMs)
  for (const market of venueState.markets) rowOf(venueState, pull, market, nowMs)
  return pull
}

/** The older of the refreshes of values and of virtual inventories, Unix ms; null when one of them never succeeded. */
function refreshedAtMs(venueState: VenueState, nowMs: number): number | null {
  if (venueState.dataFaults.virtualInventory === 'never') return null
  const { held, inventories } = pulls(venueState)
  const valuesAtMs = (held ?? pullAt(venueState, nowMs)).atMs
  return Math.min(valuesAtMs, inventories?.atMs ?? valuesAtMs)
}

/** A `/markets/values` row: as it was pulled, with when; `updatedAt` is null for a market whose own refresh fails. */
export function pulledValues(
  venueState: VenueState,
  market: VenueMarket,
  nowMs: number,
): Record<string, Json> {
  holdFailingValues(venueState, nowMs)
  const { kept, held, inventories } = pulls(venueState)
  const left = kept.get(market.key)
  if (left !== undefined) return { ...left, updatedAt: null }
  const row = rowOf(venueState, held ?? pullAt(venueState, nowMs), market, nowMs)
  const old = inventories?.rows.get(market.key)
  return {
    ...row,
    virtualInventoryForPositionsInTokens: (old ?? row).virtualInventoryForPositionsInTokens ?? null,
    updatedAt: refreshedAtMs(venueState, nowMs),
  }
}

/** Markets whose values are stale; disabled ones are left out of the account. */
export function valuesStaleness(venueState: VenueState, nowMs: number): Json {
  holdFailingValues(venueState, nowMs)
  const { kept } = pulls(venueState)
  const atMs = refreshedAtMs(venueState, nowMs)
  const isOld = atMs === null || nowMs - atMs > STALE_VALUES_MS
  const counted = venueState.markets.filter(
    ({ key }) => !namesMarket(venueState.dataFaults.disabledMarkets, key),
  )
  return {
    counted: counted.length,
    stale: counted.filter(({ key }) => isOld || kept.has(key)).map(({ catalog }) => catalog.marketToken),
  }
}
