/**
 * The table of months by `perpd backtest` (RESULTS.md): each row comes out again, to the last cent. `npm run strategies:table -- --backtest` prints the rows.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { ofShare, shareOfChange } from '../gate/depth.ts'
import { backtestMonth } from './backtestMonth.ts'
import { kindNames } from './monthKinds.ts'
import { backtestHead, backtestRow, backtestTerms } from './monthTable.ts'

const results = readFileSync(join(import.meta.dirname, 'RESULTS.md'), 'utf8')
/** The rows of the table, without its head. */
const rows = results.slice(results.indexOf(backtestHead)).split('\n\n')[0]?.split('\n').slice(2) ?? []

test('the table has one row of each kind, in their order', () => {
  expect(rows.map((row) => row.split('|')[1]?.trim())).toEqual(kindNames)
})

// A month takes a minute of a processor; of a change each eighth kind is lived.
test.each(ofShare(kindNames, shareOfChange(8)))(
  'a month of %s by perpd backtest comes to its row of the table',
  { timeout: 1_800_000 },
  async (kind) => {
    const folder = mkdtempSync(join(tmpdir(), 'perpd-month-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const result = await backtestMonth(folder, { kind, ...backtestTerms })
    expect(backtestRow(kind, result)).toBe(rows.find((row) => row.startsWith(`| ${kind} |`)))
  },
)
