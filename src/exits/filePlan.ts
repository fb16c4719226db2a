/**
 * Writes the plan of a strategy file's exits (`exit:`) for one part of a position: it closes when the time is over, and moves a stop-loss after the
 * price, never away from profit. Pure.
 *
 * The resting order shows where a stop was moved, which is its trigger, and when, which is the venue's time of its last update. The journal shows the
 * level of a stop that was lost: its replacement lies no farther from profit.
 */
import type { PositionSide } from '../domain/accountRecords/accountRecord.ts'
import { type ExitMove, type ExitPlan, type PlannedExits, sumOf, waitsAt } from '../domain/exitKeeper.ts'
import {
  awayFrom,
  closedBps,
  EXIT_TOLERANCE_BPS,
  firstStop,
  type PricedDistance,
  type PricedExits,
  withoutRanges,
} from '../domain/order/exitSettings.ts'
import { marketOf, type Snapshot } from '../domain/snapshot.ts'
import { hexKey, sameHex } from '../protocol/address.ts'
import type { Direction } from '../protocol/market.ts'
import { formatPrice } from '../protocol/priceText.ts'
import { absOf, BPS_ONE, bps, formatUsd, mulDiv, priceOfContractPrice, type Usd } from '../protocol/units.ts'
import type { RestingOrder } from '../strategy/resting.ts'
import type { OwnPart } from './ownPartFacts.ts'

/** Difference between a fill's price and the price from which its exits were computed, bps, that is no reason to move a stop-loss. */
const FILL_DRIFT_BPS = 20

const asItIs = (atMs: number) => atMs

/** Common part of the plans of a strategy. */
export const ofStrategy = { owner: 'this strategy', toleranceBps: EXIT_TOLERANCE_BPS } as const

/** Facts by which a file's exits are planned. */
export interface FilePlanFacts {
  readonly snapshot: Snapshot
  /** Returns the time when the instance last added to a side by the journal, Unix ms; undefined where it does not say. */
  readonly enteredMs: (side: PositionSide) => number | undefined
  /**
   * Returns the nearest-to-profit level at which a stop-loss of the instance rested for its present part of a side, by the journal, contract price.
   * Undefined: none did.
   */
  readonly nearestStop: (side: PositionSide) => bigint | undefined
  /** A stamp by the clock of now (`aheadStamps.ts`), Unix ms; absent: as it is. */
  readonly settledMs?: (atMs: number) => number
  /** Ids of the intents of tasks that run: their reductions at rest count as targets, and are the last that are made smaller. Absent: none runs. */
  readonly ofTasks?: ReadonlySet<string>
}

/** The plan of a file's exits for a part. */
export function filePlan(exits: PricedExits, part: OwnPart, facts: FilePlanFacts): ExitPlan {
  const { direction } = part.side
  const scene = { ...facts, ...part, exits, direction, reached: reachedStop(exits, part, facts) }
  const { stops, past } = stopsOf(scene)
  return {
    ...{ ...ofStrategy, side: part.side, sizeUsd: part.ownUsd, mostUsd: part.bookUsd },
    exits: [stops, targetsOf(scene)],
    closes: overdue(scene) ?? past,
  }
}

interface Scene extends FilePlanFacts, OwnPart {
  readonly exits: PricedExits
  readonly direction: Direction
  /** The nearest level that a stop-loss rested at for this part, USD per whole index token; undefined: none did, or the file asks for none. */
  readonly reached: Usd | undefined
}

function reachedStop(
  { stopLoss, trailingStop, breakEven }: PricedExits,
  { side }: OwnPart,
  { nearestStop, snapshot }: FilePlanFacts,
): Usd | undefined {
  const isAsked = [stopLoss, trailingStop, breakEven].some((each) => each !== undefined)
  const nearest = isAsked ? nearestStop(side) : undefined
  const view = marketOf(snapshot, side.marketToken)
  return nearest && view && priceOfContractPrice(nearest, view.indexToken.decimals)
}

