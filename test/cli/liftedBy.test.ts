/** Refusals of halts, limits, budgets and pauses name the command that lifts them, and it exists. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { liftedBy } from '../../src/cli/call/liftedBy.ts'
import { commands } from '../../src/cli/commandTable.ts'
import { limitRows, limitSetting } from '../../src/domain/limits/limits.ts'

const names = commands.map(({ name }) => name)
const errors = readFileSync(resolve(import.meta.dirname, '../../docs/reference/errors.md'), 'utf8')

/** Commands that a sentence names: the longest name that stands behind `perpd`. */
function namedIn(text: string): readonly (string | undefined)[] {
  return [...text.matchAll(/perpd ([a-z][a-z ]*)/g)].map(([, words = '']) =>
    names
      .toSorted((one, other) => other.length - one.length)
      .find((name) => words === name || words.startsWith(`${name} `)),
  )
}

test('every limit and budget names the setting to raise and the command that loads it', () => {
  expect(new Set(limitRows.map(([, { denies }]) => denies.code)).size).toBeGreaterThan(15)
  for (const [name, { denies }] of limitRows) {
    const said = liftedBy(denies.code) ?? ''
    if (denies.code === 'REDUCE_IN_FLIGHT') continue
    expect([denies.code, said]).toEqual([denies.code, expect.stringContaining(`risk.${limitSetting(name)}`)])
    expect(said).toContain('perpd limits apply --confirm')
  }
})

test('what has to be lowered is not said to be raised', () => {
  expect(liftedBy('ORDER_TOO_SMALL')).toContain('once you lowered it')
  expect(liftedBy('MAX_LEVERAGE')).toContain('risk.maxLeverage;')
})

const others = [
  // Halts of an operator, a kill and breakers.
  ...['TRADING_HALTED', 'TRADING_REDUCING'],
  // Pauses, and orders that hold a side.
  ...['REFUSED_BEFORE', 'FAILED_BEFORE', 'SLOT_BUSY', 'REDUCE_IN_FLIGHT'],
  // Budgets of tasks, plans by hand and ids.
  ...['TASK_BUDGET', 'EXITS_PLANNED', 'ID_USED'],
  // Requests that another flag mends.
  ...['SIZE_NOT_WHOLE', 'STOP_NEEDED', 'NO_BALANCE'],
  // What the account or its lists leave open.
  ...['NOT_READY', 'UNEXPLAINED', 'POSITION_NOT_SHOWN', 'MARKET_NOT_TRUSTED'],
]

test.each(others)('%s names a command that there is, and is a code that there is', (code) => {
  const found = namedIn(liftedBy(code) ?? '')
  expect(found.length).toBeGreaterThan(0)
  expect(found).not.toContain(undefined)
  expect(errors).toContain(`| \`${code}\` |`)
})

test('a refusal that nothing lifts but another request names nothing', () => {
  expect(liftedBy('POSITION_NOT_FOUND')).toBeUndefined()
})
