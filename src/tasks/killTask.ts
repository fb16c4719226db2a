/**
 * The kill: cancels resting orders that may add risk, closes positions if requested, and continues until nothing of it is left. Exits of positions
 * stay until these are closed, unless they are to go too. Pure: its steps follow from the lists, from the journal, and from orders in flight.
 */
import { defined } from '../base/defined.ts'
import { type MarketSide, sideKeyOf } from '../domain/accountRecords/accountRecord.ts'
import type { HeldSide, HeldSides } from '../domain/accountRecords/held.ts'
import type { Decision } from '../domain/order/decision.ts'
import { hasEnded, type IntentState, isProvisional, labelOf, lastAttempt } from '../domain/order/intent.ts'
import { isExit } from '../domain/order/orderLegs.ts'
import type { Snapshot } from '../domain/snapshot.ts'
import type { Tasks } from '../domain/taskStates/taskRecord.ts'
import { hexKey } from '../protocol/address.ts'
import type { Order, Position } from '../protocol/position.ts'
import { cancelsOf, type HiddenOrder, ordersNotListed, sidesNotShown } from './killOrders.ts'
import { protectiveKeys } from './protectiveExits.ts'
import { tasksOf } from './taskFacts.ts'
import { type Child, childKeyOf, type ProcessKind } from './taskKind.ts'

/** Goal of a kill task. */
export interface KillParams {
  /** True if positions are closed too. */
  readonly close: boolean
  /**
   * True: stop-losses and take-profits of open positions are cancelled at once too. Absent: they stay, with `close` until what they
   * protect is closed.
   */
  readonly exits?: true
}

/** Progress of a kill task. */
export interface KillProgress {
  /** The newest decision that it made, from 1; 0 before the first. */
  readonly made: number
}

/**
 * End of the kill. `unproven`: no list shows anything left, but the chain can no longer prove the end of what was sent. `abandoned`: an operator
 * resumed trading before it was done. `replaced`: one that does more took its place.
 */
export type KillOutcome = 'done' | 'unproven' | 'abandoned' | 'replaced'

/** A requested kill. */
export interface KillState extends KillParams {
  readonly by: string
  /** Unix ms. */
  readonly sinceMs: number
  readonly endedAtMs?: number
  readonly outcome?: KillOutcome
  /** The missing proof at its end, a clause. */
  readonly statement?: string
}

/** View of a kill. */
export interface KillView {
  /** Snapshot of the markets of all orders and positions, once it was requested. */
  readonly snapshot?: Snapshot
  /** Open intents. */
  readonly open: readonly IntentState[]
  /** Positions by the journal. */
  readonly journal: HeldSides
  /** Rows of other hosts on sides of which these rows show nothing. */
  readonly elsewhere: (rows: readonly Position[]) => readonly Position[]
  /** True if an increase executed so recently that lists may not show it yet. */
  readonly hasNewFills: boolean
  /** True if the previous look, in this process, found nothing left. */
  readonly wasQuiet: boolean
  /** The time since which looks of this process find nothing left but proof (`lacksProofAlone`), ms; 0: something else was left. */
  readonly proofLackedMs: number
  /** Unix seconds. */
  readonly nowSeconds: number
  /** Tells whether the decision with this key was accepted. */
  readonly isMade: (decisionKey: string) => boolean
}

/** Remaining work of a kill, by its whole view. */
export interface KillLeft {
  /** Resting orders that the list shows, and that are to be cancelled now. */
  readonly resting: readonly Order[]
  /** Listed exits of positions. They stay; with closing, until their position is closed. */
  readonly exits: readonly Order[]
  /** True if the kill is not done while they rest. */
  readonly isUntilClosed: boolean
  /** Positions that the lists show; none when they stay. */
  readonly held: readonly Position[]
  /** Intents in flight. */
  readonly inFlight: number
  /** Intents of which exits alone are left, while a reorganisation could still bring their entries back. */
  readonly notFinal: number
  /** Orders that rest by the journal and that no list shows. */
  readonly hiddenOrders: readonly HiddenOrder[]
  /** Positions that another host shows. */
  readonly elsewhere: readonly Position[]
  /** Sides that are held by the journal and of which no list shows anything. */
  readonly hiddenSides: readonly HeldSide[]
  /** Unreadable rows, in words: lists that lack rows do not show the rest. */
  readonly unread: readonly string[]
}

/**
 * Longest wait of a kill for proof where nothing else is left, ms. The final blocks of a chain that works are never this far behind: they stand
 * still, or an endpoint shows none.
 */
