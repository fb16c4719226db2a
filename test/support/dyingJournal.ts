/** A journal whose process ends at a boundary of its writes. */
import type { Journal } from '../../src/journal/journal.ts'

/** What one process has of the journal: from the boundary on at which it ends, nothing of it is written or answered. */
export function dyingJournal(journal: Journal, boundary: () => boolean): Journal {
  let isOver = false
  const guarded =
    <P, R>(write: (record: P) => Promise<R>) =>
    async (record: P): Promise<R> => {
      if (!isOver) isOver = boundary()
      if (isOver) return new Promise<never>(() => {})
      const written = await write(record)
      if (!isOver) isOver = boundary()
      return isOver ? new Promise<never>(() => {}) : written
    }
  const own: Partial<Journal> = {
    append: guarded((record) => journal.append(record)),
    appendAccount: guarded((record) => journal.appendAccount(record)),
    appendTogether: guarded((records) => journal.appendTogether(records)),
  }
  return new Proxy(journal, {
    get(target, name: keyof Journal) {
      if (name in own) return own[name]
      const member: unknown = target[name]
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
}
