/**
 * The keeper of exits. Whoever wants exits for a part of a position (a file, a task, a kind, the protector, an order by hand) writes an `ExitPlan`;
 * the keeper compares it with the exits that rest, and decides which are placed, moved, resized, cancelled or left. Nothing else decides that. A plan is
 * a wish: reports of unprotected positions read what rests, and never a plan. Pure.
 */

import { defined } from '../base/defined.ts'
import { type Hex, hexKey } from '../protocol/address.ts'
import type { Direction } from '../protocol/market.ts'
import { formatPrice } from '../protocol/priceText.ts'
import {
  absOf,
  BPS_ONE,
  bps,
  formatSize,
  formatUsd,
  maxOf,
  minOf,
  sharesOf,
  type Usd,
} from '../protocol/units.ts'
import type { MarketSide, PositionSide } from './accountRecords/accountRecord.ts'
import type { CancelDecision, Decision, DecisionFacts } from './order/decision.ts'

/** Type of an order that closes at a price. */
export type ExitType = 'stop-loss' | 'take-profit'

/** The stop has precedence. */
export const exitTypes: readonly ExitType[] = ['stop-loss', 'take-profit']

/** An exit of the plan's owner that rests. */
export interface RestingExit {
  readonly orderKey: Hex
  /** Orders of other types are no exits, and are ignored. */
  readonly orderType: string
  readonly sizeDeltaUsd: Usd
  /** USD per whole index token. */
  readonly triggerPrice?: Usd
  /** It failed at its trigger and was held back. */
  readonly isFrozen: boolean
  /** A change of it is in flight; absent: none is. */
  readonly isChanging?: boolean
}

/** Explanation of a decision: one sentence, and the numbers behind it. */
interface Why {
  readonly reason: string
  readonly facts?: DecisionFacts
}

/** A place where an exit belongs. */
export interface ExitLevel {
  /** USD per whole index token. */
  readonly triggerPrice: Usd
  /** Share of the part that it closes, bps; absent: all of it. */
  readonly shareBps?: number
  /** Returns the numbers behind its decision; absent: there are none. */
  readonly facts?: () => DecisionFacts
}

/** New place of an exit that rests. */
export interface ExitMove {
  readonly orderKey: Hex
  /** USD per whole index token. */
  readonly triggerPrice: Usd
  /** True if the move alone is no reason for a message: it comes with the next change of the size. */
  readonly isWithSize?: boolean
  readonly why?: () => Why
}

/** Wanted exits of one type. */
export interface PlannedExits {
  readonly type: ExitType
  /** Where they belong, the nearest to the price first. Empty: none is placed. Absent: those that rest are made smaller only, and not retried. */
  readonly levels?: readonly ExitLevel[]
  /** Size of the part that exits of others or in flight cover, USD; absent: nothing. */
  readonly elsewhereUsd?: Usd
  /** True if one order closes all of the part, and is resized with it. Absent: more are placed beside those that rest. */
  readonly isOne?: true
  readonly moves?: readonly ExitMove[]
  /** Keys of exits that are made smaller last. */
  readonly last?: ReadonlySet<string>
  /** Action where something is not covered and the price is past all levels: the part is closed, or that size of it; absent: none. */
  readonly past?: {
    readonly action: 'close' | 'reduce'
    readonly why: () => Why
    /** A reduction takes its share of the collateral with it; absent: the collateral stays with the rest. */
    readonly keepsLeverage?: boolean
  }
  /** The same of exits that wait. */
  readonly keepsLeverage?: boolean
  /** End of the sentence that says what is missing; absent: nothing is added. */
  readonly note?: string
}

/** The exits that an owner wants for a part of a position. */
export interface ExitPlan {
  /** The owner, for people: `this strategy`. */
  readonly owner: string
  readonly side: PositionSide
  /** Size that exits of each type are to cover, USD. */
  readonly sizeUsd: Usd
  /** Size that exits of each type never exceed together, USD; absent: the same. */
  readonly mostUsd?: Usd
  /** Share of the part that may be uncovered, or covered too much, before an order is changed for it, bps. */
  readonly toleranceBps: number
  readonly exits: readonly PlannedExits[]
  /** Reason why the part is closed at the market instead; absent: it is not. */
  readonly closes?: Why | undefined
  /** True while no exit may be placed: one may rest without being listed. */
  readonly isHeldBack?: boolean
}

/** Orders and prices that a plan is compared with. */
export interface ExitScene {
  readonly resting: readonly RestingExit[]
  /** Price at which a reduction executes now, USD per whole index token. */
  readonly price: Usd
  /** Smallest size that is worth an order, USD; absent: any. */
  readonly leastUsd?: Usd
}

