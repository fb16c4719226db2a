/**
 * A dead man's switch: an address that is asked again and again while all is well, in the way of healthchecks. Whoever runs it tells people
 * when it is asked no more, which perpd itself cannot; `/fail` at its end says at once that something is wrong.
 */

import type { Timer } from '../base/clock.ts'
import type { Secret } from '../base/secret.ts'
import type { Emit } from '../domain/event.ts'
import { type Post, sendOnce } from './sendOnce.ts'

/** Result of a look: all is well, something is wrong, or nothing is sure, and then nothing is sent. */
export type Beat = 'well' | 'fail' | 'silent'

/** Options of a heartbeat. */
export interface HeartbeatOptions {
  readonly url: Secret
  readonly periodMs: number
  /** Longest wait for one answer, ms. */
  readonly timeoutMs: number
  readonly post: Post
  readonly clock: Timer
  readonly emit: Emit
  readonly look: () => Beat
}

/** A heartbeat that runs. */
export interface Heartbeat {
  /** Says at once that something is wrong, and beats no more. */
  fail(): void
  /** Beats no more; resolves when what is under way is over. */
  stop(): Promise<void>
}

/** Starts to beat, the first time at once. */
export function createHeartbeat(options: HeartbeatOptions): Heartbeat {
  const { url, periodMs, timeoutMs, post, clock, emit, look } = options
  const stopping = new AbortController()
  const never = new AbortController().signal

  async function send(beat: Exclude<Beat, 'silent'>): Promise<void> {
    const target = new URL(url.reveal())
    if (beat === 'fail') target.pathname = `${target.pathname.replace(/\/+$/, '')}/fail`
    const request = { url: target.href, headers: {}, body: '' }
    const answer = await sendOnce(request, post, { timeoutMs, signal: never })
    const reason = answer.result === 'sent' ? undefined : answer.reason
    const result = answer.result === 'later' ? 'failed' : answer.result
    emit({
      type: 'notice.ended',
      sink: 'heartbeat',
      kind: beat,
      result,
      ...(reason !== undefined && { reason }),
    })
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      const beat = look()
      if (beat !== 'silent') await send(beat)
      await clock.sleep(periodMs, stopping.signal)
    }
  }

  let last = run()
  return {
    fail() {
      stopping.abort()
      last = Promise.all([last, send('fail')]).then(() => undefined)
    },
    async stop() {
      stopping.abort()
      await last
    },
  }
}
