/**
 * Defines markets and tokens: the facts behind sizes, prices and payloads, which no host may change. A market is its pool's three tokens, a token its
 * decimals. The facts come with the chain's shipped data, from the chain itself, or from an operator; a host's row is only compared with them.
 */
import { type Address, hexKey, sameHex, ZERO_ADDRESS } from './address.ts'

/** Facts of a token. */
export interface TokenFacts {
  readonly address: Address
  readonly symbol: string
  /** Decimals of the token's own amounts. */
  readonly decimals: number
  readonly isStable: boolean
  readonly isNative: boolean
  readonly isWrapped: boolean
  readonly isSynthetic: boolean
  /** Symbol that it wraps or stands for, where the venue names markets by that (`ETH` of WETH). */
  readonly baseSymbol?: string
  /** Its other name at the venue (`WBTC`). */
  readonly assetSymbol?: string
  /** Its name at the oracle, where that is another one. */
  readonly oracleSymbol?: string
  /** Stands before its name where it is shown in thousands or millions (`k` of kPEPE). */
  readonly visualPrefix?: string
}

/** Facts of a market. */
export interface MarketFacts {
  /** `ETH/USD [WETH-USDC]`: made of the names of its tokens. */
  readonly symbol: string
  readonly marketToken: Address
  /** The zero address for a pool that only swaps. */
  readonly indexToken: Address
  readonly longToken: Address
  readonly shortToken: Address
}

/** Facts by lower-cased address. */
export interface Facts {
  readonly tokens: ReadonlyMap<string, TokenFacts>
  readonly markets: ReadonlyMap<string, MarketFacts>
}

/** The facts that are shipped with a chain. */
export interface ShippedFacts extends Facts {
  /** The day that they were printed on, `2026-11-22`. */
  readonly printedOn: string
}

/** The three tokens of a market, as they were found by address; `index` is absent for a pool that only swaps. */
export interface MarketTokens {
  readonly index: TokenFacts | undefined
  readonly long: TokenFacts
  readonly short: TokenFacts
}

/** The name that a market's tokens make: `kPEPE/USD [WETH-USDC]`, `SWAP-ONLY [USDC-USDT]`. */
export function marketSymbolOf({ index, long, short }: MarketTokens): string {
  const pool = `[${long.symbol}-${short.symbol}]`
  if (index === undefined) return `SWAP-ONLY ${pool}`
  return `${index.visualPrefix ?? ''}${index.baseSymbol ?? index.symbol}/USD ${pool}`
}

/** Every name that a token goes by at the venue. */
function namesOf({ symbol, baseSymbol, assetSymbol, oracleSymbol }: TokenFacts): readonly string[] {
  return [symbol, baseSymbol, assetSymbol, oracleSymbol].filter((name) => name !== undefined)
}

/** Tells whether a name is one of the token's names, in any case of letters. */
export function namesToken(said: string, token: TokenFacts): boolean {
  return namesOf(token).some((name) => name.toLowerCase() === said.toLowerCase())
}

/** Tells whether a market's name fits these tokens, by any of their names. */
export function namesMarket(said: string, { index, long, short }: MarketTokens): boolean {
  const indexes =
    index === undefined
      ? ['SWAP-ONLY']
      : namesOf(index).flatMap((name) => [`${name}/USD`, `${index.visualPrefix ?? ''}${name}/USD`])
  const lowered = said.toLowerCase()
  return indexes.some((first) =>
    namesOf(long).some((second) =>
      namesOf(short).some((third) => `${first} [${second}-${third}]`.toLowerCase() === lowered),
    ),
  )
}

/** The tokens of a market by the facts; undefined when one of them is not known. */
export function tokensOfMarket(
  market: Pick<MarketFacts, 'indexToken' | 'longToken' | 'shortToken'>,
  tokens: Facts['tokens'],
): MarketTokens | undefined {
  const long = tokens.get(hexKey(market.longToken))
  const short = tokens.get(hexKey(market.shortToken))
  const index = isSwapOnly(market) ? undefined : tokens.get(hexKey(market.indexToken))
  if (long === undefined || short === undefined) return undefined
  if (index === undefined && !isSwapOnly(market)) return undefined
  return { index, long, short }
}

/** Tells whether a market is a pool that only swaps. */
export function isSwapOnly({ indexToken }: { readonly indexToken: Address }): boolean {
  return sameHex(indexToken, ZERO_ADDRESS)
}

/** A host's row of a market. */
export type SaidMarket = Pick<MarketFacts, 'marketToken' | 'indexToken' | 'longToken' | 'shortToken'> & {
  /** Absent where the host's list names none. */
  readonly symbol?: string | undefined
}

/** A host's row of a token. A missing field claims nothing. */
export interface SaidToken {
  readonly address: Address
  readonly decimals?: number | undefined
  readonly symbol?: string | undefined
  readonly isStable?: boolean | undefined
  readonly baseSymbol?: string | undefined
  readonly assetSymbol?: string | undefined
  readonly visualPrefix?: string | undefined
}

/** A token whose decimals a host says. */
export type CountedToken = SaidToken & { readonly decimals: number }

/** A token as a host lists it, as facts: what a list does not say is not so. */
export function tokenFactsOf(said: CountedToken): TokenFacts {
  const { address, decimals, symbol, isStable, baseSymbol, assetSymbol, visualPrefix } = said
  return {
    address,
    decimals,
    symbol: symbol ?? address,
    isStable: isStable ?? false,
    isNative: false,
    isWrapped: false,
    isSynthetic: false,
    ...(baseSymbol === undefined ? {} : { baseSymbol }),
    ...(assetSymbol === undefined ? {} : { assetSymbol }),
    ...(visualPrefix === undefined ? {} : { visualPrefix }),
  }
}

/** Returns how a host's row of a market contradicts the facts: one clause, or undefined when it does not. */
export function marketContradiction(
  said: SaidMarket,
  facts: MarketFacts,
  tokens: Facts['tokens'],
): string | undefined {
  for (const name of ['indexToken', 'longToken', 'shortToken'] as const) {
    if (!sameHex(said[name], facts[name]))
      return `says that the ${name} of ${facts.symbol} is ${said[name]}, instead of ${facts[name]}`
  }
  const own = tokensOfMarket(facts, tokens)
  if (said.symbol === undefined || said.symbol === facts.symbol) return undefined
  if (own !== undefined && namesMarket(said.symbol, own)) return undefined
  return `calls the market ${facts.marketToken} ${shown(said.symbol)}, and it is ${facts.symbol}`
}

/** Returns how a host's row of a token contradicts the facts: one clause, or undefined when it does not. */
export function tokenContradiction(said: SaidToken, facts: TokenFacts): string | undefined {
  if (said.decimals !== undefined && said.decimals !== facts.decimals)
    return `says that ${facts.symbol} (${facts.address}) has ${said.decimals} decimals instead of ${facts.decimals}`
  if (said.isStable !== undefined && said.isStable !== facts.isStable)
    return `says that ${facts.symbol} (${facts.address}) is ${said.isStable ? 'a' : 'no'} stable coin, and it is ${facts.isStable ? 'one' : 'none'}`
  if (said.symbol === undefined || namesToken(said.symbol, facts)) return undefined
  return `calls the token ${facts.address} ${shown(said.symbol)}, and it is ${facts.symbol}`
}

const LONGEST_NAME = 40

/** A name as a host gave it, for a sentence. */
function shown(name: string): string {
  return JSON.stringify(name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME)}…` : name)
}
