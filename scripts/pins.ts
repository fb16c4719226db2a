/**
 * Prints the pinned facts of markets and tokens, src/protocol/chains/pins/*.json: `npm run pins -- [--recorded FILE --name SOURCE] [--live]`.
 *
 * Two sources at least: the catalogue of src/paper/catalog/recorded, and another recorded one (FILE, `{"chains": {NAME: {"tokens",
 * "markets"}}}`) or, with --live, every host of both services as they answer now. A fact that two sources tell differently
 * is printed, and no file is written: somebody must look.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { createApi } from '../src/api/client.ts'
import { createNodeFetch } from '../src/api/transport/nodeFetch.ts'
import { systemClock } from '../src/base/systemClock.ts'
import { loadCatalog } from '../src/paper/catalog/catalog.ts'
import { hexKey } from '../src/protocol/address.ts'
import {
  type MarketFacts,
  marketContradiction,
  type SaidMarket,
  type SaidToken,
  type TokenFacts,
  tokenContradiction,
} from '../src/protocol/catalogue.ts'
import type { Chain, ChainName } from '../src/protocol/chains/chain.ts'
import { chains } from '../src/protocol/chains/index.ts'

/** What one source says. */
interface Source {
  readonly name: string
  readonly tokens: readonly SaidToken[]
  readonly markets: readonly SaidMarket[]
}

const { values } = parseArgs({
  options: {
    recorded: { type: 'string' },
    name: { type: 'string' },
    live: { type: 'boolean', default: false },
  },
})

const tokenFields = [
  'symbol',
  'address',
  'decimals',
  'isStable',
  'isNative',
  'isWrapped',
  'isSynthetic',
  'baseSymbol',
  'assetSymbol',
  'oracleSymbol',
  'visualPrefix',
] as const
const marketFields = ['symbol', 'marketToken', 'indexToken', 'longToken', 'shortToken'] as const

const fetch = createNodeFetch()
let differences = 0
for (const chain of Object.values(chains)) await print(chain)
await fetch.close()
process.exitCode = differences > 0 ? 1 : 0

async function print(chain: Chain): Promise<void> {
  const catalog = loadCatalog(chain.name)
  const tokens = new Map<string, TokenFacts>(catalog.tokens.map((token) => [hexKey(token.address), token]))
  const markets = new Map<string, MarketFacts>(
    catalog.markets.map((market) => [hexKey(market.marketToken), market]),
  )
  const sources = [...recorded(chain.name), ...(values.live ? await live(chain) : [])]
  if (sources.length === 0) throw new Error('one source is none: give --recorded FILE, --live, or both')
  const before = differences
  for (const source of sources) compare(source, tokens, markets)
  if (differences > before) return
  const about =
    `Markets and tokens of ${chain.name}. Printed by scripts/pins.ts from src/paper/catalog/recorded, and held against: ` +
    `${sources.map(({ name }) => name).join('; ')}. Live hosts: ${values.live ? 'asked' : 'not asked'}.`
  const file = new URL(`../src/protocol/chains/pins/${chain.name}.json`, import.meta.url)
  writeFileSync(file, fileOf(about, [...tokens.values()], [...markets.values()]))
}

function compare(
  { name, ...said }: Source,
  tokens: ReadonlyMap<string, TokenFacts>,
  markets: ReadonlyMap<string, MarketFacts>,
): void {
  const tell = (what: string | undefined): void => {
    if (what === undefined) return
    differences += 1
    process.stderr.write(`${name} ${what}\n`)
  }
  for (const token of said.tokens) {
    const known = tokens.get(hexKey(token.address))
    tell(
      known === undefined ? `has the token ${token.address}, which is new` : tokenContradiction(token, known),
    )
  }
  for (const market of said.markets) {
    const known = markets.get(hexKey(market.marketToken))
    tell(
      known === undefined
        ? `has the market ${market.symbol} ${market.marketToken}, which is new`
        : marketContradiction(market, known, tokens),
    )
  }
}

function recorded(name: ChainName): readonly Source[] {
  if (values.recorded === undefined) return []
  const file = JSON.parse(readFileSync(values.recorded, 'utf8')) as {
    readonly chains: Readonly<Record<string, Omit<Source, 'name'>>>
  }
  const found = file.chains[name]
  return found === undefined ? [] : [{ name: values.name ?? 'a recorded catalogue', ...found }]
}

/** Every host of both services, each a source of its own. Throws when one does not answer. */
async function live(chain: Chain): Promise<readonly Source[]> {
  const api = createApi({ chain, fetch: fetch.fetch, clock: systemClock, random: Math.random })
  const today = new Date(systemClock.now()).toISOString().slice(0, 10)
  const ofApi = chain.hosts.api.map(async (host) => ({
    name: `${host} of ${today}`,
    tokens: (await api.getTokens({ host })).value,
    markets: (await api.getMarkets({ host })).value,
  }))
  const ofOracle = chain.hosts.oracle.map(async (host) => ({
    name: `${host} of ${today}`,
    tokens: (await api.getOracleTokens({ host })).value.map(({ address, decimals }) => ({
      address,
      decimals,
    })),
    markets: [],
  }))
  return await Promise.all([...ofApi, ...ofOracle])
}

function fileOf(about: string, tokens: readonly TokenFacts[], markets: readonly MarketFacts[]): string {
  const printedOn = new Date(systemClock.now()).toISOString().slice(0, 10)
  const rows = (list: readonly string[]) => list.map((row) => `    ${row}`).join(',\n')
  return `{
  "about": ${JSON.stringify(about)},
  "printedOn": "${printedOn}",
  "tokens": [
${rows(tokens.map((token) => lineOf(token, tokenFields)))}
  ],
  "markets": [
${rows(markets.map((market) => lineOf(market, marketFields)))}
  ]
}
`
}

/** The named fields of a row on one line; flags that are false are left out. */
function lineOf<T extends object>(row: T, names: readonly (keyof T & string)[]): string {
  const kept = names.filter((name) => row[name] !== undefined && row[name] !== false)
  return `{${kept.map((name) => `${JSON.stringify(name)}: ${JSON.stringify(row[name])}`).join(', ')}}`
}
