/** Finds the orders that running tasks manage. */
import type { IntentState } from '../../domain/order/intent.ts'
import type { Trading } from '../account/tradingHalts.ts'

/** Tells whether the decision belongs to a running task. */
export function isOfRunningTask(
  { accountJournal }: Pick<Trading, 'accountJournal'>,
  decisionKey: string,
): boolean {
  const [taskId = ''] = decisionKey.split('#')
  const task = accountJournal.state().tasks?.get(taskId)
  return task !== undefined && task.end === undefined
}

/** The ids of those of the intents that such tasks made. */
export function madeByTasks(
  trading: Pick<Trading, 'accountJournal'>,
  states: readonly IntentState[],
): ReadonlySet<string> {
  return new Set(
    states
      .filter(({ intent }) => isOfRunningTask(trading, intent.decisionKey))
      .map(({ intent }) => intent.intentId),
  )
}
