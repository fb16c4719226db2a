/** Decisions about the exits of an instance: by the plan of its file, or fitted to its parts where no file requests any. Pure. */

import type { Part } from '../books/sideParts.ts'
import { type PositionSide, sideKeyOf, sideOfIntent } from '../domain/accountRecords/accountRecord.ts'
import { dropExits, exitTypes, keepExits, sumOf } from '../domain/exitKeeper.ts'
import type { Decision } from '../domain/order/decision.ts'
import type { PricedExits } from '../domain/order/exitSettings.ts'
import { type IntentState, lastAttempt } from '../domain/order/intent.ts'
import { isExit } from '../domain/order/orderLegs.ts'
import { marketOf } from '../domain/snapshot.ts'
import { hexKey } from '../protocol/address.ts'
import { maxOf } from '../protocol/units.ts'
import { restingOrdersOf } from '../strategy/resting.ts'
import { settledExits } from './exitsLeft.ts'
import { type FilePlanFacts, filePlan, ofStrategy } from './filePlan.ts'
import { ownPartOf } from './ownPartFacts.ts'

/** Input for maintaining the exits of one instance. */
export interface ExitSync extends FilePlanFacts {
  /** Returns the file's exits for a market; undefined while a denied one waits. */
  readonly exitsOn: (marketToken: string) => PricedExits | undefined
  /** The instance's own open intents, and those whose fills the lists may not show yet. */
  readonly states: readonly IntentState[]
  /** The instance's books with a position. */
  readonly parts: readonly (PositionSide & Part)[]
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
export function fitExits({ mayTry, ofTasks, parts, ...kept }: FittedExits): readonly Decision[] {
  return parts.flatMap((part) => {
    const own = mayTry(part.marketToken) ? ownPartOf(kept, part) : undefined
    if (own === undefined) return []
    const { side, ownUsd: sizeUsd, bookUsd, price } = own
    return exitTypes.flatMap((type) => {
      const ofType = own.resting.filter(({ orderType }) => orderType === type)
      const resting = ofType.filter(({ intentId }) => !ofTasks.has(intentId))
      const mostUsd = maxOf(0n, bookUsd - (sumOf(ofType) - sumOf(resting)))
      return keepExits({ ...ofStrategy, side, sizeUsd, mostUsd, exits: [{ type }] }, { resting, price })
    })
  })
}

function ofPart(kept: ExitSync, book: PositionSide & Part): readonly Decision[] {
  const { exitsOn, lostExits, snapshot } = kept
  const exits = exitsOn(book.marketToken)
  const part = exits && ownPartOf(kept, book)
  if (exits === undefined || part === undefined) return []
  const plan = { ...filePlan(exits, part, kept), isHeldBack: lostExits?.has(sideKeyOf(book)) === true }
  const leastUsd = marketOf(snapshot, book.marketToken)?.market.minPositionSizeUsd ?? 0n
  return keepExits(plan, { ...part, leastUsd })
}

/**
 * Returns the cancels of exits whose part an order of the instance closed: the other exit, as a rule. They would close the next position there. A
 * part that merely does not show does not count, nor one that others reduced: `orphanCancels` waits until that is sure.
 */
function leftOvers({ snapshot, states, parts }: ExitSync): readonly Decision[] {
  const held = new Set(parts.map(sideKeyOf))
  const isGone = (side: PositionSide, ofSide: readonly IntentState[]) =>
    !held.has(sideKeyOf(side)) && ofSide.some(hasReduced)
  return goneExits(
    { snapshot, states },
    isGone,
    'This strategy has no part of the position left: its resting exits are cancelled.',
  )
}

/** Returns the cancels of exits that rest on sides of which these intents' owner has no part any more. */
export function goneExits(
  { snapshot, states }: Pick<ExitSync, 'snapshot' | 'states'>,
  isGone: (side: PositionSide, states: readonly IntentState[]) => boolean,
  reason: string,
): readonly Decision[] {
  const rows = new Map(restingOrdersOf(snapshot, states).map((order) => [hexKey(order.orderKey), order]))
  const sides = Map.groupBy(states, ({ intent }) => sideKeyOf(sideOfIntent(intent)))
  return [...sides.values()].flatMap((ofSide) => {
    const side = ofSide[0] && sideOfIntent(ofSide[0].intent)
    if (side === undefined || !isGone(side, ofSide)) return []
    const resting = ofSide.flatMap(settledExits).flatMap(({ orderKey }) => rows.get(hexKey(orderKey)) ?? [])
    return dropExits(
      side,
      resting.filter(({ isChanging }) => !isChanging),
      { reason },
    )
  })
}

/** Tells whether an order of the intent reduced the part. */
function hasReduced(state: IntentState): boolean {
  const { kind } = state.intent
  return (lastAttempt(state)?.children ?? []).some(
    (child) => child.phase === 'EXECUTED' && (isExit(child) || kind === 'decrease' || kind === 'close'),
  )
}
