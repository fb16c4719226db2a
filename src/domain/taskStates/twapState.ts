/** A twap as a task of the journal: a size in parts over a time, by orders of perpd's own or by one twap of the venue. */
import type { Usd } from '../../protocol/units.ts'
import type { ExecutorParams, ExecutorProgress } from './executorState.ts'

/** The kind of these tasks. */
export const TWAP = 'twap'

/** Version of the parameters and the state below. */
export const TWAP_VERSION = 1

/** Maker of the parts. `auto`: the venue where its own twap fits, else perpd; `own`: perpd. */
export type TwapRoute = 'auto' | 'own'

/** Goal of a twap. */
export interface TwapParams extends ExecutorParams {
  /** Increases: size / collateral of each part, bps; 10000 = 1x. */
  readonly leverageBps: number
  /** 2 to 200. */
  readonly parts: number
  readonly durationMs: number
  /** Increases: the most of the capacity available at that moment that a part may take, bps. */
  readonly shareBps: number
  /**
   * USD per whole index token: no part is made while the oracle's price on the side that it takes is worse. Its slippage is
   * beyond it. Absent: any price.
   */
  readonly worstPrice?: Usd
  readonly route: TwapRoute
}

/** Progress of a twap. */
export interface TwapProgress extends ExecutorProgress {
  /** The newest stretch of time in which a part was made, from 1; 0 before the first. A stretch has one part at most. */
  readonly slot: number
}

/** Before its first step. */
export const twapBegins: TwapProgress = { made: 0, slot: 0 }
