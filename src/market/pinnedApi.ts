/**
 * The API with our own facts in every answer: whatever a host lists, a market has the tokens and a token the decimals of the catalogue, and prices
 * are scaled by them. A host's different statement is reported to the catalogue and reaches nothing else.
 *
 * Requests to hosts use the hosts' own names, so that a market that the venue renamed can still be left. Their messages are verified by addresses.
 */
import type { Api } from '../api/client.ts'
import type { DecimalsOf, OracleToken } from '../api/feeds/oracle.ts'
import { type MarketConfig, namesTokens } from '../api/rows/marketInfoTypes.ts'
import type { TokenRow } from '../api/rows/tokenRow.ts'
import type { Read } from '../api/transport/route.ts'
import { defined } from '../base/defined.ts'
import { sameAgain } from '../base/sameAgain.ts'
import { type Address, hexKey } from '../protocol/address.ts'
import { isSwapOnly, namesToken, type TokenFacts } from '../protocol/catalogue.ts'
import type { Balance, Market, Ticker, Token } from '../protocol/market.ts'
import type { Catalogue } from './marketCatalogue.ts'

type Listed = Token & Pick<TokenRow, 'assetSymbol'>

const unpinned = new WeakMap<Api, Api>()

/** The api behind a pinned one, whose answers are the hosts' own words; any other is given back. */
export function asListed(api: Api): Api {
  return unpinned.get(api) ?? api
}

/** The same api with other reads; what it is pinned over stays known. */
export function withReads(api: Api, reads: Partial<Api>): Api {
  const made: Api = Object.assign(Object.create(api), reads)
  const listed = unpinned.get(api)
  if (listed !== undefined) unpinned.set(made, listed)
  return made
}

/** Receives the rows of a list of tickers that was read. */
type SawTickers = (rows: readonly Ticker[]) => void

/** The api over the catalogue; one that is pinned already comes back as it is. `saw` receives every list of tickers that is read. */
export function pinnedApi(api: Api, catalogue: Catalogue, saw?: SawTickers): Api {
  if (unpinned.has(api)) return api
  catalogue.useHosts([...api.hosts.api, ...api.hosts.oracle])
  /** Hosts' names of markets that they name differently from us: by host, then by market token. */
  const called = new Map<string, Map<string, string>>()
  const bySymbol = memo(catalogue, () => {
    const { markets } = catalogue.facts()
    return new Map([...markets].map(([key, { symbol }]) => [symbol, key]))
  })

  /** The name of a market at a host, or at the host that was read last. */
  function nameAt(symbol: string, host?: string): string {
    const key = bySymbol().get(symbol)
    if (key === undefined || called.size === 0) return symbol
    const names = host === undefined ? [...called.values()].at(-1) : called.get(host)
    return names?.get(key) ?? symbol
  }

  function noteNames(
    host: string,
    rows: readonly { readonly marketToken: Address; readonly symbol: string }[],
  ) {
    const { markets } = catalogue.facts()
    const others = new Map<string, string>()
    for (const { marketToken, symbol } of rows) {
      const known = markets.get(hexKey(marketToken))
      if (known !== undefined && known.symbol !== symbol) others.set(hexKey(marketToken), symbol)
    }
    called.delete(host)
    if (others.size > 0) called.set(host, others)
  }

  const markets = each(catalogue, (read: Read<readonly Market[]>) => {
    catalogue.judge(read.host, { markets: read.value })
    noteNames(read.host, read.value)
    return read.value.map((row) => pinnedMarket(row, catalogue))
  })
  const configs = each(catalogue, (read: Read<readonly MarketConfig[]>) => {
    // The name in a row of settings is no symbol of the list.
    const said = read.value.flatMap((row) => (namesTokens(row) ? [{ ...row, symbol: undefined }] : []))
    catalogue.judge(read.host, { markets: said })
    return read.value.map((row) => pinnedConfig(row, catalogue))
  })
  const tokens = each(catalogue, (read: Read<readonly TokenRow[]>) => {
    catalogue.judge(read.host, { tokens: read.value })
    return read.value.map((row) => pinnedToken(row, catalogue))
  })
  const oracleTokens = each(catalogue, (read: Read<readonly OracleToken[]>): readonly OracleToken[] => {
    catalogue.judge(read.host, {
      tokens: read.value.map(({ address, decimals }) => ({ address, decimals })),
    })
    return read.value.map((row) => ({ ...row, decimals: decimalsOf(row.address) ?? row.decimals }))
  })
  const balances = each(catalogue, (read: Read<readonly Balance[]>) => {
    catalogue.judge(read.host, {
      tokens: read.value.map(({ address, decimals }) => ({ address, decimals })),
    })
    return read.value.map((row) => {
      const known = catalogue.facts().tokens.get(hexKey(row.address))
      return known === undefined ? row : { ...row, decimals: known.decimals, symbol: known.symbol }
    })
  })
  const tickers = each(catalogue, (read: Read<readonly Ticker[]>) =>
    read.value.map((row) => {
      const known = catalogue.facts().markets.get(hexKey(row.marketToken))
      return known === undefined || known.symbol === row.symbol ? row : { ...row, symbol: known.symbol }
    }),
  )
  const decimalsOf = (address: Address) => catalogue.facts().tokens.get(hexKey(address))?.decimals
  const ownDecimals = sameAgain(
    (given: DecimalsOf, _version: number): DecimalsOf =>
      (address) =>
        decimalsOf(address) ?? given(address),
  )

  const pinned: Partial<Api> = {
    getMarkets: async (...rest) => markets(await api.getMarkets(...rest)),
    getMarketsConfig: async (...rest) => configs(await api.getMarketsConfig(...rest)),
    getTokens: async (...rest) => tokens(await api.getTokens(...rest)),
    getTokensInfo: async (...rest) => tokens(await api.getTokensInfo(...rest)),
    getOracleTokens: async (...rest) => oracleTokens(await api.getOracleTokens(...rest)),
    getPrices: (given, options) => api.getPrices(ownDecimals(given, catalogue.version()), options),
    getWalletBalances: async (...rest) => balances(await api.getWalletBalances(...rest)),
    getMarketTickers: async (query = {}, options) => {
      const symbols = query.symbols?.map((symbol) => nameAt(symbol, options?.host))
      const read = tickers(await api.getMarketTickers({ ...query, ...defined({ symbols }) }, options))
      saw?.(read.value)
      return read
    },
    getTradingCapacity: (query, options) =>
      api.getTradingCapacity({ ...query, symbol: nameAt(query.symbol, options?.host) }, options),
    prepareOrder: (request, options) =>
      api.prepareOrder({ ...request, symbol: nameAt(request.symbol, options?.host) }, options),
  }
  // Routes that are not pinned go to the api unchanged.
  const over: Api = Object.assign(Object.create(api), pinned)
  unpinned.set(over, api)
  return over
}

