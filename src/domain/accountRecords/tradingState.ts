/**
 * State of trading: halts by an operator, a kill or a breaker, each with its reason, its start and the event that lifts it. The journal persists them
 * as records of the account, so that they survive restarts. The strictest halt wins.
 */
import { defined, ifDefined } from '../../base/defined.ts'
import type { Hex } from '../../protocol/address.ts'
import { maxOf, mulDivUp, type TokenAmount, type Usd } from '../../protocol/units.ts'
import { stricter, type TradingState } from '../limits/limits.ts'

/**
 * Scope of a halt. `global`: this daemon, halted by an operator. `account`: the account, halted by breakers. Otherwise one strategy by its name. A
 * daemon trades one account, so the first two have the same reach and different causes.
 */
export type TradingScope = 'global' | 'account' | `strategy:${string}`

/** Breakers by name; docs/reference/errors.md lists what each one sets and what lifts it. */
export const breakerNames = [
  'daily-loss',
  'drawdown',
  'rejects',
  'payload-mismatch',
  'unknowns',
  'stale-data',
  'unexplained',
  'subaccount',
] as const

/** A breaker's name. */
export type BreakerName = (typeof breakerNames)[number]

/** Cause of a halt. One scope has at most one halt of each cause. */
export type HaltReason = 'operator' | 'kill' | 'lost-records' | BreakerName

/**
 * The event that lifts a halt besides an operator. `itself`: the end of its cause; an operator cannot lift it while the cause lasts. `next-day`: the
 * next day (UTC). `operator`: nothing else.
 */
export type ReleasedBy = 'operator' | 'itself' | 'next-day'

/** A halt on trading. */
export interface TradingHalt {
  readonly scope: TradingScope
  readonly cause: HaltReason
  readonly state: Exclude<TradingState, 'active'>
  /** One sentence with the figures. */
  readonly reason: string
  /** An operator's name, a signal, or `perpd` for a breaker. */
  readonly by: string
  /** Unix ms. */
  readonly sinceMs: number
  readonly releasedBy: ReleasedBy
}

/** Latest recorded equity of the account, USD, 30 decimals. */
export interface EquityMark {
  readonly equityUsd: Usd
  /** The highest since the last reset by an operator. */
  readonly peakUsd: Usd
  /** Start of the day (UTC) that `dayStartUsd` belongs to, Unix ms. */
  readonly dayStartMs: number
  /** The first figure of that day, or of the last reset in it. */
  readonly dayStartUsd: Usd
  /** Time when its lists were read, Unix ms; absent: not known. */
  readonly dayFirstAtMs?: number
  /** The highest that people were shown, where that is above `peakUsd`; absent: it was not kept, or is not. */
  readonly shownPeakUsd?: Usd
  /** Deposits less withdrawals of that day, signed: `dayStartUsd` holds them already. Absent: none. */
  readonly dayTransfersUsd?: Usd
  /** Base of the day's loss shares where money moved; no transfer changes such a share. Absent: `dayStartUsd`. */
  readonly dayShareOfUsd?: Usd
  /**
   * Unrealized results of strategies' open parts by the lists of that figure, USD, signed, by name; zero results are left out. Only the first record
   * of a day has it, for the whole day.
   */
  readonly dayOpenUsd?: Readonly<Record<string, Usd>>
}

/** Lists of one host that belonged together: the content of the wallet, and the rest of the account. */
export interface WalletBase {
  /** Amounts by lower-case token, without the native coin and without zeros; smallest units. */
  readonly wallet: Readonly<Record<string, TokenAmount>>
  /** A hash of the positions and of the orders' payments. */
  readonly placed: Hex
  /** Number of orders that the journal had accepted by then. */
  readonly intents: number
}

/** A deposit (positive) or a withdrawal. */
export interface AccountTransfer {
  /** Time when it was distinguished from a gain or a loss, Unix ms. */
  readonly atMs: number
  /** USD at the prices of then, signed. */
  readonly amountUsd: Usd
}

/** Channel through which a command reached the daemon. */
export type CommandChannel = 'control' | 'signal' | 'cli' | 'files' | 'telegram'

