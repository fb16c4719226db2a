/** What the source imports is what docs/reference/modules.md allows, of modules (top-level folders of src), of the folders in them, and of files. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { expect, test } from 'vitest'
import { parseAst } from 'vitest/node'
import { schema } from '../src/config/configSchema.ts'
import { laneNames } from '../src/domain/order/laneTable.ts'

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

/** The folder of a module that a file is in, at any depth below it; `.` for files that lie in the module's own folder. */
function insideOf(file: string): string {
  const parts = relative(source, file).split(sep)
  return parts.length > 2 ? (parts[1] ?? '') : '.'
}

/** Rows of a section of docs/reference/modules.md: the module of the first cell, and the names of the second. */
function rowsOf(title: string): readonly (readonly [module: string, names: readonly string[]])[] {
  const text = readFileSync(join(root, 'docs', 'reference', 'modules.md'), 'utf8')
  const [, section = ''] = text.split(`\n## ${title}\n`)
  const [own = ''] = section.split('\n## ')
  return [...own.matchAll(/^\| `(\w+)` \| ([^|]+) \|/gm)].map(([, module = '', names = '']) => [
    module,
    names.includes('nothing') ? [] : names.trim().replaceAll('`', '').split(/,\s*/),
  ])
}

/** Module to the modules it may import. */
const table = () => new Map(rowsOf('Who may import whom').map(([module, names]) => [module, new Set(names)]))

const files = filesBelow(source)
const allowed = table()

/** Module to its folders, each of which may import those before it. */
const order = new Map(rowsOf('Inside the modules'))

/** What each file imports of the source. */
const targets = new Map(
  files.map((file) => [
    file,
    importsOf(file)
      .filter((name) => name.startsWith('.'))
      .map((name) => resolve(dirname(file), name))
      .filter((target) => target.startsWith(source + sep)),
  ]),
)

test('every folder of the source has a row in docs/reference/modules.md, and every row a folder', () => {
  const folders = new Set(files.map(folderOf))
  expect([...allowed.keys()].sort()).toEqual([...folders].sort())
})

test('no import runs through a wall', () => {
  const broken = files.flatMap((file) =>
    (targets.get(file) ?? [])
      .filter((target) => folderOf(target) !== folderOf(file))
      .filter((target) => !allowed.get(folderOf(file))?.has(folderOf(target)))
      .map((target) => `${relative(root, file)} imports ${relative(root, target)}`),
  )
  expect(broken).toEqual([])
})

test('every folder inside a module stands in the order of its module, and no other does', () => {
  const inside = new Map<string, Set<string>>()
  for (const file of files) {
    inside.set(folderOf(file), (inside.get(folderOf(file)) ?? new Set()).add(insideOf(file)))
  }
  const divided = [...inside].filter(([, folders]) => folders.size > 1)
  const sorted = (entries: Iterable<readonly [string, Iterable<string>]>) =>
    Object.fromEntries([...entries].map(([module, folders]) => [module, [...folders].sort()]))
  expect(sorted(order)).toEqual(sorted(divided))
})

test('inside a module imports go one way, in the order of its folders', () => {
  const broken = files.flatMap((file) => {
    const folders = order.get(folderOf(file)) ?? []
    return (targets.get(file) ?? [])
      .filter((target) => folderOf(target) === folderOf(file))
      .filter((target) => folders.indexOf(insideOf(target)) > folders.indexOf(insideOf(file)))
      .map((target) => `${relative(root, file)} imports ${relative(root, target)}`)
  })
  expect(broken).toEqual([])
})

test('no files import each other, directly or around, types included', () => {
  const done = new Set<string>()
  const circles: string[] = []
  const walk = (file: string, path: readonly string[]): void => {
    const at = path.indexOf(file)
    if (at >= 0) circles.push([...path.slice(at), file].map((each) => relative(source, each)).join(' -> '))
    if (at >= 0 || done.has(file)) return
    for (const target of targets.get(file) ?? []) walk(target, [...path, file])
    done.add(file)
  }
  for (const file of files) walk(file, [])
  expect(circles).toEqual([])
})

