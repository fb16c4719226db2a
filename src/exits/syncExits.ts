/**
 * Maintains the exits of a strategy file (`exit:`) before the kind gets its turn: it places missing ones, and resizes resting ones to the instance's
 * part of the position. It moves a stop-loss after the price, and closes when the time is over. A stop-loss is never moved away from profit, and the
 * exits of one type never exceed the instance's part. Pure.
 *
 * The resting order shows where a stop was moved, which is its trigger, and when, which is the venue's time of its last update. The journal shows the
 * level of a stop that was lost: its replacement lies no farther from profit.
 * Exits of a waiting entry belong to that entry, and are left alone until it fills. While any order of the instance on a side is in flight, or rests
 * without being listed, nothing is done there: it may be the very exit.
 */

import { sharesOf } from '../books/figures.ts'
import type { Part } from '../books/sideParts.ts'
import { type PositionSide, sideKeyOf } from '../domain/accountRecords/accountRecord.ts'
import type { Decision, DecreaseDecision } from '../domain/order/decision.ts'
import {
  awayFrom,
  closedBps,
  firstStop,
  type PricedDistance,
  type PricedExits,
  usualMoves,
  usualRange,
  withoutRanges,
} from '../domain/order/exitPlan.ts'
import { type Child, hasEnded, type IntentState, isProvisional, lastAttempt } from '../domain/order/intent.ts'
import { marketOf, type Snapshot } from '../domain/snapshot.ts'
import { hexKey, sameHex } from '../protocol/address.ts'
import { executionSidePrice } from '../protocol/market.ts'
import { lacksMarket } from '../protocol/missing.ts'
import { formatPrice } from '../protocol/priceText.ts'
import {
  absOf,
  BPS_ONE,
  bps,
  formatUsd,
  maxOf,
  minOf,
  mulDiv,
  priceOfContractPrice,
  type Usd,
} from '../protocol/units.ts'
import { openIntentsOf, type RestingOrder, restingOrdersOf } from '../strategy/resting.ts'
import { isNearer, mostProtective } from './exitLevels.ts'
import { closeOf, fitted, isWorth, placed, retried, type Scene, sideOf, sumOf, waits } from './exitScene.ts'
import { settledExits, waitingExits } from './exitsLeft.ts'

/** Difference between a fill's price and the price from which its exits were computed, bps, that is no reason to move a stop-loss. */
const FILL_DRIFT_BPS = 20

/** Input for maintaining the exits of one instance. */
export interface ExitSync {
  /** Returns the file's exits for a market; undefined while a denied one waits. */
  readonly exitsOn: (marketToken: string) => PricedExits | undefined
  readonly snapshot: Snapshot
  /** The instance's own open intents, and those whose fills the lists may not show yet. */
  readonly states: readonly IntentState[]
  /** The instance's books with a position. */
  readonly parts: readonly (PositionSide & Part)[]
  /** Returns the time when the instance last added to a side by the journal, Unix ms; undefined where it does not say. */
  readonly enteredMs: (side: PositionSide) => number | undefined
  /** A stamp by the clock of now (`aheadStamps.ts`); absent: as it is. */
  readonly settledMs?: (atMs: number) => number
  /**
   * Returns the nearest-to-profit level at which a stop-loss of the instance rested for its present part of a side, by the journal, contract price.
   * Undefined: none did.
   */
  readonly nearestStop: (side: PositionSide) => bigint | undefined
  /** Ids of the intents of tasks that run; absent: none does. */
  readonly ofTasks?: ReadonlySet<string>
  /** Sides by `sideKeyOf` on which an exit was cancelled after the lists were read: none is placed there. Absent: none. */
  readonly lostExits?: ReadonlySet<string>
}

/** The decisions that the exits of an instance call for now, in the order in which they are to be taken. */
export function syncExits(kept: ExitSync): readonly Decision[] {
  return [...leftOvers(kept), ...kept.parts.flatMap((part) => ofPart(kept, part))]
}

/** Input for fitting exits that no plan maintains. */
export interface FittedExits extends Pick<ExitSync, 'snapshot' | 'states' | 'parts'> {
  /** Ids of the intents of tasks that run, which fit their own exits and have their share first. */
  readonly ofTasks: ReadonlySet<string>
  /** False of a market on which a denied one waits. */
  readonly mayTry: (marketToken: string) => boolean
}

