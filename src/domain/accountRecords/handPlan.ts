/**
 * Exits that an operator planned for a position by hand (`perpd protect`). A plan is a command of the operator in the journal: it survives restarts, and
 * the keeper of exits follows it until it is removed or its part is gone.
 */
import { defined, ifDefined } from '../../base/defined.ts'
import { type Address, sameHex } from '../../protocol/address.ts'
import type { Direction } from '../../protocol/market.ts'
import type { Usd } from '../../protocol/units.ts'
import type { TradingEntry } from './tradingState.ts'

/** Name of the command whose detail is a plan. */
export const PROTECT = 'protect'

/** The side of a market that a plan is for. */
interface PlannedSide {
  readonly marketToken: Address
  readonly direction: Direction
  /** Token that backs the position. */
  readonly collateralToken: Address
}

/** A plan: the places of one stop-loss and one take-profit of a part of a position. */
export interface HandPlan extends PlannedSide {
  /** `ETH/USD [WETH-USDC]`. */
  readonly symbol: string
  /** The operator's own part of the position, or all of it, whoever opened it. */
  readonly part: 'own' | 'whole'
  /** Absent: exits of this type rest as they were placed, and are made smaller with the part only. */
  readonly stopLoss?: PlannedPlace
  readonly takeProfit?: PlannedPlace
}

/** The place of an exit, USD per whole index token. `none`: those that rest are cancelled, and then the plan names that type no more. */
export type PlannedPlace = Usd | 'none'

/** The detail of a command that sets a plan; a plan without places removes the one of its side. */
export function planDetail({ stopLoss, takeProfit, ...side }: HandPlan): string {
  return JSON.stringify({ ...side, stopLoss: stopLoss?.toString(), takeProfit: takeProfit?.toString() })
}

/** The plan of a side of a market with one collateral; undefined: there is none. */
export function planOn(plans: readonly HandPlan[], side: PlannedSide): HandPlan | undefined {
  return plans.find(
    (plan) =>
      plan.direction === side.direction &&
      sameHex(plan.marketToken, side.marketToken) &&
      sameHex(plan.collateralToken, side.collateralToken),
  )
}

/** The place of an exit of this type in a plan; undefined: the plan does not name it. */
export function placeIn(
  { stopLoss, takeProfit }: HandPlan,
  type: 'stop-loss' | 'take-profit',
): PlannedPlace | undefined {
  return type === 'stop-loss' ? stopLoss : takeProfit
}

/** A plan as its command holds it: prices are decimal text. */
type WrittenPlan = Omit<HandPlan, 'stopLoss' | 'takeProfit'> & {
  readonly stopLoss?: string
  readonly takeProfit?: string
}

/** The plans after one more command of an operator; other commands change none. Pure. */
export function applyHandPlan(
  plans: readonly HandPlan[],
  { command, detail }: Extract<TradingEntry, { readonly kind: 'operator.command' }>,
): readonly HandPlan[] {
  if (command !== PROTECT) return plans
  const { stopLoss, takeProfit, ...side } = JSON.parse(detail) as WrittenPlan
  const before = planOn(plans, side)
  const others = plans.filter((plan) => plan !== before)
  if (stopLoss === undefined && takeProfit === undefined) return others
  const places = { stopLoss: ifDefined(stopLoss, placeOf), takeProfit: ifDefined(takeProfit, placeOf) }
  return [...others, { ...side, ...defined(places) }]
}

function placeOf(text: string): PlannedPlace {
  return text === 'none' ? text : BigInt(text)
}
