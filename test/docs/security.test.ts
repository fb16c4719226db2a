/** docs/security.md names for every threat the tests that hold its control, and they are there. */
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'

const root = resolve(import.meta.dirname, '..', '..')

test('every row of docs/security.md names tests that are there', () => {
  const text = readFileSync(join(root, 'docs', 'security.md'), 'utf8')
  const rows = text.split('\n').filter((line) => /^\| (?!threat|state|figure|who lies|---)/.test(line))
  expect(rows.length).toBeGreaterThan(8)
  const gone = rows.flatMap((row) => {
    const tests = [...row.matchAll(/`(test\/[^`]+)`/g)].map(([, path = '']) => path)
    const missing = tests.filter((path) => !existsSync(join(root, path)))
    return tests.length === 0 ? [`no test: ${row}`] : missing
  })
  expect(gone).toEqual([])
})