/** Fits exits that no file requests: all of one type are made no larger than the part, and otherwise left to whoever placed them. */
export function fitExits({ mayTry, ofTasks, ...kept }: FittedExits): readonly Decision[] {
  const exitsOn = (marketToken: string) => (mayTry(marketToken) ? noExits : undefined)
  const asked = { ...kept, exitsOn, enteredMs: () => undefined, nearestStop: () => undefined }
  return kept.parts.flatMap((part) => {
    const scene = sceneOf(asked, part)
    if (scene === undefined) return []
    return exitTypes.flatMap((type) => {
      const orders = scene.resting.filter(({ orderType }) => orderType === type)
      const [theirs, others] = [true, false].map((isTasks) =>
        orders.filter(({ intentId }) => ofTasks.has(intentId) === isTasks),
      )
      const bookUsd = maxOf(0n, scene.bookUsd - sumOf(theirs ?? []))
      return fitted({ ...scene, bookUsd }, type, others ?? [])
    })
  })
}

const noExits: PricedExits = { takeProfits: [], ...usualMoves, range: usualRange }
const exitTypes = ['stop-loss', 'take-profit'] as const
const noIntents: ReadonlySet<string> = new Set()

function ofPart(kept: ExitSync, part: PositionSide & Part): readonly Decision[] {
  const scene = sceneOf(kept, part)
  if (scene === undefined) return []
  const over = overdue(scene, () => kept.enteredMs(part))
  if (over !== undefined) return [over]
  const wanted = [...stopsOf(scene), ...targetsOf(scene)]
  // A position that is closed now needs no waiting order.
  const closing = wanted.find(({ kind }) => kind === 'close')
  if (closing !== undefined) return [closing]
  return wanted.some(isAtMarket) || kept.lostExits?.has(sideKeyOf(part)) === true
    ? wanted.filter((each) => each.kind !== 'decrease' || isAtMarket(each))
    : wanted
}

/**
 * Returns the cancels of exits whose part an order of the instance closed: the other exit, as a rule. They would close the next position there. A
 * part that merely does not show does not count, nor one that others reduced: `orphanCancels` waits until that is sure.
 */
function leftOvers({ snapshot, states, parts }: ExitSync): readonly Decision[] {
  const held = new Set(parts.map(sideKeyOf))
  const sideOfIntent = ({ intent: { terms } }: IntentState): PositionSide => ({
    ...terms,
    collateralToken: terms.collateralToken.address,
  })
  const sides = Map.groupBy(states, (state) => sideKeyOf(sideOfIntent(state)))
  const resting = new Map(restingOrdersOf(snapshot, states).map((order) => [hexKey(order.orderKey), order]))
  return [...sides].flatMap(([key, own]): readonly Decision[] => {
    const [first] = own
    if (first === undefined || held.has(key) || !own.some(hasReduced)) return []
    const orderKeys = own
      .flatMap(settledExits)
      .map(({ orderKey }) => resting.get(hexKey(orderKey)))
      .filter((order) => order !== undefined && !order.isChanging)
      .flatMap((order) => order?.orderKey ?? [])
    if (orderKeys.length === 0) return []
    const { marketToken, direction } = first.intent.terms
    const reason = 'This strategy has no part of the position left: its resting exits are cancelled.'
    return [{ kind: 'cancel', marketToken, direction, orderKeys, reason }]
  })
}

/** Tells whether an order of the intent reduced the part. */
function hasReduced(state: IntentState): boolean {
  const { kind } = state.intent
  return (lastAttempt(state)?.children ?? []).some(
    ({ phase, role }) =>
      phase === 'EXECUTED' &&
      (role === 'take-profit' || role === 'stop-loss' || kind === 'decrease' || kind === 'close'),
  )
}

