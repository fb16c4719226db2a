/** Sends notices to one sink, one at a time: a bounded queue, and retries with growing waits or the wait that the service asks for. */

import type { Timer } from '../base/clock.ts'
import type { Emit } from '../domain/event.ts'
import type { Notice, NoticeLevel } from '../monitor/events/notice.ts'
import { pushed } from './noticeQueue.ts'
import type { SendResult } from './sendOnce.ts'
import type { TakenCause } from './sinkCauses.ts'

/** A notice that waits for a sink. */
export interface Waiting {
  readonly notice: Notice
  /** Level by which a full queue judges it. */
  readonly level: NoticeLevel
  readonly count: number
  readonly isSilent: boolean
  /** Cause of the notice, unless it is an end. */
  readonly of?: TakenCause
}

/** Options of a loop. */
export interface SinkLoopOptions {
  readonly name: string
  readonly send: (waiting: Waiting, signal: AbortSignal) => Promise<SendResult>
  readonly clock: Timer
  readonly emit: Emit
  /** Receives each notice that will never be sent: a full queue dropped it, or no attempt succeeded. */
  readonly lost: (waiting: Waiting) => void
  /** Most notices in the queue. */
  readonly most: number
}

/** The queue of one sink. */
export interface SinkLoop {
  /** Adds a notice to the queue; returns at once. */
  offer(waiting: Waiting): void
  /** Resolves when the queue is empty and no attempt is in flight. */
  idle(): Promise<void>
  /** Aborts the attempt in flight and drops the queue. */
  stop(): void
}

/** Most attempts for one notice. */
const MOST_TRIES = 6
const FIRST_WAIT_MS = 1_000

/** Makes a queue that sleeps until a notice is added. */
export function createSinkLoop({ name, send, clock, emit, lost, most }: SinkLoopOptions): SinkLoop {
  const stopping = new AbortController()
  let queue: readonly Waiting[] = []
  let running: Promise<void> | undefined

  async function tell(waiting: Waiting): Promise<void> {
    const { kind } = waiting.notice
    for (let tries = 1; ; tries++) {
      const result = await send(waiting, stopping.signal)
      if (result.result === 'sent') return emit({ type: 'notice.ended', sink: name, kind, result: 'sent' })
      const isLast = result.result === 'refused' || tries === MOST_TRIES || stopping.signal.aborted
      if (isLast) {
        lost(waiting)
        const ended = result.result === 'refused' ? 'refused' : 'failed'
        return emit({ type: 'notice.ended', sink: name, kind, result: ended, reason: result.reason })
      }
      await clock.sleep(result.afterMs ?? FIRST_WAIT_MS * 4 ** (tries - 1), stopping.signal)
    }
  }

  async function run(): Promise<void> {
    for (;;) {
      const [next, ...rest] = queue
      if (next === undefined || stopping.signal.aborted) return
      queue = rest
      await tell(next)
    }
  }

  function start(): void {
    running ??= run().finally(() => {
      running = undefined
      if (queue.length > 0 && !stopping.signal.aborted) start()
    })
  }

  return {
    offer(waiting) {
      const { queue: next, dropped } = pushed(queue, waiting, most)
      queue = next
      if (dropped !== undefined) {
        lost(dropped)
        emit({ type: 'notice.dropped', sink: name, kind: dropped.notice.kind })
      }
      // Not in the caller's turn: making a request is work, too.
      setImmediate(start)
    },
    async idle() {
      for (;;) {
        if (running !== undefined) await running
        else if (queue.length > 0 && !stopping.signal.aborted) start()
        else return
      }
    },
    stop() {
      stopping.abort()
      for (const { notice } of queue) emit({ type: 'notice.dropped', sink: name, kind: notice.kind })
      queue = []
    },
  }
}
