/** `perpd journal verify | export | compact | copy | accept-loss`: the journal as a thing of its own. */
import { existsSync } from 'node:fs'
import { defined } from '../../base/defined.ts'
import { systemClock } from '../../base/systemClock.ts'
import { CommandError, exitCodes } from '../../config/exit.ts'
import {
  journalFileOf,
  journalNameOf,
  journalOptions,
  journalPlaceOf,
  signatureLivesMsOf,
} from '../../daemon/journalFile.ts'
import { toPlain } from '../../domain/summaries/orderView.ts'
import { acceptLoss } from '../../journal/service/acceptLoss.ts'
import { copyToDatabase, copyToFile } from '../../journal/service/copyJournal.ts'
import { exportJournal } from '../../journal/service/export.ts'
import { openByRules } from '../../journal/service/open.ts'
import { type Verification, verifyJournal } from '../../journal/service/verifyJournal.ts'
import { highWaterMarkPathOf } from '../../journal/sqlite/highWaterMark.ts'
import { counted, span } from '../../monitor/text.ts'
import type { Call } from '../call/command.ts'
import { whileReading } from '../output/progressBar.ts'
import { columns } from '../output/table.ts'

/** Checks the journal whole. Exit code 0 when all of it holds, 1 when anything does not, 2 when there is none. */
export async function journalVerify({ loaded, flags, out }: Call): Promise<number> {
  const place = journalPlaceOf(loaded.config)
  const path = place.postgres === undefined ? place.path : place.name
  const beganMs = systemClock.monotonicMs()
  const found = await whileReading((progress) => verifyJournal(place, progress), false)
  const tookMs = systemClock.monotonicMs() - beganMs
  const isWhole = found.problems.length === 0
  if (flags.has('json')) out(JSON.stringify({ path, isWhole, ...toPlain(found) }, undefined, 2))
  else out(verificationText(path, found, tookMs))
  return isWhole ? exitCodes.ok : exitCodes.error
}

function verificationText(path: string, found: Verification, tookMs: number): string {
  const { records, intents, openIntents, bytes, tail, headSeq, snapshot, snapshotSeq, problems } = found
  const snapshotWords = {
    none: 'none',
    bad: 'unusable; a start ignores it and reads all records',
    good: `at record ${snapshotSeq}`,
  } as const
  const rows = [
    ['journal', `${path}, ${Math.ceil(bytes / 1024)} KiB, schema version ${found.version}`],
    ['records', `${counted(records, 'record')} of ${counted(intents, 'order')}, ${openIntents} open`],
    ['chain', tail.seq === 0 ? 'empty' : `whole to record ${tail.seq} (its hash: --json)`],
    ['mark', headSeq === undefined ? 'none' : `at record ${headSeq}`],
    ['snapshot', snapshotWords[snapshot]],
    ['result', problems.length === 0 ? `whole; read in ${span(tookMs)}` : 'NOT WHOLE'],
    ...problems.map((problem) => ['', problem]),
  ]
  if (problems.length > 0) {
    rows.push(['', 'Nothing was changed. Keep this journal as it is and restore the newest whole copy.'])
  }
  return columns(rows)
}

/** Prints records as JSON lines. Exit code 2 when no record fits. */
export async function journalExport({ loaded, flags, out }: Call): Promise<number> {
  const place = journalPlaceOf(loaded.config)
  const since = flags.get('since')
  const intentId = flags.get('intent')
  const query = {
    ...defined({ sinceMs: typeof since === 'string' ? timeOf(since) : undefined }),
    ...defined({ intentId: typeof intentId === 'string' ? intentId : undefined }),
    withSignatures: flags.has('signatures'),
  }
  const records = await whileReading((progress) => exportJournal(place, query, out, progress))
  if (records === 0) throw new CommandError('No matching records.', exitCodes.notFound)
  return exitCodes.ok
}

function timeOf(text: string): number {
  const atMs = Date.parse(text)
  if (Number.isFinite(atMs)) return atMs
  throw new CommandError(
    `--since is ${text}; expected a time, as 2027-01-15 or 2027-01-15T08:00:00Z.`,
    exitCodes.error,
  )
}

