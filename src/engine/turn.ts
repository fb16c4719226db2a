/**
 * The turn of a strategy with a memory. Its admitted decisions and its next memory are durable in one commit, so that no crash leaves one without the
 * other. Denials are written with the memory, and delivered to it at the next turn.
 */

import { withPending } from '../account/facts.ts'
import { defined } from '../base/defined.ts'
import type { KeptMemory } from '../domain/memory/memoryRecord.ts'
import type { DeniedEvent, OwnEvent } from '../domain/memory/ownEvent.ts'
import type { GivenSignal } from '../domain/memory/tradeSignal.ts'
import {
  type Decision,
  isOrderDecision,
  isTaskDecision,
  type StrategyDecision,
} from '../domain/order/decision.ts'
import type { Denial, Intent } from '../domain/order/intent.ts'
import { encodeExact } from '../domain/records.ts'
import type { SignalEvent } from '../domain/signalEvent.ts'
import type { Snapshot } from '../domain/snapshot.ts'
import { isDenial } from '../risk/exposure/admissionContext.ts'
import type { LoadedStrategy } from '../strategy/files/load.ts'
import type { CheckedTurn, UnservedSignal } from '../strategy/kindMemory.ts'
import type { AccountFact } from './account/accountJournal.ts'
import { decisionKeyOf } from './account/ids.ts'
import { DUPLICATE, tellAdmitted } from './admitDecision.ts'
import { requestRenewal } from './approvalRenewal.ts'
import { requestClaim } from './claimRequest.ts'
import type { EngineContext } from './context/engineContext.ts'
import { type DecisionProblem, decisionProblem } from './decisionProblem.ts'
import { judge } from './judgeDecision.ts'
import { marketSymbol } from './market/marketSymbol.ts'
import { reportOrder } from './reportOrder.ts'

/** Saved state that an instance receives. */
export interface GivenTurn {
  /** Absent before its first turn. */
  readonly memory?: KeptMemory
  readonly events: readonly OwnEvent[]
  readonly eventsMissed: number
  /** Own events up to the record of this number are among them. */
  readonly throughSeq: number
  /** Signals from outside that wait for it; a kind that takes none has none. */
  readonly signals: readonly GivenSignal[]
}

/**
 * Returns the saved state of an instance as of now; signals are expired or not at `atMs`, Unix ms. A signal accepted by a clock that was ahead has
 * its full lifetime from the moment when that is noticed.
 */
export function givenTurn(
  { aheadStamps, journal, trading }: EngineContext,
  strategy: string,
  atMs: number,
): GivenTurn {
  const { memories, signals } = trading.accountJournal.state()
  const memory = memories?.get(strategy)
  const waiting = signals?.waiting.get(strategy) ?? []
  const { events, missed } = journal.ownEvents(strategy)
  return {
    ...defined({ memory }),
    events: [...(memory?.denied ?? []), ...events],
    eventsMissed: missed,
    throughSeq: events.at(-1)?.seq ?? memory?.throughSeq ?? journal.summary().records,
    signals: waiting.map((signal) => {
      const { receivedAtMs } = signal
      const expiresAtMs = signal.expiresAtMs - receivedAtMs + aheadStamps.settledMs(receivedAtMs)
      return { ...signal, expiresAtMs, isExpired: expiresAtMs <= atMs }
    }),
  }
}

/** A requested turn, and its result. */
export interface AskedTurn {
  readonly turn: CheckedTurn
  readonly given: GivenTurn
  /** Its scheduled instant, Unix ms. */
  readonly tickMs: number
}

/** Part of a turn that waits to be written. */
interface Planned {
  readonly intents: Intent[]
  readonly facts: AccountFact[]
  readonly denied: DeniedEvent[]
  /** Called once all of it is durable. */
  readonly whenDurable: (() => void)[]
}

/** Durable part of a turn. */
export interface TakenTurn {
  /** Number of its decisions that were admitted. */
  readonly admitted: number
  /** The newest signal of which it says that no order comes of it. */
  readonly unserved?: UnservedSignal
}

/** Judges the decisions of a turn one after the other, and writes the admitted ones with the memory. `tellProblem` receives the invalid ones. */
export function takeTurn(
  context: EngineContext,
  loaded: LoadedStrategy,
  snapshot: Snapshot,
  { turn, given, tickMs }: AskedTurn,
  tellProblem: (problem: DecisionProblem) => void,
): Promise<TakenTurn> {
  return context.inTurn(async () => {
    const planned: Planned = { intents: [], facts: [], denied: [], whenDurable: [] }
    const decisions = turn.decisions as readonly unknown[]
    for (const [index, returned] of decisions.entries()) {
      const decisionKey = decisionKeyOf(loaded.name, tickMs, index)
      const problem = decisionProblem(returned)
      if (problem !== undefined) {
        tellProblem(problem)
        const denial = { code: 'DECISION_INVALID', reason: problem.reason }
        planned.denied.push({ kind: 'denied', atMs: context.clock.now(), decisionKey, ...denial })
        continue
      }
      const decision = returned as StrategyDecision
      const denial = planOne(context, loaded, snapshot, decision, decisionKey, planned)
      if (denial === undefined) continue
      const side = isOrderDecision(decision) ? sideOf(decision) : {}
      const { kind: order } = decision
      planned.denied.push({
        kind: 'denied',
        atMs: context.clock.now(),
        decisionKey,
        order,
        ...side,
        ...denial,
      })
    }
    const remembered = memoryFact(loaded, turn, given, tickMs, planned.denied)
    const isTold = given.events.length + given.signals.length > 0
    const isNew = decisions.length > 0 || isTold || isChanged(remembered, given.memory)
    const { accountJournal } = context.trading
    const isTaken =
      !isNew ||
      (await accountJournal.writeBeside([...planned.facts, remembered], (records) =>
        context.orderManager.acceptTogether(planned.intents, records),
      ))
    if (!isTaken) return { admitted: 0 }
    for (const signal of given.signals) context.emit(takenEvent(signal))
    const { name: strategy } = loaded
    for (const each of turn.unserved ?? []) context.emit({ type: 'signal.unserved', strategy, ...each })
    for (const tell of planned.whenDurable) tell()
    const unserved = turn.unserved?.at(-1)
    return { admitted: planned.whenDurable.length, ...defined({ unserved }) }
  })
}

