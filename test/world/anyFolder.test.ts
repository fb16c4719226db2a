/** Kinds of the user's own from any folder, by each way that perpd is installed, with types for the editor; and a daemon that hangs. */
import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { folderOfEachTest } from './ownFolder.ts'
import { perpd, until, venueOf } from './processes.ts'

const run = promisify(execFile)
const root = resolve(import.meta.dirname, '..', '..')
const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
const folder = folderOfEachTest()

const kind = (strategy: string, indicators: string): string => `import { rsi } from '${indicators}'
import { type Decision, type Position, defineStrategy, formatUsd, liquidationDistanceBps, usd, z } from '${strategy}'
import { Decimal } from 'decimal.js'

const near = (position: Position): boolean => (liquidationDistanceBps(position) ?? 10_000) < 500
export default defineStrategy({
  kind: 'mine', description: formatUsd(usd(5)) + new Decimal(1).toFixed(0), params: z.strictObject({}),
  needs: (_params, symbols) => ({ symbols }),
  decide(view): readonly Decision[] {
    const market = view.market(view.instance.symbols[0] ?? '')
    const strength = rsi(view.candles(view.instance.symbols[0] ?? '', '5m')?.value ?? [], 14)
    if (market === undefined || strength === undefined || view.positions().some(near)) return []
    return []
  },
})
`
const yaml = 'kind: ./mine.ts\nmarket: "ETH/USD [WETH-USDC]"\nsize: { usd: 100, leverage: 2 }\n'

test('from a checkout: perpd init makes a folder where a kind loads and an editor finds its types', {
  timeout: 120_000,
}, async () => {
  const init = perpd(['init'], { cwd: folder.path })
  expect([await init.ended, init.stdout()]).toEqual([
    0,
    expect.stringContaining('wrote strategies/tsconfig.json'),
  ])
  const strategies = join(folder.path, 'strategies')
  for (const [name, strategy] of [
    ['mine', '#strategy'],
    ['other', 'perpd/strategy'],
  ] as const) {
    const text = kind(strategy, strategy.replace('strategy', 'indicators'))
    // Packages are lent at run time; their types are in the checkout alone.
    writeFileSync(join(strategies, `${name}.ts`), text)
    writeFileSync(join(strategies, `${name}.yaml`), yaml.replace('mine', name))
  }
  const check = perpd(['check'], { cwd: folder.path })
  expect(await check.ended, check.said()).toBe(0)
  for (const name of ['mine', 'other']) {
    const typed = kind('#strategy', '#indicators')
      .replace(/^import \{ Decimal.*\n/m, '')
      .replace(' + new Decimal(1).toFixed(0)', '')
    writeFileSync(join(strategies, `${name}.ts`), typed)
  }
  const checked = await run(process.execPath, [tsc, '-p', strategies]).catch((error) => error)
  expect(checked.stdout).toBe('')
  writeFileSync(
    join(strategies, 'other.ts'),
    kind('perpd/strategy', 'perpd/indicators')
      .replace(/^import \{ Decimal.*\n/m, '')
      .replace('new Decimal(1)', 'usd(1).nothing'),
  )
  const wrong = await run(process.execPath, [tsc, '-p', strategies]).catch((error) => error)
  expect(wrong.stdout).toContain("Property 'nothing' does not exist on type 'bigint'")
})

test('in a checkout the folder of strategies has the types of kinds as its docs say: tsc -p strategies', {
  timeout: 120_000,
}, async () => {
  const strategies = join(folder.path, 'strategies')
  mkdirSync(strategies)
  for (const name of ['package.json', 'tsconfig.json', 'strategies/tsconfig.json'])
    cpSync(join(root, name), join(folder.path, name))
  for (const name of ['node_modules', 'src']) symlinkSync(join(root, name), join(folder.path, name))
  const typed = kind('#strategy', '#indicators')
  writeFileSync(join(strategies, 'mine.ts'), typed)
  const check = () => run(process.execPath, [tsc, '-p', strategies]).catch((error) => error)
  expect((await check()).stdout).toBe('')
  writeFileSync(join(strategies, 'mine.ts'), typed.replace('usd(5)', 'usd(5).nothing'))
  expect((await check()).stdout).toContain("Property 'nothing' does not exist on type 'bigint'")
})

test('in the layout of the container, from a folder that is mounted elsewhere', {
  timeout: 120_000,
}, async () => {
  const app = join(folder.path, 'app')
  const built = ['tsconfig.json', 'tsconfig.build.json', 'scripts', 'src']
  for (const name of ['package.json', 'config', 'strategies', ...built])
    cpSync(join(root, name), join(app, name), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(app, 'node_modules'))
  const mounted = join(folder.path, 'mounted')
  mkdirSync(mounted)
  writeFileSync(join(mounted, 'mine.ts'), kind('#strategy', '#indicators'))
  writeFileSync(join(mounted, 'mine.yaml'), yaml)
  const dockerfile = readFileSync(join(root, 'Dockerfile'), 'utf8')
  expect(dockerfile).toContain(
    'CMD ["node", "--disable-sigusr1", "--max-semi-space-size=8", "--heap-growing-percent=25", "dist/cli/bin.js", "run"',
  )
  await run('npm', ['run', '-s', 'build'], { cwd: app })
  // One character beyond ASCII doubles what a module's text takes in memory while the process runs.
  const code = join(app, 'dist', 'code')
  const wide = readdirSync(code).filter((name) => /[^\0-\x7f]/.test(readFileSync(join(code, name), 'utf8')))
  expect(wide).toEqual([])
  for (const name of built) rmSync(join(app, name), { recursive: true })
  const program = join(app, 'dist', 'cli', 'bin.js')
  const check = perpd(['check', `--strategies.paths=${mounted}`], { program, cwd: app })
  expect(await check.ended, check.said()).toBe(0)
  expect(check.stdout()).toMatch(/mine\s+mine\s+ETH\/USD/)
})

test('a daemon that hangs is told by its process, not taken for one that is not started', {
  timeout: 120_000,
}, async () => {
  mkdirSync(join(folder.path, 'strategies'))
  writeFileSync(join(folder.path, 'strategies', 'guard.yaml'), 'kind: guard\n')
  const daemon = perpd(['run', '--control.port=0', '--log.format=json'], {
    cwd: folder.path,
    env: venueOf([]),
  })
  await until('it is ready', () => daemon.stdout().includes('"daemon.ready"') || undefined, {
    seen: daemon.said,
  })
  daemon.child.kill('SIGSTOP')
  const status = perpd(['status'], { cwd: folder.path })
  expect(await status.ended).toBe(5)
  expect(status.stderr()).toContain(
    `The daemon (pid ${daemon.child.pid}) does not answer at http://127.0.0.1:`,
  )
  expect(status.stderr()).not.toContain('perpd run')
  daemon.child.kill('SIGCONT')
  daemon.child.kill('SIGINT')
  expect(await daemon.ended, daemon.said()).toBe(0)
})
