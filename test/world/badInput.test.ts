/** What the real process says to bad input, whole, and how it ends: 4 for the configuration, 1 for everything else. */
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test, vi } from 'vitest'
import { createSqliteJournal } from '../../src/journal/sqlite/openSqlite.ts'
import { paperSigner } from '../../src/keys/local.ts'
import { wholeStory } from '../journal/story.ts'
import { folderEach } from './folderEach.ts'
import {
  daemonFlags,
  ordersOf,
  perpd,
  type Running,
  startPaper,
  until,
  venueOf,
  writeOnceStrategy,
} from './processes.ts'

const shipped = resolve(import.meta.dirname, '..', '..', 'strategies', 'eth-trend.yaml')
// Each test starts several processes, beside those of other tests.
vi.setConfig({ testTimeout: 120_000 })

const journalOptions = { clockNow: () => 1_800_000_000_000, holder: 'test' }

const folder = folderEach((path) => {
  mkdirSync(join(path, 'strategies'))
  copyFileSync(shipped, join(path, 'strategies', 'eth-trend.yaml'))
})

const file = (name: string): string => join(folder.path, name)

/** The shipped strategy file with one text put in another's place. */
function strategy(from: string, to: string): void {
  const text = readFileSync(shipped, 'utf8')
  expect(text).toContain(from)
  writeFileSync(file('strategies/eth-trend.yaml'), text.replace(from, to))
}

