/** Signals that an outside sender gives in a trial of a kind that takes signals. */
import type { GivenSignal } from '../../domain/memory/tradeSignal.ts'
import type { LoadedStrategy } from '../../strategy/files/load.ts'

/** The same in every trial, by step. */
const said = [
  [20, 'long'],
  [100, 'reverse'],
  [180, 'flat'],
] as const

/** The signals that a file is given at a step, which is at `atMs` (Unix ms); none for a kind that takes none. */
export function trialSignals(
  { strategy, hosted, name }: LoadedStrategy,
  symbol: string,
  step: number,
  atMs: number,
): readonly GivenSignal[] {
  if ((hosted?.takesSignals ?? strategy.takesSignals) !== true) return []
  return said.flatMap(([at, action], index) =>
    at === step
      ? [
          {
            strategy: name,
            action,
            symbol,
            number: index + 1,
            sentAtMs: atMs,
            receivedAtMs: atMs,
            expiresAtMs: atMs + 300_000,
            isExpired: false,
          },
        ]
      : [],
  )
}
