/** From the configuration's words to the settings that the modules are handed. */

import type { ConfiguredLimits } from '../account/limitsInForce.ts'
import type { ApiLimits } from '../api/transport/requestLimits.ts'
import type { Clock } from '../base/clock.ts'
import { defined } from '../base/defined.ts'
import type { Config } from '../config/configTypes.ts'
import type { EvidenceRules } from '../domain/machine/observation.ts'
import type { UsualFees } from '../execution/context/feeMemory.ts'
import type { SigningPolicy } from '../execution/context/policy.ts'
import type { Journal } from '../journal/journal.ts'
import { openGuard, type SigningGuard } from '../keys/signingGuard.ts'
import {
  fromDecimal,
  maxOf,
  NATIVE_DECIMALS,
  type TokenAmount,
  toDecimal,
  USD_DECIMALS,
  type Usd,
  usdOfAmount,
} from '../protocol/units.ts'
import type { BreakerSettings } from '../risk/breakers/circuitBreakers.ts'
import type { LoadedStrategy } from '../strategy/files/load.ts'
import type { SigningFacts, TraderSettings } from './trader.ts'

/** The configured breakers, with what is kept of a delegated key's approval. */
function breakersOf({ account, breakers }: Config): BreakerSettings {
  const { reserveActions, reserveSeconds } = account
  return { ...breakers, reserveActions, reserveSeconds }
}

/** Digests live this long beyond their deadline for the guard: longer than any clock may be off. */
const guardMarginSeconds = 600

/**
 * The table of what was signed, beside the journal; with a journal in memory it ends with the process too. `hostsAheadMs`: how far the hosts are
 * ahead of the clock.
 */
export async function openSigningGuard(
  { signing }: Config,
  journal: Journal,
  clock: Clock,
  hostsAheadMs: () => number | undefined,
): Promise<SigningGuard> {
  return openGuard({
    table: await journal.openGuardTable(),
    leaseLost: () => journal.lease.lost(),
    horizonSeconds: signing.maxDeadlineSeconds + guardMarginSeconds,
    marginSeconds: guardMarginSeconds,
    exposure: { capUsd: signing.exposureCapUsd, windowSeconds: signing.exposureWindowSeconds },
    now: clock.now,
    hostsAheadMs,
    neverLeft: ({ intentId, digest }) => !journal.hasArmed(intentId, digest),
  })
}

/** All that is configured of limits: by settings, and in the files of these strategies. */
export function limitsOf(config: Config, strategies: readonly LoadedStrategy[]): ConfiguredLimits {
  return {
    account: config.limits,
    markets: config.marketLimits,
    strategies: Object.fromEntries(strategies.map(({ name, limits }) => [name, limits])),
    breakers: breakersOf(config),
  }
}

/**
 * Returns the limits of any signature, by the market data at that moment; without a price the highest one of the chain counts. A whole fee includes
 * the execution fee. So the fee limit of orders that reduce risk follows the highest execution fee, plus half of it for the relay's gas.
 */
export function signingPolicyOf(config: Config): (facts: SigningFacts) => SigningPolicy {
  const { signing } = config
  const { highest } = config.venue.chain.nativePriceUsd
  const maxRelayFee = feeTokenAmount(config, signing.maxRelayFeeUsd)
  const reducingFeeAt = (price: Usd): TokenAmount => {
    const wholeUsd = (usdOfAmount(signing.maxExecutionFee, price, NATIVE_DECIMALS) * 3n) / 2n
    return maxOf(maxRelayFee, feeTokenAmount(config, wholeUsd))
  }
  // Asked at each look of each task; the price changes at each poll alone.
  let kept: { readonly price: Usd; readonly amount: TokenAmount } | undefined
  return ({ swapMarkets, nativePriceUsd }) => {
    const price = nativePriceUsd ?? highest
    if (kept?.price !== price) kept = { price, amount: reducingFeeAt(price) }
    return {
      minDeadlineSeconds: signing.minDeadlineSeconds,
      maxDeadlineSeconds: signing.maxDeadlineSeconds,
      maxExecutionFee: signing.maxExecutionFee,
      maxRelayFee,
      priceToleranceBps: signing.priceToleranceBps,
      maxPriceImpactBps: signing.maxPriceImpactBps,
      reducing: {
        maxExecutionFee: signing.maxExecutionFee,
        maxRelayFee: kept.amount,
        priceToleranceBps: signing.reducingPriceToleranceBps,
        maxPriceImpactBps: signing.reducingMaxPriceImpactBps,
      },
      ...defined({ priceImpactPerDayUsd: signing.priceImpactPerDayUsd }),
      swapMarkets,
      ...defined({ referralCode: signing.referralCode }),
    }
  }
}

