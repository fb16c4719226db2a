/**
 * Budgets: how often the same cause may end the same decision, and the cost of a day. A dead or cancelled order is never sent again by itself; a
 * retry is a new decision of its strategy. This check keeps retries from repeating for ever (a close retried 436 times in 17 hours is one of the
 * incidents that perpd must not repeat).
 */

import { type Ending, isWanted, isWithheldReduction } from '../../domain/accountRecords/spend.ts'
import type { Limits } from '../../domain/limits/limits.ts'
import { addsRisk, type Decision } from '../../domain/order/decision.ts'
import type { Denial, IntentKind } from '../../domain/order/intent.ts'
import { sameHex } from '../../protocol/address.ts'
import { formatDollars, formatUnits, USD_DECIMALS, type Usd } from '../../protocol/units.ts'

/** Fees of a day. */
export type FeeLimits = Pick<Limits, 'executionFeesPerDay' | 'relayFeesPerDayUsd'>

/** Limits of a day. Absent: no limit. */
export interface Budget {
  /** Endings by one cause, of one strategy on one side of one market, in any 24 hours. */
  readonly attemptsPerCause?: number
  /** Interval of tries past the budget for decisions that cannot add risk, ms: a position must never be given up. An hour when absent. */
  readonly retryPastMs?: number
  /** Fee limits for the strategy's own endings. */
  readonly strategy?: FeeLimits
  /** Fee limits for all endings on the market. */
  readonly market?: FeeLimits
  /** Fee limits for all endings. */
  readonly account?: FeeLimits
}

/** Interval between tries past the budget, ms: for a strategy, */
const RETRY_PAST_BUDGET_MS = 3_600_000
/** and for an operator: closing everything does not wait an hour for a venue that is back after a minute. */
export const OPERATOR_RETRY_MS = 60_000

/** Decimals in which amounts of the two fees are written. */
export interface FeeUnits {
  readonly nativeDecimals: number
  readonly feeTokenDecimals: number
}

/**
 * Refuses with RETRY_BUDGET when the same cause ended the same decision too often in the last day. Refuses with FEES_PER_DAY when the day's fees are
 * spent. `endings` are those of the last 24 hours, of all strategies, with the fees that open intents have paid or may have paid.
 */
export function checkBudget(
  decision: Decision,
  strategy: string,
  endings: readonly Ending[],
  budget: Budget,
  units: FeeUnits,
  nowMs: number,
): Denial | undefined {
  return (
    checkCauses(decision, strategy, endings, budget, nowMs) ??
    checkFees(decision, strategy, endings, budget, units)
  )
}

function checkCauses(
  decision: Decision,
  strategy: string,
  endings: readonly Ending[],
  { attemptsPerCause, retryPastMs = RETRY_PAST_BUDGET_MS }: Budget,
  nowMs: number,
): Denial | undefined {
  if (attemptsPerCause === undefined || !('marketToken' in decision)) return undefined
  const direction = 'direction' in decision ? decision.direction : undefined
  const isSame = (ending: Ending) =>
    ending.strategy === strategy &&
    ending.kind === decision.kind &&
    (direction === undefined || ending.direction === direction) &&
    sameHex(ending.marketToken, decision.marketToken)
  for (const [cause, { count, lastMs }] of causesOf(endings.filter(isSame), nowMs)) {
    if (count < attemptsPerCause) continue
    if (!addsRisk(decision) && nowMs - lastMs >= retryPastMs) continue
    return {
      code: 'RETRY_BUDGET',
      reason: addsRisk(decision)
        ? `the same cause (${cause}) ended the same order too often; perpd retries after a day, or once such an order succeeds`
        : `the same cause (${cause}) ended the same order too often; perpd now retries every ${retryPastMs / 60_000} min`,
      wanted: `try ${count + 1} in 24 h`,
      allowed: `${attemptsPerCause} by one cause`,
    }
  }
  return undefined
}

