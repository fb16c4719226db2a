/**
 * Orders that nobody wants any more: takes the request, and reports the progress of its task (`tasks/unwindTask.ts`). The task's orders take the same
 * path as any order, under the operator's name, and may only reduce.
 */

import { OPERATOR, type Trading } from '../account/halts/tradingHalts.ts'
import type { Holdings } from '../account/holdings/holdings.ts'
import { intentIdOf } from '../account/ids.ts'
import { defined } from '../base/defined.ts'
import { sideKeyOf } from '../domain/accountRecords/accountRecord.ts'
import type { Denial, IntentState } from '../domain/order/intent.ts'
import type { UnwindOutcome } from '../domain/orderEvent.ts'
import type { Snapshot } from '../domain/snapshot.ts'
import type { TaskEntry } from '../domain/taskStates/taskRecord.ts'
import { accountOf } from '../execution/context/executionContext.ts'
import type { HasAccount, HasBasics } from '../execution/context/executionParts.ts'
import type { OpenOrders } from '../execution/openOrders.ts'
import { type AdmitBeside, denialsOf } from '../tasks/taskRunner.ts'
import { unwindKeysOf } from '../tasks/unwindPlan.ts'
import {
  type UnwindState,
  type UnwindView,
  unwindOf,
  unwindStarted,
  unwindStateOf,
  unwindTask,
} from '../tasks/unwindTask.ts'
import { createProcessWorker } from './processWorker.ts'

/** An order that is to be unwound if it lands, and the problem that stops progress. */
export interface UnwindReport extends UnwindState {
  readonly problem?: string
}

/** Requester of an unwind, and the reason. */
export interface UnwindWish {
  readonly by: string
  /** One sentence. */
  readonly reason: string
  /** Name of the requesting strategy, which may request it for its own orders alone. */
  readonly strategy?: string
}

/** Outcome of a request. */
export type UnwindPlan =
  | { readonly kind: 'denied'; readonly denial: Denial }
  /** It was requested before. */
  | { readonly kind: 'known' }
  /** `begun` is to be called once `fact` is durable. */
  | { readonly kind: 'new'; readonly fact: TaskEntry; begun(): void }

/** The worker. */
export interface Unwinder {
  /** Those that are not over, oldest first. */
  open(): readonly UnwindReport[]
  /**
   * Takes a wish; resolves when it is durable. Refuses with ORDER_NOT_FOUND and ORDER_NOT_OWN. Asked for twice it stays as it is.
   */
  request(intentId: string, wish: UnwindWish): Promise<Denial | undefined>
  /** Plans the record of a request, for a caller that writes it with another record; or returns the refusal, as above. */
  plan(intentId: string, wish: UnwindWish): UnwindPlan
  /** Works while one is open. Resolves when the engine ends. */
  run(signal: AbortSignal): Promise<void>
}

/** Parts of the engine that it receives. */
export interface UnwindContext extends HasAccount, HasBasics {
  readonly openOrders: OpenOrders
  readonly trading: Trading
  readonly holdings: Holdings
  /** Reads a snapshot with these markets and every market with a position. */
  readonly read: (symbols: readonly string[]) => Promise<Snapshot>
  /** Hands a decision of the operator to admission, and the intent to the road. */
  readonly admit: AdmitBeside
  /** Tells whether a snapshot's positions hold the intent's fill. */
  readonly isSeen: (state: IntentState, snapshot: Snapshot) => boolean
}

const pollMs = 1_000

/** A worker over the engine's parts. */
export function createUnwinder(context: UnwindContext): Unwinder {
  const { emit, journal, openOrders, trading } = context
  const { accountJournal } = trading
  const account = accountOf(context)

  /** Returns the outcomes of all decisions so far that unwound this order, however long ago. */
  async function triesOf(order: IntentState): Promise<ReadonlyMap<string, IntentState>> {
    const tries = new Map<string, IntentState>()
    for (const decisionKey of unwindKeysOf(order)) {
      if (!journal.hasDecision(OPERATOR, decisionKey)) continue
      const made = await journal.intent(intentIdOf(account, OPERATOR, decisionKey))
      if (made !== undefined) tries.set(decisionKey, made)
    }
    return tries
  }

  const worker = createProcessWorker(context, {
    kind: unwindTask,
    pollMs,
    admit: context.admit,
    read: context.read,
    async see({ params: { intentId } }, snapshot): Promise<UnwindView | undefined> {
      const order = await journal.intent(intentId)
      if (order === undefined) return undefined
      const tries = await triesOf(order)
      return {
        order,
        made: (decisionKey) => tries.get(decisionKey),
        knownUsd: (side) => context.holdings.journal().get(sideKeyOf(side))?.sizeUsd ?? 0n,
        ...(snapshot === undefined ? {} : { snapshot, isSeen: context.isSeen(order, snapshot) }),
      }
    },
    problems: ({ problem }, answers) =>
      problem === undefined && answers.length === 0
        ? undefined
        : [...(problem === undefined ? [] : [problem]), ...denialsOf(unwindTask, answers)],
    waits: ({ intentId }, reason) => emit({ type: 'unwind.waits', intentId, reason }),
    ended({ params: { intentId }, by }, { outcome, statement = '' }) {
      emit({ type: 'unwind.ended', intentId, by, outcome: outcome as UnwindOutcome, statement })
    },
  })

  return {
    open: () =>
      worker
        .open()
        .map((task) => ({ ...unwindStateOf(task), ...defined({ problem: worker.problemOf(task.taskId) }) })),
    plan,
    async request(intentId, wish) {
      const planned = plan(intentId, wish)
      if (planned.kind === 'denied') return planned.denial
      if (planned.kind === 'known') return undefined
      await accountJournal.write(planned.fact)
      planned.begun()
      return undefined
    },
    run: worker.run,
  }

  function plan(intentId: string, { by, reason, strategy }: UnwindWish): UnwindPlan {
    const live = openOrders.open().find(({ state }) => state.intent.intentId === intentId)
    if (live === undefined) {
      return {
        kind: 'denied',
        denial: { code: 'ORDER_NOT_FOUND', reason: `there is no open order ${intentId}` },
      }
    }
    const { intent } = live.state
    if (strategy !== undefined && intent.strategy !== strategy) {
      return {
        kind: 'denied',
        denial: {
          code: 'ORDER_NOT_OWN',
          reason: `the order ${intentId} belongs to ${intent.strategy}; a strategy can unwind only its own orders`,
        },
      }
    }
    if (unwindOf(accountJournal.state().tasks, intentId) !== undefined) return { kind: 'known' }
    return {
      kind: 'new',
      fact: unwindStarted({ intentId, reason }, by),
      begun() {
        emit({ type: 'unwind.requested', intent, by, reason })
        worker.wake()
      },
    }
  }
}
