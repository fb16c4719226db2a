/** Bodies of the commands that start tasks. */
import { z } from 'zod'
import { commandId, direction, dollars, line, pool, shareBps as share, times } from './bodyFields.ts'
import type { CommandOf } from './commandRow.ts'

/** Ranges of a task's whole numbers, for the control port and for the command that calls it. */
export const taskRanges = {
  /** Seconds between two orders or rungs of a task: a day at most. */
  everySecondsLeast: 10,
  everySecondsMost: 86_400,
  /** A week. */
  minutesMost: 10_080,
  /** Parts of a twap, rungs of a ladder, orders of a budget. */
  partsMost: 200,
  rungsMost: 50,
  ordersMost: 1_000,
} as const

/** Most markets of a rebalance. */
const WEIGHTS_MOST = 20

/** The most of the capacity that a part takes when nothing is said, bps. */
const SHARE_BPS = 2_500

const budget = {
  maxOrders: z.number().int().min(1).max(taskRanges.ordersMost).exactOptional(),
  maxFees: dollars.exactOptional(),
  maxMinutes: z.number().int().min(1).max(taskRanges.minutesMost).exactOptional(),
}
const head = { id: commandId, ...budget }
const side = { market: line(120), direction, collateral: pool.exactOptional() }
const leverage = times
const shareBps = share.default(SHARE_BPS)
const everySeconds = z
  .number()
  .int()
  .min(taskRanges.everySecondsLeast)
  .max(taskRanges.everySecondsMost)
  .exactOptional()
const minutes = z.number().int().min(1).max(taskRanges.minutesMost)
/** A distance, bps: less than the whole price. */
const distanceBps = z.number().int().min(1).max(9_999)

const twap = z.strictObject({
  ...head,
  ...side,
  kind: z.literal('twap'),
  size: dollars,
  reduce: z.boolean().default(false),
  leverage: leverage.exactOptional(),
  parts: z.number().int().min(2).max(taskRanges.partsMost),
  minutes,
  price: dollars.exactOptional(),
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
  least: dollars.exactOptional(),
})
const ladder = z.strictObject({
  ...head,
  ...side,
  kind: z.literal('ladder'),
  size: dollars,
  leverage,
  rungs: z.number().int().min(2).max(taskRanges.rungsMost),
  growthBps: z.number().int().min(1_000).max(50_000).exactOptional(),
  stepBps: distanceBps.exactOptional(),
  everySeconds,
  profitBps: distanceBps.exactOptional(),
  stopBps: distanceBps.exactOptional(),
})
const chase = z.strictObject({
  ...head,
  ...side,
  kind: z.literal('chase'),
  size: dollars,
  reduce: z.boolean().default(false),
  leverage: leverage.exactOptional(),
  minutes,
  price: dollars,
  offsetBps: distanceBps.exactOptional(),
  stepBps: distanceBps.exactOptional(),
  everySeconds,
})
const bracket = z.strictObject({
  ...head,
  ...side,
  kind: z.literal('bracket'),
  size: dollars,
  leverage,
  entry: dollars.exactOptional(),
  takeProfit: dollars.exactOptional(),
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
  collateral: pool.exactOptional(),
  bandBps: z.number().int().min(1).max(5_000).exactOptional(),
  shareBps,
  least: dollars.exactOptional(),
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

/** A start. */
export type StartTaskCommand = CommandOf<'task', typeof startTaskBody>

/** A start of one kind. */
export type StartOf<Kind extends StartTaskCommand['kind']> = Extract<StartTaskCommand, { kind: Kind }>
