/** What was told of an approval, in its file: kept for its key alone, and one that is broken costs a warning and no more. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { toldApprovalFile } from '../../src/daemon/account/toldApproval.ts'
import { account, ethMarket } from '../support/intents.ts'

let folder: string
let path: string
let warnings: string[]
const store = (of = account) => toldApprovalFile(path, of, (text) => warnings.push(text))
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'perpd-approval-'))
  path = join(folder, 'journal.db.approval')
  warnings = []
})
afterEach(() => rmSync(folder, { recursive: true }))

const low = { left: 2n ** 200n, expiresAtSeconds: 1_800_000_000, isGone: true }
const none = { isUnread: false }

test('what was told is read as it was kept, for its key alone, and nothing is left beside it', () => {
  expect(store().read()).toEqual(none)
  store().keep({ low, isUnread: true })
  expect(store().read()).toEqual({ low, isUnread: true })
  expect(store(ethMarket).read()).toEqual(none)
  store().keep(none)
  expect(store().read()).toEqual(none)
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(readdirSync(folder)).toEqual(['journal.db.approval'])
  expect(warnings).toEqual([])
})

test('a file that is torn at any byte or of another form counts for nothing, with one warning', () => {
  store().keep({ low, isUnread: true })
  const whole = readFileSync(path, 'utf8').trimEnd()
  const torn = Array.from({ length: whole.length }, (_, bytes) => whole.slice(0, bytes))
  for (const text of [...torn, '[]', whole.replace('"version":1', '"version":2'), whole.padEnd(2_000)]) {
    warnings = []
    writeFileSync(path, text)
    const one = store()
    expect([one.read(), one.read()]).toEqual([none, none])
    expect(warnings).toHaveLength(1)
  }
})

test('a place where nothing can be written costs one warning', () => {
  writeFileSync(join(folder, 'a file'), '')
  path = join(folder, 'a file', 'journal.db.approval')
  const one = store()
  one.keep(none)
  one.keep(none)
  expect(warnings).toHaveLength(1)
})
