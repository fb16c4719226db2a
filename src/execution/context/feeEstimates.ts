/**
 * Our own estimate of a message's fees: by the protocol's formula from the chain's gas price where an endpoint reports it. Otherwise it comes from
 * earlier landings and the usual fees. Increases are signed at a few times it, and it separates a fee that gas explains from one that it does not
 * (docs/security.md).
 */
import type { Clock } from '../../base/clock.ts'
import { expectedOf } from '../../domain/machine/expected.ts'
import type { Intent, IntentRisk, IntentState } from '../../domain/order/intent.ts'
import type { OrderKind, OrderTerms } from '../../domain/order/orderTerms.ts'
import type { Chain } from '../../protocol/chains/chain.ts'
import {
  executionFeeOf,
  type FeePrices,
  feeAmountOf,
  type GasMessage,
  type GasOrder,
  messageFeesOf,
} from '../../protocol/chains/feeFormula.ts'
import { type ChainGas, chainGas } from '../../protocol/chains/gas.ts'
import { isIncreaseOrder } from '../../protocol/position.ts'
import type { Batch, RelayParams } from '../../protocol/signing/relayRouter.ts'
import { maxOf, minOf, mulDivUp, ONE_USD, type TokenAmount } from '../../protocol/units.ts'
import { createFeeMemory, type OrderFees, type UsualFees } from './feeMemory.ts'
import type { GasLevels, GasWatch } from './gasWatch.ts'
import type { NativePrice } from './nativePrice.ts'
import type { FeeEstimate } from './policy.ts'
import { waitAtMost } from './waitAtMost.ts'

/** Multiple of the formula's fee that gas prices may explain: gas moves between our reading and a host's, and hosts add buffers. */
const EXPLAINED_FACTOR = 3n
/** Longest paths that are signed, of a swap and of a fee's swap; longer ones explain no fee. */
const MOST_SWAPS = 3

/** On-chain types of an increase and of an exit (contract `Order`, `OrderType`). */
const [ENTRY_TYPE, EXIT_TYPE] = [2, 5]
/** Longest wait for readings, ms: an order waits for them in parallel with its prepare, and no longer after it. */
const LONGEST_WAIT_MS = 1_000
/** A native price so young is not read anew for an order, ms: limits leave room for how it moves. */
const NATIVE_YOUNG_MS = 15_000

/** Part of a message that determines its fees. */
export interface FeeMessage {
  readonly batch: Pick<Batch, 'createOrderParamsList' | 'updateOrderParamsList' | 'cancelOrderKeys'>
  readonly relayParams: Pick<RelayParams, 'fee' | 'oracleParams'>
}

/** Estimates fees, and learns. */
export interface Fees {
  /** Learns the fees that an intent's message was charged when it landed. */
  learn(state: IntentState): void
  /**
   * Reads the chain's gas price and the native token's price anew where the known ones are older, ms. Resolves after a second at the latest; never
   * rejects because of network faults.
   */
  refresh(youngerThanMs: number): Promise<void>
  /** Returns the estimate; undefined for a message of the caller's own. Without a message: for one order, by earlier landings and the usual fees. */
  estimateFor(intent: Estimated, message?: FeeMessage): FeeEstimate | undefined
  /** Estimates the cost of sending an order before anything is prepared, including execution fees of all that it creates. */
  expectedFor(intent: Intent): ExpectedFee
  /** The same of an increase of any size that brings so many exits. */
  expectedForEntry(exits: number): ExpectedFee
  /** Estimates the execution fee of a waiting order, native token, base units: the amount it must hold after a change. */
  executionFeeOf(orderType: OrderKind): TokenAmount
  /** `feeAmount` that the relay needs for a message of the caller's own; undefined where no endpoint tells the gas price. */
  ownFeeAmount(message: FeeMessage): TokenAmount | undefined
}

/** The `feeAmount` that a message is expected to name, base units of the chain's fee token, and its source. */
export interface ExpectedFee {
  readonly relayFee: TokenAmount
  readonly source: FeeEstimate['source']
}