/** Counts how often each cause ended the same decision since one succeeded, with the latest time, Unix ms. */
function causesOf(
  endings: readonly Ending[],
  nowMs: number,
): ReadonlyMap<string, { readonly count: number; readonly lastMs: number }> {
  const counts = new Map<string, { count: number; lastMs: number }>()
  for (const ending of endings) {
    if (ending.isOpen) continue
    // A success in between shows that the cause is gone.
    if (isWanted(ending)) {
      counts.clear()
      continue
    }
    if (isNobodysFault(ending.cause) || ownCancel.test(ending.cause) || isWithheldReduction(ending)) continue
    const before = counts.get(ending.cause)
    // After the clock was set back an end may lie ahead of now: it does not lengthen the wait.
    const endedMs = ending.closedAtMs <= nowMs ? ending.closedAtMs : 0
    counts.set(ending.cause, {
      count: (before?.count ?? 0) + 1,
      lastMs: Math.max(before?.lastMs ?? 0, endedMs),
    })
  }
  return counts
}

/** Used part of a day's budgets. */
export interface UsedBudget {
  /** Native token, base units. */
  readonly executionFee: bigint
  readonly relayFeesUsd: Usd
  /** Fees of reductions, as `checkReductionFees` counts them. */
  readonly reductionFeesUsd: Usd
  /** The most that one cause ended one decision since that worked. */
  readonly tries: number
}

/** Returns the part of the budgets that these endings of the last 24 hours used, open ones included. */
export function usedBudget(endings: readonly Ending[], feeTokenDecimals: number): UsedBudget {
  const decisions = Map.groupBy(
    endings,
    ({ strategy, kind, marketToken, direction }) =>
      `${strategy} ${kind} ${marketToken.toLowerCase()} ${direction}`,
  )
  const tries = [...decisions.values()].flatMap((same) =>
    [...causesOf(same, 0).values()].map(({ count }) => count),
  )
  const relayOf = (some: readonly Ending[]) =>
    usdOfRelay(
      some.reduce((sum, { relayFee }) => sum + relayFee, 0n),
      feeTokenDecimals,
    )
  return {
    executionFee: endings.reduce((sum, { executionFee }) => sum + executionFee, 0n),
    relayFeesUsd: relayOf(endings),
    reductionFeesUsd: relayOf(endings.filter(({ kind }) => reducingKinds.has(kind))),
    tries: Math.max(0, ...tries),
  }
}

/** Whoever cancels an order of the account ended it on purpose: trying again hits nothing. */
const ownCancel = /\bUSER_INITIATED_CANCEL$/

const movedCause = /\b(PRICE_OUT_OF_BOUNDS|PRICE_CONTESTED|POSITION_MOVED|OFFER_EXPIRED|FEE_ABOVE_LIMIT)$/

/**
 * Tells whether the cause changes by itself and nothing was signed: prices, fees, positions, offers. `checkPause` waits for it. Minutes of a fast
 * market or a gas spike must not lock in a position for an hour. Nor must they stop a strategy from trading for a day.
 */
function isNobodysFault(cause: string): boolean {
  return movedCause.test(cause)
}

