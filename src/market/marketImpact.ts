/** Data for estimating price impacts of a market, from the venue's settings and values. */
import type { Api } from '../api/client.ts'
import type { MarketConfig, MarketValues } from '../api/rows/marketInfoTypes.ts'
import type { MonotonicClock } from '../base/clock.ts'
import { BaseError } from '../base/errors.ts'
import { type Address, hexKey, ZERO_HASH } from '../protocol/address.ts'
import type { ImpactData } from '../protocol/priceImpact.ts'
import type { Reading } from '../protocol/reading.ts'
import type { KnownVenue } from './knownVenue.ts'

/** Interval between readings of market settings, ms: they change by governance, and the venue pulls them no more often than half of this. */
const configEveryMs = 60_000

/**
 * Reads market settings when they are old. Only the first reading is waited for: no decision waits for an estimate, and without
 * settings there is none.
 */
export async function readImpactSettings(api: Api, clock: MonotonicClock, known: KnownVenue): Promise<void> {
  const nowMs = clock.monotonicMs()
  const isFirst = known.configAskedMs === Number.NEGATIVE_INFINITY
  if (nowMs - known.configAskedMs >= configEveryMs) {
    known.configAskedMs = nowMs
    known.configAsked = readConfig(api, known)
  }
  if (isFirst) await known.configAsked
}

async function readConfig(api: Api, known: KnownVenue): Promise<void> {
  try {
    known.config = await api.getMarketsConfig()
  } catch (error) {
    if (!(error instanceof BaseError)) throw error
  }
}

/** The newest impact data of each market that was read so far; undefined where settings, values or a field of them is not there. */
export function impactReadings({
  config,
  values,
  lists,
}: KnownVenue): (marketToken: Address) => Reading<ImpactData> | undefined {
  const settings = lists.settings(config?.value)
  const rows = lists.values(values?.value)
  const atMs = values?.readAtMs ?? 0
  return (marketToken) => {
    const [row, now] = [settings.get(hexKey(marketToken)), rows.get(hexKey(marketToken))]
    const value = row === undefined || now === undefined ? undefined : impactDataOf(row, now)
    return value === undefined ? undefined : { value, atMs }
  }
}

/** Settings and values of a market as impact data; undefined when the venue does not send all that it takes. */
export function impactDataOf(
  config: Partial<MarketConfig>,
  values: Partial<MarketValues>,
): ImpactData | undefined {
  const inTokens = config.useOpenInterestInTokensForBalance === true
  const { virtualIndexTokenId = ZERO_HASH } = config
  const inventory = inTokens
    ? values.virtualInventoryForPositionsInTokens
    : values.virtualInventoryForPositions
  const longInterest = inTokens ? values.longInterestInTokens : values.longInterestUsd
  const shortInterest = inTokens ? values.shortInterestInTokens : values.shortInterestUsd
  const {
    positionImpactFactorPositive,
    positionImpactFactorNegative,
    positionImpactExponentFactorPositive,
    positionImpactExponentFactorNegative,
    maxPositionImpactFactorPositive,
    maxPositionImpactFactorNegative,
  } = config
  if (
    positionImpactFactorPositive === undefined ||
    positionImpactFactorNegative === undefined ||
    positionImpactExponentFactorPositive === undefined ||
    positionImpactExponentFactorNegative === undefined ||
    maxPositionImpactFactorPositive === undefined ||
    maxPositionImpactFactorNegative === undefined ||
    longInterest === undefined ||
    shortInterest === undefined
  )
    return undefined
  const { positionFeeFactorForBalanceWasImproved: balancing } = config
  const { positionFeeFactorForBalanceWasNotImproved: unbalancing } = config
  return {
    ...(balancing === undefined || unbalancing === undefined
      ? {}
      : { positionFeeFactors: { balancing, unbalancing } }),
    positionImpactFactorPositive,
    positionImpactFactorNegative,
    positionImpactExponentFactorPositive,
    positionImpactExponentFactorNegative,
    maxPositionImpactFactorPositive,
    maxPositionImpactFactorNegative,
    balanceIn: inTokens ? 'tokens' : 'usd',
    longInterest,
    shortInterest,
    ...(virtualIndexTokenId === ZERO_HASH || inventory === undefined ? {} : { virtualInventory: inventory }),
  }
}
