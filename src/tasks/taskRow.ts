/**
 * Row of a kind of task that makes orders over time: one file a kind, with its fields, its words, its plan and its draft. The schema of a
 * strategy's wish, the body of the operator's command and the request in words derive from the fields. Pure.
 */
import { z } from 'zod'
import { commandId, direction, dollars, line, pool, times } from '../base/bodyFields.ts'
import { address, leverageBps, sideDirection, usdAmount, whole } from '../domain/order/decisionValues.ts'
import type { Denial } from '../domain/order/intent.ts'
import type { Snapshot } from '../domain/snapshot.ts'
import type { ExecutorParams, ExecutorProgress, TaskGoal } from '../domain/taskStates/executorState.ts'
import type { Address } from '../protocol/address.ts'
import type { Direction } from '../protocol/market.ts'
import { formatDollars, type Usd } from '../protocol/units.ts'
import { type ExecutorPlan, type ExecutorStand, executorTask } from './executorStep.ts'
import type { ExecutorView } from './executorView.ts'
import {
  type FilledFields,
  type GivenFields,
  type KeptFields,
  saidOf,
  type TaskFields,
  WEEK_MINUTES,
} from './taskFields.ts'
import type { RunningTask, TaskKind } from './taskKind.ts'
import { plannedUsd, type TaskSide } from './taskOrders.ts'

/** Most orders of a budget. */
const ORDERS_MOST = 1_000

const budgetWish = z
  .strictObject({
    orders: whole(1, ORDERS_MOST).exactOptional().describe('Orders at the venue.'),
    feesUsd: usdAmount.exactOptional().describe('Fees of these orders.'),
    minutes: whole(1, WEEK_MINUTES).exactOptional().describe('Time from the start.'),
  })
  .describe('Budget of the task; missing figures are derived from its size and parts.')

/** Budget that somebody wants for a task. */
export type BudgetWish = Readonly<z.output<typeof budgetWish>>

const budgetTexts = {
  maxOrders: z.number().int().min(1).max(ORDERS_MOST).exactOptional(),
  maxFees: dollars.exactOptional(),
  maxMinutes: z.number().int().min(1).max(WEEK_MINUTES).exactOptional(),
}

/** Where a kind works: it `opens` on one side, it opens or reduces (`either`), or it works on no single side. */
type Place = 'opens' | 'either' | 'none'

/** The side of a wish. */
export interface WishSide {
  readonly marketToken: Address
  readonly direction: Direction
  readonly collateralToken: Address
}

interface WishHead<Name> {
  readonly kind: Name
  readonly budget?: BudgetWish
}
/** Fields of a wish that opens a position. */
export interface OpeningWish {
  /** Size / collateral, bps; 10000 = 1x. */
  readonly leverageBps: number
}
interface EitherWish extends Partial<OpeningWish> {
  /** `increase` when absent. */
  readonly action?: 'increase' | 'decrease'
}

/** A wish of a kind, as a strategy's decision has it. */
export type WishOf<Name, Fields extends TaskFields, Works extends Place> = WishHead<Name> &
  (Works extends 'none' ? unknown : WishSide) &
  (Works extends 'either' ? EitherWish : OpeningWish) &
  GivenFields<Fields>

/** A wish of any kind, as code that serves all kinds sees it. */
export interface AnyWish extends WishHead<string>, Partial<WishSide>, EitherWish {}

/** Parameters of a task on one side, as the journal persists them. */
export type SideParams<Fields extends TaskFields> = ExecutorParams & OpeningWish & KeptFields<Fields>

/** A side with the symbol of its market, and whether it is opened or reduced. */
export type SideBase = TaskSide & { readonly symbol: string }

/** Values that a draft is made of: the wish with its initial values, and the side. */
export type Drafting<Fields extends TaskFields, Works extends Place> = FilledFields<Fields> &
  OpeningWish &
  (Works extends 'none' ? unknown : SideBase)

/** Texts of an operator's start. */
export type StartTexts = Readonly<Record<string, unknown>>

/** Facts for planning a task that its owner decides. */
export interface OwnerFacts extends Pick<ExecutorView, 'ownUsd'> {
  /** The most that sending one order may cost, USD. */
  readonly mostSendingUsd: Usd
  /** The same of an order that only reduces, which may be signed for more (`signing.reducing`), USD. */
  readonly mostReducingUsd: Usd
}

/** Facts for planning a task. */
export interface PlanFacts extends OwnerFacts {
  /** Snapshot of the task's markets. */
  readonly snapshot: Snapshot
  /** Unix ms. */
  readonly nowMs: number
  readonly asked: string
  readonly owner?: string
}

