/**
 * Exits of the operator: those that it planned for a position (`perpd protect`), which are kept as planned, and those that it placed with an entry
 * (`perpd open --stop-loss`) or that an ended task left. No file and no task maintains the latter, so they are fitted to the operator's book here: a
 * reduction of the book reduces them too, they are cancelled where nothing of the book is left while others hold the position, and they are never
 * enlarged or moved.
 */

import type { HasOrders } from '../account/accountParts.ts'
import type { AccountJournal } from '../account/halts/accountJournal.ts'
import { OPERATOR } from '../account/halts/tradingHalts.ts'
import { madeByTasks } from '../account/runningTasks.ts'
import type { Clock } from '../base/clock.ts'
import { type PositionSide, sideOfIntent } from '../domain/accountRecords/accountRecord.ts'
import { type HandPlan, PROTECT, planDetail, planOn } from '../domain/accountRecords/handPlan.ts'
import type { Event } from '../domain/event.ts'
import { dropExits } from '../domain/exitKeeper.ts'
import type { Decision } from '../domain/order/decision.ts'
import type { Denial, IntentState } from '../domain/order/intent.ts'
import { signedOrderIn } from '../domain/order/signedOrder.ts'
import { marketOf, type Snapshot } from '../domain/snapshot.ts'
import type { HasJournal } from '../execution/context/executionParts.ts'
import type { Hex } from '../protocol/address.ts'
import { checkExitsLeft, settledExits, sidesOfLostExits } from './exitsLeft.ts'
import { createPlanEnds, type PlanEnds } from './planEnds.ts'
import { keepPlanned, settledOn } from './plannedByHand.ts'
import { fitExits, goneExits } from './syncExits.ts'

/** After a denial it is tried again no sooner, ms. */
const DENIED_PAUSE_MS = 15_000

/** Dependencies of the fitting. */
export interface HandExitsParts extends HasJournal, HasOrders {
  readonly trading: { readonly accountJournal: AccountJournal }
  readonly clock: Clock
  readonly emit: (event: Event) => void
  readonly read: (symbols: readonly string[]) => Promise<Snapshot>
  /** Returns a snapshot with the prices by which exits are maintained. */
  readonly judged: (snapshot: Snapshot) => Snapshot
  /** Returns the operator's intents that a snapshot may not show in full yet. */
  readonly unseen: (snapshot: Snapshot) => readonly IntentState[]
  /** Tells whether others' books hold the whole position of a side. */
  readonly isOthers: (side: PositionSide, snapshot: Snapshot) => boolean
  readonly admit: (snapshot: Snapshot, decision: Decision, decisionKey: string) => Promise<Denial | undefined>
}

/** The keeping of the operator's exits. */
export interface HandExits {
  /**
   * Looks once, after the looks that were asked for before. After a denial it waits a while, unless `isAtOnce`. Returns the first denial. Throws what
   * reading and the journal throw.
   */
  look(isAtOnce?: boolean): Promise<Denial | undefined>
}

/** Keeps them at each look at the account. */
export function createHandExits(parts: HandExitsParts): HandExits {
  const { clock } = parts
  const isGone = createPlanEnds(clock)
  let pausedUntilMs = 0
  // One look at a time: two that read the same lists would both place what is missing.
  let turn: Promise<unknown> = Promise.resolve()
  const lookOnce = async (isAtOnce: boolean): Promise<Denial | undefined> => {
    if (!isAtOnce && clock.monotonicMs() < pausedUntilMs) return undefined
    const denial = await keepOnce(parts, isGone)
    if (denial !== undefined) pausedUntilMs = clock.monotonicMs() + DENIED_PAUSE_MS
    return denial
  }
  return {
    look(isAtOnce = false) {
      const next = turn.then(() => lookOnce(isAtOnce))
      turn = next.catch(() => undefined)
      return next
    },
  }
}

function plansOf({ trading }: HandExitsParts): readonly HandPlan[] {
  return trading.accountJournal.state().handPlans ?? []
}

