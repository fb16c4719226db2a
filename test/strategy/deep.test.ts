/** A strategy file that nests without end is a problem of that file. */
import { expect, test } from 'vitest'
import { parseYaml } from '../../src/strategy/files/yamlFile.ts'

test.each([
  ['lists', `kind: trend\nmarkets: ${'['.repeat(20_000)}${']'.repeat(20_000)}`],
  ['maps', `kind: ${'{a: '.repeat(5_000)}1${'}'.repeat(5_000)}`],
  ['blocks', Array.from({ length: 400 }, (_unused, depth) => `${' '.repeat(depth)}a:`).join('\n')],
  ['a file of a megabyte', `kind: trend\n# ${'x'.repeat(1_000_000)}`],
])('%s are refused with a sentence', (_name, text) => {
  const read = parseYaml('one.yaml', text)
  expect(Array.isArray(read) && read.length).toBeGreaterThan(0)
  expect((read as readonly Error[])[0]?.message).toMatch(
    /deeper than 32|more than 262144 characters|cannot be read/,
  )
})
