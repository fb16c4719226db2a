/**
 * The fields of every answer as the notes on the wire list them (copied from their tables), by fixture: a path to the
 * object that has them, and their names. Left out: the legacy available liquidity, which is never read, and texts that
 * nothing is decided by and that are taken in any form.
 */

type Path = readonly (string | number)[]

/** Fields of one object inside a fixture. */
export interface WireFields {
  readonly fixture: string
  readonly at: Path
  readonly names: readonly string[]
}

function sides(...names: readonly string[]): readonly string[] {
  return names.flatMap((name) => [`${name}Long`, `${name}Short`])
}

function words(text: string): readonly string[] {
  return text.trim().split(/\s+/)
}

const capacity = words(
  'baseAvailableLiquidity jitAvailableLiquidity availableLiquidity limitingFactor jitDataStatus marketDataStatus',
)

const orderFields = words(`
  key account receiver cancellationReceiver callbackContract uiFeeReceiver marketAddress initialCollateralTokenAddress
  swapPath orderType decreasePositionSwapType sizeDeltaUsd initialCollateralDeltaAmount triggerPrice acceptablePrice
  executionFee callbackGasLimit minOutputAmount updatedAtTime validFromTime srcChainId isLong shouldUnwrapNativeToken
  isFrozen autoCancel dataList requestId`)

const pairFields = words(`
  ticker_id base_currency target_currency product_type base_volume target_volume last_price open_interest
  long_open_interest short_open_interest high low funding_rate next_funding_rate next_funding_rate_timestamp volume_usd
  pool_id liquidity_in_usd`)

const marketConfigFields = [
  ...words(`
    marketTokenAddress indexTokenAddress longTokenAddress shortTokenAddress isSameCollaterals isSpotOnly name data
    isDisabled useOpenInterestInTokensForBalance maxLongPoolAmount maxShortPoolAmount minPositionImpactPoolAmount
    lentPositionImpactPoolAmount positionImpactPoolDistributionRate maxLongPoolUsdForDeposit maxShortPoolUsdForDeposit
    maxLendableImpactUsd maxCollateralSumLongTokenLong maxCollateralSumLongTokenShort maxCollateralSumShortTokenLong
    maxCollateralSumShortTokenShort fundingExponentFactor thresholdForStableFunding thresholdForDecreaseFunding
    minCollateralFactor minCollateralFactorForLiquidation positionFeeFactorForBalanceWasImproved
    positionFeeFactorForBalanceWasNotImproved positionImpactFactorPositive positionImpactFactorNegative
    positionImpactExponentFactorPositive positionImpactExponentFactorNegative maxPositionImpactFactorPositive
    maxPositionImpactFactorNegative maxPositionImpactFactorForLiquidations maxLendableImpactFactor
    maxLendableImpactFactorForWithdrawals swapFeeFactorForBalanceWasImproved swapFeeFactorForBalanceWasNotImproved
    atomicSwapFeeFactor swapImpactFactorPositive swapImpactFactorNegative swapImpactExponentFactor
    withdrawalFeeFactorBalanceWasImproved withdrawalFeeFactorBalanceWasNotImproved fundingFactor
    fundingIncreaseFactorPerSecond fundingDecreaseFactorPerSecond minFundingFactorPerSecond maxFundingFactorPerSecond
    minFundingIncreaseRatePerSecond virtualMarketId virtualLongTokenId virtualShortTokenId virtualIndexTokenId`),
  ...sides(
    'maxOpenInterest',
    'reserveFactor',
    'openInterestReserveFactor',
    'borrowingExponentFactor',
    'minCollateralFactorForOpenInterest',
    'maxPnlFactorForTraders',
    'maxPnlFactorForDeposits',
    'maxPnlFactorForWithdrawals',
    'borrowingFactor',
    'minFundingFactorPerSecond',
    'maxFundingFactorPerSecond',
  ),
]