/** The decisions that a plan calls for now, in the order in which they are to be taken. */
export function keepExits(plan: ExitPlan, facts: ExitScene): readonly Decision[] {
  const wanted = plan.closes
    ? [closeOf(plan, plan.closes)]
    : plan.exits.flatMap((planned) => ofType(plan, planned, facts))
  // A part that is closed now needs no waiting order.
  const closing = wanted.find(({ kind }) => kind === 'close')
  if (closing !== undefined) return [closing]
  const isAtMarket = (each: Decision) => each.kind === 'decrease' && each.orderType === undefined
  return plan.isHeldBack === true || wanted.some(isAtMarket)
    ? wanted.filter((each) => each.kind !== 'decrease' || isAtMarket(each))
    : wanted
}

/** Cancels exits that the keeper takes away, and those of a part that is gone: one message for a side of a market; none for no exits. */
export function dropExits(
  { marketToken, direction }: MarketSide,
  exits: readonly { readonly orderKey: Hex }[],
  why: Why,
): readonly CancelDecision[] {
  const orderKeys = exits.map(({ orderKey }) => orderKey)
  return orderKeys.length === 0 ? [] : [{ kind: 'cancel', marketToken, direction, orderKeys, ...why }]
}

/** Tells whether an exit at a trigger waits there, and does not fire at once. */
export function waitsAt(trigger: Usd, price: Usd, direction: Direction, type: ExitType): boolean {
  const isBelow = (type === 'stop-loss') === (direction === 'long')
  return trigger > 0n && (isBelow ? trigger < price : trigger > price)
}

/** Size of all, USD. */
export function sumOf(orders: readonly { readonly sizeDeltaUsd: Usd }[]): Usd {
  return orders.reduce((sum, { sizeDeltaUsd }) => sum + sizeDeltaUsd, 0n)
}

/** Facts by which the exits of one type are judged. */
interface Scene extends ExitScene {
  readonly plan: ExitPlan
  readonly planned: PlannedExits
  /** Those that rest. */
  readonly own: readonly RestingExit[]
  /** Size that they are to cover, and that they never exceed, USD. */
  readonly coverUsd: Usd
  readonly mostUsd: Usd
}

function ofType(plan: ExitPlan, planned: PlannedExits, facts: ExitScene): readonly Decision[] {
  const { sizeUsd, mostUsd = sizeUsd } = plan
  const { type, isOne, levels, moves = [], elsewhereUsd = 0n } = planned
  const own = facts.resting.filter(({ orderType }) => orderType === type)
  const scene = { ...facts, plan, planned, own, coverUsd: maxOf(0n, sizeUsd - elsewhereUsd), mostUsd }
  if (isOne === true) return asOne(scene)
  const cut = cutDown(scene)
  if (levels === undefined || cut.length > 0) return cut
  const retried = own
    .filter(({ isFrozen, isChanging }) => isFrozen && isChanging !== true)
    .map((order) => retry(plan, order))
  const filled = fill(scene)
  if (filled.length > 0) return [...retried, ...filled]
  const moved = moves.map(({ orderKey, triggerPrice, why }) =>
    edit(plan, orderKey, { triggerPrice }, why?.() ?? { reason: `The ${type} moves.` }),
  )
  return [...retried, ...moved]
}

/** One order for all of the part: further ones are cancelled, and it is resized and moved, or placed. */
function asOne(scene: Scene): readonly Decision[] {
  const { plan, planned, own, coverUsd, mostUsd } = scene
  const { type, levels, moves = [] } = planned
  const { side, sizeUsd: partUsd, toleranceBps } = plan
  const [order, ...more] = own
  if (order === undefined) return fill(scene)
  if (more.length > 0) {
    const reason = `The ${side.direction} position has more than one ${type} of ${plan.owner}.`
    return dropExits(side, more, { reason })
  }
  const { orderKey, sizeDeltaUsd, isFrozen } = order
  const isResized =
    coverUsd > sizeDeltaUsd + bps(partUsd, toleranceBps) ||
    sizeDeltaUsd > mostUsd + bps(mostUsd, toleranceBps)
  const move = moves.find((each) => each.orderKey === orderKey && (isResized || each.isWithSize !== true))
  if (move === undefined && !isResized) return isFrozen ? [retry(plan, order)] : []
  const sizeUsd = coverUsd > 0n ? coverUsd : mostUsd
  const changes = defined({
    sizeDeltaUsd: sizeUsd === sizeDeltaUsd ? undefined : sizeUsd,
    triggerPrice: move?.triggerPrice,
  })
  const place = move === undefined ? '' : ` at ${formatPrice(move.triggerPrice)}`
  const reason = `The ${type} of ${formatSize(sizeDeltaUsd)} is changed to close ${formatUsd(sizeUsd)}${place}.`
  return [edit(plan, orderKey, changes, { reason, ...defined({ facts: levels?.[0]?.facts?.() }) })]
}

/**
 * Removes the excess over the part: whole orders first, the farthest from firing first. A smaller position than the part may come from one of these
 * exits, which is still listed, and no waiting exit is removed in its place.
 */
