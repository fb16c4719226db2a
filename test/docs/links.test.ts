/** Links between pages: each leads to a file of the repository, and to a heading that the page has. */
import { existsSync } from 'node:fs'
import { dirname, join, normalize, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { docPages, pagesOf, pageText } from '../support/docPages.ts'

const root = resolve(import.meta.dirname, '..', '..')
const folders = [
  '.',
  'config',
  'strategies',
  'test/simulation',
  'test/adversary',
  'test/month',
  'test/container',
]
const pages = [...docPages(), ...folders.flatMap(pagesOf)]

/** The anchor that a heading gets on GitHub and on the site. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[`*]|[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-')
}

function anchorsOf(path: string): ReadonlySet<string> {
  const text = pageText(path).replace(/^```.*?^```$/gms, '')
  return new Set([...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => anchorOf(heading)))
}

test.each(pages)('%s: every link leads somewhere', (page) => {
  const text = pageText(page).replace(/^```.*?^```$/gms, '')
  const gone = [...text.matchAll(/\]\((?!https?:|mailto:)([^)\s#]*)(?:#([^)\s]*))?\)/g)]
    .map(([, path = '', anchor]) => {
      return { target: path === '' ? page : normalize(join(dirname(page), path)), anchor }
    })
    .filter(
      ({ target, anchor }) =>
        !existsSync(join(root, target)) || (anchor !== undefined && !anchorsOf(target).has(anchor)),
    )
  expect(gone).toEqual([])
})
