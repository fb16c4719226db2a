/** Strategy files as people write them: a number that two people read in two ways is none. */
import { expect, test } from 'vitest'
import { setField } from '../../src/engine/roster/setField.ts'
import { parseYaml } from '../../src/strategy/files/yamlFile.ts'

const read = (text: string): unknown => {
  const file = parseYaml('mine.yaml', text)
  return 'placeOf' in file ? file.value : file.map(({ message }) => message).join('\n')
}

test.each(['0x10', '0o10', '010', '-010', '00.5'])(
  'usd: %s is refused, and is a text in quotes',
  (number) => {
    expect(read(`size: { usd: ${number} }\n`)).toContain('with a leading zero')
    expect(read(`size: { usd: "${number}" }\n`)).toEqual({ size: { usd: number } })
  },
)

test.each([
  ['10', 10],
  ['0', 0],
  ['0.5', 0.5],
  ['.5', 0.5],
  ['-0.5', -0.5],
  ['1e3', 1000],
  ['0e0', 0],
])('usd: %s is %d', (text, value) => {
  expect(read(`size: { usd: ${text} }\n`)).toEqual({ size: { usd: value } })
})

test('a file that asks for an older YAML is refused, in which on is true and 1:30 is ninety', () => {
  expect(read('%YAML 1.1\n---\nenabled: on\n')).toContain('remove the line %YAML 1.1')
  expect(read('%YAML 1.2\n---\nenabled: on\n')).toEqual({ enabled: 'on' })
})

test('lines may end as on any machine, and problems have their places', () => {
  const lines = ['kind: trend', 'size:', '  usd: 50', '']
  for (const end of ['\n', '\r\n', '\r']) {
    expect(read(lines.join(end))).toEqual({ kind: 'trend', size: { usd: 50 } })
    expect(read([...lines, '  usd: 0x1'].join(end))).toContain('mine.yaml:5')
  }
})

test.each(['&a 40', '!!str 40', '|', '>', '@', '%', '`', '? x', ': x', '*a', '[1]', '40 # x', ' 40'])(
  'a value that is typed as %s is not written into a file, and no parser speaks of it',
  (value) => {
    const { ok, ...rest } = setField('size: { usd: 50 }\n', 'size.usd', value)
    expect([ok, 'code' in rest && rest.code]).toEqual([false, 'VALUE_NOT_ONE_VALUE'])
    expect('reason' in rest && rest.reason).not.toMatch(/Plain value|mappings|line 1/)
  },
)