const marketValuesFields = words(`
  longPoolAmount shortPoolAmount positionImpactPoolAmount swapImpactPoolAmountLong swapImpactPoolAmountShort
  virtualPoolAmountForLongToken virtualPoolAmountForShortToken poolValueMax poolValueMin totalBorrowingFees
  longInterestUsd shortInterestUsd virtualInventoryForPositions longInterestInTokens shortInterestInTokens
  virtualInventoryForPositionsInTokens borrowingFactorPerSecondForLongs borrowingFactorPerSecondForShorts
  fundingFactorPerSecond longsPayShorts updatedAt longInterestUsdUsingLongToken longInterestUsdUsingShortToken
  shortInterestUsdUsingLongToken shortInterestUsdUsingShortToken longInterestInTokensUsingLongToken
  longInterestInTokensUsingShortToken shortInterestInTokensUsingLongToken shortInterestInTokensUsingShortToken`)

const statusFields = words(
  'requestId status txHash createdTxnHash executionTxnHash orderKeys cancellationReason taskId error traceId',
)

/** Every field of the answers of both services, by route (docs/reference/api-coverage.md). */
export const wireFields: readonly WireFields[] = [
  {
    fixture: 'oracle-tickers',
    at: [0],
    names: words('tokenSymbol tokenAddress minPrice maxPrice medianPrice oracleDecimals updatedAt'),
  },
  {
    fixture: 'signed-prices',
    at: ['signedPrices', 0],
    names: words(`
      tokenSymbol tokenAddress minPrice maxPrice medianPrice oracleDecimals signer signature signatureWithoutBlockHash
      tokenOracleType salt minBlockNumber minBlockTimestamp minBlockHash maxBlockNumber maxBlockTimestamp maxBlockHash
      createdAt`),
  },
  { fixture: 'oracle-tokens', at: ['tokens', 0], names: words('symbol address decimals synthetic') },
  {
    fixture: 'oracle-markets',
    at: ['markets', 0],
    names: words('name marketToken indexToken longToken shortToken isListed listingDate'),
  },
  {
    fixture: 'oracle-markets-info',
    at: ['markets', 0],
    names: [
      ...words('name marketToken indexToken longToken shortToken isListed listingDate isDisabled'),
      ...sides('openInterest', 'poolAmount', 'fundingRate', 'borrowingRate', 'netRate'),
    ],
  },
  {
    fixture: 'rates',
    at: [0],
    names: words('marketAddress ratesSnapshots'),
  },
  {
    fixture: 'rates',
    at: [0, 'ratesSnapshots', 0],
    names: ['timestamp', ...sides('netRate', 'fundingRate', 'borrowingRate')],
  },
  {
    fixture: 'performance-annualized',
    at: [0],
    names: words(
      'address entity performance longTokenPerformance shortTokenPerformance uniswapV2Performance',
    ),
  },
  { fixture: 'performance-snapshots', at: [0], names: words('address entity snapshots') },
  {
    fixture: 'performance-snapshots',
    at: [0, 'snapshots', 0],
    names: words('snapshotTimestamp performance uniswapV2Performance'),
  },
  {
    fixture: 'markets',
    at: [0],
    names: words(`
      symbol marketTokenAddress indexTokenAddress longTokenAddress shortTokenAddress isListed isSpotOnly listingDate
      leverageTiers minPositionSizeUsd minCollateralUsd`),
  },
  {
    fixture: 'markets',
    at: [0, 'leverageTiers', 0],
    names: words('maxLeverage minCollateralFactor maxPositionSize'),
  },
  { fixture: 'markets-info', at: [0], names: [...marketConfigFields, ...marketValuesFields] },
  { fixture: 'markets-config', at: [0], names: marketConfigFields },
  { fixture: 'markets-values', at: [0], names: ['marketTokenAddress', ...marketValuesFields] },
  {
    fixture: 'markets-tickers',
    at: [0],
    names: [
      ...words(`
        symbol marketTokenAddress minPrice maxPrice markPrice high24h low24h open24h close24h priceChange24h
        priceChangePercent24hBps longInterestInTokens shortInterestInTokens longInterestUsd shortInterestUsd
        longInterestUsdMark shortInterestUsdMark poolAmountLongUsd poolAmountShortUsd`),
      ...sides('fundingRate', 'borrowingRate', 'netRate', 'capacity'),
    ],
  },
  { fixture: 'markets-tickers', at: [0, 'capacityLong'], names: capacity },
  { fixture: 'trading-capacity', at: [], names: capacity },
  {
    fixture: 'tokens-info',
    at: [0],
    names: words(`
      name symbol address decimals assetSymbol baseSymbol visualMultiplier visualPrefix wrappedAddress metamaskSymbol
      explorerSymbol explorerUrl reservesUrl imageUrl categories isPermitSupported isPermitDisabled isUsdg isNative
      isWrapped isShortable isStable isSynthetic isTempHidden isChartDisabled isV1Available isPlatformToken
      isPlatformTradingToken isStaking searchAliases prices hasPriceFeedProvider balance walletBalance gmxAccountBalance
      sourceChainBalance totalSupply`),
  },
  { fixture: 'tokens-info', at: [0, 'prices'], names: words('minPrice maxPrice') },
  { fixture: 'balances-wallet', at: [0], names: words('symbol address decimals balance') },
  { fixture: 'allowances', at: [0], names: words('symbol address decimals allowance') },
  {
    fixture: 'positions-with-orders',
    at: [0],
    names: words(`
      key contractKey account marketAddress collateralTokenAddress isLong isOpening sizeInUsd sizeInTokens collateralAmount
      pendingBorrowingFeesUsd increasedAtTime decreasedAtTime fundingFeeAmount claimableLongTokenAmount
      claimableShortTokenAmount positionFeeAmount traderDiscountAmount uiFeeAmount pendingImpactAmount positionValueInUsd
      data indexName poolName markPrice entryPrice liquidationPrice collateralUsd remainingCollateralUsd
      remainingCollateralAmount hasLowCollateral pnl pnlPercentage pnlAfterFeesPercentage pnlAfterAllFeesPercentage
      pnlAfterFees pnlAfterAllFees netValue netValueAfterAllFees netPriceImapctDeltaUsd priceImpactDiffUsd
      pendingImpactUsd closePriceImpactDeltaUsd leverage leverageWithPnl leverageWithoutPnl closingFeeUsd uiFeeUsd
      pendingFundingFeesUsd pendingClaimableFundingFeesUsd relatedOrders`),
  },
  { fixture: 'orders', at: [0], names: orderFields },
  { fixture: 'trades', at: [], names: words('trades nextCursor hasMore') },
  {
    fixture: 'trades',
    at: ['trades', 0],
    names: words(`
      id account orderKey transactionHash eventName orderType timestamp swapPath initialCollateralTokenAddress
      initialCollateralDeltaAmount marketAddress isLong shouldUnwrapNativeToken sizeDeltaUsd sizeDeltaInTokens
      acceptablePrice triggerPrice executionPrice indexTokenPriceMin indexTokenPriceMax collateralTokenPriceMin
      collateralTokenPriceMax minOutputAmount executionAmountOut pnlUsd basePnlUsd priceImpactUsd priceImpactDiffUsd
      totalImpactUsd proportionalPendingImpactUsd swapFeeUsd swapImpactUsd positionFeeAmount borrowingFeeAmount
      fundingFeeAmount traderDiscountAmount liquidationFeeAmount collateralTotalCostAmount decreasePositionSwapType
      srcChainId numberOfParts twapGroupId reason reasonBytes`),
  },
  { fixture: 'ohlcv', at: [0], names: words('timestamp open high low close') },
  { fixture: 'pairs', at: [0], names: pairFields },
  {
    fixture: 'gm-pools',
    at: ['pools', 0],
    names: words('marketToken feeApy tradersPnlUsd tradersPnlApr timeWeightedPoolValue window components'),
  },
  { fixture: 'gm-pools', at: ['pools', 0, 'window'], names: words('period startTimestamp endTimestamp') },
  {
    fixture: 'gm-pools',
    at: ['pools', 0, 'components'],
    names: words('realizedPnlLongUsd realizedPnlShortUsd unrealizedPnlLongUsd unrealizedPnlShortUsd'),
  },
  { fixture: 'gm-user-earnings', at: [], names: words('account window pools') },
  { fixture: 'gm-user-earnings', at: ['window'], names: words('days startTimestamp endTimestamp') },
  {
    fixture: 'gm-user-earnings',
    at: ['pools', 0],
    names: words('marketToken lifetimeFeeUsd recent7dFeeUsd'),
  },
  { fixture: 'stats-sources', at: ['sources', 0], names: words('health lagSeconds') },
  {
    fixture: 'stats-summary',
    at: [],
    names: words('volume fees revenue users trades volume24h fees24h openInterest tvl totals meta'),
  },
  { fixture: 'stats-summary', at: ['tvl'], names: words('valuedAt poolsValuedAt') },
  { fixture: 'stats-summary', at: ['meta'], names: words('completeness sources') },
  { fixture: 'stats-timeseries', at: ['series', 0, 'points', 0], names: words('day value provisional') },
  {
    fixture: 'jit-info',
    at: ['liquidityInfos', 0],
    names: ['glv', 'market', ...sides('maxReservedUsdWithJit')],
  },
  {
    fixture: 'jit-info',
    at: ['liquidityInfos', 0, 'glvShiftParams', 0],
    names: words('glv fromMarket toMarket marketTokenAmount minMarketTokens'),
  },
  { fixture: 'jit-info-v2', at: ['liquidityInfos', 0], names: words('glv market long short') },
  {
    fixture: 'jit-info-v2',
    at: ['liquidityInfos', 0, 'long'],
    names: words('maxReservedUsd glvShiftParams'),
  },
  {
    fixture: 'jit-history',
    at: ['snapshots', 0],
    names: words('marketAddress glvAddress timestamp longLiquidityUsd shortLiquidityUsd'),
  },
  {
    fixture: 'staking-power',
    at: [],
    names: words(`
      cumulativePower totalNetworkPower userSharePercent historicalMaxStaked currentStaked loyaltyRatio lastPowerResetAt
      powerResetCount projectedRewardShare treasuryGmxBalance powerAccrualStart loyaltyTrackingStart`),
  },
  { fixture: 'buyback', at: ['summary'], names: words('totalAccrued latestWeekAccrued weeksTracked') },
  { fixture: 'buyback', at: ['weeks', 0], names: words('weekStart weekEnd weeklyAccrued cumulativeAccrued') },
  // Nothing that comes among the warnings is refused: orders.test.ts holds that all of it is shown.
  {
    fixture: 'prepare',
    at: [],
    names: words(`
      requestId idempotencyKey mode payloadType payload estimates expiresAt traceId`),
  },
  {
    fixture: 'prepare',
    at: ['estimates'],
    names: words(`
      positionPriceImpactDeltaUsd swapPriceImpactDeltaUsd executionFeeAmount acceptablePrice sizeDeltaUsd positionFeeUsd
      borrowingFeeUsd fundingFeeUsd`),
  },
  { fixture: 'prepare', at: ['payload'], names: words('typedData relayParams relayRouterAddress') },
  { fixture: 'prepare', at: ['payload', 'typedData'], names: words('domain types message primaryType') },
  {
    fixture: 'prepare',
    at: ['payload', 'relayParams'],
    names: words('oracleParams tokenPermits externalCalls fee userNonce deadline desChainId'),
  },
  { fixture: 'submit', at: [], names: words('requestId status txHash taskId traceId') },
  { fixture: 'status', at: [], names: statusFields.filter((name) => name !== 'error') },
  {
    fixture: 'subaccount-status',
    at: [],
    names: words(`
      active maxAllowedCount currentActionsCount remainingActions expiresAt approvalNonce multichainApprovalNonce
      integrationId`),
  },
  {
    fixture: 'subaccount-approval',
    at: [],
    names: words('domain types message primaryType relayRouterAddress nonce'),
  },
  {
    fixture: 'subaccount-approval',
    at: ['message'],
    names: words(
      'subaccount shouldAdd expiresAt maxAllowedCount actionType nonce desChainId deadline integrationId',
    ),
  },
  { fixture: 'relay-submit', at: [], names: words('taskId status') },
  { fixture: 'relay-status', at: [], names: words('taskId status txHash reason revertData') },
  {
    fixture: 'deposit-prepare',
    at: [],
    names: words('payloadType payload composeGas nativeFee expiresAt'),
  },
  { fixture: 'deposit-prepare', at: ['payload'], names: words('to data value') },
  {
    fixture: 'withdraw-prepare',
    at: [],
    names: words('requestId payloadType payload expiresAt'),
  },
  {
    fixture: 'withdraw-prepare',
    at: ['payload'],
    names: words('typedData relayParams relayRouterAddress gasPaymentParams'),
  },
  {
    fixture: 'withdraw-prepare',
    at: ['payload', 'gasPaymentParams'],
    names: words('relayerFeeTokenAddress relayerFeeAmount gasPaymentTokenAddress gasPaymentTokenAmount'),
  },
  { fixture: 'withdraw-status', at: [], names: words('requestId status txHash taskId') },
]
