/** Common parts of the starts of tasks that make orders over time: fields of their bodies, facts and denials of their plans. Pure. */
import { z } from 'zod'
import {
  commandId,
  direction,
  dollars,
  line,
  pool,
  shareBps as share,
  times,
  typed,
} from '../base/bodyFields.ts'
import type { Denial } from '../domain/order/intent.ts'
import type { TaskWish } from '../domain/order/taskWish.ts'
import { marketOf, type Snapshot } from '../domain/snapshot.ts'
import type { ExecutorProgress } from '../domain/taskStates/executorState.ts'
import type { Address } from '../protocol/address.ts'
import { BPS_ONE, formatDollars, type Usd } from '../protocol/units.ts'
import type { ExecutorView } from './executorView.ts'
import { plannedUsd, type TaskSide } from './taskOrders.ts'

/** Ranges of a task's whole numbers, for the control port and for the command that calls it. */
export const taskRanges = {
  /** Seconds between two orders or rungs of a task: a day at most. */
  everySecondsLeast: 10,
  everySecondsMost: 86_400,
  /** A week. */
  minutesMost: 10_080,
  /** Parts of a twap, rungs of a ladder, orders of a budget. */
  partsMost: 200,
  rungsMost: 50,
  ordersMost: 1_000,
} as const

/** A minute, ms. */
export const minuteMs = 60_000
/** Multiple of a task's parts, and of its time, that its budget has by default. */
export const SPARE = 2
/** The most of the capacity that an order takes when nothing is said, bps. */
export const SHARE_BPS = 2_500
/** An order whose fate is unknown takes its time: a short task has so much at least. */
export const LEAST_MINUTES = 30
/** A day. */
export const DAY_MINUTES = 1_440
/** A week. */
export const WEEK_MINUTES = 10_080

const budget = {
  maxOrders: z.number().int().min(1).max(taskRanges.ordersMost).exactOptional(),
  maxFees: dollars.exactOptional(),
  maxMinutes: z.number().int().min(1).max(taskRanges.minutesMost).exactOptional(),
}
/** Fields of every start. */
export const startHead = { id: commandId, ...budget }
/** Fields of a start on one side of a market. */
export const startSide = { market: line(120), direction, collateral: pool.exactOptional() }
/** Size / collateral, times. */
export const leverage = times
/** The most of the capacity that an order takes, bps. */
export const shareBps = share.default(SHARE_BPS)
/** Time between two orders. */
export const everySeconds = z
  .number()
  .int()
  .min(taskRanges.everySecondsLeast)
  .max(taskRanges.everySecondsMost)
  .exactOptional()
/** Minutes, a week at most. */
export const minutes = z.number().int().min(1).max(taskRanges.minutesMost)
/** A distance, bps: less than the whole price. */
export const distanceBps = z.number().int().min(1).max(9_999).meta(typed('percent'))

/** The side of a wish, as it was understood. */
export type WishSide = Pick<
  Extract<TaskWish, { kind: 'twap' }>,
  'marketToken' | 'direction' | 'collateralToken' | 'budget'
>

/** The start of one kind: the fields of its body, its request in words, its wish, and its plan. */
export interface TaskStart<Body extends z.ZodObject, Wish extends TaskWish> {
  /** Body of the operator's command. */
  readonly body: Body
  /** Describes the request without id, leverage, collateral and budget; two starts of one id must agree in it. */
  asked(command: Omit<z.output<Body>, 'id'>): readonly string[]
  /** The wish of a command on a side. Absent: the kind is on no single side. */
  wish?(command: z.output<Body>, side: WishSide, leverage: { readonly leverageBps?: number }): Wish
  /** The kind's own part of the task, or why there can be none. */
  draft(wish: Wish, facts: PlanFacts): Draft | Denial
}

/** A start with the types of its body and its wish. */
export function taskStart<Wish extends TaskWish>() {
  return <Body extends z.ZodObject>(start: TaskStart<Body, Wish>): TaskStart<Body, Wish> => start
}

/** Facts for planning a task. */
export interface PlanFacts extends Pick<ExecutorView, 'ownUsd'> {
  /** Snapshot of the task's markets. */
  readonly snapshot: Snapshot
  /** Unix ms. */
  readonly nowMs: number
  /** The most that sending one order may cost, USD. */
  readonly mostSendingUsd: Usd
  readonly asked: string
  readonly owner?: string
}

/** A kind's own part of a task, and the base of its budget. */
export interface Draft {
  readonly own: object
  readonly sizeUsd: Usd
  readonly state: ExecutorProgress
  /** Orders that it takes when all goes well, without exits; its budget has twice of it. */
  readonly orders: number
  /** Exits that come with each of them; absent: none. */
  readonly exits?: number
  readonly minutes: number
}

/** A side with the symbol of its market. */
export type SideBase = TaskSide & { readonly symbol: string }

/** Drafts a task on one side: with its market and its leverage in bps, or denied where the market is not read or the leverage too low. */
export function onSide(
  wish: Exclude<TaskWish, { kind: 'rebalance' }>,
  facts: PlanFacts,
  draft: (base: SideBase, leverageBps: number) => Draft | Denial,
): Draft | Denial {
  const { marketToken, direction: side, collateralToken, leverageBps = 0 } = wish
  const action = 'action' in wish ? (wish.action ?? 'increase') : 'increase'
  const view = marketOf(facts.snapshot, marketToken)
  if (view === undefined) return unread(marketToken)
  const { symbol, marketToken: token } = view.market
  if (action === 'increase' && leverageBps < BPS_ONE) return tooLowLeverage
  return draft({ symbol, marketToken: token, direction: side, collateralToken, action }, leverageBps)
}

/** The denial of an increase without a leverage. */
export const tooLowLeverage: Denial = {
  code: 'MIN_LEVERAGE',
  reason: 'an increase needs a leverage of 1 or more, for example --leverage 2',
}

/** The denial where a market was not read. */
export function unread(marketToken: Address): Denial {
  return { code: 'MARKET_UNKNOWN', reason: `the market ${marketToken} cannot be read now; retry` }
}

/** Describes the part of a position that counts. */
export function planned({ ownUsd }: PlanFacts): string {
  return ownUsd === undefined ? 'the position' : 'its own part of the position'
}

/** The denial of a reduction by more than is held. */
export function aboveHeld(base: SideBase, sizeUsd: Usd, facts: PlanFacts): Denial {
  return {
    code: 'SIZE_ABOVE_POSITION',
    reason: `${planned(facts)} is ${formatDollars(plannedUsd(base, facts, facts.snapshot))}, which is less than ${formatDollars(sizeUsd)}`,
  }
}

/** Describes the share of the capacity. */
export function ofCapacity(shareBps: number, what: string): string {
  return `at most ${shareBps / 100} percent of the capacity ${what}`
}

/** Basis points in words. */
export function percent(basisPoints: number): string {
  return `${basisPoints / 100} percent`
}
