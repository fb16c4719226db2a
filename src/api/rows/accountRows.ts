/**
 * Decodes positions, resting orders and trades (docs/reference/api-coverage.md GET /positions and GET /trades). Each row is a domain
 * object, and carries the rest of the wire's fields besides; one that a deployment does not send is absent.
 */
import type { Hex } from '../../protocol/address.ts'
import type { Direction } from '../../protocol/market.ts'
import type { Order, Position, Trade, TradeEventName } from '../../protocol/position.ts'
import { USD_DECIMALS, type Usd } from '../../protocol/units.ts'
import {
  address,
  boolean,
  bytes32,
  count,
  type Decoder,
  type Fields,
  int,
  list,
  Malformed,
  object,
  oneOf,
  optional,
  present,
  signedUsd30,
  string,
  uint,
  unixSeconds,
  usd30,
  word,
} from '../decode/decode.ts'
import { type FieldsOf, fieldsOf, lenientFieldsOf } from '../decode/fieldTable.ts'

const addresses: Decoder<readonly Hex[]> = (value, name) => list(value, name, address)
const words32: Decoder<readonly Hex[]> = (value, name) => list(value, name, bytes32)

/**
 * Further fields of a position: for people, and nothing is decided by them, so one that cannot be read is absent. `...Usd`: USD with 30 decimals, impact and PnL signed. `...Amount`: the collateral token's
 * units, but claimable amounts in their own token's and `pendingImpactAmount` in the index token's, signed. `...Bps`: signed
 * bps of the collateral for PnL, 10000 = 1x for leverage.
 */
const positionTable = {
  pendingBorrowingFeesUsd: ['pendingBorrowingFeesUsd', usd30],
  pendingFundingFeesUsd: ['pendingFundingFeesUsd', usd30],
  pendingClaimableFundingFeesUsd: ['pendingClaimableFundingFeesUsd', usd30],
  closingFeeUsd: ['closingFeeUsd', usd30],
  uiFeeUsd: ['uiFeeUsd', usd30],
  fundingFeeAmount: ['fundingFeeAmount', uint],
  claimableLongTokenAmount: ['claimableLongTokenAmount', uint],
  claimableShortTokenAmount: ['claimableShortTokenAmount', uint],
  positionFeeAmount: ['positionFeeAmount', uint],
  traderDiscountAmount: ['traderDiscountAmount', uint],
  uiFeeAmount: ['uiFeeAmount', uint],
  pendingImpactAmount: ['pendingImpactAmount', int],
  remainingCollateralAmount: ['remainingCollateralAmount', int],
  pnlBps: ['pnlPercentage', int],
  pnlAfterFeesBps: ['pnlAfterFeesPercentage', int],
  pnlAfterAllFeesUsd: ['pnlAfterAllFees', signedUsd30],
  pnlAfterAllFeesBps: ['pnlAfterAllFeesPercentage', int],
  netValueAfterAllFeesUsd: ['netValueAfterAllFees', signedUsd30],
  // The misspelling is the wire's.
  netPriceImpactDeltaUsd: ['netPriceImapctDeltaUsd', signedUsd30],
  priceImpactDiffUsd: ['priceImpactDiffUsd', signedUsd30],
  pendingImpactUsd: ['pendingImpactUsd', signedUsd30],
  closePriceImpactDeltaUsd: ['closePriceImpactDeltaUsd', signedUsd30],
  leverageWithPnlBps: ['leverageWithPnl', int],
  leverageWithoutPnlBps: ['leverageWithoutPnl', int],
  hasLowCollateral: ['hasLowCollateral', boolean],
  isOpening: ['isOpening', boolean],
  indexName: ['indexName', string],
  poolName: ['poolName', string],
  data: ['data', string],
} as const

/** A position with all that the wire says of it. */
export interface PositionRow extends Position, Omit<FieldsOf<typeof positionTable>, keyof Position> {}

/** A position with the orders that touch it, which come from the venue's order store, not from the position's block. */
export interface PositionWithOrders extends PositionRow {
  readonly relatedOrders: readonly OrderRow[]
}

/**
 * Further fields of a resting order. `executionFee` is native wei; `minOutputAmount` is units of the output token for a
 * swap and USD with 30 decimals for a decrease.
 */
const orderTable = {
  cancellationReceiver: ['cancellationReceiver', address],
  callbackContract: ['callbackContract', address],
  uiFeeReceiver: ['uiFeeReceiver', address],
  swapPath: ['swapPath', addresses],
  decreasePositionSwapType: ['decreasePositionSwapType', count],
  executionFee: ['executionFee', uint],
  callbackGasLimit: ['callbackGasLimit', uint],
  minOutputAmount: ['minOutputAmount', uint],
  srcChainId: ['srcChainId', count],
  shouldUnwrapNativeToken: ['shouldUnwrapNativeToken', boolean],
  autoCancel: ['autoCancel', boolean],
  dataList: ['dataList', words32],
  requestId: ['requestId', string],
} as const