/** Plans one decision and reports it; returns the denial if there is one. */
function planOne(
  context: EngineContext,
  loaded: LoadedStrategy,
  snapshot: Snapshot,
  decision: StrategyDecision,
  decisionKey: string,
  planned: Planned,
): Denial | undefined {
  const { emit, catalogue } = context
  const { name: strategy } = loaded
  if (decision.kind === 'unwind') {
    const open = context.unseen(snapshot).find(({ intent }) => intent.intentId === decision.intentId)
    const told = { strategy, decisionKey, decision, symbol: open?.intent.terms.symbol ?? '' }
    emit({ type: 'decision.made', ...told })
    const plan = context.planUnwind(decision.intentId, { by: strategy, reason: decision.reason, strategy })
    if (plan.kind === 'denied') {
      emit({ type: 'decision.denied', ...told, denial: plan.denial })
      return plan.denial
    }
    if (plan.kind === 'new') planned.facts.push(plan.fact)
    planned.whenDurable.push(() => {
      if (plan.kind === 'new') plan.begun()
    })
    return undefined
  }
  if (isTaskDecision(decision)) {
    const plan = context.planTask(loaded, decision, snapshot)
    if (plan.kind === 'same') return undefined
    const told = { strategy, decisionKey, decision, symbol: '' }
    emit({ type: 'decision.made', ...told })
    if (plan.kind === 'denied') {
      emit({ type: 'decision.denied', ...told, denial: plan.denial })
      return plan.denial
    }
    planned.facts.push(plan.fact)
    planned.whenDurable.push(plan.begun)
    return undefined
  }
  if (decision.kind === 'report-order') {
    // Notify before the memory says so: a crash in between notifies twice, but never not at all.
    reportOrder(context, strategy, decision, snapshot)
    planned.whenDurable.push(() => undefined)
    return undefined
  }
  if (decision.kind === 'prepare-approval') {
    planned.whenDurable.push(() => {
      requestRenewal(context, strategy, decision, decisionKey).catch(context.fatal)
    })
    return undefined
  }
  if (decision.kind === 'prepare-claim') {
    planned.whenDurable.push(() => {
      requestClaim(context, strategy, decision, decisionKey).catch(context.fatal)
    })
    return undefined
  }
  const told = {
    strategy,
    decisionKey,
    decision,
    symbol: marketSymbol(catalogue, snapshot, decision.marketToken),
  }
  emit({ type: 'decision.made', ...told })
  const intent = context.journal.hasDecision(strategy, decisionKey)
    ? DUPLICATE
    : judge(withPending(context.facts(snapshot, loaded), planned.intents), {
        source: loaded,
        decision,
        decisionKey,
      })
  if (isDenial(intent)) {
    emit({ type: 'decision.denied', ...told, denial: intent })
    return intent
  }
  tellAdmitted(context, intent)
  planned.intents.push(intent)
  return undefined
}

function sideOf({ marketToken, direction }: Decision) {
  return { marketToken, direction }
}

function memoryFact(
  { name, strategy }: LoadedStrategy,
  { memory, version }: CheckedTurn,
  { throughSeq, signals }: GivenTurn,
  tickMs: number,
  denied: readonly DeniedEvent[],
): Extract<AccountFact, { kind: 'strategy.remembered' }> {
  const kept = { strategyKind: strategy.kind, version, memory, tickMs, throughSeq, denied }
  const newest = signals.at(-1)
  const expired = signals.filter(({ isExpired }) => isExpired).map(({ number }) => number)
  const taken = newest === undefined ? {} : { signals: { through: newest.number, expired } }
  return { kind: 'strategy.remembered', strategy: name, ...taken, ...kept }
}

function takenEvent({ isExpired, ...signal }: GivenSignal): Extract<SignalEvent, { type: 'signal.taken' }> {
  return { type: 'signal.taken', signal, isExpired }
}

function isChanged(
  { memory, version }: Pick<KeptMemory, 'memory' | 'version'>,
  kept: KeptMemory | undefined,
): boolean {
  return kept === undefined || kept.version !== version || encodeExact(kept.memory) !== encodeExact(memory)
}
