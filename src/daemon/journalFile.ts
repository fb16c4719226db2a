/** The journal as the commands see it: for reading beside a running daemon or without one, for writing in its place. */
import { defined } from '../base/defined.ts'
import { isThere } from '../base/isThere.ts'
import { systemClock } from '../base/systemClock.ts'
import type { Config } from '../config/configTypes.ts'
import { CommandError, exitCodes } from '../config/exit.ts'
import type { JournalReader } from '../journal/journal.ts'
import type { SqliteJournalOptions } from '../journal/sqlite/openSqlite.ts'
import { refuseUntrustedState } from './trustedState.ts'

/**
 * Returns the options with which this configuration opens its journal for writing; `holder` is the account, or the operator by name.
 *
 * @throws CommandError with exit code 4 when others can change where a live journal is kept.
 */
export function journalOptions(config: Config, holder: string): SqliteJournalOptions {
  refuseUntrustedState(config)
  const { journal } = config
  return {
    path: fileOf(journal.path),
    ...defined({ headPath: journal.headPath }),
    maxBytes: journal.maxMiB * 1024 * 1024,
    isReserved: true,
    clockNow: systemClock.now,
    holder,
  }
}

/**
 * The path of the configured journal, which is there.
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
  const file = journalFileOf(config)
  // Commands that only ask the daemon load nothing of the journal.
  const { openJournalReader } = await import('../journal/service/open.ts')
  const journal = await openJournalReader(file)
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
