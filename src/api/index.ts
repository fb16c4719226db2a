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

export type { SubaccountApproval, SubaccountApprovalMessage } from '../chains/approvalTypes.ts'
export { emptySubaccountApproval } from '../chains/approvalTypes.ts'
export { arbitrum } from '../chains/arbitrum.ts'
export { avalanche } from '../chains/avalanche.ts'
export type { Chain, ChainName, Contracts } from '../chains/chain.ts'
export { chainNamed, chains } from '../chains/index.ts'
export { megaeth } from '../chains/megaeth.ts'
export type { Batch, RelayParams, TokenPermit } from '../chains/relayRouter.ts'
export type { Address, Hex } from '../domain/address.ts'
export type * from '../domain/batch.ts'
export type { Clock } from '../domain/clock.ts'
export { BaseError, type Facts } from '../domain/errors.ts'
export type * from '../domain/market.ts'
export { capacityOf, executionSidePrice } from '../domain/market.ts'
export type { MissingRow } from '../domain/missing.ts'
export type * from '../domain/position.ts'
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
} from '../domain/units.ts'
export type * from './account.ts'
export type * from './accountRows.ts'
export type * from './accountTransfers.ts'
export type { BatchCopy } from './batchCopy.ts'
export type * from './capacityFacts.ts'
export { capacityUnavailableReason, liquidityShortfall } from './capacityFacts.ts'
export type * from './classicOrders.ts'
export { type Api, type ApiHosts, type ApiOptions, createApi } from './client.ts'
export type * from './errors.ts'
export { DecodeError, proves, RefusedError, UnreachableError } from './errors.ts'
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
  type Now,
  SOLANA_PAIRS_STALE_MS,
  STATS_SOURCE_STALE_MS,
  usableCapacity,
} from './freshness.ts'
export type * from './history.ts'
export type { HostCooldown, HostLists, HostPrices, Service } from './hosts.ts'
export type * from './jit.ts'
export { type ApiLimits, defaultApiLimits } from './limits.ts'
export type * from './marketInfoTypes.ts'
export type * from './markets.ts'
export { createNodeFetch, type NodeFetch, type NodeFetchOptions } from './nodeFetch.ts'
export type * from './ohlcv.ts'
export type * from './oracle.ts'
export type * from './oracleMarkets.ts'
export type * from './orderChangeRequest.ts'
export type * from './orderPayload.ts'
export type * from './orderStatus.ts'
export type * from './orders.ts'
export type * from './pairFeeds.ts'
export type * from './pairRow.ts'
export type * from './prepareRequest.ts'
export { doubtsOf, type PriceSanityOptions } from './priceSanity.ts'
export type * from './relay.ts'
export { RequestFailed } from './requestFailed.ts'
export type { CallOptions, Fetch, FetchAnswer, Read } from './route.ts'
export type * from './stats.ts'
export type * from './statsFigures.ts'
export type * from './subaccounts.ts'
export { systemClock } from './systemClock.ts'
export type * from './tokenRow.ts'
export type { AttemptOutcome, ForeignRows, MissingRows, RequestAttempt } from './transport.ts'
export type * from './typedData.ts'
export type * from './undocumented.ts'
export type * from './wallet.ts'
export type * from './yield.ts'
