import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { applyRecord, foldRecords } from '../../src/domain/machine/fold.ts'
import { isOpen } from '../../src/domain/order/intent.ts'
import type { JournalRecord } from '../../src/domain/records.ts'
import type { Journal } from '../../src/journal/journal.ts'
import { createMemoryJournal } from '../../src/journal/memory.ts'
import { openSqliteReader } from '../../src/journal/sqlite/journalReader.ts'
import { createSqliteJournal } from '../../src/journal/sqlite/openSqlite.ts'
import { storyOf, wholeStory } from './story.ts'

const directory = mkdtempSync(join(tmpdir(), 'perpd-journal-'))
afterAll(() => rmSync(directory, { recursive: true }))

/** Any record of any story, fitting or not: first attempts, second attempts, repeated decisions, early ends. */
const anyRecord: fc.Arbitrary<JournalRecord> = fc
  .tuple(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 0, max: 11 }), fc.boolean())
  .map(([n, step, sameDecision]) => {
    const story = storyOf(n, sameDecision && n > 2 ? { decisionKey: 'key-1' } : {})
    const others = [
      () => story.dead(),
      () => story.preparing(2),
      () => story.armed(2),
      () => story.sent(2),
      () => story.warned(),
    ]
    return wholeStory(n)[step] ?? others[step - 7]?.() ?? story.accepted()
  })

/** Appends in turns of the given lengths; what became of each record: its number, or the code of its refusal. */
async function appendAll(journal: Journal, turns: readonly (readonly JournalRecord[])[]): Promise<unknown[]> {
  const results: unknown[] = []
  for (const turn of turns) {
    const settled = await Promise.allSettled(turn.map((record) => journal.append(record)))
    for (const each of settled) results.push(each.status === 'fulfilled' ? each.value.seq : each.reason.code)
  }
  return results
}

test('whatever is appended, both backends agree, and a reopened journal is the fold of what was acknowledged', async () => {
  let run = 0
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(anyRecord, { maxLength: 12 }), { maxLength: 12 }), async (turns) => {
      run += 1
      const path = join(directory, `${run}.db`)
      const options = { path, clockNow: () => run, holder: 'test' }
      const memory = createMemoryJournal()
      const first = createSqliteJournal(options)
      const results = await appendAll(first, turns)
      expect(await appendAll(memory, turns)).toEqual(results)
      const live = first.openIntents()
      const acknowledged = turns.flat().filter((_, index) => typeof results[index] === 'number')
      await first.close()
      const again = createSqliteJournal(options)
      const reader = openSqliteReader(path)
      expect(again.openIntents()).toEqual(live)
      expect(memory.openIntents()).toEqual(live)
      expect(again.openIntents().every(isOpen)).toBe(true)
      expect(again.summary()).toEqual(memory.summary())
      expect(await reader.summary()).toEqual(memory.summary())
      expect(await reader.intents()).toEqual(memory.recentIntents())
      for (const { intent } of again.recentIntents()) {
        const own = acknowledged.filter(({ intentId }) => intentId === intent.intentId)
        expect((await again.records(intent.intentId)).map(({ record }) => record)).toEqual(own)
        expect(again.recentIntent(intent.intentId)).toEqual(foldRecords(own))
      }
      await reader.close()
      await again.close()
    }),
    { seed: 20260102, numRuns: 60 },
  )
})

test('a record moves its intent as the fold says, or is refused and moves nothing', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyRecord, { maxLength: 60 }), async (records) => {
      const journal = createMemoryJournal()
      for (const record of records) {
        const before = journal.recentIntent(record.intentId)
        const code = await journal.append(record).then(
          () => undefined,
          (error: { code: string }) => error.code,
        )
        if (code === undefined)
          expect(journal.recentIntent(record.intentId)).toEqual(applyRecord(before, record))
        else expect(journal.recentIntent(record.intentId)).toEqual(before)
        if (code === 'JOURNAL_OUT_OF_ORDER') expect(() => applyRecord(before, record)).toThrow()
      }
    }),
    { seed: 20260103, numRuns: 200 },
  )
})

test('a warned order is its smaller self from there on; its acceptance stays as it was, and it can only shrink', () => {
  const story = storyOf(1)
  const [accepted, preparing, warned] = [story.accepted(), story.preparing(), story.warned()]
  const state = foldRecords([accepted, preparing, warned])
  const half = story.intent.terms.sizeDeltaUsd / 2n
  expect(state?.intent).toMatchObject({ reservationUsd: half, terms: { sizeDeltaUsd: half } })
  expect(state?.attempts[0]?.warned).toHaveLength(1)
  expect(accepted.kind === 'intent.accepted' && accepted.intent.terms.sizeDeltaUsd).toBe(half * 2n)
  expect(() => foldRecords([accepted, preparing, warned, warned])).toThrow(/a shrunk order is not smaller/)
  expect(() => foldRecords([accepted, preparing, story.armed(), warned])).toThrow(/cannot follow ARMED/)
})
