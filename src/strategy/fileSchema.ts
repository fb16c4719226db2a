/** The fields of a strategy file, and how they become the daemon's words. */
import { z } from 'zod'
import type { Limits } from '../domain/limits.ts'
import { warningActions } from '../domain/warnedFacts.ts'
import type { WarningPolicy } from '../domain/warning.ts'
import { bpsField, countField, leverageField, nativeField, secondsField, usdField } from './fields.ts'
import type { OrderSize } from './strategy.ts'

const sizeSchema = z.strictObject({
  usd: usdField(),
  leverage: leverageField(),
  collateral: z.enum(['long', 'short']).default('short'),
})

const limitsSchema = z.strictObject({
  maxPositionSizeUsd: usdField().optional(),
  maxPositionEquityBps: bpsField({ min: 1, max: 2_000_000 }).optional(),
  maxMarketExposureUsd: usdField().optional(),
  maxMarketExposureEquityBps: bpsField({ min: 1, max: 2_000_000 }).optional(),
  maxTotalExposureUsd: usdField().optional(),
  maxExposureEquityBps: bpsField({ min: 1, max: 2_000_000 }).optional(),
  maxWishEquityBps: bpsField({ min: 1, max: 10_000_000 }).optional(),
  maxWishCollateralEquityBps: bpsField({ min: 1, max: 10_000_000 }).optional(),
  maxDailyLossUsd: usdField().optional(),
  maxDailyLossEquityBps: bpsField({ min: 1 }).optional(),
  maxOrderSizeUsd: usdField().optional(),
  minOrderSizeUsd: usdField().optional(),
  maxUnboundedOrderUsd: usdField().optional(),
  maxLeverage: leverageField().optional(),
  maxSlippageBps: bpsField({ min: 1, max: 1000 }).optional(),
  maxOrdersPerHour: countField({ min: 1, max: 3600 }).optional(),
  attemptsPerCause: countField({ min: 1, max: 10_000 }).optional(),
  executionFeesPerDay: nativeField().optional(),
  relayFeesPerDayUsd: usdField().optional(),
  reductionFeesPerDayUsd: usdField().optional(),
  maxCapacityShareBps: bpsField({ min: 1 }).optional(),
  capacityHeadroomBps: bpsField().optional(),
  minLiquidationDistanceBps: bpsField({ min: 1, max: 9000 }).optional(),
  maxDataAgeSeconds: secondsField({ min: 1, max: 3600 }).optional(),
  maxTickerAgeSeconds: secondsField({ min: 1, max: 3600 }).optional(),
  maxCapacityAgeSeconds: secondsField({ min: 1, max: 3600 }).optional(),
  maxOracleAgeSeconds: secondsField({ min: 1, max: 3600 }).optional(),
  maxAccountAgeSeconds: secondsField({ min: 1, max: 3600 }).optional(),
  maxPriceDivergenceBps: bpsField({ min: 1, max: 5000 }).optional(),
  maxClockSkewSeconds: secondsField({ min: 0.1, max: 600 }).optional(),
  reduceAgainAfterSeconds: secondsField({ min: 1, max: 86_400 }).optional(),
})

/** A strategy file. */
export const fileSchema = z.strictObject({
  kind: z.string().min(1),
  enabled: z.boolean().default(true),
  market: z.string().min(1).optional(),
  markets: z.array(z.string().min(1)).min(1).max(50).optional(),
  cadenceSeconds: secondsField({ min: 0.1, max: 86_400 }).optional(),
  size: sizeSchema.optional(),
  limits: limitsSchema.optional(),
  warnings: z
    .record(
      z
        .string()
        .regex(
          /^[A-Z][A-Z0-9_]{1,63}(\.[A-Z][A-Z0-9_]{1,63})?$/,
          'a code of a warning, like INSUFFICIENT_LIQUIDITY',
        ),
      z.enum(warningActions),
    )
    .optional(),
  slippageBps: bpsField({ min: 1, max: 1000 }).optional(),
  orderExpirySeconds: secondsField({ min: 5, max: 3600 }).optional(),
  params: z.record(z.string(), z.unknown()).optional(),
})

/** A strategy file that passed. */
export type StrategyFile = z.output<typeof fileSchema>

/** The `size` block in the daemon's words. */
export function orderSizeOf(size: NonNullable<StrategyFile['size']>): OrderSize {
  return { usd: size.usd, leverageBps: size.leverage, collateral: size.collateral }
}

/** The `warnings` block as a policy beside the account's: it can only be stricter. */
export function warningsOf(warnings: NonNullable<StrategyFile['warnings']>): WarningPolicy {
  return { adding: new Map(Object.entries(warnings)), droppingReductions: new Set(), isPartial: true }
}

/** The `limits` block in the daemon's words; absent fields stay absent. */
export function limitsOf(limits: StrategyFile['limits']): Limits {
  if (limits === undefined) return {}
  const {
    maxLeverage,
    maxDataAgeSeconds,
    maxTickerAgeSeconds,
    maxCapacityAgeSeconds,
    maxOracleAgeSeconds,
    maxAccountAgeSeconds,
    maxClockSkewSeconds,
    reduceAgainAfterSeconds,
    ...same
  } = limits
  const all = {
    ...same,
    maxLeverageBps: maxLeverage,
    maxDataAgeMs: maxDataAgeSeconds,
    maxTickerAgeMs: maxTickerAgeSeconds,
    maxCapacityAgeMs: maxCapacityAgeSeconds,
    maxOracleAgeMs: maxOracleAgeSeconds,
    maxAccountAgeMs: maxAccountAgeSeconds,
    maxClockSkewMs: maxClockSkewSeconds,
    reduceAgainAfterMs: reduceAgainAfterSeconds,
  }
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
}
