/**
 * Facts for the protocol's fees on each chain: gas of its contracts' settings and the buffers of the venue's client, as deployed in August 2026. An
 * order's execution fee and the relay's fee follow from them and the chain's gas price alone (`feeFormula.ts`).
 */
/** Kind of an order by which its execution gas is counted. */
export type GasOrderKind = 'increase' | 'decrease' | 'swap'

/** Gas facts of one chain. Gas in units of gas, prices in wei of the native token, factors with 30 decimals. */
export interface ChainGas {
  /** Gas of every execution (DataStore, ESTIMATED_GAS_FEE_BASE_AMOUNT_V2_1). */
  readonly baseGas: bigint
  /** Gas of each oracle price of an execution, and of a relayed fee swap (ESTIMATED_GAS_FEE_PER_ORACLE_PRICE). */
  readonly gasPerOraclePrice: bigint
  /** Factor on the gas of the order itself (ESTIMATED_GAS_FEE_MULTIPLIER_FACTOR). */
  readonly multiplierFactor: bigint
  /** Gas of the order itself, without swaps (INCREASE_ORDER_GAS_LIMIT and its kin). */
  readonly orderGas: Readonly<Record<GasOrderKind, bigint>>
  /** Gas of each swap of an order, and of the relay's fee (SINGLE_SWAP_GAS_LIMIT). */
  readonly gasPerSwap: bigint
  /** Buffer that the venue's client adds to the gas price, bps; an order through the relay gets `expressBufferBps` more. */
  readonly bufferBps: number
  readonly expressBufferBps: number
  /** Least priority fee that is added to the gas price; undefined: the chain's priority fee is not added. */
  readonly leastPriorityFee: bigint | undefined
  /** Added after the buffers. */
  readonly premium: bigint
  /** Gas of each action of a relayed message. */
  readonly relayGas: { readonly create: bigint; readonly update: bigint; readonly cancel: bigint }
  /** Factor of the relay's fee on its gas (GELATO_RELAY_FEE_MULTIPLIER_FACTOR). */
  readonly relayMultiplierFactor: bigint
  /** Buffer that the venue's client adds to that, bps. */
  readonly relayBufferBps: number
  /** Gas that calldata of so many bytes costs on the parent chain; absent where there is none. */
  readonly parentChain?: { readonly gas: bigint; readonly calldataBytes: number }
  /** Cost of swapping the fee token into the wrapped native token in the chain's usual fee market, as a factor (ATOMIC_SWAP_FEE_FACTOR). */
  readonly feeSwapFactor: bigint
}

/** Gas facts that are the same on all chains. */
export const sharedGas = {
  baseGas: 600_000n,
  gasPerOraclePrice: 250_000n,
  gasPerSwap: 1_000_000n,
  expressBufferBps: 1_000,
  relayMultiplierFactor: 1_070_000n * 10n ** 24n,
  relayBufferBps: 1_000,
} as const

/** A factor of 1. */
export const FACTOR_ONE = 10n ** 30n
