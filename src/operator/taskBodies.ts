/** The command that starts tasks: the body of one of the kinds. */
import { z } from 'zod'
import type { Direction } from '../protocol/market.ts'
import { taskRows } from '../tasks/taskRows.ts'

type Fields = Readonly<Record<string, unknown>>

/** Body of a start. */
export const startTaskBody = z
  .discriminatedUnion('kind', taskRows.map(({ body }) => body) as [z.ZodObject, ...z.ZodObject[]])
  .superRefine((body: Fields, context) => {
    if (body.reduce === true && body.leverage !== undefined)
      context.addIssue({ code: 'custom', message: 'leverage applies only to orders that open' })
    const { name, oneOf = [] } = taskRows.find((row) => row.name === body.kind) ?? {}
    if (oneOf.length > 0 && oneOf.filter((field) => body[field] !== undefined).length !== 1)
      context.addIssue({ code: 'custom', message: `a ${name} has exactly one of ${oneOf.join(' and ')}` })
  })

/** A start: the fields that are common to kinds; those of its kind are values of its row. */
export type StartTaskCommand = {
  readonly type: 'task'
  readonly isPreview?: boolean
  readonly id: string
  readonly kind: string
  readonly market?: string
  readonly direction?: Direction
  readonly collateral?: Direction
  readonly leverage?: string
  readonly reduce?: boolean
  /** Weights of markets by their names, bps. */
  readonly weights?: Readonly<Record<string, number>>
  readonly maxOrders?: number
  readonly maxFees?: string
  readonly maxMinutes?: number
  readonly [field: string]: unknown
}
