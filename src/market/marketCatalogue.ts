/**
 * The daemon's own facts about markets and tokens. They are shipped with the chain, proven by it, or trusted by an operator; hosts' lists are
 * compared with them and never replace them. A host that contradicts them closes the market for increases until it has been correct for a while, or
 * an operator settles it. Reductions continue with our facts.
 */
import { ageMsOf, type Clocks, type Moment, momentOf } from '../base/clock.ts'
import { reasonOf } from '../base/errors.ts'
import { type Contradiction, contradictionKey } from '../domain/accountRecords/marketEntry.ts'
import type { Emit } from '../domain/event.ts'
import { type Denial, type Intent, intentAddsRisk } from '../domain/order/intent.ts'
import { type PoolTokens, type SwapMarkets, swapMarketsOf } from '../execution/context/swapPath.ts'
import { type Address, hexKey } from '../protocol/address.ts'
import {
  type CountedToken,
  type Facts,
  isSwapOnly,
  type MarketFacts,
  marketContradiction,
  marketSymbolOf,
  type SaidMarket,
  type SaidToken,
  type ShippedFacts,
  type TokenFacts,
  tokenContradiction,
  tokenFactsOf,
  tokensOfMarket,
} from '../protocol/catalogue.ts'
import type { MarketRecords } from './marketRecords.ts'

/** Source of a market's facts, or the reason why they do not permit increases. */
export type MarketState = 'shipped' | 'proven' | 'trusted' | 'untrusted' | 'contradicted'

/** A market and its state, for people. */
export interface MarketStanding {
  readonly symbol: string
  readonly marketToken: Address
  readonly state: MarketState
  /** The reason why increases wait, or the person who trusts it; absent where there is neither. */
  readonly why?: string
}

/** Facts of a market from the chain: its tuple and its tokens' decimals and names; or the reason why nothing is proven. */
export type MarketProof =
  | {
      readonly market: Omit<MarketFacts, 'symbol'>
      /** By lower-cased address; a token without a contract is absent. */
      readonly tokens: ReadonlyMap<string, { readonly decimals: number; readonly symbol: string }>
    }
  | { readonly unproven: string }

/** Dependencies of a catalogue. */
export interface CatalogueParts {
  readonly shipped: ShippedFacts
  readonly records: MarketRecords
  readonly clock: Clocks
  readonly emit: Emit
  /** Reads a market from every configured endpoint; absent: none is configured. Never rejects for what a network does. */
  readonly prove?: (marketToken: Address) => Promise<MarketProof>
  /** The journal cannot be written: the daemon stops. */
  readonly fatal: (error: unknown) => void
}

/** A market of a list, as far as swaps need it. */
export type ListedPool = PoolTokens & { readonly marketToken: Address }

/** The daemon's own facts about markets and tokens. */
export interface Catalogue {
  /** All facts in force, whoever they are from. */
  facts(): Facts
  /** Returns a number that changes with the facts, and with other names of markets. */
  version(): number
  /** Lists the markets that hosts list without being in the facts, by lower-cased market token. */
  unpinnedMarkets(): ReadonlyMap<string, SaidMarket>
  /** Sets the hosts in use; earlier statements of others no longer count. */
  useHosts(hosts: readonly string[]): void
  /** Compares a host's list with the facts. */
  judge(
    host: string,
    said: { readonly markets?: readonly SaidMarket[]; readonly tokens?: readonly SaidToken[] },
  ): void
  /** Names a market that is not in the facts: by its tokens, or by its address where that name would be another's. */
  unpinnedSymbol(said: SaidMarket): string
  /** Has the chain asked about a market that is not in the facts, at most once a minute. */
  want(marketToken: Address): void
  standing(marketToken: Address): MarketStanding
  /** Returns the reason why increases on a market wait, or undefined. */
  closedBy(marketToken: Address): string | undefined
  /** Returns the reason why an accepted intent may not be signed any more, or undefined; an order that reduces risk always may. */
  veto(intent: Intent): Denial | undefined
  /** Every market that is known or listed. */
  standings(): readonly MarketStanding[]
  /** Takes in the markets of a list: possible paths of swaps, together with those that the facts know. */
  list(markets: readonly ListedPool[]): void
  /** Markets that a swap may go through; none before a list was taken in. */
  swapMarkets(): SwapMarkets
  /** Open contradictions, oldest first. */
  contradictions(): readonly (Contradiction & { readonly sinceMs: number })[]
  /** Those that close a market. */
  contradictionsOf(marketToken: Address): readonly Contradiction[]
  /** Settles contradictions that an operator accepts; durable when it resolves. */
  settle(contradictions: readonly Contradiction[], by: string): Promise<void>
  /** An operator trusts a market that is not in the facts; durable when it resolves. */
  trust(market: MarketFacts, tokens: readonly TokenFacts[], by: string): Promise<void>
}

