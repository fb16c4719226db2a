/**
 * `perpd findings`: what the account shows that the journal cannot explain, and an operator's word on it.
 *
 * Adopting says "this is mine and perpd may count it"; ignoring says "leave it out". Either lets increases on the market go
 * on, and is kept in the journal with the name.
 */
import { systemClock } from '../api/systemClock.ts'
import { ACCOUNT_ID, type FindingState, pauses } from '../domain/accountRecord.ts'
import { toPlain } from '../domain/orderView.ts'
import { RECORD_VERSION } from '../domain/records.ts'
import { openJournal } from '../journal/open.ts'
import type { Call } from './command.ts'
import { command, isRunning } from './daemon.ts'
import { CommandError, exitCodes } from './exit.ts'
import { journalOptions, withJournal } from './journalFile.ts'
import { columns } from './table.ts'

/** Lists findings, newest first; the open ones alone unless `--all`. */
export async function findings({ loaded, flags, out }: Call): Promise<number> {
  const { findings: found } = await withJournal(loaded.config, (journal) => journal.account())
  const all = [...found.values()].toReversed()
  const shown = flags.has('all') ? all : all.filter(({ end }) => end === undefined)
  if (flags.has('json')) out(JSON.stringify(toPlain(shown), undefined, 2))
  else out(shown.length === 0 ? 'Nothing that the journal cannot explain.' : columns(shown.map(row), ''))
  return exitCodes.ok
}

function row(state: FindingState): string[] {
  const { finding, raisedAtMs, end, by } = state
  const standing = end === undefined ? (pauses(state) ? 'pauses increases' : 'noted') : end
  return [
    new Date(raisedAtMs).toISOString(),
    finding.kind,
    by === undefined ? standing : `${standing} by ${by}`,
    finding.statement,
    finding.findingId,
  ]
}

/** Settles one finding: through the running daemon, or in the journal itself when none runs. */
export async function settleFinding(
  { loaded, flags, positionals, out }: Call,
  as: 'adopted' | 'ignored',
): Promise<number> {
  const by = flags.get('by')
  if (typeof by !== 'string' || by.trim() === '') {
    throw new CommandError('Say who decides: --by YOUR_NAME', exitCodes.error)
  }
  const { config } = loaded
  const wanted = positionals[0] ?? ''
  if (await isRunning(loaded)) {
    out(await command(loaded, `/api/findings/${encodeURIComponent(wanted)}`, { as, by: by.trim() }))
    return exitCodes.ok
  }
  const journal = openJournal(config.journal.path, journalOptions(config, `operator ${by}`))
  try {
    const open = [...journal.account().findings.values()].filter(
      ({ end, finding }) => end === undefined && finding.findingId.startsWith(wanted),
    )
    const [found] = open
    if (found === undefined || open.length > 1) {
      const problem = found === undefined ? 'No open finding has' : `${open.length} open findings have`
      throw new CommandError(
        `${problem} an id that begins with ${wanted}.\n  perpd findings lists them.`,
        exitCodes.notFound,
      )
    }
    const { findingId, statement } = found.finding
    await journal.appendAccount({
      v: RECORD_VERSION,
      atMs: systemClock.now(),
      intentId: ACCOUNT_ID,
      kind: 'finding.settled',
      findingId,
      as,
      by: by.trim(),
    })
    out(`${as} by ${by.trim()}: ${statement}.`)
    return exitCodes.ok
  } finally {
    journal.close()
  }
}
