/** Starts of tasks in words. */
import { startOf } from '../tasks/executorKinds.ts'
import type { StartTaskCommand } from './taskBodies.ts'

type DistributiveOmit<T, Name extends string> = T extends unknown ? Omit<T, Name> : never
type Asked = DistributiveOmit<StartTaskCommand, 'type' | 'id' | 'isPreview'>

/** Describes its request, without its id. */
export function askedOfTask(command: Asked): string {
  const { maxOrders, maxFees, maxMinutes, leverage, collateral } = command
  const [what, ...own] = startOf(command.kind).asked(command)
  return [
    what,
    ...(leverage === undefined ? [] : [`at ${leverage}x`]),
    ...(collateral === undefined ? [] : [`on the ${collateral} token`]),
    ...own,
    ...(maxOrders === undefined ? [] : [`at most ${maxOrders} orders`]),
    ...(maxFees === undefined ? [] : [`at most ${maxFees} USD of fees`]),
    ...(maxMinutes === undefined ? [] : [`at most ${maxMinutes} min`]),
  ].join(', ')
}
