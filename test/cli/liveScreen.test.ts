/** The live screen of `perpd top`: what it shows of the status, and that it never leaves its columns and rows. */
import { stripVTControlCharacters } from 'node:util'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type LiveFacts, lastOffset, liveScreen, statusLines } from '../../src/cli/live/liveScreen.ts'
import type { StatusBody } from '../../src/control/routes.ts'
import { orderRow, toPlain } from '../../src/domain/summaries/orderView.ts'
import { status } from '../control/door.ts'

const body = {
  ...(toPlain(status) as object),
  openIntents: status.openIntents.map((each) => toPlain(orderRow(each))),
} as unknown as StatusBody
const facts: LiveFacts = { command: 'perpd top', body, everyMs: 2_000, offset: 0, hasColor: false }

test('a screen that is large enough shows the whole status, its time, and how to end it', () => {
  const lines = liveScreen(facts, 100, 60)
  expect(lines).toHaveLength(60)
  expect(lines[0]).toMatch(/^perpd top {2}20\d\d-.*, every 2 s$/)
  const watched = liveScreen({ ...facts, command: 'perpd status --watch' }, 100, 60)
  expect(watched[0]).toMatch(/^perpd status --watch {2}20/)
  expect(lines.slice(1, 1 + statusLines(body, 100).length)).toEqual(statusLines(body, 100))
  expect(lines.at(-1)).toBe('q ends')
})

test('what does not fit is moved to, and the foot says which lines are shown', () => {
  const all = statusLines(body, 80)
  const last = lastOffset(body, 80, 13)
  expect(last).toBe(all.length - 11)
  const lines = liveScreen({ ...facts, offset: last }, 80, 13)
  expect(lines.slice(1, 12)).toEqual(all.slice(-11))
  expect(lines.at(-1)).toContain(`lines ${last + 1} to ${all.length} of ${all.length}`)
  expect(liveScreen({ ...facts, offset: 9_999 }, 80, 13)).toEqual(lines)
})

test('a daemon that answers no more is said at the foot, and what is shown is called old', () => {
  expect(liveScreen({ ...facts, problem: 'No perpd answers.' }, 80, 24).at(-1)).toBe(
    'NO ANSWER, figures are old: No perpd answers.',
  )
})

test('colours are in the lines only where they are asked for, and change no word', () => {
  const halted = { ...facts, body: { ...body, tradingState: 'halted' as const } }
  const plain = liveScreen(halted, 80, 40)
  const colored = liveScreen({ ...halted, hasColor: true }, 80, 40)
  expect(plain.join('')).not.toContain('\u001b')
  expect(colored.find((line) => line.includes('halted'))).toContain('\u001b[33m')
  expect(colored.map(stripVTControlCharacters)).toEqual(plain)
})

test('no line is wider than the screen and there are never more than its rows, whatever hosts name', () => {
  const sizes = fc.record({
    columns: fc.integer({ min: 1, max: 200 }),
    rows: fc.integer({ min: 1, max: 80 }),
    offset: fc.integer({ min: 0, max: 100 }),
    problem: fc.option(fc.string({ unit: 'binary' }), { nil: undefined }),
    host: fc.string({ unit: 'binary', maxLength: 300 }),
  })
  fc.assert(
    fc.property(sizes, ({ columns, rows, offset, problem, host }) => {
      const told = {
        ...facts,
        offset,
        body: { ...body, apiHosts: [host] },
        ...(problem !== undefined && { problem }),
      }
      const lines = liveScreen(told, columns, rows)
      expect(lines.length).toBeLessThanOrEqual(rows)
      for (const line of lines) {
        expect(line.length).toBeLessThanOrEqual(columns)
        expect(line).not.toMatch(/\p{Cc}/u)
      }
    }),
  )
})
