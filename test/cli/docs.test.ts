import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { documents } from '../../scripts/documents.ts'

test('the documents printed from source are up to date: npm run docs', async () => {
  for (const [path, text] of await documents()) {
    expect(readFileSync(resolve(import.meta.dirname, '../..', path), 'utf8')).toBe(text)
  }
})
