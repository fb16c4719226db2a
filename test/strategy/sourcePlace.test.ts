/** Where a kind's file is said to be wrong: the line of the value itself, else of what it is in. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { placesIn } from '../../src/strategy/files/sourcePlace.ts'

let folder: string | undefined
afterEach(() => {
  if (folder !== undefined) rmSync(folder, { recursive: true })
})

test('a field inside a list is at its own line, and at the line of the list where others have its name', () => {
  folder = mkdtempSync(join(tmpdir(), 'perpd-place-'))
  const path = join(folder, 'mine.ts')
  writeFileSync(
    path,
    [
      'export default defineStrategy({',
      '  decide() {',
      "    const stop = { type: 'stop-loss', triggerPrice: 8.06 }",
      '    return [{',
      '      tpsl: [stop],',
      '      facts: { $rsi: Number.NaN },',
      '      // reason: a comment makes nothing',
      "    }, { type: 'x' }]",
    ].join('\n'),
  )
  const lineOf = (field?: string) => Number(/:(\d+)$/.exec(placesIn(path)(field))?.[1])
  expect(lineOf('tpsl[0].triggerPrice')).toBe(3)
  expect(lineOf('tpsl[0].shareBps')).toBe(5)
  expect(lineOf('facts.$rsi')).toBe(6)
  // Of two lines nobody can tell which it was: both are named.
  expect(placesIn(path)('type')).toBe(`${path}:3 or 8`)
  for (const field of ['reason', undefined])
    expect(placesIn(path)(field)).toBe(`decide, which begins at ${path}:2`)
})
