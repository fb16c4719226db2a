/** What no public source confirms stands in one list, docs/reference/unverified.md; the table of routes marks the same routes. */
import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { documentedRoutes } from '../../scripts/documentedRoutes.ts'

const root = new URL('../../', import.meta.url)
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8')

test('the routes that are marked unverified are those of the list', () => {
  const [, list = ''] = /^# .*\n([\s\S]*?)\nMessages\./.exec(read('docs/reference/unverified.md')) ?? []
  const listed = new Set([...list.matchAll(/`(\/[^`]+)`/g)].map(([, path]) => path))
  const marked = documentedRoutes.filter(({ note }) => note?.startsWith('unverified'))
  expect(marked.map(({ path }) => path).filter((path) => !listed.has(path))).toEqual([])
  expect([...listed].filter((path) => !marked.some((route) => route.path === path))).toEqual([])
})

test('no other page and no source calls a fact of the venue a guess or inferred', () => {
  const files = (folder: string): string[] =>
    readdirSync(new URL(folder, root), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(ts|md)$/.test(name) && !name.includes('node_modules'))
      .map((name) => folder + name)
  const told = [...files('src/'), ...files('docs/')].filter(
    (path) => path !== 'docs/reference/unverified.md' && /GUESS|\binferred\b/.test(read(path)),
  )
  expect(told).toEqual([])
})
