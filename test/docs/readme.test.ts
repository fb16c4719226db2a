/** README.md: what it says ships, commands take and settings are called is so. */
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { commands } from '../../src/cli/commandTable.ts'
import { settings } from '../../src/config/configSchema.ts'
import { builtInKinds } from '../../src/strategy/kinds/kinds.ts'

const root = resolve(import.meta.dirname, '../..')
const text = readFileSync(join(root, 'README.md'), 'utf8')
const flat = text.replace(/\s+/g, ' ')

test('for whom it is, what it costs and what is not there stand before all else, on a page of a screen and a half', () => {
  const [head = ''] = text.split('\n## ')
  const [before = ''] = head.split('```')
  expect([...before.matchAll(/^\*\*([^*:]+):\*\*/gm)].map(([, title]) => title)).toEqual([
    'For whom',
    'What it costs',
    'What is not there',
  ])
  expect(text.split('\n').length).toBeLessThan(95)
})

test('it counts the built-in kinds, those that trade and those that keep', () => {
  const [, ...counts] = /ships (\d+) kinds: (\d+) trade and (\d+) keep what there is/.exec(flat) ?? []
  const kinds = Object.values(builtInKinds)
  const trading = kinds.filter(({ opensPositions }) => opensPositions).length
  expect(counts.map(Number)).toEqual([kinds.length, trading, kinds.length - trading])
})

test('the files that it says run from the first start are those that are on', () => {
  const [, first = '', second = ''] =
    /Two files run from the first start, `(.+?)` and `(.+?)`/.exec(flat) ?? []
  const isOn = (name: string) => parse(readFileSync(join(root, 'strategies', name), 'utf8')).enabled !== false
  expect([first, second].map(isOn)).toEqual([true, true])
  expect(['eth-grid.yaml', 'btc-trend.yaml'].map(isOn)).toEqual([false, false])
})

test('every command that it lists is one, and takes --json', () => {
  const [, block = ''] = /## Look around\s+```\n(.*?)```/s.exec(text) ?? []
  const listed = [...block.matchAll(/perpd -- ([a-z]+)/g)].map(([, name = '']) => name)
  const more = [...block.matchAll(/also ([a-z, ]+)/g)].flatMap(([, names = '']) => names.trim().split(', '))
  expect(listed.length + more.length).toBeGreaterThan(12)
  const without = [...listed, ...more].filter(
    (each) => !commands.find(({ name }) => name === each)?.flags.some(({ name }) => name === 'json'),
  )
  expect(without).toEqual([])
})

test('every setting that it names is one, and every link leads to a file', () => {
  const sections = new Set(settings.map(({ key }) => key.split('.')[0]))
  const named = [...text.matchAll(/`([a-z]+)\.([A-Za-z]+)`/g)].filter(([, section]) =>
    sections.has(section ?? ''),
  )
  expect(named.length).toBeGreaterThan(5)
  for (const [, section, name] of named)
    expect(settings.map(({ key }) => key)).toContain(`${section}.${name}`)
  for (const [, path = ''] of text.matchAll(/\]\((?!http)([^)#]+)/g))
    expect(existsSync(join(root, path)), path).toBe(true)
})
