/** The newest decision of each strategy and what became of it, kept in memory: what `perpd strategies` shows. */
import type { Emit } from '../domain/event.ts'
import { formatDollars } from '../protocol/units.ts'

/** The newest decision of one strategy. */
export interface LastDecision {
  readonly strategy: string
  /** Unix ms. */
  readonly atMs: number
  /** `increase long ETH/USD [WETH-USDC] $500.00`. */
  readonly words: string
  readonly outcome: 'decided' | 'admitted' | 'denied'
  /** Code and reason of a denial. */
  readonly reason?: string
}

/** Listens, and remembers. */
export interface LastDecisions {
  readonly listen: Emit
  /** One for each strategy that decided since the start. */
  all(): readonly LastDecision[]
}

/** Nothing decided yet. `now`: Unix ms. */
export function createLastDecisions(now: () => number): LastDecisions {
  const last = new Map<string, LastDecision>()
  return {
    listen(event) {
      if (event.type === 'decision.made' || event.type === 'decision.denied') {
        const { strategy, decision, symbol } = event
        const size =
          'sizeDeltaUsd' in decision && decision.sizeDeltaUsd !== undefined
            ? ` ${formatDollars(decision.sizeDeltaUsd)}`
            : ''
        const words =
          'direction' in decision ? `${decision.kind} ${decision.direction} ${symbol}${size}` : decision.kind
        const made = { strategy, atMs: now(), words }
        if (event.type === 'decision.made') last.set(strategy, { ...made, outcome: 'decided' })
        else {
          const { code, reason } = event.denial
          last.set(strategy, { ...made, outcome: 'denied', reason: `${code}: ${reason}` })
        }
      }
      if (event.type === 'decision.admitted') {
        const before = last.get(event.intent.strategy)
        if (before !== undefined) last.set(before.strategy, { ...before, outcome: 'admitted' })
      }
    },
    all: () => [...last.values()],
  }
}
