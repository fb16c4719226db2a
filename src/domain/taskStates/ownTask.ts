/** A task of a strategy's own, as its view shows it. */
import type { Usd } from '../../protocol/units.ts'
import type { ExecutorOutcome } from './executorState.ts'

/** Progress of a task. Amounts in USD. */
export interface OwnTask {
  readonly label: string
  /** Name of its kind, `twap`. */
  readonly kind: string
  /** `stopping`: it is to end, and its resting orders are being cancelled. */
  readonly standing: 'running' | 'stopping' | 'ended'
  /** Unix ms. */
  readonly sinceMs: number
  readonly sizeUsd: Usd
  readonly doneUsd: Usd
  /** Closed by exits of its position. */
  readonly exitedUsd: Usd
  /** Size that orders in flight may still fill. */
  readonly openUsd: Usd
  /** Outcome of an ended task; `stopped` after a kill too. */
  readonly outcome?: ExecutorOutcome
  /** Unix ms. */
  readonly endedAtMs?: number
}
