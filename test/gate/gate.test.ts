/** A proof holds while nothing changed that it depends on, and no longer. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { deepTests, processTests } from '../deepTests.ts'
import { proofKeys, type Tree, treeOf } from './proofKey.ts'
import { readProofs, unproven, writeProofs } from './proven.ts'

const tree = treeOf(resolve(import.meta.dirname, '..', '..'))
const files = [...deepTests, ...processTests].map((file) => `test/${file}`)
const keys = proofKeys(tree, files)

/** The test files whose key differs once a line is added to a file: of code if it is code. */
function changedBy(
  file: string,
  line = file.endsWith('.ts') ? 'export const added = 1' : '',
): readonly string[] {
  expect(tree.files).toContain(file)
  const changed: Tree = {
    files: tree.files,
    read: (each) =>
      each === file ? Buffer.concat([tree.read(each), Buffer.from(`\n${line}\n`)]) : tree.read(each),
  }
  const now = proofKeys(changed, files)
  return files.filter((each) => now.get(each) !== keys.get(each))
}

test('a change of the order machine reaches whatever runs it at any distance, and no test of the venue alone', () => {
  const changed = changedBy('src/domain/machine/step.ts')
  expect(changed).toEqual(
    expect.arrayContaining([
      'test/simulation/crashPoints.test.ts',
      'test/simulation/mutants.test.ts',
      'test/month/month.test.ts',
      'test/world/kill.test.ts',
    ]),
  )
  expect(changed).not.toContain('test/paper/ledger.test.ts')
  expect(changed).not.toContain('test/contract/hashing.test.ts')
})

test('a comment of the source makes nothing due, and a word of a text does', () => {
  const machine = 'src/domain/machine/step.ts'
  expect(changedBy(machine, '// A word for readers.')).toEqual([])
  expect(changedBy(machine, "export const word = 'a'")).not.toEqual([])
})

test('a test of seeded bugs is due when a bug, a judge or a patched file changes, and for no other file of the source', () => {
  const mutants = 'test/simulation/engineMutants.test.ts'
  expect(changedBy('test/simulation/engineMutants.ts')).toContain(mutants)
  expect(changedBy('test/simulation/engineChecks.ts')).toContain(mutants)
  expect(changedBy('src/daemon/trader.ts')).not.toContain(mutants)
})

test('documents make no deep test due but those that read them', () => {
  const changed = changedBy('docs/orders.md')
  expect(changed.filter((file) => !/^test\/(docs\/|api\/package)/.test(file))).toEqual([])
  expect(changed).toContain('test/docs/recipes.test.ts')
})

test('a snapshot makes its own test due and no other', () => {
  expect(changedBy('test/world/__snapshots__/firstDay.test.ts.snap')).toEqual(['test/world/firstDay.test.ts'])
})

test('the lock file and fixtures make every file due', () => {
  expect(changedBy('package-lock.json')).toEqual(files)
  expect(changedBy('test/fixtures/messages.json')).toEqual(files)
})

test('another version of Node makes every file due', () => {
  const other = proofKeys(tree, files, 'v99.0.0')
  expect(files.filter((file) => other.get(file) === keys.get(file))).toEqual([])
})

test('a file is due until its own key stands in the record, which is read as it was written', () => {
  const folder = mkdtempSync(join(tmpdir(), 'perpd-gate-'))
  try {
    const path = join(folder, 'proven.json')
    expect(readProofs(path)).toEqual({})
    const now = new Map([
      ['a', '1'],
      ['b', '2'],
      ['c', '3'],
    ])
    writeProofs({ b: { key: '9', seconds: 1 }, a: { key: '1', seconds: 40 } }, path)
    expect(readProofs(path)).toEqual({ a: { key: '1', seconds: 40 }, b: { key: '9', seconds: 1 } })
    expect(unproven(['a', 'b', 'c', 'd'], now, readProofs(path))).toEqual(['b', 'c', 'd'])
  } finally {
    rmSync(folder, { recursive: true })
  }
})
