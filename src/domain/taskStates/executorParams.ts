/**
 * Goals and progress of tasks that make orders over time, as the journal persists them; the twap has its own file. Prices are USD per whole index
 * token.
 */
import type { Address } from '../../protocol/address.ts'
import type { Direction } from '../../protocol/market.ts'
import type { Usd } from '../../protocol/units.ts'
import type { ExecutorParams, ExecutorProgress, TaskGoal } from './executorState.ts'

/** Version of the parameters and the states below. */
export const EXECUTORS_VERSION = 1

/** Adds to a position until it has a size, while the price is within a bound, as far as the venue's capacity permits. */
export interface AccumulateParams extends ExecutorParams {
  readonly action: 'increase'
  /** Size / collateral of each order, bps; 10000 = 1x. */
  readonly leverageBps: number
  /** Target size of the position, USD; `sizeUsd` is the missing size at the start. */
  readonly targetUsd: Usd
  /** No order while the oracle's price is worse. */
  readonly worstPrice: Usd
  /** The most of the capacity of the moment that an order may take, bps. */
  readonly shareBps: number
  /** Least time between two orders, ms. */
  readonly everyMs: number
  /** Least size of an order, USD, unless less is left. */
  readonly leastUsd: Usd
}

/** Progress of an accumulation. */
export interface AccumulateProgress extends ExecutorProgress {
  /** Time of its newest order, Unix ms; 0 before the first. */
  readonly lastMs: number
}

/** Opens in rungs that get better by price or come by time, and leaves the whole by one target and one stop. */
export interface LadderParams extends ExecutorParams {
  readonly action: 'increase'
  readonly leverageBps: number
  /** 2 to 50. */
  readonly rungs: number
  /** Each rung's size in terms of the one before, bps; 10000: all alike. */
  readonly growthBps: number
  /** By price: the distance between two rungs in terms of the first one's price, bps. This or `everyMs`. */
  readonly stepBps?: number
  /** By time: between two rungs, ms. */
  readonly everyMs?: number
  /** Distance of the target from the averaged entry, bps. Absent: no target. */
  readonly takeProfitBps?: number
  /** Distance of the stop from the price of the first rung, bps: it stays where it is while the average moves. Absent: no stop. */
  readonly stopLossBps?: number
}

/** Progress of a ladder. */
export interface LadderProgress extends ExecutorProgress {
  /** Rungs that are placed. */
  readonly rung: number
  /** The oracle's price when the first rung was made. */
  readonly firstPrice?: Usd
  /** Time of the newest rung, Unix ms. */
  readonly lastMs?: number
  /** Ids of intents of rungs that its owner's file took back, and that are to be made anew; absent: none. */
  readonly takenBack?: readonly string[]
  readonly kept?: ExitSync
}

/** The latest look that found the exits of a task as they should be. */
export interface ExitSync {
  /** Unix ms. */
  readonly atMs: number
  /** Size to close as far as nobody else reduced it, USD. */
  readonly sizeUsd: Usd
  /** Part of the owner's book of the side at that time that its older tasks did not claim for their exits, USD. */
  readonly bookUsd: Usd
  /** Time from which the list shows no position, Unix ms: the report of its close may be late. Absent: the list shows it. */
  readonly goneMs?: number
}

/** A limit that follows the price; the rest is taken at the market when its time is over. */
export interface ChaseParams extends ExecutorParams {
  /** Increases: size / collateral, bps. */
  readonly leverageBps: number
  /** Distance of the limit from the oracle's price, bps. */
  readonly offsetBps: number
  /** Least distance of a move, bps of the limit's price. */
  readonly stepBps: number
  /** Least time between two moves, ms. */
  readonly everyMs: number
  /** The limit never goes beyond, and no order at the market is made while the price is. */
  readonly worstPrice: Usd
  /** Time after which the rest is made at the market, ms from the start. */
  readonly patienceMs: number
}

/** Progress of a chase. */
export interface ChaseProgress extends ExecutorProgress {
  /** Time when the limit was last placed or moved, Unix ms; 0 before. */
  readonly movedMs: number
}

/** One entry and its exits, of which one cancels the other. */
export interface BracketParams extends ExecutorParams {
  readonly action: 'increase'
  readonly leverageBps: number
  /** Order type of the entry; `market`: it does not wait. */
  readonly entry: 'market' | 'limit' | 'stop-market'
  /** limit and stop-market. */
  readonly entryPrice?: Usd
  readonly takeProfit?: Usd
  readonly stopLoss: Usd
}

/** Progress of a bracket. */
export interface BracketProgress extends ExecutorProgress {
  readonly kept?: ExitSync
}

/** One change that brings a market to its weight. */
export interface RebalanceMove {
  readonly symbol: string
  readonly marketToken: Address
  readonly direction: Direction
  readonly collateralToken: Address
  readonly action: 'increase' | 'decrease'
  /** USD, above 0. */
  readonly sizeUsd: Usd
}

/** Brings positions to target weights of a sum, once. */
export interface RebalanceParams extends TaskGoal {
  readonly leverageBps: number
  /** Moves in their order: reductions come before increases. No two are on one side of one market. */
  readonly moves: readonly RebalanceMove[]
  /** The most of the capacity of the moment that an order may take, bps. */
  readonly shareBps: number
  /** Least size of an order, USD, unless less is left. */
  readonly leastUsd: Usd
}

/** Progress of a rebalance. */
export type RebalanceProgress = ExecutorProgress
