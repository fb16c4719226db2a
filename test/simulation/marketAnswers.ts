/** Answers of the modelled venue about its markets, and what they say to whoever reads them. */
import { usdc } from '../support/intents.ts'
import type { ModelMarket } from './engineMarkets.ts'

/** Settings that price impacts are estimated from: $1,000 moves the price of a deep market by about 1 bp, by 10 of the others. */
export function configRow({ marketToken, index }: ModelMarket, isDeep: boolean): unknown {
  const factor = isDeep ? 10n ** 20n : 10n ** 21n
  return {
    marketTokenAddress: marketToken,
    indexTokenAddress: index.address,
    longTokenAddress: index.address,
    shortTokenAddress: usdc,
    isSpotOnly: false,
    positionImpactFactorPositive: factor / 2n,
    positionImpactFactorNegative: factor,
    positionImpactExponentFactorPositive: 2n * 10n ** 30n,
    positionImpactExponentFactorNegative: 2n * 10n ** 30n,
    maxPositionImpactFactorPositive: 4n * 10n ** 27n,
    maxPositionImpactFactorNegative: 5n * 10n ** 27n,
  }
}

/** A text as JSON; undefined for one that is none. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** What an increase may count on (docs/reference/api-coverage.md A3); undefined for what is no capacity. */
export function usableOf(capacity: unknown): bigint | undefined {
  if (typeof capacity !== 'object' || capacity === null) return undefined
  const { marketDataStatus, jitDataStatus, availableLiquidity, baseAvailableLiquidity } =
    capacity as Readonly<Record<string, string>>
  if (marketDataStatus !== 'fresh') return 0n
  const text = jitDataStatus === 'available' ? availableLiquidity : baseAvailableLiquidity
  return /^\d+$/.test(text ?? '') ? BigInt(text ?? '') : undefined
}