function overdue({
  exits,
  snapshot,
  side,
  position,
  enteredMs,
  settledMs = asItIs,
}: Scene): ExitPlan['closes'] {
  if (exits.timeLimitMs === undefined) return undefined
  const sinceMs = settledMs(enteredMs(side) ?? position.increasedAtSeconds * 1000)
  if (snapshot.atMs - sinceMs < exits.timeLimitMs) return undefined
  const heldSeconds = Math.floor((snapshot.atMs - sinceMs) / 1000)
  return { reason: `The newest entry is ${heldSeconds} s old, past the time limit of the file.` }
}

/** The wanted stops; `past`: the price has passed a level that the file asks for, and that is nearer than a stop that rests. */
function stopsOf(scene: Scene): { readonly stops: PlannedExits; readonly past?: ExitPlan['closes'] } {
  const { exits, bookUsd, direction, entryPrice, ownUsd, resting, reached } = scene
  const type = 'stop-loss'
  const stops = resting.filter(({ orderType }) => orderType === type)
  const levelOf = (distance: PricedDistance | undefined) =>
    distance === undefined ? undefined : awayFrom(entryPrice, distance, direction, 'losing')
  const fixed = levelOf(firstStop(withoutRanges(exits), entryPrice))
  const ofNow = levelOf(firstStop(exits, entryPrice))
  // A market that calmed down moves the place nearer, even before the price: that is no reason to close a position that had its stop.
  const isCalmed = reached !== undefined && ofNow !== undefined && !waits(ofNow, scene)
  const base = isCalmed ? fixed : ofNow
  const moved = movedStop(scene, stops)
  const byFile = mostProtective(direction, [base, moved])
  const most = mostProtective(direction, [byFile, reached])
  if (most === undefined) return { stops: { type, levels: [] } }
  // The file asks for a nearer level than rests: it was changed, or more was bought.
  const asked = stops.some(({ triggerPrice }) => isNearerByMore(fixed, triggerPrice, scene))
    ? fixed
    : undefined
  const isRestCovered = stops.length > 0 && (byFile === undefined || waits(byFile, scene))
  const asBefore = most === reached ? ', not farther than the one that rested here' : ''
  const level = mostProtective(direction, [moved, asked])
  const planned: PlannedExits = {
    type,
    levels: [levelAt(scene, most)],
    note: `; the file asks for one${asBefore}`,
    past: isRestCovered
      ? { action: 'reduce', why: () => pastLost(most, ownUsd - sumOf(stops)) }
      : { action: 'close', why: () => pastStop(scene, most) },
    moves: stops.flatMap((stop) => movedTo(stop, level, scene) ?? []),
  }
  // Stops that are too large are made smaller first.
  const isTooLarge = sumOf(stops) - bookUsd > bps(bookUsd, EXIT_TOLERANCE_BPS)
  return asked === undefined || waits(asked, scene) || isTooLarge
    ? { stops: planned }
    : { stops: planned, past: pastStop(scene, asked) }
}

function waits(trigger: Usd, { price, direction }: Scene): boolean {
  return waitsAt(trigger, price, direction, 'stop-loss')
}

/** A place of an exit, with the numbers behind it. */
function levelAt({ entryPrice, price }: Scene, triggerPrice: Usd) {
  const facts = () => ({
    entry: formatPrice(entryPrice),
    price: formatPrice(price),
    trigger: formatPrice(triggerPrice),
  })
  return { triggerPrice, facts }
}

/** Returns the stop-loss's new level by the present price; undefined: it stays. */
function movedStop(scene: Scene, stops: readonly RestingOrder[]): Usd | undefined {
  const { direction, entryPrice, price, reached } = scene
  const { trailingStop, breakEven } = scene.exits
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
  return mostProtective(direction, candidates)
}