/** A host that contradicted the facts has said them right this long before its market opens again, ms. */
export const SETTLE_MS = 600_000
/** Shortest interval between proofs of one market by the chain, ms. */
const PROVE_EVERY_MS = 60_000
/** Most markets that are listed and unknown that are kept; a list of more is no list of this venue. */
const MOST_UNPINNED = 1_000

/** Shortest interval between reports and records of new contradictions, ms. */
const TELL_EVERY_MS = 60_000

interface Open extends Contradiction {
  readonly sinceMs: number
  /** Time of the latest statement, monotonic ms; before this run: when it was written. */
  lastMs: number
}

/** Makes the catalogue over the shipped facts and the journal's records. */
export function createCatalogue(parts: CatalogueParts): Catalogue {
  const { shipped, records, clock, emit, prove, fatal } = parts
  const { fold } = records
  const open = new Map<string, Open>(
    [...fold().open].map(([key, each]) => {
      const agoMs = Math.max(0, clock.now() - each.sinceMs)
      return [key, { ...each, lastMs: momentOf(clock, agoMs).monotonicMs }]
    }),
  )
  const proven = { markets: new Map<string, MarketFacts>(), tokens: new Map<string, TokenFacts>() }
  const unproven = new Map<string, { readonly why: string; readonly at: Moment }>()
  const strangers = new Map<string, SaidMarket>()
  const strangeTokens = new Map<string, CountedToken>()
  const news: { readonly raised: Contradiction[]; readonly gone: Contradiction[] } = { raised: [], gone: [] }
  let toldAtMs = Number.NEGATIVE_INFINITY
  let version = 0
  let swapMarkets: SwapMarkets = new Map()
  let facts = together()
  let names = namesOf()

  function together(): Facts {
    const { markets, tokens } = fold()
    // Shipped facts take precedence over all others: neither a proof nor a statement replaces them.
    return {
      markets: new Map([...proven.markets, ...markets, ...shipped.markets]),
      tokens: new Map([...proven.tokens, ...tokens, ...shipped.tokens]),
    }
  }

  function namesOf(): ReadonlySet<string> {
    return new Set([...facts.markets.values()].map(({ symbol }) => symbol.toLowerCase()))
  }

  function renew(): void {
    version += 1
    facts = together()
    names = namesOf()
    for (const key of facts.markets.keys()) strangers.delete(key)
  }

  function affects(address: Address): readonly MarketFacts[] {
    const key = hexKey(address)
    return [...facts.markets.values()].filter(({ marketToken, indexToken, longToken, shortToken }) =>
      [marketToken, indexToken, longToken, shortToken].some((each) => hexKey(each) === key),
    )
  }

  function symbolsOf(list: readonly Contradiction[]): readonly string[] {
    return [...new Set(list.flatMap(({ address }) => affects(address)).map(({ symbol }) => symbol))]
  }

  /** Reports and persists news: at once, and then once a minute, however often a host changes its statement. */
  function tellNews(): void {
    const nowMs = clock.monotonicMs()
    const isDue = nowMs - toldAtMs >= TELL_EVERY_MS
    if (news.raised.length + news.gone.length === 0 || !isDue) return
    toldAtMs = nowMs
    const [raised, gone] = [news.raised.splice(0).map(plain), news.gone.splice(0).map(plain)]
    if (raised.length > 0) {
      records.write({ kind: 'market.contradicted', contradictions: raised }).catch(fatal)
      emit({ type: 'market.contradicted', contradictions: raised, symbols: symbolsOf(raised) })
    }
    if (gone.length > 0) {
      records.write({ kind: 'market.settled', contradictions: gone }).catch(fatal)
      emit({ type: 'market.settled', contradictions: gone, symbols: symbolsOf(gone) })
    }
  }

  /** Records one host's statement about one address; `statement` describes the contradiction. */
  function take(host: string, address: Address, statement: string | undefined): void {
    const key = contradictionKey({ host, address })
    const known = open.get(key)
    const nowMs = clock.monotonicMs()
    if (statement === undefined) {
      if (known === undefined || nowMs - known.lastMs < SETTLE_MS) return
      open.delete(key)
      news.gone.push(known)
      return
    }
    if (known !== undefined) {
      known.lastMs = nowMs
      return
    }
    if (fold().accepted.get(key) === statement) return
    const raised = { host, address, statement, sinceMs: clock.now(), lastMs: nowMs }
    open.set(key, raised)
    news.raised.push(raised)
  }

  /** A token that nothing is known of: markets that it is in may be named by it. */
  function takeStranger(key: string, token: CountedToken): void {
    const isNew = !strangeTokens.has(key)
    if (isNew && strangeTokens.size >= MOST_UNPINNED) return
    strangeTokens.set(key, token)
    if (isNew) version += 1
  }

  async function ask(marketToken: Address): Promise<void> {
    const key = hexKey(marketToken)
    const proof = await (prove?.(marketToken) ?? Promise.resolve(undefined))
    if (proof === undefined) return
    const why = 'unproven' in proof ? proof.unproven : adopt(proof)
    if (why !== undefined) unproven.set(key, { why, at: momentOf(clock) })
  }

  /** Accepts the chain's proof, or returns the reason why it is not enough. */
  function adopt({
    market,
    tokens,
  }: Exclude<MarketProof, { readonly unproven: string }>): string | undefined {
    const found = new Map<string, TokenFacts>()
    const sides = isSwapOnly(market)
      ? [market.longToken, market.shortToken]
      : [market.indexToken, market.longToken, market.shortToken]
    for (const address of sides) {
      const key = hexKey(address)
      if (facts.tokens.has(key)) continue
      const said = strangeTokens.get(key)
      const own = tokens.get(key)
      if (own === undefined) return `its token ${address} has no contract that returns its decimals`
      if (said?.symbol === undefined || said.symbol.toLowerCase() !== own.symbol.toLowerCase())
        return `its token ${address} calls itself ${own.symbol}, but the hosts call it ${said?.symbol ?? 'nothing'}`
      found.set(key, tokenFactsOf({ ...said, address, decimals: own.decimals }))
    }
    const own = tokensOfMarket(market, new Map([...facts.tokens, ...found]))
    if (own === undefined) return 'one of its tokens is unknown'
    const symbol = marketSymbolOf(own)
    if (names.has(symbol.toLowerCase()))
      return `its tokens give the name ${symbol}, which belongs to another market`
    for (const [key, token] of found) proven.tokens.set(key, token)
    proven.markets.set(hexKey(market.marketToken), { ...market, symbol })
    unproven.delete(hexKey(market.marketToken))
    renew()
    emit({ type: 'market.proven', symbol, marketToken: market.marketToken })
    return undefined
  }

  function contradictionsOf(marketToken: Address): readonly Open[] {
    const market = facts.markets.get(hexKey(marketToken))
    if (market === undefined || open.size === 0) return []
    const own = new Set(
      [market.marketToken, market.indexToken, market.longToken, market.shortToken].map(hexKey),
    )
    return [...open.values()].filter(({ address }) => own.has(hexKey(address)))
  }

  function standing(marketToken: Address): MarketStanding {
    const key = hexKey(marketToken)
    const market = facts.markets.get(key)
    if (market === undefined) {
      const said = strangers.get(key)
      const proof =
        unproven.get(key)?.why ?? (prove === undefined ? 'no chain endpoint is configured' : undefined)
      const name = said === undefined ? marketToken : (said.symbol ?? marketToken)
      return {
        symbol: said === undefined ? marketToken : unpinnedSymbol(said),
        marketToken,
        state: 'untrusted',
        why: `${name} is not shipped with perpd${proof === undefined ? '' : ` and not proven: ${proof}`}; an operator can trust it by its address`,
      }
    }
    const { symbol } = market
    const [against] = contradictionsOf(marketToken)
    if (against !== undefined) {
      return { symbol, marketToken, state: 'contradicted', why: `${against.host} ${against.statement}` }
    }
    if (shipped.markets.has(key)) return { symbol, marketToken, state: 'shipped' }
    const by = fold().markets.get(key)?.by
    if (by !== undefined) return { symbol, marketToken, state: 'trusted', why: `by ${by}` }
    return { symbol, marketToken, state: 'proven' }
  }

  function closedBy(marketToken: Address): string | undefined {
    const { state, why } = standing(marketToken)
    return state === 'untrusted' || state === 'contradicted' ? (why ?? state) : undefined
  }

  function unpinnedSymbol(said: SaidMarket): string {
    const known = new Map(facts.tokens)
    for (const [key, token] of strangeTokens) if (!known.has(key)) known.set(key, tokenFactsOf(token))
    const own = tokensOfMarket(said, known)
    const symbol = own === undefined ? undefined : marketSymbolOf(own)
    return symbol === undefined || symbol !== said.symbol || names.has(symbol.toLowerCase())
      ? said.marketToken
      : symbol
  }

  return {
    facts: () => facts,
    version: () => version,
    unpinnedMarkets: () => strangers,
    unpinnedSymbol,
    useHosts(hosts) {
      const inUse = new Set(hosts)
      for (const [key, { host }] of open) if (!inUse.has(host)) open.delete(key)
    },
    judge(host, said) {
      for (const token of said.tokens ?? []) {
        const key = hexKey(token.address)
        const known = facts.tokens.get(key)
        if (known !== undefined) take(host, token.address, tokenContradiction(token, known))
        else if (token.symbol !== undefined && token.decimals !== undefined)
          takeStranger(key, { ...token, decimals: token.decimals })
      }
      for (const market of said.markets ?? []) {
        const key = hexKey(market.marketToken)
        const known = facts.markets.get(key)
        if (known !== undefined)
          take(host, market.marketToken, marketContradiction(market, known, facts.tokens))
        else if (strangers.has(key) || strangers.size < MOST_UNPINNED) strangers.set(key, market)
      }
      tellNews()
    },
    want(marketToken) {
      const key = hexKey(marketToken)
      if (prove === undefined || facts.markets.has(key)) return
      const last = unproven.get(key)
      if (last !== undefined && ageMsOf(last.at, clock) < PROVE_EVERY_MS) return
      unproven.set(key, { why: last?.why ?? 'the check on the chain is pending', at: momentOf(clock) })
      ask(marketToken).catch((error: unknown) =>
        unproven.set(key, { why: reasonOf(error), at: momentOf(clock) }),
      )
    },
    standing,
    closedBy,
    veto(intent) {
      const why = intentAddsRisk(intent) ? closedBy(intent.terms.marketToken) : undefined
      if (why === undefined) return undefined
      return { code: 'MARKET_NOT_TRUSTED', reason: `before it was signed: ${why}` }
    },
    standings: () =>
      [...facts.markets.values(), ...strangers.values()].map(({ marketToken }) => standing(marketToken)),
    list(markets) {
      swapMarkets = swapMarketsOf([...markets, ...facts.markets.values()])
    },
    swapMarkets: () => swapMarkets,
    contradictions: () => [...open.values()],
    contradictionsOf,
    async settle(contradictions, by) {
      const settled = contradictions.map(plain)
      await records.write({ kind: 'market.settled', contradictions: settled, by })
      for (const each of settled) open.delete(contradictionKey(each))
      emit({ type: 'market.settled', contradictions: settled, symbols: symbolsOf(settled), by })
    },
    async trust(market, tokens, by) {
      await records.write({ kind: 'market.trusted', market, tokens, by })
      renew()
      emit({ type: 'market.trusted', symbol: market.symbol, marketToken: market.marketToken, by })
    },
  }
}

function plain({ host, address, statement }: Contradiction): Contradiction {
  return { host, address, statement }
}
