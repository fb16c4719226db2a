/** The most that a lie costs by a configuration: for `perpd check`, and for the test that lies. */
import { defined } from '../../base/defined.ts'
import type { Config } from '../../config/configTypes.ts'
import { formatPrice } from '../../protocol/priceText.ts'
import { formatUsd, maxOf, NATIVE_DECIMALS, type Usd, usdOfAmount } from '../../protocol/units.ts'
import { type LossTerms, lossBoundOf } from '../../risk/lossBound.ts'

/** Assumed price of the native token, USD. */
function assumedNativePriceUsd({ venue }: Config): Usd {
  return venue.chain.nativePriceUsd.assumed
}

/** The settings that bound a day's loss. `hasChain`: whether endpoints say what orders realized. */
export function lossTermsOf(config: Config, hasChain: boolean): LossTerms {
  const { limits, signing } = config
  const wholeUsd =
    (usdOfAmount(signing.maxExecutionFee, assumedNativePriceUsd(config), NATIVE_DECIMALS) * 3n) / 2n
  return {
    ...defined({ maxDailyLossUsd: limits.maxDailyLossUsd }),
    maxTotalExposureUsd: limits.maxTotalExposureUsd,
    maxOrderSizeUsd: limits.maxOrderSizeUsd,
    maxOrdersPerHour: limits.maxOrdersPerHour,
    maxSlippageBps: limits.maxSlippageBps,
    priceToleranceBps: signing.priceToleranceBps,
    reducingPriceToleranceBps: signing.reducingPriceToleranceBps,
    maxPriceImpactBps: signing.maxPriceImpactBps,
    reducingMaxPriceImpactBps: signing.reducingMaxPriceImpactBps,
    ...defined({ priceImpactPerDayUsd: signing.priceImpactPerDayUsd }),
    relayFeesPerDayUsd: limits.relayFeesPerDayUsd,
    maxRelayFeeUsd: signing.maxRelayFeeUsd,
    ...defined({ reductionFeesPerDayUsd: limits.reductionFeesPerDayUsd }),
    maxReductionFeeUsd: maxOf(signing.maxRelayFeeUsd, wholeUsd),
    exposureCapUsd: signing.exposureCapUsd,
    exposureWindowSeconds: signing.exposureWindowSeconds,
    hasChain,
  }
}

/** One line of the bound while hosts of the API lie; undefined where the settings give none. */
export function lossBoundText(config: Config): string | undefined {
  const hasChain = hasEndpoints(config)
  const bound = lossBoundOf(lossTermsOf(config, hasChain), 'hosts')
  if (bound === undefined) return undefined
  const { nativeSymbol } = config.venue.chain
  const price = formatPrice(assumedNativePriceUsd(config))
  return `worst daily loss from lying API hosts at these limits: ${formatUsd(bound.dayUsd)} (${nativeSymbol} at ${price}, honest price moves not counted)${hasChain ? '' : '; without a chain endpoint (rpc.http) no other source shows the loss'}`
}

/** Tells whether perpd reads the chain. */
function hasEndpoints({ rpc, evidence }: Config): boolean {
  return evidence.source !== 'api' && rpc.http.length + rpc.ws.length > 0
}
