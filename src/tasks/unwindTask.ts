/**
 * Unwinds an order that nobody wants any more if it lands (docs/orders.md, "Unwind an order"): cancels its resting orders, and closes its position.
 * An order cannot be called back once its signature left. Pure: its steps follow from the order's own story, from the outcomes of its tries, and from
 * positions.
 */

import { defined } from '../base/defined.ts'
import type { PositionSide } from '../domain/accountRecords/accountRecord.ts'
import type { Decision } from '../domain/order/decision.ts'
import type { IntentState } from '../domain/order/intent.ts'
import type { UnwindOutcome } from '../domain/orderEvent.ts'
import { positionsOn, type Snapshot, unlistedOn } from '../domain/snapshot.ts'
import type { TaskEntry, TaskState, Tasks } from '../domain/taskStates/taskRecord.ts'
import { sameHex } from '../protocol/address.ts'
import { lacksMarket } from '../protocol/missing.ts'
import { isOnMarket } from '../protocol/position.ts'
import { formatDollars, minOf, type Usd } from '../protocol/units.ts'
import { processStarted } from './taskFacts.ts'
import type { Child, Next, ProcessKind, RunningTask } from './taskKind.ts'
import { type Opened, UNWIND_TRIES, unwindKeyOf, unwindStepOf } from './unwindPlan.ts'

/** Goal of an unwind. */
export interface UnwindParams {
  /** The order's intent. */
  readonly intentId: string
  /** One sentence: why it is not wanted. */
  readonly reason: string
}

/** Progress of an unwind. */
export interface UnwindProgress {
  /** Number of the newest try to cancel its resting orders, from 1; 0 before the first. */
  readonly cancels: number
  /** The newest try to close its position, by side in the order in which it opened them; as above. */
  readonly closes: readonly number[]
  /** Sides that were seen to be gone, by number from 1: a later position there is another's. */
  readonly gone: readonly number[]
}

/** An order that is to be unwound if it lands. */
export interface UnwindState extends UnwindParams {
  /** An operator's name, or the strategy whose order it is. */
  readonly by: string
  /** Unix ms. */
  readonly sinceMs: number
  readonly endedAtMs?: number
  readonly outcome?: UnwindOutcome
  /** One sentence: the result. */
  readonly statement?: string
}

/** View of the task. */
export interface UnwindView {
  /** The order's own story. */
  readonly order: IntentState
  /** Returns the state of the decision with this key; undefined: it was never accepted. */
  readonly made: (decisionKey: string) => IntentState | undefined
  /** Returns the size on a side by the journal, USD. */
  readonly knownUsd: (side: PositionSide) => Usd
  /** Snapshot of the order's markets, once it was requested. */
  readonly snapshot?: Snapshot
  /** True if the snapshot's positions contain the order's fills. */
  readonly isSeen?: boolean
}

type Task = RunningTask<UnwindParams, UnwindProgress>
type UnwindNext = Next<UnwindProgress>

/** Most orders that one message cancels. */
const cancelMost = 20

/** State of the tries of one step. */
type Try =
  | { readonly kind: 'next'; readonly tryNo: number; readonly decisionKey: string }
  | { readonly kind: 'running' }
  | { readonly kind: 'done' }
  | { readonly kind: 'spent' }

/** The kind of these tasks. */
export const unwindTask: ProcessKind<UnwindParams, UnwindProgress, UnwindView> = {
  name: 'unwind',
  version: 1,
  begins: { cancels: 0, closes: [], gone: [] },
  notYet: new Set(['REDUCE_IN_FLIGHT', 'ORDER_CHANGING', 'STOPPING']),
  next(task, view) {
    const step = unwindStepOf(view.order)
    switch (step.kind) {
      case 'wait':
        return goOn(task.state)
      case 'over':
        return { kind: 'done', outcome: 'nothing-landed', statement: step.statement }
      case 'cancel':
        return cancelResting(task, view, step.orderKeys)
      case 'reduce':
        return reduce(task, view, step.opened)
    }
  },
}

