/**
 * What the daemon has seen of the venue and keeps from one reading to the next: markets and tokens, because a position must
 * be left also when its market is no longer listed or its row cannot be read; and when market values were refreshed.
 */
import type { Api } from '../../api/client.ts'
import type { MarketConfig, MarketValues } from '../../api/rows/marketInfoTypes.ts'
import { RefusedError } from '../../api/transport/apiErrors.ts'
import type { Read } from '../../api/transport/route.ts'
import type { Clock } from '../../base/clock.ts'
import { BaseError } from '../../base/errors.ts'
import { type Address, hexKey, sameHex } from '../../protocol/address.ts'
import type { Facts } from '../../protocol/catalogue.ts'
import type { Market, Token } from '../../protocol/market.ts'
import type { MissingRow } from '../../protocol/missing.ts'

/** Memory of the venue, by lower-cased address; to be kept as long as the daemon runs. */
export interface KnownVenue {
  readonly markets: Map<string, Market>
  readonly tokens: Map<string, Token>
  /** The newest reading of market values; undefined before the first, and where the venue has no such route. */
  values: Read<readonly MarketValues[]> | undefined
  /** When they were last asked for, monotonic ms, and the end of that question, which all who ask meanwhile wait for. */
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
 * A memory of nothing but the tokens of our own facts: a host that leaves one out must not keep its market from being left.
 * Requests name such a token by its address.
 */
export function createKnown(facts?: Pick<Facts, 'tokens'>): KnownVenue {
  return {
    markets: new Map(),
    tokens: new Map(
      [...(facts?.tokens ?? [])].map(([key, token]) => [key, { ...token, wireName: token.address }]),
    ),
    values: undefined,
    valuesAskedMs: Number.NEGATIVE_INFINITY,
    valuesAsked: Promise.resolve(),
    hasNoValues: false,
    config: undefined,
    configAskedMs: Number.NEGATIVE_INFINITY,
    configAsked: Promise.resolve(),
  }
}

/**
 * How often market values are read, ms: the venue pulls them no more often by default (docs/api-coverage.md A34 to A37).
 */
const valuesEveryMs = 5_000

/** Oldest refresh of market values that increases may stand on when no setting says so, ms: twice the venue's own mark. */
export const MARKET_VALUES_AGE_MS = 30_000

/**
 * The market that a row or a position names, as a listing or an earlier one has it. One that is no longer listed comes with
 * `isListed` false: it can only be left.
 */
export function marketsNow(
  read: Pick<Read<readonly Market[]>, 'value' | 'missing'>,
  known: KnownVenue,
): ReadonlyMap<string, Market> {
  const now = new Map(read.value.map((market) => [hexKey(market.marketToken), market]))
  for (const [key, market] of now) known.markets.set(key, market)
  for (const [key, market] of known.markets) {
    if (now.has(key)) continue
    const isUnread = names(read.missing, 'marketToken', market.marketToken)
    now.set(key, isUnread ? market : { ...market, isListed: false })
  }
  return now
}

/** A token as the venue lists it, with the symbol of what it wraps. */
type ListedToken = Token & { readonly assetSymbol?: string }

/**
 * Tokens by lower-cased address, those whose row cannot be read as they were, without a price. One whose symbol another has
 * too is named by its asset's symbol in requests (`WBTC`, where the symbol is `BTC`), or by its address.
 */
export function tokensNow(
  read: { readonly value: readonly ListedToken[] },
  known: KnownVenue,
): ReadonlyMap<string, Token> {
  const { value: tokens } = read
  const isShared = (name: string) =>
    tokens.filter(({ symbol, assetSymbol = symbol }) => symbol === name || assetSymbol === name).length > 1
  const symbols = new Set<string>()
  const shared = new Set(
    tokens.filter(({ symbol }) => symbols.size === symbols.add(symbol).size).map(({ symbol }) => symbol),
  )
  const now = new Map(
    tokens.map((token): readonly [string, Token] => {
      const { address, symbol, assetSymbol } = token
      if (!shared.has(symbol)) return [hexKey(address), token]
      const isOwn = assetSymbol !== undefined && !isShared(assetSymbol)
      return [hexKey(address), { ...token, wireName: isOwn ? assetSymbol : address }]
    }),
  )
  for (const [key, token] of now) known.tokens.set(key, token)
  for (const [key, { minPrice: _min, maxPrice: _max, ...token }] of known.tokens) {
    if (!now.has(key)) now.set(key, token)
  }
  return now
}

function names(
  missing: readonly MissingRow[] | undefined,
  by: 'marketToken' | 'token',
  address: Address,
): boolean {
  return (missing ?? []).some((row) => row[by] === undefined || sameHex(row[by] ?? '', address))
}

/**
 * Says of a market why its values count as stale, or undefined: the venue's refresh is older than `mostMs`, or none worked,
 * or nothing could be read of it so far. A venue without that route says nothing.
 */
export async function staleValues(
  api: Pick<Api, 'getMarketsValues' | 'clockSkewMs'>,
  clock: Pick<Clock, 'now' | 'monotonicMs'>,
  known: KnownVenue,
  mostMs: number,
): Promise<(marketToken: Address) => string | undefined> {
  const nowMs = clock.monotonicMs()
  if (nowMs - known.valuesAskedMs >= valuesEveryMs) {
    known.valuesAskedMs = nowMs
    known.valuesAsked = readValues(api, known)
  }
  // What was read last is good enough while the venue does not answer: nobody waits, and its age tells.
  const lastMs = known.values?.readAtMs ?? Number.NEGATIVE_INFINITY
  if (clock.now() - lastMs > 2 * valuesEveryMs) await known.valuesAsked
  const { values, hasNoValues } = known
  if (values === undefined) return () => (hasNoValues ? undefined : 'market values could not be read')
  const skewMs = api.clockSkewMs(values.host) ?? 0
  const rows = new Map(values.value.map((row) => [hexKey(row.marketToken), row]))
  return (marketToken) => {
    const stampMs = rows.get(hexKey(marketToken))?.updatedAtMs
    if (stampMs === undefined) return 'market values have no row of it that can be read'
    if (stampMs === null) return 'no refresh of its market values worked'
    const ageMs = clock.now() + skewMs - stampMs
    return ageMs > mostMs ? `its market values were refreshed ${Math.floor(ageMs / 1000)} s ago` : undefined
  }
}

async function readValues(api: Pick<Api, 'getMarketsValues'>, known: KnownVenue): Promise<void> {
  try {
    known.values = await api.getMarketsValues()
    known.hasNoValues = false
  } catch (error) {
    if (!(error instanceof BaseError)) throw error
    known.hasNoValues = error instanceof RefusedError && error.status === 404
  }
}
