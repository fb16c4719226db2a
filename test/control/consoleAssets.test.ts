/** What the console serves of files: the page's own and a few packages', as browsers can load them, and nothing else of the disk. */
import { execFile } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { isDeepStrictEqual, promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest'
import { parseAst } from 'vitest/node'
import { withoutTypes } from '../../src/base/browser/browserCode.ts'
import { createAssets } from '../../src/control/console/assets.ts'
import { shortModule, shortSheet, withVendoredImports } from '../../src/control/console/moduleText.ts'
import { createBuckets } from '../../src/control/guard/access.ts'
import type { ControlServer } from '../../src/control/server.ts'
import { type Answer, ask, handClock, openConsole } from './browser.ts'

const run = promisify(execFile)
const root = resolve(import.meta.dirname, '..', '..')
const scratch = mkdtempSync(join(tmpdir(), 'perpd-console-'))
const folder = join(scratch, 'page')
mkdirSync(join(folder, 'parts'), { recursive: true })
writeFileSync(join(scratch, 'secret.txt'), 'a secret')
writeFileSync(join(folder, 'index.html'), '<!doctype html>')
writeFileSync(join(folder, '.hidden.txt'), 'hidden')
writeFileSync(join(folder, 'parts', 'style.css'), 'body {}')
writeFileSync(join(folder, 'parts', 'mark.svg'), '<svg/>')
writeFileSync(join(folder, 'program.sh'), 'exit')
symlinkSync(join(scratch, 'secret.txt'), join(folder, 'link.txt'))
symlinkSync(scratch, join(folder, 'up'))
const moduleFile = join(folder, 'parts', 'view.ts')
writeFileSync(
  moduleFile,
  `import { h } from 'preact'\nimport { two } from './two.ts'\nexport const n: number = two(h)\n`,
)

let server: ControlServer
beforeEach(async () => {
  server = await openConsole({ clock: handClock(), pageFolder: folder })
})
afterEach(() => server.close())
afterAll(() => rmSync(scratch, { recursive: true }))

const get = (path: string): Promise<Answer> => ask(server, 'GET', path)
const typed = async (path: string) => {
  const { status, headers } = await get(path)
  return [status, headers['content-type']]
}

test('the page is served to everyone who reaches the port, each file with its type', async () => {
  const script = 'text/javascript; charset=utf-8'
  expect(await typed('/console/')).toEqual([200, 'text/html; charset=utf-8'])
  expect(await typed('/console/parts/style.css')).toEqual([200, 'text/css; charset=utf-8'])
  expect(await typed('/console/parts/mark.svg')).toEqual([200, 'image/svg+xml'])
  expect(await typed('/console/parts/view.ts')).toEqual([200, script])
  for (const name of ['preact', 'preact/hooks', 'htm', 'htm/preact', 'uplot', 'lightweight-charts'])
    expect([name, ...(await typed(`/console/vendor/${name}`))]).toEqual([name, 200, script])
  expect(await typed('/console/vendor/uplot.css')).toEqual([200, 'text/css; charset=utf-8'])
  const { status, headers } = await get('/console')
  expect([status, headers.location]).toEqual([303, '/console/'])
})

test('a browser may load and run what the console serves, and nothing else, in no frame', async () => {
  for (const path of ['/console/', '/console/parts/view.ts', '/console/vendor/preact', '/console/nothing']) {
    expect((await get(path)).headers).toMatchObject({
      'content-security-policy':
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'cache-control': 'no-store',
    })
  }
})

test('files are compressed for a browser that takes that, and plain for one that does not', async () => {
  const encoded = async (accepted?: string) => {
    const response = await fetch(`${server.localUrl}/console/vendor/lightweight-charts`, {
      headers: { 'accept-encoding': accepted ?? 'identity' },
    })
    return [response.headers.get('content-encoding'), (await response.text()).length]
  }
  const [, plain] = await encoded()
  expect(await encoded('gzip, deflate')).toEqual(['gzip', plain])
  expect(await encoded('br, gzip;q=0')).toEqual([null, plain])
  // Small files do not gain.
  const small = await fetch(`${server.localUrl}/console/`)
  expect([small.headers.get('content-encoding'), small.headers.get('vary')]).toEqual([
    null,
    'Accept-Encoding',
  ])
})

test('a module is served without types, with its packages by address, and anew when it changes', async () => {
  const { text } = await get('/console/parts/view.ts')
  expect(text).toBe(
    `import{h}from '/console/vendor/preact'\nimport{two}from './two.ts'\nexport const n=two(h)\n`,
  )
  writeFileSync(moduleFile, 'export const later: string = "x"\n')
  utimesSync(moduleFile, 2_000_000_000, 2_000_000_000)
  expect((await get('/console/parts/view.ts')).text).toBe('export const later="x"\n')
})

/** A tree of a program without the places of its parts, and of markup without its indentation, the line ends between its tags and values, and quotes around one word. Other texts have to be the same. */
function bare(node: unknown): unknown {
  if (typeof node !== 'object' || node === null) return node
  if (Array.isArray(node)) return node.map(bare)
  const { start: _, end: __, ...rest } = node as Readonly<Record<string, unknown>>
  const tag = (rest.tag as { readonly name?: string } | undefined)?.name
  return Object.fromEntries(
    Object.entries(rest).map(([key, value]) => [
      key,
      key === 'quasi' && tag === 'html' ? bareQuasi(value) : bare(value),
    ]),
  )
}

/** Markup, of whose texts the indentation means nothing. */
function bareQuasi(quasi: unknown): unknown {
  const { quasis, expressions } = quasi as {
    readonly quasis: readonly unknown[]
    readonly expressions: unknown
  }
  return [
    quasis.map((each) => {
      const { value } = each as { readonly value: { readonly raw: string } }
      return value.raw
        .replaceAll(/\n +/g, '\n')
        .replaceAll(/(?<=>|^)\n+(?=<)|\n+$/g, '')
        .replaceAll(/(?<=\s[\w-]+=)"([\w-]+)"(?=[\s/>])/g, '$1')
    }),
    bare(expressions),
  ]
}

test('a module is served without what no browser reads, and is the same program', () => {
  const page = join(root, 'src/control/console/page')
  const modules = readdirSync(page, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  )
  expect(modules.length).toBeGreaterThan(80)
  const assets = createAssets()
  for (const name of modules) {
    const served = String(assets.read(name)?.body)
    const whole = withVendoredImports(withoutTypes(readFileSync(join(page, name), 'utf8')))
    const [one, other] = [served, whole].map((text) => bare(parseAst(text)))
    expect([name, isDeepStrictEqual(one, other)]).toEqual([name, true])
    expect(served).not.toMatch(/^\s*\/[/*]/m)
  }
})

test('a sheet of styles is served without blanks and comments, and keeps those that part words', () => {
  const sheet =
    '/* why */\n.top > .bar,\n.menu {\n  margin: 0 auto;\n  inset: auto;\n}\n\n@media (max-width: 9px) {\n  a:hover {\n    color: rgb(0, 0, 10.5, 0.5);\n  }\n}\n'
  expect(shortSheet(sheet)).toBe(
    '.top>.bar,.menu{margin:0 auto;inset:auto}@media (max-width:9px){a:hover{color:rgb(0,0,10.5,.5)}}',
  )
})

test('code loses the blanks around its signs, and texts, patterns and templates keep theirs', () => {
  expect(shortModule('const a = (b) => b + + c / 2 / d\n')).toBe('const a=(b)=>b + + c/2/d\n')
  expect(shortModule('const a = b - (c + d[0]) + 1 - -e\n')).toBe('const a=b-(c+d[0])+1 - -e\n')
  expect(shortModule('const a =\n  b &&\n  c\n    ? d\n    : e\n')).toBe('const a=b&&c?d:e\n')
  expect(shortModule('html`<a class="b" tabindex="-1" title="c d">`\n')).toBe(
    'html`<a class=b tabindex=-1 title="c d">`\n',
  )
  expect(shortModule("const { a } = [ 'b = { c }', \"d ' = e\" ]\n")).toBe(
    "const{a}=['b = { c }',\"d ' = e\"]\n",
  )
  expect(shortModule('const a = / = [/ }] /g.test(b) ? 1 : 2\n')).toBe('const a=/ = [/ }] /g.test(b)?1:2\n')
  const hole = (code: string) => ['$', '{', code, '}'].join('')
  const nested = (inner: string) => `\`d } ${inner} = \``
  expect(shortModule(`const a = \`b = ${hole(` { c: ${nested(hole(' e + 1 '))} } `)} = f\`\n`)).toBe(
    `const a=\`b = ${hole(`{c:${nested(hole(' e+1 '))}}`)} = f\`\n`,
  )
})

test('the first page names every module that it needs, so that all are asked for at once, and not the library of the chart', () => {
  const index = String(createAssets().read('index.html')?.body)
  const named = [...index.matchAll(/rel=modulepreload href=([^>]+)>/g)].map(([, name = '']) => name)
  expect(named).toEqual(
    expect.arrayContaining(['consolePage.ts', 'views/ordersView.ts', 'vendor/preact/hooks']),
  )
  expect(named.filter((name) => /lightweight|candleChart|\.css/.test(name))).toEqual([])
  const assets = createAssets()
  for (const name of named)
    expect([name, assets.read(name)?.type]).toEqual([name, 'text/javascript; charset=utf-8'])
})

test('a browser may load the whole page four times at once, whatever the rate of requests is', async () => {
  await server.close()
  server = await openConsole({ clock: handClock() }, { requestsPerSecond: 1 })
  const load = async () => {
    const { text } = await get('/console/')
    const named = [...text.matchAll(/(?:href|src)="?(?!data:)([^">]+)/g)].map(
      ([, path = '']) => new URL(path, 'http://localhost/console/').pathname,
    )
    expect(named.length).toBeGreaterThan(90)
    return await Promise.all(named.map(async (path) => (await get(path)).status))
  }
  const loads = [await load(), await load(), await load(), await load()]
  expect(new Set(loads.flat())).toEqual(new Set([200]))
})

test('a bucket gives what it holds at once, then its rate, each asker its own', () => {
  let nowMs = 0
  const buckets = createBuckets(10, () => nowMs, 25)
  const taken = (asker: string) =>
    Array.from({ length: 40 }, () => buckets.take(asker)).filter(Boolean).length
  expect([taken('one'), taken('one'), taken('other')]).toEqual([25, 0, 25])
  nowMs = 1_500
  expect([taken('one'), taken('one')]).toEqual([15, 0])
  nowMs = 60_000
  expect(taken('one')).toBe(25)
})

test('the code of the page without that of its chart stays within its budget, and so does the chart', () => {
  const assets = createAssets()
  const page = join(root, 'src/control/console/page')
  // In the order of their names: a disk gives its own, and how well they are compressed hangs on it.
  const own = readdirSync(page, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(ts|css|html)$/.test(name))
    .toSorted()
  const bodies = [
    ...own,
    ...['preact', 'preact/hooks', 'htm', 'uplot', 'uplot.css'].map((name) => `vendor/${name}`),
  ].map((name) => Buffer.from(assets.read(name)?.body ?? '').toString())
  const whole = bodies.join('')
  expect(whole.length).toBeLessThan(400_000)
  expect(gzipSync(whole, { level: 9 }).byteLength).toBeLessThanOrEqual(120_000)
  const chart = assets.read('vendor/lightweight-charts')
  expect([Buffer.byteLength(chart?.body ?? '') < 200_000, (chart?.gzip?.byteLength ?? 0) < 64_000]).toEqual([
    true,
    true,
  ])
})

test('no path leads out of the folder, and only what a page is made of is served', async () => {
  for (const path of [
    '/console/../package.json',
    '/console/..%2fsecret.txt',
    '/console/%2e%2e/secret.txt',
    '/console/%2e%2e%2fsecret.txt',
    '/console/..\\secret.txt',
    '/console/..%5csecret.txt',
    '/console/parts/../../secret.txt',
    '/console//etc/passwd',
    '/console/%2fetc%2fpasswd',
    '/console/index.html%00.ts',
    '/console/.hidden.txt',
    '/console/link.txt',
    '/console/up/secret.txt',
    '/console/program.sh',
    '/console/parts',
    '/console/parts/',
    '/console/vendor/',
    '/console/vendor/hono',
    '/console/vendor/preact/package.json',
    '/console/vendor/../index.html',
    '/console/vendor/..%2f..%2fpackage.json',
    '/console/__proto__',
    '/console/constructor',
  ]) {
    const { status, text } = await get(path)
    // A path with dots may be tidied on the way: then it is one of the API, nobody's without a token, or of the page itself.
    const isOfPage = path === '/console/vendor/../index.html'
    expect([path, isOfPage || [400, 401, 404].includes(status)]).toEqual([path, true])
    expect(text).not.toMatch(/a secret|hidden|root:/)
  }
  expect((await ask(server, 'POST', '/console/index.html')).status).toBe(401)
})

test('only the packages of the page are renamed, and only where a module names them', () => {
  const named = (text: string) => withVendoredImports(text)
  expect(named(`import{options as n}from"preact";var t`)).toBe(
    `import{options as n}from"/console/vendor/preact";var t`,
  )
  expect(named(`import a,{b as c}from'preact/hooks';export*from"htm"`)).toBe(
    `import a,{b as c}from'/console/vendor/preact/hooks';export*from"/console/vendor/htm"`,
  )
  expect(named(`// One.\nimport 'uplot'\nimport {\n  h,\n  render,\n} from 'preact'\n`)).toBe(
    `// One.\nimport '/console/vendor/uplot'\nimport {\n  h,\n  render,\n} from '/console/vendor/preact'\n`,
  )
  for (const same of [
    `import { x } from './preact.ts'`,
    `import { x } from 'viem'`,
    `const text = "from 'preact'"`,
    `const from = 'preact'`,
    `reimport('preact')`,
  ])
    expect(named(same)).toBe(same)
})

test('no warning of Node reaches the terminal of whoever looks at the page', async () => {
  const program = `
    const { createAssets } = await import(${JSON.stringify(join(root, 'src/control/console/assets.ts'))})
    const { body } = createAssets(${JSON.stringify(folder)}).read('parts/view.ts')
    process.stdout.write(body.includes(':') ? 'typed' : 'served')`
  const { stdout, stderr } = await run(process.execPath, ['--input-type=module', '-e', program])
  expect([stdout, stderr]).toEqual(['served', ''])
})

test('what is built serves the page too, without network', async () => {
  const built = mkdtempSync(join(scratch, 'built-'))
  cpSync(join(root, 'package.json'), join(built, 'package.json'))
  for (const name of ['src', 'scripts', 'node_modules', 'tsconfig.json', 'tsconfig.build.json'])
    symlinkSync(join(root, name), join(built, name))
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    scripts: { build: string }
  }
  await run('sh', ['-c', `PATH="$PWD/node_modules/.bin:$PATH"; ${scripts.build}`], { cwd: built })
  const page = readdirSync(join(root, 'src/control/console/page')).filter((name) => /\.(html|ts)$/.test(name))
  expect(page).toContain('index.html')
  const program = `
    const { createAssets } = await import(${JSON.stringify(join(built, 'dist/control/assets.js'))})
    const names = ['vendor/preact', 'vendor/htm', 'vendor/uplot.css', ...${JSON.stringify(page)}]
    process.stdout.write(JSON.stringify(names.filter((name) => createAssets().read(name) === undefined)))`
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', program])
  expect(JSON.parse(stdout)).toEqual([])
}, 300_000)
