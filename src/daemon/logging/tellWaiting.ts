/** Reports in the log for whom a standby waits, once for each holder and each silence of the server. */
import type { JournalFaultError } from '../../journal/journal.ts'
import type { Log } from '../../monitor/log/log.ts'

/** Hears of each look of a standby that found the journal taken, or no server. */
export interface Waiting {
  readonly hear: (fault: JournalFaultError) => void
  /** True once it had to wait. */
  readonly hasWaited: () => boolean
}

/** Makes the reporter. */
export function tellWaiting(note: Log['note']): Waiting {
  let told: string | undefined
  return {
    hear({ code, facts = {} }) {
      const { holder, epoch, reason } = facts as Readonly<Record<string, string | number | undefined>>
      const now = `${code} ${holder} ${epoch}`
      if (now === told) return
      told = now
      if (code === 'JOURNAL_LOCKED')
        note(
          'journal.waiting',
          'info',
          `${holder} writes the journal; perpd waits, and takes over when it ends`,
          {
            holder: String(holder),
            epoch: Number(epoch),
          },
        )
      else
        note('journal.waiting', 'warn', `the server of the journal does not answer; perpd waits: ${reason}`)
    },
    hasWaited: () => told !== undefined,
  }
}