/** The record by which an order is to be unwound: an order has one such task at most. */
export function unwindStarted(params: UnwindParams, by: string): TaskEntry {
  return processStarted(unwindTask, { taskId: taskIdOf(params.intentId), by, params })
}

/** Returns the unwind of an order, running or ended; undefined without one. */
export function unwindOf(tasks: Tasks | undefined, intentId: string): UnwindState | undefined {
  const task = tasks?.get(taskIdOf(intentId)) as TaskState<UnwindParams> | undefined
  return task === undefined ? undefined : unwindStateOf(task)
}

/** A task of this kind in its own words. */
export function unwindStateOf({ params, by, sinceMs, end }: TaskState<UnwindParams>): UnwindState {
  const { intentId, reason } = params
  const wanted = { intentId, by, reason, sinceMs }
  if (end === undefined) return wanted
  const { atMs, outcome, statement } = end
  return { ...wanted, endedAtMs: atMs, outcome: outcome as UnwindOutcome, ...defined({ statement }) }
}

function taskIdOf(intentId: string): string {
  return `${unwindTask.name}:${intentId}`
}

function goOn(state: UnwindProgress, decisions: readonly Child<UnwindProgress>[] = []): UnwindNext {
  return { kind: 'go-on', state, decisions }
}

/** The try that follows from the newest; `isDone`: whether an ending leaves nothing to try again. */
function nextTry(
  view: UnwindView,
  newest: number,
  keyOf: (tryNo: number) => string,
  isDone: (made: IntentState) => boolean,
): Try {
  for (let tryNo = Math.max(1, newest); tryNo <= UNWIND_TRIES; tryNo += 1) {
    const decisionKey = keyOf(tryNo)
    const made = view.made(decisionKey)
    if (made === undefined) return { kind: 'next', tryNo, decisionKey }
    if (made.closing === undefined) return { kind: 'running' }
    if (isDone(made)) return { kind: 'done' }
  }
  return { kind: 'spent' }
}

function cancelResting(
  { params: { intentId, reason }, by, state }: Task,
  view: UnwindView,
  orderKeys: readonly string[],
): UnwindNext {
  const keyOf = (tryNo: number) => unwindKeyOf('unwind-cancel', intentId, 1, tryNo)
  const next = nextTry(view, state.cancels, keyOf, () => false)
  if (next.kind === 'spent') {
    const statement = `cancelling its orders failed ${UNWIND_TRIES} times; they still rest`
    return { kind: 'done', outcome: 'given-up', statement }
  }
  if (next.kind !== 'next') return goOn(state)
  const { order, snapshot } = view
  if (snapshot === undefined) return { kind: 'read', symbols: [order.intent.terms.symbol] }
  // One that the list does not show has ended, or is too new: the next look knows.
  const rows = snapshot.orders.value.filter(({ orderKey }) => orderKeys.some((key) => sameHex(key, orderKey)))
  const [first] = rows
  if (first === undefined) return goOn(state)
  const { direction } = first
  const marketToken = isOnMarket(first) ? first.marketToken : order.intent.terms.marketToken
  const side = rows.filter(
    (row) => sameHex(row.marketToken, first.marketToken) && row.direction === direction,
  )
  const decision: Decision = {
    kind: 'cancel',
    marketToken,
    direction,
    orderKeys: side.slice(0, cancelMost).map(({ orderKey }) => orderKey),
    reason: `${by} unwinds ${intentId}: ${reason}`,
  }
  const { decisionKey, tryNo } = next
  return goOn(state, [{ decisionKey, decision, state: { ...state, cancels: tryNo } }])
}