/** Part of an intent that determines its estimate. */
export type Estimated = IntentRisk & Partial<{ readonly terms: OrderTerms }>

/** Inputs of the estimates. */
export interface FeesOptions {
  readonly chain: Chain
  readonly clock: Clock
  readonly usual: UsualFees
  /** Absent in API-only mode. */
  readonly gas?: GasWatch
  readonly nativePrice?: NativePrice
  /** True if a delegated key signs: its messages are longer. */
  readonly isSubaccount?: boolean
}

/** Makes estimates that have learned nothing yet. */
export function createFees(options: FeesOptions): Fees {
  const { chain, clock, usual, gas, nativePrice, isSubaccount } = options
  const memory = createFeeMemory(usual)
  const facts = chainGas[chain.name]

  /** Gas levels and prices, when both are known. */
  function byChain(): { readonly levels: GasLevels; readonly prices: FeePrices } | undefined {
    const levels = gas?.levels()
    const native = nativePrice?.usd()
    if (levels === undefined || native === undefined) return undefined
    // The fee token is a dollar coin: one unit counts as one USD.
    const prices = { native, feeToken: ONE_USD, feeTokenDecimals: chain.feeToken.decimals }
    return { levels, prices }
  }

  function expectedForOrders(kind: Intent['kind'], orderTypes: readonly number[]): ExpectedFee {
    const known = byChain()
    if (known === undefined) {
      const { relayFee, source } = memory.feesOf(kind)
      return { relayFee: relayFee * BigInt(Math.max(1, orderTypes.length)), source }
    }
    const message: GasMessage = {
      creates: orderTypes.map(gasOrderOfType),
      updates: 0,
      cancels: 0,
      isSubaccount: isSubaccount === true,
      feeSwaps: chain.feeSwapPath.length,
    }
    const { feeAmount } = messageFeesOf(facts, known.levels.price, known.prices, message)
    return { relayFee: feeAmount, source: 'chain' }
  }

  return {
    learn: memory.learn,
    async refresh(youngerThanMs) {
      const readings = Promise.all([
        gas?.refresh(youngerThanMs),
        nativePrice?.refresh(Math.max(youngerThanMs, NATIVE_YOUNG_MS)),
      ])
      await waitAtMost(clock, LONGEST_WAIT_MS, readings)
    },
    estimateFor(intent, message) {
      if (intent.kind === 'batch') return undefined
      const known = message === undefined ? undefined : byChain()
      if (message !== undefined && known !== undefined) {
        const shape = gasMessageOf(message, isSubaccount === true)
        return chainEstimateOf(facts, known.levels, known.prices, shape, intent.terms?.orderType, usual)
      }
      const orders = BigInt(Math.max(1, message?.batch.createOrderParamsList.length ?? 1))
      const changed = intent.kind === 'edit' ? intent.terms?.orderType : undefined
      const kind = changed === undefined ? intent.kind : gasOrderOf(changed).kind
      const { executionFee, relayFee, source } = memory.feesOf(kind)
      const whole = { executionFee: executionFee * orders, relayFee: relayFee * orders }
      return { source, executionFee, relayFee, factor: BigInt(usual.factor), whole }
    },
    expectedFor: (intent) =>
      expectedForOrders(
        intent.kind,
        expectedOf(intent).orders.map(({ orderType }) => orderType),
      ),
    expectedForEntry: (exits) =>
      expectedForOrders('increase', [ENTRY_TYPE, ...Array.from({ length: exits }, () => EXIT_TYPE)]),
    executionFeeOf(orderType) {
      const order = gasOrderOf(orderType)
      const levels = gas?.levels()
      return levels === undefined
        ? memory.feesOf(order.kind).executionFee
        : executionFeeOf(facts, levels.price, order)
    },
    ownFeeAmount(message) {
      const known = byChain()
      if (known === undefined) return undefined
      const { levels, prices } = known
      const shape = gasMessageOf(message, isSubaccount === true)
      const { relayFee } = messageFeesOf(facts, levels.price, prices, shape)
      return feeAmountOf(facts, executionFeesIn(message) + relayFee, prices, shape)
    },
  }
}

