/** docs/reference/errors.md names every code of ours, and no other. */
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'

const root = resolve(import.meta.dirname, '..', '..')

/** Codes that the paper venue sends in the venue's name, and enum words of the contracts. */
const venueCodes = new Set(['INVALID_PARAMS', 'REQUEST_EXPIRED', 'INVALID_SIGNATURE'])

function sourceCodes(): Set<string> {
  const files = readdirSync(join(root, 'src'), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
    // The paper venue speaks with the venue's codes; its own faults all begin with PAPER_.
    .map((file) => ({ isPaper: file.includes('/src/paper/'), text: readFileSync(file, 'utf8') }))
  const codes = new Set<string>()
  for (const { isPaper, text } of files) {
    for (const [, code = ''] of text.matchAll(
      /(?:\bcode: |refused\(context, |serverCode \?\? |code: .* \? '[A-Z_]+' : )'([A-Z]+_[A-Z_]+)'/g,
    )) {
      if (!isPaper || code.startsWith('PAPER_')) codes.add(code)
    }
    for (const [, code = ''] of text.matchAll(
      /'((?:JOURNAL|KEY_FILE|KEYSTORE|PASSWORD|PROMPT|REMOTE_SIGNER|CONTROL_PORT|API)_[A-Z_]+)'/g,
    ))
      codes.add(code)
  }
  for (const code of venueCodes) codes.delete(code)
  return codes
}

test('every code of the source has its line in docs/reference/errors.md', () => {
  const text = readFileSync(join(root, 'docs', 'reference', 'errors.md'), 'utf8')
  const documented = new Set([...text.matchAll(/^\| `([A-Z_]+)` \|/gm)].map(([, code = '']) => code))
  const missing = [...sourceCodes()].filter((code) => !documented.has(code))
  expect(missing).toEqual([])
  const allSource = readdirSync(join(root, 'src'), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'))
    .join('\n')
  const gone = [...documented].filter((code) => !allSource.includes(`'${code}'`))
  expect(gone).toEqual([])
})
