/** `perpd journal ...` and `perpd discrepancies ...` over real journal files. */
import { copyFileSync, mkdtempSync, rmSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ACCOUNT_ID, type Discrepancy } from '../../src/domain/accountRecords/accountRecord.ts'
import { RECORD_VERSION } from '../../src/domain/accountRecords/recordVersion.ts'
import { exportJournal } from '../../src/journal/service/export.ts'
import { hashOf } from '../../src/journal/sqlite/hashChain.ts'
import { createSqliteJournal } from '../../src/journal/sqlite/openSqlite.ts'
import { usd } from '../../src/protocol/units.ts'
import { storyOf, wholeStory } from '../journal/story.ts'
import { ethMarket, startMs, usdc } from '../support/intents.ts'
import { perpd as startPerpd } from '../world/processes.ts'
import { perpd } from './run.ts'

let cwd = ''
let path = ''
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'perpd-cli-'))
  path = join(cwd, 'journal.db')
})
afterEach(() => rmSync(cwd, { recursive: true }))

const options = () => ({ path, clockNow: () => startMs, holder: 'test' })
const run = (...argv: string[]) => perpd(cwd, [...argv, '--journal.path', path])

/** Two closed orders, one armed and one only accepted: 18 records. */
async function fill(): Promise<void> {
  const journal = createSqliteJournal(options())
  for (const n of [1, 2]) for (const record of wholeStory(n)) await journal.append(record)
  const armed = storyOf(3)
  for (const record of [armed.accepted(), armed.preparing(), armed.armed()]) await journal.append(record)
  await journal.append(storyOf(4).accepted())
  await journal.close()
}

test('verify says what a whole journal holds, beside its daemon', async () => {
  await fill()
  const daemon = createSqliteJournal(options())
  const { code, out } = await run('journal', 'verify')
  expect(code).toBe(0)
  expect(
    out
      .replace(/[0-9a-f]{64}/, '<hash>')
      .replace(/read in .*/, 'read in <time>')
      .replace(/\d+ KiB/, '<n> KiB'),
  ).toMatchInlineSnapshot(`
    "journal   CWD/journal.db, <n> KiB, schema version 1
    records   18 records of 4 orders, 2 open
    chain     whole to record 18 (its hash: --json)
    mark      at record 18
    snapshot  none
    result    whole; read in <time>"
  `)
  const { isWhole, records } = JSON.parse((await run('journal', 'verify', '--json')).out)
  expect({ isWhole, records }).toEqual({ isWhole: true, records: 18 })
  await daemon.close()
})

test('verify names the first bad record and ends with exit code 1', async () => {
  await fill()
  const db = new DatabaseSync(path)
  db.exec(`UPDATE record SET body = replace(body, '"1000000', '"9000000') WHERE seq = 8`)
  db.close()
  const { code, out } = await run('journal', 'verify')
  expect(code).toBe(1)
  expect(out).toContain('chain     whole to record 7 (its hash: --json)')
  expect(out).toContain('NOT WHOLE')
  expect(out).toContain('record 8: the record does not match its hash')
  const found = JSON.parse((await run('journal', 'verify', '--json')).out)
  expect(found).toMatchObject({ isWhole: false, badSeq: 8 })
})

test('verify and export of a journal that is not there end with exit code 2', async () => {
  for (const word of ['verify', 'export', 'compact', 'accept-loss']) {
    const { code, err } = await run('journal', word)
    expect([word, code, err.split('\n')[0]]).toEqual([word, 2, 'There is no journal at CWD/journal.db.'])
  }
})

test('export gives every record as a line of JSON, and with signatures the hashes can be made again', async () => {
  await fill()
  const lines = (await run('journal', 'export')).out.split('\n')
  expect(lines).toHaveLength(18)
  expect(lines.join()).not.toContain('ab'.repeat(65))
  const signed = (await run('journal', 'export', '--signatures')).out.split('\n')
  let previous = ''
  for (const [index, line] of signed.entries()) {
    const { seq, hash } = JSON.parse(line)
    const body = line.slice(line.indexOf('"record":') + 9, -1)
    expect([seq, hash]).toEqual([index + 1, hashOf(previous, seq, body)])
    previous = hash
  }
  expect(signed.join()).toContain('ab'.repeat(65))
})

test('export tells how many of the records that were asked for it gave, after each', async () => {
  await fill()
  const toldOf = async (intentId?: string) => {
    const told: [number, number][] = []
    const query = intentId === undefined ? {} : { intentId }
    await exportJournal(
      { path },
      query,
      () => {},
      (...each) => told.push(each),
    )
    return told
  }
  expect(await toldOf('intent-3')).toEqual([
    [1, 3],
    [2, 3],
    [3, 3],
  ])
  expect((await toldOf()).at(-1)).toEqual([18, 18])
})

