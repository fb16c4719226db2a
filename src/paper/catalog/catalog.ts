/** The recorded catalogue of a chain: tokens, markets, settings and sample prices the paper venue starts from. */
import { readFileSync } from 'node:fs'
import { BaseError } from '../../base/errors.ts'
import { type Address, hexKey } from '../../protocol/address.ts'
import type { ChainName } from '../../protocol/chains/chain.ts'

/** A token as recorded from the venue's own token list. */
export interface CatalogToken {
  readonly symbol: string
  readonly name: string
  readonly address: Address
  readonly decimals: number
  readonly isSynthetic: boolean
  readonly isStable: boolean
  readonly isNative: boolean
  readonly isWrapped: boolean
  readonly wrappedAddress?: Address
  readonly baseSymbol?: string
  readonly assetSymbol?: string
  /** Symbol at the oracle, which differs from the application's for some tokens. */
  readonly oracleSymbol?: string
  readonly visualMultiplier?: number
  readonly visualPrefix?: string
  readonly categories?: readonly string[]
  /**
   * True when its contract accepts approvals by signature. `isPermitDisabled`: the venue's own pages make none; `contractVersion`: the version of its
   * signing domain.
   */
  readonly isPermitSupported?: boolean
  readonly isPermitDisabled?: boolean
  readonly contractVersion?: string
}

/** A market as recorded. */
export interface CatalogMarket {
  readonly symbol: string
  readonly marketToken: Address
  readonly indexToken: Address
  readonly longToken: Address
  readonly shortToken: Address
  readonly isSpotOnly: boolean
  readonly isSameCollaterals: boolean
  readonly isListed: boolean
  /** Name at the oracle's `/markets`. */
  readonly oracleName?: string
  readonly listingDate?: string
}

/** Recorded settings of a market: API field names, plus `..._x` settings that the API does not show. */
export type CatalogConfig = Readonly<Record<string, string | boolean>>

/** A chain's catalogue. */
export interface Catalog {
  readonly tokens: readonly CatalogToken[]
  readonly markets: readonly CatalogMarket[]
  readonly config: Readonly<Record<string, CatalogConfig>>
  /** Settings of listed markets without a recorded configuration. */
  readonly defaultConfig: CatalogConfig
  /** Contract prices, USD x 10^(30 - decimals). */
  readonly samplePrices: readonly {
    readonly symbol: string
    readonly address: Address
    readonly min: string
    readonly max: string
  }[]
}

/**
 * Reads the catalogue file of a chain.
 *
 * @throws BaseError PAPER_CATALOG_MISSING when the paper venue has none for the chain
 */
export function loadCatalog(chain: ChainName): Catalog {
  let text: string
  try {
    text = readFileSync(new URL(`./recorded/${chain}.json`, import.meta.url), 'utf8')
  } catch (cause) {
    throw new BaseError(`The paper venue has no catalogue of ${chain}.`, {
      code: 'PAPER_CATALOG_MISSING',
      facts: { chain },
      details: 'Nothing was started. Choose a chain that has a file in src/paper/catalog/recorded/.',
      cause,
    })
  }
  return JSON.parse(text) as Catalog
}

/**
 * The part of a catalogue that some markets need: them, the tokens they are made of, stable coins, and the native token with its wrapped
 * form. What is left is what it was.
 *
 * @throws BaseError PAPER_MARKET_UNKNOWN for a symbol that the catalogue does not have
 */
export function narrowCatalog(catalog: Catalog, chain: ChainName, symbols: readonly string[]): Catalog {
  const markets = catalog.markets.filter(({ symbol }) => symbols.includes(symbol))
  const unknown = symbols.find((symbol) => !markets.some((market) => market.symbol === symbol))
  if (unknown !== undefined) {
    throw new BaseError(`The paper venue has no market ${unknown} on ${chain}.`, {
      code: 'PAPER_MARKET_UNKNOWN',
      facts: { market: unknown, chain },
      details: 'Nothing was started. Correct the list of markets.',
    })
  }
  const needed = new Set(
    markets.flatMap(({ indexToken, longToken, shortToken }) =>
      [indexToken, longToken, shortToken].map(hexKey),
    ),
  )
  const tokens = catalog.tokens.filter(
    ({ address, isNative, isWrapped, isStable }) =>
      isNative || isWrapped || isStable || needed.has(hexKey(address)),
  )
  const kept = new Set(tokens.map(({ address }) => hexKey(address)))
  const samplePrices = catalog.samplePrices.filter(({ address }) => kept.has(hexKey(address)))
  return { ...catalog, markets, tokens, samplePrices }
}

/** Tokens and markets found by address or name, all in any case of hex. */
export interface CatalogIndex {
  readonly catalog: Catalog
  readonly tokenByAddress: ReadonlyMap<string, CatalogToken>
  readonly tokenBySymbol: ReadonlyMap<string, CatalogToken>
  /** The token whose price prices this one: the wrapped token for the native coin, else itself. */
  priceKeyOf(token: CatalogToken): string
}

/** Indexes a catalogue. */
export function indexCatalog(catalog: Catalog): CatalogIndex {
  const tokenByAddress = new Map(catalog.tokens.map((token) => [hexKey(token.address), token]))
  return {
    catalog,
    tokenByAddress,
    tokenBySymbol: new Map(catalog.tokens.map((token) => [token.symbol, token])),
    priceKeyOf: (token) => hexKey(token.isNative ? (token.wrappedAddress ?? token.address) : token.address),
  }
}
