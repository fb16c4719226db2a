/** Signals that an outside sender gives in a trial to the files that take signals. */
import type { LoadedStrategy } from '../../strategy/files/load.ts'
import type { RunWorld } from '../runTerms.ts'

/** The same in every trial, by turn from 0. */
const sent = [
  [20, 'long'],
  [100, 'reverse'],
  [180, 'flat'],
] as const

/** Lifetime of each, ms, and the time before its turn at which it is sent. */
const [TTL_MS, BEFORE_MS] = [300_000, 1_000]

/** Tells whether a file takes signals. */
export function takesSignals({ strategy, hosted }: LoadedStrategy): boolean {
  return (hosted?.takesSignals ?? strategy.takesSignals) === true
}

/** Sends them shortly before their turns, each for the file's first market. */
export function scheduleSignals(
  { trader, scheduler, clock, fatal }: RunWorld,
  strategies: readonly LoadedStrategy[],
  turnSeconds: number,
): void {
  for (const { name: strategy, symbols } of strategies.filter(takesSignals))
    for (const [turn, action] of sent)
      scheduler.after(turn * turnSeconds * 1000 - BEFORE_MS, () => {
        const terms = { strategy, action, sentAtMs: clock.now() }
        const market = symbols.length > 1 ? { market: symbols[0] ?? '' } : {}
        trader
          .signal({
            terms: { ...terms, ...market },
            ttlMs: TTL_MS,
            nonce: `${strategy}-${turn}`,
            windowMs: TTL_MS,
          })
          .catch(fatal)
      })
}
