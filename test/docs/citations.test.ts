/** What comments and pages cite stands in the repository: pages, numbered sections, headings, rules, routes and tests. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { documentedRoutes } from '../../scripts/documentedRoutes.ts'
import { documentedRules } from '../../scripts/documentedRules.ts'
import { docPages, pageText } from '../support/docPages.ts'

const root = resolve(import.meta.dirname, '..', '..')
const own = 'test/docs/citations.test.ts'

function textsBelow(folder: string): readonly (readonly [path: string, text: string])[] {
  return readdirSync(join(root, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && /\.(ts|md)$/.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .filter((path) => path !== own && !/^test\/fixtures\/|\bnode_modules\//.test(path))
    .map((path) => [path, joined(readFileSync(join(root, path), 'utf8'))])
}

/** Comments with their line breaks taken out: a citation may be broken by one. */
function joined(text: string): string {
  return text.replace(/\n[ \t]*(?:\*|\/\/) /g, ' ')
}

const texts = ['src', 'test', 'docs', 'bench', 'scripts'].flatMap(textsBelow)

/** Every match in every text that `isThere` denies. */
function gone(
  pattern: RegExp,
  isThere: (match: RegExpExecArray, path: string) => boolean,
): readonly string[] {
  return texts.flatMap(([path, text]) =>
    [...text.matchAll(pattern)]
      .filter((match) => !isThere(match, path))
      .map(([cited]) => `${path}: ${cited}`),
  )
}

const headings = new Map(
  docPages()
    .map((path) => [path.replace('docs/', ''), pageText(path)] as const)
    .map(([name, text]) => {
      // A paragraph that begins with bold words is a section too.
      const found = [...text.matchAll(/^(?:#+ (.*)$|\*\*([^*]+)\*\*)/gm)]
      return [name, found.map(([, heading, bold = '']) => heading ?? bold)] as const
    }),
)

test('no citation names a document that is not in the repository', () => {
  const outside =
    /\b(?:application|oracle|security|orders) document\b|\bhouse rules?\b|\((?:units: )?wire[:,]? [a-z]|[;,] wire:? (?:reads|orders|oracle|gaps|behaviours|eip712)|market-model|eip712-and-chain|(?<!docs\/)\borders\.md,? (?:\d|section)/gi
  expect(gone(outside, () => false)).toEqual([])
})

test('every page that is cited is there', () => {
  expect(gone(/\bdocs\/((?:[a-z]+\/)?[a-z-]+\.md)\b/g, ([, name = '']) => headings.has(name))).toEqual([])
})

test('no section of a page is cited by a number, which moves: by its heading', () => {
  expect(gone(/\bdocs\/(?:[a-z]+\/)?[a-z-]+\.md,? (?:section )?\d+\b/g, () => false)).toEqual([])
})

test('every heading of a page that is cited by its words is there', () => {
  const isThere = ([, name = '', words = '']: RegExpExecArray): boolean =>
    headings.get(name)?.some((heading) => heading.replace(/^\d+\. /, '').startsWith(words)) === true
  expect(gone(/\bdocs\/((?:[a-z]+\/)?[a-z-]+\.md), "([^"]+)"/g, isThere)).toEqual([])
})

test('every rule and route of docs/reference/api-coverage.md that is cited is there', () => {
  const rules = new Set(documentedRules.map(({ number }) => number))
  const routes = new Set(documentedRoutes.map(({ method, path }) => `${method} ${path}`))
  expect(rules.size).toBe(documentedRules.length)
  // A citation is a list: `docs/reference/api-coverage.md A3, GET /orders and A22 to A24`.
  const part = String.raw`(?:[AO]\d+|(?:GET|POST) \/[\w/{}-]*[\w}])`
  const list = new RegExp(
    String.raw`docs\/reference\/api-coverage\.md,? (${part}(?:(?:, | and | to )${part})*)`,
    'g',
  )
  const isThere = ([, cited = '']: RegExpExecArray): boolean =>
    cited.split(/, | and | to /).every((each) => rules.has(each) || routes.has(each))
  expect(gone(list, isThere)).toEqual([])
  expect(texts.filter(([, text]) => text.match(list) !== null).length).toBeGreaterThan(50)
})

test('every test file that is cited is there', () => {
  expect(
    gone(/(?<![\w/.-])(test\/[\w/-]+\.(?:test\.)?ts)\b(?!\.snap)/g, ([, path = '']) =>
      existsSync(join(root, path)),
    ),
  ).toEqual([])
})