/** Runs to the end; its exit code, what it wrote to standard error, and what to standard output. */
async function end(
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<{ readonly code: number | NodeJS.Signals; readonly err: string; readonly out: string }> {
  const running = perpd(args, { cwd: folder.path, env })
  const code = await running.ended
  return { code, err: plain(running.stderr()), out: plain(running.stdout()) }
}

/** The same words on every machine: without the folder and without the last line break. */
function plain(text: string): string {
  return text.replaceAll(folder.path, 'DIR').trimEnd()
}

/** Exit code and standard error; standard output must be empty. */
async function said(args: readonly string[], env: Record<string, string> = {}): Promise<string> {
  const { code, err, out } = await end(args, env)
  expect(out).toBe('')
  return `${code}\n${err}`
}

/** A port that is taken until the test ends, and how often somebody came. */
async function listener(): Promise<{ readonly port: number; readonly visits: () => number; server: Server }> {
  let visits = 0
  const server = createServer((_request, response) => response.end())
  server.on('connection', () => {
    visits += 1
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', () => done()))
  return { port: (server.address() as AddressInfo).port, visits: () => visits, server }
}

test('an unknown setting is told with the one that was meant, wherever it stands, and nothing starts', async () => {
  const nothing =
    '  Nothing was started. Settings: docs/reference/configuration.md; values in force: perpd config'
  const head = '4\nThe configuration has a problem.'
  const [flag, short, variable] = await Promise.all([
    said(['run', '--risk.maxOrdrSizeUsd', '5']),
    said(['check', '--maxOrderSizeUsd=5']),
    said(['run'], { PERPD__RISK__MAX_ORDER_SIZ_USD: '5' }),
  ])
  expect(flag).toBe(
    `${head}\n  --risk.maxOrdrSizeUsd: no such flag. Did you mean --risk.maxOrderSizeUsd?\n${nothing}`,
  )
  expect(short).toBe(
    '4\n--maxOrderSizeUsd: check has no such flag. Did you mean --risk.maxOrderSizeUsd?\n' +
      'usage: perpd check [FILE] [--json] [--section.key value ...]',
  )
  expect(variable).toBe(
    `${head}\n  env PERPD__RISK__MAX_ORDER_SIZ_USD: no such setting. Did you mean PERPD__RISK__MAX_ORDER_SIZE_USD?\n${nothing}`,
  )
  writeFileSync(file('perpd.json'), JSON.stringify({ risk: { maxOrderSizUsd: 5 } }))
  writeFileSync(file('other.json'), '{ "risk": { "maxOrderSizeUsd": 5, } }')
  const [own, named] = await Promise.all([said(['run']), said(['run', '--config', 'other.json'])])
  expect(own).toBe(
    `${head}\n  perpd.json: risk.maxOrderSizUsd: no such setting. Did you mean risk.maxOrderSizeUsd?\n${nothing}`,
  )
  expect(named).toBe(
    `${head}\n  other.json: it is not JSON: at line 1 column 35 a key in double quotes is expected, and none after the last comma.\n${nothing}`,
  )
  expect(readdirSync(folder.path).sort()).toEqual(['other.json', 'perpd.json', 'strategies'])
})

test('values of the wrong type and negative sizes are told all at once', async () => {
  writeFileSync(file('perpd.json'), JSON.stringify({ api: { timeoutMs: '10' }, log: 'loud' }))
  const env = { PERPD__RISK__MAX_LEVERAGE: 'high' }
  expect(await said(['run', '--control.port', 'abc', '--risk.maxOrderSizeUsd=-5'], env)).toBe(
    [
      '4',
      'The configuration has 5 problems.',
      '  flag --control.port: control.port is "abc"; expected a whole number from 0 to 65535.',
      '  flag --risk.maxOrderSizeUsd: risk.maxOrderSizeUsd is "-5"; expected an amount of US dollars above 0, as 500 or "500.50".',
      '  env PERPD__RISK__MAX_LEVERAGE: risk.maxLeverage is "high"; expected a leverage from 1 to 200, as 5 or "2.5".',
      '  perpd.json: api.timeoutMs is "10"; expected a whole number from 100 to 120000.',
      '  perpd.json: log is a text; expected an object of settings.',
      '  Nothing was started. Settings: docs/reference/configuration.md; values in force: perpd config',
    ].join('\n'),
  )
})

test('a strategy file that is no YAML is told with file, line and column', async () => {
  writeFileSync(file('strategies/bad.yaml'), 'kind: trend\nsize: { usd: 500\nmarket: "ETH/USD [WETH-USDC]"\n')
  writeFileSync(file('strategies/tab.yaml'), 'kind: guard\n\tslippageBps: 5\n')
  writeFileSync(file('strategies/alias.yaml'), 'kind: guard\nmarkets: *mine\n')
  const [run, check] = await Promise.all([said(['run']), end(['check'])])
  expect(run).toMatchInlineSnapshot(`
    "4
    DIR/strategies/alias.yaml:2:10: has a YAML alias that cannot be used: Unresolved alias (the anchor must be set before the alias): mine.
      fix: write the value out instead of the *alias; a text that begins with * needs quotes
    DIR/strategies/bad.yaml:2:7: cannot be read as YAML: the { that opens here is not closed.
      fix: close it, on the same line where it is a quote, or leave the { out
    DIR/strategies/tab.yaml:2:1: cannot be read as YAML: Tabs are not allowed as indentation.
      fix: correct the YAML at this place; indentation and quotes are the usual reasons"
  `)
  expect(`${check.code}\n${check.err}`).toBe(run)
  expect(check.out.split('\n').at(-1)).toBe('perpd would not start with this configuration.')
})

test('an unknown field, an unknown kind and a negative size in a strategy file are told with their place', async () => {
  strategy('usd: 500', 'usd: -500')
  writeFileSync(
    file('strategies/fields.yaml'),
    'kind: guard\ncadenceSecond: 5\nparams: { minDistanceBp: 800 }\n',
  )
  writeFileSync(file('strategies/kind.yaml'), 'kind: trned\n')
  const [run, check] = await Promise.all([said(['run']), end(['check', '--json'])])
  expect(run).toMatchInlineSnapshot(`
    "4
    DIR/strategies/eth-trend.yaml:10:8: size.usd is not valid.
      field: size.usd
      value: -500
      expected: an amount of US dollars above 0, like 250 or "250.50"
      fix: change the value
    DIR/strategies/fields.yaml:2:1: cadenceSecond is not a known field.
      field: cadenceSecond
      value: 5
      expected: one of kind, enabled, market, markets, cadenceSeconds, size, limits, warnings, slippageBps, orderExpirySeconds, exit, protect, onRemove, params
      fix: did you mean "cadenceSeconds"?
    DIR/strategies/fields.yaml:3:11: params.minDistanceBp is not a known field.
      field: params.minDistanceBp
      value: 800
      expected: one of minDistanceBps, closeDistanceBps, reduceShareBps, maxLeverage, addCollateralFirst, keepWalletUsd
      fix: did you mean "minDistanceBps"?
    DIR/strategies/kind.yaml:1:7: kind is not a kind of strategy.
      field: kind
      value: "trned"
      expected: one of approval-keeper, breakout, carry, claimer, collateral-keeper, grid, guard, hedged-carry, impact-capture, ladder, mean-reversion, order-janitor, protector, rebalancer, rotation, signal, target-exposure, trend, or a file of your own like ./mine.ts
      fix: did you mean "trend"?"
  `)
  expect([check.code, check.err]).toEqual([4, ''])
  const { ok, problems } = JSON.parse(check.out) as { ok: boolean; problems: string[] }
  expect(ok).toBe(false)
  expect(`4\n${problems.join('\n')}`).toBe(run)
})

test('a market that the venue does not list is told by check without network, and by run once the venue was read', async () => {
  strategy('"ETH/USD [WETH-USDC]"', '"ETH/USD [WETH-USDT]"')
  const [check, run] = await Promise.all([
    end(['check']),
    end(['run', '--control.port=0', '--log.format=json'], venueOf([])),
  ])
  expect(`${check.code}\n${check.err}`).toMatchInlineSnapshot(`
    "4
    DIR/strategies/eth-trend.yaml:6:9: market is not a market of the venue.
      field: market
      value: "ETH/USD [WETH-USDT]"
      expected: the full symbol of one of 127 markets, like "ETH/USD [WETH-USDC]"
      fix: did you mean "ETH/USD [WETH-USDC]"?"
  `)
  expect([run.code, run.err]).toEqual([4, ''])
  const last = JSON.parse(run.out.split('\n').at(-1) ?? '') as Record<string, string>
  expect(last.level).toBe('error')
  expect(last.message?.replace(/[;\s]+/g, ' ')).toBe(check.err.replace(/[;\s]+/g, ' '))
})

test('a journal that cannot be used is refused, left as it is, and never traded without', async () => {
  mkdirSync(file('directory.db'))
  writeFileSync(file('garbage.db'), 'not a database, '.repeat(300))
  await writeJournal('damaged.db')
  const bytes = readFileSync(file('damaged.db'))
  const at = bytes.indexOf('the price rose')
  expect(at).toBeGreaterThan(0)
  bytes[at] = 0x54
  writeFileSync(file('damaged.db'), bytes)
  await writeJournal('newer.db')
  const db = new DatabaseSync(file('newer.db'))
  db.exec('PRAGMA user_version = 99')
  db.close()
  const kept = ['garbage.db', 'damaged.db', 'newer.db'].map((name) => readFileSync(file(name)))
  const run = (name: string) => said(['run', '--control.port=0', `--journal.path=${name}`])
  // The first one makes the key of the folder.
  const directory = await run('directory.db')
  const [garbage, damaged, newer, scheme] = await Promise.all([
    run('garbage.db'),
    run('damaged.db'),
    run('newer.db'),
    run('redis://host/0'),
  ])
  expect(directory).toMatchInlineSnapshot(`
    "1
    The journal path is a directory.
      path: DIR/directory.db
      Nothing was changed. Set the journal path to a file, for example perpd.db inside that directory."
  `)
  expect(garbage).toMatchInlineSnapshot(`
    "1
    The journal file is not a sqlite file, or its first page is damaged.
      path: DIR/garbage.db
      reason: file is not a database
      Nothing was changed. Set the journal path to another file, or restore this one from a backup."
  `)
  expect(damaged).toMatchInlineSnapshot(`
    "1
    The journal file is damaged.
      path: DIR/damaged.db
      seq: 1
      reason: the record does not match its hash
      perpd does not start on a journal that it cannot read completely. Keep this file, restore a backup made while perpd was stopped, and compare the open orders at the venue before you trade."
  `)
  expect(newer).toMatchInlineSnapshot(`
    "1
    The journal was written by a newer perpd.
      path: DIR/newer.db
      version: 99
      readable: 1
      Nothing was changed. Run the newer perpd; an older one would misread open orders."
  `)
  expect(scheme).toMatchInlineSnapshot(`
    "4
    The configuration has a problem.
      flag --journal.path: journal.path has the unknown scheme redis:; a journal is a path, sqlite:PATH, or memory:.
      Nothing was started. Settings: docs/reference/configuration.md; values in force: perpd config"
  `)
  expect(['garbage.db', 'damaged.db', 'newer.db'].map((name) => readFileSync(file(name)))).toEqual(kept)
  const orders = (name: string) => said(['orders', `--journal.path=${name}`])
  expect(await Promise.all([orders('directory.db'), orders('garbage.db'), orders('newer.db')])).toEqual([
    directory,
    garbage,
    newer,
  ])
  expect(await orders('none.db')).toMatchInlineSnapshot(`
    "2
    There is no journal at DIR/none.db.
      No daemon has run with the profile paper here yet, or journal.path names another place. Start one with: perpd run (in a checkout: npm start)"
  `)
})

/** A journal with the records of one closed order. */
async function writeJournal(name: string): Promise<void> {
  const journal = createSqliteJournal({ ...journalOptions, path: file(name) })
  for (const record of wholeStory(1)) await journal.append(record)
  await journal.close()
}

test('a second daemon on the same journal names the first and changes nothing', async () => {
  const first = perpd(['run', '--control.port=0', '--log.format=json'], { cwd: folder.path })
  await until('the first is ready', () => first.stdout().includes('daemon.ready') || undefined, {
    seen: first.said,
  })
  const second = await said(['run', '--control.port=0'])
  first.child.kill('SIGTERM')
  expect(await first.ended).toBe(0)
  const words = second
    .replace(`pid: ${first.child.pid}`, 'pid: PID')
    .replace(/startedAt: \S+/, 'startedAt: TIME')
    .replace(/hostname: \S+/, 'hostname: HOST')
    .replace(/holder: 0x[0-9a-fA-F]{40}/, 'holder: ACCOUNT')
  expect(words).toMatchInlineSnapshot(`
    "1
    Another perpd uses this journal.
      path: DIR/var/paper/journal.db
      pid: PID
      startedAt: TIME
      hostname: HOST
      holder: ACCOUNT
      This one changed nothing and stops: two daemons on one journal would trade twice. Stop the other one first, or set another journal for this one."
  `)
})

test('a port in use keeps neither daemon nor venue from serving: both take a free one, and say so', async () => {
  const taken = await listener()
  const { port } = taken
  const daemon = perpd(['run', `--control.port=${port}`, `--paper.port=${port}`, '--log.format=json'], {
    cwd: folder.path,
  })
  await until(
    'both say where they serve',
    () => daemon.said().includes('"event":"daemon.portMoved"') || undefined,
    {
      seen: daemon.said,
    },
  )
  expect(daemon.said()).toContain('"event":"paper.moved"')
  daemon.child.kill('SIGTERM')
  await daemon.ended
  taken.server.close()
})

test('a place that the paper venue cannot write is one clear message', async () => {
  writeFileSync(file('plain'), 'x')
  const run = (flag: string) => said(['run', '--control.port=0', flag])
  const [state, key] = await Promise.all([
    run('--paper.stateFile=plain/world.json'),
    run('--paper.keyFile=plain/account.key'),
  ])
  const full = perpd(['run', '--control.port=0', '--journal.path=memory:'], {
    cwd: folder.path,
    env: venueOf([]),
    fileLimitKiB: 60,
  })
  expect(await full.ended).toBe(1)
  expect(plain(full.said())).toMatchInlineSnapshot(`
    "The paper venue cannot save its state: EFBIG: file too large, write.
      Nothing was started. Free space, or name another place: --paper.stateFile FILE"
  `)
  expect(state).toMatchInlineSnapshot(`
    "1
    perpd cannot write its state, and did not start.
      DIR/plain is no folder.
      Name another place: --paper.stateFile FILE. The simplest way is a folder of your own: go there and run perpd init."
  `)
  expect(key).toMatchInlineSnapshot(`
    "1
    perpd cannot write its state, and did not start.
      DIR/plain is no folder.
      Name another place: --paper.keyFile FILE. The simplest way is a folder of your own: go there and run perpd init."
  `)
})

test('a live profile starts only with a key of its own user, asked for in so many words, and nobody is asked before', async () => {
  const key = `0x${'2b'.repeat(32)}\n`
  writeFileSync(file('key'), key, { mode: 0o600 })
  writeFileSync(file('open'), key)
  chmodSync(file('open'), 0o644)
  symlinkSync(file('key'), file('link'))
  writeFileSync(file('garbage'), 'correct horse battery staple\n', { mode: 0o600 })
  const net = await listener()
  const host = `http://127.0.0.1:${net.port}`
  const live = [
    '--profile=arbitrum',
    `--venue.apiHosts=${host}/v1`,
    `--venue.oracleHosts=${host}`,
    '--control.port=0',
  ]
  const run = (...flags: string[]) => said(['run', ...live, ...flags])
  const withKey = (name: string) => run(`--account.keyFile=${name}`, '--account.acceptRawKey')
  const [none, raw, missing, open, link, garbage, trusting] = await Promise.all([
    run(),
    run('--account.keyFile=key'),
    withKey('nothing'),
    withKey('open'),
    withKey('link'),
    withKey('garbage'),
    run('--account.keyFile=key', '--account.acceptRawKey', '--evidence.trustVenue'),
  ])
  const check = await end(['check', ...live, '--account.keyFile=open', '--account.acceptRawKey'])
  net.server.close()
  expect(net.visits()).toBe(0)
  expect(none).toMatchInlineSnapshot(`
    "4
    no key is configured; the profile arbitrum trades real money and needs one: --account.keystore FILE (perpd keys new makes it) or --account.remoteSigner URL
      Nothing was started. Paper needs no key: npm start"
  `)
  expect(raw).toMatchInlineSnapshot(`
    "4
    account.acceptRawKey is false; the profile arbitrum trades real money, and anyone who reads a raw key file controls the account. Encrypt it with perpd keys import, or accept the risk: --account.acceptRawKey
      Nothing was started. Paper needs no key: npm start"
  `)
  expect(missing).toMatchInlineSnapshot(`
    "4
    The key file cannot be opened.
      path: DIR/nothing
      reason: ENOENT: no such file or directory, open 'DIR/nothing'
      perpd did not start. Name an existing regular file in account.keyFile (links are refused)."
  `)
  expect(open.replace(`owner: ${process.getuid?.()}`, 'owner: USER')).toMatchInlineSnapshot(`
    "4
    The key file is open to others.
      path: DIR/open
      mode: 644
      owner: USER
      perpd did not start. Make it yours alone: chmod 600 DIR/open"
  `)
  expect(link).toMatchInlineSnapshot(`
    "4
    The key file cannot be opened.
      path: DIR/link
      reason: it is a symbolic link
      perpd did not start. Name an existing regular file in account.keyFile (links are refused)."
  `)
  expect(garbage).toMatchInlineSnapshot(`
    "4
    The key file holds no private key.
      path: DIR/garbage
      expected: 0x and 64 hex digits on one line
      perpd did not start."
  `)
  expect(trusting).toMatchInlineSnapshot(`
    "4
    The configuration has a problem.
      flag --evidence.trustVenue: evidence.trustVenue is true; with real money the venue's statement alone never closes an order. Remove it.
      Nothing was started. Settings: docs/reference/configuration.md; values in force: perpd config"
  `)
  expect(check.code).toBe(4)
  expect(`4\n${check.err.replace(/^warning: .*\n/gm, '')}`).toBe(open)
  for (const text of [none, raw, missing, open, link, garbage, trusting, check.err]) {
    expect(text).not.toContain('2b2b')
    expect(text).not.toContain('horse')
  }
  expect(readdirSync(folder.path)).not.toContain('var')
})

test('paper takes no key of anybody', async () => {
  writeFileSync(file('key'), `0x${'2b'.repeat(32)}\n`, { mode: 0o600 })
  const [run, check] = await Promise.all([
    said(['run', '--account.keyFile=key']),
    said(['check', '--account.keyFile=key']),
  ])
  expect(run).toMatchInlineSnapshot(`
    "4
    The configuration has a problem.
      flag --account.keyFile: account.keyFile is set; the paper profile signs only with its throwaway key, because a signature made on paper is valid on the live chain.
      Nothing was started. Settings: docs/reference/configuration.md; values in force: perpd config"
  `)
  expect(check).toBe(run)
  const [ownRun, ownCheck] = await Promise.all([
    said(['run', '--control.port=0', '--paper.keyFile=key']),
    end(['check', '--paper.keyFile=key']),
  ])
  expect(ownRun).toMatchInlineSnapshot(`
    "4
    The key file is not one that perpd made for paper.
      path: DIR/key
      expected: a first line that says "perpd paper key: play money only"
      perpd did not start: signatures made on paper are valid on the live chain, so paper uses only keys that it made. Set paper.keyFile to a file that does not exist yet."
  `)
  expect(`${ownCheck.code}\n${ownCheck.err}`).toBe(ownRun)
})

/** What the last line of a JSON log says, and that nothing was said after it. */
function lastWords(running: Running): Record<string, string> {
  expect(running.stderr()).toBe('')
  return JSON.parse(plain(running.stdout()).split('\n').at(-1) ?? '') as Record<string, string>
}

/** The one line with which a daemon ends that cannot write its journal any more. */
/** Messages in one line; how many records shared the commit that failed depends on the moment. */
function flat(text: string | undefined): string | undefined {
  return text?.replace(/[;\s]+/g, ' ').replace(/records: [1-9]\d* /, 'records: N ')
}

function stopped(why: string, reason: string): string {
  return [
    `perpd stops: ${why} path: DIR/journal.sqlite records: N reason: ${reason}`,
    'perpd stops on purpose: it never trades without its journal, and never retries a failed write. Nothing is sent after this.',
    'Free space on the disk (or raise the file size or journal limit), check the disk for errors, then start perpd; it resumes every open order from the journal.',
  ].join(' ')
}

test('a disk that fills up stops the daemon on purpose at whichever record it is, and nothing is sent after it', {
  timeout: 300_000,
}, async () => {
  const paper = await startPaper(['--paper.orderDeadlineSeconds=6', '--paper.keeperDelayMs=300'])
  const digests = async (): Promise<readonly string[]> => {
    const rows = (await (await fetch(`${paper.control}/record`)).json()) as readonly { digest: string }[]
    return rows.map(({ digest }) => digest)
  }
  try {
    writeOnceStrategy(folder.path)
    const flags = daemonFlags(folder.path, paper.hosts)
    const seen: string[] = []
    // The journal of one order grows beyond each of these limits at another record of its road.
    for (const fileLimitKiB of [120, 139, 141, 143, 170]) {
      for (const name of readdirSync(folder.path)) if (name.startsWith('journal.')) rmSync(file(name))
      rmSync(file('key'), { force: true })
      const before = await digests()
      const full = perpd(['run', ...flags], { cwd: folder.path, fileLimitKiB })
      expect(await full.ended, full.said()).toBe(1)
      const last = lastWords(full)
      expect(last.level).toBe('error')
      expect(flat(last.message)).toBe(flat(stopped('The journal could not be written.', 'disk I/O error')))
      const [order, ...others] = await ordersOf(folder.path)
      expect(others).toEqual([])
      const sent = (await digests()).filter((digest) => !before.includes(digest))
      // What reached the venue was armed in the journal before; an order that was not armed never left.
      expect(sent.every((digest) => digest === order?.digest)).toBe(true)
      seen.push(
        `${order === undefined ? 'nothing' : order.digest === null ? 'planned' : 'armed'}, ${sent.length} sent`,
      )
      // With room again the same journal brings the order home, without sending it twice.
      const again = perpd(['run', ...flags], { cwd: folder.path })
      await until(
        'an order is executed',
        () => again.stdout().includes('"state_to":"executed"') || undefined,
        { timeoutMs: 60_000, seen: again.said },
      )
      again.child.kill('SIGTERM')
      expect(await again.ended, again.said()).toBe(0)
      const all = await digests()
      expect(new Set(all).size).toBe(all.length)
      const rows = await ordersOf(folder.path)
      expect(rows.filter(({ status }) => status === 'executed')).toHaveLength(1)
    }
    expect(new Set(seen)).toEqual(new Set(['nothing, 0 sent', 'planned, 0 sent', 'armed, 1 sent']))
  } finally {
    paper.child.kill('SIGTERM')
    await paper.ended
  }
})

test('a journal at its own size limit takes no increase, says so, and ends in good order with nothing sent', async () => {
  const paper = await startPaper()
  try {
    writeOnceStrategy(folder.path)
    // Closed orders of the same account on former days, up to the limit of 1 MiB.
    const former = { account: paperSigner(file('key')).address, acceptedAtMs: 1_700_000_000_000 }
    const journal = createSqliteJournal({
      ...journalOptions,
      path: file('journal.sqlite'),
      maxBytes: 1024 * 1024,
    })
    const fill = async (): Promise<void> => {
      for (let n = 1; ; n += 1)
        await Promise.all(wholeStory(n, former).map((record) => journal.append(record)))
    }
    await expect(fill()).rejects.toThrow('The journal is full.')
    await journal.close()
    const full = perpd(['run', ...daemonFlags(folder.path, paper.hosts), '--journal.maxMiB=1'], {
      cwd: folder.path,
    })
    const denied = await until(
      'an increase is denied',
      () =>
        full
          .stdout()
          .split('\n')
          .find((line) => line.includes('JOURNAL_SHORT')),
      { seen: full.said },
    )
    expect(denied).toContain('journal.maxMiB')
    full.child.kill('SIGTERM')
    expect(await full.ended, full.said()).toBe(0)
    expect(await (await fetch(`${paper.control}/record`)).json()).toEqual([])
  } finally {
    paper.child.kill('SIGTERM')
    await paper.ended
  }
})

test('another code at the router than the pinned one ends the start', async () => {
  const pin = `0x${'11'.repeat(32)}`
  const { code, err, out } = await end([
    'run',
    '--log.format=json',
    '--control.port=0',
    `--rpc.routerCodeHash=${pin}`,
  ])
  expect(code).toBe(4)
  expect(err + out).toMatch(
    /shows another contract at 0x[0-9a-fA-F]{40}: its code has the hash 0x[0-9a-f]{64} instead of 0x1111/,
  )
})
