/** The time that a deadline is judged by: the chain's own where one is read, else the host's clock. Never this machine's alone. */

import { defined } from '../../base/defined.ts'
import { chainTimeOf } from '../../domain/chainTime.ts'
import type { EndpointBlock } from '../../domain/machine/chainReader.ts'
import type { BlockRef } from '../../domain/order/intent.ts'
import type { HasApi, HasChainReader, HasClock, HasEmit } from '../context/executionParts.ts'
import { hostsSkewMs } from './hostsClock.ts'

/** Time at the place where the signature will be judged. */
export interface ArmingTime {
  /** The earliest that it may be, Unix seconds, whole or not. */
  readonly nowSeconds: number
  /** Uncertainty of the time, seconds: it may be later by this much; 0 when it is known. */
  readonly unsureSeconds: number
  /** Most likely time, from which our own deadlines are counted, Unix seconds. */
  readonly likelySeconds: number
  /** Lead of our clock over the chain's time, seconds; absent where no endpoint reports it. */
  readonly skewSeconds?: number
  /** Number of endpoints that answered. */
  readonly answered: number
  /**
   * The lowest newest block of all endpoints that answered, from which a search misses nothing. Absent where the time is not known: a lone liar's
   * number would hide earlier events, and the search finds its beginning by the deadline.
   */
  readonly block?: BlockRef
}

/**
 * Begins to query the chain in parallel with other work; the result gives the time for a message of `host` when it is needed, and describes the
 * endpoints. A block's time advances with our monotonic clock from when it was read.
 */
export function beginArmingTime(
  context: HasApi & HasChainReader & HasClock & HasEmit,
): (host: string) => Promise<ArmingTime> {
  const { api, chainReader, clock } = context
  const read = chainReader?.latestBlocks()
  return async (host) => {
    const blocks = await read
    if (blocks === undefined) {
      // A host that was not heard since this clock was set: the others say by how much.
      const skewMs = api.clockSkewMs(host) ?? hostsSkewMs(api) ?? 0
      const nowSeconds = (clock.now() + skewMs) / 1000
      return { nowSeconds, unsureSeconds: 0, likelySeconds: nowSeconds, answered: 0 }
    }
    return timeBy(context, blocks)
  }
}

function timeBy(
  { api, clock, emit }: HasApi & HasClock & HasEmit,
  blocks: readonly EndpointBlock[],
): ArmingTime {
  const nowMs = clock.monotonicMs()
  const ownSeconds = clock.now() / 1000
  const skewMs = hostsSkewMs(api)
  const time = chainTimeOf(
    ownSeconds,
    skewMs === undefined ? undefined : ownSeconds + skewMs / 1000,
    blocks.map(({ endpoint, block, readMs }) => ({
      endpoint,
      seconds: block.timestampSeconds + (nowMs - readMs) / 1000,
    })),
  )
  const healthy = time.endpoints.filter(({ isHealthy }) => isHealthy).length
  for (const { endpoint, aheadSeconds, isHealthy } of time.endpoints)
    emit({ type: 'chain.time', endpoint, aheadSeconds, isSetAside: !isHealthy, healthy })
  const [lowest] = blocks
    .map(({ block }) => block)
    .toSorted((one, other) => (one.number < other.number ? -1 : 1))
  return {
    nowSeconds: time.earliestSeconds,
    unsureSeconds: time.latestSeconds - time.earliestSeconds,
    likelySeconds: time.likelySeconds,
    ...defined({ skewSeconds: time.isKnown ? time.skewSeconds : undefined }),
    answered: blocks.length,
    ...defined({ block: !time.isKnown ? undefined : lowest }),
  }
}
