/** Colours that the page's scripts take from its sheet by name: one that is not there draws nothing. */
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'

const page = resolve(import.meta.dirname, '..', '..', 'src', 'control', 'console', 'page')

test('every colour that the page names is in its sheet, in the light and in the dark', () => {
  const [colours = '', sheet = ''] = ['colours.css', 'style.css'].map((file) =>
    readFileSync(join(page, file), 'utf8'),
  )
  const [light = '', dark = ''] = [...colours.matchAll(/:root \{([^}]*)\}/g)].map(([, block]) => block)
  const declared = (block: string): ReadonlySet<string> =>
    new Set([...block.matchAll(/^\s*(--[\w-]+):/gm)].map(([, name = '']) => name))
  const scripts = readdirSync(page, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.ts'),
  )
  const named = new Set(
    scripts.flatMap((file) =>
      [...readFileSync(join(page, file), 'utf8').matchAll(/'(--[\w-]+)'/g)].map(([, name = '']) => name),
    ),
  )
  const used = new Set([...sheet.matchAll(/var\((--[\w-]+)\)/g)].map(([, name = '']) => name))
  expect(named.size).toBeGreaterThan(5)
  expect([...named, ...used].filter((name) => !declared(light).has(name))).toEqual([])
  expect([...named].filter((name) => !declared(dark).has(name))).toEqual([])
})