/** A resting order with all that the wire says of it. */
export interface OrderRow extends Order, Omit<FieldsOf<typeof orderTable>, keyof Order> {}

/**
 * Further fields of a trade. `...ContractPrice...`: contract prices of the index token. `...Usd`: USD with 30 decimals,
 * signed. `...Amount`: the collateral token's units, but `executionAmountOut` in the output token's.
 */
const tradeTable = {
  swapPath: ['swapPath', addresses],
  shouldUnwrapNativeToken: ['shouldUnwrapNativeToken', boolean],
  acceptableContractPrice: ['acceptablePrice', uint],
  triggerContractPrice: ['triggerPrice', uint],
  indexTokenContractPriceMin: ['indexTokenPriceMin', uint],
  indexTokenContractPriceMax: ['indexTokenPriceMax', uint],
  minOutputAmount: ['minOutputAmount', uint],
  executionAmountOut: ['executionAmountOut', uint],
  priceImpactDiffUsd: ['priceImpactDiffUsd', signedUsd30],
  totalImpactUsd: ['totalImpactUsd', signedUsd30],
  proportionalPendingImpactUsd: ['proportionalPendingImpactUsd', signedUsd30],
  swapFeeUsd: ['swapFeeUsd', signedUsd30],
  swapImpactUsd: ['swapImpactUsd', signedUsd30],
  traderDiscountAmount: ['traderDiscountAmount', uint],
  liquidationFeeAmount: ['liquidationFeeAmount', uint],
  collateralTotalCostAmount: ['collateralTotalCostAmount', uint],
  decreasePositionSwapType: ['decreasePositionSwapType', count],
  srcChainId: ['srcChainId', count],
  numberOfParts: ['numberOfParts', count],
  twapGroupId: ['twapGroupId', string],
  reasonBytes: ['reasonBytes', string],
} as const

/** A trade with all that the wire says of it. */
export interface TradeRow extends Trade, FieldsOf<typeof tradeTable> {}

function directionOf(isLong: boolean): Direction {
  return isLong ? 'long' : 'short'
}

/**
 * USD as the document's "decimal string": of digits alone it has 30 decimals, as all amounts of the venue; with a point it is
 * in dollars, since an amount of 30 decimals never has one.
 */
function decimalUsd(value: unknown, name: string): Usd {
  if (typeof value !== 'string' || !value.includes('.')) return signedUsd30(value, name)
  const parts = /^(-?)(\d{1,48})\.(\d{1,30})$/.exec(value)
  if (parts === null) throw new Malformed(name, 'is not an amount of dollars', value)
  const [, sign = '', whole = '', fraction = ''] = parts
  const amount = BigInt(whole + fraction.padEnd(USD_DECIMALS, '0'))
  return sign === '' ? amount : -amount
}

/** Decodes one open position. Throws `Malformed`. */
export function position(value: unknown): PositionRow {
  const row = object(value)
  const netValueUsd = signedUsd30(row.netValue, 'netValue')
  return {
    positionKey: word(row.key, 'key'),
    contractKey: bytes32(row.contractKey, 'contractKey'),
    account: address(row.account, 'account'),
    marketToken: address(row.marketAddress, 'marketAddress'),
    collateralToken: address(row.collateralTokenAddress, 'collateralTokenAddress'),
    direction: directionOf(boolean(row.isLong, 'isLong')),
    sizeInUsd: usd30(row.sizeInUsd, 'sizeInUsd'),
    sizeInTokens: uint(row.sizeInTokens, 'sizeInTokens'),
    collateralAmount: uint(row.collateralAmount, 'collateralAmount'),
    collateralUsd: usd30(row.collateralUsd, 'collateralUsd'),
    remainingCollateralUsd: signedUsd30(row.remainingCollateralUsd, 'remainingCollateralUsd'),
    markPrice: usd30(row.markPrice, 'markPrice'),
    pnlUsd: signedUsd30(row.pnl, 'pnl'),
    pnlAfterFeesUsd: signedUsd30(row.pnlAfterFees, 'pnlAfterFees'),
    // Nothing is decided by it; older deployments do not send it (gaps: conflict 13).
    positionValueInUsd: optional(row.positionValueInUsd, 'positionValueInUsd', decimalUsd) ?? netValueUsd,
    netValueUsd,
    increasedAtSeconds: unixSeconds(row.increasedAtTime, 'increasedAtTime'),
    decreasedAtSeconds: unixSeconds(row.decreasedAtTime, 'decreasedAtTime'),
    ...present({
      entryPrice: optional(row.entryPrice, 'entryPrice', usd30),
      liquidationPrice: optional(row.liquidationPrice, 'liquidationPrice', usd30),
      leverageBps: optional(row.leverage, 'leverage', int),
    }),
    ...lenientFieldsOf(row, positionTable),
  }
}

