/** Journals as released versions left them on their users' disks: read, folded, and continued. */
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ACCOUNT_ID, type AccountState } from '../../src/domain/accountRecords/accountRecord.ts'
import { RECORD_VERSION } from '../../src/domain/accountRecords/recordVersion.ts'
import { step } from '../../src/domain/machine/step.ts'
import { labelOf } from '../../src/domain/order/intent.ts'
import { verifySqliteJournal } from '../../src/journal/service/verifyJournal.ts'
import { openSqliteReader } from '../../src/journal/sqlite/journalReader.ts'
import { createSqliteJournal, openSqliteJournal } from '../../src/journal/sqlite/openSqlite.ts'
import { formatUsd } from '../../src/protocol/units.ts'
import { startMs } from '../support/intents.ts'

let directory = ''
let path = ''
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'perpd-golden-'))
  path = join(directory, 'journal.db')
})
afterEach(() => rmSync(directory, { recursive: true }))

/** Puts a golden journal in the place of a user's. */
function place(version: string): void {
  for (const ending of ['', '.head']) {
    copyFileSync(
      fileURLToPath(new URL(`./golden/${version}.db${ending}`, import.meta.url)),
      `${path}${ending}`,
    )
  }
}
const options = { clockNow: () => startMs, holder: 'test' }
const open = () => createSqliteJournal({ ...options, path })

const stories = [
  ['1', 'executed'],
  ['2', 'executed'],
  ['3', 'cancelled'],
  ['4', 'reverted'],
  ['5', 'refused'],
  ['6', 'executed'],
  ['7', 'planned'],
  ['8', 'planned'],
  ['9', 'pending'],
  ['a', 'unknown'],
  ['b', 'pending'],
  ['c', 'pending'],
  ['d', 'pending'],
]

for (const version of ['v1']) {
  test(`a journal of ${version} is read, beside its dead daemon too, and every order is what it was`, async () => {
    place(version)
    const reader = openSqliteReader(path)
    const found = (await reader.intents()).map((state) => [state.intent.intentId.slice(-1), labelOf(state)])
    await reader.close()
    expect(found.toReversed()).toEqual(stories)
    expect(verifySqliteJournal(path)).toMatchObject({
      problems: [],
      records: 62,
      openIntents: 7,
      headSeq: 62,
    })
  })

  test(`the books of a journal of ${version} are the same beside its daemon and after an opening`, async () => {
    place(version)
    const reader = openSqliteReader(path)
    const books = (await reader.books()).all()
    expect((await reader.tradingHistory()).books.all()).toEqual(books)
    // One pass gives what two do.
    const history = await reader.history()
    expect(history.books.all()).toEqual(books)
    expect(history.intents).toEqual(await reader.intents())
    await reader.close()
    const sizes = books.map(({ strategy, direction, sizeUsd }) => [strategy, direction, formatUsd(sizeUsd)])
    expect(sizes).toEqual([
      ['eth-trend', 'long', '$300.00'],
      ['other', 'short', '$500.00'],
    ])
    const journal = open()
    expect(journal.books().all()).toEqual(books)
    await journal.close()
    const again = openSqliteReader(path)
    expect((await again.books()).all()).toEqual(books)
    await again.close()
  })

  test(`a journal of ${version} goes on: its open orders move, its decisions and digests are not taken twice`, async () => {
    place(version)
    const journal = open()
    expect(
      journal
        .openIntents()
        .map(({ intent }) => intent.intentId.slice(-1))
        .join(''),
    ).toBe('789abcd')
    expect(journal.hasDecision('eth-trend', 'eth-trend@1')).toBe(true)
    for (const state of journal.openIntents()) {
      const rules = { source: 'api', trustVenue: false, deadlineMarginMs: 0 } as const
      const { record } = step(state, { type: 'resolved', nowMs: startMs, as: 'dead', by: 'Ada' }, rules)
      if (record !== undefined) await journal.append(record)
    }
    expect(journal.openIntents()).toEqual([])
    await journal.close()
    expect(verifySqliteJournal(path)).toMatchObject({ version: 1, problems: [], records: 69 })
  })
}

test('a version 1 journal takes what is said of markets, and keeps it over a start and a snapshot', async () => {
  place('v1')
  const stamp = { v: RECORD_VERSION, atMs: startMs, intentId: ACCOUNT_ID } as const
  const token = '0x2222222222222222222222222222222222222222'
  const said = { host: 'https://one', address: token, statement: 'says that it has 8 decimals' } as const
  const other = { ...said, host: 'https://two' }
  const market = {
    symbol: 'NEW/USD [NEW-NEW]',
    marketToken: '0x1111111111111111111111111111111111111111',
    indexToken: token,
    longToken: token,
    shortToken: token,
  } as const
  const facts = { isStable: false, isNative: false, isWrapped: false, isSynthetic: false, symbol: 'NEW' }
  const tokens = [{ ...facts, address: token, decimals: 9 } as const]
  const journal = open()
  await journal.appendAccount({ ...stamp, kind: 'market.trusted', market, tokens, by: 'Ada' })
  await journal.appendAccount({ ...stamp, kind: 'market.contradicted', contradictions: [said, other] })
  await journal.appendAccount({ ...stamp, kind: 'market.settled', contradictions: [other], by: 'Ada' })
  await journal.close()
  const foundIn = ({ markets }: AccountState) => ({
    open: [...(markets?.open.values() ?? [])],
    accepted: [...(markets?.accepted ?? [])],
    markets: [...(markets?.markets.values() ?? [])],
    tokens: [...(markets?.tokens.values() ?? [])],
  })
  const expected = {
    open: [{ ...said, sinceMs: startMs }],
    accepted: [[`https://two ${token}`, said.statement]],
    markets: [{ ...market, by: 'Ada' }],
    tokens,
  }
  for (const how of [{ compact: true }, {}]) {
    const { journal: again } = openSqliteJournal({ ...options, path }, how)
    expect(foundIn(again.account())).toEqual(expected)
    await again.close()
  }
  expect(verifySqliteJournal(path)).toMatchObject({ version: 1, problems: [], snapshot: 'good' })
})

test('closed orders of a version 1 journal count for positions and budgets', async () => {
  place('v1')
  const journal = open()
  const fills = journal
    .closedFills()
    .map(({ direction, sizeDeltaUsd }) => [direction, formatUsd(sizeDeltaUsd ?? 0n)])
  expect(fills).toEqual([
    ['long', '$300.00'],
    ['short', '$500.00'],
  ])
  // In the order of their records, whatever the clock said.
  expect(journal.endingsSince(0).map(({ strategy, kind, cause }) => [strategy, kind, cause])).toEqual([
    ['eth-trend', 'increase', 'REFUSED_LOCAL PREPARE_REFUSED'],
    ['eth-trend', 'increase', 'DEAD relay_reverted'],
    ['eth-trend', 'increase', 'executed'],
    ['eth-trend', 'decrease', 'executed'],
    ['eth-trend', 'increase', 'CANCELLED OrderNotFulfillableAtAcceptablePrice'],
    ['other', 'increase', 'executed'],
  ])
  const seqs = journal.endingsSince(0).map(({ seq = 0 }) => seq)
  expect(seqs).toEqual(seqs.toSorted((one, other) => one - other))
  expect(seqs[0]).toBeGreaterThan(0)
  await journal.close()
})
