/** Every package that runs with perpd has its reason on docs/reference/dependencies.md. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '..')
const page = readFileSync(join(root, 'docs', 'reference', 'dependencies.md'), 'utf8')

interface Manifest {
  readonly version: string
  readonly license: string
  readonly dependencies: Readonly<Record<string, string>>
  readonly optionalDependencies: Readonly<Record<string, string>>
}

const manifestOf = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'))
const manifest = manifestOf('.')

/** Package names and licenses of the rows of one section's first table. */
function rowsOf(section: string): [names: string[], license: string][] {
  const text = page.slice(page.indexOf(`## ${section}`))
  const table = /\n\|---.*\n((?:\|.*\n)+)/.exec(text)?.[1] ?? ''
  return table
    .trim()
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .map((cells) => [(cells[1] ?? '').split(', ').map((name) => name.replaceAll('`', '')), cells[3] ?? ''])
}

test('the page of dependencies names every runtime package once, and no other', () => {
  const named = (section: string) => rowsOf(section).flatMap(([names]) => names)
  expect(named('Needed').sort()).toEqual(Object.keys(manifest.dependencies).sort())
  expect(named('Optional').sort()).toEqual(Object.keys(manifest.optionalDependencies).sort())
})

test('the licenses on the page are those of the packages', () => {
  const wrong = rowsOf('Needed').flatMap(([names, license]) =>
    names.filter((name) => manifestOf(join('node_modules', name)).license !== license),
  )
  expect(wrong).toEqual([])
})

test('versions are exact, and the packages of curves and hashes are those that viem brings', () => {
  const all = { ...manifest.dependencies, ...manifest.optionalDependencies }
  expect(Object.entries(all).filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([])
  const ofViem = manifestOf(join('node_modules', 'viem')).dependencies
  expect(manifest.dependencies['@noble/curves']).toBe(ofViem['@noble/curves'])
  expect(manifest.dependencies['@noble/hashes']).toBe(ofViem['@noble/hashes'])
})

test('the lockfile names no download address', () => {
  expect(readFileSync(join(root, 'package-lock.json'), 'utf8')).not.toContain('"resolved"')
})
