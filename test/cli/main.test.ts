import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { commands } from '../../src/cli/commandTable.ts'
import { groupedCommands } from '../../src/cli/helpGroups.ts'
import { settingNamed, settings } from '../../src/config/configSchema.ts'
import { createControlServer } from '../../src/control/server.ts'
import { createMetrics } from '../../src/monitor/metrics/metrics.ts'
import { access, engine, operateToken, readToken } from '../control/door.ts'
import { shippedStrategies } from '../support/shippedFiles.ts'
import { perpd } from './run.ts'

const root = resolve(import.meta.dirname, '../..')
let cwd: string
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'perpd-main-'))
})
afterEach(() => rmSync(cwd, { recursive: true }))

/** The files that a daemon of the paper profile makes in its folder: its tokens, and where it serves. */
function writeSeat(address: string): void {
  mkdirSync(join(cwd, 'var', 'paper'), { recursive: true })
  writeFileSync(join(cwd, 'var', 'paper', 'control.token'), `${operateToken}\n`, { mode: 0o600 })
  writeFileSync(join(cwd, 'var', 'paper', 'control.token.read'), `${readToken}\n`, { mode: 0o600 })
  const seat = join(cwd, 'var', 'paper', 'control.token.address')
  writeFileSync(seat, JSON.stringify({ address }), { mode: 0o600 })
}

function process(...argv: string[]): Promise<{ code: number; out: string; err: string }> {
  return new Promise((done) => {
    execFile(
      globalThis.process.execPath,
      [join(root, 'test/support/guardedMain.ts'), ...argv],
      { cwd, env: { PATH: globalThis.process.env.PATH, COLUMNS: '1000' } },
      (error, out, err) => done({ code: error === null ? 0 : Number(error.code), out, err }),
    )
  })
}

test('the help has each command once, in groups, and only what has no place of its own in the last one', () => {
  const named = [...commands, { name: 'other', summary: 'Something else.' }]
  const groups = groupedCommands(named)
    .split('\n\n')
    .map((text) =>
      text
        .split('\n')
        .slice(1)
        .map((line) => /^ {2}((?:\S+ )+) /.exec(line)?.[1]?.trim() ?? ''),
    )
  expect(groups.flat().toSorted()).toEqual(named.map(({ name }) => name).toSorted())
  expect(groups.length).toBeGreaterThan(4)
  expect(groups[2]?.slice(0, 5)).toEqual(['open', 'close', 'protect', 'move', 'cancel'])
  const last = new Set(groups.at(-1)?.map((name) => name.split(' ')[0]))
  expect(last).toEqual(new Set(['log', 'notify', 'journal', 'fleet', 'other']))
})

test('the help names every command and the exit codes', async () => {
  const { code, out } = await perpd(cwd, ['--help'])
  expect(code).toBe(0)
  for (const word of ['run', 'check', 'config', 'status', 'orders', 'explain', 'Exit codes'])
    expect(out).toContain(word)
  expect((await perpd(cwd, [])).code).toBe(4)
  expect(await perpd(cwd, ['help', 'orders'])).toEqual(await perpd(cwd, ['orders', '--help']))
})

test('a command explains itself', async () => {
  expect((await perpd(cwd, ['explain', '--help'])).out).toMatchInlineSnapshot(`
    "Explain one order: its reason, its size, the message sent, and the proof of its end.

    usage: perpd explain <intentId> [--json] [--section.key value ...]

      --json               print JSON instead of text
      --account NAMES      one or several of the accounts, as alpha or alpha,beta; or all
      --profile NAME       profile to start from; paper is the default and trades play money
      --config FILE        file of settings over the profile; ./perpd.json is read when it exists
      --section.key value  any setting; \`perpd config\` lists them all with their values

    examples:
      perpd explain 7944b4ff
      perpd explain 7944b4ff --json"
  `)
})

