/**
 * Whose turn it is at a host. Reads wait for a token of the host's rate and for a place among those in flight. Reads of
 * history are many at once, one a token of the venue, and may come late: they get half of the rate and of the places at
 * most, and a queue of their own, so that prices and positions never wait behind them. Nothing else waits, but what leaves
 * takes its token from later reads.
 */
import PQueue from 'p-queue'
import type { Clock } from '../../base/clock.ts'
import { type RequestPlace, UnreachableError } from './apiErrors.ts'
import type { Hosts } from './hosts.ts'
import type { ApiLimits } from './requestLimits.ts'

/** History gets one of every two places or tokens. */
const HISTORY_DIVISOR = 2

interface HostQueue {
  readonly all: PQueue
  readonly history: PQueue
  /** Reads that wait or are in flight. */
  readonly waiting: { now: number; history: number }
}

/** Makes requests wait for their turn. */
export interface RequestQueue {
  /**
   * Runs a request in its turn.
   *
   * @throws UnreachableError, and sends nothing, when too many wait for the host.
   */
  enqueue<T>(place: RequestPlace, isHistory: boolean, run: () => Promise<T>): Promise<T>
}

/** Makes the lanes of all hosts. */
export function createRequestQueue(options: {
  readonly hosts: Hosts
  readonly clock: Clock
  readonly limits: ApiLimits
}): RequestQueue {
  const { hosts, clock, limits } = options
  const queues = new Map<string, HostQueue>()

  function queueOf(host: string): HostQueue {
    let queue = queues.get(host)
    if (queue === undefined) {
      const places = limits.concurrencyPerHost
      queue = {
        all: new PQueue({ concurrency: places }),
        history: new PQueue({ concurrency: Math.max(1, Math.floor(places / HISTORY_DIVISOR)) }),
        waiting: { now: 0, history: 0 },
      }
      queues.set(host, queue)
    }
    return queue
  }

  return {
    async enqueue(place, isHistory, run) {
      const { host } = place
      if (place.kind !== 'read') {
        hosts.takeTurn(host)
        return run()
      }
      const { all, history, waiting } = queueOf(host)
      const kind = isHistory ? 'history' : 'now'
      if (waiting[kind] >= limits.queuePerHost) {
        hosts.released(host)
        throw new UnreachableError({ ...place, silence: 'queue', sent: 'no', attempts: 0 })
      }
      waiting[kind] += 1
      try {
        const historyMs = isHistory ? hosts.takeHistoryTurn(host, HISTORY_DIVISOR) : 0
        if (historyMs > 0) await clock.sleep(historyMs)
        const waitMs = hosts.takeTurn(host)
        if (waitMs > 0) await clock.sleep(waitMs)
        return await (isHistory ? history.add(() => all.add(run)) : all.add(run))
      } finally {
        waiting[kind] -= 1
      }
    },
  }
}
