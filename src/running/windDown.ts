/**
 * Strategies whose file was removed: runs their tasks (`tasks/windDownTask.ts`) and reports their progress. A task's orders take the same path as any
 * order, under the strategy's own name, so that they reduce no more than its own part. Nothing that adds is signed for it.
 */

import type { HasOrders, HasTrading } from '../account/accountParts.ts'
import { defined } from '../base/defined.ts'
import type { Book } from '../books/books.ts'
import type { FieldChange, OnRemove } from '../domain/accountRecords/strategyEntry.ts'
import type { Decision } from '../domain/order/decision.ts'
import { type Denial, type Intent, intentAddsRisk } from '../domain/order/intent.ts'
import type { Snapshot } from '../domain/snapshot.ts'
import type { HasBasics } from '../execution/context/executionParts.ts'
import { inOneCommit, throwFirst } from '../execution/oneCommit.ts'
import { processStarted } from '../tasks/taskFacts.ts'
import { denialsOf } from '../tasks/taskRunner.ts'
import { type WindDownState, type WindDownView, windDownsOf, windDownTask } from '../tasks/windDownTask.ts'
import { createProcessWorker } from './processWorker.ts'

/** A strategy that is being wound down, and the problem that stops progress. */
export interface WindDownReport extends Omit<WindDownState, 'taskId'> {
  readonly problem?: string
}

/** A strategy that ended by its file. */
export interface Removal {
  readonly strategy: string
  /** An absolute path. */
  readonly file: string
  readonly onRemove: OnRemove
  readonly fields: readonly FieldChange[]
  readonly by: string
}

/** The worker. */
export interface WindDown {
  /** Those that are not over, oldest first. */
  open(): readonly WindDownReport[]
  /** Records that a file is gone, in one commit with the action for it; resolves when that is durable. */
  remove(removal: Removal): Promise<void>
  /** Ends the wind-down of a strategy whose file is there again. */
  takeOver(strategy: string, by: string): Promise<void>
  /** Works while one is open. Resolves when the engine ends. */
  run(signal: AbortSignal): Promise<void>
}

/** Parts of the engine that it receives. */
export interface WindDownContext extends HasBasics, HasOrders, HasTrading {
  /** Reads a snapshot with these markets and every market with a position. */
  readonly read: (symbols: readonly string[]) => Promise<Snapshot>
  /** Hands a decision of a strategy to admission, bound to its own part. */
  readonly admit: (
    strategy: string,
    snapshot: Snapshot,
    decision: Decision,
    decisionKey: string,
    beside: () => Promise<void>,
  ) => Promise<Denial | undefined>
}

const pollMs = 2_000

/** Lists the names of the strategies whose file was removed and of which something is left to do. */
export function windingDown({ trading }: HasTrading): readonly string[] {
  return windDownsOf(trading.accountJournal.state().tasks).map(({ strategy }) => strategy)
}

/** Returns the reason why an accepted intent may not be signed any more, because its strategy is wound down; or undefined. */
export function windDownVeto(parts: HasTrading, intent: Intent): Denial | undefined {
  if (!intentAddsRisk(intent) || !windingDown(parts).includes(intent.strategy)) return undefined
  return {
    code: 'NOT_WANTED',
    reason: `the file of ${intent.strategy} was removed before it was signed, so its entries are dropped`,
  }
}

/** A worker over the engine's parts. */
export function createWindDown(context: WindDownContext): WindDown {
  const { emit, journal, openOrders, trading } = context
  const { accountJournal } = trading
  const open = () => windDownsOf(accountJournal.state().tasks)

  const worker = createProcessWorker(context, {
    kind: windDownTask,
    pollMs,
    // The decision's key shows its owner: it contains the key of its task.
    admit: (snapshot, decision, decisionKey, beside) =>
      context.admit(strategyOf(decisionKey), snapshot, decision, decisionKey, beside),
    read: context.read,
    see: ({ params: { strategy } }, snapshot): WindDownView => ({
      own: openOrders
        .open()
        .map(({ state }) => state)
        .filter(({ intent }) => intent.strategy === strategy),
      parts: journal.books().all().filter(isHeldBy(strategy)).map(ownPart),
      ...defined({ snapshot }),
      isMade: (decisionKey) => journal.hasDecision(strategy, decisionKey),
    }),
    problems: (_next, answers) => denialsOf(windDownTask, answers),
    waits: ({ strategy }, reason) => emit({ type: 'windDown.waits', strategy, reason }),
    ended({ params: { strategy } }, { statement = '' }) {
      emit({ type: 'windDown.ended', strategy, statement })
    },
  })

  function strategyOf(decisionKey: string): string {
    const found = open().find(({ taskId }) => decisionKey.startsWith(`${taskId}#`))
    if (found === undefined) throw new TypeError(`no strategy is wound down by ${decisionKey}`)
    return found.strategy
  }

  return {
    open: () =>
      open().map(({ taskId, ...each }) => ({ ...each, ...defined({ problem: worker.problemOf(taskId) }) })),
    async remove({ strategy, file, onRemove, fields, by }) {
      const removed = {
        kind: 'strategy.changed',
        strategy,
        file,
        change: 'removed',
        onRemove,
        fields,
        by,
      } as const
      // A wind-down whose removal was not recorded continues.
      if (onRemove === 'keep' || open().some((each) => each.strategy === strategy)) {
        await accountJournal.write(removed)
        return
      }
      const started = processStarted(windDownTask, {
        // No other task of this journal has a number of these.
        taskId: `${windDownTask.name}:${strategy}:${accountJournal.newestSeq() + 1}`,
        by,
        params: { strategy, close: onRemove === 'close' },
      })
      throwFirst(
        // The wind-down is written first: the removal alone is never durable without it.
        await inOneCommit(
          () => accountJournal.write(started),
          () => accountJournal.write(removed),
        ),
      )
      worker.wake()
    },
    async takeOver(strategy, by) {
      for (const { taskId } of open().filter((each) => each.strategy === strategy)) {
        await accountJournal.write({ kind: 'task.ended', taskId, outcome: 'taken-over', by })
      }
    },
    run: worker.run,
  }
}

function isHeldBy(strategy: string): (book: Book) => boolean {
  return (book) => book.strategy === strategy && book.sizeUsd > 0n
}

function ownPart({ marketToken, direction, collateralToken, sizeUsd }: Book): WindDownView['parts'][number] {
  return { side: { marketToken, direction, collateralToken }, sizeUsd }
}