test('a file is found by its name alone: no two files of the source have the same one', () => {
  const byName = Map.groupBy(
    files.filter((file) => basename(file) !== 'index.ts'),
    (file) => basename(file),
  )
  const twice = [...byName.values()].filter((same) => same.length > 1)
  expect(twice.map((same) => same.map((file) => relative(source, file)))).toEqual([])
})

/** Folders of paths, at any depth, whose name another one has too. */
function roomsOfOneName(paths: readonly string[]): readonly string[] {
  const folders = new Set(
    paths.flatMap((path) => {
      const parts = path.split(sep).slice(0, -1)
      return parts.map((_, at) => parts.slice(0, at + 1).join(sep))
    }),
  )
  return [...Map.groupBy(folders, (folder) => basename(folder)).values()]
    .filter((same) => same.length > 1)
    .flat()
}

test('no folder name in two rooms', () => {
  expect(roomsOfOneName(files.map((file) => relative(source, file)))).toEqual([])
  const planted = ['cli/books/a.ts', 'books/b.ts', 'books/c.ts', 'paper/d.ts'].map((path) =>
    path.replaceAll('/', sep),
  )
  expect(roomsOfOneName(planted)).toEqual([join('cli', 'books'), 'books'])
})

test('every file that docs/architecture.md names is there', () => {
  const text = readFileSync(join(root, 'docs', 'architecture.md'), 'utf8')
  const names = [...text.matchAll(/`((?:[\w-]+\/)*[\w-]+\.ts)`/g)].map(([, name = '']) => name)
  const isThere = (name: string) =>
    existsSync(join(root, name)) ||
    files.some((file) => relative(source, file) === name || basename(file) === name)
  expect(names.filter((name) => !isThere(name))).toEqual([])
})

/** Most files that lie in one folder: as many as a reader takes in at a glance. */
const MOST_FILES = 25

test('no folder of the source holds more files than can be looked through', () => {
  const full = [...Map.groupBy(files, dirname)].filter(([, inside]) => inside.length > MOST_FILES)
  expect(full.map(([folder, inside]) => `${relative(root, folder)}: ${inside.length}`)).toEqual([])
})

/** Most lines of a file, and of a function that is not a whole service (`create*`: its inner functions count each for itself). */
const [MOST_FILE_LINES, MOST_FUNCTION_LINES] = [400, 100]

/** Longer files, and why they are one. */
const longFiles: Readonly<Record<string, string>> = {
  'control/console/page/texts.ts': 'a catalogue, a line for each text of the page',
  'domain/limits/limitTable.ts': 'a table, a row for each limit',
}

/** A node of a syntax tree, as far as it is looked at. */
interface SyntaxNode {
  readonly type?: string
  readonly start?: number
  readonly end?: number
  readonly id?: { readonly name?: string } | null
  readonly key?: { readonly name?: string } | null
}

const isFunction = ({ type }: SyntaxNode) =>
  type === 'FunctionDeclaration' || type === 'FunctionExpression' || type === 'ArrowFunctionExpression'

/** Every function of a source, at any depth, by its own name or by what it is given to, with its lines. */
function functionsOf(text: string): readonly { readonly name: string; readonly lines: number }[] {
  const found: { readonly name: string; readonly lines: number }[] = []
  const walk = (value: unknown, name: string): void => {
    if (typeof value !== 'object' || value === null) return
    if (Array.isArray(value)) {
      for (const each of value) walk(each, name)
      return
    }
    const node: SyntaxNode = value
    const own = node.id?.name ?? node.key?.name ?? (node.type === 'CallExpression' ? '' : name)
    if (isFunction(node)) {
      found.push({ name: own || '(nameless)', lines: text.slice(node.start, node.end).split('\n').length })
    }
    const within = isFunction(node) ? '' : own
    for (const [key, inner] of Object.entries(node)) if (key !== 'id' && key !== 'key') walk(inner, within)
  }
  walk(parseAst(text, { lang: 'ts' }), '')
  return found
}

test('no file of the source is longer than one subject needs', () => {
  const long = files
    .map((file) => [relative(source, file), readFileSync(file, 'utf8').split('\n').length - 1] as const)
    .filter(([, lines]) => lines > MOST_FILE_LINES)
    .map(([name]) => name)
  expect(long.sort()).toEqual(Object.keys(longFiles).sort())
})