/** A kind's own part of a task, and the base of its budget. */
export interface Draft {
  /** Parameters besides the side and the fields. */
  readonly own?: object
  readonly sizeUsd: Usd
  readonly state: ExecutorProgress
  /** Orders that it needs when all goes well, without exits; its budget has twice of it. */
  readonly orders: number
  /** Most moves of an order that only better its price; absent: none. Its budget has as many as its size is worth. */
  readonly moves?: number
  /** Exits that come with each of them; absent: none. */
  readonly exits?: number
  readonly minutes: number
}

/** Facts and words of a kind, whatever its fields are. */
interface RowBase {
  readonly name: string
  /** Version of its parameters and state. */
  readonly version: number
  /** The task in words; absent: `a` and its name. */
  readonly noun?: string
  /** One sentence or two: its work. */
  readonly does: string
  /** Condition of its good end, `when ...`. */
  readonly doneWhen: string
  /** Arguments and flags of a start on the command line. */
  readonly example: string
  readonly works: Place
  readonly fields: TaskFields
  /** Two fields of which a start has exactly one. */
  readonly oneOf?: readonly string[]
  /** First words of an operator's request. `side`: `open ETH/USD [WETH-USDC] long`. */
  lead(texts: StartTexts, side: string): string
  /** Tells whether it maintains exits of the position that it opens. Absent: it has none, and its reductions are its work. */
  hasExits?(params: object): boolean
  /** True if its plan is consulted while orders of it rest; absent: one order at a time. */
  readonly plansAround?: boolean
  /** Makes the kind's own part of the task, or the reason why there can be none. */
  draft(wish: never, facts: PlanFacts): Draft | Denial
  /** Describes its outlook; absent: by its size and its noun. `isByVenue`: one message has all parts. */
  outlook?(params: never, isByVenue: boolean): string
}

/** Parts of a kind that its file gives. */
export interface KindRow<Name extends string, Fields extends TaskFields, Works extends Place, Params, State>
  extends RowBase {
  readonly name: Name
  readonly works: Works
  readonly fields: Fields
  readonly oneOf?: readonly (keyof Fields & string)[]
  plan(task: RunningTask<Params, State>, view: ExecutorView, stand: ExecutorStand): ExecutorPlan<State>
  draft(wish: Drafting<Fields, Works>, facts: PlanFacts): Draft | Denial
  outlook?(params: Params, isByVenue: boolean): string
}

/** A row. */
export interface TaskRow<Wish, Params, State> extends RowBase, TaskKind<Params, State, ExecutorView> {
  readonly name: string
  readonly version: number
  /** Schema of a strategy's wish. */
  readonly wish: z.ZodType<Wish>
  /** Body of the operator's command. */
  readonly body: z.ZodObject
}

/** A row of any kind. A task goes only to the row of its own name, whose parameters it has. */
export type AnyTaskRow = TaskRow<unknown, TaskGoal, ExecutorProgress>

/** Makes a row. */
export function taskRow<
  const Name extends string,
  Fields extends TaskFields,
  Works extends Place,
  Params extends TaskGoal,
  State extends ExecutorProgress,
>(parts: KindRow<Name, Fields, Works, Params, State>): TaskRow<WishOf<Name, Fields, Works>, Params, State> {
  const { name, version, plansAround = false, hasExits } = parts
  const { next } = executorTask<Params, State>({
    name,
    version,
    symbolsOf,
    opens: hasExits !== undefined,
    plansAround,
    // Exits are managed while anything of the position is left.
    outlasts: (params, { use }) => hasExits?.(params) === true && use.doneUsd > use.exitedUsd,
    reduces: (params, { use }) =>
      hasExits === undefined ? hasReduction(params) : hasExits(params) && use.doneUsd > use.exitedUsd,
    plan: (task, view, stand) => parts.plan(task, view, stand),
  })
  const wish = wishSchema(parts) as unknown as z.ZodType<WishOf<Name, Fields, Works>>
  return { ...parts, next, wish, body: bodySchema(parts) }
}

type Described = Pick<AnyTaskRow, 'name' | 'works' | 'fields' | 'oneOf'>

function wishSchema({ name, works, fields }: Described): z.ZodObject {
  const leverage = leverageBps.describe('Size / collateral of what opens.')
  const own = Object.entries(fields).map(([field, { schema, given, means, initial }]) => {
    const isAbsent = given !== 'needed'
    const meaning = initial === undefined ? means : `${means}; ${initial} when absent`
    return [field, (isAbsent ? schema.exactOptional() : schema).describe(`${meaning}.`)]
  })
  return z.strictObject({
    kind: z.literal(name),
    ...(works === 'none'
      ? {}
      : {
          marketToken: address.describe('Market.'),
          direction: sideDirection.describe('Side of the market.'),
          collateralToken: address.describe('Token of its pool that backs the position.'),
        }),
    budget: budgetWish.exactOptional(),
    ...(works === 'either'
      ? {
          action: z.enum(['increase', 'decrease']).exactOptional().describe('`increase` when absent.'),
          leverageBps: leverage.exactOptional(),
        }
      : { leverageBps: leverage }),
    ...Object.fromEntries(own),
  })
}

