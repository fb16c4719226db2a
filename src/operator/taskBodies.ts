/** The body of the command that starts tasks: one of the kinds. */
import { z } from 'zod'
import { starts } from '../tasks/executorKinds.ts'
import type { CommandOf } from './commandRow.ts'

/** Starts a task. */
export const startTaskBody = z
  .discriminatedUnion('kind', [
    starts.twap.body,
    starts.accumulate.body,
    starts.ladder.body,
    starts.chase.body,
    starts.bracket.body,
    starts.rebalance.body,
  ])
  .refine(
    (body) => !('reduce' in body && body.reduce) || body.leverage === undefined,
    'leverage applies only to orders that open',
  )
  .refine(
    (body) => body.kind !== 'ladder' || (body.stepBps === undefined) !== (body.everySeconds === undefined),
    'a ladder has rungs by price (stepBps) or by time (everySeconds), not both',
  )

/** A start. */
export type StartTaskCommand = CommandOf<'task', typeof startTaskBody>

/** A start of one kind. */
export type StartOf<Kind extends StartTaskCommand['kind']> = Extract<StartTaskCommand, { kind: Kind }>
