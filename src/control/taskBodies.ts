/** Bodies of the commands that start and stop tasks. */
import { z } from 'zod'
import type { TaskCommand } from '../engine/operator/taskCommand.ts'
import { by, commandId, decimal, direction, dollars, line, pool } from './bodyFields.ts'

/** Most parts of a task, orders of its budget, and minutes of its time: a week. */
const PARTS_MOST = 200
const ORDERS_MOST = 1_000
const MINUTES_MOST = 10_080

/** The most of the capacity that a part takes when nothing is said, bps. */
const SHARE_BPS = 2_500

/** Starts a twap. */
export const startTwapBody = z
  .strictObject({
    id: commandId,
    kind: z.enum(['twap']),
    market: line(120),
    direction,
    size: dollars,
    reduce: z.boolean().default(false),
    leverage: decimal(4).optional(),
    collateral: pool.optional(),
    parts: z.number().int().min(2).max(PARTS_MOST),
    minutes: z.number().int().min(1).max(MINUTES_MOST),
    price: dollars.optional(),
    shareBps: z.number().int().min(1).max(10_000).default(SHARE_BPS),
    route: z.enum(['auto', 'own']).default('auto'),
    maxOrders: z.number().int().min(1).max(ORDERS_MOST).optional(),
    maxFees: dollars.optional(),
    maxMinutes: z.number().int().min(1).max(MINUTES_MOST).optional(),
    preview: z.boolean().default(false),
    by,
  })
  .refine(({ reduce, leverage }) => !reduce || leverage === undefined, 'leverage is of what opens alone')
  .transform(
    ({ preview, by: who, leverage, collateral, price, maxOrders, maxFees, maxMinutes, ...rest }) => ({
      by: who,
      command: (): TaskCommand => ({
        type: 'task',
        ...rest,
        ...(leverage === undefined ? {} : { leverage }),
        ...(collateral === undefined ? {} : { collateral }),
        ...(price === undefined ? {} : { price }),
        ...(maxOrders === undefined ? {} : { maxOrders }),
        ...(maxFees === undefined ? {} : { maxFees }),
        ...(maxMinutes === undefined ? {} : { maxMinutes }),
        isPreview: preview,
      }),
    }),
  )

/** Ends a task. */
export const stopTaskBody = z
  .strictObject({ task: line(120), reason: line(200).default('an operator says so'), by })
  .transform(({ task, reason, by: who }) => ({
    by: who,
    command: (): TaskCommand => ({ type: 'task-stop', task, reason }),
  }))
