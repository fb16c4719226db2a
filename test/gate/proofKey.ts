/**
 * Names what a deep test file proves by content. The key of a file is a hash over all that its result can depend on; while the key is the one of a
 * green run (test/gate/proven.json), running it again would prove the same thing again.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { parseAst } from 'vitest/node'
import { adversaryMutants } from '../adversary/mutants.ts'
import { fastMutants } from '../backtest/fastMutants.ts'
import { engineMutants } from '../simulation/engineMutants.ts'
import { fileMutants } from '../simulation/fileMutants.ts'
import { mutants } from '../simulation/mutants.ts'
import { rpcMutants } from '../simulation/rpcMutants.ts'

/** A tree of files as Git knows it: names from the root with `/`, and their bytes. */
export interface Tree {
  readonly files: readonly string[]
  readonly read: (file: string) => Buffer
}

/** The files that Git tracks below a root, and those that are new and not ignored, as they lie on the disk. */
export function treeOf(root: string): Tree {
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  })
  const files = [...new Set(listed.split('\0'))].filter((file) => {
    const path = join(root, file)
    return file !== '' && existsSync(path) && statSync(path).isFile()
  })
  return { files: files.sort(), read: (file) => readFileSync(join(root, file)) }
}

/** Tests of the judges: what they prove changes with the bugs, the worlds that the bugs run in, and the files that the bugs are planted in. */
const subjects: Readonly<
  Record<
    string,
    {
      readonly folder: string
      readonly bugs: readonly { readonly patches: readonly { readonly file: string }[] }[]
    }
  >
> = {
  'test/simulation/mutants.test.ts': { folder: 'test/simulation/', bugs: mutants },
  'test/simulation/engineMutants.test.ts': { folder: 'test/simulation/', bugs: engineMutants },
  'test/simulation/fileMutants.test.ts': { folder: 'test/simulation/', bugs: fileMutants },
  'test/simulation/rpcMutants.test.ts': { folder: 'test/simulation/', bugs: rpcMutants },
  'test/backtest/fastMutants.test.ts': { folder: 'test/backtest/', bugs: fastMutants },
  'test/adversary/mutants.test.ts': { folder: 'test/adversary/', bugs: adversaryMutants },
}

/** Every text between quotes that could be the path of a module or a file beside the one that names it. */
const NAMED_PATH = /['"`](\.{1,2}\/[^'"`\n$]*)['"`]/g

/** A file with one of these starts processes or looks at whole folders: its result can depend on every file of the source. */
const REACHES_ALL = /node:child_process|readdirSync|globSync|src\/cli\/bin/

/** A file with this takes files of the tests by their places from the root. */
const NAMES_TESTS = /['"`]test\//

/** Files whose content decides no test of the deep tier, but for those tests that read the documents. */
const isDocument = (file: string) => file.startsWith('docs/') || (file.endsWith('.md') && !file.includes('/'))

