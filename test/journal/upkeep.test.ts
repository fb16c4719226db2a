/** `journal verify`, `export` and `compact`, on a file and on a real PostgreSQL: one suite, so that both give the same answers and codes. */
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Secret } from '../../src/base/secret.ts'
import { encodeRecord } from '../../src/domain/records.ts'
import type { Journal } from '../../src/journal/journal.ts'
import { exportJournal } from '../../src/journal/service/export.ts'
import { type JournalOptions, openByRules } from '../../src/journal/service/open.ts'
import { verifyJournal } from '../../src/journal/service/verifyJournal.ts'
import { hashOf } from '../../src/journal/sqlite/hashChain.ts'
import { type Cluster, startCluster } from '../support/postgres.ts'
import { storyOf, wholeStory } from './story.ts'

const nowMs = 1_800_000_000_000
const directory = mkdtempSync(join(tmpdir(), 'perpd-upkeep-'))
let cluster: Cluster
let places = 0
beforeAll(async () => {
  cluster = await startCluster()
}, 120_000)
afterAll(() => {
  cluster.remove()
  rmSync(directory, { recursive: true })
})

/** A journal in one of the stores, and how somebody without perpd would change it. */
interface Place {
  readonly options: JournalOptions
  /** Runs a statement whose tables are named as those of a file; `TRUE` stands for a value of the column `open`. */
  sql(text: string): void
}

const stores: Readonly<Record<string, () => Place>> = {
  file: () => {
    places += 1
    const path = join(directory, `${places}.db`)
    return {
      options: { path, clockNow: () => nowMs, holder: 'test' },
      sql: (text) => {
        const db = new DatabaseSync(path)
        db.exec(text.replaceAll('TRUE', '1'))
        db.close()
      },
    }
  },
  database: () => {
    places += 1
    const schema = `u${places}`
    const postgres = {
      url: new Secret(cluster.url(schema)),
      account: 'test',
      needsStandby: false,
      signatureLivesMs: 60_000,
    }
    return {
      options: {
        path: join(directory, `${schema}.db`),
        clockNow: () => nowMs,
        holder: 'test',
        postgres,
      },
      sql: (text) => {
        const tables = text.replaceAll(
          /\b(UPDATE|FROM) (record|intent|ending|snapshot)\b/g,
          `$1 ${schema}.perpd_$2`,
        )
        cluster.sql(tables)
      },
    }
  },
}

async function open(place: Place): Promise<Journal> {
  return (await openByRules(place.options, {})).journal
}

/** Two closed intents, one that is armed and one that is only accepted: 18 records. */
const records = [
  ...wholeStory(1),
  ...wholeStory(2),
  ...[storyOf(3).accepted(), storyOf(3).preparing(), storyOf(3).armed(), storyOf(4).accepted()],
]

async function filled(make: () => Place): Promise<Place> {
  const place = make()
  const journal = await open(place)
  for (const record of records) await journal.append(record)
  await journal.close()
  return place
}

const linesOf = async (place: Place, query: Parameters<typeof exportJournal>[1] = {}) => {
  const lines: string[] = []
  const told: (readonly [number, number])[] = []
  const count = await exportJournal(
    place.options,
    query,
    (line) => lines.push(line),
    (...each) => told.push(each),
  )
  expect([count, told.length]).toEqual([lines.length, lines.length])
  if (count > 0) expect(told.at(-1)).toEqual([count, count])
  return lines
}

