/**
 * The EIP-712 types of a signed batch (contract `RelayUtils`), apart from the hashing of them: clients that only
 * read payloads need no hash function.
 */

/** EIP-712 types of a Batch, primary type first, as the venue lists them. */
export const batchTypes = {
  Batch: [
    { name: 'account', type: 'address' },
    { name: 'createOrderParamsList', type: 'CreateOrderParams[]' },
    { name: 'updateOrderParamsList', type: 'UpdateOrderParams[]' },
    { name: 'cancelOrderKeys', type: 'bytes32[]' },
    { name: 'relayParams', type: 'bytes32' },
    { name: 'subaccountApproval', type: 'bytes32' },
  ],
  CreateOrderParams: [
    { name: 'addresses', type: 'CreateOrderAddresses' },
    { name: 'numbers', type: 'CreateOrderNumbers' },
    { name: 'orderType', type: 'uint256' },
    { name: 'decreasePositionSwapType', type: 'uint256' },
    { name: 'isLong', type: 'bool' },
    { name: 'shouldUnwrapNativeToken', type: 'bool' },
    { name: 'autoCancel', type: 'bool' },
    { name: 'referralCode', type: 'bytes32' },
    { name: 'dataList', type: 'bytes32[]' },
  ],
  CreateOrderAddresses: [
    { name: 'receiver', type: 'address' },
    { name: 'cancellationReceiver', type: 'address' },
    { name: 'callbackContract', type: 'address' },
    { name: 'uiFeeReceiver', type: 'address' },
    { name: 'market', type: 'address' },
    { name: 'initialCollateralToken', type: 'address' },
    { name: 'swapPath', type: 'address[]' },
  ],
  CreateOrderNumbers: [
    { name: 'sizeDeltaUsd', type: 'uint256' },
    { name: 'initialCollateralDeltaAmount', type: 'uint256' },
    { name: 'triggerPrice', type: 'uint256' },
    { name: 'acceptablePrice', type: 'uint256' },
    { name: 'executionFee', type: 'uint256' },
    { name: 'callbackGasLimit', type: 'uint256' },
    { name: 'minOutputAmount', type: 'uint256' },
    { name: 'validFromTime', type: 'uint256' },
  ],
  UpdateOrderParams: [
    { name: 'key', type: 'bytes32' },
    { name: 'sizeDeltaUsd', type: 'uint256' },
    { name: 'acceptablePrice', type: 'uint256' },
    { name: 'triggerPrice', type: 'uint256' },
    { name: 'minOutputAmount', type: 'uint256' },
    { name: 'validFromTime', type: 'uint256' },
    { name: 'autoCancel', type: 'bool' },
    { name: 'executionFeeIncrease', type: 'uint256' },
  ],
} as const
