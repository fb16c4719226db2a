/**
 * `perpd orders resolve`: an operator's word for an order that no evidence closes. It is the way out of an outcome that
 * the APIs will never show, and it frees the order's room, so it asks for a name and is kept in the journal for ever.
 */

import { systemClock } from '../../base/systemClock.ts'
import { CommandError, exitCodes } from '../../config/exit.ts'
import { journalOptions } from '../../daemon/journalFile.ts'
import { step } from '../../domain/machine/step.ts'
import { isOpen, isUnresolved, lastAttempt } from '../../domain/order/intent.ts'
import { openJournal } from '../../journal/service/open.ts'
import type { Call } from '../call/command.ts'
import { command, isRunning } from '../call/daemonClient.ts'
import { openIntentOf } from './openIntent.ts'

const outcomes = ['dead', 'executed', 'cancelled'] as const

/** Closes one unresolved order: through the running daemon, or in the journal itself when none runs. */
export async function resolve({ loaded, flags, positionals, out }: Call): Promise<number> {
  const as = outcomes.find((each) => each === flags.get('as'))
  const by = flags.get('by')
  if (as === undefined || typeof by !== 'string' || by.trim() === '') {
    throw new CommandError(
      `Give the outcome and your name: --as ${outcomes.join('|')} --by YOUR_NAME`,
      as === undefined && flags.has('as') ? exitCodes.error : exitCodes.configuration,
    )
  }
  const { config } = loaded
  const wanted = positionals[0] ?? ''
  if (await isRunning(loaded)) {
    out(await command(loaded, `/api/orders/${encodeURIComponent(wanted)}/resolve`, { as, by: by.trim() }))
    return exitCodes.ok
  }
  const journal = await openJournal(config.journal.path, journalOptions(config, `operator ${by}`))
  try {
    const state = openIntentOf(journal, wanted)
    const attempt = lastAttempt(state)
    if (!isOpen(state) || attempt === undefined || !(isUnresolved(attempt) || attempt.phase === 'LANDED')) {
      throw new CommandError(
        `${state.intent.intentId} was never signed: the daemon closes it at its next start.`,
        exitCodes.error,
      )
    }
    const rules = { source: 'api', trustVenue: false, deadlineMarginMs: 0 } as const
    const { record } = step(state, { type: 'resolved', nowMs: systemClock.now(), as, by: by.trim() }, rules)
    if (record !== undefined) await journal.append(record)
    const { intentId, terms, kind } = state.intent
    out(`${intentId} (${kind} ${terms.direction} ${terms.symbol}) is closed as ${as}, by ${by.trim()}.`)
    return exitCodes.ok
  } finally {
    await journal.close()
  }
}
