/**
 * Decisions about exits that an operator planned by hand (`perpd protect`): one stop-loss and one take-profit of its own part of a position, or of all
 * of it. Every exit of the operator on that side belongs to the plan, except those of running tasks, which count as cover. Pure.
 */
import { defined } from '../base/defined.ts'
import { noPart, type Part } from '../books/sideParts.ts'
import { type PositionSide, sideKeyOf, sideOfIntent } from '../domain/accountRecords/accountRecord.ts'
import { type HandPlan, placeIn } from '../domain/accountRecords/handPlan.ts'
import { dropExits, type ExitType, exitTypes, keepExits, sumOf, waitsAt } from '../domain/exitKeeper.ts'
import type { Decision } from '../domain/order/decision.ts'
import { EXIT_TOLERANCE_BPS } from '../domain/order/exitSettings.ts'
import { positionOf } from '../domain/snapshot.ts'
import { hexKey } from '../protocol/address.ts'
import { formatPrice } from '../protocol/priceText.ts'
import { absOf, bps, maxOf, type Usd } from '../protocol/units.ts'
import { type RestingOrder, restingOrdersOf } from '../strategy/resting.ts'
import { settledExits } from './exitsLeft.ts'
import { type OwnPart, ownPartOf } from './ownPartFacts.ts'
import type { FittedExits } from './syncExits.ts'

/** An exit this near to its place stays there, bps. */
const NEAR_BPS = 1

/** Facts by which planned exits are kept. */
export interface PlannedFacts extends Omit<FittedExits, 'mayTry'> {
  /** Sides by `sideKeyOf` on which an exit was cancelled after the lists were read: none is placed there. */
  readonly lostExits: ReadonlySet<string>
}

/** Next step of a plan. */
interface PlannedStep {
  /** In the order in which they are to be taken; the stop has precedence. */
  readonly decisions: readonly Decision[]
  /** The plan without the types whose removal is done; absent: the plan stays. */
  readonly next?: HandPlan
}

/** The step that a plan calls for now. */
export function keepPlanned(plan: HandPlan, facts: PlannedFacts): PlannedStep {
  const book = bookOf(plan, facts)
  const part = book && ownPartOf(facts, book)
  if (part === undefined) return { decisions: [] }
  const decisions: Decision[] = []
  const removed = new Set<ExitType>()
  for (const type of exitTypes) {
    const ofType = keepType(plan, type, part, facts)
    // While the part is reduced at the market, nothing that waits is placed for it.
    if (ofType.some((each) => each.kind === 'decrease' && each.orderType === undefined))
      return { decisions: ofType }
    if (placeIn(plan, type) === 'none' && ofType.length === 0) removed.add(type)
    decisions.push(...ofType)
  }
  if (removed.size === 0) return { decisions }
  const { stopLoss, takeProfit, ...side } = plan
  const next = {
    ...side,
    ...defined({
      stopLoss: removed.has('stop-loss') ? undefined : stopLoss,
      takeProfit: removed.has('take-profit') ? undefined : takeProfit,
    }),
  }
  return { decisions, next }
}

/** The part of the position that the plan is for; undefined: there is none. */
function bookOf(
  { part, marketToken, direction, collateralToken }: HandPlan,
  { parts, snapshot }: PlannedFacts,
): (PositionSide & Part) | undefined {
  const side = { marketToken, direction, collateralToken }
  if (part === 'own') return parts.find((each) => sideKeyOf(each) === sideKeyOf(side))
  const position = positionOf(snapshot, side)
  return position && { ...noPart, ...side, sizeUsd: position.sizeInUsd }
}

function keepType(
  plan: HandPlan,
  type: ExitType,
  { side, ownUsd, bookUsd, price, resting: all }: OwnPart,
  { ofTasks, lostExits }: PlannedFacts,
): readonly Decision[] {
  const ofType = all.filter(({ orderType }) => orderType === type)
  const resting = ofType.filter(({ intentId }) => !ofTasks.has(intentId))
  const elsewhereUsd = sumOf(ofType) - sumOf(resting)
  const mostUsd = maxOf(0n, bookUsd - elsewhereUsd)
  if (mostUsd === 0n) return dropExits(side, resting, { reason: 'Exits of tasks cover the whole part.' })
  const of = { owner: 'the operator', side, sizeUsd: ownUsd, mostUsd, toleranceBps: EXIT_TOLERANCE_BPS }
  const isHeldBack = lostExits.has(sideKeyOf(side))
  const triggerPrice = placeIn(plan, type)
  if (triggerPrice === 'none') {
    return dropExits(side, resting, { reason: `The operator removed the ${type} of the position.` })
  }
  // One that the plan does not name is made smaller only.
  if (triggerPrice === undefined) return keepExits({ ...of, exits: [{ type }] }, { resting, price })
  const facts = () => ({ price: formatPrice(price), trigger: formatPrice(triggerPrice) })
  const isWaiting = waitsAt(triggerPrice, price, side.direction, type)
  const planned = {
    ...{ type, isOne: true as const, elsewhereUsd, levels: [{ triggerPrice, facts }] },
    note: '; the operator asked for one',
    past: {
      action: 'reduce' as const,
      keepsLeverage: true,
      why: () => ({
        reason: `The price is past ${formatPrice(triggerPrice)}, where the operator asked for a ${type}.`,
        facts: facts(),
      }),
    },
    // Where the price is past the new place, the old one is better than none.
    moves: resting
      .filter(({ triggerPrice: at }) => isWaiting && at !== undefined && isFar(at, triggerPrice))
      .map(({ orderKey }) => ({ orderKey, triggerPrice })),
  }
  return keepExits({ ...of, exits: [planned], isHeldBack }, { resting, price })
}

function isFar(at: Usd, place: Usd): boolean {
  return absOf(at - place) > bps(place, NEAR_BPS)
}

/** Exits of the operator that rest on a side, are listed and not being changed; those of running tasks and of waiting entries are others'. */
export function settledOn(
  side: PositionSide,
  { snapshot, states, ofTasks }: PlannedFacts,
): readonly RestingOrder[] {
  const key = sideKeyOf(side)
  const settled = new Set(
    states
      .filter(({ intent }) => !ofTasks.has(intent.intentId) && sideKeyOf(sideOfIntent(intent)) === key)
      .flatMap(settledExits)
      .map(({ orderKey }) => hexKey(orderKey)),
  )
  return restingOrdersOf(snapshot, states).filter(
    ({ orderKey, isChanging }) => !isChanging && settled.has(hexKey(orderKey)),
  )
}
