/**
 * The most that a day can cost while somebody lies, by the settings alone (docs/reference/bounds.md, "The most that a lie costs"). Pure. The effect
 * of honest prices on positions within their limits is not included: that is the trading itself.
 *
 * A loss counts toward `risk.maxDailyLossUsd` when it is realized, by the chain's own events. Positions and orders in flight at that moment may have
 * been entered at the worst signed prices. No settlement shows that yet, and they must be left at such prices. Fees of keepers and relay are outside
 * of it and have separate budgets.
 */
import { bps, minOf, type Usd } from '../protocol/units.ts'

/**
 * The assumed dishonest party. `prepare`: a host that lies in its preparations, with true lists. `host`: one of several hosts of the application API.
 * `hosts`: all of them. `endpoint`: one of several chain endpoints. `oracle`: all hosts and the oracle. The others are honest.
 */
export type Liar = 'prepare' | 'host' | 'hosts' | 'endpoint' | 'oracle'

/** The settings that bound it; amounts in USD, widths in bps. */
export interface LossTerms {
  /** `risk.maxDailyLossUsd`; absent: no such limit. */
  readonly maxDailyLossUsd?: Usd
  /** `risk.maxTotalExposureUsd`, `risk.maxOrderSizeUsd`, `risk.maxOrdersPerHour`. */
  readonly maxTotalExposureUsd: Usd
  readonly maxOrderSizeUsd: Usd
  readonly maxOrdersPerHour: number
  /** `risk.maxSlippageBps`, and the tolerances of `signing`. */
  readonly maxSlippageBps: number
  readonly priceToleranceBps: number
  readonly reducingPriceToleranceBps: number
  /** `signing.maxPriceImpactBps` and `signing.reducingMaxPriceImpactBps`, and the day's budget of both; absent: none. */
  readonly maxPriceImpactBps: number
  readonly reducingMaxPriceImpactBps: number
  readonly priceImpactPerDayUsd?: Usd
  /** `risk.relayFeesPerDayUsd`, and the highest fee of one order: `signing.maxRelayFeeUsd`. */
  readonly relayFeesPerDayUsd: Usd
  readonly maxRelayFeeUsd: Usd
  /** `risk.reductionFeesPerDayUsd`; absent: no such limit. And the highest fee of one order that reduces risk. */
  readonly reductionFeesPerDayUsd?: Usd
  readonly maxReductionFeeUsd: Usd
  /** `signing.exposureCapUsd` in each `signing.exposureWindowSeconds`. */
  readonly exposureCapUsd: Usd
  readonly exposureWindowSeconds: number
  /** True if the chain shows the realized results of orders. */
  readonly hasChain: boolean
}

/** One part of a bound. */
export interface LossPart {
  readonly name: 'losses until the breaker' | 'prices of what is held then' | 'price impact' | 'fees'
  readonly usd: Usd
}

/** The most that a day costs, and its parts. */
export interface LossBound {
  readonly dayUsd: Usd
  readonly parts: readonly LossPart[]
}

/** The protocol's fees of a way out, bps of the size: it has none above. */
const POSITION_FEE_BPS = 10

/** The bound of a day; undefined where the settings give none. */
export function lossBoundOf(terms: LossTerms, liar: Liar): LossBound | undefined {
  const { maxDailyLossUsd, maxTotalExposureUsd, maxSlippageBps, reductionFeesPerDayUsd } = terms
  if (reductionFeesPerDayUsd === undefined) return undefined
  const feesUsd =
    terms.relayFeesPerDayUsd + terms.maxRelayFeeUsd + reductionFeesPerDayUsd + terms.maxReductionFeeUsd
  // If all hosts lie, they hide every loss, unless the chain shows the realized results.
  const isBlind = !terms.hasChain && (liar === 'hosts' || liar === 'oracle')
  const isCounted = maxDailyLossUsd !== undefined && !isBlind
  const turnedUsd = isCounted ? maxTotalExposureUsd : turnedInDay(terms)
  const inBps = maxSlippageBps + terms.priceToleranceBps
  const outBps = maxSlippageBps + terms.reducingPriceToleranceBps + POSITION_FEE_BPS
  // Without an honest oracle nothing bounds a price: all that is put in can be lost.
  const priceUsd = liar === 'oracle' ? turnedUsd : bps(turnedUsd, inBps + outBps)
  const parts: readonly LossPart[] = [
    { name: 'losses until the breaker', usd: isCounted ? maxDailyLossUsd : 0n },
    { name: 'prices of what is held then', usd: priceUsd },
    { name: 'price impact', usd: liar === 'oracle' ? 0n : impactOf(terms, turnedUsd) },
    { name: 'fees', usd: feesUsd },
  ]
  return { parts, dayUsd: parts.reduce((sum, { usd }) => sum + usd, 0n) }
}

/** Returns the largest sum of increases in a day: the lower of the key's signing cap and the orders of its hours. */
function turnedInDay({
  exposureCapUsd,
  exposureWindowSeconds,
  maxOrdersPerHour,
  maxOrderSizeUsd,
}: LossTerms): Usd {
  const windows = BigInt(Math.ceil(86_400 / exposureWindowSeconds))
  return minOf(exposureCapUsd * windows, maxOrderSizeUsd * BigInt(maxOrdersPerHour) * 24n)
}

/** Returns the cost that prices may have beyond slippage and tolerance. */
function impactOf({ priceImpactPerDayUsd, ...terms }: LossTerms, sizeUsd: Usd): Usd {
  const widest = bps(sizeUsd, terms.maxPriceImpactBps + terms.reducingMaxPriceImpactBps)
  return priceImpactPerDayUsd === undefined ? widest : minOf(priceImpactPerDayUsd, widest)
}