test('export gives the records of one order, and those from a time on', async () => {
  await fill()
  const seqs = async (...argv: string[]) =>
    (await run('journal', 'export', ...argv)).out.split('\n').map((line) => JSON.parse(line).seq)
  expect(await seqs('--intent', 'intent-3')).toEqual([15, 16, 17])
  expect(await seqs('--since', new Date(1_800_000_000_004).toISOString())).toEqual([
    4, 5, 6, 7, 10, 11, 12, 13, 14, 16, 17, 18,
  ])
  expect(await run('journal', 'export', '--intent', 'nobody')).toEqual({
    code: 2,
    out: '',
    err: 'No matching records.',
  })
  expect((await run('journal', 'export', '--since', 'noon')).code).toBe(1)
})

test('compact keeps a snapshot that the next start goes on from, and no record is lost', async () => {
  await fill()
  const { code, out } = await run('journal', 'compact')
  expect(code).toBe(0)
  expect(out).toContain('The snapshot is at record 18: 2 open orders')
  expect(JSON.parse((await run('journal', 'verify', '--json')).out)).toMatchObject({
    isWhole: true,
    records: 18,
    snapshot: 'good',
    snapshotSeq: 18,
  })
})

test('compact is refused while a daemon writes the journal', async () => {
  await fill()
  const daemon = createSqliteJournal(options())
  const { code, err } = await run('journal', 'compact')
  expect([code, err.split('\n')[0]]).toEqual([1, 'Another perpd uses this journal.'])
  await daemon.close()
})

test('a journal that lost records is refused, and goes on in the name of an operator', async () => {
  await fill()
  copyFileSync(path, `${path}.backup`)
  const daemon = createSqliteJournal(options())
  await daemon.append(storyOf(4).preparing())
  await daemon.close()
  copyFileSync(`${path}.backup`, path)
  const refused = await run('journal', 'compact')
  expect([refused.code, refused.err.split('\n')[0]]).toEqual([
    1,
    'The journal has lost records: it was damaged, replaced, or restored from an older backup.',
  ])
  expect((await run('journal', 'verify')).code).toBe(1)
  expect((await run('journal', 'accept-loss')).code).toBe(4)
  const accepted = await run('journal', 'accept-loss', '--by', 'Ada')
  expect(accepted.code, accepted.err).toBe(0)
  expect(accepted.out.replace(/\d{4}-[\dT:.-]+Z/, '<time>')).toMatchInlineSnapshot(`
    "Ada accepted the loss of the records after 18 (the high-water mark is 19); the journal records it.
      Closed 1 order that as far as is known was not signed.
      perpd makes no new orders before <time>: until then a lost signature may land.
      Orders and positions of lost records will appear as discrepancies: perpd discrepancies."
  `)
  expect((await run('journal', 'verify')).code).toBe(0)
  expect((await run('journal', 'accept-loss', '--by', 'Ada')).out).toContain('has lost no records')
})

test('the daemon does not start on a journal that lost records, and says the way out', async () => {
  await fill()
  truncateSync(path, 0)
  const daemon = startPerpd(
    [
      'run',
      `--journal.path=${path}`,
      `--strategies.paths=${resolve(import.meta.dirname, '../../strategies')}`,
      '--control.port=0',
    ],
    { cwd },
  )
  expect(await daemon.ended, daemon.said()).toBe(1)
  expect(daemon.said()).toContain('The journal has lost records')
  expect(daemon.said()).toContain('perpd journal accept-loss --by NAME')
})

test('a journal that was emptied is refused and not taken for a new one', async () => {
  await fill()
  truncateSync(path, 0)
  const { err } = await run('journal', 'compact')
  expect(err).toContain('lastRecordWritten: 18\n  lastRecordFound: 0\n')
})

const discrepancy: Discrepancy = {
  discrepancyId: 'trade-77',
  kind: 'manual-increase',
  statement: 'an order of the account that is not ours bought $50.00 of ETH/USD',
  marketToken: ethMarket,
  direction: 'long',
  collateralToken: usdc,
  sizeDeltaUsd: usd(50),
}

