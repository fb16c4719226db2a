/** The open order that a command names. */
import { CommandError, exitCodes } from '../../config/exit.ts'
import type { IntentState } from '../../domain/order/intent.ts'

/**
 * The open order whose id begins with `wanted`.
 *
 * @throws CommandError when there is none, or several
 */
export function openIntentOf(
  journal: { openIntents(): readonly IntentState[] },
  wanted: string,
): IntentState {
  const found = journal.openIntents().filter(({ intent }) => intent.intentId.startsWith(wanted))
  const [state] = found
  if (state !== undefined && found.length === 1) return state
  const problem = state === undefined ? 'No open order has' : `${found.length} open orders have`
  throw new CommandError(`${problem} an id that begins with ${wanted}.`, exitCodes.notFound)
}
