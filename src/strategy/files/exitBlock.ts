/** The `exit` block of a strategy file: its fields, and what they become. */
import { z } from 'zod'
import { closedBps, type ExitDistance, type ExitPlan, MOST_TARGETS } from '../../domain/order/exitPlan.ts'
import { BPS_ONE } from '../../protocol/units.ts'
import { bpsField, usdField } from '../fields.ts'

/** Nearest and farthest exit, bps of the entry price. */
const distanceBps = bpsField({ min: 1, max: 9_999 })
  .optional()
  .describe('distance from the entry price; either bps or usd')
const distanceUsd = usdField()
  .optional()
  .describe('distance from the entry price, per whole token; either bps or usd')
const oneOf = 'either bps (of the entry price) or usd (per whole token), and not both'

function hasOne({ bps, usd }: { readonly bps?: unknown; readonly usd?: unknown }): boolean {
  return (bps === undefined) !== (usd === undefined)
}

const stopSchema = z.strictObject({ bps: distanceBps, usd: distanceUsd }).refine(hasOne, oneOf)
const targetSchema = z
  .strictObject({
    bps: distanceBps,
    usd: distanceUsd,
    shareBps: bpsField({ min: 1, max: BPS_ONE })
      .optional()
      .describe('share of the order that it closes; all of it when left out'),
  })
  .refine(hasOne, oneOf)
const ladderSchema = z
  .array(targetSchema)
  .min(1)
  .max(MOST_TARGETS)
  .refine(
    (targets) => closedBps(targets) <= BPS_ONE,
    `shares that add up to at most ${BPS_ONE} bps; a target without shareBps closes the whole order`,
  )

/** The `exit` block. */
export const exitSchema = z.strictObject({
  stopLoss: stopSchema.optional().describe('closes with a loss at this distance'),
  takeProfit: z
    .union([targetSchema, ladderSchema])
    .optional()
    .describe(`closes with a profit: one distance, or a list of up to ${MOST_TARGETS} with shares`),
})

/** The block in the daemon's words. */
export function exitPlanOf({ stopLoss, takeProfit }: z.output<typeof exitSchema>): ExitPlan {
  const targets = takeProfit === undefined ? [] : Array.isArray(takeProfit) ? takeProfit : [takeProfit]
  return {
    ...(stopLoss === undefined ? {} : { stopLoss: distanceOf(stopLoss) }),
    takeProfits: targets.map(({ shareBps, ...distance }) => ({
      ...distanceOf(distance),
      ...(shareBps === undefined ? {} : { shareBps }),
    })),
  }
}

function distanceOf({
  bps,
  usd,
}: {
  readonly bps?: number | undefined
  readonly usd?: bigint | undefined
}): ExitDistance {
  if (usd !== undefined) return { usd }
  if (bps !== undefined) return { bps }
  throw new TypeError('exit: a distance has bps or usd')
}
