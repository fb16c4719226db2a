/** The package as its users have it: packed, installed in an empty folder; the daemon runs, and programs read `perpd/api`. */
import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { perpd, scratch, startPaper, until } from '../world/processes.ts'
import { cannotFetch, npmEnv as env, npm, packInto } from './packed.ts'

const run = promisify(execFile)
const root = resolve(import.meta.dirname, '..', '..')
const folder = scratch()
const user = join(folder.path, 'user')
let tarball = ''
let venue: Awaited<ReturnType<typeof startPaper>> | undefined

async function install(): Promise<void> {
  try {
    await npm(['install', '--prefer-offline', '--ignore-scripts', '--fetch-retries=0', tarball], user)
  } catch (error) {
    if (!cannotFetch.test(String((error as { stderr?: unknown }).stderr))) throw error
    // The tarball alone, beside the project's own copies of what it needs.
    const modules = join(user, 'node_modules')
    const installed = join(modules, 'perpd')
    mkdirSync(installed, { recursive: true })
    await run('tar', ['-xzf', tarball, '-C', installed, '--strip-components=1'])
    const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as {
      dependencies: Record<string, string>
    }
    for (const name of Object.keys(manifest.dependencies)) {
      mkdirSync(dirname(join(modules, name)), { recursive: true })
      symlinkSync(join(root, 'node_modules', name), join(modules, name))
    }
  }
}

beforeAll(async () => {
  mkdirSync(user)
  writeFileSync(join(user, 'package.json'), '{ "name": "user", "private": true, "type": "module" }\n')
  tarball = await packInto(folder.path)
  ;[venue] = await Promise.all([startPaper(), install()])
}, 600_000)

afterAll(async () => {
  venue?.child.kill('SIGTERM')
  await venue?.ended
  folder.remove()
  // Tens of thousands of installed files go, which takes a busy disk minutes.
}, 600_000)

/** Writes a program beside the installed package and runs it; gives what it printed. */
async function printed(name: string, program: string): Promise<unknown> {
  writeFileSync(join(user, name), program)
  const { stdout } = await run(process.execPath, [name, JSON.stringify(venue?.hosts)], { cwd: user, env })
  return JSON.parse(stdout)
}

const wanted = {
  symbol: 'ETH/USD [WETH-USDC]',
  price: expect.stringMatching(/^\$[\d,]+\.\d\d$/),
  unit: 'bigint',
  refusal: { code: 'API_REFUSED', status: 400, proves: 'refused' },
}

const body = `
  const nodeFetch = createNodeFetch()
  const api = createApi({
    chain: arbitrum,
    hosts: JSON.parse(process.argv[2] ?? ''),
    fetch: nodeFetch.fetch,
    clock: systemClock,
    random: Math.random,
  })
  const symbol = 'ETH/USD [WETH-USDC]'
  const { value } = await api.getMarketTickers({ symbols: [symbol] })
  const [ticker] = value
  const refusal = await api.getTradingCapacity({ symbol: 'no such market', direction: 'long' }).catch((error) => error)
  if (!(refusal instanceof RefusedError) || ticker === undefined) throw new Error('not refused, or no ticker')
  console.log(JSON.stringify({
    symbol: ticker.symbol,
    price: formatUsd(ticker.markPrice),
    unit: typeof ticker.markPrice,
    refusal: { code: refusal.code, status: refusal.status, proves: proves(refusal) },
  }))
  nodeFetch.close()
`
const names = 'arbitrum, createApi, createNodeFetch, formatUsd, proves, RefusedError, systemClock'

test('plain JavaScript reads the paper venue with the installed package', async () => {
  expect(await printed('module.js', `import { ${names} } from 'perpd/api'\n${body}`)).toEqual(wanted)
  expect(
    await printed('script.cjs', `const { ${names} } = require('perpd/api')\n;(async () => {${body}})()`),
  ).toEqual(wanted)
})

test('TypeScript reads it too, checked against the declarations of the package', async () => {
  const typed = `
    import { type Api, type Fetch, type Prepared, type Read, type Ticker, ${names} } from 'perpd/api'
    ${body}
    const read: Read<readonly Ticker[]> = { value, readAtMs: 0, host: '' }
    const price: bigint = ticker.markPrice
    const globalFetchFits: Fetch = globalThis.fetch
    const submit: (prepared: Prepared) => Promise<unknown> = (prepared) => api.getOrderStatus(prepared)
    // @ts-expect-error An amount is not a number.
    const float: number = ticker.markPrice
    // @ts-expect-error The legacy liquidity does not come out of the decoder.
    const legacy = ticker.availableLiquidityLong
    // @ts-expect-error There is no such route.
    const nothing: keyof Api = 'getNothing'
    void [read, price, globalFetchFits, submit, float, legacy, nothing]
  `
  expect(await printed('typed.ts', typed)).toEqual(wanted)
  writeFileSync(
    join(user, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: {
        strict: true,
        noEmit: true,
        target: 'es2024',
        module: 'nodenext',
        lib: ['es2024', 'dom'],
        types: ['node'],
        typeRoots: [join(root, 'node_modules', '@types')],
        exactOptionalPropertyTypes: true,
        skipLibCheck: false,
      },
      files: ['typed.ts'],
    }),
  )
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  const checked = await run(process.execPath, [tsc, '-p', user], { cwd: user }).catch((error) => error)
  expect(checked.stdout).toBe('')
}, 300_000)

