/**
 * Memory of the venue from one reading to the next: markets and tokens, because a position must remain closable even when its market is no longer
 * listed or its row is unreadable. It also has the time when market values were refreshed.
 */
import type { Api } from '../api/client.ts'
import type { MarketConfig, MarketValues } from '../api/rows/marketInfoTypes.ts'
import { RefusedError } from '../api/transport/apiErrors.ts'
import type { Read } from '../api/transport/route.ts'
import type { Clocks } from '../base/clock.ts'
import { BaseError } from '../base/errors.ts'
import { type Address, hexKey } from '../protocol/address.ts'
import type { Facts } from '../protocol/catalogue.ts'
import type { Market, Token } from '../protocol/market.ts'
import { createSharedLists, type SharedLists } from './sharedLists.ts'

/** Memory of the venue; to be kept as long as the daemon runs. */
export interface KnownVenue {
  /** Data derived from its lists, and from those that were read before. */
  readonly lists: SharedLists
  /** The newest reading of market values; undefined before the first, and where the venue has no such route. */
  values: Read<readonly MarketValues[]> | undefined
  /** Time of their latest request, monotonic ms, and the end of that request, for which all later requests wait. */
  valuesAskedMs: number
  valuesAsked: Promise<void>
  /** The venue said that it has no such route. */
  hasNoValues: boolean
  /** The newest reading of market settings, when they were last asked for, and the end of that question, as of the values. */
  config: Read<readonly MarketConfig[]> | undefined
  configAskedMs: number
  configAsked: Promise<void>
}

/**
 * Returns a memory with only the tokens of our own facts: a host that omits one must not prevent leaving its market. Requests name such a token by
 * its address.
 */
export function createKnown(facts?: Facts): KnownVenue {
  const markets = new Map<string, Market>()
  const tokens = new Map<string, Token>(
    [...(facts?.tokens ?? [])].map(([key, token]) => [key, { ...token, wireName: token.address }]),
  )
  return {
    values: undefined,
    valuesAskedMs: Number.NEGATIVE_INFINITY,
    valuesAsked: Promise.resolve(),
    hasNoValues: false,
    config: undefined,
    configAskedMs: Number.NEGATIVE_INFINITY,
    configAsked: Promise.resolve(),
    lists: createSharedLists(markets, tokens),
  }
}

/** Interval between readings of market values, ms: by default the venue pulls them no more often (docs/reference/api-coverage.md A34 to A37). */
const valuesEveryMs = 5_000

/** Oldest refresh of market values that increases accept by default, ms: twice the venue's own mark. */
export const MARKET_VALUES_AGE_MS = 30_000

/**
 * Says of a market why its values count as stale, or undefined: the venue's refresh is older than `mostMs`, or none worked,
 * or nothing could be read of it so far. A venue without that route says nothing.
 */
export async function staleValues(
  api: Api,
  clock: Clocks,
  known: KnownVenue,
  mostMs: number,
): Promise<(marketToken: Address) => string | undefined> {
  const nowMs = clock.monotonicMs()
  if (nowMs - known.valuesAskedMs >= valuesEveryMs) {
    known.valuesAskedMs = nowMs
    known.valuesAsked = readValues(api, known)
  }
  // The last reading suffices while the venue does not answer: nobody waits, and its age is visible.
  const lastMs = known.values?.readAtMs ?? Number.NEGATIVE_INFINITY
  if (clock.now() - lastMs > 2 * valuesEveryMs) await known.valuesAsked
  const { values, hasNoValues } = known
  if (values === undefined) return () => (hasNoValues ? undefined : 'market values could not be read')
  const skewMs = api.clockSkewMs(values.host) ?? 0
  const rows = known.lists.values(values.value)
  return (marketToken) => {
    const stampMs = rows.get(hexKey(marketToken))?.updatedAtMs
    if (stampMs === undefined) return 'its row of the market values cannot be read'
    if (stampMs === null) return 'every refresh of its market values failed'
    const ageMs = clock.now() + skewMs - stampMs
    return ageMs > mostMs ? `its market values were refreshed ${Math.floor(ageMs / 1000)} s ago` : undefined
  }
}

async function readValues(api: Api, known: KnownVenue): Promise<void> {
  try {
    known.values = await api.getMarketsValues()
    known.hasNoValues = false
  } catch (error) {
    if (!(error instanceof BaseError)) throw error
    known.hasNoValues = error instanceof RefusedError && error.status === 404
  }
}