test('an unknown command, flag or argument, and one that is missing, ends with exit code 4, with usage and a hint', async () => {
  const said = async (...argv: string[]) => {
    const { code, err } = await perpd(cwd, argv)
    return `${code} ${err}`
  }
  expect(await said('ordres')).toMatch(
    /^4 perpd has no command ordres\. Did you mean orders\?\nusage: perpd init \| doctor \| run \| /,
  )
  expect(await said('keys', 'nwe')).toMatch(
    /^4 perpd has no command keys nwe\. Did you mean keys new\? perpd keys has these commands:/,
  )
  expect((await perpd(cwd, ['subaccount', '--help'])).out).toMatch(
    /these commands:\n\n {2}subaccount create /,
  )
  expect(await said('orders', '--opne')).toBe(
    '4 --opne: orders has no such flag. Did you mean --open?\nusage: perpd orders [--open] [--resting] [--strategy NAME] [--limit N] [--json] [--section.key value ...]',
  )
  expect(await said('balance', 'stray')).toMatch(/^4 stray: balance takes no such argument\.\nusage: /)
  expect(await said('orders', '--strategy')).toMatch(/^4 --strategy needs a value: NAME\.\nusage: /)
  expect(await said('paper', '--state')).toMatch(/^4 --state needs a value: FILE\.\nusage: /)
  expect(await said('explain')).toMatch(/^4 explain needs an order's id/)
  expect(await said('completion', 'foo')).toMatch(/^4 perpd has no completion for foo/)
  expect(await said('status', '-j')).toMatch(/^4 -j: status has no such flag\.\n/)
  expect(await said('status', '-json')).toMatch(/^4 -json: status has no such flag\. Did you mean --json\?\n/)
  expect(await said('init', '--json')).toMatch(/^4 --json: init has no such flag\.\n/)
  const { out } = await perpd(cwd, ['init', '--help'])
  // In the usage, among the flags once, and in an example.
  expect(out.match(/--profile /g)?.length).toBe(3)
})

test.each<readonly [readonly string[], string]>([
  [['open', 'BTC/USD', 'long', '500'], 'open BTC/USD long --size 500 --leverage 2'],
  [['open', 'long', 'BTC/USD', '500', '--leverage', '3'], 'open BTC/USD long --leverage 3 --size 500'],
  [
    ['open', 'ETH/USD [WETH-USDC]', 'short', '50', '4'],
    'open "ETH/USD [WETH-USDC]" short --size 50 --leverage 4',
  ],
  [['close', 'BTC/USD', 'long', '50%'], 'close BTC/USD long --share 50'],
  [['orders', 'eth-trend'], 'orders --strategy eth-trend'],
  [['orders', 'eth-trend', 'open', '--limit', '3'], 'orders --limit 3 --strategy eth-trend --open'],
  [['trades', 'guard', '--log.level', 'warn'], 'trades --strategy guard --log.level warn'],
  [['logs', 'error'], 'logs --level error'],
  [['trading', 'halted', 'eth-trend'], 'trading halted --scope eth-trend'],
  [['kill', 'close'], 'kill --close'],
])('%j in the wrong form is answered with the command that was meant', async (argv, meant) => {
  const { code, err } = await perpd(cwd, argv)
  expect([code, /Did you mean: perpd (.*)/.exec(err)?.[1]]).toEqual([4, meant])
})

test('config shows the settings of a search alone, and says when there are none', async () => {
  const { out } = await perpd(cwd, ['config', '--search', 'Risk.max'])
  expect(out.split('\n').length).toBeGreaterThan(5)
  expect(out.split('\n').every((line) => line.startsWith('risk.max'))).toBe(true)
  expect(await perpd(cwd, ['config', '--search', 'zzz'])).toMatchObject({
    code: 2,
    out: 'No setting has zzz in its name.',
  })
})

test('config with a name answers with meaning, unit, range, value in force and origin of that setting', async () => {
  const line = ['config', 'risk.MAXdailyLossUsd', '--risk.maxDailyLossUsd', '250']
  const setting = settingNamed('risk.maxDailyLossUsd')
  const { out, code } = await perpd(cwd, line)
  const rows = out.split('\n').map((each) => each.trim().split(/ {2,}/))
  expect([code, rows]).toEqual([
    0,
    [
      ['risk.maxDailyLossUsd'],
      ['meaning', setting?.doc],
      ['unit', 'USD'],
      ['range', setting?.reads.expected],
      ['value', '250'],
      ['origin', 'flag --risk.maxDailyLossUsd'],
      ['default', String(setting?.default)],
      ['variable', 'PERPD__RISK__MAX_DAILY_LOSS_USD'],
    ],
  ])
  expect(JSON.parse((await perpd(cwd, [...line, '--json'])).out).settings).toEqual({
    'risk.maxDailyLossUsd': {
      value: '250',
      origin: 'flag --risk.maxDailyLossUsd',
      default: setting?.default,
      unit: 'USD',
      expected: setting?.reads.expected,
      meaning: setting?.doc,
      variable: 'PERPD__RISK__MAX_DAILY_LOSS_USD',
    },
  })
})

test('config with the name of a section answers with each of its settings, and no secret', async () => {
  const secret = '0123456789abcdef0123456789abcdef'
  const { out } = await perpd(cwd, [
    'config',
    'rpc',
    '--profile',
    'megaeth',
    '--rpc.http',
    `https://rpc.example/v2/${secret}`,
  ])
  const headings = out.split('\n').filter((line) => /^\S/.test(line))
  expect(headings).toEqual(settings.map(({ key }) => key).filter((key) => key.startsWith('rpc.')))
  expect(out).not.toContain(secret)
})

test('config names the setting or the section nearest to an unknown name', async () => {
  const meant = async (name: string) => {
    const { code, err } = await perpd(cwd, ['config', name])
    return [code, /Did you mean (\S+)\?/.exec(err)?.[1]]
  }
  expect(await meant('riskk')).toEqual([2, 'risk'])
  expect(await meant('maxDailyLossUsd')).toEqual([2, 'risk.maxDailyLossUsd'])
  expect(await meant('pineapples')).toEqual([2, undefined])
  expect(await perpd(cwd, ['config', 'risk', '--search', 'max'])).toMatchObject({ code: 4, out: '' })
})

test('an unknown setting ends with exit code 4', async () => {
  expect(await perpd(cwd, ['orders', '--risk.maxOrderSize', '5'])).toEqual({
    code: 4,
    out: '',
    err: [
      'The configuration has a problem.',
      '  --risk.maxOrderSize: no such flag. Did you mean --risk.maxOrderSizeUsd?',
      '  Nothing was started. Settings: docs/reference/configuration.md; values in force: perpd config',
    ].join('\n'),
  })
})

test('config shows each value with its origin, and no secret', async () => {
  const env = { PERPD__LOG__LEVEL: 'warn', PERPD_PORT: '1' }
  const argv = [
    'config',
    '--profile',
    'megaeth',
    '--rpc.http',
    'https://rpc.example/v2/abcdef123',
    '--port=1',
  ]
  const { code, out, err } = await perpd(cwd, argv, env)
  expect(code).toBe(0)
  const lines = new Map(out.split('\n').map((line) => [line.split(' ')[0], line.split(/ {2,}/).slice(1)]))
  expect(lines.get('profile')).toEqual(['megaeth', 'flag --profile'])
  expect(lines.get('rpc.http')).toEqual(['https://rpc.example/[hidden]', 'flag --rpc.http'])
  expect(lines.get('log.level')).toEqual(['warn', 'env PERPD__LOG__LEVEL'])
  expect(lines.get('control.port')).toEqual(['1', 'flag --port'])
  expect(lines.get('journal.path')).toEqual(['./var/megaeth/journal.db', 'default'])
  expect(lines.get('venue.chain')?.[0]).toBe('megaeth')
  expect(lines.get('venue.chain')?.[1]).toMatch(/^profile .*megaeth\.json$/)
  const [keyed = '', unread = ''] = err.split('\n')
  expect(keyed).toMatch(/^warning: --rpc.http has an address that may contain a key/)
  expect(keyed).not.toContain('abcdef123')
  expect(unread).toBe('warning: PERPD_PORT is ignored; a variable sets a setting as PERPD__SECTION__KEY.')
  const json = await perpd(cwd, [...argv, '--json'], env)
  expect(JSON.parse(json.out).settings['control.port']).toEqual({ value: 1, origin: 'flag --port' })
  expect(out + json.out).not.toContain('abcdef123')
})

test('run ends with the code that was asked for when its configuration cannot be used, and with no other then', async () => {
  const run = (...argv: string[]) => perpd(cwd, ['run', ...argv])
  expect((await run('--risk.maxOrdrSizeUsd=5')).code).toBe(4)
  expect((await run('--configuration-exit', '0', '--risk.maxOrdrSizeUsd=5')).code).toBe(0)
  expect((await run('--configuration-exit=0', '--strategies.paths=none')).code).toBe(0)
  expect((await perpd(cwd, ['check', '--configuration-exit=0'])).code).toBe(4)
})

test('a standby is a run that waits for a journal in a database, and is refused by the settings that it lacks', async () => {
  const standby = (...argv: string[]) => perpd(cwd, ['standby', ...argv])
  const refused = await standby()
  expect([refused.code, refused.err]).toEqual([4, expect.stringContaining('journal.standby is true')])
  expect(refused.err).toContain('journal.url (default) is empty')
  expect((await standby('--configuration-exit', '0')).code).toBe(0)
  const embedded = await standby('--journal.url=postgres://perpd@127.0.0.1:1/perpd')
  expect([embedded.code, embedded.err]).toEqual([4, expect.stringContaining('venue.apiHosts is empty')])
})

/** Without the examples, and without what a user of this checkout made beside them. */
const shipped = `--strategies.paths=${shippedStrategies.filter((path) => !path.includes('examples')).join()}`

test('check says what would run, and ends with exit code 4 when something would not', async () => {
  const good = await perpd(cwd, ['check', shipped])
  expect([good.code, good.err]).toEqual([0, ''])
  expect(good.out).toContain('profile paper: play money on arbitrum')
  expect(good.out).toContain('All checks passed.')
  mkdirSync(join(cwd, 'strategies'))
  writeFileSync(join(cwd, 'strategies/mine.yaml'), 'kind: trned\n')
  const bad = await perpd(cwd, ['check', '--json'])
  expect(bad.code).toBe(4)
  expect(JSON.parse(bad.out)).toMatchObject({ ok: false, profile: 'paper', strategies: [] })
  expect(bad.out).toContain('mine.yaml')
  expect(good.out).not.toContain('advice')
  const keyless = await perpd(cwd, ['check', shipped, '--profile', 'arbitrum'])
  // The account's own key on a live chain: there is a better one, and this is how to get it.
  expect(keyless.out).toContain(
    'perpd subaccount create --profile arbitrum --file var/arbitrum/delegated.json',
  )
  const owner = `0x${'11'.repeat(20)}`
  const delegated = await perpd(cwd, [
    'check',
    shipped,
    '--json',
    '--profile',
    'arbitrum',
    '--account.owner',
    owner,
  ])
  expect(JSON.parse(delegated.out)).toMatchObject({ advice: [] })
  expect(keyless.out).toMatch(/^node: v\d+\.\d+\.\d+ at .+, which .* can change$/m)
  expect([keyless.code, keyless.err.replace(/^warning: .*\n/gm, '')]).toEqual([
    4,
    'no key is configured; the profile arbitrum trades real money and needs one: --account.keystore FILE (perpd keys new makes it) or --account.remoteSigner URL',
  ])
})

test('status shows the running daemon on one screen', async () => {
  const metrics = createMetrics({
    version: '0.1.0',
    profile: 'paper',
    chain: 'arbitrum',
  })
  const health = { live: () => ({ ok: true, reasons: [] }), ready: () => ({ ok: true, reasons: [] }) }
  const server = await createControlServer({ host: '127.0.0.1', port: 0, engine, metrics, health, ...access })
  writeSeat(server.localUrl)
  const port = String(server.port)
  const shown = await perpd(cwd, ['status'])
  const json = await perpd(cwd, ['status', '--json', '--port', port])
  const other = await perpd(cwd, [
    'status',
    '--port',
    port,
    '--profile',
    'arbitrum',
    '--control.tokenFile',
    'var/paper/control.token',
  ])
  await server.close()
  expect(shown.code).toBe(0)
  expect(shown.out).toMatchInlineSnapshot(`
    "perpd    paper on arbitrum, running, ready
    trading  active, notional $1,000.00, 1 open order, 1 unresolved (oldest 5 s)

    positions: PNL is before closing costs: $0.99 in all.
      MARKET   SIDE     SIZE       MARK    LEV    PNL  EXITS  LIQUIDATION      ENTRY  COLLATERAL    WORTH
      ETH/USD  long  $500.00  $1,744.00  1.99x  $0.99  -          $900.00  $1,739.51           -  $249.90

    orders in flight
      ID        STATUS   ORDER                                 SIZE  TYPE    STRATEGY   NOTE
      f00d0000  pending  increase long ETH/USD [WETH-USDC]  $500.00  market  eth-trend  5 s old, the venue says relay_accepted

    strategies
      NAME       KIND   MARKETS              EVERY  TURNS  DECIDED  ADMITTED  DENIED  LAST TURN
      eth-trend  trend  ETH/USD [WETH-USDC]   10 s     12        1         1       0  3 s ago

    version   0.1.0, up 3 min 17 s
    account   0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A
    evidence  the APIs alone
    journal   /var/perpd/journal.db: 12 records of 2 orders
    data      tickers 1.2 s, oracle 300 ms old
    hosts     https://arbitrum.gmxapi.io/v1, https://arbitrum-api.gmxinfra.io"
  `)
  expect(JSON.parse(json.out)).toMatchObject({
    profile: 'paper',
    exposureUsd: '1000000000000000000000000000000000',
  })
  expect([other.code, other.err.replaceAll(port, 'PORT')]).toEqual([
    3,
    "The perpd at http://127.0.0.1:PORT runs the profile paper, not arbitrum.\n  Use --profile paper for it, or name the other daemon's token file with --control.tokenFile FILE",
  ])
})

test('status ends with exit code 3 when no perpd answers', async () => {
  const stranger = createServer((_request, response) => response.end('{"hello":1}')).listen(0, '127.0.0.1')
  await new Promise((done) => stranger.once('listening', done))
  const port = String((stranger.address() as AddressInfo).port)
  const nobody = await perpd(cwd, ['status', '--port', port])
  expect([nobody.code, nobody.err.split('\n')[0]]).toEqual([
    3,
    'No perpd is running here: CWD/var/paper/control.token.address does not exist.',
  ])
  writeSeat(`http://127.0.0.1:${port}`)
  const strange = await perpd(cwd, ['status'])
  expect([strange.code, strange.err.replaceAll(port, 'PORT').split('\n')[0]]).toEqual([
    3,
    'The program at http://127.0.0.1:PORT does not prove that it is the perpd whose token is CWD/var/paper/control.token.read: its answers are ignored, and no token was sent.',
  ])
  await new Promise((done) => stranger.close(done))
  const silent = await perpd(cwd, ['status'])
  expect([silent.code, silent.err.replaceAll(port, 'PORT')]).toEqual([
    3,
    'No perpd answers at http://127.0.0.1:PORT, its last known address (ECONNREFUSED).\n  Start it with: perpd run (in a checkout: npm start). Orders are readable without it: perpd orders',
  ])
})

test('as a process it keeps standard output for results and ends with the code', async () => {
  const [version, unknown, orders, config] = await Promise.all([
    process('--version'),
    process('nonsense'),
    process('orders'),
    process('config', '--log.level', 'loud'),
  ])
  expect(version).toMatchObject({ code: 0, err: '' })
  expect(version.out).toMatch(/^\d+\.\d+\.\d+\n$/)
  expect([unknown.code, unknown.out]).toEqual([4, ''])
  expect([orders.code, orders.out]).toEqual([2, ''])
  expect([config.code, config.out]).toEqual([4, ''])
  expect(config.err).toContain(
    'flag --log.level: log.level is "loud"; expected one of debug, info, warn, error.',
  )
})