/** Author of a command, and its channel. */
export interface Commander {
  readonly by: string
  readonly via: CommandChannel
}

/** Journal entries about trading: the part of an account's record that is not its stamp. */
export type TradingEntry =
  /** `active` lifts the halt of that scope and cause. */
  | {
      readonly kind: 'trading.state'
      readonly scope: TradingScope
      readonly cause: HaltReason
      readonly state: TradingState
      readonly reason: string
      readonly by: string
      readonly releasedBy: ReleasedBy
      /** Number of the journal's newest record before a lift; lifts alone have it. */
      readonly afterSeq?: number
    }
  | ({ readonly kind: 'equity.marked' } & EquityMark)
  /** Base with which later lists are compared to detect deposits and withdrawals. */
  | { readonly kind: 'equity.based'; readonly base: WalletBase }
  /** A deposit (positive) or a withdrawal, and the account's equity after it; USD. */
  | {
      readonly kind: 'equity.transferred'
      readonly amountUsd: Usd
      readonly afterUsd: Usd
      readonly base: WalletBase
    }
  /** An operator's command and its author, recorded before it is carried out. */
  | {
      readonly kind: 'operator.command'
      readonly command: string
      readonly detail: string
      readonly by: string
      readonly via: CommandChannel
    }

/** Kinds of the entries above. */
export const tradingKinds = [
  'trading.state',
  'equity.marked',
  'equity.based',
  'equity.transferred',
  'operator.command',
] as const satisfies readonly TradingEntry['kind'][]

/** The fold of the entries: plain values, so that a snapshot can hold it. */
export interface TradingFold {
  /** Oldest first. */
  readonly halts: readonly TradingHalt[]
  /** Time when the halt of a scope and cause (`haltKey`) was last lifted, Unix ms: causes before it no longer count. */
  readonly releasedAtMs: Readonly<Record<string, number>>
  /** The same as a record's number, where the lift kept one: the wall clock may be set back between a cause and its lift. */
  readonly liftedAtSeq?: Readonly<Record<string, number>>
  readonly equity?: EquityMark
  /** Base of comparison for the next lists; absent before the first. */
  readonly base?: WalletBase
  /** The newest deposits and withdrawals, oldest first; absent before the first. */
  readonly transfers?: readonly AccountTransfer[]
  /** The limits in force, as they were last written down: decimal text by scope and limit. */
  readonly limits?: Readonly<Record<string, string>>
}

/** The command of an entry whose detail is the limits in force. */
export const LIMITS_IN_FORCE = 'limits.in-force'

/** Before the first entry. */
export const emptyTradingFold: TradingFold = { halts: [], releasedAtMs: {} }

/** The key of a scope and cause. */
export function haltKey({
  scope,
  cause,
}: {
  readonly scope: TradingScope
  readonly cause: HaltReason
}): string {
  return `${scope} ${cause}`
}

/** The scope of one strategy. */
export function strategyScope(name: string): TradingScope {
  return `strategy:${name}`
}

/** A scope as an operator writes it (`global`, `account`, or a strategy's name with or without `strategy:`). */
export function scopeOf(text: string): TradingScope {
  if (text === 'global' || text === 'account') return text
  return strategyScope(text.replace(/^strategy:/, ''))
}