/** Returns the first denial. */
async function keepOnce(parts: HandExitsParts, isGone: PlanEnds): Promise<Denial | undefined> {
  const { journal, openOrders, read, clock, emit } = parts
  const open = openOrders.open().map(({ state }) => state)
  const signedOrder = (orderKey: Hex) => signedOrderIn(journal, orderKey)
  const facts = {
    orders: { open, pending: [], signedOrder },
    own: { parts: journal.books().partsOf(OPERATOR) },
  }
  const plans = plansOf(parts)
  const own = open.filter(({ intent }) => intent.strategy === OPERATOR)
  // Without a plan nothing is read while the book and the resting exits agree.
  const over = own.filter((state) => {
    const side = sideOfIntent(state.intent)
    const isSettled = settledExits(state).length > 0 && planOn(plans, side) === undefined
    return isSettled && checkExitsLeft(facts, OPERATOR, side) !== undefined
  })
  if (over.length + plans.length === 0) return undefined
  const symbols = [...over.map(({ intent }) => intent.terms.symbol), ...plans.map(({ symbol }) => symbol)]
  const snapshot = await read([...new Set(symbols)])
  let first: Denial | undefined
  for (const [index, decision] of (await decisionsOf(parts, isGone, snapshot)).entries()) {
    const decisionKey = `${OPERATOR}#exits-${clock.now()}-${index}`
    const symbol = marketOf(snapshot, decision.marketToken)?.market.symbol ?? ''
    const told = { strategy: OPERATOR, decisionKey, decision, symbol }
    emit({ type: 'decision.made', ...told })
    const denial = await parts.admit(snapshot, decision, decisionKey)
    if (denial === undefined) continue
    first ??= denial
    emit({ type: 'decision.denied', ...told, denial })
  }
  return first
}

/** Ends plans whose part is gone and whose exits are, and returns what the others and the unplanned exits call for. */
async function decisionsOf(
  parts: HandExitsParts,
  isGone: PlanEnds,
  snapshot: Snapshot,
): Promise<readonly Decision[]> {
  const { clock, journal, openOrders, trading, unseen, isOthers, judged } = parts
  const states = unseen(snapshot)
  const ofTasks = madeByTasks(trading, states)
  const books = journal.books()
  const landed = openOrders.recentlyLanded().filter(({ intent }) => intent.strategy === OPERATOR)
  const lostExits = sidesOfLostExits([...states, ...landed], snapshot, clock.now())
  const facts = { snapshot: judged(snapshot), states, parts: books.partsOf(OPERATOR), ofTasks, lostExits }
  const decisions: Decision[] = []
  const plans = plansOf(parts)
  for (const plan of plans) {
    if (!isGone(plan, snapshot, books)) {
      const step = keepPlanned(plan, facts)
      decisions.push(...step.decisions)
      if (step.next !== undefined) await writePlan(trading, step.next)
    } else {
      const left = settledOn(plan, facts)
      const reason = 'The position that they were planned for is gone: its manual exits are cancelled.'
      decisions.push(...dropExits(plan, left, { reason }))
      if (left.length === 0) await writePlan(trading, without(plan))
    }
  }
  const isPlanned = (side: PositionSide) => planOn(plans, side) !== undefined
  const unplanned = states.filter(({ intent }) => !isPlanned(sideOfIntent(intent)))
  const byHand = unplanned.filter(({ intent }) => !ofTasks.has(intent.intentId))
  const reason = 'The operator has no part of the position left: resting manual exits are cancelled.'
  return [
    ...decisions,
    ...fitExits({
      snapshot,
      states,
      parts: facts.parts.filter((part) => !isPlanned(part)),
      ofTasks,
      mayTry: () => true,
    }),
    ...goneExits({ snapshot, states: byHand }, (side) => isOthers(side, snapshot), reason),
  ]
}

/** The same plan without any place, which ends it. */
function without({ stopLoss: _, takeProfit: __, ...side }: HandPlan): HandPlan {
  return side
}

/** Writes what is left of a plan, in perpd's own name. */
async function writePlan({ accountJournal }: HandExitsParts['trading'], plan: HandPlan): Promise<void> {
  const written = { kind: 'operator.command', command: PROTECT, detail: planDetail(plan) } as const
  await accountJournal.write({ ...written, by: 'perpd', via: 'control' })
}
