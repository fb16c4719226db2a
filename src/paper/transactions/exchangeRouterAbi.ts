/** Functions that the venue serves of the contracts that a wallet calls itself: ExchangeRouter, SimulationRouter, and ERC-20 tokens. */
import { parseAbi } from 'viem/utils'

/** Structs of an order that the account itself creates (IBaseOrderUtils.CreateOrderParams). */
const orderStructs = [
  'struct Addresses { address receiver; address cancellationReceiver; address callbackContract; address uiFeeReceiver; address market; address initialCollateralToken; address[] swapPath; }',
  'struct Numbers { uint256 sizeDeltaUsd; uint256 initialCollateralDeltaAmount; uint256 triggerPrice; uint256 acceptablePrice; uint256 executionFee; uint256 callbackGasLimit; uint256 minOutputAmount; uint256 validFromTime; }',
  'struct CreateOrderParams { Addresses addresses; Numbers numbers; uint8 orderType; uint8 decreasePositionSwapType; bool isLong; bool shouldUnwrapNativeToken; bool autoCancel; bytes32 referralCode; bytes32[] dataList; }',
] as const

/** Prices that a simulation executes at (OracleUtils.SimulatePricesParams). */
const priceStructs = [
  'struct Price { uint256 min; uint256 max; }',
  'struct SimulatePricesParams { address[] primaryTokens; Price[] primaryPrices; uint256 minTimestamp; uint256 maxTimestamp; }',
] as const

/**
 * ExchangeRouter: what a classic order needs, and the claims. `simulateExecuteOrder` and `simulateExecuteLatestOrder` are of the line before
 * the SimulationRouter; since then the newest order is simulated by `makeExternalCalls` to that.
 */
export const exchangeRouterAbi = parseAbi([
  ...orderStructs,
  ...priceStructs,
  'function multicall(bytes[] data) payable returns (bytes[] results)',
  'function sendWnt(address receiver, uint256 amount) payable',
  'function sendTokens(address token, address receiver, uint256 amount) payable',
  'function createOrder(CreateOrderParams params) payable returns (bytes32)',
  'function updateOrder(bytes32 key, uint256 sizeDeltaUsd, uint256 acceptablePrice, uint256 triggerPrice, uint256 minOutputAmount, uint256 validFromTime, bool autoCancel) payable',
  'function cancelOrder(bytes32 key) payable',
  'function claimFundingFees(address[] markets, address[] tokens, address receiver) payable returns (uint256[])',
  'function claimAffiliateRewards(address[] markets, address[] tokens, address receiver) payable returns (uint256[])',
  'function makeExternalCalls(address[] externalCallTargets, bytes[] externalCallDataList, address[] refundTokens, address[] refundReceivers) payable',
  'function simulateExecuteOrder(bytes32 key, SimulatePricesParams simulatedOracleParams) payable',
  'function simulateExecuteLatestOrder(SimulatePricesParams simulatedOracleParams) payable',
])

/** SimulationRouter. */
export const simulationRouterAbi = parseAbi([
  ...priceStructs,
  'function simulateExecuteLatestOrder(SimulatePricesParams simulatedOracleParams) payable',
])

/** Functions that change an ERC-20 token's books, and the events that they emit. */
export const tokenWriteAbi = parseAbi([
  'function approve(address spender, uint256 amount) returns (bool)',
  'function transfer(address to, uint256 amount) returns (bool)',
  'function transferFrom(address from, address to, uint256 amount) returns (bool)',
  'function permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)',
  'function deposit() payable',
  'function withdraw(uint256 amount)',
])
