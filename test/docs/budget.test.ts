/** Guides stay short: each fits a few screens, all of them an afternoon. What is looked up stands in docs/reference, how it is tested beside the tests. */
import { expect, test } from 'vitest'
import { pagesOf, pageText } from '../support/docPages.ts'

const guides = [
  ...['.', 'docs', 'docs/decisions'].flatMap(pagesOf),
  'strategies/README.md',
  'config/README.md',
]

/** Parts that `npm run docs` prints from rows of the source: they are reference, and a new row is no longer guide. */
const printed = /<!-- (?<name>[\w ]+) -->[\s\S]*?<!-- end of \k<name> -->/g

/** Words of a text, blocks of code included; bars of tables are no words. */
function wordsIn(text: string): number {
  return text
    .replaceAll(printed, '')
    .split(/\s+/)
    .filter((word) => /[\p{L}\p{N}]/u.test(word)).length
}

function linesIn(text: string): number {
  return text.trimEnd().split('\n').length
}

/** Lines of the guides that are longer than a reader's eye follows, but for tables and code. */
function wideLines(text: string): readonly string[] {
  const prose = text.replace(/^ *```.*?^ *```$/gms, '')
  return prose.split('\n').filter((line) => line.length > 180 && !/^\s*\|/.test(line))
}

test('all guides together have less than 30,000 words', () => {
  const words = guides.reduce((sum, path) => sum + wordsIn(pageText(path)), 0)
  expect(words).toBeLessThan(30_000)
  expect(words).toBeGreaterThan(10_000)
})

test.each(guides)('%s is a guide of less than 150 lines, none too wide', (path) => {
  expect(linesIn(pageText(path))).toBeLessThan(150)
  expect(wideLines(pageText(path))).toEqual([])
})

test('the README has a screen and a half, the changelog of a release one screen', () => {
  expect(linesIn(pageText('README.md'))).toBeLessThan(100)
  expect(wordsIn(pageText('README.md'))).toBeLessThan(900)
  const releases = pageText('CHANGELOG.md').split(/^## /m).slice(1)
  for (const release of releases) expect(linesIn(release), release.split('\n')[0]).toBeLessThan(50)
})

test('no cell of a table in a guide holds a paragraph', () => {
  const long = guides.flatMap((path) =>
    pageText(path)
      .split('\n')
      .filter((line) => line.startsWith('|'))
      .flatMap((line) => line.split('|'))
      .filter((cell) => cell.length > 700)
      .map((cell) => `${path}: ${cell.slice(0, 60)}`),
  )
  expect(long).toEqual([])
})

/** Words that a reader stumbles over; what to write instead stands with each. */
const stumbles: Readonly<Record<string, RegExp>> = {
  'continues, resumes': /\b(?:goes|go|went) on (?!top|that|this)/,
  'reports, is reported': /\b(?:is|are|was|were) told\b/,
  'manages, maintains': /\blooks? after\b/,
  'computes, counts': /\breckon/,
  'is, equals': /\bcomes? to (?:nothing|so|as|no)\b/,
  despite: /\bin spite of\b/,
  'next to, besides': /\bbeside\b/,
}

test.each(guides)('%s has none of the words that readers stumbled over', (path) => {
  const prose = pageText(path).replace(/^ *```.*?^ *```$/gms, '')
  const found = Object.entries(stumbles).flatMap(([better, word]) => {
    const [, line] = new RegExp(`^(.*${word.source}.*)$`, 'm').exec(prose) ?? []
    return line === undefined ? [] : [`${better}: ${line.slice(0, 100)}`]
  })
  expect(found).toEqual([])
})

test('every guide begins with its title and says at once what it is about', () => {
  for (const path of guides) expect(pageText(path), path).toMatch(/^# .+\n\n\S/)
})
