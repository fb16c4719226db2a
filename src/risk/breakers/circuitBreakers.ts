/**
 * Breakers: they stop new risk by themselves. Each checks one thing, sets a state, and names what lifts it. Pure: the facts are handed in, and the
 * answer is the present halts; the engine maintains earlier halts.
 *
 * | breaker | looks at | lifted by |
 * |---|---|---|
 * | `daily-loss` | equity against the first figure of the day (UTC), and realized settlements; the larger loss | the next day, or an operator |
 * | `drawdown` | equity against its peak; deposits and withdrawals move both, and the share stays | an operator |
 * | `rejects` | orders of one strategy in a row that had no effect | an operator |
 * | `payload-mismatch` | payload mismatches of a day | an operator |
 * | `unknowns` | the oldest order whose fate is not proven | its resolution |
 * | `stale-data` | the newest good look at the account | the next one |
 * | `unexplained` | discrepancies that the journal cannot explain | their settlement |
 * | `subaccount` | actions and time left of the approval, less the need of closing | a new approval |
 */

import { defined } from '../../base/defined.ts'
import { type Ending, isWanted, isWithheldReduction } from '../../domain/accountRecords/spend.ts'
import {
  type BreakerName,
  type EquityMark,
  haltKey,
  type ReleasedBy,
  strategyScope,
  type TradingHalt,
  type TradingScope,
} from '../../domain/accountRecords/tradingState.ts'
import type { Limits, Tightness } from '../../domain/limits/limits.ts'
import type { SubaccountReport } from '../../domain/subaccountReport.ts'
import { BPS_ONE, bps, formatDollars, maxOf, type Usd } from '../../protocol/units.ts'

/** Thresholds; an absent one switches its breaker off. */
export interface BreakerSettings {
  /** Loss of equity since 00:00 UTC, USD. */
  readonly maxDailyLossUsd?: Usd
  /** The same, bps of the day's first figure. */
  readonly maxDailyLossEquityBps?: number
  /** Loss of equity since its peak, bps of the peak. */
  readonly maxDrawdownBps?: number
  /** Orders of one strategy in a row that came to nothing. */
  readonly rejectsInRow?: number
  /** Payload mismatches in 24 hours. */
  readonly payloadMismatchesPerDay?: number
  /** Age of the oldest unresolved order, ms. */
  readonly unknownAgeMs?: number
  /** Age of the newest good look at the account, ms. */
  readonly staleMs?: number
  /** Open discrepancies that pause a market. */
  readonly openDiscrepancies?: number
  /** Actions of the approval that are reserved beyond the need of closing. */
  readonly reserveActions?: number
  /** Time before the end of the approval that is kept for reductions, seconds. */
  readonly reserveSeconds?: number
  /** Trading state that a breaker sets; `reducing` when absent. */
  readonly sets: Readonly<Partial<Record<BreakerName, TradingHalt['state']>>>
}

/** Says for each threshold which of two values is the tighter one; daily losses are among the account's limits. */
export const breakerTightness = {
  maxDrawdownBps: 'less',
  rejectsInRow: 'less',
  payloadMismatchesPerDay: 'less',
  unknownAgeMs: 'less',
  staleMs: 'less',
  openDiscrepancies: 'less',
  reserveActions: 'more',
  reserveSeconds: 'more',
} as const satisfies Tightness<Omit<BreakerSettings, 'maxDailyLossUsd' | 'maxDailyLossEquityBps' | 'sets'>>

/** Facts that breakers check. */
export interface BreakerFacts {
  readonly nowMs: number
  /** The mark with the newest equity in it; absent while the account's worth is not known. */
  readonly equity?: EquityMark
  /** Realized result of our orders today by their settlements, since an operator last accepted the day's loss, USD, signed. */
  readonly realizedUsd?: Usd
  /**
   * Part of it from funding that the chain shows to be put aside for the account since the first figure of the day, USD. It is in no list, and
   * becomes a deposit when it is claimed.
   */
  readonly receivedUsd?: Usd
  /** Ends of the last 24 hours, oldest first. */
  readonly endings: readonly Ending[]
  /** Times when halts were last lifted, by `haltKey`: earlier endings no longer count. */
  readonly releasedAtMs: Readonly<Record<string, number>>
  /** The same as a record's number; where there is one it counts, and the time does not. */
  readonly liftedAtSeq?: Readonly<Record<string, number>>
  /** 0 when nothing is unresolved. */
  readonly oldestUnresolvedMs: number
  readonly accountAgeMs: number
  readonly openDiscrepancies: number
  /** Remaining approval; absent when the account's own key signs, or before it was read. */
  readonly subaccount?: SubaccountReport
}

