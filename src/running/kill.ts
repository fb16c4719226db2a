/**
 * The kill for an operator: begins and abandons its task (`tasks/killTask.ts`), reads its view, and reports its progress. The halt that goes with it
 * keeps everyone else from making anything. Its orders take the same path as any order, verified and journaled, under the operator's name.
 */

import type { HasOrders, HasTrading } from '../account/accountParts.ts'
import { OPERATOR } from '../account/halts/tradingHalts.ts'
import type { Holdings } from '../account/holdings/holdings.ts'
import { defined } from '../base/defined.ts'
import type { LeftPosition } from '../domain/accountEvent.ts'
import { sideKeyOf } from '../domain/accountRecords/accountRecord.ts'
import { LIST_LAG_MS } from '../domain/accountRecords/listLag.ts'
import type { Snapshot } from '../domain/snapshot.ts'
import { accountOf } from '../execution/context/executionContext.ts'
import type { HasAccount, HasApi, HasBasics } from '../execution/context/executionParts.ts'
import { inOneCommit, throwFirst } from '../execution/oneCommit.ts'
import { hexKey } from '../protocol/address.ts'
import { isOnMarket } from '../protocol/position.ts'
import { formatDollars } from '../protocol/units.ts'
import {
  countLeft,
  isQuiet,
  type KillLeft,
  type KillOutcome,
  type KillParams,
  type KillProgress,
  type KillState,
  type KillView,
  killLeft,
  killOf,
  killTask,
  lacksProofAlone,
} from '../tasks/killTask.ts'
import { processStarted, runningTasks } from '../tasks/taskFacts.ts'
import { type AdmitBeside, type Answer, createTaskRunner, denialsOf } from '../tasks/taskRunner.ts'
import { type KillPreview, killPreview, leftPositions } from './killPlan.ts'
import { createKillSteps } from './killSteps.ts'

/** Remaining work of a kill. */
export interface KillReport extends KillState {
  /** Resting orders, positions (0 when they stay) and orders in flight; absent before the first look. */
  readonly left?: { readonly orders: number; readonly positions: number; readonly inFlight: number }
  /** The problem that stopped progress at its last look. Lists that are a moment apart are no problem. */
  readonly problem?: string
  /** Everything possible is done: the pending evidence in the lists, and its start, Unix ms. */
  readonly waits?: { readonly until: string; readonly sinceMs: number }
  /** Positions that it leaves open, and the protection of each; absent before the first look, and when it closes them. */
  readonly stays?: readonly LeftPosition[]
}

/** The kill's worker. */
export interface Kill {
  /** The newest kill of this journal, or undefined. */
  report(): KillReport | undefined
  /** Begins one, or turns a running one into one that does more; resolves when that is durable. */
  begin(by: string, asked: KillParams): Promise<void>
  /** The preview of a kill that would begin now. Rejects as reading does. */
  preview(asked: KillParams): Promise<KillPreview>
  /** Ends a running kill because an operator resumes trading. */
  abandon(by: string): Promise<void>
  /** Works while one is open. Resolves when the engine ends. */
  run(signal: AbortSignal): Promise<void>
}

/** Parts of the engine that the kill receives. */
export interface KillContext extends HasAccount, HasApi, HasBasics, HasOrders, HasTrading {
  /** Returns writes that end the tasks that make orders over time: the kill cancels their resting orders. */
  readonly endTasks: (by: string) => readonly (() => Promise<void>)[]
  readonly holdings: Holdings
  /** Reads a snapshot with these markets and every market with a position. */
  readonly read: (symbols: readonly string[]) => Promise<Snapshot>
  /** Symbols by lower-cased market token. */
  readonly symbols: () => Readonly<Record<string, string>>
  /** Hands a decision of the operator to admission, and the intent to the road. */
  readonly admit: AdmitBeside
}

const pollMs = 2_000
/** The venue refused because there is nothing any more: the list that shows it is late. */
const goneAtVenue = /\((POSITION|ORDER)_NOT_FOUND\)/
/** Denials that say no more than that a list is behind another one, or behind the journal. */
const lagCodes: ReadonlySet<string> = new Set([
  'NO_POSITION',
  'ORDER_CHANGING',
  'ORDER_UNKNOWN',
  'POSITION_UNPROVEN',
])

/** A difference of lists that may be momentary: its subject, and its description. */
interface Apart {
  readonly key: string
  readonly text: string
}