/** Tells whether a level is nearer to profit than another by more than the deviation of a fill's price; false where one of them is unknown. */
function isNearerByMore(
  level: Usd | undefined,
  other: Usd | undefined,
  { direction, entryPrice }: Scene,
): boolean {
  if (level === undefined || other === undefined) return false
  return isNearer(direction, level, other) && absOf(level - other) > bps(entryPrice, FILL_DRIFT_BPS)
}

/** The move of one stop-loss, if it is towards profit, late enough after the last one, and worth its cost. */
function movedTo(stop: RestingOrder, level: Usd | undefined, scene: Scene): ExitMove | undefined {
  const { exits, snapshot, direction, entryPrice, settledMs = asItIs } = scene
  const { triggerPrice } = stop
  if (level === undefined || triggerPrice === undefined || stop.isFrozen) return undefined
  if (!isNearer(direction, level, triggerPrice)) return undefined
  const row = snapshot.orders.value.find(({ orderKey }) => sameHex(orderKey, stop.orderKey))
  if (row !== undefined && snapshot.atMs - settledMs(row.updatedAtSeconds * 1000) < exits.moveEveryMs)
    return undefined
  const gain = level > triggerPrice ? level - triggerPrice : triggerPrice - level
  const securedUsd = mulDiv(stop.sizeDeltaUsd, gain, entryPrice)
  if (securedUsd < exits.moveStepUsd) return undefined
  return {
    orderKey: stop.orderKey,
    triggerPrice: level,
    why: () => ({
      reason: `The stop-loss moves towards profit, from ${formatPrice(triggerPrice)} to ${formatPrice(level)}, and secures ${formatUsd(securedUsd)}.`,
      facts: { price: formatPrice(scene.price), entry: formatPrice(entryPrice) },
    }),
  }
}

function targetsOf(scene: Scene): PlannedExits {
  const { exits, direction, entryPrice, ofTasks, resting } = scene
  const targets = resting.filter(({ orderType }) => orderType === 'take-profit')
  // Targets that leave a rest may have filled; which of them did is not known here.
  const isWhole = closedBps(exits.takeProfits) === BPS_ONE
  const levels = (isWhole ? exits.takeProfits : []).map((target) => ({
    ...levelAt(scene, awayFrom(entryPrice, target, direction, 'winning')),
    shareBps: target.shareBps ?? BPS_ONE,
  }))
  const farthest = levels.at(-1)
  const why = () => ({
    reason: `The price is past ${formatPrice(farthest?.triggerPrice ?? 0n)}, the take-profit of the file.`,
  })
  return {
    type: 'take-profit',
    levels,
    note: '; the file asks for one',
    last: new Set(
      targets.filter(({ intentId }) => ofTasks?.has(intentId)).map(({ orderKey }) => hexKey(orderKey)),
    ),
    ...(targets.length === 0 ? { past: { action: 'close', why } } : {}),
  }
}

function pastStop({ reached }: Scene, level: Usd) {
  const words = level === reached ? 'a stop-loss rested before' : 'the stop-loss of the file belongs'
  return { reason: `The price is past ${formatPrice(level)}, where ${words}.` }
}

/** Closes at the market the share of a lost one among several stops, and leaves the others their share. */
function pastLost(level: Usd, sizeDeltaUsd: Usd) {
  const words = `where a stop-loss of ${formatUsd(sizeDeltaUsd)} rested before; the rest has its own`
  return { reason: `The price is past ${formatPrice(level)}, ${words}.` }
}

/** Tells whether a level of a stop-loss secures more of the profit than another. */
function isNearer(direction: Direction, level: Usd, other: Usd): boolean {
  return direction === 'long' ? level > other : level < other
}

/** The nearest to profit of some levels; undefined: there is none. A level of 0 or less is none. */
function mostProtective(direction: Direction, levels: readonly (Usd | undefined)[]): Usd | undefined {
  return levels.reduce<Usd | undefined>(
    (best, level) =>
      level !== undefined && level > 0n && (best === undefined || isNearer(direction, level, best))
        ? level
        : best,
    undefined,
  )
}