/** The event that lifts the halt of each breaker. */
export const releaseOf: Readonly<Record<BreakerName, ReleasedBy>> = {
  'daily-loss': 'next-day',
  drawdown: 'operator',
  rejects: 'operator',
  'payload-mismatch': 'operator',
  unknowns: 'itself',
  'stale-data': 'itself',
  unexplained: 'itself',
  subaccount: 'itself',
}

/** A breaker whose cause holds now. */
export type Trip = Pick<TradingHalt, 'scope' | 'state' | 'reason' | 'releasedBy'> & {
  readonly cause: BreakerName
}

/** Every breaker whose cause holds now. */
export function tripsOf(facts: BreakerFacts, settings: BreakerSettings): readonly Trip[] {
  const trips: Trip[] = []
  const trip = (cause: BreakerName, reason: string, scope: TradingScope = 'account'): void => {
    trips.push({
      scope,
      cause,
      state: settings.sets[cause] ?? 'reducing',
      reason,
      releasedBy: releaseOf[cause],
    })
  }
  const { equity, realizedUsd = 0n, receivedUsd = 0n } = facts
  // Yesterday's figure says nothing about today.
  const isToday = equity !== undefined && isOfToday(equity, facts.nowMs)
  const fallen: DayLoss[] = isToday ? [fallOf(equity, receivedUsd)] : []
  // Hosts' data may hide a loss: settlements are from the journal, and from the chain where it is read.
  const lost: DayLoss = { how: 'orders of the account realized a loss of', lostUsd: -realizedUsd }
  const ofUsd = isToday ? fundsOf(equity) : undefined
  const realized = ofUsd === undefined ? lost : { ...lost, shareLostUsd: -realizedUsd, ofUsd }
  const over = [...fallen, realized].filter((each) => isOverDay(each, settings))
  const [worst] = over.toSorted((one, other) => (one.lostUsd >= other.lostUsd ? -1 : 1))
  if (worst !== undefined) {
    const { how, lostUsd, shareLostUsd = lostUsd } = worst
    const shownUsd = hasLost(lostUsd, undefined, settings) ? lostUsd : shareLostUsd
    trip(
      'daily-loss',
      `${how} ${formatDollars(shownUsd)} since 00:00 UTC; the limit is ${lossLimit(worst.ofUsd, settings)}`,
    )
  }
  if (equity !== undefined) {
    const { equityUsd, peakUsd } = equity
    const { maxDrawdownBps } = settings
    // Multiplied out, so that no rounding lets a loss through.
    const fallenUsd = peakUsd - equityUsd
    if (
      maxDrawdownBps !== undefined &&
      fallenUsd > 0n &&
      fallenUsd * BigInt(BPS_ONE) >= peakUsd * BigInt(maxDrawdownBps)
    ) {
      trip(
        'drawdown',
        `the equity of ${formatDollars(equityUsd)} is ${formatDollars(fallenUsd)} below its peak of ${formatDollars(peakUsd)}; the limit is ${formatDollars(bps(peakUsd, maxDrawdownBps))}`,
      )
    }
  }
  rejects(facts, settings, trip)
  const { payloadMismatchesPerDay, unknownAgeMs, staleMs, openDiscrepancies } = settings
  const mismatches = since(facts, 'account', 'payload-mismatch').filter(({ cause }) =>
    payloadMismatchCause.test(cause),
  ).length
  if (payloadMismatchesPerDay !== undefined && mismatches >= payloadMismatchesPerDay) {
    trip(
      'payload-mismatch',
      `${mismatches} payload mismatches in 24 h; the limit is ${payloadMismatchesPerDay}`,
    )
  }
  if (unknownAgeMs !== undefined && facts.oldestUnresolvedMs >= unknownAgeMs) {
    trip(
      'unknowns',
      `the fate of an order has been unknown for ${seconds(facts.oldestUnresolvedMs)}; the limit is ${seconds(unknownAgeMs)}`,
    )
  }
  if (staleMs !== undefined && facts.accountAgeMs >= staleMs) {
    trip(
      'stale-data',
      `the account could not be read for ${seconds(facts.accountAgeMs)}; the limit is ${seconds(staleMs)}`,
    )
  }
  if (openDiscrepancies !== undefined && facts.openDiscrepancies >= openDiscrepancies) {
    trip(
      'unexplained',
      `the account has ${facts.openDiscrepancies} open discrepancies (perpd discrepancies); the limit is ${openDiscrepancies}`,
    )
  }
  if (facts.subaccount !== undefined) subaccount(facts.subaccount, facts.nowMs, settings, trip)
  return trips
}

