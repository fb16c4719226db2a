/**
 * An operator's decision on a market: to resume it although a host contradicts its facts, or to trust one that is not shipped and that the chain did
 * not prove. The latter requires the same statement from all hosts of both services.
 */
import { z } from 'zod'
import type { Api } from '../../api/client.ts'
import { BaseError } from '../../base/errors.ts'
import type { Catalogue } from '../../market/marketCatalogue.ts'
import { asListed } from '../../market/pinnedApi.ts'
import { type Address, hexKey, sameHex } from '../../protocol/address.ts'
import {
  isSwapOnly,
  type MarketFacts,
  marketSymbolOf,
  namesMarket,
  type SaidMarket,
  type SaidToken,
  type TokenFacts,
  tokenContradiction,
  tokenFactsOf,
  tokensOfMarket,
} from '../../protocol/catalogue.ts'
import { namedBy } from '../commandLine.ts'
import type { CommandOf, CommandRow } from '../commandRow.ts'
import { type OperatorAnswer, type Refusal, refusal } from '../operatorAnswer.ts'

const body = z.strictObject({})

/** The command. `market`: its symbol, or its market token. */
type MarketCommand = CommandOf<'market', typeof body, 'market'>

/** Its row. */
export const trustMarketRow: CommandRow<MarketCommand> = {
  type: 'market',
  route: '/api/markets/:market/trust',
  body,
  run: (context, { market }, { by }) => trustMarket(context, market, by),
  api: { example: {}, note: 'a symbol or an address' },
  cli: [
    {
      name: 'markets trust',
      summary: 'Trust a market that does not ship with perpd, or one that a host contradicts.',
      details:
        'perpd trusts a market that does not ship with it only when all hosts of both services agree on it now. Compare its tokens with\nthe chain first. The journal records the statement and your name.',
      positional: {
        name: 'market',
        among: 'markets',
        doc: "a market's symbol or address; perpd markets lists them",
      },
      flags: [namedBy],
      examples: ['perpd markets trust "ETH/USD [WETH-USDC]" --by ann'],
    },
  ],
}

/** Statement of one host; a host of the oracle lists no markets and gives only decimals. */
interface HostStatement {
  readonly host: string
  readonly markets?: readonly SaidMarket[]
  readonly tokens: readonly SaidToken[]
}

/**
 * Trusts the market of that symbol or address for an operator. Refuses with MARKET_UNKNOWN, MARKET_NOT_CONTRADICTED, HOST_SILENT and
 * MARKET_FACTS_DIFFER.
 */
export async function trustMarket(
  { catalogue, api }: { readonly catalogue: Catalogue; readonly api: Api },
  name: string,
  by: string,
): Promise<OperatorAnswer> {
  const known = [...catalogue.facts().markets.values()].find((market) => isNamed(market, name))
  if (known !== undefined) {
    const against = catalogue.contradictionsOf(known.marketToken)
    if (against.length === 0) {
      const { state } = catalogue.standing(known.marketToken)
      return refusal('MARKET_NOT_CONTRADICTED', `${known.symbol} is ${state}, and no host contradicts it`)
    }
    await catalogue.settle(against, by)
    const clauses = against.map(({ host, statement }) => `${host} ${statement}`).join('; ')
    return {
      ok: true,
      statement: `${by} trusts the pinned facts of ${known.symbol}, although ${clauses}`,
    }
  }
  const words = await statementsOf(asListed(api))
  if ('code' in words) return words
  const listed = words.flatMap(({ markets = [] }) => markets).filter((market) => isNamed(market, name))
  const tokens = new Set(listed.map(({ marketToken }) => hexKey(marketToken)))
  const [said] = listed
  if (said === undefined || tokens.size > 1) {
    const problem = said === undefined ? 'no host lists' : `hosts list ${tokens.size} markets that are called`
    return refusal('MARKET_UNKNOWN', `${problem} ${name}; perpd markets lists them with their addresses`)
  }
  const agreed = agreement(said.marketToken, words, catalogue)
  if (typeof agreed === 'string') return refusal('MARKET_FACTS_DIFFER', agreed)
  await catalogue.trust(agreed.market, agreed.tokens, by)
  return {
    ok: true,
    statement: `${agreed.market.symbol} (${agreed.market.marketToken}) is trusted by ${by}: all ${words.length} hosts agree on it`,
  }
}

