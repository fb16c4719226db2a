/**
 * Takes the decisions of a turn: judges them one after the other, and writes the admitted ones. Those of a kind with a memory are durable in one commit
 * with its next memory, so that no crash leaves one without the other; denials are written with the memory, and delivered to it at the next turn. Without
 * a memory nothing binds the decisions together, and each is durable alone.
 */

import type { HasAheadStamps, HasTrading } from '../account/accountParts.ts'
import { withPending } from '../account/facts.ts'
import type { AccountFact, AccountJournal } from '../account/halts/accountJournal.ts'
import { decisionKeyOf } from '../account/ids.ts'
import { defined } from '../base/defined.ts'
import type { KeptMemory } from '../domain/memory/memoryRecord.ts'
import type { DeniedEvent, OwnEvent } from '../domain/memory/ownEvent.ts'
import type { GivenSignal } from '../domain/memory/tradeSignal.ts'
import { type Decision, isOrderDecision, isTaskDecision } from '../domain/order/decision.ts'
import type { Denial, Intent } from '../domain/order/intent.ts'
import { encodeExact } from '../domain/records.ts'
import type { SignalEvent } from '../domain/signalEvent.ts'
import type { Snapshot } from '../domain/snapshot.ts'
import type { HasJournal } from '../execution/context/executionParts.ts'
import { marketSymbol } from '../market/marketSymbol.ts'
import { isDenial } from '../risk/exposure/admissionContext.ts'
import { type DecisionProblem, decisionProblem } from '../strategy/decisionProblem.ts'
import type { LoadedStrategy } from '../strategy/files/load.ts'
import type { CheckedTurn } from '../strategy/kindMemory.ts'
import type { StrategyDecision } from '../strategy/strategyDecision.ts'
import { requestRenewal } from './approvalRenewal.ts'
import { requestClaim } from './claimRequest.ts'
import type { Accept } from './judging/accept.ts'
import { DUPLICATE, tellAdmitted } from './judging/admitDecision.ts'
import { judge } from './judging/judgeDecision.ts'
import { reportOrder } from './reportOrder.ts'
import type { TurnContext } from './turnContext.ts'

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
  { aheadStamps, journal, trading }: HasAheadStamps & HasJournal & HasTrading,
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

/** The answer of a kind with a memory, and the state that it received. */
export interface Remembered {
  readonly turn: CheckedTurn
  readonly given: GivenTurn
}

/** Decisions of a turn, not checked yet. */
export interface AskedTurn {
  readonly decided: readonly unknown[]
  /** Decisions that perpd adds; each is durable alone. */
  readonly added: readonly Decision[]
  /** Scheduled instant of the turn, Unix ms. */
  readonly tickMs: number
  /** Absent: a kind without a memory. */
  readonly remembered?: Remembered | undefined
}

/** A decision as it was returned, with its key. */
interface Keyed {
  readonly returned: unknown
  readonly decisionKey: string
}

/** Decisions that are durable together, with the memory that goes with them. */
interface Together {
  readonly keyed: readonly Keyed[]
  readonly remembered?: Remembered | undefined
}

/** Part of a turn that waits to be written. */
interface Planned {
  readonly intents: Intent[]
  readonly facts: AccountFact[]
  readonly denied: DeniedEvent[]
  /** Called once all of it is durable. */
  readonly whenDurable: (() => void)[]
  /** Requests to prepare something for the owner, which follow; each resolves with its denial. */
  readonly requests: (() => Promise<Denial | undefined>)[]
}

/** Takes them, and returns the number of those that were admitted. `tellProblem` receives the invalid ones. */
export async function takeTurn(
  context: TurnContext,
  loaded: LoadedStrategy,
  snapshot: Snapshot,
  asked: AskedTurn,
  tellProblem: (problem: DecisionProblem) => void,
): Promise<number> {
  let admitted = 0
  for (const { keyed, remembered } of commitsOf(loaded.name, asked)) {
    const planned: Planned = { intents: [], facts: [], denied: [], whenDurable: [], requests: [] }
    const isTaken = await context.accept.inTurn(() => {
      for (const each of keyed) planChecked(context, loaded, snapshot, each, planned, tellProblem)
      return writePlanned(context, loaded, planned, asked.tickMs, remembered)
    })
    if (!isTaken) continue
    const refusals = await Promise.all(planned.requests.map((request) => request()))
    const refused = refusals.filter((denial) => denial !== undefined).length
    admitted += keyed.length - planned.denied.length - refused
  }
  return admitted
}