/** A worker over the engine's parts. */
export function createKill(context: KillContext): Kill {
  const { api, clock, journal, openOrders, trading } = context
  const { accountJournal } = trading
  const account = accountOf(context)
  let left: KillReport['left']
  let problem: string | undefined
  let waits: KillReport['waits']
  let stays: KillReport['stays']
  /** Contradictions of lists among each other or with the journal, and their starts, monotonic ms. */
  let apartSinceMs: ReadonlyMap<string, number> = new Map()
  /** Kills whose last look found nothing left. */
  const quiet = new Set<string>()
  /** Time from which looks find that only proof is missing, monotonic ms. */
  let lacksProofSinceMs: number | undefined
  const steps = createKillSteps(context)
  // One beginning at a time: each is judged by the state that the previous one left.
  let turn: Promise<unknown> = Promise.resolve()

  const tasks = () => accountJournal.state().tasks
  const state = () => killOf(tasks())

  function restart(): void {
    left = undefined
    problem = undefined
    waits = undefined
    stays = undefined
    apartSinceMs = new Map()
    quiet.clear()
    lacksProofSinceMs = undefined
    steps.restart()
    runner.wake()
  }

  async function read(): Promise<Snapshot> {
    const orders = await api.getOrders({ account })
    const symbols = context.symbols()
    // A swap is on no market: any one stands for it.
    const [anySymbol] = Object.values(symbols)
    const ofOrders = orders.value.map((order) =>
      isOnMarket(order) ? symbols[hexKey(order.marketToken)] : anySymbol,
    )
    // Orders that rest by the journal are cancelled although no list shows them.
    const ofOwn = openOrders.open().map(({ state }) => symbols[hexKey(state.intent.terms.marketToken)])
    return context.read([...new Set([...ofOrders, ...ofOwn].filter((symbol) => symbol !== undefined))])
  }

  /** Tells whether an increase executed so recently that lists of this age may not show it yet. */
  function hasNewFills({ orders }: Snapshot): boolean {
    const readAgoMs = Math.max(0, clock.now() - orders.atMs)
    return openOrders
      .recentlyLanded()
      .some(
        ({ intent }) =>
          intent.reservationUsd > 0n && openOrders.closedAgoMs(intent.intentId) - readAgoMs < LIST_LAG_MS,
      )
  }

  function tell(ofLook: KillLeft, answers: readonly Answer<KillProgress>[]): void {
    left = countLeft(ofLook)
    const said = answers.flatMap(deniedBy)
    const denials = said.flatMap(({ denied }) => denied ?? [])
    const apart = [...said.flatMap((each) => each.apart ?? []), ...apartOf(ofLook, context.symbols())]
    const nowMs = clock.monotonicMs()
    apartSinceMs = new Map(apart.map(({ key }) => [key, apartSinceMs.get(key) ?? nowMs]))
    const lasting = apart.filter(({ key }) => nowMs - (apartSinceMs.get(key) ?? nowMs) >= LIST_LAG_MS)
    const problems = [...ofLook.unread, ...denials, ...lasting.map(({ text }) => text)]
    problem = problems.length === 0 ? undefined : problems.join('; ')
    const isNoneAdmitted = answers.every(({ denial }) => denial !== undefined)
    const isWaiting = problem === undefined && ofLook.inFlight === 0 && isNoneAdmitted
    waits = isWaiting
      ? { until: awaited(left, ofLook.notFinal), sinceMs: waits?.sinceMs ?? clock.now() }
      : undefined
  }

  const runner = createTaskRunner({
    kind: killTask,
    pollMs,
    clock,
    tasks,
    write: (entry) => accountJournal.write(entry),
    admit: context.admit,
    read,
    see: ({ taskId }, snapshot): KillView => ({
      ...defined({ snapshot }),
      open: openOrders.open().map((each) => each.state),
      journal: context.holdings.journal(),
      elsewhere: (rows) => context.holdings.elsewhere(rows),
      hasNewFills: snapshot !== undefined && hasNewFills(snapshot),
      wasQuiet: quiet.has(taskId),
      proofLackedMs: lacksProofSinceMs === undefined ? 0 : clock.monotonicMs() - lacksProofSinceMs,
      nowSeconds: Math.floor(clock.now() / 1_000),
      isMade: (decisionKey) => journal.hasDecision(OPERATOR, decisionKey),
    }),
    told({ taskId, params }, view, _next, answers) {
      if (view.snapshot === undefined) return
      const { close } = params
      const ofLook = killLeft(view, view.snapshot, params)
      stays = close ? undefined : leftPositions(view.snapshot, ofLook.exits, context.symbols())
      if (isQuiet(ofLook, view)) quiet.add(taskId)
      else quiet.delete(taskId)
      lacksProofSinceMs = lacksProofAlone(ofLook, view)
        ? (lacksProofSinceMs ?? clock.monotonicMs())
        : undefined
      tell(ofLook, answers)
      const toCancel = ofLook.resting.length + ofLook.hiddenOrders.length
      const awaitsBlocks = waits !== undefined && ofLook.notFinal > 0
      steps.look({
        ...{ close, left: countLeft(ofLook), toCancel, stays: stays ?? [] },
        problem: problem ?? (awaitsBlocks ? `it waits until ${waits?.until}` : undefined),
      })
    },
    failed(_task, reason) {
      problem = reason
      steps.failed(reason)
    },
    ended: ({ params: { close } }, { outcome, statement = '' }) =>
      outcome === 'unproven' ? steps.unproven(close, statement) : steps.done(close),
  })

  /** Ends those that run. */
  const endings = (by: string, outcome: KillOutcome) =>
    runningTasks(killTask, tasks()).map(
      ({ taskId }) =>
        () =>
          accountJournal.write({ kind: 'task.ended', taskId, outcome, by }),
    )

  async function beginNow(by: string, asked: KillParams): Promise<void> {
    const before = state()
    const isOpen = before !== undefined && before.endedAtMs === undefined
    const close = asked.close || (isOpen && before.close)
    const exits = asked.exits === true || (isOpen && before.exits === true)
    if (isOpen && before.close === close && (before.exits === true) === exits) return
    const started = processStarted(killTask, {
      // No other task of this journal has a number of these.
      taskId: `${killTask.name}:${accountJournal.newestSeq() + 1}`,
      by,
      params: { close, ...(exits ? { exits } : {}) },
    })
    // The new one first: at least one of the two is durable.
    throwFirst(
      await inOneCommit(
        () => accountJournal.write(started),
        ...endings(by, 'replaced'),
        ...context.endTasks(by),
      ),
    )
    restart()
  }

  return {
    report() {
      const kill = state()
      if (kill === undefined) return undefined
      return {
        ...kill,
        ...defined({ left, problem }),
        ...defined({ waits: kill.endedAtMs === undefined ? waits : undefined }),
        ...defined({ stays }),
      }
    },
    async preview(asked) {
      const snapshot = await read()
      const open = openOrders.open().map((each) => each.state)
      const { journal: journalOf, elsewhere } = context.holdings
      const view = { open, journal: journalOf(), elsewhere }
      const whole = killLeft(view, snapshot, { ...asked, close: true })
      return killPreview(killLeft(view, snapshot, asked), whole, snapshot, context.symbols())
    },
    async begin(by, asked) {
      await trading.halt({
        scope: 'global',
        cause: 'kill',
        state: 'halted',
        reason: asked.close
          ? 'every order is cancelled and every position closed'
          : asked.exits
            ? 'every order is cancelled'
            : 'every order that adds risk is cancelled',
        by,
        releasedBy: 'operator',
      })
      const begun = turn.then(() => beginNow(by, asked))
      turn = begun.catch(() => undefined)
      await begun
    },
    async abandon(by) {
      const open = state()
      throwFirst(await inOneCommit(...endings(by, 'abandoned')))
      if (open !== undefined && open.endedAtMs === undefined) steps.abandoned()
    },
    run: (signal) => runner.run(signal),
  }
}

