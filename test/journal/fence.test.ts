/** Two writers on one journal, because the lock beside it did not hold: the newer one has it, the older one writes nothing more. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { BaseError } from '../../src/base/errors.ts'
import { ACCOUNT_ID, type AccountRecord } from '../../src/domain/accountRecords/accountRecord.ts'
import { RECORD_VERSION } from '../../src/domain/accountRecords/recordVersion.ts'
import { verifySqliteJournal } from '../../src/journal/service/verifyJournal.ts'
import { openSqliteReader } from '../../src/journal/sqlite/journalReader.ts'
import { createSqliteJournal } from '../../src/journal/sqlite/openSqlite.ts'
import { storyOf, wholeStory } from './story.ts'

const nowMs = 1_800_000_000_000
const lossAccepted: AccountRecord = {
  v: RECORD_VERSION,
  atMs: nowMs,
  intentId: ACCOUNT_ID,
  kind: 'loss.accepted',
  by: 'test',
  lastWritten: 1,
  lastFound: 0,
  quietUntilMs: nowMs,
}
let directory = ''
let path = ''
let child: ChildProcess | undefined
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'perpd-fence-'))
  path = join(directory, 'perpd.db')
})
afterEach(() => {
  child?.kill('SIGKILL')
  child = undefined
  rmSync(directory, { recursive: true })
})

const openAs = (holder: string, clockNow = () => nowMs, inThread = false) =>
  createSqliteJournal({ path, holder, clockNow, inThread })

/** As an operator who takes the file for a stale one. */
function removeLock(): void {
  rmSync(`${path}.lock`)
}

async function faultOf(work: Promise<unknown>): Promise<{ readonly code: string; readonly text: string }> {
  try {
    await work
  } catch (error) {
    if (error instanceof BaseError) return { code: error.code, text: String(error) }
    throw error
  }
  throw new Error('nothing was refused')
}

const head = () => readFileSync(`${path}.head`, 'latin1')
const owner = () => readFileSync(`${path}.owner.json`, 'utf8')

test.for([
  { where: 'here', inThread: false },
  { where: 'in a thread', inThread: true },
])(
  'a writer that another has replaced writes neither a record nor the mark, and says who has the journal ($where)',
  async ({ inThread }) => {
    const first = openAs('first', () => nowMs, inThread)
    await first.append(storyOf(1).accepted())
    removeLock()
    const second = openAs('second', () => nowMs + 60_000)
    expect([first.lease.epoch, second.lease.epoch]).toEqual([1, 2])
    const before = head()
    const fault = await faultOf(first.append(storyOf(1).preparing()))
    expect(fault.text.replaceAll(path, '<path>')).toMatchInlineSnapshot(`
    "JournalFaultError: Another perpd has taken over this journal.
      path: <path>
      epoch: 1
      newerEpoch: 2
      holder: second
      openedAt: 2027-01-15T08:01:00.000Z
      perpd stops on purpose: it wrote no record and sends nothing after this. The other one follows every open order. The lock of the journal failed: do not remove the file, keep the journal on a local disk of one machine, and start only one perpd."
  `)
    expect(head()).toBe(before)
    expect((await faultOf(first.append(storyOf(2).accepted()))).code).toBe('JOURNAL_FENCED')
    expect(second.summary().records).toBe(1)
    await second.append(storyOf(1).preparing())
    await first.close()
    expect(owner()).toContain('"second"')
    await second.append(storyOf(1).armed())
    await second.close()
    expect(existsSync(`${path}.owner.json`)).toBe(false)
    expect(verifySqliteJournal(path)).toMatchObject({ records: 3, headSeq: 3, problems: [] })
  },
)

test('a replaced writer is stopped before it can tell what is no longer so', async () => {
  const first = openAs('first')
  removeLock()
  const second = openAs('second')
  await second.append(storyOf(1).accepted())
  // The first knows nothing of that decision, and would take it again.
  expect(first.hasDecision('trend', 'key-1')).toBe(false)
  expect((await faultOf(first.append(storyOf(1).accepted()))).code).toBe('JOURNAL_FENCED')
  expect((await faultOf(first.appendAccount(lossAccepted))).code).toBe('JOURNAL_FENCED')
  await first.close()
  await second.close()
})

test('what the older one writes while the newer one reads is read, and nothing comes after it', async () => {
  const first = openAs('first')
  await first.append(storyOf(1).accepted())
  const late = first.append(storyOf(1).preparing())
  removeLock()
  let asked = 0
  const second = openAs('second', () => {
    asked += 1
    // The second time it is asked the records have been read, and the lease is about to be taken.
    if (asked === 2) void first.close()
    return nowMs
  })
  await late
  expect(second.openIntents()[0]?.attempts).toHaveLength(1)
  expect((await second.append(storyOf(1).armed())).seq).toBe(3)
  await second.close()
  expect(verifySqliteJournal(path).problems).toEqual([])
})

test('a replaced writer keeps no snapshot', async () => {
  const first = openAs('first')
  const stories = Array.from({ length: 1_450 }, (_each, index) => wholeStory(index + 1)).flat()
  await Promise.all(stories.map((record) => first.append(record)))
  removeLock()
  const second = openAs('second')
  await second.append(storyOf(2_000).accepted())
  await expect(first.close()).rejects.toThrow('Another perpd has taken over this journal.')
  await second.close()
  expect(verifySqliteJournal(path)).toMatchObject({ snapshot: 'good', problems: [] })
})

test('a process that was frozen while another took over ends with that fault, and its last words are whole', async () => {
  const script = fileURLToPath(new URL('./writer.ts', import.meta.url))
  const writer = spawn(process.execPath, [script, path, '3'], { stdio: ['ignore', 'pipe', 'inherit'] })
  child = writer
  const lines = createInterface({ input: writer.stdout })[Symbol.asyncIterator]()
  const until = async (isIt: (line: string) => boolean): Promise<string> => {
    for (;;) {
      const { value, done } = await lines.next()
      if (done === true) throw new Error('the writer said nothing more')
      if (isIt(value)) return value
    }
  }
  await until((line) => Number(line) > 50)
  // Frozen within a commit it holds the file, and nobody can take over; then it is frozen a little later.
  let second: ReturnType<typeof openAs> | undefined
  for (let turn = 0; second === undefined && turn < 400; turn += 1) {
    writer.kill('SIGSTOP')
    if (existsSync(`${path}.lock`)) removeLock()
    try {
      second = openAs('second')
    } catch (error) {
      if (!(error instanceof BaseError) || error.code !== 'JOURNAL_BUSY') throw error
      writer.kill('SIGCONT')
      await until((line) => Number(line) > 0)
    }
  }
  if (second === undefined) throw new Error('the journal was never free')
  const taken = second.summary().records
  const mine = await second.append(storyOf(90_000).accepted())
  expect(mine.seq).toBe(taken + 1)
  const exited = once(writer, 'exit')
  writer.kill('SIGCONT')
  const { first, later } = JSON.parse((await until((line) => line.startsWith('fault '))).slice(6))
  expect([first.code, later.code]).toEqual(['JOURNAL_FENCED', 'JOURNAL_FENCED'])
  expect(await exited).toEqual([0, null])
  expect(second.summary().records).toBe(taken + 1)
  await second.append(storyOf(90_000).preparing())
  await second.close()
  const reader = openSqliteReader(path)
  expect((await reader.summary()).records).toBe(taken + 2)
  await reader.close()
  expect(verifySqliteJournal(path).problems).toEqual([])
})