function pinnedMarket(row: Market, catalogue: Catalogue): Market {
  const known = catalogue.facts().markets.get(hexKey(row.marketToken))
  if (known === undefined) {
    const symbol = catalogue.unpinnedSymbol(row)
    return symbol === row.symbol ? row : { ...row, symbol }
  }
  const { symbol, indexToken, longToken, shortToken } = known
  return { ...row, symbol, indexToken, longToken, shortToken, isSpotOnly: isSwapOnly(known) }
}

function pinnedConfig(row: MarketConfig, catalogue: Catalogue): MarketConfig {
  const known = catalogue.facts().markets.get(hexKey(row.marketToken))
  if (known === undefined) return { ...row, name: row.marketToken }
  const { symbol, indexToken, longToken, shortToken } = known
  return { ...row, name: symbol, indexToken, longToken, shortToken, isSpotOnly: isSwapOnly(known) }
}

function pinnedToken(row: TokenRow, catalogue: Catalogue): TokenRow {
  const { tokens } = catalogue.facts()
  const known = tokens.get(hexKey(row.address))
  if (known === undefined) return withOwnName(row, tokens)
  const { assetSymbol: _said, ...rest } = row
  const { symbol, decimals, isStable, isNative, isWrapped, isSynthetic, assetSymbol } = known
  const own: Listed = {
    ...rest,
    symbol,
    decimals,
    isStable,
    isNative,
    isWrapped,
    isSynthetic,
    ...defined({ assetSymbol }),
    // A host with another name for it receives the address.
    ...defined({ wireName: row.symbol === symbol ? undefined : row.address }),
  }
  return own as TokenRow
}

/** A token that nothing is known of must not have the name of one that is. */
function withOwnName(row: TokenRow, tokens: ReadonlyMap<string, TokenFacts>): TokenRow {
  for (const known of tokens.values()) {
    if (namesToken(row.symbol, known)) return { ...row, symbol: row.address, wireName: row.address }
  }
  return row
}

/** Computed anew when the facts change. */
function memo<T>(catalogue: Catalogue, make: () => T): () => T {
  let at = -1
  let value: T
  return () => {
    if (at !== catalogue.version()) {
      value = make()
      at = catalogue.version()
    }
    return value
  }
}

/** Rows of one answer are shared by all who read it: they are looked at once, and again when the facts change. */
function each<Row extends object>(
  catalogue: Catalogue,
  rowsOf: (read: Read<readonly Row[]>) => readonly Row[],
): (read: Read<readonly Row[]>) => Read<readonly Row[]> {
  const done = new WeakMap<readonly Row[], { readonly version: number; readonly rows: readonly Row[] }>()
  return (read) => {
    const last = done.get(read.value)
    if (last?.version === catalogue.version()) return { ...read, value: last.rows }
    const rows = rowsOf(read)
    done.set(read.value, { version: catalogue.version(), rows })
    return { ...read, value: rows }
  }
}
