/**
 * What orders realized since 00:00 UTC, by strategy and by market: profit and loss of what executed, less the venue's fees.
 */
import { type Address, hexKey } from '../domain/address.ts'
import type { IntentState } from '../domain/intent.ts'
import type { Usd } from '../domain/units.ts'
import { dayStartOf } from '../risk/breakers.ts'

/** Results of one day. */
export interface DayResult {
  /** Takes up intents that ended; each counts once. */
  add(states: readonly IntentState[], nowMs: number): void
  /** USD, signed; 0 before the first end of the day. */
  of(strategy: string, nowMs: number): Usd
  /** The same of all orders on a market. */
  onMarket(marketToken: Address, nowMs: number): Usd
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
      for (const key of [strategyKey(intent.strategy), marketKey(intent.terms.marketToken)])
        results.set(key, (results.get(key) ?? 0n) + pnlUsd - feesUsd)
    }
  }

  function resultOf(key: string, atMs: number): Usd {
    turnDay(atMs)
    return results.get(key) ?? 0n
  }

  add(ended, nowMs)
  return {
    add,
    of: (strategy, atMs) => resultOf(strategyKey(strategy), atMs),
    onMarket: (marketToken, atMs) => resultOf(marketKey(marketToken), atMs),
  }
}

function strategyKey(name: string): string {
  return `strategy ${name}`
}

function marketKey(marketToken: Address): string {
  return `market ${hexKey(marketToken)}`
}
