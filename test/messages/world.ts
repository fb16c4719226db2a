/** The state of a case as the daemon would have read it: a snapshot to size on, and a policy to verify by. */
import { readFileSync } from 'node:fs'
import type { Intent } from '../../src/domain/order/intent.ts'
import type { MarketView, Snapshot } from '../../src/domain/snapshot.ts'
import { chainEstimateOf, type FeeMessage, gasMessageOf } from '../../src/execution/context/feeEstimates.ts'
import type { FeeEstimate, SigningMode, SigningPolicy } from '../../src/execution/context/policy.ts'
import { type SwapMarkets, swapMarketsOf } from '../../src/execution/context/swapPath.ts'
import { impactDataOf } from '../../src/market/marketImpact.ts'
import { type Hex, hexKey, sameHex, ZERO_ADDRESS } from '../../src/protocol/address.ts'
import { expressGasPrice } from '../../src/protocol/chains/feeFormula.ts'
import { chainGas } from '../../src/protocol/chains/gas.ts'
import { chains } from '../../src/protocol/chains/index.ts'
import type { Token } from '../../src/protocol/market.ts'
import type { Order, Position } from '../../src/protocol/position.ts'
import type { ImpactData } from '../../src/protocol/priceImpact.ts'
import { fromDecimal, toDecimal, USD_DECIMALS, usd } from '../../src/protocol/units.ts'
import type { MarketRow, MessageCase, OrderRow, PositionRow, State, TokenRow } from './schema.ts'

const orderTypes = { limit: 3, 'take-profit': 5, 'stop-loss': 6, 'stop-market': 8 } as const

/** A token with the prices of the state; no prices where the state has none. */
export function tokenOf({ prices }: State, { symbol, address, decimals }: TokenRow): Token {
  const price = Object.entries(prices).find(([token]) => sameHex(token, address))?.[1]
  return {
    symbol,
    address,
    decimals,
    isStable: false,
    isNative: false,
    isWrapped: false,
    isSynthetic: false,
    ...(price === undefined ? {} : { minPrice: BigInt(price.min), maxPrice: BigInt(price.max) }),
  }
}

/** What impacts are estimated from, where the case has all of it. */
function impactOf(market: MarketRow): ImpactData | undefined {
  const amount = (text: string | undefined): bigint | undefined =>
    text === undefined ? undefined : BigInt(text)
  return impactDataOf(
    {
      positionImpactFactorPositive: amount(market.positionImpactFactorPositive),
      positionImpactFactorNegative: amount(market.positionImpactFactorNegative),
      positionImpactExponentFactorPositive: amount(market.positionImpactExponentFactorPositive),
      positionImpactExponentFactorNegative: amount(market.positionImpactExponentFactorNegative),
      maxPositionImpactFactorPositive: amount(market.maxPositionImpactFactorPositive),
      maxPositionImpactFactorNegative: amount(market.maxPositionImpactFactorNegative),
      useOpenInterestInTokensForBalance: market.useOpenInterestInTokensForBalance,
    },
    {
      longInterestUsd: amount(market.longInterestUsd),
      shortInterestUsd: amount(market.shortInterestUsd),
      longInterestInTokens: amount(market.longInterestInTokens),
      shortInterestInTokens: amount(market.shortInterestInTokens),
    },
  )
}

