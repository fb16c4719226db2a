/** What every backend of the journal must do; each backend's test file calls this with a way to open a fresh one. */
import fc from 'fast-check'
import { afterEach, expect, test } from 'vitest'
import { foldRecords } from '../../src/domain/machine/fold.ts'
import { DuplicateDecisionError, type Journal, JournalFaultError } from '../../src/journal/journal.ts'
import { hexOf, storyOf, wholeStory } from './story.ts'

/** Declares the suite for one backend. `open` makes a new, empty journal. */
export function journalConformance(backend: string, open: () => Journal): void {
  const opened: Journal[] = []
  const fresh = (): Journal => {
    const journal = open()
    opened.push(journal)
    return journal
  }
  afterEach(() => {
    for (const journal of opened.splice(0)) journal.close()
  })

  test(`${backend}: a new journal is empty and its epoch is 1`, () => {
    const journal = fresh()
    expect(journal.summary()).toEqual({ records: 0, intents: 0, openIntents: 0 })
    expect(journal.leaseEpoch).toBe(1)
    expect(journal.openIntents()).toEqual([])
    expect(journal.intents()).toEqual([])
    expect(journal.records('nobody')).toEqual([])
    expect(journal.intent('nobody')).toBeUndefined()
    expect(journal.hasDecision('trend', 'key-1')).toBe(false)
  })

  test(`${backend}: records are numbered 1, 2, 3 without gaps, over all intents`, async () => {
    const journal = fresh()
    const seqs: number[] = []
    for (const n of [1, 2]) {
      for (const record of wholeStory(n)) seqs.push((await journal.append(record)).seq)
    }
    expect(seqs).toEqual(seqs.map((_, index) => index + 1))
    expect(journal.summary()).toEqual({ records: 14, intents: 2, openIntents: 0 })
  })

  test(`${backend}: records appended in one turn keep their order`, async () => {
    const journal = fresh()
    const records = wholeStory(1)
    const stored = await Promise.all(records.map((record) => journal.append(record)))
    expect(stored.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7])
    expect(journal.records('intent-1')).toEqual(records.map((record, index) => ({ seq: index + 1, record })))
  })

  test(`${backend}: an intent is the fold of its records, at every step`, async () => {
    const journal = fresh()
    const records = wholeStory(1)
    for (const [index, record] of records.entries()) {
      await journal.append(record)
      expect(journal.intent('intent-1')).toEqual(foldRecords(records.slice(0, index + 1)))
    }
  })

  test(`${backend}: open intents come oldest first, lists newest first, and closing takes an intent off`, async () => {
    const journal = fresh()
    for (const n of [1, 2, 3, 4]) {
      await journal.append(storyOf(n, { strategy: n % 2 === 0 ? 'even' : 'odd' }).accepted())
    }
    await journal.append(storyOf(2).closed())
    const idsOf = (states: ReturnType<Journal['intents']>) => states.map((state) => state.intent.intentId)
    expect(idsOf(journal.openIntents())).toEqual(['intent-1', 'intent-3', 'intent-4'])
    expect(idsOf(journal.intents())).toEqual(['intent-4', 'intent-3', 'intent-2', 'intent-1'])
    expect(idsOf(journal.intents({ openOnly: true }))).toEqual(['intent-4', 'intent-3', 'intent-1'])
    expect(idsOf(journal.intents({ strategy: 'even' }))).toEqual(['intent-4', 'intent-2'])
    expect(idsOf(journal.intents({ strategy: 'even', openOnly: true }))).toEqual(['intent-4'])
    expect(idsOf(journal.intents({ limit: 2 }))).toEqual(['intent-4', 'intent-3'])
    expect(journal.summary()).toEqual({ records: 5, intents: 4, openIntents: 3 })
  })

  test(`${backend}: a decision is taken once, also after its intent closed`, async () => {
    const journal = fresh()
    for (const record of wholeStory(1)) await journal.append(record)
    expect(journal.hasDecision('trend', 'key-1')).toBe(true)
    expect(journal.hasDecision('other', 'key-1')).toBe(false)
    const again = storyOf(2, { decisionKey: 'key-1' }).accepted()
    const error = await journal.append(again).catch((cause: unknown) => cause)
    expect(error).toBeInstanceOf(DuplicateDecisionError)
    expect(String(error)).toMatchInlineSnapshot(`
      "DuplicateDecisionError: This decision was accepted before; it is not taken twice.
        strategy: trend
        decisionKey: key-1"
    `)
    await journal.append(storyOf(3, { decisionKey: 'key-1', strategy: 'other' }).accepted())
    expect(journal.summary().records).toBe(8)
  })

  test(`${backend}: a repeated decision fails alone, also inside one turn`, async () => {
    const journal = fresh()
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
    const journal = fresh()
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
    expect(journal.intent('intent-9')).toBeUndefined()
    expect(journal.summary()).toEqual({ records: 2, intents: 1, openIntents: 1 })
  })

  test(`${backend}: a second attempt may be armed once the first is dead`, async () => {
    const journal = fresh()
    const story = storyOf(1)
    for (const record of [story.accepted(), story.preparing(), story.armed(), story.sent()]) {
      await journal.append(record)
    }
    await expect(journal.append(story.preparing(2))).rejects.toMatchObject({ code: 'JOURNAL_OUT_OF_ORDER' })
    for (const record of [story.dead(), story.preparing(2), story.armed(2)]) await journal.append(record)
    expect(journal.intent('intent-1')?.attempts.map(({ phase }) => phase)).toEqual(['DEAD', 'ARMED'])
  })

  test(`${backend}: a digest is armed once, whatever the intent`, async () => {
    const journal = fresh()
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
    const journal = fresh()
    const records = wholeStory(1)
    for (const record of records.slice(0, 4)) await journal.append(record)
    const orderKey = `0x${hexOf('order-1').slice(2).toUpperCase()}`
    expect(journal.explains(orderKey, 'intent-2')).toBe(false)
    for (const record of records.slice(4)) await journal.append(record)
    expect(journal.explains(orderKey, 'intent-2')).toBe(true)
    expect(journal.explains(orderKey, 'intent-1')).toBe(false)
    expect(journal.explains(hexOf('order-2'), 'intent-2')).toBe(false)
  })

  test(`${backend}: edits and batches are found by when they ended, in the order of their ends`, async () => {
    const journal = fresh()
    const kinds = ['increase', 'edit', 'batch', 'edit', 'edit'] as const
    for (const [index, kind] of kinds.entries()) {
      const { accepted } = storyOf(index, { kind, acceptedAtMs: 1_000 * (index + 1) })
      await journal.append(accepted())
    }
    // The last one stays open, and the fourth ends before the third.
    for (const n of [0, 1, 3, 2]) await journal.append(storyOf(n, { acceptedAtMs: 1_000 * (n + 1) }).closed())
    const ids = (sinceMs: number) => journal.changesSince(sinceMs).map(({ intent }) => intent.intentId)
    expect(ids(0)).toEqual(['intent-1', 'intent-3', 'intent-2'])
    expect(ids(3_000)).toEqual(['intent-3', 'intent-2'])
  })

  test(`${backend}: accepted intents are counted from a moment on, of one strategy or of all`, async () => {
    const journal = fresh()
    for (const n of [1, 2, 3]) {
      await journal.append(
        storyOf(n, { acceptedAtMs: n * 1000, strategy: n === 2 ? 'other' : 'trend' }).accepted(),
      )
    }
    await journal.append(storyOf(3, { acceptedAtMs: 3000 }).closed())
    expect(journal.acceptedSince(0)).toBe(3)
    expect(journal.acceptedSince(2000)).toBe(2)
    expect(journal.acceptedSince(2001)).toBe(1)
    expect(journal.acceptedSince(0, 'trend')).toBe(2)
    expect(journal.acceptedSince(1001, 'trend')).toBe(1)
    expect(journal.acceptedSince(0, 'nobody')).toBe(0)
  })

  test(`${backend}: a closed journal takes no record`, async () => {
    const journal = fresh()
    const last = journal.append(storyOf(1).accepted())
    journal.close()
    journal.close()
    expect((await last).seq).toBe(1)
    await expect(journal.append(storyOf(2).accepted())).rejects.toMatchObject({ code: 'JOURNAL_CLOSED' })
  })

  test(`${backend}: amounts of any size come back as they were written`, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.bigInt({ min: -(2n ** 300n), max: 2n ** 300n }), { minLength: 1, maxLength: 5 }),
        fc.string(),
        async (amounts, text) => {
          const journal = fresh()
          for (const [n, amount] of amounts.entries()) {
            const { intent } = storyOf(n)
            const decision = { ...intent.decision, reason: text, facts: { [text]: text } }
            await journal.append(storyOf(n, { reservationUsd: amount, decision }).accepted())
          }
          const back = journal.openIntents().map((state) => state.intent.reservationUsd)
          const written = amounts.flatMap((_, n) => journal.records(`intent-${n}`))
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