test('discrepancies are listed, and an operator adopts or ignores them by name', async () => {
  await fill()
  const journal = createSqliteJournal(options())
  const base = { v: RECORD_VERSION, atMs: startMs, intentId: ACCOUNT_ID } as const
  for (const discrepancyId of ['trade-77', 'trade-78', 'order-9']) {
    await journal.appendAccount({
      ...base,
      kind: 'discrepancy.raised',
      discrepancy: { ...discrepancy, discrepancyId },
    })
  }
  await journal.close()
  expect((await run('discrepancies')).out.split('\n')).toHaveLength(4)
  expect((await run('discrepancies')).out).toContain(
    'blocks increases  manual-increase  an order of the account that is not ours bought $50.00 of ETH/USD',
  )
  expect((await run('discrepancies', 'adopt', 'trade-77')).err).toBe('Give your name: --by YOUR_NAME')
  expect((await run('discrepancies', 'adopt', 'trade', '--by', 'Ada')).err).toBe(
    '2 open discrepancies have an id that begins with trade.\n  perpd discrepancies lists them.',
  )
  expect((await run('discrepancies', 'adopt', 'none', '--by', 'Ada')).code).toBe(2)
  expect((await run('discrepancies', 'adopt', 'trade-77', '--by', 'Ada')).out).toBe(
    'adopted by Ada: an order of the account that is not ours bought $50.00 of ETH/USD.',
  )
  expect((await run('discrepancies', 'ignore', 'order-9', '--by', 'Ada')).code).toBe(0)
  expect((await run('discrepancies')).out.split('\n')).toHaveLength(2)
  const all = JSON.parse((await run('discrepancies', '--all', '--json')).out)
  expect(
    all.map((each: { discrepancy: Discrepancy; end?: string; by?: string }) => [
      each.discrepancy.discrepancyId,
      each.end,
      each.by,
    ]),
  ).toEqual([
    ['order-9', 'ignored', 'Ada'],
    ['trade-78', undefined, undefined],
    ['trade-77', 'adopted', 'Ada'],
  ])
  // Settled in the journal, for whoever starts next.
  const again = createSqliteJournal(options())
  expect(again.account().discrepancies.get('trade-77')).toMatchObject({ end: 'adopted', by: 'Ada' })
  await again.close()
})

test('an order that another client changed is shown as it is in force, with the mark, by a journal that is read anew', async () => {
  const journal = createSqliteJournal(options())
  const story = storyOf(1)
  for (const record of [story.accepted(), story.preparing(), story.armed(), story.sent(), story.landed()]) {
    await journal.append(record)
  }
  const [orderKey] = (journal.recentIntent(story.intentId)?.attempts ?? []).flatMap(({ children }) =>
    children.map((child) => child.orderKey),
  )
  if (orderKey === undefined) throw new Error('no order')
  const changed: Discrepancy = {
    ...discrepancy,
    discrepancyId: 'changed-1',
    kind: 'changed-order',
    sizeDeltaUsd: 0n,
    orderKey,
    listed: { triggerPrice: usd(900), sizeDeltaUsd: usd(70) },
  }
  const base = { v: RECORD_VERSION, atMs: startMs, intentId: ACCOUNT_ID } as const
  await journal.appendAccount({ ...base, kind: 'discrepancy.raised', discrepancy: changed })
  await journal.close()
  const wide = async () => (await run('orders')).out.replace(/\s+/g, ' ')
  expect(await wide()).toContain('another client changed it: in force trigger $900.000')
  expect(JSON.parse((await run('orders', '--json')).out)[0].legs[0]).toMatchObject({
    triggerPrice: usd(900).toString(),
    sizeDeltaUsd: usd(70).toString(),
    changedFrom: { triggerPrice: null },
  })
  expect((await run('explain', story.intentId)).out.replace(/\s+/g, ' ')).toContain(
    'at $900.000, $70.00, changed by another client',
  )
  expect((await run('discrepancies', 'adopt', 'changed-1', '--by', 'Ada')).code).toBe(0)
  expect(await wide()).toContain('another client changed it')
})

test('discrepancies of a journal that is not there end with exit code 2, and without any say so', async () => {
  expect((await run('discrepancies')).code).toBe(2)
  await fill()
  expect((await run('discrepancies')).out).toBe('No discrepancies.')
})

test('copy takes a place of the settings, and an address among its arguments is neither used nor repeated', async () => {
  const to = async (place: string) =>
    await perpd(cwd, ['journal', 'copy', '--to', place, '--journal.url=postgres://perpd@127.0.0.1:1/perpd'])
  const refused = await to('postgres://ann:correct-horse@db/perpd')
  expect([refused.code, refused.err]).toEqual([
    4,
    expect.stringMatching(/--to database or --to file.*journal\.url/s),
  ])
  expect(refused.err + refused.out).not.toContain('correct-horse')
  expect((await to('nowhere')).err).not.toContain('password')
})