function reduce(task: Task, view: UnwindView, opened: readonly Opened[]): UnwindNext {
  const { intentId } = task.params
  const { order, snapshot } = view
  let { state } = task
  let isOver = true
  let isSpent = false
  const statements: string[] = []
  const problems: string[] = []
  const wanted: {
    readonly number: number
    readonly tryNo: number
    readonly child: Omit<Child<never>, 'state'>
  }[] = []
  for (const [index, side] of opened.entries()) {
    const number = index + 1
    const what = `the ${side.direction} of ${formatDollars(side.sizeUsd)}`
    const next = nextTry(
      view,
      state.closes[index] ?? 0,
      (tryNo) => unwindKeyOf('unwind', intentId, number, tryNo),
      ({ closing }) => closing?.outcome === 'EXECUTED' || closing?.outcome === 'PARTIAL',
    )
    const isGone = state.gone.includes(number)
    if (next.kind === 'spent') {
      isSpent = true
      statements.push(`closing ${what} that it opened failed ${UNWIND_TRIES} times`)
    }
    if (next.kind === 'done') statements.push(`${what} that it opened is closed`)
    if (isGone) statements.push(`${what} that it opened was already closed`)
    if (next.kind === 'running') isOver = false
    if (next.kind !== 'next' || isGone) continue
    if (snapshot === undefined) return { kind: 'read', symbols: [order.intent.terms.symbol] }
    const found = view.isSeen === true ? heldOf(view, snapshot, side, what) : { kind: 'wait' as const }
    if (found.kind === 'gone') {
      state = { ...state, gone: [...state.gone, number] }
      statements.push(`${what} that it opened was already closed`)
      continue
    }
    isOver = false
    if (found.kind === 'doubt') problems.push(found.problem)
    if (found.kind !== 'held') continue
    const decision = closeOf(task, side, found.held)
    wanted.push({ number, tryNo: next.tryNo, child: { decisionKey: next.decisionKey, decision } })
  }
  if (isOver) {
    return { kind: 'done', outcome: isSpent ? 'given-up' : 'flat', statement: statements.join('; ') }
  }
  const before = state
  const decisions = wanted.map(({ number, tryNo, child }): Child<UnwindProgress> => {
    const closes = opened.map((_, index) => (index + 1 === number ? tryNo : (state.closes[index] ?? 0)))
    state = { ...state, closes }
    return { ...child, state }
  })
  const problem = defined({ problem: problems.length === 0 ? undefined : problems.join('; ') })
  return { kind: 'go-on', state: before, decisions, ...problem }
}

/** Finding about a side that the order opened, by the whole view. */
type Found =
  | { readonly kind: 'held'; readonly held: { readonly sizeInUsd: Usd } }
  | { readonly kind: 'gone' }
  | { readonly kind: 'wait' }
  | { readonly kind: 'doubt'; readonly problem: string }

function heldOf(view: UnwindView, snapshot: Snapshot, side: Opened, what: string): Found {
  const held = positionsOn(snapshot, side.marketToken, side.direction).find(({ collateralToken }) =>
    sameHex(collateralToken, side.collateralToken),
  )
  const known = held === undefined ? unlistedOn(snapshot, side) : undefined
  if (known !== undefined) return { kind: 'held', held: { sizeInUsd: known.sizeUsd } }
  if (held === undefined && lacksMarket(snapshot.positions.missing, side.marketToken)) {
    const problem = `the row of its position may be unreadable: ${snapshot.positions.missing?.[0]?.problem}`
    return { kind: 'doubt', problem }
  }
  if (held !== undefined && held.sizeInUsd > 0n) return { kind: 'held', held }
  const knownUsd = view.knownUsd(side)
  if (knownUsd <= 0n) return { kind: 'gone' }
  // A list alone does not show that it is gone: a host may hide it.
  const problem = `no list shows ${what}; the journal has ${formatDollars(knownUsd)} on its side`
  return { kind: 'doubt', problem }
}

function closeOf({ params, by }: Task, side: Opened, held: { readonly sizeInUsd: Usd }): Decision {
  const { marketToken, direction, collateralToken, sizeUsd } = side
  const opened = `which opened ${formatDollars(sizeUsd)}`
  const reason = `${by} unwinds ${params.intentId}, ${opened}: ${params.reason}`
  const base = { marketToken, direction, collateralToken, reason }
  if (sizeUsd >= held.sizeInUsd) return { kind: 'close', ...base }
  return {
    kind: 'decrease',
    sizeDeltaUsd: minOf(sizeUsd, held.sizeInUsd),
    keepLeverage: true,
    ...base,
  }
}
