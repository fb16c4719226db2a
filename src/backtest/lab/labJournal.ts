/** A journal on a lab's time: its commits and its maintenance are work of the scheduler. */
import { join } from 'node:path'
import type { Clock } from '../../base/clock.ts'
import type { Journal } from '../../journal/journal.ts'
import { createSqliteJournal } from '../../journal/sqlite/openSqlite.ts'
import type { Scheduler } from './scheduler.ts'

/** Opens `journal.db` in a folder, or makes it. Throws what `createSqliteJournal` throws. */
export function openLabJournal(
  folder: string,
  parts: { readonly scheduler: Scheduler; readonly clock: Clock; readonly holder: string },
): Journal {
  const { scheduler, clock, holder } = parts
  return createSqliteJournal({
    path: join(folder, 'journal.db'),
    clockNow: clock.now,
    holder,
    freeBytes: () => 2 ** 40,
    maintenance: { later: scheduler.after },
    soon: scheduler.soon,
  })
}
