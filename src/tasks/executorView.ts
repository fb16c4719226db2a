/** View of tasks that make orders over time, and the results of their orders by the orders' own records. Pure. */
import { defined } from '../base/defined.ts'
import type { PositionSide } from '../domain/accountRecords/accountRecord.ts'
import { type FilledOrder, filledOrders } from '../domain/accountRecords/fills.ts'
import type { Decision } from '../domain/order/decision.ts'
import {
  type Child,
  type ChildRole,
  type Denial,
  hasEnded,
  type Intent,
  type IntentState,
  isProvisional,
  isUnresolved,
  labelOf,
  lastAttempt,
} from '../domain/order/intent.ts'
import type { Snapshot } from '../domain/snapshot.ts'
import type { Address, Hex } from '../protocol/address.ts'
import type { Direction } from '../protocol/market.ts'
import { absOf, maxOf, mulDiv, mulDivUp, ONE_USD, USD_DECIMALS, type Usd } from '../protocol/units.ts'

/** The highest fee of a change of a position that the venue has, hundredths of a basis point of its size. */
const HIGHEST_FEE_BPS100 = 1_000n
const BPS100_ONE = 1_000_000n

/** Returns the time with which a task's own end is compared, Unix ms: it runs on where the clock was set back. */
export function ownTimeMs({ nowMs, setBackMs = 0 }: ExecutorView): number {
  return nowMs + setBackMs
}

/** View of such a task. */
export interface ExecutorView {
  /** Unix ms. */
  readonly nowMs: number
  /** The sum of the clock's steps back since it began, ms; absent: it was not. */
  readonly setBackMs?: number
  /** Time that the clock has run without a step, as far as this process knows, ms; absent: always. */
  readonly straightMs?: number
  /** Snapshot of its market, once it was requested. */
  readonly snapshot?: Snapshot
  /** Its orders, in the order in which it made them. */
  readonly children: readonly IntentState[]
  /** Tells whether the decision with this key was accepted. */
  readonly isMade: (decisionKey: string) => boolean
  /** The reason why no orders that add may be made, one clause; absent: none. */
  readonly halt?: string
  /** The reason why no orders that reduce may be made; absent: none. */
  readonly reducingHalt?: string
  /** Admission's answer to its newest try, while it is too early for another; absent: it may try. */
  readonly paused?: string
  /** The most that sending one order may cost under the signing policy, USD. */
  readonly mostSendingUsd: Usd
  readonly feeTokenDecimals: number
  /** Returns the size that may be added on a side of a market by fresh capacity, USD, or the reason why it is unknown. */
  readonly capacity: (snapshot: Snapshot, marketToken: Address, direction: Direction) => Usd | Denial
  /** Returns the parts of a side by the books: the owner's, and that of others, USD. */
  readonly booked: (side: PositionSide) => Booked
  /** The owner's part of a side by its book, USD; absent: it acts on whole positions. */
  readonly ownUsd?: (side: PositionSide) => Usd
  /** The rule of its owner's file by which an order was taken back that rested, as far as that is known; absent: it has none. */
  readonly takenBackBy?: (orderKey: Hex) => string | undefined
  /** Returns the denial that admission would give to a decision now; undefined: it would accept it. */
  readonly denialOf: (snapshot: Snapshot, decision: Decision) => Denial | undefined
}

/** Owners of a side by the books, USD. */
export interface Booked {
  readonly ownUsd: Usd
  /** Size in books of other strategies; the unattributed part is in neither. */
  readonly othersUsd: Usd
  /** Part of the owner's book that its older tasks claim for their exits, USD; absent: none. */
  readonly claimedUsd?: Usd
}

/** An order of a task that waits at the venue. */
export interface RestingChild {
  readonly orderKey: Hex
  /** True if it is an exit of the task's own position. */
  readonly isExit: boolean
  readonly state: IntentState
  readonly child: Child
}

/** Results of a task's orders. */
export interface ExecutorUse {
  /** Filled part of the task's size, USD. */
  readonly doneUsd: Usd
  /** Closed by exits of the task's position, USD. */
  readonly exitedUsd: Usd
  /** Size that orders in flight may still fill, those of unknown fate included, USD. */
  readonly openUsd: Usd
  /** Orders at the venue, or in flight, without exits and their changes: its budget counts these. */
  readonly orders: number
  /** Cost of these, USD: paid, and the most that orders in flight may cost. */
  readonly feesUsd: Usd
  /** Exits of its position, and changes of them: no budget holds them back. */
  readonly exitOrders: number
  /** Cost of messages for these, and fees of their fills, as `feesUsd`. Exits that came with an entry are in its message. */
  readonly exitFeesUsd: Usd
  /** Its orders that wait at the venue for their trigger or time. */
  readonly resting: readonly RestingChild[]
  /** Its messages whose end is not proven, cancels too. */
  readonly inFlight: number
  /** Those of them that do more than wait for their trigger or time. */
  readonly moving: number
  /** Those of them whose fate is unknown. */
  readonly unknown: number
  /** Time when its newest cancel was accepted, Unix ms. */
  readonly cancelledAtMs?: number
}

