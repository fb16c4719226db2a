/** Text that people write: what is no JSON is refused with its place, a key that stands twice with both, UTF-16 by its name. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { fileBounds } from '../../src/base/boundedJson.ts'
import { parseStrict } from '../../src/base/strictJson.ts'
import { textOfBytes } from '../../src/base/textFile.ts'
import { readEnvironment, readFile } from '../../src/config/layers.ts'

const fixtures = join(import.meta.dirname, '../fixtures/typed')

test.each([
  [
    '{"a":1,}',
    'it is not JSON: at line 1 column 8 a key in double quotes is expected, and none after the last comma',
  ],
  ['{"a":[1,\n2,]}', 'it is not JSON: at line 2 column 3 a value is expected, and none after the last comma'],
  ["{'a':1}", 'it is not JSON: at line 1 column 2 a key in double quotes is expected'],
  ['{"a":1', 'it is not JSON: at line 1 column 7 it ends, and a comma or } is expected'],
  ['{"a":tru}', 'it is not JSON: at line 1 column 6 a value is expected'],
  ['{"a":1} x', 'it is not JSON: at line 1 column 9 nothing more is expected'],
  ['', 'it is not JSON: at line 1 column 1 it ends, and a value is expected'],
  [
    '{"a":{"x":1,\n"\\u0078":2}}',
    '"x" is set twice, at line 1 column 7 and at line 2 column 1; keep only one',
  ],
])('%j is refused with its place', (text, problem) => {
  expect(() => parseStrict(text, fileBounds)).toThrow(problem)
})

test('what is JSON is read as the parser of the language reads it, with the mark of an editor before it too', () => {
  const text = '\ufeff{"a":{"x":1},"b":{"x":-1.5e-7},"c":[{"x":null},{"x":"\\u00e9\\""}],"x":[],"a.x":true}'
  expect(parseStrict(text, fileBounds)).toEqual(JSON.parse(text.slice(1)))
})

test('a setting that stands twice in a file is refused with both places, with dots or without', () => {
  const problems: string[] = []
  readFile({ cwd: fixtures, file: 'duplicate-keys.json.txt', kind: 'file' }, (problem) =>
    problems.push(problem),
  )
  expect(problems).toEqual([
    'duplicate-keys.json.txt: "risk" is set twice, at line 3 column 3 and at line 5 column 3; keep only one.',
  ])
  const dotted = '{"risk.maxLeverage":2,\n"risk":{"maxLeverage":3}}'
  expect(() => parseStrict(dotted, fileBounds, true)).toThrow(
    '"risk.maxLeverage" is set twice, at line 1 column 2 and at line 2 column 9',
  )
  expect(readFileSync(join(fixtures, 'duplicate-keys.json.txt'), 'utf8')).toContain('"risk"')
})

test('UTF-16 is named as such, with its mark or without, and so is what is no text', () => {
  const utf16 = Buffer.from('\ufeff{"a":1}', 'utf16le')
  for (const bytes of [utf16, utf16.subarray(2), Buffer.from(utf16).swap16()])
    expect(() => textOfBytes(bytes)).toThrow('it is in UTF-16')
  expect(() => textOfBytes(Buffer.from([0x7b, 0xff, 0xfe]))).toThrow('it is not text in UTF-8')
  expect(textOfBytes(Buffer.from('\ufeffé'))).toBe('é')
})

test('a variable of a setting in small letters is refused and not passed over', () => {
  const problems: string[] = []
  readEnvironment(
    { perpd__risk__max_leverage: '2', Perpd__x: '1', PERPD__RISK__maxLeverage: '3' },
    (problem) => problems.push(problem),
  )
  expect(problems).toEqual([
    'env Perpd__x: write PERPD in capitals: PERPD__SECTION__KEY.',
    'env perpd__risk__max_leverage: write PERPD in capitals: PERPD__RISK__MAX_LEVERAGE.',
  ])
})
