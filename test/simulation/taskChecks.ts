/**
 * E10: what a task decides is of a task that runs, by its key, and is written in one turn with the step that it is; a task ends
 * once, and an unwind does when nothing is left open. The simulated operator opens and closes nothing by hand, so all orders of his name are tasks'.
 */
import type { AccountRecord } from '../../src/domain/accountRecords/accountRecord.ts'
import type { Intent } from '../../src/domain/order/intent.ts'
import type { JournalRecord } from '../../src/domain/records.ts'
import type { Tasks } from '../../src/domain/taskStates/taskRecord.ts'
import { type KillParams, killTask } from '../../src/tasks/killTask.ts'
import { taskRows } from '../../src/tasks/taskRows.ts'
import { type UnwindParams, unwindTask } from '../../src/tasks/unwindTask.ts'
import type { Truth } from './truth.ts'

/** What is told to them. */
export interface TaskChecks {
  /** A process begins with these tasks of its journal. */
  begin(tasks: Tasks | undefined): void
  /** A record is about to be written. */
  leaving(record: JournalRecord | AccountRecord): void
  /** An order of a task's was accepted, durably. */
  accepted(intent: Intent): void
  /** An unwind was told to be over. */
  unwound(intentId: string): void
  /** A record is durable; gives the kill that it says is done. */
  durable(record: JournalRecord | AccountRecord): KillParams | undefined
}

/** Whether an order is a task's: every one in the operator's name is, and of a strategy's the key says so. */
export function isOfTasks({ strategy, decisionKey }: Pick<Intent, 'strategy' | 'decisionKey'>): boolean {
  return strategy === '@operator' || taskRows.some(({ name }) => decisionKey.startsWith(`${name}:`))
}

interface Known {
  readonly taskKind: string
  readonly params: unknown
  isOver: boolean
}

/** Makes the checks of one world. */
export function createTaskChecks(truth: Truth): TaskChecks {
  const known = new Map<string, Known>()
  const told = new Set<string>()
  let changes = 0

  /** Whether a key is one that the task makes. */
  function isOf(decisionKey: string, taskId: string, { taskKind, params }: Known): boolean {
    if (taskKind !== unwindTask.name) return decisionKey.startsWith(`${taskId}#`)
    const { intentId } = params as UnwindParams
    return /^unwind(-cancel)?:([0-9a-f]+)[.#\d]*$/.exec(decisionKey)?.[2] === intentId
  }

  return {
    begin(tasks) {
      for (const [taskId, { taskKind, params, end }] of tasks ?? []) {
        if (known.get(taskId)?.isOver === true && end === undefined)
          truth.fail('E10', `${taskId} is over, and goes on after a start`)
        known.set(taskId, { taskKind, params, isOver: end !== undefined })
      }
    },
    leaving(record) {
      if (record.kind === 'task.changed') changes += 1
      if (record.kind !== 'intent.accepted' || !isOfTasks(record.intent)) return
      const before = changes
      const { decisionKey } = record.intent
      queueMicrotask(() => {
        if (changes !== before) return
        try {
          truth.fail('E10', `${decisionKey} is not written together with its task's step`)
        } catch {
          // The world was told, and nobody waits here for what it throws.
        }
      })
    },
    accepted({ decisionKey }) {
      const [found] = [...known].filter(([taskId, task]) => isOf(decisionKey, taskId, task))
      if (found === undefined) truth.fail('E10', `${decisionKey} is of no task`)
      else if (found[1].isOver) truth.fail('E10', `${decisionKey} is of a task that is over`)
    },
    unwound(intentId) {
      if (told.has(intentId)) truth.fail('E10', `the unwind of ${intentId} is over a second time`)
      told.add(intentId)
    },
    durable(record) {
      switch (record.kind) {
        case 'task.started':
          known.set(record.taskId, { taskKind: record.taskKind, params: record.params, isOver: false })
          return undefined
        case 'task.ended': {
          const task = known.get(record.taskId)
          if (task === undefined) return undefined
          task.isOver = true
          return task.taskKind === killTask.name && record.outcome === 'done'
            ? (task.params as KillParams)
            : undefined
        }
        case 'trading.state':
          // An operator who lets trading go on ends what kills.
          if (record.cause !== 'kill' || record.state !== 'active') return undefined
          for (const task of known.values()) if (task.taskKind === killTask.name) task.isOver = true
          return undefined
        default:
          return undefined
      }
    },
  }
}