/** The block of code of a guide that begins with this file's name. */
function exampleOf(guide: string, file: string): string {
  const text = readFileSync(join(root, 'docs', guide), 'utf8')
  const found = [...text.matchAll(/^```ts\n(.*?)^```/gms)].map(([, code = '']) => code)
  return found.find((code) => code.startsWith(`// strategies/${file}\n`)) ?? `no ${file} in ${guide}`
}

test('a kind and its test run beside the installed package as the guide has them, and have the right types', async () => {
  const command = join(user, 'node_modules', 'perpd', 'dist', 'cli', 'bin.js')
  await run(process.execPath, [command, 'init', '--yes'], { cwd: user, env })
  const strategies = join(user, 'strategies')
  writeFileSync(join(strategies, 'dip.ts'), exampleOf('strategies.md', 'dip.ts'))
  writeFileSync(join(strategies, 'dip.test.ts'), exampleOf('own-kinds.md', 'dip.test.ts'))
  const { NODE_TEST_CONTEXT: _context, ...alone } = env
  const tested = await run(process.execPath, ['--test', 'strategies/dip.test.ts'], { cwd: user, env: alone })
  expect(tested.stdout).toContain('pass 2')
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  const roots = join(root, 'node_modules', '@types')
  const typed = () =>
    run(process.execPath, [tsc, '-p', 'strategies', '--typeRoots', roots], { cwd: user }).then(
      ({ stdout }) => stdout,
      ({ stdout }) => stdout as string,
    )
  expect(await typed()).toBe('')
  writeFileSync(
    join(strategies, 'dip.test.ts'),
    exampleOf('own-kinds.md', 'dip.test.ts').replace('usd(200)', '200'),
  )
  expect(await typed()).toMatch(/dip\.test\.ts\(\d+,\d+\): error TS2322/)
}, 300_000)

test('the package holds what was built and what it reads, and no TypeScript but declarations and the pages of console and report', async () => {
  const { stdout } = await npm(['pack', '--json', '--dry-run', '--ignore-scripts'], root)
  const [{ files }] = JSON.parse(stdout) as [{ files: readonly { path: string }[] }]
  const paths = files.map(({ path }) => path)
  expect(paths).toEqual(
    expect.arrayContaining([
      'LICENSE',
      'config/paper.json',
      'dist/api/index.d.ts',
      'dist/api/index.js',
      'dist/cli/bin.js',
      'dist/control/console/page/index.html',
      'dist/daemon/kindThread.js',
      'dist/paper/catalog/recorded/arbitrum.json',
      'dist/report/drawing/drawReport.ts',
      'strategies/eth-trend.yaml',
      'strategies/examples/eth-carry.yaml',
      'strategies/strategy.schema.json',
    ]),
  )
  const isMeant = (path: string) =>
    path.endsWith('.d.ts') || /^dist\/(control\/console\/page|report\/drawing)\//.test(path)
  expect(paths.filter((path) => path.endsWith('.ts') && !isMeant(path))).toEqual([])
})

test('the installed command trades on paper in an empty folder, with a strategy kind of the user’s own', async () => {
  const home = join(user, 'home')
  mkdirSync(home)
  const program = join(user, 'node_modules', 'perpd', 'dist', 'cli', 'bin.js')
  const init = perpd(['init'], { program, cwd: home })
  expect([await init.ended, init.stdout()]).toEqual([
    0,
    expect.stringContaining('wrote strategies/guard.yaml'),
  ])
  const kind = readFileSync(join(root, 'test', 'world', 'strategies', 'once.ts'), 'utf8')
  writeFileSync(join(home, 'strategies', 'once.ts'), kind.replace("'#strategy'", "'perpd/strategy'"))
  writeFileSync(
    join(home, 'strategies', 'once.yaml'),
    'kind: ./once.ts\nmarket: BTC/USD [BTC-USDC]\ncadenceSeconds: 1\nsize: { usd: 500, leverage: 2, collateral: short }\n',
  )
  writeFileSync(join(home, 'strategies', 'guard.yaml'), 'kind: guard\nenabled: false\n')
  const again = perpd(['init'], { program, cwd: home })
  expect([await again.ended, again.stdout()]).toEqual([
    0,
    expect.stringContaining('guard.yaml is there already'),
  ])
  expect(readFileSync(join(home, 'strategies', 'guard.yaml'), 'utf8')).toContain('enabled: false')
  // An editor finds the types of the installed package by what init wrote, in a folder of no package.
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  const checked = await run(process.execPath, [tsc, '-p', join(home, 'strategies')]).catch((error) => error)
  expect(checked.stdout).toBe('')
  const daemon = perpd(['run', '--control.port=0', '--log.format=json'], { program, cwd: home })
  await until(
    'an order of the user’s own kind is executed',
    () => /"strategy":"once".*"state_to":"executed"/.test(daemon.stdout()) || undefined,
    { seen: daemon.said },
  )
  daemon.child.kill('SIGTERM')
  expect(await daemon.ended).toBe(0)
}, 300_000)

