/** Wish of somebody about a task: an operator's command once it is understood, or a strategy's decision. Prices are USD per whole index token. */
import type { Address } from '../../protocol/address.ts'
import type { Direction } from '../../protocol/market.ts'
import type { Usd } from '../../protocol/units.ts'

/** Budget of the task; missing figures are derived from its size and parts. */
export interface BudgetWish {
  /** Orders at the venue. */
  readonly orders?: number
  readonly feesUsd?: Usd
  readonly minutes?: number
}

interface Wish {
  readonly budget?: BudgetWish
}

interface SideWish extends Wish {
  readonly marketToken: Address
  readonly direction: Direction
  readonly collateralToken: Address
}

/** A size in parts over a time. */
export interface TwapWish extends SideWish {
  readonly kind: 'twap'
  /** `increase` when absent. */
  readonly action?: 'increase' | 'decrease'
  readonly sizeUsd: Usd
  /** Increases: size / collateral, bps; 10000 = 1x. */
  readonly leverageBps?: number
  /** 2 to 200. */
  readonly parts: number
  readonly minutes: number
  /** The most of the capacity that a part takes, bps; 2500 when absent. */
  readonly shareBps?: number
  readonly worstPrice?: Usd
  /** `auto` when absent. */
  readonly route?: 'auto' | 'own'
}

/** Adds until the position has a size. */
export interface AccumulateWish extends SideWish {
  readonly kind: 'accumulate'
  readonly targetUsd: Usd
  readonly leverageBps: number
  readonly worstPrice: Usd
  /** 2500 when absent. */
  readonly shareBps?: number
  /** Least time between two orders; 60 when absent. */
  readonly everySeconds?: number
  /** Least size of an order, USD; a twentieth of the missing size when absent. */
  readonly leastUsd?: Usd
}

/** Opens in rungs. Exactly one of `stepBps` and `everySeconds`. */
export interface LadderWish extends SideWish {
  readonly kind: 'ladder'
  readonly sizeUsd: Usd
  readonly leverageBps: number
  /** 2 to 50. */
  readonly rungs: number
  /** Each rung in terms of the one before, bps; 10000 when absent. */
  readonly growthBps?: number
  readonly stepBps?: number
  readonly everySeconds?: number
  /** From the averaged entry, bps. */
  readonly takeProfitBps?: number
  /** From the price of the first rung, bps. */
  readonly stopLossBps?: number
}

/** A limit that follows the price, then the market. */
export interface ChaseWish extends SideWish {
  readonly kind: 'chase'
  /** `increase` when absent. */
  readonly action?: 'increase' | 'decrease'
  readonly sizeUsd: Usd
  readonly leverageBps?: number
  readonly worstPrice: Usd
  /** Time after which the rest is taken at the market. */
  readonly minutes: number
  /** From the price, bps, 1 or more; 5 when absent. */
  readonly offsetBps?: number
  /** Least move, bps; 5 when absent. */
  readonly stepBps?: number
  /** Least time between two moves; 15 when absent. */
  readonly everySeconds?: number
}

/** One entry with its exits. */
export interface BracketWish extends SideWish {
  readonly kind: 'bracket'
  readonly sizeUsd: Usd
  readonly leverageBps: number
  /** Absent: at the market. A better price than the market's is a limit, a worse one a stop. */
  readonly entryPrice?: Usd
  readonly takeProfit?: Usd
  readonly stopLoss: Usd
}

/** One market of a rebalance. */
export interface WeightWish {
  readonly marketToken: Address
  readonly collateralToken: Address
  /** Share of the total, bps; below 0 for a short, 0 for none. */
  readonly weightBps: number
}

/** Positions at weights of a total. */
export interface RebalanceWish extends Wish {
  readonly kind: 'rebalance'
  readonly totalUsd: Usd
  /** Their sizes add up to at most 10000. */
  readonly weights: readonly WeightWish[]
  readonly leverageBps: number
  /** Drift that is left alone, bps of the total; 100 when absent. */
  readonly bandBps?: number
  /** 2500 when absent. */
  readonly shareBps?: number
  /** Least size of an order, USD; 10 when absent. */
  readonly leastUsd?: Usd
}

/** A task that is wanted. */
export type TaskWish = TwapWish | AccumulateWish | LadderWish | ChaseWish | BracketWish | RebalanceWish