/** The market of the case as strategies and sizing see it: open, fresh, with room for everything. */
export function viewOf({ state }: MessageCase): MarketView {
  const { market } = state
  const atMs = state.blockTime * 1000
  const indexToken = tokenOf(state, market.indexToken)
  const { minPrice = 0n, maxPrice = 0n } = indexToken
  const capacity = {
    value: {
      availableLiquidity: usd(10 ** 9),
      baseAvailableLiquidity: usd(10 ** 9),
      jitAvailableLiquidity: 0n,
      limitingFactor: 'reserve',
      jitDataStatus: 'available',
      marketDataStatus: 'fresh',
    },
    atMs,
  } as const
  const impact = impactOf(market)
  const oracle = { tokenSymbol: indexToken.symbol, tokenAddress: indexToken.address, minPrice, maxPrice }
  return {
    market: {
      symbol: market.symbol,
      marketToken: market.marketToken,
      indexToken: indexToken.address,
      longToken: market.longToken.address,
      shortToken: market.shortToken.address,
      isListed: true,
      isSpotOnly: false,
      minPositionSizeUsd: BigInt(market.minPositionSizeUsd),
      minCollateralUsd: BigInt(market.minCollateralUsd),
      leverageTiers: [{ maxLeverageBps: 2_000_000, minCollateralFactor: BigInt(market.minCollateralFactor) }],
    },
    indexToken,
    longToken: tokenOf(state, market.longToken),
    shortToken: tokenOf(state, market.shortToken),
    status: 'open',
    ticker: {
      value: {
        symbol: market.symbol,
        marketToken: market.marketToken,
        minPrice,
        maxPrice,
        markPrice: (minPrice + maxPrice) / 2n,
        longInterestUsd: 0n,
        shortInterestUsd: 0n,
        fundingRateLong: 0n,
        fundingRateShort: 0n,
        borrowingRateLong: 0n,
        borrowingRateShort: 0n,
      },
      atMs,
    },
    oraclePrice: {
      value: { ...oracle, medianPrice: (minPrice + maxPrice) / 2n, updatedAtSeconds: state.blockTime },
      atMs,
    },
    ...(impact === undefined ? {} : { impact: { value: impact, atMs } }),
    capacityLong: capacity,
    capacityShort: capacity,
  }
}

function positionOf(row: PositionRow, state: State, view: MarketView): Position {
  const pendingUsd = BigInt(row.pendingBorrowingFeesUsd) + BigInt(row.pendingFundingFeesUsd)
  const collateralUsd = BigInt(row.collateralUsd)
  const pnlUsd = BigInt(row.pnlUsd)
  const { minPrice = 0n, maxPrice = 0n } = view.indexToken
  const remainingCollateralUsd = collateralUsd - pendingUsd
  return {
    positionKey: row.key,
    contractKey: `0x${'00'.repeat(32)}`,
    account: state.account,
    marketToken: row.marketToken,
    collateralToken: row.collateralToken.address,
    direction: row.direction,
    sizeInUsd: BigInt(row.sizeInUsd),
    sizeInTokens: BigInt(row.sizeInTokens),
    collateralAmount: BigInt(row.collateralAmount),
    collateralUsd,
    remainingCollateralUsd,
    markPrice: row.direction === 'long' ? minPrice : maxPrice,
    entryPrice: BigInt(row.entryPrice),
    pnlUsd,
    pnlAfterFeesUsd: pnlUsd - pendingUsd,
    positionValueInUsd: remainingCollateralUsd + pnlUsd,
    netValueUsd: remainingCollateralUsd + pnlUsd,
    increasedAtSeconds: state.blockTime - 3600,
    decreasedAtSeconds: 0,
  }
}

function orderOf(row: OrderRow, state: State): Order {
  return {
    orderKey: row.key,
    account: state.account,
    receiver: state.account,
    marketToken: row.marketToken,
    initialCollateralToken: row.initialCollateralToken,
    orderType: orderTypes[row.orderType],
    direction: row.direction,
    sizeDeltaUsd: BigInt(row.sizeDeltaUsd),
    initialCollateralDeltaAmount: BigInt(row.initialCollateralDeltaAmount),
    triggerContractPrice: BigInt(row.contractTriggerPrice),
    acceptableContractPrice: BigInt(row.contractAcceptablePrice),
    isFrozen: row.isFrozen,
    updatedAtSeconds: state.blockTime - 3600,
    validFromSeconds: Number(row.validFromTime),
    autoCancel: row.autoCancel,
    minOutputAmount: BigInt(row.minOutputAmount),
  }
}

/** What the daemon would have read. */
export function snapshotOf(one: MessageCase, view: MarketView): Snapshot {
  const { state, want } = one
  const atMs = state.blockTime * 1000
  const pay =
    want.payToken === undefined ? [] : [{ address: want.payToken, balance: BigInt(want.payAmount ?? 0) }]
  return {
    atMs,
    account: state.account,
    markets: new Map([[hexKey(view.market.marketToken), view]]),
    positions: { value: state.position === null ? [] : [positionOf(state.position, state, view)], atMs },
    orders: { value: state.orders.map((row) => orderOf(row, state)), atMs },
    balances: { value: pay.map((each) => ({ ...each, symbol: '', decimals: 0 })), atMs },
  }
}

