/** The journal as the read-only commands see it: beside a running daemon or without one. */
import { existsSync } from 'node:fs'
import type { JournalReader } from '../journal/journal.ts'
import { openJournalReader } from '../journal/open.ts'
import type { Config } from './config/types.ts'
import { CommandError, exitCodes } from './exit.ts'

/**
 * Opens the configured journal for reading, hands it over, and closes it.
 *
 * @throws CommandError with exit code 2 when there is no journal yet.
 */
export async function withJournal<T>(config: Config, use: (journal: JournalReader) => T): Promise<T> {
  const { path } = config.journal
  if (path === 'memory:') {
    throw new CommandError(
      'The journal is kept in memory (journal.path memory:); only the running daemon can show it, at its control port.',
      exitCodes.notFound,
    )
  }
  if (!existsSync(path)) {
    throw new CommandError(
      `There is no journal at ${path}.\n  No daemon has run with the profile ${config.profile} here yet, or journal.path names another place. Start one with: perpd run (in a checkout: npm start)`,
      exitCodes.notFound,
    )
  }
  const journal = openJournalReader(path)
  try {
    return use(journal)
  } finally {
    journal.close()
  }
}