/** Reads all records anew and keeps their folds as the snapshot that the next start goes on from. */
export async function journalCompact({ loaded, out }: Call): Promise<number> {
  journalPlaceOf(loaded.config)
  const beganMs = systemClock.monotonicMs()
  const options = journalOptions(loaded.config, 'perpd journal compact')
  const { journal } = await whileReading(
    (progress) => openByRules({ ...options, progress }, { compact: true }),
    false,
  )
  const { records, openIntents } = journal.summary()
  await journal.close()
  const tookMs = systemClock.monotonicMs() - beganMs
  out(
    `The journal is whole. The snapshot is at record ${records}: ${counted(openIntents, 'open order')}; made in ${span(tookMs)}.\nThe next start reads only later records. No record was removed.`,
  )
  return exitCodes.ok
}

/** Goes on with a journal that lost records, in the operator's name. The daemon must not run. */
export async function journalAcceptLoss({ loaded, flags, out }: Call): Promise<number> {
  const { config } = loaded
  const options = journalOptions(config, `operator ${String(flags.get('by'))}`)
  // A journal that is gone altogether has its mark left.
  if (options.postgres === undefined && !existsSync(highWaterMarkPathOf(options.path, options.headPath)))
    journalFileOf(config)
  const by = flags.get('by')
  if (typeof by !== 'string' || by.trim() === '') {
    throw new CommandError('Give the name of who accepts the loss: --by YOUR_NAME', exitCodes.configuration)
  }
  const accepted = await acceptLoss(options, {
    by: by.trim(),
    nowMs: systemClock.now(),
    liveMs: signatureLivesMsOf(config),
  })
  if (accepted === undefined) {
    out(
      'The journal has lost no records: it has the record that its high-water mark names. Nothing was changed.',
    )
    return exitCodes.ok
  }
  const { lastFound, lastWritten, closed, quietUntilMs } = accepted
  out(
    [
      `${by.trim()} accepted the loss of the records after ${lastFound} (the high-water mark is ${lastWritten}); the journal records it.`,
      `  Closed ${counted(closed.length, 'order')} that as far as is known ${closed.length === 1 ? 'was' : 'were'} not signed.`,
      `  perpd makes no new orders before ${new Date(quietUntilMs).toISOString()}: until then a lost signature may land.`,
      '  Orders and positions of lost records will appear as discrepancies: perpd discrepancies.',
    ].join('\n'),
  )
  return exitCodes.ok
}

/** Copies the journal from its file into the database of `journal.url`, or back. Exit code 4 without a database or a place. */
export async function journalCopy({ loaded: { config }, flags, out }: Call): Promise<number> {
  const to = flags.get('to')
  if (to !== 'database' && to !== 'file') {
    const isAddress = typeof to === 'string' && to.includes(':')
    const where = isAddress
      ? '\n  An address stands in the settings (journal.path, journal.url): among arguments every process would see its password.'
      : ''
    throw new CommandError(
      `Say where the records go: --to database or --to file.${where}`,
      exitCodes.configuration,
    )
  }
  const { postgres, ...options } = journalOptions(config, 'perpd journal copy')
  if (postgres === undefined) {
    throw new CommandError(
      'journal.url is empty: it names the database that records are copied to, or from (postgres://USER:PASSWORD@HOST:PORT/DATABASE).',
      exitCodes.configuration,
    )
  }
  const copy = to === 'database' ? copyToDatabase : copyToFile
  const { records, written } = await whileReading((progress) => copy({ ...options, postgres }, progress))
  const [from, place] =
    to === 'database' ? [options.path, journalNameOf(config)] : [journalNameOf(config), options.path]
  const next =
    to === 'database'
      ? 'perpd run now writes the database.'
      : 'Remove journal.url from the settings; perpd run then writes the file.'
  out(
    `${place} has the ${counted(records, 'record')} of ${from}, by the same chain of hashes; ${written} written now.\n${next}`,
  )
  return exitCodes.ok
}
