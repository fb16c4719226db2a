/** What `npm test` tries, and what it leaves to `npm run test:deep` (CONTRIBUTING.md): nothing is dropped, and no room is left out. */
import { globSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { expect, test } from 'vitest'
import config from '../vitest.config.ts'
import { aloneTests, deepTests, processTests, QUICK_SECONDS, tiersOf } from './deepTests.ts'
import { readProofs } from './gate/proven.ts'
import { LongestFirst } from './longestFirst.ts'

const root = resolve(import.meta.dirname, '..')
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>
}

/** Every file that looks like a test, wherever it is. */
const testFiles = readdirSync(root, { withFileTypes: true, recursive: true })
  .filter((entry) => entry.isFile() && /\.(?:test|spec)\.[cm]?[jt]sx?$/.test(entry.name))
  .map((entry) => relative(root, join(entry.parentPath, entry.name)))
  .filter((file) => !/(?:^|\/)node_modules\//.test(file))
  .sort()

/** Test files by the name of their tier, as vitest.config.ts selects them. */
const tiers = new Map(
  (config.test?.projects ?? []).map((project) => {
    const { name, include = [], exclude = [] } = (project as { test: TierOptions }).test
    const left = new Set(globSync(exclude, { cwd: root }))
    return [name, globSync(include, { cwd: root }).filter((file) => !left.has(file))] as const
  }),
)

interface TierOptions {
  readonly name: string
  readonly include?: string[]
  readonly exclude?: string[]
}

const quick = [...(tiers.get('quick') ?? []), ...(tiers.get('quick-apart') ?? [])]

test('every test file is in one part of one of two tiers', () => {
  expect([...tiers.keys()]).toEqual(['quick', 'quick-apart', 'deep', 'deep-processes', 'deep-alone'])
  expect([...tiers.values()].flat().sort()).toEqual(testFiles)
})

test('every file that is named as deep is there, once', () => {
  const named = [...deepTests, ...processTests, ...aloneTests].map((file) => join('test', file))
  expect(named.filter((file) => !testFiles.includes(file))).toEqual([])
  expect(new Set(named).size).toBe(named.length)
})

test('a file that took longer than a quick one may is deep until it takes half as long, whatever it is about, and one that was never measured is quick', () => {
  const files = ['a/new.test.ts', 'a/slow.test.ts', 'a/fast.test.ts', 'world/slow.test.ts', 'house.test.ts']
  const secondsOf = (file: string) => (file.includes('fast') ? QUICK_SECONDS : QUICK_SECONDS + 1)
  const proofs = Object.fromEntries(
    files.slice(1).map((file) => [`test/${file}`, { seconds: secondsOf(file) }]),
  )
  const { quick, deep, processes } = tiersOf(files, proofs)
  const [, file = ''] = files
  const deepFor = (seconds: number) =>
    tiersOf([file], Object.fromEntries([[`test/${file}`, { key: '1', seconds }]]))
  expect([deepFor(QUICK_SECONDS), deepFor(QUICK_SECONDS / 2)].map((tiers) => tiers.quick.length)).toEqual([
    0, 1,
  ])
  // The walls stay with each change.
  expect(quick).toEqual(['a/new.test.ts', 'a/fast.test.ts', 'house.test.ts'])
  expect(deep).toContain('a/slow.test.ts')
  expect(processes).toContain('world/slow.test.ts')
})

test('files that take longest begin first, each group by itself', async () => {
  const groups = [deepTests, processTests]
  const given = groups.flatMap((files, groupOrder) =>
    files.map((file) => ({
      moduleId: join(import.meta.dirname, file),
      project: { config: { sequence: { groupOrder } } },
    })),
  )
  const vitest = { cache: { getTestSpecificationResult: () => undefined } }
  const sorted = await new LongestFirst(vitest as never).sort(given as never)
  const names = sorted.map(({ moduleId }) => relative(root, moduleId).split(sep).join('/'))
  const proofs = readProofs()
  expect(new Set(names.slice(0, deepTests.length))).toEqual(new Set(deepTests.map((file) => `test/${file}`)))
  for (const group of [names.slice(0, deepTests.length), names.slice(deepTests.length)]) {
    const seconds = group.map((file) => proofs[file]?.seconds ?? 0)
    expect(Math.max(...seconds)).toBeGreaterThan(30)
    expect(seconds).toEqual(seconds.toSorted((one, other) => other - one))
  }
})

test('the quick tier reads every room of the source', () => {
  const source = join(root, 'src')
  const rooms = readdirSync(source, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? [entry.name] : [],
  )
  const imported = quick.flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(/from '(\.[^']+)'/g)].map(([, name = '']) =>
      resolve(root, dirname(file), name),
    ),
  )
  const read = (room: string) => imported.some((file) => file.startsWith(join(source, room) + sep))
  expect(rooms.filter((room) => !read(room))).toEqual([])
})

test('the quick tier has the walls, a real start, a kill, and a handful of simulated worlds', () => {
  for (const file of [
    'house.test.ts',
    'world/chains.test.ts',
    'world/killOnce.test.ts',
    'world/killPaper.test.ts',
    'simulation/someSeeds.test.ts',
  ])
    expect(quick).toContain(join('test', file))
})

test('what must pass before a change lands runs both tiers', () => {
  const script = readFileSync(join(root, '.ci', 'run'), 'utf8')
  for (const command of ['npm test', 'npm run test:deep']) expect(script).toContain(command)
  expect(manifest.scripts.test).toBe('vitest run --project quick --project quick-apart')
  expect(manifest.scripts['test:deep']).toBe('node test/gate/run.ts')
})
