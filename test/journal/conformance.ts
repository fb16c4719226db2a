/** What every store of the journal must do; each store's test file calls this with a way to open a fresh one. */
import fc from 'fast-check'
import { afterEach, expect, test } from 'vitest'
import { ACCOUNT_ID, type AccountRecord } from '../../src/domain/accountRecords/accountRecord.ts'
import { RECORD_VERSION } from '../../src/domain/accountRecords/recordVersion.ts'
import { foldRecords } from '../../src/domain/machine/fold.ts'
import type { IntentState } from '../../src/domain/order/intent.ts'
import { encodeRecord, type JournalRecord } from '../../src/domain/records.ts'
import { DuplicateDecisionError, type Journal, JournalFaultError } from '../../src/journal/journal.ts'
import { createLedger, type Ledger } from '../../src/journal/journalLedger.ts'
import type { JournalStore, KeptRecord, StoreEntry } from '../../src/journal/journalStore.ts'
import { recoverLedger } from '../../src/journal/recoverLedger.ts'
import type { Hex } from '../../src/protocol/address.ts'
import { hexOf, storyOf, wholeStory } from './story.ts'

/** The wall clock of openings, Unix ms. */
const nowMs = 1_800_000_000_000

/** A journal, and the store beneath it. */
export interface OpenedBackend {
  readonly journal: Journal
  readonly store: JournalStore
  /** Opens the same journal once more, as another daemon that takes it over; absent where a journal ends with its process. */
  readonly takeOver?: () => Promise<OpenedBackend>
  /** Faults of a store that is reached over a network; absent where the store is this process or a file of it. */
  readonly faults?: StoreFaults
}

/** Faults that befall the next commit, or what was committed. */
export interface StoreFaults {
  /** The next commit is made, and its answer lost. */
  loseAnswer(): void
  /** The next commit is lost on its way. */
  loseRequest(): void
  /** Takes back so many of the newest records, as a failover does that lost the last commits. */
  goBack(records: number): Promise<void>
}