function bodySchema({ name, works, fields }: Described): z.ZodObject {
  const own = Object.entries(fields).map(
    ([field, { typed = field, text, given, isInitialSaid, initial }]) => [
      typed,
      isInitialSaid
        ? (text as z.ZodType<unknown, unknown>).default(initial)
        : given === 'needed'
          ? text
          : text.exactOptional(),
    ],
  )
  return z.strictObject({
    id: commandId,
    ...budgetTexts,
    ...(works === 'none' ? {} : { market: line(120), direction }),
    collateral: pool.exactOptional(),
    kind: z.literal(name),
    ...(works === 'either'
      ? { reduce: z.boolean().default(false), leverage: times.exactOptional() }
      : { leverage: times }),
    ...Object.fromEntries(own),
  })
}

/** Describes an operator's start without its id: two starts of one id must agree in it. */
export function askedOf(row: AnyTaskRow, texts: StartTexts): string {
  const { maxOrders, maxFees, maxMinutes, leverage, collateral, reduce, market, direction } = texts
  const side = `${reduce === true ? 'reduce' : 'open'} ${market} ${direction}`
  return [
    row.lead(texts, side),
    ...(leverage === undefined ? [] : [`at ${leverage}x`]),
    ...(collateral === undefined ? [] : [`on the ${collateral} token`]),
    ...saidOf(row.fields, texts),
    ...(maxOrders === undefined ? [] : [`at most ${maxOrders} orders`]),
    ...(maxFees === undefined ? [] : [`at most $${maxFees} of fees`]),
    ...(maxMinutes === undefined ? [] : [`at most ${maxMinutes} min`]),
  ].join(', ')
}

/** The task in words: `a twap`. */
export function nounOf({ name, noun = `a ${name}` }: AnyTaskRow): string {
  return noun
}

/** Describes the outlook of a task: `opens $500.00 of long ETH/USD [WETH-USDC], as a bracket`. `isByVenue`: one message has all parts. */
export function outlookOf(row: AnyTaskRow, params: TaskGoal, isByVenue: boolean): string {
  if (row.outlook !== undefined) return row.outlook(params as never, isByVenue)
  return `${openingText(params as ExecutorParams)}, as ${nounOf(row)}`
}

/** Describes a size on one side: `opens $500.00 of long ETH/USD [WETH-USDC]`. */
export function openingText({ action, direction, symbol, sizeUsd }: TaskMove): string {
  return `${action === 'increase' ? 'opens' : 'takes off'} ${formatDollars(sizeUsd)} of ${direction} ${symbol}`
}

/** One change that brings a market to its weight. */
export interface TaskMove extends SideBase {
  /** USD, above 0. */
  readonly sizeUsd: Usd
}

/** Returns the moves of a task: of one on a single side, all of it. */
export function movesOf(params: TaskGoal): readonly TaskMove[] {
  return 'moves' in params ? (params.moves as readonly TaskMove[]) : [params as ExecutorParams]
}

/** Returns the markets of a task. */
export function symbolsOf(params: TaskGoal): readonly string[] {
  return movesOf(params).map(({ symbol }) => symbol)
}

function hasReduction(params: TaskGoal): boolean {
  return movesOf(params).some(({ action }) => action === 'decrease')
}

/** Describes the part of a position that counts. */
export function planned({ ownUsd }: PlanFacts): string {
  return ownUsd === undefined ? 'the position' : 'its own part of the position'
}

/** The denial of a reduction by more than is held; undefined: it is not more, or it adds. */
export function aboveHeld(side: SideBase & { readonly sizeUsd: Usd }, facts: PlanFacts): Denial | undefined {
  const { action, sizeUsd } = side
  const heldUsd = plannedUsd(side, facts, facts.snapshot)
  if (action === 'increase' || sizeUsd <= heldUsd) return undefined
  return {
    code: 'SIZE_ABOVE_POSITION',
    reason: `${planned(facts)} is ${formatDollars(heldUsd)}, which is less than ${formatDollars(sizeUsd)}`,
  }
}

/** The denial where a market was not read. */
export function unread(marketToken: Address): Denial {
  return { code: 'MARKET_UNKNOWN', reason: `the market ${marketToken} cannot be read now; retry` }
}

/** The denial of an increase without a leverage. */
export const tooLowLeverage: Denial = {
  code: 'MIN_LEVERAGE',
  reason: 'an increase needs a leverage of 1 or more, for example --leverage 2',
}
