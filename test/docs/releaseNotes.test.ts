/** Release notes are a part of the changelog. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { releaseNotes } from '../../scripts/releaseNotes.ts'

const changelog =
  '# Changelog\n\n## Unreleased\n\n- Added c.\n\n## 0.2.0 (2026-11-01)\n\n- Added b.\n\n## 0.1.0\n\n'

test('the notes of a version are its own entries and no others', () => {
  expect(releaseNotes(changelog, '0.2.0')).toBe('- Added b.')
  expect(releaseNotes(changelog, 'Unreleased')).toBe('- Added c.')
})

test('a version that is not there, or of which nothing is said, is refused with what is there', () => {
  expect(() => releaseNotes(changelog, '0.3.0')).toThrow('It has: Unreleased, 0.2.0, 0.1.0.')
  expect(() => releaseNotes(changelog, '0.1.0')).toThrow('says nothing')
})

test('what is not released yet is told by the changelog as it is', () => {
  const text = readFileSync(new URL('../../CHANGELOG.md', import.meta.url), 'utf8')
  expect(releaseNotes(text, 'Unreleased')).toMatch(/^- /)
})