describe.each(Object.entries(stores))('%s', (_name, make) => {
  test('a whole journal verifies beside its writer, and says what it holds', async () => {
    const place = make()
    const journal = await open(place)
    for (const record of records) await journal.append(record)
    const told: number[] = []
    const found = await verifyJournal(place.options, (done, total) => told.push(done, total))
    expect(found).toMatchObject({
      ...{ version: 1, records: 18, intents: 4, openIntents: 2, headSeq: 18, snapshot: 'none', problems: [] },
      tail: { seq: 18, hash: expect.stringMatching(/^[0-9a-f]{64}$/) },
    })
    expect(found.bytes).toBeGreaterThan(0)
    expect(told.slice(-2)).toEqual([18, 18])
    await journal.append(storyOf(5).accepted())
    await journal.close()
    expect(await verifyJournal(place.options)).toMatchObject({ records: 19, openIntents: 3, problems: [] })
  })

  test('the first record that is not what was written is named', async () => {
    for (const [sql, badSeq] of [
      [`UPDATE record SET body = replace(body, 'intent-1', 'intent-7') WHERE seq = 5`, 5],
      [`UPDATE record SET hash = 'x' WHERE seq = 7`, 7],
      ['DELETE FROM record WHERE seq = 3', 3],
      ['UPDATE record SET at_ms = at_ms + 1 WHERE seq = 8', 8],
      [`UPDATE record SET kind = 'landed' WHERE seq = 9`, 9],
      ['UPDATE record SET seq = 99 WHERE seq = 12', 12],
    ] as const) {
      const place = await filled(make)
      place.sql(sql)
      const found = await verifyJournal(place.options)
      expect([sql, found.badSeq, found.tail.seq, found.problems.length]).toEqual([sql, badSeq, badSeq - 1, 1])
    }
  })

  test('each table that follows from the records is held against them, and a damaged one is not compacted', async () => {
    for (const [sql, problem] of [
      ["UPDATE intent SET strategy = 'x' WHERE intent_id = 'intent-2'", 'intent: intent-2 has strategy x'],
      ["UPDATE intent SET open = TRUE WHERE intent_id = 'intent-1'", 'intent: intent-1 has open 1'],
      ["DELETE FROM intent WHERE intent_id = 'intent-3'", 'intent: no row for intent-3'],
      ["UPDATE ending SET cause = 'x' WHERE cause <> ''", 'ending: intent-1 has cause x'],
      ['DELETE FROM ending', 'ending: no row for intent-1'],
      ["UPDATE record SET intent_id = 'intent-1' WHERE seq = 18", undefined],
    ] as const) {
      const place = await filled(make)
      place.sql(sql)
      const { problems } = await verifyJournal(place.options)
      expect([sql, problems.join('; ')]).toEqual([sql, expect.stringContaining(problem ?? 'columns')])
      // A file computes its endings anew.
      const isMended = sql.includes('ending') && place.options.postgres === undefined
      const compacting = openByRules(place.options, { compact: true })
      if (isMended) await (await compacting).journal.close()
      else await expect(compacting, sql).rejects.toMatchObject({ code: 'JOURNAL_CORRUPT' })
    }
  })

  test('records that the mark of this machine names and the journal lacks are a finding', async () => {
    const place = await filled(make)
    const mark = `${place.options.path}.head`
    copyFileSync(mark, `${mark}.old`)
    const other = await filled(make)
    const journal = await open(other)
    await journal.append(storyOf(5).accepted())
    await journal.close()
    copyFileSync(`${other.options.path}.head`, mark)
    const found = await verifyJournal(place.options)
    expect([found.headSeq, found.problems]).toEqual([
      19,
      [expect.stringContaining('the high-water mark names record 19')],
    ])
    await expect(openByRules(place.options, { compact: true })).rejects.toMatchObject({
      code: 'JOURNAL_ROLLED_BACK',
    })
    const headPath = `${mark}.old`
    expect(await verifyJournal({ ...place.options, headPath })).toMatchObject({ headSeq: 18, problems: [] })
  })

  test('export gives each record as a line whose hash can be made again, and those alone that were asked for', async () => {
    const place = await filled(make)
    const signed = await linesOf(place, { withSignatures: true })
    let previous = ''
    for (const [index, line] of signed.entries()) {
      const { hash } = JSON.parse(line)
      const record = records[index]
      if (record === undefined) throw new TypeError('one line too many')
      previous = hashOf(previous, index + 1, encodeRecord(record))
      expect(line).toBe(`{"seq":${index + 1},"hash":"${previous}","record":${encodeRecord(record)}}`)
      expect(hash).toBe(previous)
    }
    const bare = await linesOf(place)
    expect(bare).toHaveLength(18)
    expect(signed.join()).toContain('ab'.repeat(65))
    expect(bare.join()).not.toContain('ab'.repeat(65))
    const seqs = async (query: Parameters<typeof exportJournal>[1]) =>
      (await linesOf(place, query)).map((line) => JSON.parse(line).seq)
    expect(await seqs({ intentId: 'intent-3' })).toEqual([15, 16, 17])
    expect(await seqs({ intentId: 'intent-', sinceMs: nowMs + 6 })).toEqual(
      records.flatMap(({ atMs }, index) => (atMs >= nowMs + 6 ? [index + 1] : [])),
    )
    expect(await seqs({ intentId: 'intent_' })).toEqual([])
  })

  test('compact keeps a snapshot at the newest record in place of one that says something else', async () => {
    const place = await filled(make)
    for (const damage of [undefined, `UPDATE snapshot SET body = '{}'`]) {
      if (damage !== undefined) place.sql(damage)
      const told: number[] = []
      const progress = (done: number, total: number) => void told.push(done, total)
      const { journal } = await openByRules({ ...place.options, progress }, { compact: true })
      expect(journal.summary()).toEqual({ records: 18, intents: 4, openIntents: 2 })
      await journal.close()
      expect(told.slice(-2)).toEqual([18, 18])
      expect(await verifyJournal(place.options)).toMatchObject({
        ...{ snapshot: 'good', snapshotSeq: 18, problems: [] },
      })
    }
    const { journal, replayedFrom } = await openByRules(place.options, {})
    expect(replayedFrom).toBe(18)
    await journal.close()
  })

  test('compact is refused while another one writes the journal, and changes nothing', async () => {
    const place = await filled(make)
    const daemon = await open(place)
    await expect(openByRules(place.options, { compact: true })).rejects.toMatchObject({
      code: 'JOURNAL_LOCKED',
      details: expect.stringContaining('Stop the other one first'),
    })
    expect(await verifyJournal(place.options)).toMatchObject({ snapshot: 'none' })
    await daemon.append(storyOf(4).preparing())
    await daemon.close()
  })

  test('a journal that is not there is missing', async () => {
    const place = make()
    for (const read of [() => verifyJournal(place.options), () => linesOf(place)])
      await expect(read()).rejects.toMatchObject({ code: 'JOURNAL_MISSING' })
  })
})

