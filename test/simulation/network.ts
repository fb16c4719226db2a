/** The network between the daemon and the venue: what may happen to one request, whatever carries it. */

import type { Timeline } from '../../src/backtest/lab/timeline.ts'
import type { Faults } from './faults.ts'
import type { Random } from './random.ts'
import type { Peer } from './venuePeers.ts'

/** What the client sees of a request. */
export type NetOutcome<A> =
  | { readonly kind: 'answer'; readonly value: A }
  /** No connection: provably no byte left. */
  | { readonly kind: 'not-sent' }
  /** The connection broke off. */
  | { readonly kind: 'broken' }
  /** Nothing comes, ever. */
  | { readonly kind: 'never' }
  | { readonly kind: 'status'; readonly status: 429 | 500 | 502 | 503; readonly isBackend: boolean }

/** One request. */
export interface NetRequest<A> {
  readonly peer: Peer
  /** The request's bytes are on their way: it may be processed from now on. */
  readonly left: () => void
  /** The venue processes it. */
  readonly handle: () => A
  /** The client sees something. Never called for `never`. */
  readonly done: (outcome: NetOutcome<A>) => void
}

/** Carries requests. */
export interface Network {
  request<A>(request: NetRequest<A>): void
}

/** Makes the network of a world. */
export function createNetwork(timeline: Timeline, faults: Faults, random: Random): Network {
  return {
    request({ peer, left, handle, done }) {
      const latencyMs = random.int(5, faults.isOn('slow-answers') ? 3_000 : 250)
      const later = (outcome: Parameters<typeof done>[0], ms = latencyMs) =>
        timeline.after(ms, () => done(outcome))
      if (peer.isDown || faults.comes('not-sent', 0.08)) {
        if (peer.isDown && random.chance(0.3)) return left()
        later({ kind: 'not-sent' })
        return
      }
      left()
      if (faults.comes('request-lost', 0.1)) {
        if (random.chance(0.5)) later({ kind: 'broken' })
        return
      }
      if (faults.comes('5xx-before', 0.08))
        return void later({ kind: 'status', status: random.pick([500, 502] as const), isBackend: false })
      if (faults.comes('429', 0.06)) return void later({ kind: 'status', status: 429, isBackend: false })
      if (faults.comes('backend-unavailable', 0.06))
        return void later({ kind: 'status', status: 503, isBackend: true })
      if (faults.comes('late-processing', 0.08)) {
        timeline.after(random.int(15_000, 70_000), handle)
        return
      }
      timeline.after(latencyMs, () => {
        const value = handle()
        if (faults.comes('doubled-request', 0.1)) timeline.after(random.int(50, 5_000), handle)
        if (faults.comes('response-lost', 0.1)) {
          if (random.chance(0.5)) later({ kind: 'broken' })
          return
        }
        if (faults.comes('5xx-after', 0.08))
          return void later({ kind: 'status', status: 503, isBackend: false })
        const isSlow = faults.comes('slow-answers', 0.1)
        later({ kind: 'answer', value }, isSlow ? random.int(2_000, 19_000) : latencyMs)
      })
    },
  }
}
