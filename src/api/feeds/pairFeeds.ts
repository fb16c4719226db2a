/**
 * The pair feeds that have hosts of their own (docs/reference/api-coverage.md A16): summaries of two chains for exchange
 * listings, and the Solana perpetuals. For people and listings, never to trade on.
 */
import { rows } from '../rows/listRows.ts'
import { type Pair, pair, SOLANA_UNSERVED } from '../rows/pairRow.ts'
import type { CallOptions, Read, Route } from '../transport/route.ts'
import type { Transport } from '../transport/transportTypes.ts'

/** Chains that have a summary for listings. */
export type ListingChain = 'arbitrum' | 'avalanche'

/** Whose pairs. */
export interface ListingPairsQuery {
  readonly chain: ListingChain
}

const SNAPSHOT_MS = 60_000

const listingPairsRoute: Route<ListingPairsQuery, readonly Pair[]> = {
  path: '/api/{chain}/pairs',
  method: 'GET',
  service: 'pairFeed',
  kind: 'read',
  cacheMs: SNAPSHOT_MS,
  pathOf: ({ chain }) => `/api/${chain}/pairs`,
  // The format is not documented; it is read as that of `/pairs`.
  decode: (body, asked) => rows(body, '', pair, asked),
}

const solanaFeedRoute: Route<undefined, readonly Pair[]> = {
  path: '/v1/pairs',
  method: 'GET',
  service: 'solanaFeed',
  kind: 'read',
  cacheMs: SNAPSHOT_MS,
  unservedMeans: SOLANA_UNSERVED,
  decode: (body, asked) => rows(body, '', pair, asked),
}

/** Pairs of one chain as exchange listings read them (`GET {pair_feed_url}/api/{chain}/pairs`). */
export function getListingPairs(
  transport: Transport,
  query: ListingPairsQuery,
  options?: CallOptions,
): Promise<Read<readonly Pair[]>> {
  return transport.call(listingPairsRoute, query, options)
}

/**
 * The Solana pairs from the feed's own host, which serves this path alone (`GET {solana_api_url}/v1/pairs`). Rebuilt every
 * 60 s; a snapshot older than 15 minutes is a 503, never an empty list. `getSolanaPairs` reads the same from the
 * application API of Arbitrum.
 */
export function getSolanaFeedPairs(
  transport: Transport,
  options?: CallOptions,
): Promise<Read<readonly Pair[]>> {
  return transport.call(solanaFeedRoute, undefined, options)
}
