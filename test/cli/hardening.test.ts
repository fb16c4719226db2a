/** How the process was started: what real money forbids, what is told, and which Node runs. */
import { expect, test } from 'vitest'
import { processProblems, processWarnings } from '../../src/daemon/hardening.ts'
import { nodeReport } from '../../src/daemon/nodeBinary.ts'
import type { Entry, Machine } from '../../src/keys/trustedPath.ts'

const live = { isPaper: false }
const paper = { isPaper: true }
const started = (env: Record<string, string>, execArgv: readonly string[] = []) => ({ env, execArgv })

test('certificates that are not looked at, foreign code, open doors and written keys are refused with real money', () => {
  const bad: readonly (readonly [Record<string, string>, readonly string[], RegExp])[] = [
    [{ NODE_TLS_REJECT_UNAUTHORIZED: '0' }, [], /^NODE_TLS_REJECT_UNAUTHORIZED=0 accepts every certificate/],
    [{ SSLKEYLOGFILE: '/tmp/keys' }, [], /^SSLKEYLOGFILE is set/],
    [{ NODE_DEBUG: 'http' }, [], /^NODE_DEBUG is set: it logs the data that it sends/],
    ...[
      '--require /tmp/x.cjs',
      '-r /tmp/x.cjs',
      '--max-old-space-size=512 --import=/tmp/x.mjs',
      '--loader ./x.mjs',
      '--experimental-loader=./x.mjs',
      '"--import=./x y.mjs"',
      '--inspect',
      '--inspect-brk=0',
      '--inspect-port=1',
      '--tls-keylog=/tmp/keys',
      '--tls_keylog=/tmp/keys',
      '--heapsnapshot-signal=SIGUSR2',
      '--report-on-signal',
      '--tls-min-v1.0',
    ].flatMap((options) => [
      [{ NODE_OPTIONS: options }, [], /^NODE_OPTIONS has -/] as const,
      [{}, options.replaceAll('"', '').split(' '), /^node has -/] as const,
    ]),
  ]
  for (const [env, execArgv, says] of bad) {
    const problems = processProblems(live, started(env, execArgv))
    expect([env, execArgv, problems]).toEqual([env, execArgv, [expect.stringMatching(says)]])
    expect(problems[0]).toContain('perpd does not start like this with real money.')
    expect(processProblems(paper, started(env, execArgv))).toEqual([])
  }
})

test('what is honest goes through: other options, other words, and what is only told', () => {
  const good = [
    started({}),
    started({ NODE_TLS_REJECT_UNAUTHORIZED: '1', NODE_OPTIONS: '', NODE_DEBUG: '' }),
    started({ NODE_OPTIONS: '--max-old-space-size=512 --disable-sigusr1' }, ['--disable-sigusr1']),
    started({
      NODE_EXTRA_CA_CERTS: '/etc/ssl/own.pem',
      NODE_COMPILE_CACHE: '/tmp/cache',
      LD_PRELOAD: '/usr/lib/libjemalloc.so',
    }),
  ]
  for (const each of good) expect(processProblems(live, each)).toEqual([])
  expect(processWarnings(live, good[3] ?? started({}))).toEqual([
    'NODE_EXTRA_CA_CERTS is set: it adds certificate authorities for every connection. Unset it if you do not need it.',
    'NODE_COMPILE_CACHE is set: it runs compiled code from a folder, which anyone with write access can change. Unset it if you do not need it.',
    'LD_PRELOAD is set: it loads other code into this process. Unset it if you do not need it.',
  ])
  expect(processWarnings(live, good[2] ?? started({}))).toEqual([
    'NODE_OPTIONS is set: it changes how Node runs this process. Unset it if you do not need it.',
  ])
  expect(processWarnings(paper, good[3] ?? started({}))).toEqual([])
})

test('proxies of the environment are named once, without their addresses, and are no business of who has none', () => {
  const env = { HTTPS_PROXY: 'http://me:secret@proxy:3128', http_proxy: 'http://proxy:3128', NO_PROXY: '*' }
  for (const config of [live, paper]) {
    const [line = '', ...more] = processWarnings(config, { env })
    expect(more).toEqual([])
    expect(line).toMatch(/^HTTPS_PROXY, http_proxy set, but perpd uses no proxy/)
    expect(line).not.toContain('3128')
    expect(processWarnings(config, { env: { HTTPS_PROXY: '', NO_PROXY: '*' } })).toEqual([])
    expect(processWarnings(config, { env: { NODE_USE_ENV_PROXY: '1' } })).toEqual([])
  }
})

const folder = (uid: number, mode = 0o755): Entry => ({ uid, gid: uid, mode, isFolder: true })
const entries: Record<string, Entry> = {
  '/': folder(0),
  '/usr': folder(0),
  '/usr/bin': folder(0),
  '/usr/bin/node': { ...folder(0), isFolder: false },
  '/home': folder(0),
  '/home/me': folder(1000),
  '/home/me/perpd': folder(1000),
  '/home/me/perpd/node_modules': folder(1000),
  '/home/me/perpd/node_modules/node': { ...folder(1000), isFolder: false },
  '/home/other': folder(2000),
  '/home/other/node': { ...folder(2000), isFolder: false },
}
const machine = (more: Record<string, Entry> = {}): Machine => ({
  entryOf: (path) => ({ ...entries, ...more })[path],
  user: 1000,
  group: 1000,
  ownFolder: '/home/me/perpd',
})
const report = (path: string, on = machine()) => nodeReport(path, on, path)

test('the Node of the system is ours to trust; one of another user, of a package, or in an open folder is told', () => {
  expect(report('/usr/bin/node')).toEqual({
    text: `${process.version} at /usr/bin/node, which only you and root can change`,
    warnings: [],
  })
  const other = report('/home/other/node')
  expect(other.text).toContain('/home/other/node, which others can change')
  expect(other.warnings).toEqual([expect.stringContaining('/home/other belongs to another user (2000)')])
  const packaged = report('/home/me/perpd/node_modules/node')
  expect(packaged.warnings).toEqual([
    expect.stringMatching(/comes from a development package.*without a hash in the lockfile/),
  ])
  const open = report('/usr/bin/node', machine({ '/home/me/perpd': folder(1000, 0o777) }))
  expect(open.warnings).toEqual([
    expect.stringMatching(/^the code of perpd in \/home\/me\/perpd is not safe: every user/),
  ])
})

test('the Node that runs this test is told as it is', () => {
  const { text } = nodeReport()
  expect(text).toContain(process.version)
  expect(text).toContain(process.execPath)
})