test('a holder on another machine keeps compact away by its beat, and none that is compacted meanwhile takes the right unseen', async () => {
  const place = await filled(stores.database as () => Place)
  const daemon = await open(place)
  const elsewhere = { ...place.options, path: join(directory, 'elsewhere.db') }
  await expect(openByRules(elsewhere, { compact: true })).rejects.toMatchObject({ code: 'JOURNAL_LOCKED' })
  await daemon.append(storyOf(4).preparing())
  const { epoch } = daemon.lease
  await daemon.close()
  const compacted = await openByRules(elsewhere, { compact: true })
  expect(compacted.journal.lease.epoch).toBe(epoch + 1)
  await compacted.journal.close()
})

test('a database whose keys were taken away, or whose guard lacks a signature, is not whole', async () => {
  for (const [sql, problem] of [
    ['ALTER TABLE SCHEMA.perpd_signed DROP CONSTRAINT perpd_signed_pkey', 'schema: perpd_signed has no'],
    ['DELETE FROM SCHEMA.perpd_signed WHERE intent_id = $$intent-2$$', 'signed: 2 rows; the records make 3'],
    ["UPDATE SCHEMA.perpd_head SET hash = 'x'", 'head: it says that the chain ends'],
  ] as const) {
    const place = await filled(stores.database as () => Place)
    cluster.sql(sql.replace('SCHEMA', `u${places}`))
    const { problems } = await verifyJournal(place.options)
    expect(problems).toEqual([expect.stringContaining(problem)])
  }
})

test('at the terminal the commands say of a database what they say of a file, with the same exit codes', async () => {
  const folder = join(directory, 'terminal')
  const place = await filled(stores.database as () => Place)
  const schema = `u${places}`
  execFileSync('mkdir', ['-p', folder])
  const bin = join(import.meta.dirname, '../../src/cli/bin.ts')
  const run = (account: string, ...argv: string[]): { readonly code: number; readonly said: string } => {
    const flags = [`--journal.path=${place.options.path}`, `--journal.account=${account}`]
    try {
      const env = {
        ...process.env,
        PERPD__JOURNAL__URL: place.options.postgres?.url.reveal() ?? '',
        NO_COLOR: '1',
      }
      const options = { cwd: folder, env, encoding: 'utf8', stdio: 'pipe' } as const
      return {
        code: 0,
        said: execFileSync(process.execPath, [bin, 'journal', ...argv, ...flags], options),
      }
    } catch (error) {
      const { status, stderr, stdout } = error as { status: number; stderr: string; stdout: string }
      return { code: status, said: `${stdout}${stderr}` }
    }
  }
  writeFileSync(join(folder, 'perpd.json'), '{}')
  const shown = run('test', 'verify')
  expect([shown.code, shown.said]).toEqual([0, expect.stringContaining('18 records of 4 orders, 2 open')])
  expect(JSON.parse(run('test', 'verify', '--json').said)).toMatchObject({ isWhole: true, records: 18 })
  expect(run('test', 'export').said.trimEnd().split('\n')).toEqual(await linesOf(place))
  expect(run('test', 'compact')).toMatchObject({ code: 0, said: expect.stringContaining('at record 18') })
  expect(run('test', 'export', '--intent', 'nobody').code).toBe(2)
  for (const word of ['verify', 'export', 'compact']) expect(run('nobody', word).code).toBe(2)
  cluster.sql(`UPDATE ${schema}.perpd_record SET hash = 'x' WHERE seq = 4`)
  expect(run('test', 'verify')).toMatchObject({ code: 1, said: expect.stringContaining('record 4') })
})
