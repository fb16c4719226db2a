/**
 * How long a start takes on a long history, by hand: `node bench/recovery.ts [records] [directory]`. Makes a journal of that
 * many records (a million when not said) with 500 orders whose outcome is unknown, spread over all of it, and opens it from
 * its snapshot and by a full replay, each in a fresh process, to the point where a daemon has every open order.
 */
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { JournalRecord } from '../src/domain/records.ts'
import { verifySqliteJournal } from '../src/journal/service/verifyJournal.ts'
import { createSqliteJournal } from '../src/journal/sqlite/openSqlite.ts'
import { storyOf, wholeStory } from '../test/journal/story.ts'

const UNRESOLVED = 500
const GROUP = 10_000
const RUNS = 2

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

/** As at an order a minute. */
function spread(n: number, records: readonly JournalRecord[]): readonly JournalRecord[] {
  const lateMs = n * 60_000
  return records.map((record) => {
    const late = { ...record, atMs: record.atMs + lateMs }
    if (late.kind !== 'intent.accepted') return late
    return { ...late, intent: { ...late.intent, acceptedAtMs: late.intent.acceptedAtMs + lateMs } }
  })
}

function unresolved(n: number): readonly JournalRecord[] {
  const story = storyOf(n)
  const { sent, accepted, preparing, armed } = story
  const record = sent()
  const unanswered =
    record.kind === 'send.result' ? { ...record, send: { result: 'unanswered' } as const } : record
  return [accepted(), preparing(), armed(), unanswered]
}

async function make(path: string, records: number): Promise<void> {
  const journal = createSqliteJournal({ path, clockNow: Date.now, holder: 'bench' })
  const intents = Math.ceil((records - UNRESOLVED * 4) / 7) + UNRESOLVED
  const every = Math.floor(intents / UNRESOLVED)
  let group: Promise<unknown>[] = []
  for (let n = 1; n <= intents; n += 1) {
    const story = n % every === 0 ? unresolved(n) : wholeStory(n)
    group.push(...spread(n, story).map((record) => journal.append(record)))
    if (group.length < GROUP) continue
    await Promise.all(group)
    group = []
  }
  await Promise.all(group)
  await journal.close()
}

function secondsSince(began: number, cpu: NodeJS.CpuUsage): string {
  const { user, system } = process.cpuUsage(cpu)
  const wall = (performance.now() - began) / 1000
  return `${wall.toFixed(2)} s, ${((user + system) / 1e6).toFixed(2)} s of CPU`
}

/** Opens the journal in this process, and says how long that took and what was there. */
async function openOnce(path: string): Promise<void> {
  const cpu = process.cpuUsage()
  const began = performance.now()
  const journal = createSqliteJournal({ path, clockNow: Date.now, holder: 'bench' })
  const open = journal.openIntents().length
  const took = secondsSince(began, cpu)
  const { records } = journal.summary()
  await journal.close()
  const megabytes = Math.round(process.memoryUsage.rss() / 1e6)
  print(`${records} records, ${open} open: ${took}, ${megabytes} MB resident`)
}

function openFresh(label: string, path: string): void {
  const { stdout, stderr } = spawnSync(process.execPath, [import.meta.filename, '--open', path], {
    encoding: 'utf8',
  })
  print(`${label.padEnd(12)} ${stdout.trim()}${stderr.trim()}`)
}

/** Takes the snapshot away, as a bit that flips in it would. */
function dropSnapshot(path: string): void {
  const db = new DatabaseSync(path)
  db.exec('DELETE FROM snapshot')
  db.close()
}

if (process.argv[2] === '--open') await openOnce(process.argv[3] ?? '')
else {
  const directory = mkdtempSync(join(process.argv[3] ?? tmpdir(), 'perpd-bench-'))
  const path = join(directory, 'journal.db')
  const whole = join(directory, 'whole.db')
  try {
    const began = performance.now()
    await make(path, Number(process.argv[2] ?? 1_000_000))
    print(
      `made in ${((performance.now() - began) / 1000).toFixed(0)} s, ${Math.round(statSync(path).size / 1e6)} MB`,
    )
    for (let run = 0; run < RUNS; run += 1) openFresh('snapshot', path)
    for (let run = 0; run < RUNS; run += 1) {
      copyFileSync(path, whole)
      dropSnapshot(whole)
      openFresh('full replay', whole)
    }
    const cpu = process.cpuUsage()
    const verifying = performance.now()
    const { problems } = verifySqliteJournal(path)
    print(`verify       ${problems.length} problems: ${secondsSince(verifying, cpu)}`)
    print(
      `load averages ${loadavg()
        .map((each) => each.toFixed(1))
        .join(' ')}`,
    )
  } finally {
    rmSync(directory, { recursive: true })
  }
}
