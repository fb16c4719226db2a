// biome-ignore-all lint/performance/noBarrelFile: the one entry of the package `perpd/api`; nothing inside imports it.
/**
 * `perpd/api`: typed clients of the oracle price service and the application API, for programs of your own.
 *
 * ```js
 * import { arbitrum, createApi, createNodeFetch, formatUsd, systemClock } from 'perpd/api'
 *
 * const { fetch, close } = createNodeFetch()
 * const api = createApi({ chain: arbitrum, fetch, clock: systemClock, random: Math.random })
 * for (const { symbol, markPrice } of (await api.getMarketTickers()).value) console.log(symbol, formatUsd(markPrice))
 * close()
 * ```
 *
 * Every method gives a `Read` (value, when its request left, which host) or throws `RefusedError` (the server said no),
 * `UnreachableError` (nothing conclusive came) or `DecodeError` (an answer that would be misread); `proves` says what an
 * error shows about a write. Amounts are bigints: USD with 30 decimals, tokens in their own smallest unit.
 *
 * Nothing here signs. What was prepared is EIP-712 typed data for a library of your choice (domain, types, primary type, and
 * `batch` or `message`), to be compared with the order that you meant before it is signed.
 */

export type { Clock, WallClock } from '../base/clock.ts'
export { BaseError, type Facts } from '../base/errors.ts'
export { systemClock } from '../base/systemClock.ts'
export type { Address, Hex } from '../protocol/address.ts'
export type * from '../protocol/batch.ts'
export { arbitrum } from '../protocol/chains/arbitrum.ts'
export { avalanche } from '../protocol/chains/avalanche.ts'
export type { Chain, ChainName, Contracts } from '../protocol/chains/chain.ts'
export { chainNamed, chains } from '../protocol/chains/index.ts'
export { megaeth } from '../protocol/chains/megaeth.ts'
export type * from '../protocol/market.ts'
export { capacityOf, executionSidePrice } from '../protocol/market.ts'
export type { MissingRow } from '../protocol/missing.ts'
export type * from '../protocol/position.ts'
export type { SubaccountApproval, SubaccountApprovalMessage } from '../protocol/signing/approvalTypes.ts'
export { emptySubaccountApproval } from '../protocol/signing/approvalTypes.ts'
export type { Batch, RelayParams, TokenPermit } from '../protocol/signing/relayRouter.ts'
export {
  contractPriceOf,
  formatUnits,
  formatUsd,
  ONE_USD,
  parseUnits,
  priceOfContractPrice,
  type TokenAmount,
  USD_DECIMALS,
  type Usd,
  usd,
} from '../protocol/units.ts'
export type * from './accounts/accountReads.ts'
export type * from './accounts/accountTransfers.ts'
export type * from './accounts/subaccounts.ts'
export type * from './accounts/wallet.ts'
export { type Api, type ApiHosts, type ApiOptions, createApi } from './client.ts'
export type * from './decode/undocumented.ts'
export type * from './feeds/ohlcv.ts'
export type * from './feeds/oracle.ts'
export type * from './feeds/oracleMarkets.ts'
export type * from './feeds/pairFeeds.ts'
export {
  ageOfEarnings,
  ageOfGmPool,
  ageOfMarketValues,
  ageOfOraclePrice,
  ageOfRead,
  ageOfSignedPrice,
  ageOfStats,
  ageOfStatsSource,
  ageOfTvl,
  MARKET_VALUES_STALE_MS,
  SOLANA_PAIRS_STALE_MS,
  STATS_SOURCE_STALE_MS,
  usableCapacity,
} from './freshness.ts'
export type * from './markets/history.ts'
export type * from './markets/jitLiquidity.ts'
export type * from './markets/marketReads.ts'
export type * from './markets/poolYields.ts'
export type * from './markets/stats.ts'
export type { BatchCopy } from './orders/batchCopy.ts'
export type * from './orders/capacityFacts.ts'
export { capacityUnavailableReason, liquidityShortfall } from './orders/capacityFacts.ts'
export type * from './orders/classicOrders.ts'
export type * from './orders/expressOrders.ts'
export type * from './orders/orderChangeRequest.ts'
export type * from './orders/orderPayload.ts'
export type * from './orders/orderStatus.ts'
export type * from './orders/prepareRequest.ts'
export type { Preparer } from './orders/prepareRoutes.ts'
export type * from './orders/relayRequests.ts'
export type * from './orders/typedData.ts'
export { doubtsOf, type PriceSanityOptions } from './priceSanity.ts'
export type * from './rows/accountRows.ts'
export type * from './rows/marketInfoTypes.ts'
export type * from './rows/pairRow.ts'
export type * from './rows/statsFigures.ts'
export type * from './rows/tokenRow.ts'
export type * from './transport/apiErrors.ts'
export { DecodeError, proves, RefusedError, UnreachableError } from './transport/apiErrors.ts'
export type { HostCooldown, HostLists, HostPrices, Service } from './transport/hosts.ts'
export { createNodeFetch, type NodeFetch, type NodeFetchOptions } from './transport/nodeFetch.ts'
export { RequestFailed } from './transport/requestFailed.ts'
export { type ApiLimits, defaultApiLimits } from './transport/requestLimits.ts'
export type { CallOptions, Fetch, FetchAnswer, Read } from './transport/route.ts'
export type { AttemptOutcome, ForeignRows, MissingRows, RequestAttempt } from './transport/transportTypes.ts'