/** Undefined: nothing is held there by the list, or nothing may be done now. */
function sceneOf(kept: ExitSync, part: PositionSide & Part): Scene | undefined {
  const { exitsOn, snapshot } = kept
  const states = kept.states.filter((state) => !isOver(state))
  const key = sideKeyOf(part)
  const exits = exitsOn(part.marketToken)
  const view = marketOf(snapshot, part.marketToken)
  const position = snapshot.positions.value.find((each) => sideKeyOf(each) === key)
  if (exits === undefined || view === undefined || position === undefined) return undefined
  const ownUsd = minOf(part.sizeUsd, position.sizeInUsd)
  if (ownUsd <= 0n || lacksMarket(snapshot.orders.missing, part.marketToken)) return undefined
  const isHere = (order: { readonly marketToken: string; readonly direction: string }) =>
    sameHex(order.marketToken, part.marketToken) && order.direction === part.direction
  const own = restingOrdersOf(snapshot, states).filter(isHere)
  const shown = new Set(own.map(({ intentId }) => intentId))
  const isOnTheWay = openIntentsOf(states).some((open) => isHere(open) && !shown.has(open.intentId))
  const listed = new Set(own.map(({ orderKey }) => hexKey(orderKey)))
  const isUnlisted = states
    .filter(({ intent }) => isHere(intent.terms))
    .flatMap(liveExits)
    .some(({ orderKey }) => !listed.has(hexKey(orderKey)))
  if (isOnTheWay || isUnlisted || own.some(({ isChanging }) => isChanging)) return undefined
  const entryPrice =
    part.sizeInTokens > 0n
      ? mulDiv(part.costUsd, 10n ** BigInt(view.indexToken.decimals), part.sizeInTokens)
      : position.entryPrice
  if (entryPrice === undefined || entryPrice <= 0n) return undefined
  const oracle = view.oraclePrice?.value
  const price =
    oracle === undefined ? position.markPrice : executionSidePrice(oracle, part.direction, 'decrease')
  const ofWaiting = new Set(states.flatMap(waitingExits).map(({ orderKey }) => hexKey(orderKey)))
  const resting = own.filter(
    ({ collateralToken, orderKey }) =>
      sameHex(collateralToken, part.collateralToken) && !ofWaiting.has(hexKey(orderKey)),
  )
  const nearest = asksForStop(exits) ? kept.nearestStop(part) : undefined
  const reached = nearest === undefined ? undefined : priceOfContractPrice(nearest, view.indexToken.decimals)
  const { ofTasks = noIntents } = kept
  const held = { ownUsd, bookUsd: part.sizeUsd, entryPrice, price }
  const { settledMs = (atMs: number) => atMs } = kept
  return { exits, snapshot, position, ...held, resting, ofTasks, reached, settledMs }
}

function asksForStop({ stopLoss, trailingStop, breakEven }: PricedExits): boolean {
  return [stopLoss, trailingStop, breakEven].some((each) => each !== undefined)
}

/**
 * Says whether all orders of the intent have ended, so that none of them is an exit that waits. An entry may have filled in a block that is not
 * final: a part is not without its stop for the minutes of that. An exit must have ended for good: where one endpoint lies or a block is
 * taken back it rests still. What a reduction at the market executed is waited for: nothing is closed twice.
 */
function isOver(state: IntentState): boolean {
  const { kind, terms } = state.intent
  const children = lastAttempt(state)?.children ?? []
  if (children.length === 0) return false
  if (children.every(({ phase }) => phase === 'CANCELLED')) return true
  if (kind === 'close' || (kind === 'decrease' && terms.orderType === 'market')) return false
  const isEntry = ({ role }: Child) => kind === 'increase' && role !== 'take-profit' && role !== 'stop-loss'
  return children.every((child) => hasEnded(child) && (isEntry(child) || !isProvisional(child.evidence)))
}

/** Exits of an intent that have not ended, whether the list shows them or not. */
function liveExits(state: IntentState): readonly Child[] {
  const { kind, terms } = state.intent
  const isReduction = kind === 'decrease' && terms.orderType !== 'market' && terms.orderType !== 'twap'
  return (lastAttempt(state)?.children ?? []).filter(
    (child) =>
      !hasEnded(child) &&
      (child.role === 'stop-loss' || child.role === 'take-profit' || (isReduction && child.role !== 'part')),
  )
}

