/** The journal that is written in a thread of its own: what goes on meanwhile, and how the thread ends. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { JournalFaultError } from '../../src/journal/journal.ts'
import { writeFault } from '../../src/journal/journalFaults.ts'
import { createMemoryJournal, createMemoryStore } from '../../src/journal/memory.ts'
import { verifySqliteJournal } from '../../src/journal/service/verifyJournal.ts'
import { createSqliteJournal } from '../../src/journal/sqlite/openSqlite.ts'
import { startThreadWriter } from '../../src/journal/sqlite/threadWriter.ts'
import { storyOf, wholeStory } from './story.ts'

let directory = ''
let path = ''
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'perpd-thread-'))
  path = join(directory, 'perpd.db')
})
afterEach(() => rmSync(directory, { recursive: true }))

const open = (inThread: boolean) =>
  createSqliteJournal({ path, clockNow: () => 1_800_000_000_000, holder: 'test', inThread })

/** The writer alone, on a journal without a record. */
function startWriter() {
  const tail = { seq: 0, hash: '' }
  const files = { path, headPath: `${path}.head`, ballast: `${path}.ballast`, maxBytes: undefined }
  return startThreadWriter({ ...files, tail, intents: 0, leaseEpoch: 1 }, () => undefined)
}

test('the event loop goes on while a commit waits, what comes meanwhile shares the next, and all of it keeps its order', async () => {
  const journal = open(true)
  await journal.append(storyOf(1).accepted())
  const other = new DatabaseSync(path)
  other.exec('BEGIN IMMEDIATE')
  const seqs: number[] = []
  const note = async (work: Promise<{ readonly seq: number }>) => {
    seqs.push((await work).seq)
  }
  const first = note(journal.append(storyOf(1).preparing()))
  // The commit has begun, and waits for the other one's.
  await turn()
  await turn()
  const later = [storyOf(2).accepted(), storyOf(2).preparing(), storyOf(3).accepted()].map((record) =>
    note(journal.append(record)),
  )
  await turn()
  expect(seqs).toEqual([])
  // Only what is durable is answered.
  expect(journal.summary().records).toBe(1)
  other.exec('COMMIT')
  other.close()
  await Promise.all([first, ...later])
  expect(seqs).toEqual([2, 3, 4, 5])
  // What was appended is read at once, from the store too.
  expect(await journal.records('intent-2')).toHaveLength(2)
  await journal.close()
  expect(verifySqliteJournal(path)).toMatchObject({ records: 5, headSeq: 5, problems: [] })
})

test('what a thread wrote is read by a writer without one, snapshots and endings included, and the other way round', async () => {
  for (const [index, inThread] of [true, false, true].entries()) {
    const journal = open(inThread)
    expect(journal.summary().records).toBe(index * 14)
    for (const n of [1, 2]) {
      for (const record of wholeStory(10 * index + n)) await journal.append(record)
    }
    expect(journal.endingsSince(0)).toHaveLength(2 * (index + 1))
    await journal.close()
  }
  expect(verifySqliteJournal(path)).toMatchObject({ records: 42, headSeq: 42, problems: [] })
})

test('a thread that ends without an answer is a fault of what waits and of all that comes later, and holds no process', async () => {
  await open(false).close()
  const writer = startWriter()
  expect(await writer.append([])).toBe(0)
  // No caller asks so: it stands for a mistake of ours, or for memory that ran out.
  const broken = writer.append(null as never)
  const after = writer.append([])
  const fault = { code: 'JOURNAL_WRITE_FAILED', facts: { path } }
  await expect(broken).rejects.toMatchObject(fault)
  await expect(after).rejects.toMatchObject(fault)
  await expect(writer.append([])).rejects.toMatchObject(fault)
  // Said to whoever listens too, so that nobody learns of it by the next record alone.
  expect(await writer.ended).toMatchObject(fault)
  await expect(writer.close()).rejects.toMatchObject(fault)
})

test('a question that cannot be sent fails alone, and every answer goes to the question that it is of', async () => {
  await open(false).close()
  const writer = startWriter()
  // A function is no message. No caller asks so: it stands for a text that is too long to be sent.
  await expect(writer.append([() => 0] as never)).rejects.toThrow('could not be cloned')
  expect(await writer.append([])).toBe(0)
  await writer.close()
  await expect(writer.append([])).rejects.toMatchObject({ code: 'JOURNAL_CLOSED' })
})

test('a snapshot larger than all of the thread’s memory passes through it, and the file holds it as text', async () => {
  await open(false).close()
  const writer = startWriter()
  const head = 'ü'.repeat(36 * 1024 * 1024)
  await writer.keep({ seq: 0, fromSeq: 0, head, part: '' })
  expect(await writer.append([])).toBe(0)
  await writer.close()
  const db = new DatabaseSync(path, { readOnly: true })
  const found = db.prepare('SELECT typeof(body) AS type, length(body) AS length FROM snapshot').get()
  expect(found).toEqual({ type: 'text', length: head.length })
  db.close()
})

test('a store that ended by itself is the fault of the journal at once, and of every later record', async () => {
  const ended = Promise.withResolvers<JournalFaultError>()
  const journal = createMemoryJournal(Object.assign(createMemoryStore(), { ended: ended.promise }))
  await journal.append(storyOf(1).accepted())
  const fault = writeFault('memory', 0, new Error('the thread that writes it ended (1)'))
  ended.resolve(fault)
  expect(await journal.failed).toBe(fault)
  await expect(journal.append(storyOf(2).accepted())).rejects.toBe(fault)
  expect(journal.summary().records).toBe(1)
})

test('a thread that cannot open the file gives the reason to whoever asks first, and to all later', async () => {
  writeFileSync(path, 'no database'.repeat(1_000))
  const writer = startWriter()
  // This thread stands still, so that the answer and the exit come in one turn; a shorter or longer stand changes nothing that is expected.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 400)
  await expect(writer.append([])).rejects.toMatchObject({ code: 'JOURNAL_NOT_SQLITE' })
  await expect(writer.append([])).rejects.toMatchObject({ code: 'JOURNAL_NOT_SQLITE' })
  await expect(writer.close()).rejects.toMatchObject({ code: 'JOURNAL_NOT_SQLITE' })
})