test('an older Node is told so in a line, by the installed command', async () => {
  const program = join(user, 'node_modules', 'perpd', 'dist', 'cli', 'bin.js')
  const older = 'data:text/javascript,Object.defineProperty(process.versions,"node",{value:"20.20.2"})'
  const failed = await run(process.execPath, ['--import', older, program, 'run']).catch((error) => error)
  expect(failed).toMatchObject({ code: 1, stdout: '' })
  expect(failed.stderr).toMatch(/^perpd needs Node 24 or newer; this is Node 20\.20\.2/)
})

test('what asks the daemon loads few files of the installed package, and who needs no settings none of theirs', async () => {
  const counter = `data:text/javascript,${encodeURIComponent(`
    import { registerHooks } from 'node:module'
    const loaded = []
    registerHooks({
      load(url, context, next) {
        if (url.startsWith('file:')) loaded.push(url)
        return next(url, context)
      },
    })
    process.on('exit', () => console.log(JSON.stringify(loaded)))
  `)}`
  const installed = join(user, 'node_modules', 'perpd', 'dist')
  const loadedBy = async (...args: readonly string[]) => {
    const started = run(process.execPath, ['--import', counter, ...args], { cwd: folder.path, env })
    const { stdout } = await started.catch((error) => error as { stdout: string })
    return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as string[]
  }
  const program = join(installed, 'cli', 'bin.js')
  const [version, status] = [await loadedBy(program, 'version'), await loadedBy(program, 'status')]
  const library = await loadedBy(join(installed, 'api', 'index.js'))
  // Over thirty, and over a hundred, where each lies by itself.
  expect([version.length, status.length].map((files) => files <= 20)).toEqual([true, true])
  const named = (files: readonly string[], name: string) =>
    files.filter((file) => new RegExp(`/code/${name}-[\\w-]{8}\\.js$`).test(file)).length
  expect([named(version, 'start'), named(status, 'start'), named(library, 'start')]).toEqual([1, 1, 0])
  expect(version.filter((file) => file.includes('/loadConfig-'))).toEqual([])
})

test('the page from nothing to a kind of one’s own is true: each of its commands works, in its order, with the installed package', async () => {
  const page = readFileSync(join(root, 'docs', 'strategies.md'), 'utf8')
  const home = join(user, 'author')
  mkdirSync(home)
  const program = join(user, 'node_modules', 'perpd', 'dist', 'cli', 'bin.js')
  const typed: string[] = []
  for (const [, language = '', block = ''] of page.matchAll(/^```(\w*)\n(.*?)^```$/gms)) {
    const [, path] = /^\/\/ (strategies\/\S+\.ts)\n/.exec(block) ?? []
    if (language === 'ts' && path !== undefined) writeFileSync(join(home, path), block)
    for (const [, line = ''] of block.matchAll(/^npx perpd (.+)$/gm)) {
      if (language !== '' || line === 'run') continue
      const command = perpd(line.split(' '), { program, cwd: home })
      expect([line, await command.ended, command.stderr()]).toEqual([
        line,
        0,
        // Files are off until they are turned on, and check says so.
        line.startsWith('check') ? expect.any(String) : '',
      ])
      typed.push(line.split(' ').slice(0, 2).join(' '))
    }
  }
  expect(new Set(typed)).toEqual(
    new Set([
      'init',
      'strategies describe',
      'strategies new',
      'strategies test',
      'check strategies/eth-dip.yaml',
    ]),
  )
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  const checked = await run(process.execPath, [tsc, '-p', join(home, 'strategies')]).catch((error) => error)
  expect(checked.stdout).toBe('')
  const file = join(home, 'strategies', 'eth-dip.yaml')
  writeFileSync(file, readFileSync(file, 'utf8').replace('enabled: false', 'enabled: true'))
  const daemon = perpd(['run', '--control.port=0', '--log.format=json'], { program, cwd: home })
  await until(
    'it runs the kind',
    () => (/daemon\.ready/.test(daemon.stdout()) && /eth-dip/.test(daemon.stdout())) || undefined,
    { seen: daemon.said },
  )
  daemon.child.kill('SIGTERM')
  expect(await daemon.ended).toBe(0)
}, 300_000)
