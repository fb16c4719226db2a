/**
 * Custom errors of the protocol: what the bytes of a revert, or of a cancelled or frozen order, say
 * (contract `Errors`). A selector outside the table is shown as it is; nothing is ever guessed from it.
 */
import type { Hex } from 'viem'
import { decodeAbiParameters, parseAbiItem } from 'viem/utils'

const declarations: Readonly<Record<string, string>> = {
  // Order execution: cancellation (market) / freeze (trigger) reasons
  '0xe09ad0e9': 'OrderNotFulfillableAtAcceptablePrice(uint256,uint256)',
  '0x315276c9': 'InsufficientReserve(uint256,uint256)',
  '0xb98c6179': 'InsufficientReserveForOpenInterest(uint256,uint256)',
  '0x2bf127cf': 'MaxOpenInterestExceeded(uint256,uint256)',
  '0xd1a942ab': 'MaxCollateralSumExceeded(uint256,uint256)',
  '0x23090a31': 'InsufficientPoolAmount(uint256,uint256)',
  '0x2159b161': 'InsufficientCollateralUsd(int256)',
  '0x74cc815b': 'InsufficientCollateralAmount(uint256,int256)',
  '0x19d50093': 'InsufficientFundsToPayForCosts(uint256,string)',
  '0x3a61a4a9': 'UnableToWithdrawCollateral(int256)',
  '0xbc121108': 'LiquidatablePosition(string,int256,int256,int256)',
  '0x85efb31a': 'MinPositionSize(uint256,uint256)',
  '0x3df42531': 'EmptySizeDeltaInTokens()',
  '0x9fbe2cbc': 'InvalidDecreaseOrderSize(uint256,uint256)',
  '0xd28d3eb5': 'InsufficientOutputAmount(uint256,uint256)',
  '0xa7aebadc': 'InsufficientSwapOutputAmount(uint256,uint256)',
  '0x75885d69': 'SwapPriceImpactExceedsAmountIn(uint256,int256)',
  '0xf0641c92': 'PriceImpactLargerThanOrderSize(int256,uint256)',
  '0xcc32db99': 'NegativeExecutionPrice(int256,uint256,uint256,int256,uint256)',
  '0x839c693e': 'InvalidCollateralTokenForMarket(address,address)',
  '0x182e30e3': 'InvalidPositionMarket(address)',
  '0xbff65b3f': 'InvalidPositionSizeValues(uint256,uint256)',
  '0xcb9bd134': 'InvalidSwapMarket(address)',
  '0x91c78b78': 'DuplicatedMarketInSwapPath(address)',
  '0xb92fb250': 'PnlFactorExceededForLongs(int256,uint256)',
  '0xb0010694': 'PnlFactorExceededForShorts(int256,uint256)',
  '0xeadaf93a': 'UsdDeltaExceedsLongOpenInterest(int256,uint256)',
  '0x8af0d140': 'UsdDeltaExceedsShortOpenInterest(int256,uint256)',
  '0x2e949409': 'UsdDeltaExceedsPoolValue(int256,uint256)',
  '0x09f8c937': 'DisabledMarket(address)',
  '0x05fbc1ae': 'EmptyMarket()',
  '0x4dfbbff3': 'EmptyPosition()',
  '0x426cfff0': 'PositionNotFound(bytes32)',
  // Keeper transaction reverts, order stays
  '0x0481a15a': 'InvalidOrderPrices(uint256,uint256,uint256,uint256)',
  '0x16307797': 'EmptyOrder()',
  '0x59485ed9': 'OrderNotFound(bytes32)',
  '0xcf9319d6': 'OrderValidFromTimeNotReached(uint256,uint256)',
  '0xe5feddc0': 'InvalidKeeperForFrozenOrder(address)',
  '0x3784f834': 'UnsupportedOrderType(uint256)',
  '0xdd70e0c9': 'DisabledFeature(bytes32)',
  '0xcd64a025': 'EmptyPrimaryPrice(address)',
  '0x7d677abf': 'OracleTimestampsAreSmallerThanRequired(uint256,uint256)',
  '0xd84b8ee8': 'OracleTimestampsAreLargerThanRequestExpirationTime(uint256,uint256,uint256)',
  '0x2b6e7c3f': 'MaxPriceAgeExceeded(uint256,uint256)',
  '0xdd9c6b9a': 'MaxOracleTimestampRangeExceeded(uint256,uint256)',
  '0xd6b52b60': 'ChainlinkPriceFeedNotUpdated(address,uint256,uint256)',
  '0x032b3d00': 'SequencerDown()',
  '0x113cfc03': 'SequencerGraceDurationNotYetPassed(uint256,uint256)',
  '0xbb416f93': 'InsufficientExecutionGas(uint256,uint256,uint256)',
  '0xd3dacaac': 'InsufficientGasForCancellation(uint256,uint256)',
  // Relay / signature
  '0x83f2ba20': 'DeadlinePassed(uint256,uint256)',
  '0x1041c08a': 'InvalidUserDigest(bytes32)',
  '0x2a34f7fe': 'InvalidSignature(string)',
  '0x2416afa9': 'InvalidRecoveredSigner(string,address,address,address)',
  '0xc3776a2c': 'InvalidDestinationChainId(uint256)',
  '0x2c9bcbdd': 'InvalidSrcChainId(uint256)',
  '0x3044992f': 'InvalidSubaccountApprovalNonce(uint256,uint256)',
  '0x7db6c745': 'InvalidSubaccountApprovalDesChainId(uint256)',
  '0x545e8f2b': 'InvalidSubaccountApprovalSubaccount()',
  '0x26025b4e': 'SubaccountApprovalDeadlinePassed(uint256,uint256)',
  '0x9b539f07': 'SubaccountApprovalExpired(address,address,uint256,uint256)',
  '0x9be0a43c': 'SubaccountNotAuthorized(address,address)',
  '0x519ba753': 'MaxSubaccountActionCountExceeded(address,address,uint256,uint256)',
  '0x34e5c9e2': 'SubaccountIntegrationIdDisabled(bytes32)',
  '0x4baab816': 'InvalidReceiverForSubaccountOrder(address,address)',
  '0x89736584': 'InvalidCancellationReceiverForSubaccountOrder(address,address)',
  '0x28f773e9': 'NonEmptyExternalCallsForSubaccountOrder()',
  '0x9cd76295': 'InsufficientRelayFee(uint256,uint256)',
  '0xe949114e': 'UnexpectedRelayFeeToken(address,address)',
  '0xa9721241': 'UnexpectedRelayFeeTokenAfterSwap(address,address)',
  '0x0d0fcc0b': 'UnsupportedRelayFeeToken(address,address)',
  '0xc0471bf8': 'MaxRelayFeeSwapForSubaccountExceeded(uint256,uint256)',
  '0x015f3928': 'MaxRelayFeeSwapExceeded(uint256,uint256)',
  '0x25eeb47a': 'RelayEmptyBatch()',
  '0xb09ace9a': 'RelayCalldataTooLong(uint256)',
  '0x3c0ac199': 'InvalidPermitSpender(address,address)',
  '0xec7fd385': 'InvalidExternalCalls(uint256,uint256)',
  '0x59afd6c6': 'ExternalCallFailed(bytes)',
  '0x7344d981': 'TokenPermitsNotAllowedForMultichain()',
  '0x4ac6d095': 'InsufficientMultichainBalance(address,address,uint256,uint256)',
  // Create / update / cancel
  '0x5dac504d': 'InsufficientExecutionFee(uint256,uint256)',
  '0x3a78cd7e': 'InsufficientWntAmountForExecutionFee(uint256,uint256)',
  '0xd551823d': 'EmptyReceiver()',
  '0xdd7016a2': 'EmptyAccount()',
  '0x8a4bd513': 'OrderTypeCannotBeCreated(uint256)',
  '0x9aba92cb': 'OrderNotUpdatable(uint256)',
  '0x3af14617': 'UnexpectedValidFromTime(uint256)',
  '0x9da36043': 'MaxSwapPathLengthExceeded(uint256,uint256)',
  '0xf0794a60': 'MaxAutoCancelOrdersExceeded(uint256,uint256)',
  '0x31f47690': 'UnsupportedOrderTypeForAutoCancellation(uint256)',
  '0x10aeb692': 'MaxCallbackGasLimitExceeded(uint256,uint256)',
  '0xa0629236': 'MaxDataListLengthExceeded(uint256,uint256)',
  '0x81468139': 'InvalidUiFeeFactor(uint256,uint256)',
  '0xe8266438': 'RequestNotYetCancellable(uint256,uint256,string)',
  '0x730d44b1': 'OrderAlreadyFrozen()',
  '0xa35b150b': 'Unauthorized(address,string)',
  '0x64174bbc': 'EmptyRelayFeeAddress()',
  '0x9b867f31': 'InvalidExecutionFee(uint256,uint256,uint256)',
  '0xf50ce733': 'InsufficientGasLeft(uint256,uint256)',
  '0x979dc780': 'TokenTransferError(address,address,uint256)',
  '0x2136ecd2': 'InvalidTwapCount(uint256)',
  // Calls of the account itself, and simulations
  '0x9cfea583': 'InvalidReceiver(address)',
  '0x831e9f11': 'InvalidExternalCallInput(uint256,uint256)',
  '0xe15f2701': 'InvalidExternalReceiversInput(uint256,uint256)',
  '0xbe55c895': 'InvalidExternalCallTarget(address)',
  '0x663de023': 'InvalidPrimaryPricesForSimulation(uint256,uint256)',
  '0x4e48dcda': 'EndOfOracleSimulation()',
  // Solidity's own
  '0x08c379a0': 'Error(string)',
  '0x4e487b71': 'Panic(uint256)',
}

