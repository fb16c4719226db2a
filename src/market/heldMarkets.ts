/**
 * Markets that left the venue's list while the account has a position or order there. `/markets` is the catalogue of listed markets
 * (docs/reference/api-coverage.md GET /markets). A delisted one may be missing, but its positions and orders must still be shown, cancelled and
 * closed.
 */
import type { Api } from '../api/client.ts'
import { type MarketConfig, namesTokens } from '../api/rows/marketInfoTypes.ts'
import { BaseError } from '../base/errors.ts'
import { madeOnce } from '../base/madeOnce.ts'
import { type Address, hexKey, ZERO_ADDRESS } from '../protocol/address.ts'
import type { Facts, MarketFacts } from '../protocol/catalogue.ts'
import { LEAST_POSITION_USD, type Market } from '../protocol/market.ts'

/** A list of markets, and the same by lower-cased market token. */
export interface MarketList {
  readonly byToken: ReadonlyMap<string, Market>
  readonly all: readonly Market[]
}

/** Puts a list of markets by their tokens. */
export function marketList(all: readonly Market[]): MarketList {
  return { byToken: new Map(all.map((market) => [hexKey(market.marketToken), market])), all }
}

/**
 * The listed markets, and those of `held` that are not among them, as no longer listed; without duplicates. Their identity is
 * read from `/markets/config`, which names markets that are not listed too, and else from our own facts.
 */
export async function withHeldMarkets(
  api: Api,
  listed: MarketList,
  held: readonly Address[],
  facts?: Facts,
): Promise<readonly Market[]> {
  if (keysOf(held).isSubsetOf(listed.byToken)) return listed.all
  const missing = new Set([...keysOf(held)].filter((key) => !listed.byToken.has(key)))
  let rows: readonly MarketConfig[] = []
  try {
    rows = (await api.getMarketsConfig()).value
  } catch (error) {
    if (!(error instanceof BaseError)) throw error
  }
  const found = rows.flatMap((row) =>
    missing.has(hexKey(row.marketToken)) && namesTokens(row) ? [unlisted(row)] : [],
  )
  for (const { marketToken } of found) missing.delete(hexKey(marketToken))
  const own = [...missing].flatMap((key) => facts?.markets.get(key) ?? [])
  return [
    ...listed.all,
    ...found,
    ...own.map(({ symbol, ...market }) => unlisted({ ...market, name: symbol })),
  ]
}

/** Lower-case keys of markets, each once; made once for a list. An order that only swaps is on no market. */
const keysOf = madeOnce((held: readonly Address[]): ReadonlySet<string> => {
  return new Set(held.map(hexKey).filter((key) => key !== ZERO_ADDRESS))
})

function unlisted({
  marketToken,
  indexToken,
  longToken,
  shortToken,
  ...row
}: Pick<MarketFacts, 'marketToken' | 'indexToken' | 'longToken' | 'shortToken'> &
  Partial<{ readonly name: string | undefined; readonly isSpotOnly: boolean | undefined }>): Market {
  return {
    symbol: row.name ?? marketToken,
    marketToken,
    indexToken,
    longToken,
    shortToken,
    isListed: false,
    isSpotOnly: row.isSpotOnly ?? false,
    minPositionSizeUsd: LEAST_POSITION_USD,
    minCollateralUsd: LEAST_POSITION_USD,
  }
}
