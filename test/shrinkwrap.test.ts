/** The shrinkwrap of the package, as `npm pack` has it made: what runs, each by its hash, and nothing for development. */
import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'

const root = join(import.meta.dirname, '..')
const folder = mkdtempSync(join(tmpdir(), 'shrinkwrap-'))
afterAll(() => rmSync(folder, { recursive: true }))

interface Entry {
  readonly version?: string
  readonly integrity?: string
  readonly resolved?: string
  readonly dev?: boolean
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: unknown
}

const read = (path: string) =>
  JSON.parse(readFileSync(path, 'utf8')) as { readonly packages: Readonly<Record<string, Entry>> }
const run = (...more: readonly string[]) =>
  execFileSync(process.execPath, [join(root, 'scripts/shrinkwrap.ts'), ...more], { cwd: folder })

/** Where a package that another one asks for lies: with it, else the nearest above it. */
function placeOf(packages: Readonly<Record<string, Entry>>, from: string, name: string): string | undefined {
  for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf('node_modules/') - 1))) {
    const place = at === '' ? `node_modules/${name}` : `${at}/node_modules/${name}`
    if (packages[place] !== undefined) return place
    if (at === '') return undefined
  }
}

test('the shrinkwrap holds every package that runs, by its hash and without an address, and none for development', () => {
  copyFileSync(join(root, 'package-lock.json'), join(folder, 'package-lock.json'))
  run()
  const { packages } = read(join(folder, 'npm-shrinkwrap.json'))
  const locked = read(join(folder, 'package-lock.json')).packages
  const { '': own, ...others } = packages
  expect(own?.devDependencies).toBeUndefined()
  for (const [path, entry] of Object.entries(others)) {
    expect([path, entry.dev, entry.resolved]).toEqual([path, undefined, undefined])
    expect([path, entry.integrity]).toEqual([path, expect.stringMatching(/^sha512-/)])
    expect([path, entry.version]).toEqual([path, locked[path]?.version])
  }
  // From what the package asks for, all that this asks for in turn.
  const seen = new Set<string>()
  const walk = (at: string): void => {
    for (const name of Object.keys(packages[at]?.dependencies ?? {})) {
      const place = placeOf(packages, at, name)
      expect([at, name, place]).toEqual([at, name, expect.any(String)])
      if (place === undefined || seen.has(place)) continue
      seen.add(place)
      walk(place)
    }
  }
  walk('')
  expect(seen.size).toBeGreaterThan(5)
})

test('it goes again after packing, so that a checkout installs by its lockfile', () => {
  run()
  run('--remove')
  expect(existsSync(join(folder, 'npm-shrinkwrap.json'))).toBe(false)
  run('--remove')
  const { scripts, files } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  expect(scripts.prepack).toContain('scripts/shrinkwrap.ts')
  expect(scripts.postpack).toBe('node scripts/shrinkwrap.ts --remove')
  expect(files).toContain('npm-shrinkwrap.json')
})
