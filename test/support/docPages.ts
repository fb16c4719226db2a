/** The pages of the documentation by their paths in the repository; what builds the site beside them is none. */
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '..', '..')

/** Paths of the Markdown files that lie in a folder itself. */
export function pagesOf(folder: string): readonly string[] {
  return readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name))
}

/** Paths of every page below docs. */
export function docPages(): readonly string[] {
  return ['docs', 'docs/reference', 'docs/decisions'].flatMap(pagesOf)
}

/** The text of a page by its path in the repository. */
export function pageText(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}
