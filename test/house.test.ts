/** The walls: what the source imports is what docs/architecture.md allows. */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { expect, test } from 'vitest'
import { schema } from '../src/cli/config/schema.ts'
import { laneNames } from '../src/domain/lane.ts'

const root = resolve(import.meta.dirname, '..')
const source = join(root, 'src')

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
}

/** Every module a file names: static, type-only, re-exported and dynamic. */
function importsOf(file: string): string[] {
  const text = readFileSync(file, 'utf8').replace(/\/\*[\s\S]*?\*\//g, '')
  const named = text.matchAll(
    /(?:^|\n)\s*(?:import|export)\b[^'"\n;]*(?:\{[^}]*\}[^'"\n;]*)?['"]([^'"]+)['"]/g,
  )
  const dynamic = text.matchAll(/\bimport\(\s*['"]([^'"]+)['"]\s*\)/g)
  return [...named, ...dynamic].map((match) => match[1] ?? '')
}

const folderOf = (file: string) => relative(source, file).split(sep)[0] ?? ''

/** The table of docs/architecture.md: folder to the folders it may import. */
function table(): Map<string, ReadonlySet<string>> {
  const text = readFileSync(join(root, 'docs', 'architecture.md'), 'utf8')
  const section = text.slice(text.indexOf('## Who may import whom'), text.indexOf('## The pipeline'))
  const rows = section.matchAll(/^\| `(\w+)` \| ([^|]+) \|$/gm)
  return new Map(
    [...rows].map(([, folder = '', allowed = '']) => [
      folder,
      new Set(allowed.includes('nothing') ? [] : allowed.trim().split(/,\s*/)),
    ]),
  )
}

const files = filesBelow(source)
const allowed = table()

test('every folder of the source has a row in docs/architecture.md, and every row a folder', () => {
  const folders = new Set(files.map(folderOf))
  expect([...allowed.keys()].sort()).toEqual([...folders].sort())
})

test('no import runs through a wall', () => {
  const broken = files.flatMap((file) =>
    importsOf(file)
      .filter((name) => name.startsWith('.'))
      .map((name) => resolve(dirname(file), name))
      .filter((target) => target.startsWith(source + sep))
      .filter((target) => folderOf(target) !== folderOf(file))
      .filter((target) => !allowed.get(folderOf(file))?.has(folderOf(target)))
      .map((target) => `${relative(root, file)} imports ${relative(root, target)}`),
  )
  expect(broken).toEqual([])
})

test('no two folders import each other, directly or around', () => {
  const reach = (folder: string, seen: Set<string>): Set<string> => {
    for (const next of allowed.get(folder) ?? []) {
      if (!seen.has(next)) reach(next, seen.add(next))
    }
    return seen
  }
  const circles = [...allowed.keys()].filter((folder) => reach(folder, new Set()).has(folder))
  expect(circles).toEqual([])
})

test('relative imports carry their ending, and reach no file outside the project', () => {
  const broken = files.flatMap((file) =>
    importsOf(file)
      .filter((name) => name.startsWith('.'))
      .filter((name) => !/\.(ts|json)$/.test(name) || !resolve(dirname(file), name).startsWith(root + sep))
      .map((name) => `${relative(root, file)}: ${name}`),
  )
  expect(broken).toEqual([])
})

test('what decides reads no clock, file, network or randomness', () => {
  const pure = files.filter((file) =>
    ['domain', 'risk', join('strategy', 'kinds')].some((folder) =>
      relative(source, file).startsWith(folder + sep),
    ),
  )
  const effects =
    /\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\bsetTimeout\b|\bsetInterval\b|\bfetch\(|\bperformance\.|\bprocess\.|\bcrypto\./
  const impure = pure.flatMap((file) => {
    const text = readFileSync(file, 'utf8')
      .replace(/\/\*[\s\S]*?\*\//g, '')
      .replace(/\/\/.*$/gm, '')
    const found = effects.exec(text)
    const node = importsOf(file).find((name) => name.startsWith('node:'))
    return [
      ...(found ? [`${relative(root, file)}: ${found[0]}`] : []),
      ...(node ? [`${relative(root, file)}: ${node}`] : []),
    ]
  })
  expect(impure).toEqual([])
})

test('the legacy liquidity fields of the tickers are read by no file but the paper venue that serves them', () => {
  const readers = files
    .filter((file) => folderOf(file) !== 'paper')
    .filter((file) => {
      const code = readFileSync(file, 'utf8')
        .replace(/\/\*[\s\S]*?\*\//g, '')
        .replace(/\/\/.*$/gm, '')
      return /availableLiquidity(Long|Short)/.test(code)
    })
    .map((file) => relative(root, file))
  expect(readers).toEqual([])
})

/**
 * Files that name a lane: the tables of what each is and how it works, the setting that chooses one, and the paper venue, which
 * is the other side of the wire.
 */
const namesLane = [
  'cli/config/sections/account.ts',
  'domain/lane.ts',
  'execution/lanes.ts',
  'paper/orderRoutes.ts',
  'paper/record.ts',
]

test('no file asks for a lane by its name: what differs between lanes is in their own files and in two tables', () => {
  const name = new RegExp(`(['"\`])(?:${laneNames.join('|')})\\1|\\blane\\.(?:${laneNames.join('|')})\\b`)
  const found = files.filter((file) => {
    const code = readFileSync(file, 'utf8')
      .replace(/\/\*[\s\S]*?\*\//g, '')
      .replace(/\/\/.*$/gm, '')
    return name.test(code)
  })
  expect(found.map((file) => relative(source, file)).sort()).toEqual(namesLane)
})

test('strategies shipped with perpd and kinds of users import the strategy contract alone', () => {
  const broken = filesBelow(join(root, 'strategies')).flatMap((file) =>
    importsOf(file)
      .filter((name) => !['#strategy', '#indicators', 'decimal.js'].includes(name))
      .map((name) => `${relative(root, file)}: ${name}`),
  )
  expect(broken).toEqual([])
})

/** Files of tests that name the default port, as what is said, kept or refused; none of them asks or serves it. */
const namesPort = [
  'cli/control.test.ts',
  'control/attack.test.ts',
  'control/server.test.ts',
  'fuzz/readers.ts',
  'monitor/events.ts',
  'monitor/log.test.ts',
  'support/usersOwn.test.ts',
]

test('no test names the port, the state or the home of a user: what is a user\u2019s own is left alone', () => {
  const tests = join(root, 'test')
  const port = String(schema.control.port.default)
  const found = filesBelow(tests).map((file) => [relative(tests, file), readFileSync(file, 'utf8')] as const)
  expect(
    found
      .filter(([, text]) => new RegExp(`\\b${port}\\b`).test(text))
      .map(([name]) => name)
      .sort(),
  ).toEqual(namesPort)
  // The state of a checkout, or a home, by name: a test has folders of its own (test/support/usersOwn.ts ends it otherwise).
  const own = /\bhomedir\(|env\.HOME\b|join\(root, 'var'|resolve\(root, 'var'/
  const reaching = found
    .filter(([name, text]) => name !== 'house.test.ts' && own.test(text))
    .map(([name]) => name)
  expect(reaching).toEqual([])
})

test('no test asks what hour it is', () => {
  const tests = join(root, 'test')
  const clocks = /\.(?:get|set)(?:UTC)?Hours\(/
  const found = filesBelow(tests).filter((file) => clocks.test(readFileSync(file, 'utf8')))
  expect(found.map((file) => relative(tests, file))).toEqual([])
})
