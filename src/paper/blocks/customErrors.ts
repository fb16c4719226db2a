/** Custom errors of the protocol as bytes: selector and arguments (contract `Errors`). */
import type { Abi, Hex } from 'viem'
import { encodeErrorResult, parseAbi } from 'viem/utils'
import type { ProtocolRevert } from '../math/protocolRevert.ts'

/** The errors this venue can raise, by their Solidity declarations. */
export const customErrors = parseAbi([
  'error OrderNotFulfillableAtAcceptablePrice(uint256 price, uint256 acceptablePrice)',
  'error InsufficientReserve(uint256 reservedUsd, uint256 maxReservedUsd)',
  'error InsufficientReserveForOpenInterest(uint256 reservedUsd, uint256 maxReservedUsd)',
  'error MaxOpenInterestExceeded(uint256 openInterest, uint256 maxOpenInterest)',
  'error InsufficientPoolAmount(uint256 poolAmount, uint256 amount)',
  'error InsufficientCollateralUsd(int256 collateralUsd)',
  'error InsufficientCollateralAmount(uint256 collateralAmount, int256 collateralDeltaAmount)',
  'error InsufficientFundsToPayForCosts(uint256 remainingCostUsd, string step)',
  'error UnableToWithdrawCollateral(int256 estimatedRemainingCollateralUsd)',
  'error LiquidatablePosition(string reason, int256 remainingCollateralUsd, int256 minCollateralUsd, int256 minCollateralUsdForLeverage)',
  'error MinPositionSize(uint256 positionSizeInUsd, uint256 minPositionSizeUsd)',
  'error EmptySizeDeltaInTokens()',
  'error EmptyPosition()',
  'error InvalidDecreaseOrderSize(uint256 sizeDeltaUsd, uint256 positionSizeInUsd)',
  'error InsufficientOutputAmount(uint256 outputAmount, uint256 minOutputAmount)',
  'error InsufficientSwapOutputAmount(uint256 outputAmount, uint256 minOutputAmount)',
  'error PriceImpactLargerThanOrderSize(int256 priceImpactUsd, uint256 sizeDeltaUsd)',
  'error NegativeExecutionPrice(int256 executionPrice, uint256 price, uint256 positionSizeInUsd, int256 priceImpactUsd, uint256 sizeDeltaUsd)',
  'error InvalidCollateralTokenForMarket(address market, address token)',
  'error InvalidPositionMarket(address market)',
  'error InvalidPositionSizeValues(uint256 sizeInUsd, uint256 sizeInTokens)',
  'error InvalidSwapMarket(address market)',
  'error DisabledMarket(address market)',
  'error UsdDeltaExceedsPoolValue(int256 usdDelta, uint256 poolUsd)',
  'error DuplicatedMarketInSwapPath(address market)',
  'error SwapPriceImpactExceedsAmountIn(uint256 amountAfterFees, int256 negativeImpactAmount)',
  'error MaxCollateralSumExceeded(uint256 collateralSum, uint256 maxCollateralSum)',
  'error MaxAutoCancelOrdersExceeded(uint256 count, uint256 maxCount)',
  'error UnsupportedOrderTypeForAutoCancellation(uint256 orderType)',
  'error DeadlinePassed(uint256 currentTimestamp, uint256 deadline)',
  'error InvalidUserDigest(bytes32 digest)',
  'error InvalidDestinationChainId(uint256 desChainId)',
  'error InvalidRecoveredSigner(string signatureType, address recoveredSigner, address recoveredSignerFromMinifiedDigest, address expectedSigner)',
  'error InvalidSignature(string signatureType)',
  'error UnexpectedRelayFeeToken(address feeToken, address expectedFeeToken)',
  'error RelayEmptyBatch()',
  'error InsufficientRelayFee(uint256 requiredRelayerFee, uint256 availableFeeAmount)',
  'error InsufficientExecutionFee(uint256 minExecutionFee, uint256 executionFee)',
  'error Error(string reason)',
  'error InvalidSubaccountApprovalNonce(uint256 storedNonce, uint256 nonce)',
  'error InvalidSubaccountApprovalDesChainId(uint256 desChainId)',
  'error InvalidSubaccountApprovalSubaccount()',
  'error SubaccountApprovalDeadlinePassed(uint256 currentTimestamp, uint256 deadline)',
  'error SubaccountApprovalExpired(address account, address subaccount, uint256 deadline, uint256 currentTimestamp)',
  'error SubaccountNotAuthorized(address account, address subaccount)',
  'error MaxSubaccountActionCountExceeded(address account, address subaccount, uint256 count, uint256 maxCount)',
  'error InvalidReceiverForSubaccountOrder(address receiver, address expectedReceiver)',
  'error InvalidCancellationReceiverForSubaccountOrder(address cancellationReceiver, address expectedCancellationReceiver)',
  'error NonEmptyExternalCallsForSubaccountOrder()',
  'error InsufficientMultichainBalance(address account, address token, uint256 balance, uint256 amount)',
  'error InsufficientWntAmountForExecutionFee(uint256 wntAmount, uint256 executionFee)',
  'error InsufficientExecutionFee(uint256 minExecutionFee, uint256 executionFee)',
  'error EmptyOrder()',
  'error EmptyMarket()',
  'error InvalidReceiver(address receiver)',
  'error UnexpectedValidFromTime(uint256 orderType)',
  'error MaxDataListLengthExceeded(uint256 dataLength, uint256 maxDataLength)',
  'error InvalidExternalCallInput(uint256 targetsLength, uint256 dataListLength)',
  'error InvalidExternalReceiversInput(uint256 refundTokensLength, uint256 refundReceiversLength)',
  'error InvalidExternalCallTarget(address target)',
  'error ExternalCallFailed(bytes data)',
  'error InvalidPrimaryPricesForSimulation(uint256 primaryTokensLength, uint256 primaryPricesLength)',
  'error EmptyPrimaryPrice(address token)',
  'error OracleTimestampsAreSmallerThanRequired(uint256 minOracleTimestamp, uint256 expectedTimestamp)',
  'error OracleTimestampsAreLargerThanRequestExpirationTime(uint256 maxOracleTimestamp, uint256 requestTimestamp, uint256 requestExpirationTime)',
  'error InvalidOrderPrices(uint256 primaryPriceMin, uint256 primaryPriceMax, uint256 triggerPrice, uint256 orderType)',
  'error InvalidKeeperForFrozenOrder(address keeper)',
  'error EndOfOracleSimulation()',
  'error OrderTypeCannotBeCreated(uint256 orderType)',
  'error OrderNotUpdatable(uint256 orderType)',
  'error OrderNotFound(bytes32 key)',
  'error Unauthorized(address msgSender, string role)',
  'error RequestNotYetCancellable(uint256 requestAge, uint256 requestExpirationAge, string requestType)',
  'error TokenTransferError(address token, address receiver, uint256 amount)',
  'error EmptyReceiver()',
  'error MaxSwapPathLengthExceeded(uint256 swapPathLengh, uint256 maxSwapPathLength)',
])

/** Revert bytes of a protocol error; `0x` for one outside the table, and where the contract's integers would have overflowed. */
export function revertBytes(revert: ProtocolRevert): Hex {
  if (!customErrors.some((error) => error.name === revert.errorName)) return '0x'
  // The table is typed a name at a time; the model knows an error by its name only.
  const abi: Abi = customErrors
  try {
    return encodeErrorResult({ abi, errorName: revert.errorName, args: [...revert.args] })
  } catch (error) {
    if (error instanceof Error && error.name === 'IntegerOutOfRangeError') return '0x'
    throw error
  }
}
