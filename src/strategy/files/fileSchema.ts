/** The fields of a strategy file, and how they become the daemon's words. */
import { z } from 'zod'
import { type Limits, limitField, limitRows } from '../../domain/account/limits.ts'
import type { LimitRow } from '../../domain/account/limitTable.ts'
import { removals } from '../../domain/account/strategyEntry.ts'
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
    .describe('token of the pool that pays and backs the position'),
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
        'what decides: a kind of perpd (perpd strategies describe KIND), or a file of your own, like ./mine.ts',
      ),
  ),
  enabled: takenOver(
    'live',
    z.boolean().default(true).describe('when false, the file is checked but not run'),
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
      .describe('full symbols of several markets; in the place of market'),
  ),
  cadenceSeconds: takenOver(
    'live',
    secondsField({ min: 0.1, max: 86_400 })
      .optional()
      .describe('time between two looks at the market; 10 when left out'),
  ),
  size: takenOver('live', sizeSchema.optional().describe('what one order is')),
  limits: takenOver(
    'limits',
    limitsSchema.optional().describe("this instance's own limits; the account's tighten them further"),
  ),
  warnings: takenOver(
    'live',
    warningsSchema
      .optional()
      .describe("what the venue's warnings before signing do to orders that add risk, by code"),
  ),
  slippageBps: takenOver(
    'live',
    bpsField({ min: 1, max: 1000 }).optional().describe('widest slippage that is signed'),
  ),
  orderExpirySeconds: takenOver(
    'live',
    secondsField({ min: 5, max: 3600 })
      .optional()
      .describe('age at which an order that was not sent yet is given up'),
  ),
  exit: takenOver(
    'live',
    exitSchema.optional().describe('exits that every increase brings with it, in the same signed message'),
  ),
  protect: takenOver(
    'live',
    protectSchema.optional().describe('rules that keep the instance from adding for a while'),
  ),
  onRemove: takenOver(
    'live',
    z
      .enum(removals)
      .default('keep')
      .describe('what becomes of its orders and position when the file is removed'),
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
