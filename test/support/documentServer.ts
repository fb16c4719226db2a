/**
 * A server that sends what the two API documents show and nothing besides: a filter over any other server's answers, made of
 * one table, route by route. Where a document leaves a payload out ("not shown"), the table has the fewest fields by which a
 * row can be told from others and an amount bounded, under the names of the venue's public clients; `whole` is a payload of
 * which the documents show nothing, and that nothing smaller could stand for.
 */
import type { DocumentedRoute } from '../../scripts/documentedRoutes.ts'

/** What is left of a value: its fields, each element of it, all of it, or what a function makes of it. */
type Shape = 'whole' | readonly [Shape] | { readonly [field: string]: Shape } | ((value: unknown) => unknown)

const fields = (names: string): Record<string, Shape> =>
  Object.fromEntries(names.split(/\s+/).map((name) => [name, 'whole']))

/** "Whether JIT inputs are usable or stale"; "whether market inputs are usable or stale". */
const status = (value: unknown): unknown => (value === 'available' || value === 'fresh' ? 'usable' : 'stale')

const capacity = {
  ...fields('baseAvailableLiquidity jitAvailableLiquidity availableLiquidity'),
  jitDataStatus: status,
  marketDataStatus: status,
}

const openInterest = fields(
  `longInterestUsdUsingLongToken longInterestUsdUsingShortToken shortInterestUsdUsingLongToken
  shortInterestUsdUsingShortToken longInterestInTokensUsingLongToken longInterestInTokensUsingShortToken
  shortInterestInTokensUsingLongToken shortInterestInTokensUsingShortToken`,
)

/** By `marketTokenAddress`, which no document names and no row could be told without. */
const values = {
  ...fields('marketTokenAddress updatedAt virtualInventoryForPositionsInTokens'),
  ...openInterest,
}

const config = fields(
  `marketTokenAddress maxCollateralSumLongTokenLong maxCollateralSumLongTokenShort maxCollateralSumShortTokenLong
  maxCollateralSumShortTokenShort minFundingIncreaseRatePerSecond minFundingFactorPerSecondLong
  minFundingFactorPerSecondShort maxFundingFactorPerSecondLong maxFundingFactorPerSecondShort virtualIndexTokenId`,
)

/** "A decimal string": with its point, in dollars. */
function decimalText(value: unknown): string {
  const text = String(value).padStart(31, '0')
  return `${text.slice(0, -30)}.${text.slice(-30)}`
}

/** "Fields of position records beyond those named: not shown": what identifies and bounds one, and the one that is shown. */
const position = {
  ...fields(
    `key contractKey account marketAddress collateralTokenAddress isLong sizeInUsd sizeInTokens collateralAmount
    collateralUsd remainingCollateralUsd markPrice pnl pnlAfterFees netValue increasedAtTime decreasedAtTime`,
  ),
  positionValueInUsd: decimalText,
}

const token = { ...fields('symbol address decimals isNative isStable isWrapped isSynthetic prices') }

const statsSource = fields('health lagSeconds lastError')

/** Prepare: "carries `requestId` and `validationWarnings`"; the rest is what is to be signed. */
const prepared = fields('requestId validationWarnings payload')
/** "Submit and track": not shown. */
const tracked = fields('status taskId orderKeys createdTxnHash executionTxnHash cancellationReason error')

const rates = 'whole'