/** Classifies a denial by admission: a problem, or a list that lags. A close in flight is neither. */
function deniedBy(answer: Answer<KillProgress>): readonly {
  readonly denied?: string
  readonly apart?: Apart
}[] {
  const [text] = denialsOf(killTask, [answer])
  const { denial, child } = answer
  if (denial === undefined || text === undefined) return []
  const { decision } = child
  if (!lagCodes.has(denial.code) && !goneAtVenue.test(denial.reason)) return [{ denied: text }]
  return [{ apart: { key: `${denial.code}:${hexKey(decision.marketToken)}:${decision.direction}`, text } }]
}

/** Returns the contradictions of the lists with the journal or among each other. */
function apartOf(
  { hiddenOrders, hiddenSides, elsewhere }: KillLeft,
  symbols: Readonly<Record<string, string>>,
): readonly Apart[] {
  const nameOf = (marketToken: string) => symbols[hexKey(marketToken)] ?? marketToken
  return [
    ...hiddenOrders.map(({ orderKey }) => ({
      key: hexKey(orderKey),
      text: `no list shows the order ${orderKey}, which rests according to the journal`,
    })),
    ...hiddenSides.map((side) => ({
      key: `journal:${sideKeyOf(side)}`,
      text: `no list shows ${nameOf(side.marketToken)} ${side.direction}; the journal has ${formatDollars(side.sizeUsd)} (if that is wrong: perpd discrepancies)`,
    })),
    ...elsewhere.map((row) => ({
      key: `host:${sideKeyOf(row)}`,
      text: `one host shows ${formatDollars(row.sizeInUsd)} of ${nameOf(row.marketToken)} ${row.direction}, another shows none`,
    })),
  ]
}

/** Describes the pending evidence in the lists once nothing is left to do. */
function awaited({ orders, positions }: NonNullable<KillReport['left']>, notFinal: number): string {
  if (orders + positions === 0 && notFinal > 0)
    return `the chain counts the entries of ${notFinal} order${notFinal === 1 ? '' : 's'} as final, usually minutes; their exits stay`
  const parts = [
    ...(orders === 0 ? [] : [`${orders} order${orders === 1 ? '' : 's'}`]),
    ...(positions === 0 ? [] : [`${positions} position${positions === 1 ? '' : 's'}`]),
  ]
  return parts.length === 0
    ? `newer lists of the venue are empty too, at most ${LIST_LAG_MS / 1_000} s after the last order ended`
    : `every list of the venue shows the end of ${parts.join(' and ')}, usually seconds; perpd reports what a list lacks after ${LIST_LAG_MS / 1_000} s`
}
