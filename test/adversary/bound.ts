/** The bound that the judge holds a liar to: the product's own figure. */
import type { Config } from '../../src/cli/config/types.ts'
import { type Usd, usd } from '../../src/domain/units.ts'
import type { LiarKind } from './lies.ts'

export function boundOf(config: Config, _kind: LiarKind, _endpoints: number): Usd {
  const { limits } = config
  return (
    (limits.maxDailyLossUsd ?? 0n) +
    limits.maxTotalExposureUsd / 20n +
    limits.relayFeesPerDayUsd +
    (limits.reductionFeesPerDayUsd ?? 0n) +
    usd(150)
  )
}
