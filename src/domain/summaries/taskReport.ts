/** A task as it is shown. */
import type { Usd } from '../../protocol/units.ts'
import type { TaskGoal } from '../taskStates/executorState.ts'

/** A task, and how far it is. Amounts in USD. */
export interface TaskReport extends Pick<TaskGoal, 'sizeUsd' | 'budget' | 'asked'> {
  /** Description of the task, `open long ETH/USD [WETH-USDC]`. */
  readonly what: string
  readonly symbols: readonly string[]
  readonly taskId: string
  readonly kind: string
  readonly by: string
  /** Unix ms. */
  readonly sinceMs: number
  readonly doneUsd: Usd
  /** Closed by exits of its position. */
  readonly exitedUsd: Usd
  /** Size that orders in flight may still fill. */
  readonly openUsd: Usd
  /** Orders that its budget counts, and their cost at most. */
  readonly orders: number
  readonly feesUsd: Usd
  /** Exits of its position and changes of them, and their cost at most; no budget counts them. */
  readonly exitOrders: number
  readonly exitFeesUsd: Usd
  readonly standing: 'running' | 'stopping' | 'ended'
  /** The reason why it waits; absent: none, or it was not looked at yet. */
  readonly waits?: string
  readonly outcome?: string
  /** One sentence: the result. */
  readonly statement?: string
  readonly endedAtMs?: number
}