/** A loss of the day, by one of its sources. USD. */
interface DayLoss {
  readonly how: string
  readonly lostUsd: Usd
  /** The same loss as it counts for a share, and the base of the share; absent: no share is known. */
  readonly shareLostUsd?: Usd
  readonly ofUsd?: Usd
}

/** Returns the account's loss by its lists, less receipts outside them: in USD without transfers, and as a share that no transfer changes. */
function fallOf({ dayStartUsd, dayShareOfUsd, equityUsd }: EquityMark, receivedUsd: Usd): DayLoss {
  const ofUsd = dayShareOfUsd ?? dayStartUsd
  const worthUsd = equityUsd + receivedUsd
  return { how: 'the account lost', lostUsd: dayStartUsd - worthUsd, shareLostUsd: ofUsd - worthUsd, ofUsd }
}

/**
 * Returns the time from which funding received counts in addition to the equity of the day, Unix ms: since its first figure, and an accepted loss.
 */
export function receivedFromMs(
  equity: { readonly dayFirstAtMs?: number } | undefined,
  releasedAtMs: number | undefined,
): number {
  // A mark that does not say when it began counts nothing.
  return Math.max(equity?.dayFirstAtMs ?? Number.POSITIVE_INFINITY, releasedAtMs ?? Number.NEGATIVE_INFINITY)
}

/** Returns the funds that the account could lose that day: a withdrawal does not raise the share of a realized loss. */
function fundsOf(equity: EquityMark | undefined): Usd | undefined {
  if (equity === undefined) return undefined
  const { dayStartUsd, dayTransfersUsd = 0n } = equity
  return maxOf(dayStartUsd, dayStartUsd - dayTransfersUsd)
}

function isOverDay({ lostUsd, shareLostUsd, ofUsd }: DayLoss, settings: BreakerSettings): boolean {
  const { maxDailyLossUsd, maxDailyLossEquityBps } = settings
  if (maxDailyLossUsd !== undefined && hasLost(lostUsd, undefined, { maxDailyLossUsd })) return true
  return (
    maxDailyLossEquityBps !== undefined &&
    shareLostUsd !== undefined &&
    hasLost(shareLostUsd, ofUsd, { maxDailyLossEquityBps })
  )
}

function subaccount(
  { isActive, isApprovalWaiting, remainingActions, neededActions, expiresAtSeconds }: SubaccountReport,
  nowMs: number,
  { reserveActions = 0, reserveSeconds = 0 }: BreakerSettings,
  trip: (cause: BreakerName, reason: string) => void,
): void {
  const secondsLeft = expiresAtSeconds - Math.floor(nowMs / 1000)
  const renew = 'renew it: perpd subaccount approve'
  if (!isActive && !isApprovalWaiting) {
    trip('subaccount', `the delegated key is not approved, so its messages cannot land; ${renew}`)
  } else if (remainingActions <= reserveActions + neededActions) {
    trip(
      'subaccount',
      `the approval has ${remainingActions} actions left; closing everything needs ${neededActions}, and the reserve is ${reserveActions}; ${renew}`,
    )
  } else if (secondsLeft <= reserveSeconds) {
    trip(
      'subaccount',
      `the approval ends in ${Math.max(0, secondsLeft)} s; the reserve is ${reserveSeconds} s; ${renew}`,
    )
  }
}

/** Limits of a day's loss. */
export type LossLimits = { readonly maxDailyLossUsd?: Usd; readonly maxDailyLossEquityBps?: number }

/** The account's limits of a day's loss, which its breaker keeps. */
export function lossLimitsOf({ maxDailyLossUsd, maxDailyLossEquityBps }: Limits): LossLimits {
  return {
    ...defined({ maxDailyLossUsd, maxDailyLossEquityBps }),
  }
}