function modeOf({ signing }: State): SigningMode {
  if (signing.mode === 'own') return { kind: 'own' }
  const { subaccountApproval: row } = signing
  return {
    kind: 'subaccount',
    approval: {
      ...row,
      expiresAt: BigInt(row.expiresAt),
      maxAllowedCount: BigInt(row.maxAllowedCount),
      nonce: BigInt(row.nonce),
      desChainId: BigInt(row.desChainId),
      deadline: BigInt(row.deadline),
    },
  }
}

interface CatalogueMarket {
  readonly marketToken: Hex
  readonly indexToken: Hex
  readonly longToken: Hex
  readonly shortToken: Hex
}

const listed = new Map<string, SwapMarkets>()

/** The chain's listed markets, as the shipped catalogue has them, and those that the case names. */
function marketsOf({ chain, state }: MessageCase): SwapMarkets {
  let known = listed.get(chain)
  if (known === undefined) {
    const file = new URL(`../../src/paper/catalog/recorded/${chain}.json`, import.meta.url)
    const { markets }: { markets: readonly CatalogueMarket[] } = JSON.parse(readFileSync(file, 'utf8'))
    known = swapMarketsOf(markets)
    listed.set(chain, known)
  }
  const named = [state.market, ...(state.swapMarkets ?? [])].map(
    ({ marketToken, indexToken, longToken, shortToken }) => ({
      marketToken,
      indexToken: indexToken.address,
      longToken: longToken.address,
      shortToken: shortToken.address,
    }),
  )
  return new Map([...known, ...swapMarketsOf(named)])
}

/** The operator's bounds as the daemon's settings make them. */
export function policyOf(one: MessageCase): SigningPolicy {
  const { operator } = one.state
  const { decimals } = chains[one.chain].feeToken
  const feeTokens = (amountUsd: string) => fromDecimal(toDecimal(BigInt(amountUsd), USD_DECIMALS), decimals)
  return {
    minDeadlineSeconds: operator.minDeadlineSeconds,
    maxDeadlineSeconds: operator.maxDeadlineSeconds,
    maxExecutionFee: BigInt(operator.addingExecutionFee),
    maxRelayFee: feeTokens(operator.addingFeeUsdPerOrder),
    priceToleranceBps: operator.addingPriceToleranceBps,
    maxPriceImpactBps: 150,
    reducing: {
      maxExecutionFee: BigInt(operator.reducingExecutionFee),
      maxRelayFee: feeTokens(operator.reducingFeeUsdPerOrder),
      priceToleranceBps: operator.reducingPriceToleranceBps,
      maxPriceImpactBps: 1_000,
    },
    swapMarkets: marketsOf(one),
    mode: modeOf(one.state),
  }
}

/** What the message's fees are by the formula, at the gas price of the state, as an endpoint would tell it. */
export function feeEstimateOf(one: MessageCase, { terms }: Intent, message: FeeMessage): FeeEstimate {
  const { gas, prices, signing } = one.state
  const { feeToken, contracts } = chains[one.chain]
  const priceOf = (address: Hex) => Object.entries(prices).find(([token]) => sameHex(token, address))?.[1]
  const facts = chainGas[one.chain]
  const price = expressGasPrice(facts, {
    networkGasPrice: BigInt(gas.networkGasPrice),
    priorityFee: BigInt(gas.priorityFee),
  })
  return chainEstimateOf(
    facts,
    { price, highest: price },
    {
      native: BigInt(priceOf(contracts.wrappedNative)?.max ?? 0),
      feeToken: BigInt(priceOf(feeToken.address)?.min ?? 0),
      feeTokenDecimals: feeToken.decimals,
    },
    gasMessageOf(message, signing.mode === 'subaccount'),
    terms.edit === undefined ? undefined : terms.orderType,
    { executionFee: 0n, relayFee: 0n, factor: 5 },
  )
}

/** The ERC-20 that stands for a token as the trader names it: the wrapped one for the native coin. */
export function erc20Of({ chain }: MessageCase, token: Hex): Hex {
  return sameHex(token, ZERO_ADDRESS) ? chains[chain].contracts.wrappedNative : token
}