const PROOF_MS = 1_800_000
/** Market orders decide themselves within seconds, and the venue lets them be cancelled after minutes only. */
const marketOrderTypes: ReadonlySet<number> = new Set([0, 2, 4])
const noKeys: ReadonlySet<string> = new Set()

/** The kind of these tasks. */
export const killTask: ProcessKind<KillParams, KillProgress, KillView> = {
  name: 'kill',
  version: 1,
  begins: { made: 0 },
  // Admission says when another close may follow.
  notYet: new Set(['REDUCE_IN_FLIGHT']),
  next({ taskId, params, state }, view) {
    const { snapshot } = view
    if (snapshot === undefined) return { kind: 'read', symbols: [] }
    const left = killLeft(view, snapshot, params)
    // Two looks in a row: lists of one venue may be a moment apart.
    if (isQuiet(left, view) && view.wasQuiet) return { kind: 'done', outcome: 'done' }
    if (lacksProofAlone(left, view) && view.proofLackedMs >= PROOF_MS)
      return { kind: 'done', outcome: 'unproven', statement: unprovenText(left) }
    let { made } = state
    while (view.isMade(childKeyOf(taskId, made + 1))) made += 1
    const before = { made }
    const decisions = decisionsOf(left, snapshot, view.open, params.close).map(
      (decision): Child<KillProgress> => {
        made += 1
        return { decisionKey: childKeyOf(taskId, made), decision, state: { made } }
      },
    )
    return { kind: 'go-on', state: before, decisions }
  },
}

/** The newest kill of a journal, done or not; undefined when there never was one. */
export function killOf(tasks: Tasks | undefined): KillState | undefined {
  const task = tasksOf(killTask, tasks).at(-1)
  if (task === undefined) return undefined
  const { close, exits } = task.params
  const asked = { by: task.by, close, ...defined({ exits }), sinceMs: task.sinceMs }
  if (task.end === undefined) return asked
  const { atMs: endedAtMs, outcome, statement } = task.end
  return { ...asked, endedAtMs, outcome: outcome as KillOutcome, ...defined({ statement }) }
}

/** Returns the remaining work of a kill with these parameters. */
export function killLeft(
  view: Pick<KillView, 'open' | 'journal' | 'elsewhere'>,
  snapshot: Snapshot,
  { close, exits }: KillParams,
): KillLeft {
  const { open, journal } = view
  const rows = snapshot.positions.value.filter(({ sizeInUsd }) => sizeInUsd > 0n)
  const shown = view.elsewhere(rows)
  const held = close ? rows : []
  const elsewhere = close ? shown : []
  const keeps = exits ? noKeys : protectiveKeys({ snapshot, open, journal, elsewhere: shown })
  const waiting = snapshot.orders.value.filter(({ orderType }) => !marketOrderTypes.has(orderType))
  const isKept = (orderKey: string) => keeps.has(hexKey(orderKey))
  return {
    resting: waiting.filter(({ orderKey }) => !isKept(orderKey)),
    exits: waiting.filter(({ orderKey }) => isKept(orderKey)),
    isUntilClosed: close,
    held,
    inFlight: open.filter((each) => labelOf(each) !== 'resting').length,
    notFinal: open.filter((each) => labelOf(each) === 'resting' && mayComeBack(each)).length,
    // An order that the journal knows and no list shows is left too: a host may hide it, or its end is not proven yet.
    hiddenOrders: ordersNotListed(open, snapshot.orders.value)
      .map((order) => ({ ...order, isKept: isKept(order.orderKey) }))
      .filter((order) => close || !order.isKept),
    elsewhere,
    hiddenSides: close ? sidesNotShown(journal, [...held, ...elsewhere]) : [],
    unread: [
      ...(snapshot.orders.missing ?? []).map((row) => `an order cannot be read: ${row.problem}`),
      ...(close ? (snapshot.positions.missing ?? []) : []).map(
        (row) => `a position cannot be read: ${row.problem}`,
      ),
    ],
  }
}

/** Counts the remaining items of each sort. */
export function countLeft(left: KillLeft): {
  readonly orders: number
  readonly positions: number
  readonly inFlight: number
} {
  const { resting, exits, isUntilClosed, hiddenOrders, held, elsewhere, hiddenSides, inFlight } = left
  return {
    orders: resting.length + (isUntilClosed ? exits.length : 0) + hiddenOrders.length,
    positions: held.length + elsewhere.length + hiddenSides.length,
    inFlight,
  }
}

