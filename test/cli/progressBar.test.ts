/** The bar of long work: what it says, and that it fits its line. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { columnsOf, hasBar, progressLine } from '../../src/cli/output/progressBar.ts'

test('a bar says how much is done and how long the rest takes at this pace', () => {
  expect(progressLine(25_000, 100_000, 1_000, 80)).toBe(
    '[######                  ] 25 %, 25,000 of 100,000, 3 s left',
  )
  expect(progressLine(0, 10, 0, 80)).toBe(`[${' '.repeat(24)}] 0 %, 0 of 10`)
})

test('a bar never leaves its line', () => {
  fc.assert(
    fc.property(
      fc.nat(),
      fc.nat(),
      fc.nat(),
      fc.integer({ min: 0, max: 200 }),
      (done, total, ms, columns) => {
        const line = progressLine(done, total, ms, columns)
        expect(line.length).toBeLessThanOrEqual(columns)
        expect(line).not.toMatch(/NaN|Infinity/)
      },
    ),
  )
})

test('a bar is drawn on a terminal alone, and not between lines of work that prints to a screen', () => {
  const [screen, file, term] = [{ isTTY: true }, {}, 'xterm']
  expect(hasBar({ stderr: screen, stdout: screen, term }, false)).toBe(true)
  expect(hasBar({ stderr: screen, stdout: file, term }, true)).toBe(true)
  expect(hasBar({ stderr: screen, stdout: screen, term }, true)).toBe(false)
  expect(hasBar({ stderr: file, stdout: screen, term }, false)).toBe(false)
  expect(hasBar({ stderr: screen, stdout: file, term: 'dumb' }, true)).toBe(false)
})

test('a terminal that does not say its width has a bar of the usual one', () => {
  expect([columnsOf({ columns: 120 }), columnsOf({ columns: 0 }), columnsOf({})]).toEqual([120, 80, 80])
})
