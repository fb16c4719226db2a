/** The market that an order by hand or a task opens on. Of a short symbol with several pools, one is taken by a rule that is shown, or none. */
import type { HasCatalogue } from '../account/accountParts.ts'
import { OPERATOR } from '../domain/accountRecords/operatorName.ts'
import { capacityReading, type Snapshot } from '../domain/snapshot.ts'
import type { HasApi, HasJournal } from '../execution/context/executionParts.ts'
import { sameHex } from '../protocol/address.ts'
import type { Direction, Market } from '../protocol/market.ts'
import { marketsNamed } from '../protocol/marketName.ts'
import { formatDollars, type Usd } from '../protocol/units.ts'
import { basisOf } from '../risk/exposure/availableCapacity.ts'
import { type Refusal, refusal, theOne } from './operatorAnswer.ts'
import { delistedText } from './unknownMarket.ts'

/** The deepest pool is taken where it has more than this many times the capacity of the next. */
const DEEPER_TIMES = 3n

/** A pool of a short symbol. */
export interface Pool {
  readonly symbol: string
  /** The operator holds a part of this side there. */
  readonly isHeld: boolean
  /** Capacity of the side, USD; undefined: nothing fresh says it. */
  readonly freeUsd: Usd | undefined
}

/** A pool and the rule by which it was taken. */
interface ChosenPool {
  readonly symbol: string
  /** `SOL/USD [SOL-USDC], deepest of 3: $5,100,000.00 free, next $900,000.00`. */
  readonly chosen: string
}

/**
 * Takes the pool where the side is held by hand, else the deepest one if the next has less than a third of its capacity. Undefined: two hold it, two are
 * near to each other, or a capacity is unknown. Pure.
 */
export function chosenPool(pools: readonly Pool[]): ChosenPool | undefined {
  const held = pools.filter(({ isHeld }) => isHeld)
  const [one] = held
  if (one !== undefined)
    return held.length > 1
      ? undefined
      : { symbol: one.symbol, chosen: `${one.symbol}, where this side is held by hand` }
  const known = pools.flatMap(({ symbol, freeUsd }) => (freeUsd === undefined ? [] : [{ symbol, freeUsd }]))
  const [deepest, next] = known.toSorted((a, b) => Number(b.freeUsd - a.freeUsd))
  const isDecided =
    known.length === pools.length &&
    deepest !== undefined &&
    deepest.freeUsd > DEEPER_TIMES * (next?.freeUsd ?? 0n)
  if (!isDecided) return undefined
  const others = next === undefined ? '' : `, next ${formatDollars(next.freeUsd)}`
  const chosen = `${deepest.symbol}, deepest of ${pools.length}: ${formatDollars(deepest.freeUsd)} free${others}`
  return { symbol: deepest.symbol, chosen }
}

/** Parts that a market is found by. */
interface MarketContext extends HasApi, HasCatalogue, HasJournal {
  readonly read: (symbols: readonly string[]) => Promise<Snapshot>
}

/** The market with a snapshot of it; `chosen`: the rule that took it, where its name means several. */
export interface NamedMarket {
  readonly market: Market
  readonly snapshot: Snapshot
  readonly chosen?: string
}

/** Finds it. Refuses with MARKET_NOT_LISTED, MARKET_UNKNOWN and MARKET_AMBIGUOUS. Throws what reading throws. */
export async function namedMarket(
  context: MarketContext,
  name: string,
  side: Direction,
): Promise<NamedMarket | Refusal> {
  const all = (await context.api.getMarkets()).value.filter(({ isListed }) => isListed)
  const gone = delistedText(context.catalogue.standings(), all, name)
  if (gone !== undefined) return refusal('MARKET_NOT_LISTED', gone)
  const tradable = all.filter(({ isSpotOnly }) => !isSpotOnly)
  const found = marketsNamed(tradable, name)
  if (found.length <= 1) {
    const market = theOne(tradable, name)
    return 'ok' in market ? market : { market, snapshot: await context.read([market.symbol]) }
  }
  const snapshot = await context.read(found.map(({ symbol }) => symbol))
  const pools = found.map(({ symbol, marketToken }) =>
    poolOn(context, snapshot, { symbol, marketToken, side }),
  )
  const taken = chosenPool(pools)
  const market = found.find(({ symbol }) => symbol === taken?.symbol)
  if (taken !== undefined && market !== undefined) return { market, snapshot, chosen: taken.chosen }
  const free = pools.map(
    ({ symbol, freeUsd }) =>
      `${JSON.stringify(symbol)} (${freeUsd === undefined ? 'capacity unknown' : `${formatDollars(freeUsd)} free`})`,
  )
  return {
    ...refusal('MARKET_AMBIGUOUS', `${name} matches ${free.join(', ')}; give the whole symbol`),
    pools: pools
      .toSorted((one, other) => Number((other.freeUsd ?? -1n) - (one.freeUsd ?? -1n)))
      .map(({ symbol, freeUsd }) => ({ symbol, freeUsd: freeUsd ?? null })),
  }
}

function poolOn(
  { journal }: HasJournal,
  snapshot: Snapshot,
  {
    symbol,
    marketToken,
    side,
  }: { readonly symbol: string; readonly marketToken: string; readonly side: Direction },
): Pool {
  const view = snapshot.markets.get(marketToken.toLowerCase())
  const capacity = view && capacityReading(view, side)?.value
  const isFresh = capacity?.marketDataStatus === 'fresh'
  const isHeld = journal
    .books()
    .partsOf(OPERATOR)
    .some((part) => part.sizeUsd > 0n && part.direction === side && sameHex(part.marketToken, marketToken))
  return { symbol, isHeld, freeUsd: isFresh ? capacity[basisOf(capacity)] : undefined }
}
