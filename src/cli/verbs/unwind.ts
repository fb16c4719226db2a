/**
 * `perpd orders unwind`: an operator does not want an order any more whose signature left. Nothing can call it back; the
 * decision is kept, and the daemon unwinds what lands.
 */
import { systemClock } from '../../base/systemClock.ts'
import { CommandError, exitCodes } from '../../config/exit.ts'
import { journalOptions } from '../../daemon/journalFile.ts'
import { ACCOUNT_ID } from '../../domain/accountRecords/accountRecord.ts'
import { RECORD_VERSION } from '../../domain/accountRecords/recordVersion.ts'
import { openJournal } from '../../journal/service/open.ts'
import { unwindOf, unwindStarted } from '../../tasks/unwindTask.ts'
import type { Call } from '../call/command.ts'
import { command, isRunning } from '../call/daemonClient.ts'
import { openIntentOf } from './openIntent.ts'

/** Keeps the decision: through the running daemon, or in the journal itself when none runs. */
export async function unwind({ loaded, flags, positionals, out }: Call): Promise<number> {
  const name = flags.get('by')
  if (typeof name !== 'string' || name.trim() === '') {
    throw new CommandError('Give your name: --by YOUR_NAME', exitCodes.configuration)
  }
  const by = name.trim()
  const said = flags.get('reason')
  const reason = typeof said === 'string' && said.trim() !== '' ? said.trim() : 'no reason given'
  const { config } = loaded
  const wanted = positionals[0] ?? ''
  if (await isRunning(loaded)) {
    out(`${await command(loaded, `/api/orders/${encodeURIComponent(wanted)}/unwind`, { by, reason })}.`)
    return exitCodes.ok
  }
  const journal = await openJournal(config.journal.path, journalOptions(config, `operator ${by}`))
  try {
    const { intentId, terms, kind } = openIntentOf(journal, wanted).intent
    const stamp = { v: RECORD_VERSION, atMs: systemClock.now(), intentId: ACCOUNT_ID } as const
    const detail = JSON.stringify({ intentId, reason })
    await journal.appendAccount({
      ...stamp,
      kind: 'operator.command',
      command: 'unwind',
      detail,
      by,
      via: 'cli',
    })
    if (unwindOf(journal.account().tasks, intentId) === undefined) {
      await journal.appendAccount({ ...stamp, ...unwindStarted({ intentId, reason }, by) })
    }
    out(
      `${intentId} (${kind} ${terms.direction} ${terms.symbol}) will be unwound at the daemon's next start: if it landed, the daemon closes what it opened; requested by ${by}.`,
    )
    return exitCodes.ok
  } finally {
    await journal.close()
  }
}