/** Declares the suite for one backend. `open` makes a new, empty journal. */
export function journalConformance(
  backend: string,
  open: () => OpenedBackend | Promise<OpenedBackend>,
): void {
  const opened: Journal[] = []
  const freshBoth = async (): Promise<OpenedBackend> => {
    const both = await open()
    opened.push(both.journal)
    return both
  }
  const fresh = async (): Promise<Journal> => (await freshBoth()).journal
  afterEach(async () => {
    for (const journal of opened.splice(0)) await journal.close()
  })

  test(`${backend}: a new journal is empty and its epoch is 1`, async () => {
    const journal = await fresh()
    expect(journal.summary()).toEqual({ records: 0, intents: 0, openIntents: 0 })
    expect(journal.lease.epoch).toBe(1)
    expect(journal.openIntents()).toEqual([])
    expect(journal.recentIntents()).toEqual([])
    expect(await journal.records('nobody')).toEqual([])
    expect(journal.recentIntent('nobody')).toBeUndefined()
    expect(journal.hasDecision('trend', 'key-1')).toBe(false)
  })

  test(`${backend}: records are numbered 1, 2, 3 without gaps, over all intents`, async () => {
    const journal = await fresh()
    const seqs: number[] = []
    for (const n of [1, 2]) {
      for (const record of wholeStory(n)) seqs.push((await journal.append(record)).seq)
    }
    expect(seqs).toEqual(seqs.map((_, index) => index + 1))
    expect(journal.summary()).toEqual({ records: 14, intents: 2, openIntents: 0 })
  })

  test(`${backend}: records appended in one turn keep their order`, async () => {
    const journal = await fresh()
    const records = wholeStory(1)
    const stored = await Promise.all(records.map((record) => journal.append(record)))
    expect(stored.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7])
    expect(await journal.records('intent-1')).toEqual(
      records.map((record, index) => ({ seq: index + 1, record })),
    )
  })

  test(`${backend}: an intent is the fold of its records, at every step`, async () => {
    const journal = await fresh()
    const records = wholeStory(1)
    for (const [index, record] of records.entries()) {
      await journal.append(record)
      expect(journal.recentIntent('intent-1')).toEqual(foldRecords(records.slice(0, index + 1)))
    }
  })

  test(`${backend}: open intents come oldest first, lists newest first, and closing takes an intent off`, async () => {
    const journal = await fresh()
    for (const n of [1, 2, 3, 4]) {
      await journal.append(storyOf(n, { strategy: n % 2 === 0 ? 'even' : 'odd' }).accepted())
    }
    await journal.append(storyOf(2).closed())
    const idsOf = (states: readonly IntentState[]) => states.map((state) => state.intent.intentId)
    expect(idsOf(journal.openIntents())).toEqual(['intent-1', 'intent-3', 'intent-4'])
    const lists = [
      [{}, ['intent-4', 'intent-3', 'intent-2', 'intent-1']],
      [{ openOnly: true }, ['intent-4', 'intent-3', 'intent-1']],
      [{ strategy: 'even' }, ['intent-4', 'intent-2']],
      [{ strategy: 'even', openOnly: true }, ['intent-4']],
      [{ limit: 2 }, ['intent-4', 'intent-3']],
    ] as const
    for (const [query, ids] of lists) {
      expect(idsOf(journal.recentIntents(query))).toEqual(ids)
      expect(idsOf(await journal.intents(query))).toEqual(ids)
    }
    expect(journal.summary()).toEqual({ records: 5, intents: 4, openIntents: 3 })
  })

  test(`${backend}: a decision is taken once, also after its intent closed`, async () => {
    const journal = await fresh()
    for (const record of wholeStory(1)) await journal.append(record)
    expect(journal.hasDecision('trend', 'key-1')).toBe(true)
    expect(journal.hasDecision('other', 'key-1')).toBe(false)
    const again = storyOf(2, { decisionKey: 'key-1' }).accepted()
    const error = await journal.append(again).catch((cause: unknown) => cause)
    expect(error).toBeInstanceOf(DuplicateDecisionError)
    expect(String(error)).toMatchInlineSnapshot(`
      "DuplicateDecisionError: This decision was accepted before; perpd does not accept it twice.
        strategy: trend
        decisionKey: key-1"
    `)
    await journal.append(storyOf(3, { decisionKey: 'key-1', strategy: 'other' }).accepted())
    expect(journal.summary().records).toBe(8)
  })

  test(`${backend}: a repeated decision fails alone, also inside one turn`, async () => {
    const journal = await fresh()
    const results = await Promise.allSettled([
      journal.append(storyOf(1).accepted()),
      journal.append(storyOf(2, { decisionKey: 'key-1' }).accepted()),
      journal.append(storyOf(1).accepted()),
      journal.append(storyOf(3).accepted()),
      journal.append(storyOf(3).preparing()),
    ])
    expect(results.map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'rejected',
      'fulfilled',
      'fulfilled',
    ])
    expect(results.map((each) => (each.status === 'fulfilled' ? each.value.seq : each.reason.code))).toEqual([
      1,
      'DUPLICATE_DECISION',
      'DUPLICATE_DECISION',
      2,
      3,
    ])
    expect((await journal.append(storyOf(4).accepted())).seq).toBe(4)
  })

  test(`${backend}: a record that cannot follow the story is refused alone and nothing is written`, async () => {
    const journal = await fresh()
    await journal.append(storyOf(1).accepted())
    const results = await Promise.allSettled([
      journal.append(storyOf(1).armed()),
      journal.append(storyOf(9).preparing()),
      journal.append(storyOf(1).preparing()),
    ])
    expect(results.map((each) => (each.status === 'fulfilled' ? each.value.seq : each.reason.code))).toEqual([
      'JOURNAL_OUT_OF_ORDER',
      'JOURNAL_OUT_OF_ORDER',
      2,
    ])
    expect(journal.recentIntent('intent-9')).toBeUndefined()
    expect(journal.summary()).toEqual({ records: 2, intents: 1, openIntents: 1 })
  })

  test(`${backend}: a second attempt may be armed once the first is dead`, async () => {
    const journal = await fresh()
    const story = storyOf(1)
    for (const record of [story.accepted(), story.preparing(), story.armed(), story.sent()]) {
      await journal.append(record)
    }
    await expect(journal.append(story.preparing(2))).rejects.toMatchObject({ code: 'JOURNAL_OUT_OF_ORDER' })
    for (const record of [story.dead(), story.preparing(2), story.armed(2)]) await journal.append(record)
    expect(journal.recentIntent('intent-1')?.attempts.map(({ phase }) => phase)).toEqual(['DEAD', 'ARMED'])
  })

  test(`${backend}: a digest is armed once, whatever the intent`, async () => {
    const journal = await fresh()
    const [one, two] = [storyOf(1), storyOf(2)]
    for (const record of [one.accepted(), one.preparing(), two.accepted(), two.preparing(), one.armed()]) {
      await journal.append(record)
    }
    const first = one.armed()
    const digest = first.kind === 'attempt.armed' ? first.armed.digest : '0x'
    const error = await journal.append(two.armed(1, { digest })).catch((cause: unknown) => cause)
    expect(error).toBeInstanceOf(JournalFaultError)
    expect(error).toMatchObject({ code: 'JOURNAL_DIGEST_REUSED', facts: { armedBy: 'intent-1' } })
    await journal.append(two.armed())
    expect(journal.summary().records).toBe(6)
  })

  test(`${backend}: an order is explained by the intent that created it, to every other intent`, async () => {
    const journal = await fresh()
    const records = wholeStory(1)
    for (const record of records.slice(0, 4)) await journal.append(record)
    const orderKey = `0x${hexOf('order-1').slice(2).toUpperCase()}`
    expect(journal.explains(orderKey, 'intent-2')).toBe(false)
    for (const record of records.slice(4)) await journal.append(record)
    expect(journal.explains(orderKey, 'intent-2')).toBe(true)
    expect(journal.explains(orderKey, 'intent-1')).toBe(false)
    expect(journal.explains(hexOf('order-2'), 'intent-2')).toBe(false)
  })

  test(`${backend}: what is asked of the past is answered from the store as from memory`, async () => {
    const journal = await fresh()
    for (const record of [...wholeStory(1), storyOf(2).accepted()]) await journal.append(record)
    for (const intentId of ['intent-1', 'intent-2', 'nobody']) {
      expect(await journal.intent(intentId)).toEqual(journal.recentIntent(intentId))
    }
    expect(journal.hasArmed('intent-1', armedDigest(1))).toBe(true)
    expect(journal.hasArmed('intent-2', armedDigest(1))).toBe(false)
    expect(journal.hasArmed('intent-1', armedDigest(2))).toBe(false)
  })

  test(`${backend}: a store gives its records back in pages, from any record on`, async () => {
    const { journal, store } = await freshBoth()
    const records = Array.from({ length: 400 }, (_, n) => wholeStory(n + 1)).flat()
    await Promise.all(records.map((record) => journal.append(record)))
    for (const afterSeq of [0, 1, 999, 1_000, 1_001, records.length - 1, records.length]) {
      const read = await readAll(store, afterSeq)
      expect(read.map(({ seq }) => seq)).toEqual(
        records.slice(afterSeq).map((_, index) => afterSeq + index + 1),
      )
      expect(read.map(({ record }) => record)).toEqual(records.slice(afterSeq))
    }
  })

  test(`${backend}: a ledger that is recovered, from any snapshot or from none, is the one that was folded on the way`, async () => {
    const steps = fc.array(fc.record({ intent: fc.nat(5), keeps: fc.boolean() }), { maxLength: 60 })
    await fc.assert(
      fc.asyncProperty(steps, async (drawn) => {
        const { store } = await freshBoth()
        const ledger = createLedger()
        const told = Array.from({ length: 6 }, (_, n) => [...wholeStory(n + 1)])
        for (const { intent, keeps } of drawn) {
          const record = told[intent]?.shift()
          if (record === undefined) continue
          const state = ledger.fold(record)
          expect(await store.append([entryOf(record, state)])).toBe(ledger.seq)
          if (!keeps) continue
          const snapshot = ledger.snapshot()
          await store.keep(snapshot)
          ledger.kept(snapshot)
        }
        const { ledger: recovered } = await recoverLedger(store, nowMs)
        const { ledger: replayed } = await recoverLedger(withoutSnapshot(store), nowMs)
        for (const other of [recovered, replayed]) expect(answersOf(other)).toEqual(answersOf(ledger))
      }),
      { seed: 20260102, numRuns: 25 },
    )
  })

  test(`${backend}: the right to write is held until another takes it; then nothing is signed or written by it any more`, async () => {
    const { journal, store, takeOver } = await freshBoth()
    await journal.append(storyOf(1).accepted())
    expect(journal.lease.lost()).toBeUndefined()
    await journal.lease.renew()
    if (takeOver === undefined) return
    const other = await takeOver()
    opened.push(other.journal)
    expect(other.journal.lease.epoch).toBe(journal.lease.epoch + 1)
    expect(other.journal.summary().records).toBe(1)
    await expect(journal.lease.renew()).rejects.toMatchObject({ code: 'JOURNAL_FENCED' })
    expect(journal.lease.lost()).toMatchObject({ code: 'JOURNAL_FENCED' })
    const refused = await Promise.allSettled([journal.append(storyOf(1).preparing())])
    expect(refused).toMatchObject([{ status: 'rejected', reason: { code: 'JOURNAL_FENCED' } }])
    await expect(store.append([])).rejects.toMatchObject({ code: 'JOURNAL_FENCED' })
    expect((await other.journal.append(storyOf(1).preparing())).seq).toBe(2)
    expect(other.journal.lease.lost()).toBeUndefined()
  })

  test(`${backend}: what was given to the key is there at the next opening`, async () => {
    const { store, takeOver } = await freshBoth()
    const table = await store.openGuardTable()
    expect(table.entries).toEqual([])
    const entry = {
      intentId: 'intent-1',
      attempt: 1,
      digest: armedDigest(1),
      deadlineSeconds: nowMs / 1000 + 60,
      addsUsd: 10n ** 33n,
      atSeconds: nowMs / 1000,
    } as const
    await table.append(entry, () => [entry])
    table.close()
    const next = takeOver === undefined ? undefined : await takeOver()
    if (next !== undefined) opened.push(next.journal)
    const again = await (next?.store ?? store).openGuardTable()
    expect(again.entries).toEqual([entry])
    again.close()
  })

  test(`${backend}: a commit whose answer or request was lost is there once, and its writer hears of it`, async () => {
    const { journal, store, faults } = await freshBoth()
    if (faults === undefined) return
    await journal.append(storyOf(1).accepted())
    faults.loseAnswer()
    expect((await journal.append(storyOf(1).preparing())).seq).toBe(2)
    faults.loseRequest()
    expect((await journal.append(storyOf(1).armed())).seq).toBe(3)
    faults.loseAnswer()
    await journal.append(storyOf(2).accepted())
    expect((await journal.append(storyOf(2).preparing())).seq).toBe(5)
    expect((await readAll(store, 0)).map(({ seq, record }) => [seq, record.kind])).toEqual([
      [1, 'intent.accepted'],
      [2, 'attempt.preparing'],
      [3, 'attempt.armed'],
      [4, 'intent.accepted'],
      [5, 'attempt.preparing'],
    ])
  })

  test(`${backend}: a store that went back is healed by the writer that knows what is missing, and refuses one that does not`, async () => {
    const { journal, store, takeOver, faults } = await freshBoth()
    if (faults === undefined || takeOver === undefined) return
    for (const record of wholeStory(1)) await journal.append(record)
    await faults.goBack(3)
    expect((await journal.append(storyOf(2).accepted())).seq).toBe(8)
    expect((await readAll(store, 0)).map(({ record }) => record)).toEqual([
      ...wholeStory(1),
      storyOf(2).accepted(),
    ])
    expect((await journal.intents()).map(({ intent }) => intent.intentId)).toEqual(['intent-2', 'intent-1'])
    const other = await takeOver()
    opened.push(other.journal)
    await faults.goBack(2)
    await expect(other.journal.append(storyOf(3).accepted())).rejects.toMatchObject({
      code: 'JOURNAL_ROLLED_BACK',
    })
  })

  test(`${backend}: a store that was closed takes and keeps nothing`, async () => {
    const { store } = await freshBoth()
    const record = storyOf(1).accepted()
    await store.append([entryOf(record, foldRecords([record]))])
    await store.close()
    await store.close()
    const ledger = createLedger()
    await expect(store.append([])).rejects.toMatchObject({ code: 'JOURNAL_CLOSED' })
    await expect(store.keep(ledger.snapshot())).rejects.toMatchObject({ code: 'JOURNAL_CLOSED' })
  })

  test(`${backend}: accepted intents are counted from a moment on, of one strategy or of all`, async () => {
    const journal = await fresh()
    for (const n of [1, 2, 3]) {
      await journal.append(
        storyOf(n, { acceptedAtMs: n * 1000, strategy: n === 2 ? 'other' : 'trend' }).accepted(),
      )
    }
    await journal.append(storyOf(3, { acceptedAtMs: 3000 }).closed())
    expect(journal.acceptedSince(0)).toHaveLength(3)
    expect(journal.acceptedSince(2000)).toHaveLength(2)
    expect(journal.acceptedSince(2001)).toHaveLength(1)
  })

  test(`${backend}: records of several intents and of the account are appended together, in one commit`, async () => {
    const { journal, store } = await freshBoth()
    const memory = {
      v: RECORD_VERSION,
      atMs: 1,
      intentId: ACCOUNT_ID,
      kind: 'strategy.remembered',
      strategy: 'trend',
      strategyKind: 'k',
      version: 1,
      memory: new Map([['size', 5n]]),
      tickMs: 0,
      throughSeq: 0,
      denied: [],
    } as const satisfies AccountRecord
    let commits = 0
    const append = store.append.bind(store)
    store.append = (entries) => {
      commits += 1
      return append(entries)
    }
    const records = [storyOf(1).accepted(), storyOf(1).preparing(), storyOf(2).accepted(), memory]
    expect(await journal.appendTogether(records)).toEqual([1, 2, 3, 4])
    expect(commits).toBe(1)
    expect(journal.openIntents()).toHaveLength(2)
    expect(journal.account().memories?.get('trend')).toMatchObject({ memory: new Map([['size', 5n]]) })
    expect(await journal.appendTogether([])).toEqual([])
  })

  test(`${backend}: a closed journal takes no record`, async () => {
    const journal = await fresh()
    const last = journal.append(storyOf(1).accepted())
    await journal.close()
    await journal.close()
    expect((await last).seq).toBe(1)
    await expect(journal.append(storyOf(2).accepted())).rejects.toMatchObject({ code: 'JOURNAL_CLOSED' })
  })

  test(`${backend}: amounts of any size come back as they were written`, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.bigInt({ min: -(2n ** 300n), max: 2n ** 300n }), { minLength: 1, maxLength: 5 }),
        fc.string(),
        async (amounts, text) => {
          const journal = await fresh()
          for (const [n, amount] of amounts.entries()) {
            const { intent } = storyOf(n)
            const decision = { ...intent.decision, reason: text, facts: { [text]: text } }
            await journal.append(storyOf(n, { reservationUsd: amount, decision }).accepted())
          }
          const back = journal.openIntents().map((state) => state.intent.reservationUsd)
          const stories = await Promise.all(amounts.map((_, n) => journal.records(`intent-${n}`)))
          const written = stories.flat()
          expect(back).toEqual(amounts)
          expect(
            written.map(({ record }) => record.kind === 'intent.accepted' && record.intent.reservationUsd),
          ).toEqual(amounts)
        },
      ),
      { seed: 20260101, numRuns: 25 },
    )
  })
}

