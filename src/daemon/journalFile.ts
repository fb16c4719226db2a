/** The journal as the commands see it: for reading beside a running daemon or without one, for writing in its place. */
import { defined } from '../base/defined.ts'
import { isThere } from '../base/isThere.ts'
import { systemClock } from '../base/systemClock.ts'
import type { Config } from '../config/configTypes.ts'
import { CommandError, exitCodes } from '../config/exit.ts'
import type { JournalReader } from '../journal/journal.ts'
import { type PostgresJournal, postgresName } from '../journal/postgres/postgresPlace.ts'
import type { JournalOptions } from '../journal/service/open.ts'
import type { VerifiedPlace } from '../journal/service/verifyJournal.ts'
import { refuseUntrustedState } from './trustedState.ts'

/** The database that keeps the journal; undefined where a file does. */
export function postgresOf(config: Config): PostgresJournal | undefined {
  const { url, account = config.profile, synchronousStandby } = config.journal
  return url === undefined
    ? undefined
    : { url, account, needsStandby: synchronousStandby, signatureLivesMs: signatureLivesMsOf(config) }
}

/** Longest time in which a signature may land after it was made, ms: the longest deadline that is signed, with the margin for clocks. */
export function signatureLivesMsOf({ signing, execution }: Config): number {
  return (signing.maxDeadlineSeconds + execution.deadlineMarginSeconds) * 1000
}

/** The journal's name as it is shown: its path, or of a database its place without secrets. */
export function journalNameOf(config: Config): string {
  const postgres = postgresOf(config)
  return postgres === undefined ? config.journal.path : postgresName(postgres)
}

/**
 * Returns the options with which this configuration opens its journal for writing; `holder` is the account, or the operator by name.
 *
 * @throws CommandError with exit code 4 when others can change where a live journal is kept.
 */
export function journalOptions(config: Config, holder: string): JournalOptions {
  refuseUntrustedState(config)
  const { journal } = config
  return {
    path: fileOf(journal.path),
    ...defined({ headPath: journal.headPath }),
    maxBytes: journal.maxMiB * 1024 * 1024,
    isReserved: true,
    clockNow: systemClock.now,
    holder,
    ...defined({ postgres: postgresOf(config) }),
  }
}

/**
 * Returns where the configured journal is, which is there as far as a file is: its path, or the database with the path after which this machine's own
 * files are named.
 *
 * @throws CommandError as `journalFileOf` where a file keeps it.
 */
export function journalPlaceOf(config: Config): VerifiedPlace & { readonly name: string } {
  const { path, postgres, headPath } = journalOptions(config, '')
  if (postgres === undefined) journalFileOf(config)
  return { path, name: journalNameOf(config), ...defined({ postgres, headPath }) }
}

/**
 * The path of the configured journal file, which is there.
 *
 * @throws CommandError with exit code 2 when there is no journal file, or none yet; 4 as `journalOptions`. HiddenPlaceError when this user may not look.
 */
export function journalFileOf(config: Config): string {
  refuseUntrustedState(config)
  const { path } = config.journal
  if (path === 'memory:') {
    throw new CommandError(
      'The journal is in memory (journal.path memory:); only the running daemon can show it, at its control port.',
      exitCodes.notFound,
    )
  }
  const file = fileOf(path)
  if (!isThere(file)) {
    throw new CommandError(
      `There is no journal at ${path}.\n  No daemon has run with the profile ${config.profile} here yet, or journal.path names another place. Start one with: perpd run (in a checkout: npm start)`,
      exitCodes.notFound,
    )
  }
  return file
}

/**
 * Opens the configured journal for reading, hands it over, and closes it.
 *
 * @throws CommandError with exit code 2 when there is no journal yet.
 */
export async function withJournal<T>(
  config: Config,
  use: (journal: JournalReader) => T | Promise<T>,
): Promise<T> {
  const postgres = postgresOf(config)
  const file = postgres === undefined ? journalFileOf(config) : config.journal.path
  // Commands that only ask the daemon load nothing of the journal.
  const { openJournalReader } = await import('../journal/service/open.ts')
  const journal = await openJournalReader(file, postgres)
  try {
    return await use(journal)
  } finally {
    await journal.close()
  }
}

/** A file beside the journal, named after it; undefined where the journal is kept in memory. */
export function besideJournal({ journal }: Config, ending: string): string | undefined {
  return journal.path === 'memory:' ? undefined : `${fileOf(journal.path)}.${ending}`
}

/** A journal may be named as `sqlite:PATH`. */
function fileOf(location: string): string {
  return location.replace(/^sqlite:/, '')
}