/** One open position with its related orders. Throws `Malformed`. */
export function positionWithOrders(value: unknown): PositionWithOrders {
  const { relatedOrders } = object(value)
  return {
    ...position(value),
    relatedOrders: optional(relatedOrders, 'relatedOrders', (rows, name) => list(rows, name, order)) ?? [],
  }
}

/** Greatest on-chain order type (contract `Order`, `OrderType`) known today; later ones pass as numbers. */
const ORDER_TYPE_LIMIT = 255

function orderTypeOf(value: unknown): number {
  const orderType = count(value, 'orderType')
  if (orderType > ORDER_TYPE_LIMIT) throw new Malformed('orderType', 'is not an order type', value)
  return orderType
}

/** One resting order, frozen ones too. Throws `Malformed`. */
export function order(value: unknown): OrderRow {
  const row = object(value)
  return {
    orderKey: bytes32(row.key, 'key'),
    account: address(row.account, 'account'),
    receiver: address(row.receiver, 'receiver'),
    marketToken: address(row.marketAddress, 'marketAddress'),
    initialCollateralToken: address(row.initialCollateralTokenAddress, 'initialCollateralTokenAddress'),
    orderType: orderTypeOf(row.orderType),
    direction: directionOf(boolean(row.isLong, 'isLong')),
    sizeDeltaUsd: usd30(row.sizeDeltaUsd, 'sizeDeltaUsd'),
    initialCollateralDeltaAmount: uint(row.initialCollateralDeltaAmount, 'initialCollateralDeltaAmount'),
    triggerContractPrice: uint(row.triggerPrice, 'triggerPrice'),
    acceptableContractPrice: uint(row.acceptablePrice, 'acceptablePrice'),
    isFrozen: boolean(row.isFrozen, 'isFrozen'),
    updatedAtSeconds: unixSeconds(row.updatedAtTime, 'updatedAtTime'),
    validFromSeconds: unixSeconds(row.validFromTime, 'validFromTime'),
    ...fieldsOf(row, orderTable),
  }
}

const tradeEventNames = new Set<Exclude<TradeEventName, 'unrecognised'>>([
  'OrderCreated',
  'OrderExecuted',
  'OrderCancelled',
  'OrderUpdated',
  'OrderFrozen',
])

function maybe<T>(row: Fields, name: string, decode: Decoder<T>): T | undefined {
  return optional(row[name], name, decode)
}

/** One event of an order. Throws `Malformed`. */
export function trade(value: unknown): TradeRow {
  const row = object(value)
  const isLong = maybe(row, 'isLong', boolean)
  return {
    id: word(row.id, 'id'),
    account: address(row.account, 'account'),
    orderKey: bytes32(row.orderKey, 'orderKey'),
    transactionHash: bytes32(row.transactionHash, 'transactionHash'),
    eventName: oneOf(row.eventName, 'eventName', tradeEventNames),
    orderType: orderTypeOf(row.orderType),
    timestampSeconds: unixSeconds(row.timestamp, 'timestamp'),
    initialCollateralToken: address(row.initialCollateralTokenAddress, 'initialCollateralTokenAddress'),
    initialCollateralDeltaAmount: uint(row.initialCollateralDeltaAmount, 'initialCollateralDeltaAmount'),
    ...present({
      marketToken: maybe(row, 'marketAddress', address),
      direction: isLong === undefined ? undefined : directionOf(isLong),
      sizeDeltaUsd: maybe(row, 'sizeDeltaUsd', usd30),
      sizeDeltaInTokens: maybe(row, 'sizeDeltaInTokens', uint),
      executionContractPrice: maybe(row, 'executionPrice', uint),
      collateralTokenContractPriceMin: maybe(row, 'collateralTokenPriceMin', uint),
      collateralTokenContractPriceMax: maybe(row, 'collateralTokenPriceMax', uint),
      pnlUsd: maybe(row, 'pnlUsd', signedUsd30),
      basePnlUsd: maybe(row, 'basePnlUsd', signedUsd30),
      priceImpactUsd: maybe(row, 'priceImpactUsd', signedUsd30),
      positionFeeAmount: maybe(row, 'positionFeeAmount', uint),
      borrowingFeeAmount: maybe(row, 'borrowingFeeAmount', uint),
      fundingFeeAmount: maybe(row, 'fundingFeeAmount', uint),
      reason: maybe(row, 'reason', string),
    }),
    ...fieldsOf(row, tradeTable),
  }
}
