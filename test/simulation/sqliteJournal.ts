/**
 * The journal and the guard of one process as the shell is handed them: the product's own, on real files, with a boundary
 * around each record, and with the turns of real files taken in an order that does not depend on how long they take.
 */
import { BaseError } from '../../src/base/errors.ts'
import type { AccountRecord } from '../../src/domain/accountRecords/accountRecord.ts'
import { applyRecord } from '../../src/domain/machine/fold.ts'
import type { IntentState } from '../../src/domain/order/intent.ts'
import {
  type AnyRecord,
  decodeAnyRecord,
  encodeRecord,
  isAccountRecord,
  type JournalRecord,
} from '../../src/domain/records.ts'
import type { Journal } from '../../src/journal/journal.ts'
import type { SigningGuard } from '../../src/keys/signingGuard.ts'
import type { DiskJournal, JournalHooks } from './storage.ts'

const never = () => new Promise<never>(() => {})

/** What a process waits for that happens by itself: commits of the journal, and lines of the guard. */
export interface Waits {
  /** Lets all of it happen, and everything that follows from it. */
  settle(): Promise<void>
  /** Lets the lines of the guard alone happen: commits take virtual time. */
  settleClaims(): Promise<void>
}

/** What the journal of one process is made of. */
export interface ProcessParts {
  readonly journal: Journal
  readonly guard: SigningGuard
  readonly hooks: JournalHooks
  readonly isDead: () => boolean
  readonly isClosed: () => boolean
  /** A record was acknowledged under this number. */
  readonly acknowledged: (seq: number, body: string) => void
  /** A digest was let through by the guard. */
  readonly claimed: (digest: string) => void
}

/** Wraps the product's journal and guard for the simulation. */
export function journalOfProcess(parts: ProcessParts): { readonly journal: DiskJournal } & Waits {
  const { journal, hooks, isDead } = parts
  const { guard, settleClaim, isClaiming } = orderedGuard(parts)
  const states = new Map<string, IntentState>(
    journal.openIntents().map((state) => [state.intent.intentId, state]),
  )
  let appends = 0

  /** Appends, and waits until it is durable; never comes back when the process ends meanwhile. */
  async function written<T>(record: AnyRecord, append: () => Promise<T>): Promise<T> {
    if (isDead() || hooks.boundary(`before ${record.kind}`)) return never()
    appends += 1
    try {
      const done = await append()
      if (isDead()) return never()
      return done
    } catch (error) {
      if (isDead()) return never()
      throw error
    } finally {
      appends -= 1
    }
  }

  async function append(record: JournalRecord): ReturnType<Journal['append']> {
    const stored = await written(record, () => journal.append(record))
    const body = encodeRecord(record)
    parts.acknowledged(stored.seq, body)
    const kept = decodeAnyRecord(body)
    if (isAccountRecord(kept)) throw new TypeError('an intent record reads as one of the account')
    const state = applyRecord(states.get(record.intentId), kept)
    states.set(record.intentId, state)
    hooks.onDurable(kept, state, body)
    return hooks.boundary(`after ${record.kind}`) ? never() : { seq: stored.seq, record: kept }
  }

  async function appendAccount(record: AccountRecord): Promise<void> {
    await written(record, () => journal.appendAccount(record))
    hooks.onAccount(record, encodeRecord(record))
    if (hooks.boundary(`after ${record.kind}`)) return never()
  }

  async function appendTogether(records: readonly AnyRecord[]): ReturnType<Journal['appendTogether']> {
    const [first] = records
    if (first === undefined) return []
    const numbers = await written(first, () => journal.appendTogether(records))
    for (const [index, record] of records.entries()) {
      const body = encodeRecord(record)
      const kept = decodeAnyRecord(body)
      if (isAccountRecord(kept)) {
        hooks.onAccount(kept, body)
        continue
      }
      parts.acknowledged(numbers[index] ?? 0, body)
      const state = applyRecord(states.get(kept.intentId), kept)
      states.set(kept.intentId, state)
      hooks.onDurable(kept, state, body)
    }
    return hooks.boundary('after commit') ? never() : numbers
  }

  const own: Partial<DiskJournal> = {
    guard,
    append,
    appendAccount,
    appendTogether,
    recentIntents: (query) => (parts.isClosed() ? [] : journal.recentIntents(query)),
    commit: (record) => {
      // An operator's word that finds no space is not kept, and is said again.
      append(record).catch((error: unknown) => {
        if (!(error instanceof BaseError)) throw error
      })
      return undefined
    },
  }
  const wrapped = new Proxy(journal, {
    get(target, name: keyof Journal) {
      if (name in own) return own[name]
      const member: unknown = target[name]
      return typeof member === 'function' ? member.bind(target) : member
    },
  }) as DiskJournal

  return {
    journal: wrapped,
    async settle() {
      while (appends > 0 || isClaiming()) {
        if (appends > 0) await new Promise((resolve) => setImmediate(resolve))
        else await settleClaim()
      }
    },
    async settleClaims() {
      while (isClaiming()) await settleClaim()
    },
  }
}

/**
 * The guard writes with the thread pool, which takes its own time: claims are let through one at a time, in the order in
 * which they were made, when all lines that wait are on the disk and nothing else moves.
 */
function orderedGuard({ guard, hooks, claimed, isDead }: ProcessParts) {
  const claims: { readonly real: Promise<void>; readonly let: () => void }[] = []
  async function letThrough(digest: string, turn: Promise<void>, real: Promise<void>): Promise<void> {
    await turn
    if (isDead()) return never()
    await real
    claimed(digest.toLowerCase())
    if (hooks.boundary('a line of the guard is durable')) return never()
  }
  const ordered: SigningGuard = {
    claim(claim, digest) {
      const real = guard.claim(claim, digest)
      real.catch(() => undefined)
      const turn = new Promise<void>((resolve) => claims.push({ real, let: resolve }))
      return hooks.boundary('in a line of the guard') ? never() : letThrough(digest, turn, real)
    },
    close: () => guard.close(),
  }
  return {
    guard: ordered,
    isClaiming: () => claims.length > 0,
    async settleClaim() {
      await Promise.allSettled(claims.map(({ real }) => real))
      claims.shift()?.let()
      await new Promise((resolve) => setImmediate(resolve))
    },
  }
}