test('no function of the source is longer than can be read at once, but for whole services', () => {
  const long = files.flatMap((file) =>
    functionsOf(readFileSync(file, 'utf8'))
      .filter(({ name, lines }) => lines > MOST_FUNCTION_LINES && !/^create[A-Z]/.test(name))
      .map(({ name, lines }) => `${relative(root, file)} ${name}: ${lines}`),
  )
  expect(long).toEqual([])
})

test('functions are measured wherever they stand', () => {
  const text = `const table = { entry: () => {\n\n}, other() {\n} }\nfunction outer() {\n  return () => {\n  }\n}\nclass Some { method() {} }\n`
  expect(functionsOf(text)).toEqual([
    { name: 'entry', lines: 3 },
    { name: 'other', lines: 2 },
    { name: 'outer', lines: 4 },
    { name: '(nameless)', lines: 2 },
    { name: 'method', lines: 1 },
  ])
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
    ['protocol', 'domain', 'books', 'risk', join('strategy', 'kinds')].some((folder) =>
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

test('the two readings of the wire know nothing of the daemon, and nothing of each other', () => {
  for (const module of ['api', 'paper'])
    expect([...(allowed.get(module) ?? [])]).toEqual(['base', 'protocol'])
})

/** Packages that come along when these files are loaded: by imports of values, at any distance, none that is made on demand. */
function packagesOf(...entries: readonly string[]): readonly string[] {
  const packages = new Set<string>()
  const seen = new Set<string>()
  const walk = (file: string): void => {
    if (seen.has(file)) return
    seen.add(file)
    const text = readFileSync(file, 'utf8').replace(/\/\*[\s\S]*?\*\//g, '')
    const form =
      /(?:^|\n)(?:import|export) (?!type\b)(?:[^'"\n;]*(?:\{[^}]*\})?[^'"\n;]* from )?['"]([^'"]+)['"]/g
    for (const [, name = ''] of text.matchAll(form)) {
      if (!name.startsWith('.')) packages.add(name)
      else if (name.endsWith('.ts')) walk(resolve(dirname(file), name))
    }
  }
  for (const entry of entries) walk(join(source, entry))
  return [...packages].filter((name) => !name.startsWith('node:')).sort()
}

test('a short command loads no server, no series and nothing of the chain: it is mostly loading', () => {
  expect(packagesOf('cli/bin.ts', 'cli/main.ts', 'cli/setup/versionCommand.ts')).toEqual(['decimal.js'])
  expect(packagesOf('cli/main.ts', 'config/loadConfig.ts', 'cli/verbs/statusCommand.ts')).toEqual([
    'convict',
    'decimal.js',
    'zod',
  ])
})

test('a daemon loads no package before something of its own needs it', () => {
  const packages = packagesOf('cli/main.ts', 'cli/verbs/runCommand.ts', 'strategy/kinds/trend.ts')
  expect(packages).toContain('hono')
  const late = [
    'prom-client',
    'trading-signals',
    'pg',
    'nodemailer',
    'undici',
    'prom-client/lib/defaultMetrics.js',
  ]
  expect(packages.filter((name) => late.includes(name))).toEqual([])
})

test('values of viem come from its utilities and accounts: its root brings every client and action along, at each start', () => {
  const whole = /(?:^|\n)import (?!type )[^'"]*['"]viem['"]/
  const found = files.filter((file) => whole.test(readFileSync(file, 'utf8')))
  expect(found.map((file) => relative(root, file))).toEqual([])
  expect(whole.test("import { type Hex, keccak256 } from 'viem'")).toBe(true)
  expect(whole.test("import type { Hex } from 'viem'\nimport { keccak256 } from 'viem/utils'")).toBe(false)
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
 * Files that name a lane: the tables of what each is and how it works, and the paper venue, which is the other side of the wire.
 */
const namesLane = [
  'config/sections/accountSection.ts',
  'domain/order/laneTable.ts',
  'execution/lanes/shippedLanes.ts',
  'paper/requests/orderRoutes.ts',
  'paper/state/submitRecord.ts',
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

test('a comment of the source names no file that is gone', () => {
  const names = new Set(
    [...filesBelow(source), ...filesBelow(join(root, 'test'))].map((file) => basename(file)),
  )
  const gone = filesBelow(source).flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/^ *(?:\/?\*\*?|\/\/).*?\b([a-z]\w+\.ts)\)/gm)]
      .map(([, name = '']) => name)
      .filter((name) => !names.has(name) && name !== 'test.ts' && name !== 'mine.ts')
      .map((name) => `${relative(root, file)}: ${name}`),
  )
  expect(gone).toEqual([])
})

/** Comments that begin with a word after which a reader looks for the sentence; the first line of each. */
function indirectComments(text: string): readonly string[] {
  const begins = /^\s*(?:\/\*\*?|\/\/)\s*(?:What|Whether|Who|How|Of|That)\b/
  const lines = text.split('\n')
  return lines.filter((line, at) => {
    const isContinued =
      line.trimStart().startsWith('//') && lines[at - 1]?.trimStart().startsWith('//') === true
    const isOpened = /^\s*\/\*\*?$/.test(lines[at - 1] ?? '') && begins.test(line.replace(/^\s*\*/, '//'))
    return isOpened || (begins.test(line) && !isContinued)
  })
}

test('a comment says what a thing is or does: none begins with What, Whether, Who, How, Of or That', () => {
  const found = files.flatMap((file) =>
    indirectComments(readFileSync(file, 'utf8')).map((line) => `${relative(root, file)}: ${line.trim()}`),
  )
  expect(found).toEqual([])
  expect(
    indirectComments('/** What it is. */\n/**\n * How it is.\n */\n// Whether so,\n// that is it.\n'),
  ).toHaveLength(3)
  expect(
    indirectComments('/** Whatever. */\n/**\n * Howitzer.\n */\n// It is so,\n// that is it.\n'),
  ).toEqual([])
})

/** Words of texts for people that are not those of the field, or that a reader has to turn round first. */
const strangeWords =
  /\b(?:is told|by its word|of its own|looks after|reckons|lets it go on|comes to|what of it|in spite of|as they are|it goes on)\b/

/** The texts of a source: its literals and the parts of its templates, without comments. */
function textsOf(text: string): readonly string[] {
  const found: string[] = []
  const walk = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    const node: { readonly type?: string; readonly value?: unknown } = value
    if (node.type === 'Literal' && typeof node.value === 'string') found.push(node.value)
    if (node.type === 'TemplateElement') found.push((node.value as { readonly raw: string }).raw)
    for (const inner of Object.values(value)) walk(inner)
  }
  walk(parseAst(text, { lang: 'ts' }))
  return found
}

test('no text for people has words that are not those of the field', () => {
  const inSource = files
    .map((file) => [file, readFileSync(file, 'utf8')] as const)
    .filter(([, text]) => strangeWords.test(text))
    .flatMap(([file, text]) => textsOf(text).map((each) => [file, each] as const))
  const pages = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md') && !name.split(sep).includes('node_modules'))
    .map((name) => join(root, 'docs', name))
  const inPages = [...pages, join(root, 'README.md'), join(root, 'CONTRIBUTING.md')].flatMap((file) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .map((line) => [file, line] as const),
  )
  const found = [...inSource, ...inPages].filter(([, text]) => strangeWords.test(text))
  expect(found.map(([file, text]) => `${relative(root, file)}: ${text.slice(0, 120)}`)).toEqual([])
  const planted =
    "// it is told\nconst a = [`the ${b} is told`, 'a key of its own', \"its owner\", 'an exit goes only']"
  expect(textsOf(planted).filter((text) => strangeWords.test(text))).toEqual([' is told', 'a key of its own'])
})

test('no test asks what hour it is', () => {
  const tests = join(root, 'test')
  const clocks = /\.(?:get|set)(?:UTC)?Hours\(/
  const found = filesBelow(tests).filter((file) => clocks.test(readFileSync(file, 'utf8')))
  expect(found.map((file) => relative(tests, file))).toEqual([])
})

/** Calls that give a time in the zone of the machine. */
const localTimes =
  /\.(?:[gs]et(?:Hours|Minutes|Date|Day|Month|FullYear)|getTimezoneOffset|toLocale(?:Date|Time)String|to(?:Date|Time)String)\(|\bDateTimeFormat\([^{]*\)|new Date\(\w+,/

test('no file of the source reads or writes a time in the zone of the machine, but the one by which the console shows local times where that is chosen', () => {
  const telling = filesBelow(source).filter((file) => localTimes.test(readFileSync(file, 'utf8')))
  expect(telling.map((file) => relative(source, file))).toEqual(['control/console/page/shownTimes.ts'])
})

/** Most members of a set of dependencies: as many as one function can be said to need. */
const MOST_MEMBERS = 16

/** A node of a syntax tree that declares or takes types. */
interface TypeNode {
  readonly type?: string
  readonly id?: { readonly name?: string }
  readonly name?: string
  readonly expression?: TypeNode
  readonly typeName?: { readonly name?: string }
  readonly types?: readonly TypeNode[]
  readonly params?: readonly TypeNode[]
  readonly typeAnnotation?: TypeNode
  readonly left?: TypeNode
  readonly typeArguments?: { readonly params: readonly TypeNode[] } | null
  readonly extends?: readonly TypeNode[]
  readonly body?: { readonly body?: readonly unknown[] }
}

/** Interfaces with their own members and those that they extend, and the names of types that functions receive. */
function typesOf(texts: readonly string[]) {
  const declared = new Map<string, { readonly own: number; readonly from: readonly TypeNode[] }>()
  const handed = new Set<string>()
  const noteHanded = (type: TypeNode | undefined): void => {
    if (type?.typeName?.name !== undefined) handed.add(type.typeName.name)
    for (const each of type?.types ?? []) noteHanded(each)
  }
  const walk = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    if (!Array.isArray(value)) {
      const node: TypeNode = value
      const name = node.id?.name ?? ''
      if (node.type === 'TSInterfaceDeclaration')
        declared.set(name, { own: node.body?.body?.length ?? 0, from: node.extends ?? [] })
      if (isFunction(node as SyntaxNode))
        for (const each of node.params ?? [])
          noteHanded((each.typeAnnotation ?? each.left?.typeAnnotation)?.typeAnnotation)
    }
    for (const inner of Object.values(value)) walk(inner)
  }
  for (const text of texts) walk(parseAst(text, { lang: 'ts' }))
  const membersOf = (name: string | undefined): number => {
    const found = declared.get(name ?? '')
    if (found === undefined) return 0
    return found.from.reduce((sum, { expression, typeArguments }) => {
      const [of, keys] = typeArguments?.params ?? []
      const named = keys?.types?.length ?? 1
      if (expression?.name === 'Pick') return sum + named
      if (expression?.name === 'Omit') return sum + membersOf(of?.typeName?.name) - named
      return sum + membersOf(expression?.name)
    }, found.own)
  }
  return { handed, membersOf }
}

test('no function receives a set of dependencies that is larger than one function can need', () => {
  const { handed, membersOf } = typesOf(files.map((file) => readFileSync(file, 'utf8')))
  const sets = [...handed].filter((name) => /(?:Context|Parts|Facts)$/.test(name))
  const large = sets.map((name) => [name, membersOf(name)] as const).filter(([, most]) => most > MOST_MEMBERS)
  expect(large).toEqual([])
  const own = typesOf([
    'interface A { a: 1; b: 2 }\ninterface B extends A, Omit<C, "x"> { c: 3 }\ninterface C { x: 1; y: 2 }',
    'const take = (given: B & D, { a }: A = {}) => a\n',
  ])
  expect([...own.handed]).toEqual(['B', 'D', 'A'])
  expect(own.membersOf('B')).toBe(4)
})

/** Functions that put the daemon together. */
const compositions: Readonly<Record<string, string>> = {
  'daemon/trader.ts': 'createTrader',
  'daemon/engine.ts': 'createEngine',
  'daemon/connectTrader.ts': 'connectTrader',
  'account/watch/watchedAccount.ts': 'createWatchedAccount',
}

/** A declaration in a body, and what else is looked at of any node. */
interface BodyNode extends SyntaxNode {
  readonly kind?: string
  readonly name?: string
  readonly body?: { readonly body?: readonly BodyNode[] }
  readonly declaration?: BodyNode
  readonly declarations?: readonly { readonly id: unknown; readonly end: number }[]
}

/** Names that the body of a function uses before it declares them, in inner functions too, and those that it declares to be filled later. */
function forwardNames(text: string, functionName: string): readonly string[] {
  const program = parseAst(text, { lang: 'ts' }).body as readonly BodyNode[]
  const declared = program.map((node) => node.declaration ?? node)
  const body = declared.find(({ id }) => id?.name === functionName)?.body?.body ?? []
  const uses: { readonly name: string; readonly at: number }[] = []
  const named = (value: unknown, found: (name: string, at: number) => void): void => {
    if (typeof value !== 'object' || value === null) return
    const node: BodyNode = value
    if (node.type === 'Identifier') found(node.name ?? '', node.start ?? 0)
    const isPlainKey = node.type === 'Property' && !('shorthand' in node && node.shorthand === true)
    for (const [key, inner] of Object.entries(value)) {
      const isLabel =
        (key === 'key' && isPlainKey) || (key === 'property' && node.type === 'MemberExpression')
      if (!isLabel && key !== 'typeAnnotation') named(inner, found)
    }
  }
  named(body, (name, at) => uses.push({ name, at }))
  return body
    .filter(({ type }) => type === 'VariableDeclaration')
    .flatMap(({ kind, declarations = [], start = 0 }) =>
      declarations.flatMap(({ id }) => {
        const names: string[] = []
        named(id, (name) => names.push(name))
        return names.filter(
          (name) => kind !== 'const' || uses.some((use) => use.name === name && use.at < start),
        )
      }),
    )
}

test('what puts the daemon together names nothing that is not made yet, and fills nothing later', () => {
  const found = Object.entries(compositions).flatMap(([file, name]) => {
    const text = readFileSync(join(source, file), 'utf8')
    expect(text).toContain(`function ${name}(`)
    return forwardNames(text, name).map((forward) => `${file}: ${forward}`)
  })
  expect(found).toEqual([])
  const planted = `export function make(parts) {
    let late
    const emit = () => again.soon()
    const { a } = parts
    const again = { a, emit, late: 1 }
    return { ...again, b: { again } }
  }`
  expect(forwardNames(planted, 'make')).toEqual(['late', 'again'])
  expect(forwardNames(planted.replace('let late', '').replace('again.soon()', '1'), 'make')).toEqual([])
})

/** Uses of `Pick<` in the source; the number only becomes smaller. */
const MOST_PICKS = 148

test('a function takes a whole value or a role that has a name: few types are picked together from others', () => {
  const picks = files.flatMap((file) => [...readFileSync(file, 'utf8').matchAll(/\bPick</g)])
  expect(picks.length).toBeLessThanOrEqual(MOST_PICKS)
})

/** Spreads of a field or of nothing, as `...(x === undefined ? {} : { x })`. */
function conditionalSpreads(text: string): readonly string[] {
  const found: string[] = []
  const isEmpty = (node: SpreadNode | undefined) =>
    node?.type === 'ObjectExpression' && node.properties?.length === 0
  const walk = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    const node: SpreadNode = value
    const { argument } = node
    if (node.type === 'SpreadElement' && (isEmpty(argument?.consequent) || isEmpty(argument?.alternate)))
      found.push(text.slice(node.start, node.end).split('\n')[0] ?? '')
    for (const inner of Object.values(value)) walk(inner)
  }
  walk(parseAst(text, { lang: 'ts', preserveParens: false }))
  return found
}

/** A node of a syntax tree, as far as a spread is looked at. */
interface SpreadNode {
  readonly type?: string
  readonly start?: number
  readonly end?: number
  readonly argument?: SpreadNode
  readonly consequent?: SpreadNode
  readonly alternate?: SpreadNode
  readonly properties?: readonly unknown[]
}

/** Spreads of a field or of nothing that are left; the number only becomes smaller. */
const MOST_SPREADS = 56

test('an optional field is written with defined()', () => {
  const found = files.flatMap((file) =>
    conditionalSpreads(readFileSync(file, 'utf8')).map((spread) => `${relative(root, file)}: ${spread}`),
  )
  expect(found.length, found.join('\n')).toBeLessThanOrEqual(MOST_SPREADS)
  const planted =
    'const a = { ...(b === undefined ? {} : { b }), ...(c ? { c } : {}), ...defined({ d }), ...(e ? f : g) }'
  expect(conditionalSpreads(planted)).toHaveLength(2)
})