/** Returns the estimate by the formula at these gas prices. `changedType`: order type of an update; `least` keeps the explained fee up in a calm. */
export function chainEstimateOf(
  gas: ChainGas,
  { price, highest }: GasLevels,
  prices: FeePrices,
  message: GasMessage,
  changedType: OrderKind | undefined,
  least: UsualFees,
): FeeEstimate {
  const perOrder = (gasPrice: bigint): OrderFees => {
    const changed =
      message.updates === 0 ? 0n : executionFeeOf(gas, gasPrice, gasOrderOf(changedType ?? 'take-profit'))
    const increases = changed * BigInt(message.updates)
    const fees = messageFeesOf(gas, gasPrice, prices, { ...message, executionFeeIncreases: increases })
    const orders = BigInt(Math.max(1, message.creates.length))
    return {
      executionFee: maxOf(changed, ...fees.executionFees),
      relayFee: mulDivUp(fees.feeAmount, 1n, orders),
    }
  }
  const now = perOrder(price)
  const then = perOrder(highest)
  const whole = messageFeesOf(gas, price, prices, message)
  return {
    source: 'chain',
    ...now,
    factor: minOf(BigInt(least.factor), EXPLAINED_FACTOR),
    explained: {
      executionFee: EXPLAINED_FACTOR * maxOf(then.executionFee, least.executionFee),
      relayFee: EXPLAINED_FACTOR * maxOf(then.relayFee, least.relayFee),
    },
    whole: {
      executionFee: whole.executionFees.reduce((sum, fee) => sum + fee, message.executionFeeIncreases ?? 0n),
      relayFee: whole.feeAmount,
    },
  }
}

/** Returns a message as the formula counts it. Lists longer than any signed one count as the longest. */
export function gasMessageOf({ batch, relayParams }: FeeMessage, isSubaccount: boolean): GasMessage {
  const feeSwaps = Math.min(relayParams.fee.feeSwapPath.length, MOST_SWAPS)
  return {
    creates: batch.createOrderParamsList.map((order) => ({
      kind:
        order.orderType <= 1n
          ? 'swap'
          : isIncreaseOrder({ orderType: Number(order.orderType) })
            ? 'increase'
            : 'decrease',
      swaps: Math.min(order.addresses.swapPath.length, MOST_SWAPS),
      isDecreaseWithSwapType: order.decreasePositionSwapType !== 0n,
    })),
    updates: batch.updateOrderParamsList.length,
    cancels: batch.cancelOrderKeys.length,
    executionFeeIncreases: batch.updateOrderParamsList.reduce(
      (sum, { executionFeeIncrease }) => sum + executionFeeIncrease,
      0n,
    ),
    isSubaccount,
    feeSwaps,
    // Both tokens of each market, and its index token.
    feeSwapPrices: Math.min(relayParams.oracleParams.tokens.length, 2 * feeSwaps + 1),
  }
}

/** An order that waits, as the formula counts it: exits may turn their profit into the collateral token. */
function gasOrderOf(orderType: OrderKind): GasOrder {
  const isExit = orderType === 'take-profit' || orderType === 'stop-loss'
  return isExit
    ? { kind: 'decrease', swaps: 0, isDecreaseWithSwapType: true }
    : { kind: 'increase', swaps: 0 }
}

/** An order by its type on chain, with no swaps but that of a reduction's profit. */
function gasOrderOfType(orderType: number): GasOrder {
  if (orderType <= 1) return { kind: 'swap', swaps: 1 }
  return isIncreaseOrder({ orderType })
    ? { kind: 'increase', swaps: 0 }
    : { kind: 'decrease', swaps: 0, isDecreaseWithSwapType: true }
}

/** Execution fees that a message itself says, wei. */
function executionFeesIn({ batch }: FeeMessage): bigint {
  const created = batch.createOrderParamsList.reduce((sum, { numbers }) => sum + numbers.executionFee, 0n)
  return batch.updateOrderParamsList.reduce(
    (sum, { executionFeeIncrease }) => sum + executionFeeIncrease,
    created,
  )
}
