/** The limits in force at one moment: an immutable value, replaced by another when limits change. */
import type { DeskBudgets } from '../domain/limits/deskBudgets.ts'
import {
  type CountedLimits,
  countedLimits,
  type ExposureLimits,
  type Limits,
  limitsWith,
  tighten,
} from '../domain/limits/limits.ts'
import { marketOf, type Snapshot } from '../domain/snapshot.ts'
import type { BreakerSettings } from '../risk/breakers/circuitBreakers.ts'
import { withSizes } from '../risk/checks/dataGaps.ts'

/** The account's limits and those of single markets. */
export interface LimitSet {
  readonly account: Limits
  /** By market symbol. */
  readonly markets: Readonly<Record<string, Limits>>
}

/** All that is configured of limits. */
export interface ConfiguredLimits extends LimitSet {
  /** Limits of strategy files, by name; a strategy that is not listed keeps its present limits. */
  readonly strategies: Readonly<Record<string, Limits>>
  readonly breakers: BreakerSettings
  /** Returns the account's budgets of the desk's limits, as of now; absent: the desk has none. */
  readonly desk?: () => DeskBudgets
}

/** Limits of account, markets and strategies as they stand together. */
export interface LimitsInForce {
  current(): ConfiguredLimits
  /**
   * Limits of a strategy's order on a market: of the account, the market and the strategy the tightest. Losses are the
   * strategy's own alone: the account's is its breaker's to judge, and an operator's to accept. Its limits of exposure are not in
   * it (`ownOn`).
   */
  on(symbol: string | undefined, strategy: string): Limits
  /** A strategy's limits of exposure: its own part alone counts against them. */
  ownOn(strategy: string): ExposureLimits
  /** Returns a market's limits on usage; they count everything that happened on it, whoever made it. */
  countedOn(symbol: string | undefined): CountedLimits
}

const lossLimits = limitsWith('isLoss')

const exposureLimits = limitsWith('isExposure')

/** Makes the value of one configuration. */
export function limitsInForce(configured: ConfiguredLimits): LimitsInForce {
  // Answers are made once: each turn asks for every market that is held, and each decision for its strategy and market.

  const asked = new Map<string, Limits>()
  const together = (symbol: string | undefined, strategy: string): Limits => {
    const ofMarket = symbol === undefined ? {} : configured.markets[symbol]
    return tighten(
      tighten(without(configured.account, lossLimits), without(ofMarket ?? {}, countedLimits)),
      without(configured.strategies[strategy] ?? {}, exposureLimits),
    )
  }
  const own = new Map<string, ExposureLimits>()
  const counted = new Map<string, CountedLimits>()
  return {
    current: () => configured,
    on(symbol, strategy) {
      const key = symbol === undefined ? strategy : `${strategy}\0${symbol}`
      const limits = asked.get(key) ?? together(symbol, strategy)
      asked.set(key, limits)
      return limits
    },
    ownOn(strategy) {
      const limits = own.get(strategy) ?? only(configured.strategies[strategy] ?? {}, exposureLimits)
      own.set(strategy, limits)
      return limits
    },
    countedOn(symbol) {
      if (symbol === undefined) return {}
      const limits = counted.get(symbol) ?? only(configured.markets[symbol] ?? {}, countedLimits)
      counted.set(symbol, limits)
      return limits
    },
  }
}

function without(limits: Limits, names: readonly (keyof Limits)[]): Limits {
  return Object.fromEntries(Object.entries(limits).filter(([name]) => !names.some((each) => each === name)))
}

function only(limits: Limits, names: readonly (keyof Limits)[]): Limits {
  return Object.fromEntries(Object.entries(limits).filter(([name]) => names.some((each) => each === name)))
}

/** Returns the least limit on the age of positions and orders, of the account, its markets and its strategies, ms; infinite where none is set. */
export function leastAccountAgeMs({ account, markets, strategies }: ConfiguredLimits): number {
  const all = [account, ...Object.values(markets), ...Object.values(strategies)]
  const ages = all.flatMap(({ maxDataAgeMs, maxAccountAgeMs }) => [maxDataAgeMs, maxAccountAgeMs])
  return Math.min(...ages.map((ms) => (ms === undefined ? Number.POSITIVE_INFINITY : Number(ms))))
}

/** Returns the snapshot with the most that its limit allows for a position whose row does not say its size. */
export function withLimitSizes(limits: LimitsInForce, snapshot: Snapshot, strategy: string): Snapshot {
  return withSizes(snapshot, (token) => {
    const { symbol } = marketOf(snapshot, token)?.market ?? {}
    return limits.on(symbol, strategy).maxPositionSizeUsd
  })
}