/** Returns the results of a task's orders. `opens`: it opens a position, and its reductions are its exits. */
export function useOf(
  {
    children,
    mostSendingUsd,
    feeTokenDecimals,
  }: Pick<ExecutorView, 'children' | 'mostSendingUsd' | 'feeTokenDecimals'>,
  opens = false,
): ExecutorUse {
  const cancels = children.filter(({ intent }) => intent.kind === 'cancel')
  const messages = children.filter(({ intent }) => intent.kind !== 'cancel')
  const isExit = ({ intent }: IntentState) => opens && intent.kind !== 'increase'
  const sums = messages.map((state) => ({ state, ...sizesOf(state, isExit(state)) }))
  const cancelledAtMs = cancels.at(-1)?.intent.acceptedAtMs
  const open = children.filter((state) => state.closing === undefined && !isLeftToFile(state))
  const [entries, exits] = [
    sums.filter(({ state }) => !isExit(state)),
    sums.filter(({ state }) => isExit(state)),
  ]
  const feesOf = (of: typeof sums): Usd =>
    of.reduce(
      (sum, { state, openUsd }) =>
        sum + sendingOf(state, mostSendingUsd, feeTokenDecimals) + paidOf(state) + mostFeeUsd(openUsd),
      0n,
    )
  return {
    doneUsd: sums.reduce((sum, { doneUsd }) => sum + doneUsd, 0n),
    exitedUsd: sums.reduce((sum, { exitedUsd }) => sum + exitedUsd, 0n),
    openUsd: sums.reduce((sum, { openUsd }) => sum + openUsd, 0n),
    orders: entries.reduce((sum, { state }) => sum + partsOf(state) - exitsOf(state), 0),
    feesUsd: feesOf(entries),
    exitOrders: exits.length + entries.reduce((sum, { state }) => sum + exitsOf(state), 0),
    exitFeesUsd: feesOf(exits),
    resting: messages
      .filter(({ closing }) => closing === undefined)
      .flatMap((state) => (lastAttempt(state)?.children ?? []).map((child) => ({ state, child })))
      .filter(({ state, child }) => !hasEnded(child) && !isKeptByFile(state, child))
      .map(({ state, child }) => ({
        orderKey: child.orderKey,
        isExit: isExit(state) || (opens && isExitRole(child)),
        state,
        child,
      })),
    inFlight: open.length,
    moving: open.filter((state) => labelOf(state) !== 'resting').length,
    unknown: children.filter((state) => labelOf(state) === 'unknown').length,
    ...defined({ cancelledAtMs }),
  }
}

/** The price at which the increases of a task were filled, averaged by size in tokens, USD per whole index token; undefined before. */
export function entryPriceOf(children: readonly IntentState[]): Usd | undefined {
  let sizeUsd = 0n
  let tokens = 0n
  for (const state of children.filter(({ intent }) => intent.kind === 'increase')) {
    for (const { adds, sizeDeltaUsd, settlement } of filledOrders(state)) {
      const filledUsd = sizeDeltaUsd ?? state.intent.terms.sizeDeltaUsd
      const price = settlement?.executionPrice ?? state.intent.terms.referencePrice
      if (!adds || price <= 0n) continue
      sizeUsd += filledUsd
      tokens += mulDiv(filledUsd, ONE_USD, price)
    }
  }
  return tokens === 0n ? undefined : mulDiv(sizeUsd, ONE_USD, tokens)
}

/** Tells whether the message of an increase has ended without any fill. */
export function cameToNothing(state: IntentState): boolean {
  return state.closing !== undefined && filledOrders(state).every(({ adds }) => !adds)
}

/**
 * Tells whether the message of an increase never reached the venue, or failed there: it may be made anew. A cancelled one was somebody's decision.
 */
export function isLost(state: IntentState): boolean {
  return state.closing?.outcome !== 'CANCELLED' && cameToNothing(state)
}

/** The rule of its owner's file that took an entry back before anything of it filled; undefined: something else became of it. */
export function takenBackOf(state: IntentState, { takenBackBy }: ExecutorView): string | undefined {
  const { closing } = state
  if (closing?.outcome !== 'CANCELLED' || takenBackBy === undefined) return undefined
  const [entry] = lastAttempt(state)?.children ?? []
  return entry === undefined ? undefined : takenBackBy(entry.orderKey)
}

