/** A proof holds while nothing changed that it depends on, and no longer. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { deepTests, processTests } from '../deepTests.ts'
import { ofShare, shareOfChange } from './depth.ts'
import { processorMs } from './processorTime.ts'
import { proofKeys, type Tree, treeOf } from './proofKey.ts'
import { proofPage } from './proofTable.ts'
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

test('what tests of one folder share makes no test of another due that does not name it', () => {
  const changed = changedBy('test/world/operated.ts')
  expect(changed).toContain('test/world/killSwitch.test.ts')
  // It runs the program alone, and the image takes a strategy from the folder.
  expect(changed).not.toContain('test/cli/keys.test.ts')
  expect(changed).toContain('test/container/containerRun.test.ts')
})

test('the code of a page makes due what opens, packs or imports it, and no order that a killed process leaves', () => {
  for (const file of [
    'src/control/console/page/style.css',
    'src/control/console/page/views/positionsView.ts',
  ]) {
    const changed = changedBy(file, file.endsWith('.css') ? 'i { color: red }' : undefined)
    expect(changed).toEqual(
      expect.arrayContaining([
        'test/world/consolePage.test.ts',
        'test/world/consoleAccounts.test.ts',
        'test/control/consoleAssets.test.ts',
        'test/container/containerRun.test.ts',
        'test/api/package.test.ts',
      ]),
    )
    expect(changed.length).toBeLessThan(files.length / 4)
    expect(changed).not.toContain('test/world/kill.test.ts')
    expect(changed).not.toContain('test/journal/postgresReplication.test.ts')
  }
  expect(changedBy('src/report/drawing/report.css', 'i { color: red }')).toContain(
    'test/report/reportBrowser.test.ts',
  )
})

test('the code of backtests makes due what names it or imports it, and no order that a killed process leaves', () => {
  const changed = changedBy('src/backtest/fillBook.ts')
  expect(changed).toEqual(
    expect.arrayContaining([
      'test/backtest/exactRun.test.ts',
      'test/world/backtestKill.test.ts',
      'test/world/consoleRuns.test.ts',
      'test/report/reportBrowser.test.ts',
      'test/api/package.test.ts',
    ]),
  )
  expect(changed.length).toBeLessThan(files.length / 3)
  expect(changed).not.toContain('test/world/unwind.test.ts')
  // The daemon lists runs, so it loads the names of their files.
  expect(changedBy('src/backtest/runFiles.ts')).toContain('test/world/unwind.test.ts')
})

test('documents make no deep test due but those that read them', () => {
  const changed = changedBy('docs/orders.md')
  expect(changed.filter((file) => !/^test\/(docs\/|api\/package)/.test(file))).toEqual([])
  expect(changed).toContain('test/docs/recipes.test.ts')
})

test('a page of results makes the tests beside it due, and those that read documents', () => {
  const changed = changedBy('test/month/RESULTS.md')
  expect(changed).toContain('test/month/backtestMonth.test.ts')
  expect(changed.filter((file) => !/^test\/(month|docs|api\/package)/.test(file))).toEqual([])
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
    const proofs = {
      b: { key: '9', seconds: 1 },
      a: { key: '1', seconds: 40, processor: 12 },
      c: { seconds: 2 },
    }
    writeProofs(proofs, path)
    expect(readProofs(path)).toEqual(proofs)
    expect(unproven(['a', 'b', 'c', 'd'], now, readProofs(path))).toEqual(['b', 'c', 'd'])
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('the page of proofs is of the record', () => {
  const page = readFileSync(join(import.meta.dirname, 'PROOFS.md'), 'utf8')
  expect(page).toBe(proofPage(readProofs()))
})

afterEach(() => {
  vi.unstubAllEnvs()
})

test('as many changes as there are parts try every case once, and without a change all are tried', () => {
  const cases = [...'abcdefgh']
  const tried = [7, 8, 9].flatMap((change) => {
    vi.stubEnv('GATE_CHANGE', String(change))
    return ofShare(cases, shareOfChange(3))
  })
  expect(tried.toSorted()).toEqual(cases)
  vi.stubEnv('GATE_CHANGE', undefined)
  expect(ofShare(cases, shareOfChange(3))).toEqual(cases)
})

test('a change that is no number is refused, and nothing is tried in its name', () => {
  for (const asked of ['-1', '0.5', 'all']) {
    vi.stubEnv('GATE_CHANGE', asked)
    expect(() => shareOfChange(3), asked).toThrow(RangeError)
  }
})

test.skipIf(process.platform !== 'linux')(
  'the processor time of a file has that of the processes that it started',
  () => {
    const before = processorMs()
    const own = process.cpuUsage()
    const busy = 'const end = process.cpuUsage().user + 300_000; while (process.cpuUsage().user < end);'
    expect(spawnSync(process.execPath, ['-e', busy]).status).toBe(0)
    const { user, system } = process.cpuUsage(own)
    expect(processorMs() - before - (user + system) / 1_000).toBeGreaterThan(250)
  },
)
