import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openSqliteReader } from '../../src/journal/sqlite/journalReader.ts'
import { createSqliteJournal } from '../../src/journal/sqlite/openSqlite.ts'

const script = fileURLToPath(new URL('./writer.ts', import.meta.url))
const options = { clockNow: () => 1_800_000_000_000, holder: 'test' }

let directory = ''
let path = ''
const children: ChildProcess[] = []
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'perpd-journal-'))
  path = join(directory, 'perpd.db')
})
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
  rmSync(directory, { recursive: true })
})

/** Starts a writer, directly or under a shell command that ends in it. */
function startWriter(inFlight: number, shell = ''): { child: ChildProcess; lines: AsyncIterable<string> } {
  const command = [process.execPath, script, path, String(inFlight)]
  const child = shell
    ? spawn('bash', ['-c', `${shell}; exec "$@"`, 'bash', ...command], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
    : spawn(process.execPath, command.slice(1), { stdio: ['ignore', 'pipe', 'inherit'] })
  children.push(child)
  if (child.stdout === null) throw new Error('the writer has no output')
  return { child, lines: createInterface({ input: child.stdout }) }
}

/** All records of the journal as a reader finds them, by number. */
async function seqsIn(journalPath: string): Promise<number[]> {
  const reader = openSqliteReader(journalPath)
  try {
    const stories = await Promise.all(
      (await reader.intents()).map(({ intent }) => reader.records(intent.intentId)),
    )
    return stories
      .flat()
      .map(({ seq }) => seq)
      .sort((one, other) => one - other)
  } finally {
    await reader.close()
  }
}

test('every acknowledged record survives fifty kills, and no number is missing', async () => {
  let acknowledged = 0
  for (let kill = 1; kill <= 50; kill += 1) {
    const { child, lines } = startWriter(1 + (kill % 8))
    const exited = once(child, 'exit')
    // Killed after a different number of records each time; what was already on the way is counted too.
    const patience = (kill * 37) % 90
    let seen = 0
    for await (const line of lines) {
      if (line.startsWith('ready')) expect(line).toBe(`ready ${kill}`)
      else acknowledged = Math.max(acknowledged, Number(line))
      seen += 1
      if (seen === patience + 1) child.kill('SIGKILL')
    }
    expect(await exited).toEqual([null, 'SIGKILL'])
    const seqs = await seqsIn(path)
    expect(seqs.length).toBeGreaterThanOrEqual(acknowledged)
    expect(seqs).toEqual(seqs.map((_, index) => index + 1))
  }
  const journal = createSqliteJournal({ ...options, path })
  expect(journal.lease.epoch).toBe(51)
  expect(journal.summary().records).toBeGreaterThan(1000)
  await journal.close()
}, 300_000)

test('a second daemon is refused by name while the first lives, and let in when it was killed', async () => {
  const { child, lines } = startWriter(0)
  for await (const line of lines) {
    expect(line).toBe('ready 1')
    break
  }
  const second = (): unknown => {
    try {
      return createSqliteJournal({ ...options, path })
    } catch (error) {
      return error
    }
  }
  const text = String(second())
    .replaceAll(path, '<path>')
    .replace(`pid: ${child.pid}`, 'pid: <the first>')
    .replace(/startedAt: \d{4}-\d\d-\d\dT[\d:.]+Z/, 'startedAt: <when>')
    .replace(/hostname: .*/, 'hostname: <where>')
  expect(text).toMatchInlineSnapshot(`
    "JournalFaultError: Another perpd uses this journal.
      path: <path>
      pid: <the first>
      startedAt: <when>
      hostname: <where>
      holder: writer
      This one changed nothing and stops: two daemons on one journal would trade twice. Stop the other one first, or set another journal for this one."
  `)
  child.kill('SIGKILL')
  await once(child, 'exit')
  const journal = createSqliteJournal({ ...options, path })
  expect(journal.lease.epoch).toBe(2)
  await journal.close()
})

test('a disk that takes no more stops the journal with one clear fault, and loses nothing acknowledged', async () => {
  const { lines } = startWriter(4, 'ulimit -f 512')
  let acknowledged = 0
  let fault = { first: { code: '', text: '' }, later: { code: '', text: '' } }
  for await (const line of lines) {
    if (line.startsWith('fault ')) fault = JSON.parse(line.slice(6))
    else if (!line.startsWith('ready')) acknowledged = Math.max(acknowledged, Number(line))
  }
  expect(
    fault.first.text.replaceAll(path, '<path>').replace(/records: \d/, 'records: <n>'),
  ).toMatchInlineSnapshot(`
    "The journal could not be written.
      path: <path>
      records: <n>
      reason: disk I/O error
      perpd stops on purpose: it never trades without its journal, and never retries a failed write. Nothing is sent after this. Free space on the disk (or raise the file size or journal limit), check the disk for errors, then start perpd; it resumes every open order from the journal."
  `)
  expect(fault.later).toEqual(fault.first)
  const seqs = await seqsIn(path)
  expect(acknowledged).toBeGreaterThan(20)
  expect(seqs.length).toBeGreaterThanOrEqual(acknowledged)
  expect(seqs).toEqual(seqs.map((_, index) => index + 1))
  const journal = createSqliteJournal({ ...options, path })
  expect(journal.summary().records).toBe(seqs.length)
  await journal.close()
})
