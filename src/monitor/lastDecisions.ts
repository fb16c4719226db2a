/**
 * The newest decision of each strategy and what became of it: what `perpd strategies` shows. Kept in memory; what was admitted before
 * a restart is in the journal.
 */
import type { Emit } from '../domain/event.ts'
import type { Intent } from '../domain/order/intent.ts'
import type { Usd } from '../protocol/units.ts'
import { money } from './text.ts'

/** The newest decision of one strategy. */
export interface LastDecision {
  readonly strategy: string
  /** Unix ms. */
  readonly atMs: number
  /** `increase long ETH/USD [WETH-USDC] $500.00`; once it is admitted, with the size that was. */
  readonly words: string
  readonly outcome: 'decided' | 'admitted' | 'denied'
  /** Code and reason of a denial. */
  readonly reason?: string
}

/** Listens, and remembers. */
export interface LastDecisions {
  readonly listen: Emit
  /** One for each strategy that decided since the start, or has an order in what was handed in. */
  all(): readonly LastDecision[]
}

/** The words of a decision, or of the order that it became. */
function wordsOf(kind: string, direction: string, symbol: string, sizeDeltaUsd: Usd | undefined): string {
  return `${kind} ${direction} ${symbol}${sizeDeltaUsd === undefined ? '' : ` ${money(sizeDeltaUsd)}`}`
}

/** Describes an admitted order in the words of its decision; it names a size where the decision did. */
function admittedWords({ kind, decision, terms }: Intent): string {
  const isSized = 'sizeDeltaUsd' in decision && decision.sizeDeltaUsd !== undefined
  return wordsOf(kind, terms.direction, terms.symbol, isSized ? terms.sizeDeltaUsd : undefined)
}

/** The same before anybody reads its words: hundreds of strategies decide each second. */
interface Kept extends Omit<LastDecision, 'words'> {
  readonly wordsOf: () => string
}

/** Over orders of before the start, of each strategy one or none. `now`: Unix ms. */
export function createLastDecisions(now: () => number, before: readonly Intent[] = []): LastDecisions {
  const last = new Map<string, Kept>(
    before.map((intent) => [
      intent.strategy,
      {
        strategy: intent.strategy,
        atMs: intent.acceptedAtMs,
        wordsOf: () => admittedWords(intent),
        outcome: 'admitted',
      },
    ]),
  )
  return {
    listen(event) {
      if (event.type === 'decision.made' || event.type === 'decision.denied') {
        const { strategy, decision, symbol } = event
        const wordsNow = () =>
          'direction' in decision
            ? wordsOf(
                decision.kind,
                decision.direction,
                symbol,
                'sizeDeltaUsd' in decision ? decision.sizeDeltaUsd : undefined,
              )
            : decision.kind
        const made = { strategy, atMs: now(), wordsOf: wordsNow }
        if (event.type === 'decision.made') last.set(strategy, { ...made, outcome: 'decided' })
        else {
          const { code, reason } = event.denial
          last.set(strategy, { ...made, outcome: 'denied', reason: `${code}: ${reason}` })
        }
      }
      // It is counted as denied: what it was meant to be is not known.
      if (event.type === 'decision.invalid') {
        const { strategy, denial } = event
        const reason = `${denial.code}: ${denial.reason}`
        const wordsNow = () => 'an invalid decision'
        last.set(strategy, { strategy, atMs: now(), wordsOf: wordsNow, outcome: 'denied', reason })
      }
      if (event.type === 'decision.admitted') {
        const { intent } = event
        const { strategy } = intent
        const { atMs } = last.get(strategy) ?? { atMs: now() }
        last.set(strategy, { strategy, atMs, wordsOf: () => admittedWords(intent), outcome: 'admitted' })
      }
    },
    all: () => [...last.values()].map(({ wordsOf: wordsNow, ...own }) => ({ ...own, words: wordsNow() })),
  }
}
