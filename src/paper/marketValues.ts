/**
 * Values of markets as they were pulled: every five seconds all of them. A pull that fails leaves what was there, and it ages
 * (docs/api-coverage.md A1 and A35).
 */
import { namesMarket } from './dataFaults.ts'
import type { Json } from './http.ts'
import { valuesRow } from './marketRows.ts'
import type { WorldMarket } from './seedMarkets.ts'
import type { World } from './world.ts'

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

/** What a world was last pulled to, and what failing pulls have left standing. */
interface Pulls {
  last: Pull | undefined
  /** The pull that stands while every pull fails. */
  held: Pull | undefined
  /** Rows of markets whose own refresh fails. */
  readonly kept: Map<string, Row>
}

const pullsOf = new WeakMap<World, Pulls>()

function pulls(world: World): Pulls {
  const known = pullsOf.get(world) ?? { last: undefined, held: undefined, kept: new Map<string, Row>() }
  pullsOf.set(world, known)
  return known
}

function rowOf(world: World, pull: Pull, market: WorldMarket, nowMs: number): Row {
  const row = pull.rows.get(market.key) ?? valuesRow(world, market, nowMs)
  pull.rows.set(market.key, row)
  return row
}

/**
 * Holds what stands at this moment, where pulls have begun to fail, and lets go where they work again. To be called when
 * time passes or a fault changes; costs nothing while there is no such fault.
 */
export function holdFailingValues(world: World, nowMs: number): void {
  const { marketData, staleValues } = world.dataFaults
  const isFresh = marketData === 'fresh'
  if (isFresh && staleValues.length === 0 && !pullsOf.has(world)) return
  const known = pulls(world)
  if (isFresh) known.held = undefined
  else if (known.held === undefined) {
    known.held = pullAt(world, nowMs)
    for (const market of world.markets) rowOf(world, known.held, market, nowMs)
  }
  for (const key of known.kept.keys()) if (!namesMarket(staleValues, key)) known.kept.delete(key)
  if (staleValues.length === 0) return
  for (const market of world.markets) {
    if (known.kept.has(market.key) || !namesMarket(staleValues, market.key)) continue
    known.kept.set(market.key, rowOf(world, known.held ?? pullAt(world, nowMs), market, nowMs))
  }
}

/** The pull that is current at a moment. */
function pullAt(world: World, nowMs: number): Pull {
  const known = pulls(world)
  const atMs = Math.floor(nowMs / PULL_MS) * PULL_MS
  if (known.last?.atMs !== atMs) known.last = { atMs, rows: new Map() }
  return known.last
}

/** A `/markets/values` row: as it was pulled, with when; `updatedAt` is null for a market whose own refresh fails. */
export function pulledValues(world: World, market: WorldMarket, nowMs: number): Record<string, Json> {
  holdFailingValues(world, nowMs)
  const { kept, held } = pulls(world)
  const left = kept.get(market.key)
  if (left !== undefined) return { ...left, updatedAt: null }
  const pull = held ?? pullAt(world, nowMs)
  return { ...rowOf(world, pull, market, nowMs), updatedAt: pull.atMs }
}

/** Markets whose values are stale; disabled ones are left out of the account. */
export function valuesStaleness(world: World, nowMs: number): Json {
  holdFailingValues(world, nowMs)
  const { kept, held } = pulls(world)
  const isOld = held !== undefined && nowMs - held.atMs > STALE_VALUES_MS
  const counted = world.markets.filter(({ key }) => !namesMarket(world.dataFaults.disabledMarkets, key))
  return {
    counted: counted.length,
    stale: counted.filter(({ key }) => isOld || kept.has(key)).map(({ catalog }) => catalog.marketToken),
  }
}
