/**
 * Winds down a strategy whose file was removed. It cancels orders that may still add, closes its own part of positions if its file said so, and
 * cancels exits that have nothing left to close. Until then its exits stay: they protect the position. Pure.
 */
import {
  type MarketSide,
  type PositionSide,
  sideKeyOf,
  sideOfIntent,
} from '../domain/accountRecords/accountRecord.ts'
import { addsRisk, type Decision } from '../domain/order/decision.ts'
import { hasEnded, type IntentState, lastAttempt } from '../domain/order/intent.ts'
import { isExit } from '../domain/order/orderLegs.ts'
import type { Snapshot } from '../domain/snapshot.ts'
import type { Tasks } from '../domain/taskStates/taskRecord.ts'
import { hexKey } from '../protocol/address.ts'
import { isOnMarket, type Order } from '../protocol/position.ts'
import type { Usd } from '../protocol/units.ts'
import { runningTasks } from './taskFacts.ts'
import { type Child, childKeyOf, type ProcessKind } from './taskKind.ts'

/** Goal of a wind-down. */
export interface WindDownParams {
  /** Name of the instance. */
  readonly strategy: string
  /** True if its own part of positions is closed; else its exits end it. */
  readonly close: boolean
}

/** Progress of a wind-down. */
export interface WindDownProgress {
  /** The newest decision that it made, from 1; 0 before the first. */
  readonly made: number
}

/** A strategy that is being wound down. It ends as `done`, or as `taken-over` when a file of its name runs again. */
export interface WindDownState extends WindDownParams {
  readonly taskId: string
  readonly by: string
  /** Unix ms. */
  readonly sinceMs: number
}

/** Part of a side in the strategy's own book. */
export interface OwnPart {
  readonly side: PositionSide
  readonly sizeUsd: Usd
}

/** View of the task. */
export interface WindDownView {
  /** The strategy's open intents. */
  readonly own: readonly IntentState[]
  /** Parts of positions in its books. */
  readonly parts: readonly OwnPart[]
  /** Snapshot of the markets of these, once it was requested. */
  readonly snapshot?: Snapshot
  /** Tells whether the decision with this key was accepted. */
  readonly isMade: (decisionKey: string) => boolean
}

/** Most orders that one message cancels. */
const cancelMost = 20
/** Contract `OrderType`: market orders decide themselves within seconds; these two rest and reduce. */
const marketTypes: ReadonlySet<number> = new Set([0, 2, 4])
const exitTypes: ReadonlySet<number> = new Set([5, 6])

/** The kind of these tasks. */
export const windDownTask: ProcessKind<WindDownParams, WindDownProgress, WindDownView> = {
  name: 'wind-down',
  version: 1,
  begins: { made: 0 },
  notYet: new Set(['REDUCE_IN_FLIGHT', 'ORDER_CHANGING', 'BEYOND_BOOK', 'STOPPING']),
  next({ taskId, params, state }, view) {
    const { own, parts, snapshot } = view
    if (own.length + parts.length === 0) {
      const statement = params.close
        ? 'it has no resting order and no position'
        : 'its last order and its part have ended'
      return { kind: 'done', outcome: 'done', statement }
    }
    if (snapshot === undefined)
      return { kind: 'read', symbols: [...new Set(own.map(({ intent }) => intent.terms.symbol))] }
    let { made } = state
    while (view.isMade(childKeyOf(taskId, made + 1))) made += 1
    const before = { made }
    const decisions = [...cancels(params, view, snapshot), ...closes(params, view, snapshot)]
    return {
      kind: 'go-on',
      state: before,
      decisions: decisions.map((decision): Child<WindDownProgress> => {
        made += 1
        return { decisionKey: childKeyOf(taskId, made), decision, state: { made } }
      }),
    }
  },
}

/** Those that are not over, oldest first. */
export function windDownsOf(tasks: Tasks | undefined): readonly WindDownState[] {
  return runningTasks(windDownTask, tasks).map(({ taskId, params, by, sinceMs }) => ({
    ...params,
    ...{ taskId, by, sinceMs },
  }))
}

function cancels(
  { strategy }: WindDownParams,
  { own, parts }: WindDownView,
  { orders }: Snapshot,
): readonly Decision[] {
  const keys = new Set(
    own
      .flatMap((state) => lastAttempt(state)?.children ?? [])
      .filter((child) => !hasEnded(child))
      .map(({ orderKey }) => hexKey(orderKey)),
  )
  const changing = new Set(own.flatMap(({ intent }) => intent.terms.cancelOrderKeys ?? []).map(hexKey))
  const resting = orders.value.filter(
    ({ orderKey, orderType }) =>
      keys.has(hexKey(orderKey)) && !changing.has(hexKey(orderKey)) && !marketTypes.has(orderType),
  )
  // An exit protects as long as something is held on its side, or may still come.
  const busy = new Set([
    ...parts.map(({ side }) => sideOf(side)),
    ...own.filter((state) => mayAdd(state)).map(({ intent }) => sideOf(intent.terms)),
  ])
  const unwanted = resting.filter((order) => !exitTypes.has(order.orderType) || !busy.has(sideOf(order)))
  return [...Map.groupBy(unwanted, sideOf).values()].flatMap((side) => cancelsOf(side, strategy, own))
}

function cancelsOf(
  side: readonly Order[],
  strategy: string,
  own: readonly IntentState[],
): readonly Decision[] {
  const [first] = side
  if (first === undefined) return []
  // A swap is on no market: that of its intent stands for it.
  const { marketToken } = isOnMarket(first) ? first : (own[0]?.intent.terms ?? first)
  return Array.from({ length: Math.ceil(side.length / cancelMost) }, (_, page) => ({
    kind: 'cancel',
    marketToken,
    direction: first.direction,
    orderKeys: side.slice(page * cancelMost, (page + 1) * cancelMost).map(({ orderKey }) => orderKey),
    reason: `the file of ${strategy} was removed, so its entries are cancelled`,
  }))
}

function closes(
  { strategy, close }: WindDownParams,
  { own, parts }: WindDownView,
  { positions }: Snapshot,
): readonly Decision[] {
  if (!close) return []
  const listed = new Set(positions.value.filter(({ sizeInUsd }) => sizeInUsd > 0n).map(sideKeyOf))
  return parts
    .filter(({ side }) => listed.has(sideKeyOf(side)) && !own.some((state) => isClosing(state, side)))
    .map(({ side: { marketToken, direction, collateralToken } }) => ({
      kind: 'close',
      marketToken,
      direction,
      collateralToken,
      reason: `the file of ${strategy} was removed and says onRemove: close`,
    }))
}

/** Tells whether an order of it that reduces this side is in flight; a resting one waits for its price. */
function isClosing({ intent }: IntentState, side: PositionSide): boolean {
  const { kind, terms } = intent
  return (
    (kind === 'close' || kind === 'decrease') &&
    (terms.orderType === 'market' || terms.orderType === 'twap') &&
    sideKeyOf(sideOfIntent(intent)) === sideKeyOf(side)
  )
}

/** Tells whether the intent may still add exposure: it was not sent, its fate is open, or its entry rests. */
function mayAdd(state: IntentState): boolean {
  if (!addsRisk(state.intent.decision)) return false
  const children = lastAttempt(state)?.children ?? []
  const entries = children.filter((child) => !isExit(child))
  return entries.length === 0 || entries.some((child) => !hasEnded(child))
}

function sideOf({ marketToken, direction }: MarketSide): string {
  return `${hexKey(marketToken)}:${direction}`
}