/** The most that the venue takes for the change of a position by this size, USD, rounded up. */
export function mostFeeUsd(sizeUsd: Usd): Usd {
  return mulDivUp(sizeUsd, HIGHEST_FEE_BPS100, BPS100_ONE)
}

interface Sizes {
  readonly doneUsd: Usd
  readonly exitedUsd: Usd
  readonly openUsd: Usd
}

function sizesOf(state: IntentState, isExit: boolean): Sizes {
  const { closing, intent } = state
  const { sizeDeltaUsd } = intent.terms
  // The size of an edit belongs to the order that it changes.
  if (intent.kind === 'edit') return { doneUsd: 0n, exitedUsd: 0n, openUsd: 0n }
  let doneUsd = 0n
  let exitedUsd = 0n
  for (const fill of filledOrders(state)) {
    if (isOfFile(state, fill)) continue
    // An operator's statement without a size counts as the largest possible fill.
    const filledUsd = absOf(fill.sizeDeltaUsd ?? sizeDeltaUsd / BigInt(intent.terms.twap?.parts ?? 1))
    if (isExit || (intent.kind === 'increase' && !fill.adds)) exitedUsd += filledUsd
    else doneUsd += filledUsd
  }
  const isOpen = closing === undefined && !isExit && !hasEntered(state)
  return { doneUsd, exitedUsd, openUsd: isOpen ? maxOf(0n, sizeDeltaUsd - doneUsd) : 0n }
}

/** Tells whether the order itself has ended, and only its exits are left. */
function hasEntered(state: IntentState): boolean {
  const children = lastAttempt(state)?.children ?? []
  const own = children.filter(({ role }) => role === 'main' || role === 'part')
  return own.length > 0 && own.length < children.length && own.every(hasEnded)
}

function isExitRole({ role }: { readonly role?: ChildRole }): boolean {
  return role === 'take-profit' || role === 'stop-loss'
}

/** Tells whether an order that came with an entry is an exit which the task did not request: it belongs to its owner's file, which manages it. */
function isOfFile({ intent: { kind, decision } }: IntentState, order: Child | FilledOrder): boolean {
  return kind === 'increase' && isExitRole(order) && !('tpsl' in decision && decision.tpsl !== undefined)
}

/** Tells whether it is such an exit whose entry has ended: before that, the two are cancelled together. */
function isKeptByFile(state: IntentState, child: Child): boolean {
  return isOfFile(state, child) && ownChildren(state).every(hasEnded)
}

/** Tells whether only exits of its owner's file are left of an order, whose end is finally proven. */
function isLeftToFile(state: IntentState): boolean {
  const own = ownChildren(state)
  return own.length > 0 && own.every((child) => hasEnded(child) && !isProvisional(child.evidence))
}

/** Returns the orders of a message that its task requested. */
function ownChildren(state: IntentState): readonly Child[] {
  return (lastAttempt(state)?.children ?? []).filter((child) => !isOfFile(state, child))
}

/** Orders at the venue of one message: exits come with the order that they close. */
function partsOf({ intent }: IntentState): number {
  return (intent.terms.twap?.parts ?? 1) + exitsOf({ intent })
}

/** Those of them that are exits. */
function exitsOf({ intent }: { readonly intent: Intent }): number {
  return intent.terms.tpsl?.length ?? 0
}

/** Returns the actual or possible cost of its message, USD. A message that never landed cost nothing. */
function sendingOf(state: IntentState, mostSendingUsd: Usd, feeTokenDecimals: number): Usd {
  const attempt = lastAttempt(state)
  const isPaid = attempt?.armed !== undefined && (attempt.phase === 'LANDED' || isUnresolved(attempt))
  if (isPaid) return (attempt?.armed?.relayFeeAmount ?? 0n) * 10n ** BigInt(USD_DECIMALS - feeTokenDecimals)
  return state.closing === undefined ? mostSendingUsd * BigInt(partsOf(state)) : 0n
}

/** Returns the venue's fees for its fills, USD, without the funding and the borrowing that they settled. */
function paidOf(state: IntentState): Usd {
  return filledOrders(state).reduce((sum, { settlement }) => {
    const { feesUsd = 0n, borrowingFeeUsd = 0n, fundingFeeUsd = 0n } = settlement ?? {}
    return sum + maxOf(0n, feesUsd - borrowingFeeUsd - maxOf(0n, fundingFeeUsd))
  }, 0n)
}
