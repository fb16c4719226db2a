/** A checkout that somebody uses: what its user made there is no part of the package, and no test takes it for a file that ships. */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { shippedProfiles, shippedStrategies } from './shippedFiles.ts'

const root = resolve(import.meta.dirname, '..', '..')

test('the package names each of its strategies and profiles, and so takes none that its user made beside them', () => {
  const { files } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    files: readonly string[]
  }
  const named = files.filter((path) => path.startsWith('strategies') || path.startsWith('config'))
  for (const path of named) {
    expect(path).toMatch(/\.[a-z]+$/)
    expect([path, existsSync(join(root, path))]).toEqual([path, true])
  }
  expect(shippedStrategies.map((path) => relative(root, path))).toContain('strategies/eth-trend.yaml')
  expect(shippedProfiles.map((path) => relative(root, path))).toContain('config/arbitrum.json')
  // Of a checkout git knows what is perpd's own; a package that was unpacked has no git.
  if (!existsSync(join(root, '.git'))) return
  const tracked = execFileSync('git', ['ls-files', 'strategies', 'config'], { cwd: root, encoding: 'utf8' })
  // It names the checkout's compiler options, which no package has; init writes one that stands alone.
  const ofCheckout = 'strategies/tsconfig.json'
  expect([...named, ofCheckout].sort()).toEqual(tracked.trim().split('\n').sort())
})
