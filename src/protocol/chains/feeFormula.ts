/**
 * The protocol's fees by its own formula: what an order's execution is counted as in gas, times the chain's gas price with
 * the buffers of the venue's client (GasUtils of the contracts, `adjustGasLimitForEstimate`; the client's fee estimates).
 *
 * Execution fees come out to the wei. A message's `feeAmount` comes out but for the price impact of the fee's own swap, which
 * is the market's matter: up to 0.1 % more in deep markets (test/fixtures/fees.json).
 */
import type { GasPrice } from '../gasPrice.ts'
import { bps, mulDiv, mulDivUp, NATIVE_DECIMALS, ONE_USD, type TokenAmount, type Usd } from '../units.ts'
import type { ChainGas, GasOrderKind } from './gasFacts.ts'

export type { GasPrice }

/** Fields of an order that decide its execution gas. */
export interface GasOrder {
  readonly kind: GasOrderKind
  /** Markets of its swap path. */
  readonly swaps: number
  /** A decrease whose profit or output is swapped (`decreasePositionSwapType` other than 0): one swap more. */
  readonly isDecreaseWithSwapType?: boolean
}

/** Fields of a message that decide its fees. */
export interface GasMessage {
  readonly creates: readonly GasOrder[]
  readonly updates: number
  readonly cancels: number
  /** Additions of its updates to execution fees, wei. */
  readonly executionFeeIncreases?: bigint
  /** True when a subaccount signs; its message carries its approval. */
  readonly isSubaccount?: boolean
  /** Markets that the fee token is swapped through; 1 when absent, 0 for a fee in the wrapped native token. */
  readonly feeSwaps?: number
  /**
   * Oracle prices of the fee's swap, the `tokens` of its oracle parameters: those of both tokens of each market, and of its
   * index token. Absent: as in markets whose index token is one of the two.
   */
  readonly feeSwapPrices?: number
}

/** Prices that turn a fee in native token into one in fee token, USD with 30 decimals per whole token. */
export interface FeePrices {
  /** The native token's; the higher of its two. */
  readonly native: Usd
  /** The fee token's; the lower of its two. */
  readonly feeToken: Usd
  readonly feeTokenDecimals: number
}

/** A message's fees. */
export interface MessageFees {
  /** Execution fee of each created order, in the message's order, wei. */
  readonly executionFees: readonly bigint[]
  /** Fee of the relay for its own gas, with its buffer, wei. */
  readonly relayFee: bigint
  /** Execution fees, increases and relay fee in the fee token, its base units: the `feeAmount` of the relay parameters. */
  readonly feeAmount: TokenAmount
}

/** The gas price that relayed orders' fees are counted with, wei; another buffer than the chain's may be set, bps. */
export function expressGasPrice(
  gas: ChainGas,
  { networkGasPrice, priorityFee }: GasPrice,
  bufferBps: number = gas.bufferBps,
): bigint {
  const least = gas.leastPriorityFee
  const priority = least === undefined ? 0n : priorityFee > least ? priorityFee : least
  const price = networkGasPrice + priority
  return price + bps(price, bufferBps + gas.expressBufferBps) + gas.premium
}

/** Gas that an order's execution is counted as; three oracle prices, and one more for each swap. */
export function executionGasOf(gas: ChainGas, order: GasOrder): bigint {
  const swaps =
    BigInt(order.swaps) + (order.kind === 'decrease' && order.isDecreaseWithSwapType === true ? 1n : 0n)
  const itself = gas.orderGas[order.kind] + gas.gasPerSwap * swaps
  return gas.baseGas + gas.gasPerOraclePrice * (3n + swaps) + mulDiv(itself, gas.multiplierFactor, ONE_USD)
}

/** Execution fee of one order at a price of `expressGasPrice`, wei. */
export function executionFeeOf(gas: ChainGas, gasPrice: bigint, order: GasOrder): bigint {
  return executionGasOf(gas, order) * gasPrice
}

/** All fees of a message at a price of `expressGasPrice`. */
export function messageFeesOf(
  gas: ChainGas,
  gasPrice: bigint,
  prices: FeePrices,
  message: GasMessage,
): MessageFees {
  const executionFees = message.creates.map((order) => executionFeeOf(gas, gasPrice, order))
  const relayFee = relayFeeOf(gas, gasPrice, message)
  const sum = executionFees.reduce((total, fee) => total + fee, message.executionFeeIncreases ?? 0n)
  return { executionFees, relayFee, feeAmount: feeAmountOf(gas, sum + relayFee, prices, message) }
}

/** Returns the relay's fee for a message's gas, wei. */
function relayFeeOf(gas: ChainGas, gasPrice: bigint, message: GasMessage): bigint {
  const { creates, updates, cancels, feeSwaps = 1 } = message
  const { feeSwapPrices = feeSwaps === 0 ? 0 : feeSwaps + 1 } = message
  const { relayGas, parentChain } = gas
  const actions =
    relayGas.create * BigInt(creates.length) +
    relayGas.update * BigInt(updates) +
    relayGas.cancel * BigInt(cancels)
  const swapGas = gas.gasPerSwap * BigInt(feeSwaps) + gas.gasPerOraclePrice * BigInt(feeSwapPrices)
  const posting =
    parentChain === undefined
      ? 0n
      : BigInt(
          Math.round(
            (Number(parentChain.gas) * Math.log(calldataBytesOf(message))) /
              Math.log(parentChain.calldataBytes),
          ),
        )
  const taken = mulDiv((actions + swapGas + posting) * gasPrice, gas.relayMultiplierFactor, ONE_USD)
  return taken + bps(taken, gas.relayBufferBps)
}

/** The `feeAmount` that becomes an amount of native token, wei: with what the fee's swap costs, rounded up. */
export function feeAmountOf(
  gas: ChainGas,
  amount: bigint,
  prices: FeePrices,
  { feeSwaps }: GasMessage,
): TokenAmount {
  const swapFactor = feeSwaps === 0 ? 0n : gas.feeSwapFactor
  const valueUsd = mulDivUp(amount, prices.native, 10n ** BigInt(NATIVE_DECIMALS))
  const withSwap = mulDivUp(valueUsd, ONE_USD, ONE_USD - swapFactor)
  return mulDivUp(withSwap, 10n ** BigInt(prices.feeTokenDecimals), prices.feeToken)
}

/** Words of a `batch` call without actions: arguments, relay parameters with one fee swap, three empty lists. */
const BATCH_WORDS = 50
/** Words that the session key's address and its approval add. */
const SUBACCOUNT_WORDS = 16
const CREATE_WORDS = 27
const UPDATE_WORDS = 8

/** Size of a message's call of the relay router, as the venue's client measures it: before it is signed. */
export function calldataBytesOf({ creates, updates, cancels, isSubaccount }: GasMessage): number {
  const swaps = creates.reduce((sum, each) => sum + each.swaps, 0)
  const words =
    BATCH_WORDS +
    (isSubaccount === true ? SUBACCOUNT_WORDS : 0) +
    CREATE_WORDS * creates.length +
    swaps +
    UPDATE_WORDS * updates +
    cancels
  return 4 + 32 * words
}
