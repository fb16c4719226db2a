/** Finds the orders that running tasks manage. */
import type { AccountState } from '../domain/accountRecords/accountRecord.ts'
import type { IntentState } from '../domain/order/intent.ts'
import type { AccountJournal } from './halts/accountJournal.ts'

/** Returns the id of the running task that the decision belongs to; undefined: it belongs to none. */
export function runningTaskOf(tasks: AccountState['tasks'], decisionKey: string): string | undefined {
  const [taskId = ''] = decisionKey.split('#')
  const task = tasks?.get(taskId)
  return task !== undefined && task.end === undefined ? taskId : undefined
}

/** Tells whether the decision belongs to one of these tasks that runs. */
export function isOfRunning(tasks: AccountState['tasks'], decisionKey: string): boolean {
  return runningTaskOf(tasks, decisionKey) !== undefined
}

/** The ids of those of the intents that such tasks made. */
export function madeByTasks(
  trading: { readonly accountJournal: AccountJournal },
  states: readonly IntentState[],
): ReadonlySet<string> {
  const { tasks } = trading.accountJournal.state()
  return new Set(
    states
      .filter(({ intent }) => isOfRunning(tasks, intent.decisionKey))
      .map(({ intent }) => intent.intentId),
  )
}