function overdue(scene: Scene, enteredMs: () => number | undefined): Decision | undefined {
  const { exits, snapshot, position, settledMs } = scene
  if (exits.timeLimitMs === undefined) return undefined
  const sinceMs = settledMs(enteredMs() ?? position.increasedAtSeconds * 1000)
  if (snapshot.atMs - sinceMs < exits.timeLimitMs) return undefined
  const heldSeconds = Math.floor((snapshot.atMs - sinceMs) / 1000)
  return closeOf(scene, `The newest entry is ${heldSeconds} s old, past the time limit of the file.`)
}

function stopsOf(scene: Scene): readonly Decision[] {
  const { exits, entryPrice, position, ownUsd, resting, reached } = scene
  const stops = resting.filter(({ orderType }) => orderType === 'stop-loss')
  const levelOf = (distance: PricedDistance | undefined) =>
    distance === undefined ? undefined : awayFrom(entryPrice, distance, position.direction, 'losing')
  const fixed = levelOf(firstStop(withoutRanges(exits), entryPrice))
  const ofNow = levelOf(firstStop(exits, entryPrice))
  // A market that calmed down moves the place nearer, even before the price: that is no reason to close a position that had its stop.
  const isCalmed = reached !== undefined && ofNow !== undefined && !waits(ofNow, scene, 'stop-loss')
  const base = isCalmed ? fixed : ofNow
  const moved = movedStop(scene, stops)
  const byFile = mostProtective(position, [base, moved])
  const most = mostProtective(position, [byFile, reached])
  const kept = fitted(scene, 'stop-loss', stops)
  if (most === undefined || kept.length > 0) return kept
  const missingUsd = ownUsd - sumOf(stops)
  if (isWorth(scene, missingUsd)) {
    if (waits(most, scene, 'stop-loss')) return [placed(scene, 'stop-loss', most, missingUsd)]
    const isRestCovered = stops.length > 0 && (byFile === undefined || waits(byFile, scene, 'stop-loss'))
    return [isRestCovered ? pastLost(scene, most, missingUsd) : pastStop(scene, most)]
  }
  // The file asks for a nearer level than rests: it was changed, or more was bought.
  const asked = stops.some(({ triggerPrice }) => isNearerByMore(fixed, triggerPrice, scene))
    ? fixed
    : undefined
  if (asked !== undefined && !waits(asked, scene, 'stop-loss')) return [pastStop(scene, asked)]
  const level = mostProtective(position, [moved, asked])
  return stops.flatMap((stop) => retried(stop, scene) ?? movedTo(stop, level, scene) ?? [])
}

/** Returns the stop-loss's new level by the present price; undefined: it stays. */
function movedStop(scene: Scene, stops: readonly RestingOrder[]): Usd | undefined {
  const { entryPrice, price, position, reached } = scene
  const { trailingStop, breakEven } = scene.exits
  const { direction } = position
  const isBeyond = (level: Usd) => (direction === 'long' ? price >= level : price <= level)
  const even = awayFrom(entryPrice, { bps: breakEven?.offsetBps ?? 0 }, direction, 'winning')
  // Fills, averaged entries and break-even put a stop no nearer than there: one that is has followed the price already.
  const wasMoved = [reached, ...stops.map(({ triggerPrice }) => triggerPrice)].some((level) =>
    isNearerByMore(level, even, scene),
  )
  const isTrailing =
    trailingStop !== undefined &&
    (trailingStop.activation === undefined ||
      wasMoved ||
      isBeyond(awayFrom(entryPrice, trailingStop.activation, direction, 'winning')))
  const candidates = [
    isTrailing ? awayFrom(price, trailingStop.distance, direction, 'losing') : undefined,
    breakEven !== undefined && isBeyond(awayFrom(entryPrice, breakEven.after, direction, 'winning'))
      ? even
      : undefined,
  ].filter((level) => level !== undefined && isBeyond(level))
  return mostProtective(position, candidates)
}

/** Tells whether a level is nearer to profit than another by more than the deviation of a fill's price; false where one of them is unknown. */
function isNearerByMore(
  level: Usd | undefined,
  other: Usd | undefined,
  { entryPrice, position }: Scene,
): boolean {
  if (level === undefined || other === undefined) return false
  return isNearer(position, level, other) && absOf(level - other) > bps(entryPrice, FILL_DRIFT_BPS)
}