/** Each route of the documents, as `service method path`, and what is left of its answer. */
const shown: Readonly<Record<string, Shape>> = {
  'oracle GET /ping': fields('ok'),
  'oracle GET /prices/tickers': [
    fields('tokenSymbol tokenAddress minPrice maxPrice medianPrice oracleDecimals updatedAt'),
  ],
  'oracle GET /signed_prices/latest': {
    signedPrices: [
      fields(
        `tokenSymbol tokenAddress minPrice maxPrice medianPrice oracleDecimals signer signature signatureWithoutBlockHash
        tokenOracleType salt minBlockNumber minBlockTimestamp minBlockHash maxBlockNumber maxBlockTimestamp maxBlockHash
        createdAt`,
      ),
    ],
  },
  'oracle GET /prices/candles': fields('period candles'),
  // "A list of token records. A symbol and an address can be read from it."
  'oracle GET /tokens': (body) => keep((body as { tokens: unknown }).tokens, [fields('symbol address')]),
  'oracle GET /markets': 'whole',
  'oracle GET /markets/info': 'whole',
  'oracle GET /markets/state': { markets: [fields('marketToken status')] },
  'oracle GET /rates': rates,
  'oracle GET /apy': 'whole',
  'oracle GET /performance/annualized': 'whole',
  'oracle GET /performance/snapshots': 'whole',
  'oracle GET /tokens/info': 'whole',
  // "Listed market catalog, leverage tiers, size limits": names not shown, and the catalogue of the chain has the limits.
  'api GET /markets': [
    fields('symbol marketTokenAddress indexTokenAddress longTokenAddress shortTokenAddress leverageTiers'),
  ],
  'api GET /markets/info': [{ ...config, ...values }],
  'api GET /markets/config': [config],
  'api GET /markets/values': [values],
  'api GET /markets/trading-capacity': capacity,
  'api GET /markets/tickers': [
    {
      ...fields('symbol marketTokenAddress minPrice maxPrice availableLiquidityLong availableLiquidityShort'),
      capacityLong: capacity,
      capacityShort: capacity,
    },
  ],
  'api GET /risk-oracle/markets': 'whole',
  'api GET /rates': rates,
  'api GET /apy': 'whole',
  'api GET /performance/annualized': 'whole',
  'api GET /performance/snapshots': 'whole',
  'api GET /yield/gm-pools': {
    pools: [{ ...fields('marketToken feeApy tradersPnlUsd tradersPnlApr'), window: fields('endTimestamp') }],
  },
  'api GET /yield/gm-user-earnings': {
    account: 'whole',
    window: fields('days startTimestamp endTimestamp'),
    pools: [fields('marketToken lifetimeFeeUsd recent7dFeeUsd')],
  },
  'api GET /stats/summary': 'whole',
  'api GET /stats/timeseries': {
    series: [{ ...fields('key'), points: [fields('day value provisional')] }],
    meta: { completeness: 'whole', sources: [statsSource] },
  },
  'api GET /stats/sources': { sources: [statsSource] },
  'api GET /positions': [position],
  'api GET /positions/{key}': position,
  'api GET /orders': 'whole',
  'api GET /orders/{key}': 'whole',
  'api GET /trades': 'whole',
  'api GET /trades/search': 'whole',
  'api POST /trades/search': 'whole',
  'api GET /pairs': 'whole',
  'api GET /pairs/solana': 'whole',
  'solanaFeed GET /v1/pairs': 'whole',
  'pairFeed GET /api/{chain}/pairs': 'whole',
  'api GET /incentives/usdg/boost-apr': 'whole',
  'api GET /whitelists': 'whole',
  'api GET /tokens': [token],
  'api GET /tokens/info': [token],
  'api GET /balances/wallet': [fields('symbol address decimals balance')],
  'api GET /allowances': [fields('symbol address decimals allowance')],
  'api GET /prices/ohlcv': 'whole',
  'api GET /jit/liquidity_info': 'whole',
  'api GET /v2/jit/liquidity_info': 'whole',
  'api GET /jit/liquidity_history': {
    snapshots: [fields('marketAddress glvAddress timestamp longLiquidityUsd shortLiquidityUsd')],
  },
  'api GET /staking/power': 'whole',
  'api GET /buyback/weekly-stats': 'whole',
  'api POST /orders/txns/prepare': prepared,
  'api POST /orders/txns/edit/prepare': prepared,
  'api POST /orders/txns/cancel/prepare': prepared,
  'api POST /orders/txns/collateral/prepare': prepared,
  'api POST /orders/txns/submit': tracked,
  'api POST /orders/txns/status': tracked,
  'api POST /relay/submit': fields('taskId'),
  'api POST /relay/status': fields('status reason revertData'),
  'api POST /subaccounts/status': 'whole',
  'api POST /subaccounts/approval/prepare': 'whole',
  'api POST /gmx-account/deposit/cross-chain/prepare': 'whole',
  'api POST /gmx-account/withdraw/cross-chain/prepare': 'whole',
  'api POST /gmx-account/withdraw/cross-chain/submit': tracked,
  'api POST /gmx-account/withdraw/cross-chain/status': tracked,
}

/** The name of a route in the table. */
export const rowOf = ({ service, method, path }: DocumentedRoute): string => `${service} ${method} ${path}`

/** The rows of the table. */
export const shownRows: readonly string[] = Object.keys(shown)

function keep(value: unknown, shape: Shape): unknown {
  if (shape === 'whole' || value === undefined || value === null) return value
  if (typeof shape === 'function') return shape(value)
  if (isList(shape)) return (value as readonly unknown[]).map((each) => keep(each, shape[0]))
  const given = value as Readonly<Record<string, unknown>>
  const left: Record<string, unknown> = {}
  for (const [name, inner] of Object.entries(shape))
    if (given[name] !== undefined) left[name] = keep(given[name], inner)
  return left
}

const isList = (shape: Shape): shape is readonly [Shape] => Array.isArray(shape)

const api = /\/api\/\d+\/v\d+(\/[^?]*)/
const oracle = /\/oracle\/\d+(\/[^?]*)/

/**
 * A successful answer of the paper venue as such a server gives it; a refusal as it is. Throws an Error for a route that is in
 * no document.
 */
export function asDocumented(url: string, text: string): string {
  const [service, path] = [
    ['api', api.exec(url)?.[1]],
    ['oracle', oracle.exec(url)?.[1]],
  ].find(([, found]) => found !== undefined) ?? ['', '']
  if (service === '') return text
  const row = ['GET', 'POST'].map((method) => `${service} ${method} ${path}`).find((each) => each in shown)
  const shape = row === undefined ? undefined : shown[row]
  if (shape === undefined) throw new Error(`no document has ${service} ${path}`)
  const body: unknown = JSON.parse(text)
  const isRefusal = typeof body === 'object' && body !== null && 'message' in body
  return isRefusal ? text : JSON.stringify(keep(body, shape))
}
