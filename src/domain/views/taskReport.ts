/** A task as it is shown. */
import type { Usd } from '../../protocol/units.ts'
import type { TaskGoal } from '../tasks/executorState.ts'

/** A task, and how far it is. Amounts in USD. */
export interface TaskReport extends Pick<TaskGoal, 'sizeUsd' | 'budget' | 'asked'> {
  /** What it does, `open long ETH/USD [WETH-USDC]`. */
  readonly what: string
  readonly symbols: readonly string[]
  readonly taskId: string
  readonly kind: string
  readonly by: string
  /** Unix ms. */
  readonly sinceMs: number
  readonly doneUsd: Usd
  /** Closed by exits of what it opened. */
  readonly exitedUsd: Usd
  /** What orders under way may still fill. */
  readonly openUsd: Usd
  /** What its budget counts, and what that cost at most. */
  readonly orders: number
  readonly feesUsd: Usd
  /** Exits of what it opened and changes of them, and what these cost at most; no budget counts them. */
  readonly exitOrders: number
  readonly exitFeesUsd: Usd
  readonly standing: 'running' | 'stopping' | 'ended'
  /** What it waits for; absent: nothing, or it was not looked at yet. */
  readonly waits?: string
  readonly outcome?: string
  /** One sentence: what came of it. */
  readonly statement?: string
  readonly endedAtMs?: number
}
