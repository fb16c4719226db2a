/** What a strategy may wish for. A decision is a wish: risk sizes it, may cut it, and may deny it. */
import type { Address } from './address.ts'
import type { Direction } from './market.ts'
import type { Usd } from './units.ts'

/** A number or word that explains a decision; shown by `perpd explain`. */
export type DecisionFacts = Readonly<Record<string, string | number | boolean>>

interface DecisionBase {
  readonly marketToken: Address
  readonly direction: Direction
  /** One plain sentence: why. Shown in logs and by `perpd explain`. */
  readonly reason: string
  /** The numbers behind the reason. */
  readonly facts?: DecisionFacts
}

/** Open or add to a position with a market order. */
export interface IncreaseDecision extends DecisionBase {
  readonly kind: 'increase'
  /** Wished size, USD; risk may cut it to what capacity and limits allow. */
  readonly sizeDeltaUsd: Usd
  /** Collateral brought = size / leverage; 10000 = 1x. */
  readonly leverageBps: number
  /** Token that pays and backs the position: the market's long or short token. */
  readonly collateralToken: Address
}

/** Reduce a position by a part with a market order. */
export interface DecreaseDecision extends DecisionBase {
  readonly kind: 'decrease'
  /** Size to take off, USD; never more than the position has. */
  readonly sizeDeltaUsd: Usd
  /** Collateral token of the position to reduce; one market side can have two positions. */
  readonly collateralToken: Address
  /** True withdraws collateral pro rata so that leverage stays; false leaves it, so that leverage falls. */
  readonly keepLeverage: boolean
}

/** Close a whole position with a market order. */
export interface CloseDecision extends DecisionBase {
  readonly kind: 'close'
  readonly collateralToken: Address
}

/** A wish of a strategy. */
export type Decision = IncreaseDecision | DecreaseDecision | CloseDecision

/** Whether the decision can add exposure. */
export function addsRisk(decision: Pick<Decision, 'kind'>): boolean {
  return decision.kind === 'increase'
}