function cutDown({ plan, planned, price, own, mostUsd }: Scene): readonly Decision[] {
  let excessUsd = sumOf(own) - mostUsd
  if (excessUsd <= bps(mostUsd, plan.toleranceBps)) return []
  const away = ({ triggerPrice = 0n }: RestingExit) => absOf(triggerPrice - price)
  const isLast = ({ orderKey }: RestingExit) => Number(planned.last?.has(hexKey(orderKey)) === true)
  // If some are equally far, the newest goes first; it stands last in the list.
  const farthest = own
    .toReversed()
    .sort((one, other) => isLast(one) - isLast(other) || Number(away(other) - away(one)))
  const words = `${formatUsd(mostUsd)} of the ${plan.side.direction} position still belongs to ${plan.owner}`
  const whole: RestingExit[] = []
  const shrunk: Decision[] = []
  for (const order of farthest) {
    if (excessUsd <= 0n) break
    const { orderKey, sizeDeltaUsd } = order
    if (sizeDeltaUsd <= excessUsd) whole.push(order)
    else {
      const reason = `${words}; a ${planned.type} of ${formatSize(sizeDeltaUsd)} shrinks to match.`
      shrunk.push(edit(plan, orderKey, { sizeDeltaUsd: sizeDeltaUsd - excessUsd }, { reason }))
    }
    excessUsd -= minOf(excessUsd, sizeDeltaUsd)
  }
  return [...dropExits(plan.side, whole, { reason: `${words}; its exits are larger.` }), ...shrunk]
}

/** Covers what nothing covers: with exits at the levels that wait, or as the plan says where the price is past all of them. */
function fill({ plan, planned, price, own, coverUsd, leastUsd = 0n }: Scene): readonly Decision[] {
  const { type, levels = [], past } = planned
  const missingUsd = coverUsd - sumOf(own)
  const isWorth = missingUsd > bps(plan.sizeUsd, plan.toleranceBps) && missingUsd >= maxOf(1n, leastUsd)
  if (levels.length === 0 || !isWorth) return []
  const ahead = levels.filter(({ triggerPrice }) => waitsAt(triggerPrice, price, plan.side.direction, type))
  if (ahead.length === 0) {
    if (past === undefined) return []
    return [
      past.action === 'close' ? closeOf(plan, past.why()) : reduce(plan, missingUsd, {}, past, past.why()),
    ]
  }
  // One of several may rest and another not: one that was cancelled, or that waited while the first was in flight.
  const missing = ahead.flatMap((level) => {
    if (levels.length === 1) return [{ level, gapUsd: missingUsd }]
    const here = own.filter(({ triggerPrice: at }) => at !== undefined && isNear(at, level.triggerPrice))
    const gapUsd = bps(plan.sizeUsd, level.shareBps ?? BPS_ONE) - sumOf(here)
    return gapUsd > bps(plan.sizeUsd, 1) ? [{ level, gapUsd }] : []
  })
  const gaps = missing.map(({ gapUsd }) => gapUsd)
  const shares = sharesOf(missingUsd, gaps)
  return missing.map(({ level: { triggerPrice, facts } }, index) => {
    const shareUsd = shares[index] ?? 0n
    const reason = `${formatUsd(shareUsd)} of the ${plan.side.direction} position has no ${type}${planned.note ?? ''}.`
    const why = { reason, ...defined({ facts: facts?.() }) }
    return reduce(plan, shareUsd, { orderType: type, triggerPrice }, planned, why)
  })
}

/** Tells whether a price is within a basis point of a level. */
function isNear(price: Usd, level: Usd): boolean {
  return absOf(price - level) <= bps(level, 1)
}

/** One that froze at its trigger is tried again by an edit to the same values. */
function retry(plan: ExitPlan, { orderKey, orderType, sizeDeltaUsd }: RestingExit): Decision {
  return edit(
    plan,
    orderKey,
    { sizeDeltaUsd },
    { reason: `The ${orderType} froze at its trigger; perpd retries it.` },
  )
}

function edit(
  { side: { marketToken, direction } }: ExitPlan,
  orderKey: Hex,
  changes: { readonly sizeDeltaUsd?: Usd; readonly triggerPrice?: Usd },
  why: Why,
): Decision {
  return { marketToken, direction, kind: 'edit', orderKey, ...changes, ...why }
}

function reduce(
  { side: { marketToken, direction, collateralToken } }: ExitPlan,
  sizeDeltaUsd: Usd,
  waits: { readonly orderType?: ExitType; readonly triggerPrice?: Usd },
  { keepsLeverage: keepLeverage = false }: { readonly keepsLeverage?: boolean },
  why: Why,
): Decision {
  const part = { marketToken, direction, kind: 'decrease', collateralToken } as const
  return { ...part, sizeDeltaUsd, ...waits, keepLeverage, ...why }
}

function closeOf({ side: { marketToken, direction, collateralToken } }: ExitPlan, why: Why): Decision {
  return { marketToken, direction, kind: 'close', collateralToken, ...why }
}