/** Tells whether a loss has reached a limit; `equityUsd` is the base of its share, and without it no share is reached. */
export function hasLost(
  lostUsd: Usd,
  equityUsd: Usd | undefined,
  { maxDailyLossUsd, maxDailyLossEquityBps }: LossLimits,
): boolean {
  if (maxDailyLossUsd !== undefined && lostUsd >= maxDailyLossUsd) return true
  if (maxDailyLossEquityBps === undefined || equityUsd === undefined || lostUsd <= 0n) return false
  // Multiplied out, so that no rounding lets a loss through.
  return lostUsd * BigInt(BPS_ONE) >= equityUsd * BigInt(maxDailyLossEquityBps)
}

/** The lower of the limits of a loss, for people. */
export function lossLimit(
  equityUsd: Usd | undefined,
  { maxDailyLossUsd, maxDailyLossEquityBps }: LossLimits,
): string {
  const share =
    maxDailyLossEquityBps === undefined || equityUsd === undefined
      ? undefined
      : bps(maxOf(0n, equityUsd), maxDailyLossEquityBps)
  if (maxDailyLossUsd === undefined || (share !== undefined && share < maxDailyLossUsd))
    return formatDollars(share ?? 0n)
  return formatDollars(maxDailyLossUsd)
}

/**
 * Tells whether a breaker's halt ends by itself now. `trips` are the present ones.
 *
 * @param sinceMs start of the halt, by a clock that may have been set back since
 */
export function isOver(
  halt: TradingHalt,
  trips: readonly Trip[],
  nowMs: number,
  sinceMs = halt.sinceMs,
): boolean {
  switch (halt.releasedBy) {
    case 'operator':
      return false
    case 'next-day':
      return dayStartOf(nowMs) > sinceMs
    case 'itself':
      return !trips.some((trip) => haltKey(trip) === haltKey(halt))
  }
}

/**
 * Judges whether a mark is of the day of an instant. One of a day that is to come was made by a clock that was ahead: it counts today all the same, and
 * nothing that was lost is forgotten.
 */
export function isOfToday({ dayStartMs }: { readonly dayStartMs: number }, nowMs: number): boolean {
  return dayStartMs >= dayStartOf(nowMs)
}

/**
 * The time for which a day that is to come counts before it ends with today, ms: a clock that was a day ahead and is right now. One that is hours off may be the
 * wrong one, and its midnight ends nothing.
 */
export const AHEAD_FOR_MS = 43_200_000

/** 00:00 UTC of the day that an instant is in, Unix ms. */
export function dayStartOf(nowMs: number): number {
  return Math.floor(nowMs / 86_400_000) * 86_400_000
}

const payloadMismatchCause = /\bTYPED_DATA_MISMATCH$/
/**
 * Ends that a strategy or an operator requested, or that say nothing about the order. A value that changed by itself between the decision and the
 * signature is nobody's fault, however often it does.
 */
export const requestedCause =
  /\b(USER_INITIATED_CANCEL|AUTO_CANCEL|RESOLVED_BY_OPERATOR|TRADING_HALTED|CHAIN_CLOCK_SKEW|PRICE_OUT_OF_BOUNDS|PRICE_CONTESTED|FEE_ABOVE_LIMIT|POSITION_MOVED|OFFER_EXPIRED)$/

function since(facts: BreakerFacts, scope: TradingScope, cause: BreakerName) {
  const key = haltKey({ scope, cause })
  const fromMs = facts.releasedAtMs[key] ?? 0
  const fromSeq = facts.liftedAtSeq?.[key]
  return facts.endings.filter(({ closedAtMs, seq }) =>
    fromSeq === undefined || seq === undefined ? closedAtMs > fromMs : seq > fromSeq,
  )
}

function rejects(
  facts: BreakerFacts,
  { rejectsInRow }: BreakerSettings,
  trip: (cause: BreakerName, reason: string, scope: TradingScope) => void,
): void {
  if (rejectsInRow === undefined) return
  for (const name of new Set(facts.endings.map(({ strategy }) => strategy))) {
    const scope = strategyScope(name)
    const own = since(facts, scope, 'rejects').filter(
      (ending) =>
        ending.strategy === name && !requestedCause.test(ending.cause) && !isWithheldReduction(ending),
    )
    const run = own.slice(own.findLastIndex(isWanted) + 1)
    if (run.length < rejectsInRow) continue
    trip(
      'rejects',
      `the last ${run.length} orders had no effect, the newest because of ${run.at(-1)?.cause}; the limit is ${rejectsInRow} in a row`,
      scope,
    )
  }
}

function seconds(ms: number): string {
  return `${Math.round(ms / 1000)} s`
}