/** Assumed fees before any order has landed. */
export function usualFeesOf(config: Config): UsualFees {
  const { usualExecutionFee, usualRelayFeeUsd, feeFactor } = config.signing
  return {
    executionFee: usualExecutionFee,
    relayFee: feeTokenAmount(config, usualRelayFeeUsd),
    factor: feeFactor,
  }
}

/** Interval between readings of the account's lists, ms. */
const watchMs = 5_000
/** A poll of a status is never more often than this, ms. */
const statusPollFloorMs = 50
/** Wait before a prepare that nobody answered is asked again, ms. */
const prepareRetryMs = 500
/** Cooldown of a host after a payload mismatch, ms. */
const payloadMismatchCooldownMs = 600_000

/** Returns the trader's settings by this configuration; `source` is the source of evidence. */
export function traderSettingsOf(config: Config, source: EvidenceRules['source']): TraderSettings {
  const { execution, signing, account, log } = config
  return {
    rules: {
      source,
      trustVenue: config.evidence.trustVenue,
      deadlineMarginMs: execution.deadlineMarginSeconds * 1000,
    },
    execution: {
      statusPollMs: Math.max(statusPollFloorMs, execution.statusPollMs),
      statusPollMaxMs: execution.statusPollMaxMs,
      restingPollMs: execution.restingPollMs,
      prepareRetryMs,
      relayDeadlineSeconds: execution.relayDeadlineSeconds,
      relayFeePerOrder: feeTokenAmount(config, signing.relayFeeUsd),
      payloadMismatchCooldownMs: payloadMismatchCooldownMs,
      withheldMs: execution.withheldSeconds * 1000,
    },
    engine: {
      lane: account.lane,
      intentExpiryMs: execution.intentExpirySeconds * 1000,
      drainMs: execution.drainSeconds * 1000,
      defaultSlippageBps: config.limits.maxSlippageBps,
      watchMs,
      maxMarketValuesAgeMs: config.maxMarketValuesAgeMs,
      heartbeatMs: log.heartbeatSeconds === 0 ? Number.POSITIVE_INFINITY : log.heartbeatSeconds * 1000,
      adoptInitial: account.adoptInitial,
      pauseAfterFailures: config.strategies.pauseAfterFailures,
      slowDecideMs: config.strategies.slowDecideMs,
    },
    signingPolicy: signingPolicyOf(config),
    warnings: signing.warnings,
    usualFees: usualFeesOf(config),
  }
}

/** Limits of the client of both APIs; an order may take the venue longer than a read. */
export function apiLimitsOf({ api }: Config, isEmbedded: boolean): Partial<ApiLimits> {
  return {
    ...api,
    prepareTimeoutMs: 2 * api.timeoutMs,
    submitTimeoutMs: 2 * api.timeoutMs,
    // The embedded venue is this process's own: nobody else is slowed down.
    ...defined({ requestsPerSecondPerHost: isEmbedded ? Number.POSITIVE_INFINITY : undefined }),
  }
}

/** Dollars in base units of the fee token, which is a dollar coin: one unit counts as one USD. */
export function feeTokenAmount(config: Config, amountUsd: Usd): TokenAmount {
  return fromDecimal(toDecimal(amountUsd, USD_DECIMALS), config.venue.chain.feeToken.decimals)
}
