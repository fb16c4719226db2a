/**
 * `perpd discrepancies`: what the account shows that the journal cannot explain, and an operator's word on it.
 *
 * Adopting says "this is mine and perpd may count it"; ignoring says "leave it out". Either lets increases on the market go
 * on, and is kept in the journal with the name.
 */
import { systemClock } from '../../base/systemClock.ts'
import { CommandError, exitCodes } from '../../config/exit.ts'
import { journalOptions, withJournal } from '../../daemon/journalFile.ts'
import {
  ACCOUNT_ID,
  type AccountState,
  type DiscrepancyState,
  pauses,
} from '../../domain/accountRecords/accountRecord.ts'
import { discrepanciesNamed, shortDiscrepancyId } from '../../domain/accountRecords/discrepancyId.ts'
import { RECORD_VERSION } from '../../domain/accountRecords/recordVersion.ts'
import { toPlain } from '../../domain/summaries/orderView.ts'
import { openJournal } from '../../journal/service/open.ts'
import type { Call } from '../call/command.ts'
import { command, isRunning } from '../call/daemonClient.ts'
import { type Column, table } from '../output/table.ts'

/** Lists discrepancies, newest first; the open ones alone unless `--all`. */
export async function discrepancies({ loaded, flags, width, out }: Call): Promise<number> {
  const { discrepancies: found } = await withJournal(loaded.config, (journal) => journal.account())
  const all = [...found.values()].toReversed()
  const shown = flags.has('all') ? all : all.filter(({ end }) => end === undefined)
  if (flags.has('json')) out(JSON.stringify(toPlain(shown), undefined, 2))
  else out(shown.length === 0 ? 'No discrepancies.' : table(columnsOf, shown.map(row), width))
  return exitCodes.ok
}

const columnsOf: readonly Column[] = [
  { title: 'ID', rank: 0 },
  { title: 'SEEN (UTC)', rank: 0 },
  { title: 'STANDING', rank: 0 },
  { title: 'KIND', rank: 1 },
  { title: 'WHAT', rank: 2, isProse: true },
]

function row(state: DiscrepancyState): string[] {
  const { discrepancy, raisedAtMs, end, by } = state
  const standing = end === undefined ? (pauses(state) ? 'blocks increases' : 'noted') : end
  return [
    shortDiscrepancyId(discrepancy.discrepancyId),
    new Date(raisedAtMs).toISOString().slice(0, 19).replace('T', ' '),
    by === undefined ? standing : `${standing} by ${by}`,
    discrepancy.kind,
    `${discrepancy.statement}${discrepancy.isInitial === true ? " (older than perpd's first look)" : ''}`,
  ]
}

/** Settles one discrepancy, or with `--all` every open one: through the running daemon, or in the journal when none runs. */
export async function settleDiscrepancy(
  { loaded, flags, positionals, out }: Call,
  as: 'adopted' | 'ignored',
): Promise<number> {
  const by = flags.get('by')
  if (typeof by !== 'string' || by.trim() === '') {
    throw new CommandError('Give your name: --by YOUR_NAME', exitCodes.configuration)
  }
  const { config } = loaded
  const wanted = positionals[0] ?? ''
  const isAll = flags.has('all')
  if (isAll === (wanted !== '')) {
    throw new CommandError(
      'Name one discrepancy by its id, or all of them with --all.\n  perpd discrepancies lists them.',
      exitCodes.configuration,
    )
  }
  const isMeant = beforeOf(flags.get('before'), isAll)
  if (await isRunning(loaded)) {
    const ids = isAll
      ? openOf(await withJournal(config, (journal) => journal.account()), isMeant).map(
          ({ discrepancy }) => discrepancy.discrepancyId,
        )
      : [wanted]
    for (const id of ids) {
      out(await command(loaded, `/api/discrepancies/${encodeURIComponent(id)}`, { as, by: by.trim() }))
    }
    if (ids.length === 0) out('No open discrepancy matches; nothing changed.')
    return exitCodes.ok
  }
  const journal = await openJournal(config.journal.path, journalOptions(config, `operator ${by}`))
  try {
    const open = openOf(journal.account(), isMeant)
    const found = isAll ? open : discrepanciesNamed(open, wanted)
    if (!isAll && found.length !== 1) {
      const problem =
        found.length === 0 ? 'No open discrepancy has' : `${found.length} open discrepancies have`
      throw new CommandError(
        `${problem} an id that begins with ${wanted}.\n  perpd discrepancies lists them.`,
        exitCodes.notFound,
      )
    }
    for (const { discrepancy } of found) {
      const { discrepancyId, statement } = discrepancy
      await journal.appendAccount({
        v: RECORD_VERSION,
        atMs: systemClock.now(),
        intentId: ACCOUNT_ID,
        kind: 'discrepancy.settled',
        discrepancyId,
        as,
        by: by.trim(),
      })
      out(`${as} by ${by.trim()}: ${statement}.`)
    }
    if (found.length === 0) out('No open discrepancy matches; nothing changed.')
    return exitCodes.ok
  } finally {
    await journal.close()
  }
}

function openOf(
  { discrepancies: all }: AccountState,
  isMeant: (state: DiscrepancyState) => boolean,
): readonly DiscrepancyState[] {
  return [...all.values()].filter((state) => state.end === undefined && isMeant(state))
}

/** Which discrepancies `--before` means: those of before a time, or with START those that were there before the journal. */
function beforeOf(value: string | true | undefined, isAll: boolean): (state: DiscrepancyState) => boolean {
  if (value === undefined) return () => true
  if (!isAll) throw new CommandError('--before goes with --all.', exitCodes.configuration)
  if (typeof value === 'string' && value.toUpperCase() === 'START') {
    return ({ discrepancy }) => discrepancy.isInitial === true
  }
  const beforeMs = Date.parse(String(value))
  if (Number.isNaN(beforeMs)) {
    throw new CommandError(
      `--before is ${String(value)}; expected START or a time such as 2026-11-20T12:00:00Z.`,
      exitCodes.error,
    )
  }
  return ({ discrepancy, raisedAtMs }) =>
    (discrepancy.atSeconds === undefined ? raisedAtMs : discrepancy.atSeconds * 1_000) < beforeMs
}