/** Rooms of the source that decide a test only if it names them beside its comments, or imports from them: no process that starts loads them. */
const namedRooms: readonly { readonly has: RegExp; readonly named: RegExp }[] = [
  // What the daemon and reports hand to a browser: a page is opened, asked for or written, or all that is shipped is packed.
  {
    has: /^src\/(control\/console\/page|report\/drawing)\//,
    named: /playwright|\/console\b|['"]npm['"]|['"]report['"]/,
  },
  // Backtests, reports and history, which commands of their own load, and the daemon for the console's runs and for a recording.
  {
    has: /^src\/(backtest|history|report)\/(?!runFiles\.ts)/,
    named:
      /['"]npm['"]|backtest|['"]report['"]|\bdata (get|import|list|check|export)|['"]data['"], *['"]|['"]record['"]|history|strategies\W{1,6}test\b/,
  },
]

/** Tells if a file is of such a room that none of these texts of tests names. */
function isUnnamed(texts: readonly string[]): (file: string) => boolean {
  const code = texts.map((text) => text.replaceAll(COMMENT, ''))
  const unnamed = namedRooms.filter(({ named }) => !code.some((text) => named.test(text)))
  return (file) => unnamed.some(({ has }) => has.test(file))
}

const isPage = (file: string) => namedRooms[0]?.has.test(file) === true

const COMMENT = /\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm

const isTest = (file: string) => file.startsWith('test/') && file.endsWith('.test.ts')

/** A snapshot is read by its own test alone. */
const isSnapshot = (file: string) => file.includes('/__snapshots__/')
const snapshotOf = (file: string) => `${dirname(file)}/__snapshots__/${basename(file)}.snap`

/** A page of results or proofs beside tests: it decides those of its folder, and those that read documents. */
const isTable = (file: string) => file.startsWith('test/') && file.endsWith('.md')

/** Data that any test may read by a name that it makes: everything beside code, documents, benches and the record of proofs itself. */
const isData = (file: string) =>
  !file.endsWith('.ts') &&
  !isDocument(file) &&
  !isSnapshot(file) &&
  !isPage(file) &&
  !isTable(file) &&
  !file.startsWith('bench/') &&
  !file.startsWith('deploy/') &&
  !file.startsWith('test/gate/') &&
  !['package.json', '.ci/run'].includes(file)

/** Fields of a syntax tree that say where something stands, and not what it is. */
const placeFields: ReadonlySet<string> = new Set(['start', 'end', 'range', 'loc'])

/** Hashes of syntax by the hash of the bytes: parsing the whole source takes seconds. */
const known = new Map<string, string>()

/** The hash of what of a file decides how it runs: of the source its syntax, so that comments and line breaks make nothing due; of all else its bytes. */
function meaningOf(file: string, bytes: Buffer): string {
  const raw = createHash('sha256').update(bytes).digest('hex')
  if (!file.startsWith('src/') || !file.endsWith('.ts')) return raw
  const before = known.get(raw)
  if (before !== undefined) return before
  const syntax = JSON.stringify(parseAst(bytes.toString('utf8'), { lang: 'ts' }), (key, value: unknown) =>
    placeFields.has(key) ? undefined : typeof value === 'bigint' ? `${value}n` : value,
  )
  const hash = createHash('sha256').update(syntax).digest('hex')
  known.set(raw, hash)
  return hash
}

/** What each file names of the tree, by literal paths: static and dynamic imports, workers, and files that lie beside it. */
function namedBy(tree: Tree): (file: string) => readonly string[] {
  const there = new Set(tree.files)
  const known = new Map<string, readonly string[]>()
  return (file) => {
    const before = known.get(file)
    if (before !== undefined) return before
    const text = file.endsWith('.ts') ? tree.read(file).toString('utf8') : ''
    const named = [...text.matchAll(NAMED_PATH)]
      .map(([, path = '']) =>
        relative(sep, resolve(sep, dirname(file), path))
          .split(sep)
          .join('/'),
      )
      .filter((path) => there.has(path))
    known.set(file, named)
    return named
  }
}

function closureOf(file: string, named: (file: string) => readonly string[]): ReadonlySet<string> {
  const closure = new Set([file])
  for (const each of closure) for (const other of named(each)) closure.add(other)
  return closure
}

/**
 * Returns the key of each test file, 16 hex digits. It changes with the code of any file that the test imports at whatever distance, with fixtures and other data,
 * the lock file, the tests' own setup and the version of Node. A test that starts processes or reads folders has every file of the source for its
 * closure, but for rooms that it does not name (`namedRooms`), and of the tests its own folder and the support; a test of seeded bugs has the simulation and the files in which the bugs are planted.
 */
export function proofKeys(
  tree: Tree,
  testFiles: readonly string[],
  nodeVersion = process.version,
): ReadonlyMap<string, string> {
  const hashes = new Map<string, string>()
  const hashOf = (file: string): string => {
    const before = hashes.get(file)
    if (before !== undefined) return before
    const hash = createHash('sha256')
      .update(meaningOf(file, tree.read(file)))
      .digest('hex')
    hashes.set(file, hash)
    return hash
  }
  const named = namedBy(tree)
  const setup = [
    ...closureOf('vitest.config.ts', named),
    ...closureOf('test/support/guardTests.ts', named),
    ...closureOf('test/support/bundleProgram.ts', named),
  ].filter((file) => !file.startsWith('test/gate/'))
  const common = [...new Set([...setup, ...tree.files.filter(isData)])]
  return new Map(
    testFiles.map((file) => {
      const own = tree.files.filter((each) => each === snapshotOf(file))
      const parts = new Set([...common, ...own, ...partsOf(tree, file, named)])
      const hash = createHash('sha256').update(nodeVersion)
      for (const part of [...parts].sort()) hash.update(`\n${part} ${hashOf(part)}`)
      return [file, hash.digest('hex').slice(0, 16)] as const
    }),
  )
}

function partsOf(tree: Tree, file: string, named: (file: string) => readonly string[]): readonly string[] {
  const subject = subjects[file]
  if (subject !== undefined) {
    const planted = subject.bugs.flatMap(({ patches }) => patches.map((patch) => patch.file))
    const worlds = tree.files.filter(
      (each) => (each.startsWith(subject.folder) || each.startsWith('test/simulation/')) && !isTest(each),
    )
    return [file, ...worlds, ...planted]
  }
  const closure = [...closureOf(file, named)]
  const tests = closure
    .filter((each) => each.startsWith('test/') && each.endsWith('.ts'))
    .map((each) => tree.read(each).toString('utf8'))
  const isLeftOut = isUnnamed(tests)
  const isBeside = (each: string) => isTable(each) && dirname(each) === dirname(file)
  if (!tests.some((text) => REACHES_ALL.test(text)))
    return [...closure, ...tree.files.filter((each) => (isPage(each) && !isLeftOut(each)) || isBeside(each))]
  const readsDocuments = file.startsWith('test/docs/') || file.startsWith('test/api/package')
  const readsTests = readsDocuments || tests.some((text) => NAMES_TESTS.test(text))
  const near = [`${dirname(file)}/`, 'test/support/']
  const isFar = (each: string) => each.startsWith('test/') && !near.some((folder) => each.startsWith(folder))
  return [
    ...closure,
    ...tree.files.filter(
      (each) =>
        !isTest(each) &&
        !isLeftOut(each) &&
        !isSnapshot(each) &&
        !each.startsWith('test/gate/') &&
        (readsTests || !isFar(each)) &&
        (readsDocuments || !isTable(each) || isBeside(each)) &&
        (readsDocuments || !isDocument(each)),
    ),
  ]
}
