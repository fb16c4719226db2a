/** Gas prices of a chain. */
/** A chain's gas price as an endpoint tells it, wei of the native token. */
export interface GasPrice {
  /** `eth_gasPrice`. */
  readonly networkGasPrice: bigint
  /** `eth_maxPriorityFeePerGas`; 0 where an endpoint knows none. */
  readonly priorityFee: bigint
}
