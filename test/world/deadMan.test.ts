/** What outlives the daemon is told of it: a service manager and a heartbeat while it is well, and its end by a fault; all with the real daemon. */
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Operated, operatedIn } from './operated.ts'
import { killLeftOver, perpd, scratch, startPaper, until } from './processes.ts'

const standIn = new URL('../support/systemdStandIn.ts', import.meta.url).href

let folder: ReturnType<typeof scratch>
let own: Operated
let server: Server
let url: string
/** What the server was asked, in order. */
let asked: { readonly path: string; readonly body: string }[]

beforeEach(async () => {
  folder = scratch()
  own = await operatedIn(folder.path)
  asked = []
  server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => {
      body += String(chunk)
    })
    request.on('end', () => {
      asked.push({ path: request.url ?? '', body })
      response.end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterEach(async () => {
  await killLeftOver()
  server.closeAllConnections()
  server.close()
  folder.remove()
})

const file = (name: string): string => join(folder.path, name)
const beats = (): readonly string[] =>
  asked.map(({ path }) => path).filter((path) => path.startsWith('/ping'))

/** A file that only its owner can read. */
function secretFile(name: string, text: string): string {
  writeFileSync(file(name), text)
  chmodSync(file(name), 0o600)
  return file(name)
}

/** A strategy that does nothing. */
function writeStrategy(): void {
  writeFileSync(
    file('once.yaml'),
    'kind: trend\nenabled: false\nmarket: "ETH/USD [WETH-USDC]"\nsize: { usd: 500, leverage: 2, collateral: short }\n',
  )
}

/** A program in the place of systemd's, which writes down the socket it is to tell and the words. */
function serviceManager(): { readonly env: Record<string, string>; readonly told: () => readonly string[] } {
  writeFileSync(file('notify'), `#!/bin/sh\necho "$NOTIFY_SOCKET $*" >> ${file('told')}\n`)
  chmodSync(file('notify'), 0o755)
  return {
    env: {
      NODE_OPTIONS: `--import ${standIn}`,
      SYSTEMD_STAND_IN: file('notify'),
      NOTIFY_SOCKET: file('socket'),
      WATCHDOG_USEC: '2000000',
    },
    told: () => (existsSync(file('told')) ? readFileSync(file('told'), 'utf8').trim().split('\n') : []),
  }
}

test('a daemon tells its service manager that it is ready, at what and alive, beats, and says at once when a fault ends it', {
  timeout: 300_000,
}, async () => {
  writeStrategy()
  const heartbeatUrlFile = secretFile('heartbeat.url', `${url}/ping/hushhush\n`)
  const secret = secretFile('hook.secret', 'of-the-hook-'.repeat(4))
  const hook = { type: 'webhook', name: 'own', url: `${url}/hook`, secretFile: secret, level: 'error' }
  const config = file('perpd.json')
  writeFileSync(config, JSON.stringify({ notify: { heartbeatUrlFile, heartbeatSeconds: 5, sinks: [hook] } }))
  const { hosts } = await startPaper()
  const { env, told } = serviceManager()
  // Its journal may grow to this much, as on a disk that fills up.
  const daemon = perpd(['run', `--config=${config}`, ...own.flags(hosts)], { env, fileLimitKiB: 600 })
  await own.when('it runs', daemon, ({ state }) => state === 'running')

  const ready = await until('READY is told', () => told().find((line) => line.includes('READY=1')), {
    seen: daemon.said,
  })
  expect(ready).toMatch(
    new RegExp(
      `^${file('socket')} --pid=${daemon.child.pid} READY=1 STATUS=\\w+, trading active: 0 positions`,
    ),
  )
  const watchdog = `${file('socket')} --pid=${daemon.child.pid} WATCHDOG=1`
  await until(
    'WATCHDOG is told twice',
    () => told().filter((line) => line === watchdog).length > 1 || undefined,
  )
  await until('it beats twice', () => beats().length > 1 || undefined, { seen: daemon.said })
  expect(new Set(beats())).toEqual(new Set(['/ping/hushhush']))

  await own.command(hosts, 'trading', 'reducing', '--by=ann', '--reason=news')
  await until(
    'STATUS is told anew',
    () => told().some((line) => / STATUS=running, trading reducing: /.test(line)) || undefined,
    { seen: () => told().join('\n') },
  )

  const token = readFileSync(file('control.token'), 'utf8').trim()
  for (
    let state = 'active';
    daemon.child.exitCode === null;
    state = state === 'active' ? 'reducing' : 'active'
  ) {
    await fetch(`http://127.0.0.1:${own.port}/api/trading`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ scope: 'global', state, reason: 'r'.repeat(200), by: 'ann' }),
    }).catch(() => undefined)
  }
  expect(await daemon.ended, daemon.said()).toBe(1)
  expect(beats().at(-1)).toBe('/ping/hushhush/fail')
  expect(beats().filter((path) => path.endsWith('/fail'))).toHaveLength(1)
  const notices = asked.filter(({ path }) => path === '/hook').map(({ body }) => JSON.parse(body))
  expect(notices.at(-1)).toMatchObject({
    event: 'daemon-crashed',
    level: 'error',
    action: 'Check the log and restart perpd.',
    message: expect.stringContaining('perpd stops: The journal could not be written.'),
  })
  expect(daemon.said()).not.toContain('hush')
  expect(daemon.said()).not.toContain('of-the-hook')
})

test('an address of the heartbeat that others may read, or that is none, ends the start with 4 and without the address', {
  timeout: 120_000,
}, async () => {
  writeStrategy()
  const { hosts } = await startPaper()
  const ends = async (name: string): Promise<string> => {
    const refused = perpd(['run', `--notify.heartbeatUrlFile=${file(name)}`, ...own.flags(hosts)])
    expect(await refused.ended, refused.said()).toBe(4)
    return refused.said()
  }
  writeFileSync(file('open.url'), `${url}/ping/hushhush\n`)
  chmodSync(file('open.url'), 0o644)
  const open = await ends('open.url')
  expect(open).toContain(`chmod 600 ${file('open.url')}`)
  secretFile('none.url', 'ftp://example.org/hushhush')
  const none = await ends('none.url')
  expect(none).toContain('does not hold an https:// address; notify.heartbeatUrlFile names it.')
  expect(`${open}${none}`).not.toContain('hush')
  expect(beats()).toEqual([])
})