function armedDigest(n: number): Hex {
  const record = storyOf(n).armed()
  return record.kind === 'attempt.armed' ? record.armed.digest : '0x'
}

function entryOf(record: JournalRecord, state: IntentState | undefined): StoreEntry {
  return { record, body: encodeRecord(record), ...(state === undefined ? {} : { state }) }
}

async function readAll(store: JournalStore, afterSeq: number): Promise<KeptRecord[]> {
  const read: KeptRecord[] = []
  for await (const page of store.read(afterSeq)) read.push(...page)
  return read
}

/** All that a ledger says of the stories of this suite. */
function answersOf(ledger: Ledger) {
  const numbers = [1, 2, 3, 4, 5, 6]
  const { seq, head } = ledger.snapshot()
  return {
    seq,
    head,
    summary: ledger.summary(),
    open: ledger.openIntents(),
    recent: ledger.recentIntents(),
    endings: ledger.endingsSince(0),
    fills: ledger.closedFills(),
    accepted: ledger.acceptedSince(0),
    decisions: numbers.map((n) => ledger.hasDecision('trend', `key-${n}`)),
    armed: numbers.map((n) => ledger.hasArmed(`intent-${n}`, armedDigest(n))),
    explained: numbers.map((n) => ledger.explains(hexOf(`order-${n}`), 'nobody')),
  }
}

function withoutSnapshot(store: JournalStore): Parameters<typeof recoverLedger>[0] {
  return {
    snapshot: async () => undefined,
    read: (seq) => store.read(seq),
    intents: (query) => store.intents(query),
    endingsSince: (sinceMs) => store.endingsSince(sinceMs),
  }
}