/** The move of one stop-loss, if it is towards profit, late enough after the last one, and worth its cost. */
function movedTo(stop: RestingOrder, level: Usd | undefined, scene: Scene): readonly Decision[] | undefined {
  const { exits, snapshot, position, entryPrice, settledMs } = scene
  const { triggerPrice } = stop
  if (level === undefined || triggerPrice === undefined || stop.isFrozen) return undefined
  if (!isNearer(position, level, triggerPrice)) return undefined
  const row = snapshot.orders.value.find(({ orderKey }) => sameHex(orderKey, stop.orderKey))
  if (row !== undefined && snapshot.atMs - settledMs(row.updatedAtSeconds * 1000) < exits.moveEveryMs)
    return undefined
  const gain = level > triggerPrice ? level - triggerPrice : triggerPrice - level
  const securedUsd = mulDiv(stop.sizeDeltaUsd, gain, entryPrice)
  if (securedUsd < exits.moveStepUsd) return undefined
  return [
    {
      ...sideOf(position),
      kind: 'edit',
      orderKey: stop.orderKey,
      triggerPrice: level,
      reason: `The stop-loss moves towards profit, from ${formatPrice(triggerPrice)} to ${formatPrice(level)}, and secures ${formatUsd(securedUsd)}.`,
      facts: { price: formatPrice(scene.price), entry: formatPrice(entryPrice) },
    },
  ]
}

function targetsOf(scene: Scene): readonly Decision[] {
  const { exits, entryPrice, position, ownUsd, resting } = scene
  const targets = resting.filter(({ orderType }) => orderType === 'take-profit')
  const kept = fitted(scene, 'take-profit', targets, scene.ofTasks)
  if (kept.length > 0) return kept
  const again = targets.flatMap((target) => retried(target, scene) ?? [])
  // Targets that leave a rest may have filled; which of them did is not known here.
  if (again.length > 0 || closedBps(exits.takeProfits) !== BPS_ONE) return again
  const missingUsd = ownUsd - sumOf(targets)
  if (!isWorth(scene, missingUsd)) return []
  const rungs = exits.takeProfits.map((target) => ({
    level: awayFrom(entryPrice, target, position.direction, 'winning'),
    shareBps: target.shareBps ?? BPS_ONE,
  }))
  const ahead = rungs.filter(({ level }) => waits(level, scene, 'take-profit'))
  const past = rungs.at(-1)
  if (ahead.length === 0 && targets.length === 0 && past !== undefined)
    return [closeOf(scene, `The price is past ${formatPrice(past.level)}, the take-profit of the file.`)]
  // One rung of a ladder may rest and another not: one that was cancelled, or that waited while the first was in flight.
  const missing = ahead.flatMap(({ level, shareBps }) => {
    const gapUsd = bps(ownUsd, shareBps) - sumOf(targets.filter((target) => isAt(target, level)))
    return gapUsd > bps(ownUsd, 1) ? [{ level, gapUsd }] : []
  })
  const shares = sharesOf(
    missingUsd,
    missing.map(({ gapUsd }) => gapUsd),
  )
  return missing.map(({ level }, index) => placed(scene, 'take-profit', level, shares[index] ?? 0n))
}

/** Tells whether an exit rests at a level, within a basis point. */
function isAt({ triggerPrice }: RestingOrder, level: Usd): boolean {
  return triggerPrice !== undefined && absOf(triggerPrice - level) <= bps(level, 1)
}

function pastStop(scene: Scene, level: Usd): Decision {
  const words = level === scene.reached ? 'a stop-loss rested before' : 'the stop-loss of the file belongs'
  return closeOf(scene, `The price is past ${formatPrice(level)}, where ${words}.`)
}

/** Closes at the market the share of a lost one among several stops, and leaves the others their share. */
function pastLost({ position }: Scene, level: Usd, sizeDeltaUsd: Usd): DecreaseDecision {
  return {
    ...sideOf(position),
    kind: 'decrease',
    collateralToken: position.collateralToken,
    sizeDeltaUsd,
    keepLeverage: false,
    reason: `The price is past ${formatPrice(level)}, where a stop-loss of ${formatUsd(sizeDeltaUsd)} rested before; the rest has its own.`,
  }
}

function isAtMarket(decision: Decision): boolean {
  return decision.kind === 'decrease' && decision.orderType === undefined
}