/** Tells whether a look found nothing left and nothing unreadable. */
export function isQuiet(left: KillLeft, { hasNewFills }: KillView): boolean {
  const { orders, positions, inFlight } = countLeft(left)
  return orders + positions + inFlight + left.notFinal === 0 && !hasNewFills && left.unread.length === 0
}

/**
 * Tells whether only proof is missing. No list of any host shows anything, and every message in flight is past its signed deadline. The rest in the
 * journal is what such a message was to close or to cancel.
 */
export function lacksProofAlone(left: KillLeft, { open, hasNewFills, nowSeconds }: KillView): boolean {
  const { resting, exits, isUntilClosed, held, elsewhere, unread, inFlight, notFinal } = left
  const shown = resting.length + (isUntilClosed ? exits.length : 0) + held.length + elsewhere.length
  if (shown + unread.length > 0 || hasNewFills || inFlight + notFinal === 0) return false
  const sent = open.filter((each) => labelOf(each) !== 'resting')
  if (
    !sent.every(
      (each) => (lastAttempt(each)?.armed?.deadlineSeconds ?? Number.POSITIVE_INFINITY) < nowSeconds,
    )
  )
    return false
  const reduced = new Set(sent.filter(reduces).map(({ intent }) => placeOf(intent.terms)))
  const cancelled = cancelsUnderWay(open)
  return (
    left.hiddenSides.every((side) => reduced.has(placeOf(side))) &&
    left.hiddenOrders.every((order) => cancelled.has(hexKey(order.orderKey)) || reduced.has(placeOf(order)))
  )
}

function reduces({ intent: { kind } }: IntentState): boolean {
  return kind === 'close' || kind === 'decrease'
}

/** Returns a market and a direction, whatever the collateral. */
function placeOf({ marketToken, direction }: MarketSide): string {
  return `${hexKey(marketToken)}:${direction}`
}

/** Describes the missing proof where nothing else is left. */
function unprovenText({ inFlight, notFinal }: KillLeft): string {
  const count = inFlight + notFinal
  const whose = count === 1 ? 'the end of 1 order is' : `the ends of ${count} orders are`
  return `no list shows a remaining order or position, but ${whose} not proven: no endpoint showed its final blocks for ${PROOF_MS / 60_000} minutes`
}

/**
 * Tells whether a reorganisation could let a message land again that opens something, or bring back an ended entry of it. A message that only reduces
 * adds no risk whenever it lands.
 */
function mayComeBack(state: IntentState): boolean {
  const attempt = lastAttempt(state)
  const ended = attempt?.children.filter((child) => hasEnded(child) && !isExit(child)) ?? []
  return state.intent.kind !== 'decrease' && [attempt, ...ended].some((each) => isProvisional(each?.evidence))
}

function decisionsOf(
  { resting, hiddenOrders, held, elsewhere }: KillLeft,
  snapshot: Snapshot,
  open: readonly IntentState[],
  isClosing: boolean,
): readonly Decision[] {
  const changing = cancelsUnderWay(open)
  const unwanted = [...resting, ...hiddenOrders.filter((order) => !order.isKept)]
  const cancellable = unwanted.filter(({ orderKey }) => !changing.has(hexKey(orderKey)))
  return [
    ...cancelsOf(cancellable, [...snapshot.markets.values()][0]?.market.marketToken),
    ...[...held, ...(isClosing ? unlistedBeside(snapshot, [...held, ...elsewhere]) : [])].map(
      ({ marketToken, direction, collateralToken }): Decision => ({
        kind: 'close',
        marketToken,
        direction,
        collateralToken,
        reason: 'an operator closes every position',
      }),
    ),
  ]
}

/** Returns the keys of the orders that messages in flight cancel, lower case. */
function cancelsUnderWay(open: readonly IntentState[]): ReadonlySet<string> {
  const keys = open.flatMap(({ intent: { terms } }) => [
    ...(terms.cancelOrderKeys ?? []),
    ...(terms.batch?.cancelOrderKeys ?? []),
  ])
  return new Set(keys.map(hexKey))
}

/** Returns the positions without a readable row that are not among these rows: they are closed by their known facts. */
function unlistedBeside({ unlisted = [] }: Snapshot, rows: readonly Position[]): readonly HeldSide[] {
  const shown = new Set(rows.map(sideKeyOf))
  return unlisted.filter((side) => !shown.has(sideKeyOf(side)))
}