function checkFees(
  decision: Decision,
  strategy: string,
  endings: readonly Ending[],
  budget: Budget,
  { nativeDecimals, feeTokenDecimals }: FeeUnits,
): Denial | undefined {
  // Fees never keep a position open: a decision that cannot add risk may always be paid for.
  if (!addsRisk(decision)) return undefined
  const scopes: readonly (readonly [string, FeeLimits | undefined, (ending: Ending) => boolean])[] = [
    ['of this strategy', budget.strategy, (ending) => ending.strategy === strategy],
    ['on this market', budget.market, (ending) => sameHex(ending.marketToken, decision.marketToken)],
    ['of the account', budget.account, () => true],
  ]
  for (const [whose, limits, isMeant] of scopes) {
    const { executionFeesPerDay, relayFeesPerDayUsd } = limits ?? {}
    if (executionFeesPerDay === undefined && relayFeesPerDayUsd === undefined) continue
    const own = endings.filter(isMeant)
    const execution =
      executionFeesPerDay === undefined ? 0n : own.reduce((sum, { executionFee }) => sum + executionFee, 0n)
    if (executionFeesPerDay !== undefined && execution >= executionFeesPerDay) {
      const text = (fee: bigint): string => `${formatUnits(fee, nativeDecimals)} of the native token`
      return feesDenial(`execution fees ${whose}`, text(execution), text(executionFeesPerDay))
    }
    if (relayFeesPerDayUsd === undefined) continue
    const relayUsd = usdOfRelay(
      own.reduce((sum, { relayFee }) => sum + relayFee, 0n),
      feeTokenDecimals,
    )
    if (relayUsd >= relayFeesPerDayUsd) {
      return feesDenial(`relay fees ${whose}`, formatDollars(relayUsd), formatDollars(relayFeesPerDayUsd))
    }
  }
  return undefined
}

/** Kinds by which a strategy reduces risk, or changes resting orders. */
const reducingKinds: ReadonlySet<IntentKind> = new Set([
  'decrease',
  'close',
  'collateral-in',
  'cancel',
  'edit',
])

/** Budget of strategies for reductions. */
export interface ReductionBudget {
  /** Whole fees as they were signed, of all strategies in 24 hours, USD. */
  readonly perDayUsd: Usd
  /** The most that one order may cost, USD. */
  readonly mostEachUsd: Usd
  /** Orders of this decision, and of strategies' reductions that were accepted and are not signed yet. */
  readonly orders: number
  readonly waiting: number
}

/**
 * REDUCTION_FEES_PER_DAY: strategies spent the day's fees of reductions. What was accepted and is not signed counts as the most
 * that it may cost. `endings`: of strategies alone, open ones included; an operator's way out has no such budget.
 */
export function checkReductionFees(
  decision: Decision,
  endings: readonly Ending[],
  { perDayUsd, mostEachUsd, orders, waiting }: ReductionBudget,
  feeTokenDecimals: number,
): Denial | undefined {
  const isMeant = ({ kind }: Ending) =>
    reducingKinds.has(kind) || (decision.kind === 'batch' && kind === 'batch')
  const spentUsd = usdOfRelay(
    endings.filter(isMeant).reduce((sum, { relayFee }) => sum + relayFee, 0n),
    feeTokenDecimals,
  )
  const heldUsd = spentUsd + BigInt(waiting) * mostEachUsd
  // One at a time may always go while anything is left.
  const isAlone = waiting === 0 && orders === 1
  if (spentUsd < perDayUsd && (isAlone || heldUsd + BigInt(orders) * mostEachUsd <= perDayUsd))
    return undefined
  return {
    code: 'REDUCTION_FEES_PER_DAY',
    reason:
      spentUsd < perDayUsd
        ? 'reductions in flight may use the whole fee budget of the day; this one waits until they are signed'
        : "the fees of strategies' reductions in the last 24 hours have reached their budget; an operator can still close (perpd kill, perpd orders unwind) or raise risk.reductionFeesPerDayUsd",
    wanted: `${formatDollars(heldUsd)} spent or in flight`,
    allowed: `${formatDollars(perDayUsd)} in 24 h`,
  }
}

/** The fee token is a dollar coin: one unit counts as one USD. */
function usdOfRelay(amount: bigint, feeTokenDecimals: number): Usd {
  return amount * 10n ** BigInt(USD_DECIMALS - feeTokenDecimals)
}

function feesDenial(name: string, spent: string, most: string): Denial {
  return {
    code: 'FEES_PER_DAY',
    reason: `the ${name} in the last 24 hours have reached their budget; increases wait`,
    wanted: `${spent} spent`,
    allowed: `${most} in 24 h`,
  }
}