function isNamed({ symbol, marketToken }: SaidMarket, name: string): boolean {
  return symbol === name || sameHex(marketToken, name)
}

/** Reads the present statements of every host of both services; returns a refusal when one does not answer. */
async function statementsOf(api: Api): Promise<readonly HostStatement[] | Refusal> {
  const ofApi = api.hosts.api.map(async (host): Promise<HostStatement> => {
    const options = { host, isFresh: true } as const
    const [markets, tokens] = await Promise.all([api.getMarkets(options), api.getTokensInfo(options)])
    return { host, markets: markets.value, tokens: tokens.value }
  })
  const ofOracle = api.hosts.oracle.map(async (host): Promise<HostStatement> => {
    const { value } = await api.getOracleTokens({ host, isFresh: true })
    return { host, tokens: value.map(({ address, decimals }) => ({ address, decimals })) }
  })
  try {
    return await Promise.all([...ofApi, ...ofOracle])
  } catch (error) {
    if (!(error instanceof BaseError)) throw error
    return refusal(
      'HOST_SILENT',
      `all hosts must agree, but one does not respond: ${error.message} Retry, or remove a dead host from venue.apiHosts or venue.oracleHosts.`,
    )
  }
}

/** The facts that all hosts agree on; else the first difference, as a clause. */
function agreement(
  marketToken: Address,
  words: readonly HostStatement[],
  catalogue: Catalogue,
): { readonly market: MarketFacts; readonly tokens: readonly TokenFacts[] } | string {
  const facts = catalogue.facts()
  let market: SaidMarket | undefined
  for (const { host, markets } of words) {
    if (markets === undefined) continue
    const row = markets.find((each) => sameHex(each.marketToken, marketToken))
    if (row === undefined) return `${host} does not list it`
    market ??= row
    for (const name of ['symbol', 'indexToken', 'longToken', 'shortToken'] as const) {
      if (hexKey(row[name] ?? '') !== hexKey(market[name] ?? ''))
        return `${host} says that its ${name} is ${row[name]}, and another host ${market[name]}`
    }
  }
  if (market === undefined) return 'no host lists it'
  const sides = [market.longToken, market.shortToken, ...(isSwapOnly(market) ? [] : [market.indexToken])]
  const found = new Map<string, TokenFacts>()
  for (const address of sides) {
    const key = hexKey(address)
    for (const { host, tokens } of words) {
      const row = tokens.find((each) => sameHex(each.address, address))
      if (row === undefined) return `${host} does not list its token ${address}`
      const before = facts.tokens.get(key) ?? found.get(key)
      const { decimals } = row
      if (before === undefined) {
        if (decimals === undefined) return `${host} does not say the decimals of its token ${address}`
        found.set(key, tokenFactsOf({ ...row, decimals }))
      }
      const difference = before === undefined ? undefined : tokenContradiction(row, before)
      if (difference !== undefined) return `${host} ${difference}`
    }
  }
  const own = tokensOfMarket(market, new Map([...facts.tokens, ...found]))
  if (own === undefined) return 'one of its tokens is unknown'
  const symbol = marketSymbolOf(own)
  if (market.symbol === undefined || !namesMarket(market.symbol, own))
    return `the hosts call it ${market.symbol}, but its tokens give the name ${symbol}`
  const other = [...facts.markets.values()].find((each) => each.symbol === symbol)
  if (other !== undefined) return `${symbol} is the name of ${other.marketToken}`
  const { indexToken, longToken, shortToken } = market
  return { market: { symbol, marketToken, indexToken, longToken, shortToken }, tokens: [...found.values()] }
}