/** Longest text that is made of one reason, characters. */
const MAX_TEXT = 300

/** Selectors with their Solidity declarations, as `0x59485ed9` and `OrderNotFound(bytes32)`. */
export function protocolErrors(): readonly (readonly [selector: string, declaration: string])[] {
  return Object.entries(declarations)
}

/**
 * The bytes of a reason as text: `OrderNotFound(0x…)` for a known error, the name alone when its arguments do not decode,
 * the selector as `0x12345678` for an unknown one, and an empty text for no bytes. Never throws.
 */
export function reasonOfBytes(bytes: Hex): string {
  if (bytes.length < 10) return bytes === '0x' ? '' : reasonText(bytes)
  const selector = bytes.slice(0, 10).toLowerCase()
  const declaration = Object.hasOwn(declarations, selector) ? declarations[selector] : undefined
  if (declaration === undefined) return selector
  const name = declaration.slice(0, declaration.indexOf('('))
  try {
    const item = parseAbiItem(`error ${declaration}` as 'error Error(string)')
    const args = decodeAbiParameters(item.inputs, `0x${bytes.slice(10)}`)
    return reasonText(`${name}(${args.map(String).join(', ')})`)
  } catch {
    return name
  }
}

/** A reason of the chain's as one bounded line: it ends up in journals and log lines, and may hold anything. */
export function reasonText(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
  const plain = text.replace(/[\u0000-\u001f\u007f]/g, ' ')
  return plain.length <= MAX_TEXT ? plain : `${plain.slice(0, MAX_TEXT)}…`
}
