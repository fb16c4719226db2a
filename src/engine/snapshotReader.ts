/**
 * Reads the world into a Snapshot: the data that a strategy needs, each part with the moment at which it was true.
 *
 * Everyone needs the catalogue, the tokens and the account: without them there is no snapshot. Other parts may be missing, and decisions that need one
 * are denied. The transport shares concurrent reads of many strategies within the venue's cache windows.
 */
import type { Read } from '../api/transport/route.ts'
import type { Clock } from '../base/clock.ts'
import { defined } from '../base/defined.ts'
import { tolerate } from '../base/tolerate.ts'
import type { Snapshot } from '../domain/snapshot.ts'
import type { Feed } from '../domain/venueEvent.ts'
import { createKnown, type KnownVenue, MARKET_VALUES_AGE_MS, staleValues } from '../market/knownVenue.ts'
import { readImpactSettings } from '../market/marketImpact.ts'
import { type MarketViewsContext, readMarketViews, readPrices } from '../market/marketViews.ts'
import type { Address } from '../protocol/address.ts'
import type { Reading } from '../protocol/reading.ts'
import type { Needs } from '../strategy/strategy.ts'

/** Dependencies of a snapshot's reading. */
export interface SnapshotContext extends Omit<MarketViewsContext, 'clock' | 'known'> {
  readonly clock: Clock
  readonly account: Address
  /** Earlier observations of the venue; retained from snapshot to snapshot. Absent: none. */
  readonly known?: KnownVenue
  /** Oldest refresh of a market's values that its data counts as fresh with, ms. Absent: `MARKET_VALUES_AGE_MS`. */
  readonly maxMarketValuesAgeMs?: number
  /** Returns the markets of the journal's positions, whatever lists show. Absent: none. */
  readonly heldMarkets?: () => readonly Address[]
  /** Told of every part that was read, with its age. */
  readonly onFeed: (feed: Feed, ageMs: number) => void
}

/** Reads the data that `needs` requests. Throws what the api throws when the catalogue, the tokens or the account cannot be read. */
export async function readSnapshot(context: SnapshotContext, needs: Needs): Promise<Snapshot> {
  const { api, account, clock, known = createKnown() } = context
  const [markets, tokens, positions, orders, oracle, states, balances, staleOf] = await Promise.all([
    api.getMarkets(),
    api.getTokensInfo(),
    api.getPositions({ account }),
    api.getOrders({ account }),
    tolerate(readPrices(api, known)),
    tolerate(api.getMarketsState()),
    needs.balances === true ? tolerate(api.getWalletBalances({ account })) : undefined,
    staleValues(api, clock, known, context.maxMarketValuesAgeMs ?? MARKET_VALUES_AGE_MS),
    readImpactSettings(api, clock, known),
  ])
  const views = await readMarketViews(
    { ...context, known },
    { markets, tokens, oracle, states, staleOf },
    {
      ...needs,
      held: known.lists.held(
        positions.value,
        positions.missing,
        orders.value,
        context.heldMarkets?.() ?? noMarkets,
      ),
      withHeld: needs.allPositionMarkets === true,
    },
  )
  const snapshot: Snapshot = {
    atMs: clock.now(),
    account,
    markets: views,
    positions: listReading(positions),
    orders: listReading(orders),
    ...defined({ balances: balances && listReading(balances) }),
  }
  reportFeeds(context, snapshot)
  return snapshot
}

const noMarkets: readonly Address[] = []

function listReading<T>({ value, readAtMs, missing }: Read<T>): Reading<T> {
  return { value, atMs: readAtMs, ...defined({ missing }) }
}

function reportFeeds(context: SnapshotContext, snapshot: Snapshot): void {
  const report = (feed: Feed, readings: readonly (Reading<unknown> | undefined)[]) => {
    const known = readings.filter((reading) => reading !== undefined)
    if (known.length === 0) return
    context.onFeed(feed, Math.max(...known.map(({ atMs }) => Math.max(0, snapshot.atMs - atMs))))
  }
  const views = [...snapshot.markets.values()]
  report('positions', [snapshot.positions])
  report('orders', [snapshot.orders])
  report(
    'tickers',
    views.map(({ ticker }) => ticker),
  )
  report(
    'capacity',
    views.flatMap(({ capacityLong, capacityShort }) => [capacityLong, capacityShort]),
  )
  // The price of a market that is closed stands still and nothing is added by it: that it was read is all there is to its age.
  report(
    'oracle',
    views.map(({ status, oraclePrice }) =>
      status === 'closed' && oraclePrice !== undefined
        ? { ...oraclePrice, atMs: snapshot.atMs }
        : oraclePrice,
    ),
  )
  report(
    'candles',
    views.flatMap(({ candles, moreCandles = [] }) => [candles, ...moreCandles]),
  )
}
