/** The time that a deadline is judged by: the chain's own where one is read, else the host's clock. Never this machine's alone. */
import type { BlockRef } from '../domain/intent.ts'
import type { ExecutionContext } from './context.ts'

/** What time it is where the signature will be judged. */
export interface ArmingTime {
  /** Unix seconds, whole or not. */
  readonly nowSeconds: number
  /** The newest block that was read for it; absent without a chain endpoint, or when none answered. */
  readonly block?: BlockRef
}

/**
 * Begins to ask the chain, beside whatever else is under way; the result gives the time for a message of `host` when it is
 * needed. A block's time moves on with our monotonic clock from when it was read.
 */
export function beginArmingTime(
  context: Pick<ExecutionContext, 'api' | 'chainReader' | 'clock'>,
): (host: string) => Promise<ArmingTime> {
  const { api, chainReader, clock } = context
  const read = chainReader?.latestBlock().then((block) => block && { block, atMs: clock.monotonicMs() })
  return async (host) => {
    const latest = await read
    if (latest === undefined) {
      return { nowSeconds: (clock.now() + (api.clockSkewMs(host) ?? 0)) / 1000 }
    }
    const { block, atMs } = latest
    return { nowSeconds: block.timestampSeconds + (clock.monotonicMs() - atMs) / 1000, block }
  }
}
