/** The fields of a strategy file, and how they become the daemon's words. */
import { z } from 'zod'
import { removals } from '../../domain/accountRecords/strategyEntry.ts'
import { type Limits, limitField, limitRows } from '../../domain/limits/limits.ts'
import type { LimitRow } from '../../domain/limits/limitTable.ts'
import { warningActions } from '../../domain/order/warnedFacts.ts'
import type { WarningPolicy } from '../../domain/order/warning.ts'
import { bpsField, countField, leverageField, nativeField, secondsField, usdField } from '../fields.ts'
import type { OrderSize } from '../strategy.ts'
import { exitSchema } from './exitBlock.ts'
import { takenOver } from './fileLife.ts'
import { protectSchema } from './protectBlock.ts'

const sizeSchema = z.strictObject({
  usd: usdField().describe('size of one order; limits and capacity may cut it'),
  leverage: leverageField().describe('the collateral paid in is usd / leverage'),
  collateral: z
    .enum(['long', 'short'])
    .default('short')
    .describe('token of the pool that is paid in as collateral'),
})

/** Least and most of a limit in a file, in the file's unit; 0 is no limit there, an absent field is. */
function fileBoundsOf({ bounds, fileBounds, isOptional, unit }: LimitRow): { min: number; max: number } {
  const [min, max] = bounds ?? [0, 0]
  const [fileMin, fileMax] = fileBounds ?? (unit === 'ms' ? [min / 1000, max / 1000] : [min, max])
  return { min: isOptional ? Math.max(1, fileMin) : fileMin, max: fileMax }
}

function limitFieldSchema(row: LimitRow): z.ZodType<number | bigint> {
  switch (row.unit) {
    case 'usd':
      return usdField()
    case 'native':
      return nativeField()
    case 'times':
      return leverageField()
    case 'bps':
      return bpsField(fileBoundsOf(row))
    case 'count':
      return countField(fileBoundsOf(row))
    case 'ms':
      return secondsField(fileBoundsOf(row))
  }
}

const limitsSchema = z.strictObject(
  Object.fromEntries(
    limitRows.map(([name, row]) => [limitField(name), limitFieldSchema(row).optional().describe(row.inFile)]),
  ),
)

/** Effect of the venue's warnings on its orders. */
const warningsSchema = z.record(
  z
    .string()
    .regex(
      /^[A-Z][A-Z0-9_]{1,63}(\.[A-Z][A-Z0-9_]{1,63})?$/,
      'a code of a warning, like INSUFFICIENT_LIQUIDITY',
    ),
  z.enum(warningActions),
)

/** A strategy file. Each field says when a running daemon takes its change over. */
export const fileSchema = z.strictObject({
  kind: takenOver(
    'restart',
    z
      .string()
      .min(1)
      .describe(
        'program that decides: a kind of perpd (perpd strategies describe KIND), or a file of your own, like ./mine.ts',
      ),
  ),
  enabled: takenOver(
    'live',
    z.boolean().default(true).describe('false: perpd checks the file but does not run it'),
  ),
  market: takenOver(
    'restart',
    z
      .string()
      .min(1)
      .optional()
      .meta({ description: 'full symbol of the market', examples: ['ETH/USD [WETH-USDC]'] }),
  ),
  markets: takenOver(
    'restart',
    z
      .array(z.string().min(1))
      .min(1)
      .max(50)
      .optional()
      .describe('full symbols of several markets; replaces market'),
  ),
  cadenceSeconds: takenOver(
    'live',
    secondsField({ min: 0.1, max: 86_400 }).optional().describe('time between two turns; 10 when left out'),
  ),
  size: takenOver('live', sizeSchema.optional().describe('size, leverage and collateral of one order')),
  limits: takenOver(
    'limits',
    limitsSchema.optional().describe("limits of this instance; the account's limits apply as well"),
  ),
  warnings: takenOver(
    'live',
    warningsSchema
      .optional()
      .describe('action for orders that add risk when the venue warns before signing, by code'),
  ),
  slippageBps: takenOver(
    'live',
    bpsField({ min: 1, max: 1000 }).optional().describe('widest slippage that perpd signs'),
  ),
  orderExpirySeconds: takenOver(
    'live',
    secondsField({ min: 5, max: 3600 }).optional().describe('age at which an unsent order expires'),
  ),
  exit: takenOver(
    'live',
    exitSchema.optional().describe('exits of every increase, in the same signed message'),
  ),
  protect: takenOver(
    'live',
    protectSchema.optional().describe('rules that block increases of the instance for a while'),
  ),
  onRemove: takenOver(
    'live',
    z.enum(removals).default('keep').describe('action for its orders and position when the file is removed'),
  ),
  params: takenOver('live', z.record(z.string(), z.unknown()).optional().describe('settings of the kind')),
})

/** A strategy file that passed. */
export type StrategyFile = z.output<typeof fileSchema>

/** The `size` block in the daemon's words. */
export function orderSizeOf(size: NonNullable<StrategyFile['size']>): OrderSize {
  return { usd: size.usd, leverageBps: size.leverage, collateral: size.collateral }
}

/** Returns the `warnings` block as a policy in addition to the account's: it can only be stricter. */
export function warningsOf(warnings: NonNullable<StrategyFile['warnings']>): WarningPolicy {
  return { adding: new Map(Object.entries(warnings)), droppingReductions: new Set(), isPartial: true }
}

/** The `limits` block by the names of the code; absent fields stay absent. */
export function limitsOf(written: StrategyFile['limits'] = {}): Limits {
  return Object.fromEntries(
    limitRows.flatMap(([name]) => {
      const value = written[limitField(name)]
      return value === undefined ? [] : [[name, value]]
    }),
  )
}
