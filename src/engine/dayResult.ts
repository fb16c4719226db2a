/** What each strategy's orders realized since 00:00 UTC: profit and loss of what executed, less the venue's fees. */
import type { IntentState } from '../domain/intent.ts'
import type { Usd } from '../domain/units.ts'
import { dayStartOf } from '../risk/breakers.ts'

/** Results of one day. */
export interface DayResult {
  /** Takes up intents that ended; each counts once. */
  add(states: readonly IntentState[], nowMs: number): void
  /** USD, signed; 0 before the first end of the day. */
  of(strategy: string, nowMs: number): Usd
}

/** Begins with what ended before this process. */
export function createDayResult(ended: readonly IntentState[], nowMs: number): DayResult {
  let dayMs = dayStartOf(nowMs)
  let counted = new Set<string>()
  let results = new Map<string, Usd>()

  function turnDay(atMs: number): void {
    if (dayStartOf(atMs) === dayMs) return
    dayMs = dayStartOf(atMs)
    counted = new Set()
    results = new Map()
  }

  function add(states: readonly IntentState[], atMs: number): void {
    turnDay(atMs)
    for (const { intent, closing, closedAtMs } of states) {
      if (closing?.settlement === undefined || counted.has(intent.intentId)) continue
      if ((closedAtMs ?? 0) < dayMs) continue
      counted.add(intent.intentId)
      const { pnlUsd = 0n, feesUsd = 0n } = closing.settlement
      results.set(intent.strategy, (results.get(intent.strategy) ?? 0n) + pnlUsd - feesUsd)
    }
  }

  add(ended, nowMs)
  return {
    add,
    of(strategy, atMs) {
      turnDay(atMs)
      return results.get(strategy) ?? 0n
    },
  }
}