/** Returns the fold after one more entry of `atMs`. Pure; lifting a halt that is not set changes only the time of the lift. */
export function applyTradingEntry(fold: TradingFold, entry: TradingEntry, atMs: number): TradingFold {
  switch (entry.kind) {
    case 'trading.state': {
      const { scope, cause, state, reason, by, releasedBy } = entry
      const key = haltKey(entry)
      const held = fold.halts.find((halt) => haltKey(halt) === key)
      const others = fold.halts.filter((halt) => halt !== held)
      if (state === 'active') {
        const lifted = { ...fold, halts: others, releasedAtMs: { ...fold.releasedAtMs, [key]: atMs } }
        const { [key]: before, ...seqs } = fold.liftedAtSeq ?? {}
        if (entry.afterSeq !== undefined)
          return { ...lifted, liftedAtSeq: { ...seqs, [key]: entry.afterSeq } }
        return before === undefined ? lifted : { ...lifted, liftedAtSeq: seqs }
      }
      // A repeated halt keeps its start; from reducing to halted it is another halt with its own start.
      const sinceMs = held?.state === state ? held.sinceMs : atMs
      const hold = { scope, cause, state, reason, by, sinceMs, releasedBy }
      return { ...fold, halts: [...others, hold] }
    }
    case 'equity.marked': {
      const { equityUsd, peakUsd, dayStartMs, dayStartUsd, dayFirstAtMs, shownPeakUsd } = entry
      const { dayTransfersUsd, dayShareOfUsd } = entry
      const before = fold.equity?.dayStartMs === dayStartMs ? fold.equity.dayOpenUsd : undefined
      const dayOpenUsd = before ?? entry.dayOpenUsd
      const equity = {
        ...{ equityUsd, peakUsd, dayStartMs, dayStartUsd },
        ...defined({ dayFirstAtMs, shownPeakUsd, dayTransfersUsd, dayShareOfUsd, dayOpenUsd }),
      }
      return { ...fold, equity }
    }
    case 'equity.based':
      return { ...fold, base: entry.base }
    case 'equity.transferred': {
      const { amountUsd, afterUsd, base } = entry
      const transfers = [...(fold.transfers ?? []), { atMs, amountUsd }].slice(-keptTransfers)
      const equity = defined({
        equity: fold.equity === undefined ? undefined : movedMark(fold.equity, amountUsd, afterUsd),
      })
      return { ...fold, ...equity, base, transfers }
    }
    case 'operator.command':
      if (entry.command !== LIMITS_IN_FORCE) return fold
      return { ...fold, limits: JSON.parse(entry.detail) as NonNullable<TradingFold['limits']> }
  }
}

/** Transfers that are kept for people. */
const keptTransfers = 64

/**
 * Returns the mark after a deposit (positive) or a withdrawal: the loss of the day stays the same in USD, and every fall stays the same share.
 *
 * @param afterUsd the account's equity after it
 */
export function movedMark(mark: EquityMark, amountUsd: Usd, afterUsd: Usd): EquityMark {
  const share = (beforeUsd: Usd): Usd => scaledBy(beforeUsd, amountUsd, afterUsd)
  const { equityUsd, peakUsd, dayStartUsd, shownPeakUsd, dayTransfersUsd = 0n } = mark
  return {
    ...mark,
    equityUsd: equityUsd + amountUsd,
    peakUsd: share(peakUsd),
    ...defined({ shownPeakUsd: ifDefined(shownPeakUsd, share) }),
    dayStartUsd: dayStartUsd + amountUsd,
    dayTransfersUsd: dayTransfersUsd + amountUsd,
    dayShareOfUsd: share(mark.dayShareOfUsd ?? dayStartUsd),
  }
}

/**
 * Scales a figure from before a deposit or a withdrawal, so that `afterUsd` is the same share of it. It is rounded up, so that no fall becomes less.
 * Where nothing was left before or after, the figure starts over.
 */
export function scaledBy(figureUsd: Usd, amountUsd: Usd, afterUsd: Usd): Usd {
  const beforeUsd = afterUsd - amountUsd
  if (beforeUsd <= 0n || afterUsd <= 0n) return maxOf(0n, afterUsd)
  return mulDivUp(figureUsd, afterUsd, beforeUsd)
}

/** The halts that reach a strategy: its own and those of the whole daemon; without a name only the latter. */
export function haltsOn(halts: readonly TradingHalt[], strategy?: string): readonly TradingHalt[] {
  return halts.filter(
    ({ scope }) =>
      scope === 'global' ||
      scope === 'account' ||
      (strategy !== undefined && scope === strategyScope(strategy)),
  )
}

/** The strictest of some holds, the oldest of equals; undefined when trading is active. */
export function strictest(holds: readonly TradingHalt[]): TradingHalt | undefined {
  return holds.reduce<TradingHalt | undefined>(
    (most, halt) => (most === undefined || stricter(most.state, halt.state) !== most.state ? halt : most),
    undefined,
  )
}

/** Returns the state that halts make. */
export function stateOf(holds: readonly TradingHalt[]): TradingState {
  return strictest(holds)?.state ?? 'active'
}
