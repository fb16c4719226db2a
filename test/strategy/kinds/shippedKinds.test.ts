import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { loadStrategies } from '../../../src/strategy/files/load.ts'
import { builtInKinds } from '../../../src/strategy/kinds/kinds.ts'

const folder = join(import.meta.dirname, '..', '..', '..', 'strategies', 'examples')
const files = readdirSync(folder).filter((name) => name.endsWith('.yaml'))

test('every example loads without a problem, is off, and is of a built-in kind', async () => {
  const { strategies, disabled, problems } = await loadStrategies([folder])
  expect(problems).toEqual([])
  expect(strategies).toEqual([])
  expect(disabled).toHaveLength(files.length)
})

test.each(files)('%s has params that its kind reads, and its needs name its markets', (name) => {
  const file = parse(readFileSync(join(folder, name), 'utf8'))
  const kind = builtInKinds[file.kind]
  const symbols = file.markets ?? (file.market === undefined ? [] : [file.market])
  const params = kind?.params.parse(file.params)
  expect(kind?.needs(params, symbols).symbols).toEqual(symbols)
})
