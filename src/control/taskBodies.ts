/** Bodies of the commands that start and stop tasks. */
import { z } from 'zod'
import type { TaskCommand } from '../engine/operator/taskCommand.ts'
import { by, commandId, decimal, direction, dollars, line, pool } from './bodyFields.ts'
import { taskRanges } from './taskRanges.ts'

/** Most markets of a rebalance. */
const WEIGHTS_MOST = 20

/** The most of the capacity that a part takes when nothing is said, bps. */
const SHARE_BPS = 2_500

const budget = {
  maxOrders: z.number().int().min(1).max(taskRanges.ordersMost).optional(),
  maxFees: dollars.optional(),
  maxMinutes: z.number().int().min(1).max(taskRanges.minutesMost).optional(),
}
const head = { id: commandId, ...budget, preview: z.boolean().default(false), by }
const side = { market: line(120), direction, collateral: pool.optional() }
const leverage = decimal(4)
const shareBps = z.number().int().min(1).max(10_000).default(SHARE_BPS)
const everySeconds = z
  .number()
  .int()
  .min(taskRanges.everySecondsLeast)
  .max(taskRanges.everySecondsMost)
  .optional()
const minutes = z.number().int().min(1).max(taskRanges.minutesMost)
/** A distance, bps: less than the whole price. */
const distanceBps = z.number().int().min(1).max(9_999)

const twap = z.strictObject({
  ...head,
  ...side,
  kind: z.literal('twap'),
  size: dollars,
  reduce: z.boolean().default(false),
  leverage: leverage.optional(),
  parts: z.number().int().min(2).max(taskRanges.partsMost),
  minutes,
  price: dollars.optional(),
  shareBps,
  route: z.enum(['auto', 'own']).default('auto'),
})
const accumulate = z.strictObject({
  ...head,
  ...side,
  kind: z.literal('accumulate'),
  target: dollars,
  leverage,
  price: dollars,
  shareBps,
  everySeconds,
  least: dollars.optional(),
})
const ladder = z.strictObject({
  ...head,
  ...side,
  kind: z.literal('ladder'),
  size: dollars,
  leverage,
  rungs: z.number().int().min(2).max(taskRanges.rungsMost),
  growthBps: z.number().int().min(1_000).max(50_000).optional(),
  stepBps: distanceBps.optional(),
  everySeconds,
  profitBps: distanceBps.optional(),
  stopBps: distanceBps.optional(),
})
const chase = z.strictObject({
  ...head,
  ...side,
  kind: z.literal('chase'),
  size: dollars,
  reduce: z.boolean().default(false),
  leverage: leverage.optional(),
  minutes,
  price: dollars,
  offsetBps: distanceBps.optional(),
  stepBps: distanceBps.optional(),
  everySeconds,
})
const bracket = z.strictObject({
  ...head,
  ...side,
  kind: z.literal('bracket'),
  size: dollars,
  leverage,
  entry: dollars.optional(),
  takeProfit: dollars.optional(),
  stopLoss: dollars,
})
const rebalance = z.strictObject({
  ...head,
  kind: z.literal('rebalance'),
  total: dollars,
  weights: z.record(line(120), z.number().int().min(-10_000).max(10_000)).refine((weights) => {
    const count = Object.keys(weights).length
    return count >= 1 && count <= WEIGHTS_MOST
  }, `1 to ${WEIGHTS_MOST} markets with their weights`),
  leverage,
  collateral: pool.optional(),
  bandBps: z.number().int().min(1).max(5_000).optional(),
  shareBps,
  least: dollars.optional(),
})

/** Starts a task. */
export const startTaskBody = z
  .discriminatedUnion('kind', [twap, accumulate, ladder, chase, bracket, rebalance])
  .refine(
    (body) => !('reduce' in body && body.reduce) || body.leverage === undefined,
    'leverage is of what opens alone',
  )
  .refine(
    (body) => body.kind !== 'ladder' || (body.stepBps === undefined) !== (body.everySeconds === undefined),
    'a ladder has rungs by price (stepBps) or by time (everySeconds), not both',
  )
  .transform(({ preview, by: who, ...rest }) => ({
    by: who,
    command: (): TaskCommand => ({ type: 'task', ...given(rest), isPreview: preview }) as TaskCommand,
  }))

/** Without the fields that were not given. */
function given(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

/** Ends a task. */
export const stopTaskBody = z
  .strictObject({ task: line(120), reason: line(200).default('an operator says so'), by })
  .transform(({ task, reason, by: who }) => ({
    by: who,
    command: (): TaskCommand => ({ type: 'task-stop', task, reason }),
  }))
