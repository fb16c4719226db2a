/** Reports in the log for what a standby waits, once for each holder, each silence of the server and each newer journal. */
import type { JournalFaultError } from '../../journal/journal.ts'
import type { Log } from '../../monitor/log/log.ts'
import { plain } from '../../monitor/text.ts'

/** The facts of a fault that a standby waits for. */
export interface Awaited {
  readonly code: string
  /** One sentence without full stop. */
  readonly reason: string
  readonly holder?: string
  readonly epoch?: number
  /** When the holder got the right, ISO 8601. */
  readonly since?: string
}

/** Reads the facts of a fault by which a journal could not be opened, and puts them in words. */
export function awaitedOf({ code, facts = {}, shortMessage }: JournalFaultError): Awaited {
  const { holder, epoch, since, reason } = facts as Readonly<Record<string, string | number | undefined>>
  if (code === 'JOURNAL_NEWER')
    return {
      code,
      reason:
        'standby: the journal has records of a newer perpd, which this one cannot read; upgrade it, it takes over nothing before',
    }
  if (code === 'JOURNAL_STANDBY_MISSING') return { code, reason: `standby: waits. ${plain(shortMessage)}` }
  if (code !== 'JOURNAL_LOCKED')
    return { code, reason: `standby: the server of the journal does not answer (${reason})` }
  const from = since === undefined ? '' : ` since ${since}`
  return {
    code,
    reason: `standby: waits; held by ${holder}${from}, epoch ${epoch}`,
    ...{ holder: String(holder), epoch: Number(epoch) },
    ...(since !== undefined && { since: String(since) }),
  }
}

/** Makes the reporter. */
export function tellWaiting(note: Log['note']): (awaited: Awaited) => void {
  let told: string | undefined
  return ({ code, reason, holder, epoch }) => {
    const now = `${code} ${holder} ${epoch}`
    if (now === told) return
    told = now
    const held = holder === undefined || epoch === undefined ? {} : { holder, epoch }
    note('journal.waiting', code === 'JOURNAL_LOCKED' ? 'info' : 'warn', reason, { code, ...held })
  }
}
