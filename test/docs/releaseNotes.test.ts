/** Release notes are a part of the changelog. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { releaseNotes } from '../../scripts/releaseNotes.ts'

const changelog =
  '# Changelog\n\n## 0.3.0: more\n\n- Added c.\n\n## 0.2.0 (2026-11-01)\n\n- Added b.\n\n## 0.1.0\n\n'

test('the notes of a version are its own entries and no others', () => {
  expect(releaseNotes(changelog, '0.2.0')).toBe('- Added b.')
  expect(releaseNotes(changelog, '0.3.0')).toBe('- Added c.')
  expect(releaseNotes(changelog)).toBe('- Added c.')
})

test('a version that is not there, or of which nothing is said, is refused with what is there', () => {
  expect(() => releaseNotes(changelog, '0.4.0')).toThrow('It has: 0.3.0, 0.2.0, 0.1.0.')
  expect(() => releaseNotes(changelog, '0.1.0')).toThrow('says nothing')
})

test('the changelog has notes of the version of the package', () => {
  const textOf = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
  const { version } = JSON.parse(textOf('package.json')) as { version: string }
  expect(releaseNotes(textOf('CHANGELOG.md'), version)).toMatch(/^- \*\*/m)
})