/** Returns a turn's decisions by what is durable together. */
function commitsOf(name: string, { decided, added, tickMs, remembered }: AskedTurn): readonly Together[] {
  const keyed = [...decided, ...added].map((returned, index): Keyed => {
    return { returned, decisionKey: decisionKeyOf(name, tickMs, index) }
  })
  const bound = remembered === undefined ? [] : keyed.slice(0, decided.length)
  const alone = keyed.slice(bound.length).map((each): Together => ({ keyed: [each] }))
  return remembered === undefined ? alone : [{ keyed: bound, remembered }, ...alone]
}

/** Checks and plans one decision; its denial is noted for the memory. */
function planChecked(
  context: TurnContext,
  loaded: LoadedStrategy,
  snapshot: Snapshot,
  { returned, decisionKey }: Keyed,
  planned: Planned,
  tellProblem: (problem: DecisionProblem) => void,
): void {
  const base = { kind: 'denied', atMs: context.clock.now(), decisionKey } as const
  // Before it is reported: an invalid decision has no description.
  const problem = decisionProblem(returned)
  if (problem !== undefined) {
    tellProblem(problem)
    planned.denied.push({ ...base, code: 'DECISION_INVALID', reason: problem.reason })
    return
  }
  const decision = returned as StrategyDecision
  const denial = planOne(context, loaded, snapshot, decision, decisionKey, planned)
  if (denial === undefined) return
  const side = isOrderDecision(decision) ? sideOf(decision) : {}
  planned.denied.push({ ...base, order: decision.kind, ...side, ...denial })
}

/** Writes what is planned, with the memory where there is one, and reports it once it is durable. False: perpd is stopping, and nothing was written. */
async function writePlanned(
  { accept, emit, trading }: TurnContext,
  loaded: LoadedStrategy,
  { intents, facts, denied, whenDurable }: Planned,
  tickMs: number,
  remembered: Remembered | undefined,
): Promise<boolean> {
  const { accountJournal } = trading
  const isTaken =
    remembered === undefined
      ? await writeAlone(accept, accountJournal, intents, facts)
      : !isNews(remembered) ||
        (await accountJournal.writeBeside(
          [...facts, memoryFact(loaded, remembered, tickMs, denied)],
          (records) => accept.acceptTogether(intents, records),
        ))
  if (!isTaken) return false
  for (const signal of remembered?.given.signals ?? []) emit(takenEvent(signal))
  const { name: strategy } = loaded
  for (const each of remembered?.turn.unserved ?? []) emit({ type: 'signal.unserved', strategy, ...each })
  for (const tell of whenDurable) tell()
  return true
}

/** Writes the one record of a decision without a memory, an intent's or a task's. */
async function writeAlone(
  { accept }: Accept,
  accountJournal: AccountJournal,
  intents: readonly Intent[],
  facts: readonly AccountFact[],
): Promise<boolean> {
  for (const fact of facts) await accountJournal.write(fact)
  const [intent] = intents
  return intent === undefined || (await accept(intent))
}

/** Tells whether a memory is to be written: something was decided or delivered, or it changed. */
function isNews({ turn, given }: Remembered): boolean {
  const isTold = given.events.length + given.signals.length > 0
  return (turn.decisions as readonly unknown[]).length > 0 || isTold || isChanged(turn, given.memory)
}

/** Plans one decision and reports it; returns the denial if there is one. */
function planOne(
  context: TurnContext,
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
    const plan = context.requests.planUnwind(decision.intentId, {
      by: strategy,
      reason: decision.reason,
      strategy,
    })
    if (plan.kind === 'denied') {
      emit({ type: 'decision.denied', ...told, denial: plan.denial })
      return plan.denial
    }
    if (plan.kind === 'known') return undefined
    planned.facts.push(plan.fact)
    planned.whenDurable.push(plan.begun)
    return undefined
  }
  if (isTaskDecision(decision)) {
    const plan = context.requests.planTask(loaded, decision, snapshot)
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
    return undefined
  }
  if (decision.kind === 'prepare-approval') {
    planned.requests.push(() =>
      requestRenewal({ emit, ...context.requests }, strategy, decision, decisionKey),
    )
    return undefined
  }
  if (decision.kind === 'prepare-claim') {
    planned.requests.push(() => requestClaim({ emit, ...context.requests }, strategy, decision, decisionKey))
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
    : judge(withPending(context.accept.facts(snapshot, loaded), planned.intents), {
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
  { turn: { memory, version }, given: { throughSeq, signals } }: Remembered,
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
  { memory, version }: { readonly memory: unknown; readonly version: number },
  kept: KeptMemory | undefined,
): boolean {
  return kept === undefined || kept.version !== version || encodeExact(kept.memory) !== encodeExact(memory)
}
