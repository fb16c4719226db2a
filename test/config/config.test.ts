import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { settings, variableOf } from '../../src/config/configSchema.ts'
import { ownVenueProblem, startProblems } from '../../src/config/judge.ts'
import { ConfigError, loadConfig } from '../../src/config/loadConfig.ts'
import { distance, nearest } from '../../src/config/suggest.ts'
import { limitRows, limitSetting } from '../../src/domain/limits/limits.ts'
import { chains } from '../../src/protocol/chains/index.ts'
import { parseUnits, usd } from '../../src/protocol/units.ts'

let cwd: string
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'perpd-config-'))
})
afterEach(() => rmSync(cwd, { recursive: true }))

const load = (argv: string[] = [], env: Record<string, string> = {}) => loadConfig({ argv, env, cwd })

function problemsOf(argv: string[] = [], env: Record<string, string> = {}): readonly string[] {
  try {
    load(argv, env)
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
}

function write(file: string, value: unknown): void {
  mkdirSync(join(cwd, 'config'), { recursive: true })
  writeFileSync(join(cwd, file), typeof value === 'string' ? value : JSON.stringify(value))
}

test('without anything given, the paper profile with its embedded venue is in force', () => {
  const { config, warnings } = load()
  expect(config.profile).toBe('paper')
  expect([config.isPaper, config.embedsVenue, config.evidence.trustVenue]).toEqual([true, true, true])
  expect(config.venue.apiHosts).toEqual([])
  expect(config.journal.path).toBe(join(cwd, 'var/paper/journal.db'))
  expect(config.strategies.paths).toEqual([join(cwd, 'strategies')])
  expect(config.limits.maxLeverageBps).toBe(100_000)
  expect(config.paper.startBalances).toEqual([
    { symbol: 'USDC', amount: '100000' },
    { symbol: 'ETH', amount: '10' },
  ])
  expect(warnings).toEqual([])
})

test('flags beat the environment, which beats the file, which beats the profile, which beats the default', () => {
  const key = 'risk.maxOrdersPerHour'
  const seen: [number, string | undefined][] = []
  const look = (argv: string[] = [], env: Record<string, string> = {}) => {
    const { config, origins } = load(argv, env)
    seen.push([config.limits.maxOrdersPerHour, origins[key]])
  }
  look()
  write('config/paper.json', { risk: { maxOrdersPerHour: 11 }, evidence: { trustVenue: true } })
  look()
  write('perpd.json', { risk: { maxOrdersPerHour: 12 } })
  look()
  write('other.json', { risk: { maxOrdersPerHour: 13 } })
  look(['--config', 'other.json'])
  const env = { PERPD__RISK__MAX_ORDERS_PER_HOUR: '14' }
  look([], env)
  look(['--risk.maxOrdersPerHour', '15'], env)
  expect(seen).toEqual([
    [60, 'default'],
    [11, 'profile config/paper.json'],
    [12, 'file perpd.json'],
    [13, 'file other.json'],
    [14, 'env PERPD__RISK__MAX_ORDERS_PER_HOUR'],
    [15, 'flag --risk.maxOrdersPerHour'],
  ])
})

test('every problem of every layer is told at once, with its place, what is expected and a hint', () => {
  write('perpd.json', {
    risk: { maxOrderSizeUds: 5, minOrderSizeUsd: -1 },
    rsik: {},
    log: 'loud',
    api: { timeoutMs: '10' },
    rpc: { http: ['ftp://user:pass@example.com/secret-key'] },
  })
  const argv = ['--log.levle=debug', '--contol.port', '1', '--control.port', '99999', '--paper.seed', 'stray']
  const env = { PERPD__RISK__MAX_LEVERAG: '3', PERPD__LOG__FORMAT: 'xml', PERPD_PORT: '1' }
  expect(() => load(argv, env)).toThrowErrorMatchingInlineSnapshot(`
    [ConfigError: The configuration has 12 problems.
      --log.levle: no such flag. Did you mean --log.level?
      --contol.port: no such flag. Did you mean --control.port?
      flag --control.port: control.port is "99999"; expected a whole number from 0 to 65535.
      flag --paper.seed: paper.seed is "stray"; expected a whole number from 0 to 2147483647.
      env PERPD__LOG__FORMAT: log.format is "xml"; expected one of auto, pretty, json.
      env PERPD__RISK__MAX_LEVERAG: no such setting. Did you mean PERPD__RISK__MAX_LEVERAGE?
      perpd.json: risk.maxOrderSizeUds: no such setting. Did you mean risk.maxOrderSizeUsd?
      perpd.json: risk.minOrderSizeUsd is -1; expected an amount of US dollars above 0, as 500 or "500.50".
      perpd.json: rsik: no such section. Did you mean risk?
      perpd.json: log is a text; expected an object of settings.
      perpd.json: api.timeoutMs is "10"; expected a whole number from 100 to 120000.
      perpd.json: rpc.http is ftp://example.com/[hidden]: rpc.http, entry 1 does not fit; expected a list of https:// addresses; http:// is for this machine only.
      Nothing was started. Settings: docs/reference/configuration.md; values in force: perpd config]
  `)
})

test('a flag without its value, a stray word and an unknown profile are problems', () => {
  expect(problemsOf(['--risk.maxOrderSizeUsd', '--log.level', 'info', 'stray'])).toMatchInlineSnapshot(`
    [
      "--risk.maxOrderSizeUsd: its value is missing; expected an amount of US dollars above 0, as 500 or "500.50".",
      "stray: unexpected argument; write a setting as --section.key value.",
    ]
  `)
  expect(
    problemsOf(['--profile', 'arbitrun']).map((each) =>
      each.replace(/and in .*\/config/, 'and in PACKAGE/config'),
    ),
  ).toMatchInlineSnapshot(`
    [
      "flag --profile: there is no profile arbitrun; looked for config/arbitrun.json here and in PACKAGE/config. Did you mean arbitrum?",
    ]
  `)
})

test('lists repeat a flag, or are separated by commas in a variable', () => {
  expect(load(['--strategies.paths', 'a', '--strategies.paths=b']).config.strategies.paths).toEqual([
    join(cwd, 'a'),
    join(cwd, 'b'),
  ])
  expect(load([], { PERPD__STRATEGIES__PATHS: 'a, b' }).config.strategies.paths).toEqual([
    join(cwd, 'a'),
    join(cwd, 'b'),
  ])
})

test('short flags stand for their settings', () => {
  const { config, origins } = load(['--port', '9000', '--json'])
  expect([config.control.port, config.log.format]).toEqual([9000, 'json'])
  expect([origins['control.port'], origins['log.format']]).toEqual(['flag --port', 'flag --json'])
})

test('a variable is found whatever the case and underscores inside its words, and twice is a problem', () => {
  expect(load([], { PERPD__risk__maxOrderSizeUsd: '70' }).config.limits.maxOrderSizeUsd).toBe(usd(70))
  expect(
    problemsOf([], { PERPD__RISK__MAXORDERSIZEUSD: '70', PERPD__RISK__MAX_ORDER_SIZE_USD: '80' }),
  ).toEqual([
    'env PERPD__RISK__MAX_ORDER_SIZE_USD: risk.maxOrderSizeUsd is also set by env PERPD__RISK__MAXORDERSIZEUSD; keep only one.',
  ])
})

test('a variable that only looks like one of ours is told, not ignored', () => {
  expect(load([], { PERPD_PORT: '1', PATH: '/bin' }).warnings).toEqual([
    'PERPD_PORT is ignored; a variable sets a setting as PERPD__SECTION__KEY.',
  ])
})

test('a file that every user may write, or swap, is not read', () => {
  write('perpd.json', {})
  chmodSync(join(cwd, 'perpd.json'), 0o666)
  expect(problemsOf()).toEqual([
    `perpd.json: not read: every user of this machine can write to ${cwd}/perpd.json (mode 666). chmod o-w ${cwd}/perpd.json`,
  ])
  chmodSync(join(cwd, 'perpd.json'), 0o644)
  chmodSync(cwd, 0o777)
  expect(problemsOf()).toEqual([
    `perpd.json: not read: every user of this machine can write to ${cwd} (mode 777). chmod o-w ${cwd}`,
  ])
  chmodSync(cwd, 0o1777)
  expect(problemsOf()).toEqual([])
})

test('a file that is no JSON, no object, or not there is a problem that names it', () => {
  write('perpd.json', '[1]')
  expect(problemsOf()).toEqual(['perpd.json: expected a JSON object of settings.'])
  write('perpd.json', '{')
  expect(problemsOf()[0]).toBe(
    'perpd.json: it is not JSON: at line 1 column 2 it ends, and a key in double quotes is expected.',
  )
  expect(problemsOf(['--config', 'absent.json'])[0]).toMatch(/^absent\.json: cannot be read: ENOENT/)
})

test('an https host outside the chain is allowed with a warning; http is for this machine only', () => {
  const live = ['--profile', 'arbitrum']
  expect(load(live).warnings).toEqual([])
  expect(load([...live, '--venue.apiHosts', 'https://proxy.example/v1/']).warnings).toEqual([
    "venue.apiHosts has https://proxy.example/v1, which is not one of arbitrum's own (https://arbitrum.gmxapi.io/v1, https://arbitrum.gmxapi.ai/v1); this host sees the account and prepares its orders, which perpd verifies.",
  ])
  for (const bad of [
    'http://proxy.example/v1',
    'https://user:pass@proxy.example/v1',
    'https://169.254.169.254/v1',
    'https://2852039166/v1',
    'https://0251.0376.0251.0376/v1',
    'https://[fe80::1]/v1',
    'https://[::ffff:169.254.169.254]/v1',
    'https://[fd00:ec2::254]/v1',
    'ftp://127.0.0.1',
    'proxy',
  ]) {
    expect(problemsOf([...live, '--venue.apiHosts', bad])).toEqual([
      `flag --venue.apiHosts: venue.apiHosts is "${bad.replace('user:pass', '[hidden]')}"; expected a list of https:// addresses without credentials or query; http:// is for this machine only.`,
    ])
  }
})

test('a market has every limit that can be one of a market', () => {
  const of = (pairs: string) => load(['--risk.markets', `ETH/USD [WETH-USDC]: ${pairs}`]).config.marketLimits
  // Clocks are of machines, and all exposure is the account's.
  const rows = limitRows.filter(([, row]) => row.isOfNoMarket !== true)
  expect(rows.length).toBeLessThan(limitRows.length)
  const pairs = rows.map(([name]) => `${limitSetting(name)}=7`)
  expect(of(pairs.join(' '))).toEqual({
    'ETH/USD [WETH-USDC]': Object.fromEntries(
      rows.map(([name, { unit }]) => [
        name,
        { usd: usd(7), native: 7n * 10n ** 18n, times: 70_000, bps: 7, count: 7, ms: 7 }[unit],
      ]),
    ),
  })
  for (const bad of [
    'maxOrdersPerHour=1.5',
    'maxTickerAgeMs=1.5',
    'maxTotalExposureUsd=5',
    'executionFeesPerDay=0',
  ]) {
    expect(problemsOf(['--risk.markets', `ETH/USD [WETH-USDC]: ${bad}`])).toHaveLength(1)
  }
})

test('the signing cap is three times the largest exposure of all, when none is set', () => {
  const cap = (...flags: string[]) => load(flags).config.signing.exposureCapUsd
  const limits = [
    '--risk.maxTotalExposureUsd=500',
    '--risk.maxPositionSizeUsd=200',
    '--risk.maxOrderSizeUsd=100',
    '--risk.maxUnboundedOrderUsd=100',
  ]
  expect(cap()).toBe(usd(60_000))
  expect(cap(...limits)).toBe(usd(1_500))
  expect(cap(...limits, '--signing.exposureWindowSeconds=1800')).toBe(usd(1_500))
  expect(cap(...limits, '--signing.exposureCapUsd=99.5')).toBe(usd('99.5'))
})

test('paper never talks to another machine, and loads no key', () => {
  const hosts = [
    '--venue.apiHosts',
    'https://arbitrum.gmxapi.io/v1',
    '--venue.oracleHosts',
    'http://127.0.0.1:1',
  ]
  expect(problemsOf([...hosts, '--account.keyFile', 'key'])).toEqual([
    'flag --venue.apiHosts: venue.apiHosts has https://arbitrum.gmxapi.io/v1; the paper profile connects to this machine only. For real money choose --profile arbitrum.',
    'flag --account.keyFile: account.keyFile is set; the paper profile signs only with its throwaway key, because a signature made on paper is valid on the live chain.',
  ])
  const local = load([
    '--venue.apiHosts',
    'http://127.0.0.1:1/v1',
    '--venue.oracleHosts',
    'http://localhost:2',
  ])
  expect(local.config.embedsVenue).toBe(false)
})

test('a live profile never trusts the venue alone, and needs a key to start', () => {
  expect(problemsOf(['--profile', 'arbitrum', '--evidence.trustVenue'])).toEqual([
    "flag --evidence.trustVenue: evidence.trustVenue is true; with real money the venue's statement alone never closes an order. Remove it.",
  ])
  const needs = (argv: string[], hasVariable = false) =>
    startProblems(load(['--profile', 'megaeth', ...argv]).config, hasVariable)
  expect(needs([])).toEqual([
    'no key is configured; the profile megaeth trades real money and needs one: --account.keystore FILE (perpd keys new makes it) or --account.remoteSigner URL',
  ])
  expect(needs(['--account.keyFile', 'key'])).toEqual([
    'account.acceptRawKey is false; the profile megaeth trades real money, and anyone who reads a raw key file controls the account. Encrypt it with perpd keys import, or accept the risk: --account.acceptRawKey',
  ])
  expect(needs([], true)).toEqual([
    'account.acceptRawKey is false; the profile megaeth trades real money, and anyone who reads PERPD_PRIVATE_KEY controls the account. Encrypt it with perpd keys import, or accept the risk: --account.acceptRawKey',
  ])
  expect(needs(['--account.keystore', 'a', '--account.keyFile', 'b'], true)).toEqual([
    `account.keystore ${join(cwd, 'a')} and account.keyFile ${join(cwd, 'b')} and PERPD_PRIVATE_KEY (env) are set; keep only one. To see where each is set: perpd config --search account`,
  ])
  const remote = ['--account.remoteSigner', 'http://127.0.0.1:9000']
  expect(needs(remote)).toEqual([
    'account.address is not set; account.remoteSigner needs it to select your key.',
  ])
  for (const enough of [
    ['--account.keystore', 'a'],
    [...remote, '--account.address', `0x${'19'.repeat(20)}`],
    ['--account.keyFile', 'a', '--account.acceptRawKey'],
  ]) {
    expect(needs(enough)).toEqual([])
  }
  expect(startProblems(load().config)).toEqual([])
  expect(startProblems(load().config, true)).toEqual([
    'PERPD_PRIVATE_KEY is set; the paper profile signs only with its throwaway key, because a signature made on paper is valid on the live chain.',
  ])
})

test('paper refuses every kind of key', () => {
  for (const [key, value] of [
    ['keystore', 'a'],
    ['keyFile', 'a'],
    ['remoteSigner', 'http://127.0.0.1:9000'],
  ]) {
    expect(problemsOf([`--account.${key}`, String(value)])).toEqual([
      `flag --account.${key}: account.${key} is set; the paper profile signs only with its throwaway key, because a signature made on paper is valid on the live chain.`,
    ])
  }
})

test('a remote signer is reached by https, or on this machine', () => {
  const given = (url: string) => problemsOf(['--profile', 'arbitrum', '--account.remoteSigner', url])
  expect(given('https://signer.example/')).toEqual([])
  expect(given('http://[::1]:9000')).toEqual([])
  for (const bad of [
    'http://signer.example',
    'https://me:pw@signer.example',
    'https://a.example/?key=1',
    'signer',
  ]) {
    expect(given(bad)[0]).toMatch(/expected an https:\/\/ address without credentials or query; http:/)
  }
})

test('a journal of an unknown scheme is a problem before anything is opened', () => {
  expect(problemsOf(['--journal.path', 'redis://user:secret@host/0'])).toEqual([
    'flag --journal.path: journal.path has the unknown scheme redis:; a journal is a path, sqlite:PATH, or memory:.',
  ])
  expect(problemsOf(['--journal.path', 'sqlite:var/j.db'])).toEqual([])
  expect(problemsOf(['--journal.path', 'memory:'])).toEqual([])
})

test('what two machines need of a journal is a problem without a database', () => {
  const url = ['--journal.url', 'postgres://perpd@db.internal/perpd']
  for (const key of ['journal.standby', 'journal.synchronousStandby']) {
    expect(problemsOf([`--${key}`])).toEqual([
      `flag --${key}: ${key} is true, and journal.url (default) is empty: only a journal in PostgreSQL is reached by two machines. Set journal.url, or remove it.`,
    ])
    expect(problemsOf([`--${key}`, ...url])).toEqual([])
  }
})

test('who waits for a journal may not bring a paper venue of its own: it starts with addresses of one, or with real ones', () => {
  const waits = ['--journal.standby', '--journal.url', 'postgres://perpd@db.internal/perpd']
  const venue = ['--venue.apiHosts', 'http://127.0.0.1:1/v1', '--venue.oracleHosts', 'http://localhost:2']
  const of = (...argv: string[]) => ownVenueProblem(load(argv).config)
  expect(of(...waits)).toMatch(
    /^journal\.standby is true, and venue\.apiHosts is empty: .*perpd paper --print-config.*or remove journal\.standby\.$/,
  )
  expect(of(...waits, '--cluster.name', 'desk', '--accounts.alpha.account.lane', 'relay')).toMatch(
    /^journal\.standby is true, cluster\.name is desk, and venue\.apiHosts is empty: /,
  )
  expect(of(...waits, ...venue)).toBeUndefined()
  expect(of(...waits, '--profile', 'arbitrum')).toBeUndefined()
  expect(of(...waits.slice(1))).toBeUndefined()
})

test('a database may have several servers, each an address, and is asked for no standby', () => {
  const problems = (url: string) => problemsOf(['--journal.url', url]).length
  for (const url of [
    'postgres://perpd@one.internal:5432,other.internal:5433/perpd?target_session_attrs=read-write',
    'postgresql://perpd@[::1],one/perpd?target_session_attrs=primary&sslmode=verify-full',
  ])
    expect([url, problems(url)]).toEqual([url, 0])
  for (const url of [
    'postgres://perpd@one.internal,/perpd',
    'postgres://perpd@one.internal:5432,other.internal:port/perpd',
    'postgres://perpd@one.internal,other.internal/perpd?target_session_attrs=standby',
    'postgres://perpd@one.internal,other.internal',
  ])
    expect([url, problems(url)]).toEqual([url, 1])
})

test('a relay deadline that would never be signed is a problem in the relay lane alone', () => {
  const flags = ['--signing.maxDeadlineSeconds', '100']
  expect(problemsOf([...flags, '--account.lane', 'relay'])).toEqual([
    'default: execution.relayDeadlineSeconds is 120, outside what is signed: 20 to 100 s (signing.minDeadlineSeconds, default; signing.maxDeadlineSeconds, flag --signing.maxDeadlineSeconds).',
  ])
  expect(problemsOf([...flags, '--account.lane', 'order-chain'])).toEqual([])
  expect(problemsOf(['--account.lane', 'relay'])).toEqual([])
})

test('limits that contradict each other are a problem', () => {
  expect(problemsOf(['--risk.maxPositionSizeUsd', '100'])).toEqual([
    'default: risk.maxOrderSizeUsd $2,500.00 is above risk.maxPositionSizeUsd $100.00 (flag --risk.maxPositionSizeUsd); it must be equal or lower.',
  ])
})

test('the shipped profiles name the hosts of the chains in the source', () => {
  for (const chain of Object.values(chains)) {
    const file = resolve(import.meta.dirname, `../../config/${chain.name}.json`)
    const { venue } = JSON.parse(readFileSync(file, 'utf8'))
    expect(venue).toEqual({ chain: chain.name, apiHosts: chain.hosts.api, oracleHosts: chain.hosts.oracle })
    expect(load(['--profile', chain.name]).config.venue.chain).toBe(chain)
  }
})

test('amounts of dollars are exact, as text and as JSON numbers', () => {
  fc.assert(
    fc.property(fc.bigInt(10n ** 18n, 10n ** 26n), (units) => {
      const text = `${units / 10n ** 18n}.${(units % 10n ** 18n).toString().padStart(18, '0')}`
      const argv = [
        'risk.maxTotalExposureUsd',
        'risk.maxPositionSizeUsd',
        'risk.maxOrderSizeUsd',
        'risk.minOrderSizeUsd',
      ]
      const { config } = load(argv.map((key) => `--${key}=${text}`))
      expect(config.limits.maxOrderSizeUsd).toBe(parseUnits(text, 30))
    }),
    { seed: 7, numRuns: 50 },
  )
  write('perpd.json', { risk: { maxOrderSizeUsd: 1234.56 } })
  expect(load().config.limits.maxOrderSizeUsd).toBe(usd('1234.56'))
  write('perpd.json', '{ "risk": { "maxOrderSizeUsd": 1234.567890123456789 } }')
  expect(problemsOf()).toEqual([
    'perpd.json: risk.maxOrderSizeUsd is 1234.567890123457; expected an amount of US dollars above 0, as 500 or "500.50".',
  ])
  rmSync(join(cwd, 'perpd.json'))
  for (const bad of ['-1', '0', '1e3', 'NaN', '', '0x10', '٣', 'Infinity']) {
    expect(problemsOf([`--risk.maxOrderSizeUsd=${bad}`])).toHaveLength(1)
  }
})

test('every default fits its own format, and every setting has a variable of its own', () => {
  for (const entry of settings)
    expect([entry.key, entry.reads.read(entry.default)]).toEqual([entry.key, entry.default])
  expect(new Set(settings.map(({ key }) => variableOf(key))).size).toBe(settings.length)
})

test('every setting can be given by flag, by variable and by file', () => {
  for (const { key, default: initial, reads } of settings) {
    if (key === 'profile' || (reads.list && (initial as string[]).length === 0) || initial === '') continue
    const text = Array.isArray(initial) ? initial.join(',') : String(initial)
    expect(load([`--${key}=${text}`]).origins[key]).toBe(`flag --${key}`)
    expect(load([], { [variableOf(key)]: text }).origins[key]).toBe(`env ${variableOf(key)}`)
    const [section = '', name = ''] = key.split('.')
    write('given.json', { [section]: { [name]: initial } })
    expect(load(['--config', 'given.json']).origins[key]).toBe('file given.json')
  }
})

test('a configuration cannot be changed', () => {
  const { config } = load()
  expect(() => Object.assign(config.limits, { maxOrderSizeUsd: 1n })).toThrow(TypeError)
})

test('the nearest word is found by slips of a few letters, and by nothing when all are far', () => {
  expect(distance('levle', 'level')).toBe(1)
  expect(distance('', 'abc')).toBe(3)
  expect(nearest('papre', ['paper', 'arbitrum'])).toBe('paper')
  expect(nearest('zzz', ['paper', 'arbitrum'])).toBeUndefined()
})

test('what warnings do is read by code, and what is no code or action is refused', () => {
  const { adding, droppingReductions } = load().config.signing.warnings
  expect(Object.fromEntries(adding)).toEqual({
    INSUFFICIENT_LIQUIDITY: 'shrink',
    TRADING_CAPACITY_UNAVAILABLE: 'drop',
  })
  expect(droppingReductions.size).toBe(0)
  const given = load([], {
    PERPD__SIGNING__WARNINGS: 'TRADING_CAPACITY_UNAVAILABLE.COLLATERAL_SWAP=sign,NEW_CODE=shrink',
    PERPD__SIGNING__WARNINGS_DROP_REDUCTIONS: 'NEW_CODE',
  }).config.signing.warnings
  expect([...given.adding]).toEqual([
    ['TRADING_CAPACITY_UNAVAILABLE.COLLATERAL_SWAP', 'sign'],
    ['NEW_CODE', 'shrink'],
  ])
  expect([...given.droppingReductions]).toEqual(['NEW_CODE'])
  for (const wrong of ['NEW_CODE', 'NEW_CODE=signed', 'new_code=sign', '*=sign', 'A.B.C=drop'])
    expect(problemsOf(['--signing.warnings', wrong])).toHaveLength(1)
})

test('usual fees of 0 are the usual ones of the chain', () => {
  const of = (...argv: string[]) => {
    const { usualExecutionFee, usualRelayFeeUsd } = load(argv).config.signing
    return [usualExecutionFee, usualRelayFeeUsd]
  }
  expect(of()).toEqual([2n * 10n ** 14n, usd(1)])
  expect(of('--venue.chain', 'avalanche')).toEqual([5n * 10n ** 16n, usd(1)])
  expect(of('--venue.chain', 'megaeth')).toEqual([2n * 10n ** 13n, usd('0.1')])
  expect(of('--signing.usualExecutionFee', '0.001')[0]).toBe(10n ** 15n)
  expect(of('--signing.usualRelayFeeUsd', '0.7')[1]).toBe(usd('0.7'))
})

test('a price tolerance of reductions is never less than that of what adds risk', () => {
  const of = (...argv: string[]) => {
    const { priceToleranceBps, reducingPriceToleranceBps } = load(argv).config.signing
    return [priceToleranceBps, reducingPriceToleranceBps]
  }
  expect(of()).toEqual([100, 200])
  expect(of('--signing.priceToleranceBps', '300')).toEqual([300, 300])
  expect(of('--signing.reducingPriceToleranceBps', '500')).toEqual([100, 500])
})

test('keys of endpoints in arguments are warned of; in a file, a variable, or without a key they are not', () => {
  const url = 'http://127.0.0.1:8545/v2/0123456789abcdef'
  const told = (argv: string[], env: Record<string, string> = {}) =>
    load(argv, env).warnings.filter((warning) => warning.includes('process arguments'))
  for (const [flag, value] of [
    ['--rpc.http', url],
    ['--rpc.http', 'https://me:secret@127.0.0.1:8545/'],
    ['--rpc.http', 'http://127.0.0.1:8545/?key=0123456789abcdef'],
    ['--journal.url', 'postgres://perpd:0123456789abcdef@one:5432,other:5432/perpd'],
  ] as const) {
    const warnings = told([flag, value])
    expect(warnings).toHaveLength(1)
    expect(warnings[0]).toContain(flag)
    expect(warnings[0]).not.toMatch(/0123456789abcdef|secret/)
  }
  expect(told(['--rpc.http', 'http://127.0.0.1:8545'])).toEqual([])
  expect(told(['--journal.url', 'postgres://postgres@127.0.0.1:5432/perpd?sslmode=disable'])).toEqual([])
  expect(told(['--journal.url', 'postgres://perpd@db.internal/perpd'])).toEqual([])
  expect(told(['--rpc.http', 'http://127.0.0.1:8545/arbitrum/rpc/1'])).toEqual([])
  expect(told([], { PERPD__RPC__HTTP: url })).toEqual([])
})
