/** Signals to the real process, sent by the script of docs/signals.md: taken once over kills, and their secrets nowhere to be read. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { Secret } from '../../src/base/secret.ts'
import { type SignalReceiver, signatureOf } from '../../src/control/signalProof.ts'
import { openSqliteReader } from '../../src/journal/sqlite/journalReader.ts'
import { folderEach } from './folderEach.ts'
import { perpd, type Running, until } from './processes.ts'

const root = resolve(import.meta.dirname, '..', '..')
const bodySecret = 'secret-of-the-body-'.repeat(2)

const folder = folderEach((path) => {
  mkdirSync(join(path, 'strategies'))
  const example = readFileSync(join(root, 'strategies', 'examples', 'eth-signal.yaml'), 'utf8')
  writeFileSync(
    join(path, 'strategies', 'eth-signal.yaml'),
    example.replace('enabled: false', 'enabled: true').replace('cadenceSeconds: 2', 'cadenceSeconds: 1'),
  )
  mkdirSync(join(path, 'bodies'), { mode: 0o700 })
  writeFileSync(join(path, 'bodies', 'eth-signal'), `${bodySecret}\n`, { mode: 0o600 })
})

const secretFile = () => join(folder.path, 'signal.secret')

function start(killAt?: string): Running {
  const flags = [
    '--control.port=0',
    '--log.format=json',
    '--log.level=debug',
    `--journal.path=${join(folder.path, 'journal.sqlite')}`,
    `--control.signalSecretFile=${secretFile()}`,
    `--control.signalBodySecrets=${join(folder.path, 'bodies')}`,
  ]
  return perpd(['run', ...flags], { cwd: folder.path, ...(killAt === undefined ? {} : { killAt }) })
}

async function addressOf(daemon: Running): Promise<string> {
  return await until(
    'perpd is ready',
    () => {
      const lines = daemon.stdout().split('\n')
      if (!lines.some((line) => line.includes('"event":"daemon.ready"'))) return undefined
      const started = lines.find((line) => line.includes('"event":"daemon.started"'))
      return started === undefined
        ? undefined
        : (JSON.parse(started) as { readonly status_url: string }).status_url
    },
    { seen: daemon.said },
  )
}

/** The daemon itself, as its status names it. */
async function receiverOf(url: string): Promise<SignalReceiver> {
  const token = readFileSync(join(folder.path, 'var', 'paper', 'control.token.read'), 'utf8').trim()
  const status = await fetch(`${url}/api/status`, { headers: { authorization: `Bearer ${token}` } })
  return (await status.json()) as SignalReceiver
}

/** The script of the page, as a user copies it. */
async function sendByScript(
  url: string,
  { profile, account }: SignalReceiver,
  body: unknown,
): Promise<readonly [code: number, said: string]> {
  const page = readFileSync(join(root, 'docs', 'signals.md'), 'utf8')
  const [, script = ''] = /```js\n([\s\S]*?)```/.exec(page) ?? []
  writeFileSync(join(folder.path, 'send-signal.mjs'), script)
  const child = spawn(
    process.execPath,
    ['send-signal.mjs', url, secretFile(), profile, account, JSON.stringify(body)],
    {
      cwd: folder.path,
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  let said = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  const [code] = (await once(child, 'close')) as [number]
  return [code, said]
}

async function journal() {
  const reader = openSqliteReader(join(folder.path, 'journal.sqlite'))
  try {
    const intents = (await reader.intents())
      .map(({ intent }) => `${intent.kind} ${intent.terms.direction} ${intent.decision.facts?.signal}`)
      .toReversed()
    return { intents, signals: (await reader.account()).signals }
  } finally {
    await reader.close()
  }
}

const post = async (url: string, body: string, headers: Record<string, string> = {}) => {
  const response = await fetch(`${url}/api/signals`, { method: 'POST', body, headers })
  return [response.status, ((await response.json()) as { readonly error?: string }).error]
}

test('a signal of the script opens, over kills too, and what was sent before is not taken again', {
  timeout: 240_000,
}, async () => {
  const first = start('signal.received:after')
  const url = await addressOf(first)
  expect(statSync(secretFile()).mode & 0o777).toBe(0o600)
  const secret = new Secret(readFileSync(secretFile(), 'utf8').trim())
  const body = JSON.stringify({ strategy: 'eth-signal', action: 'long', name: 'from the test' })
  const stamp = { timestampMs: Date.now(), nonce: 'the-nonce-of-the-test' }
  const headers = {
    'x-perpd-signature': signatureOf(secret, await receiverOf(url), stamp, Buffer.from(body)),
  }
  // It is durable, and perpd is killed before it can say so.
  await expect(post(url, body, headers)).rejects.toThrow()
  expect(await first.ended).toBe('SIGKILL')
  const second = start('strategy.remembered:before')
  expect(await second.ended, second.said()).toBe('SIGKILL')
  const daemon = start()
  const again = await addressOf(daemon)
  expect(await post(again, body, headers)).toEqual([409, 'SIGNAL_REPLAYED'])
  await until('the long is opened', async () => ((await journal()).intents.length > 0 ? true : undefined), {
    seen: daemon.said,
  })
  const receiver = await receiverOf(again)
  const alert = {
    secret: bodySecret,
    sentAt: new Date().toISOString(),
    nonce: 'ETHUSD Long Exit 1',
    strategy: 'eth-signal',
    action: 'flat',
  }
  expect(await sendByScript(again, receiver, { strategy: 'eth-signal', action: 'moon' })).toEqual([
    1,
    expect.stringMatching(/^400 .*"SIGNAL_MALFORMED"/),
  ])
  expect(
    await sendByScript(again, receiver, { strategy: 'eth-signal', action: 'short', market: 'ETH' }),
  ).toEqual([0, expect.stringMatching(/^202 .*"signal":2/)])
  await until('the long is closed and the short opened', async () =>
    (await journal()).intents.includes('increase short 2') ? true : undefined,
  )
  expect(await post(again, JSON.stringify(alert))).toEqual([202, undefined])
  await until('the short is closed', async () =>
    (await journal()).intents.includes('close short 3') ? true : undefined,
  )
  const port = `--control.port=${new URL(again).port}`
  const asked = perpd(['strategies', port], { cwd: folder.path, env: { COLUMNS: '100' } })
  expect(await asked.ended, asked.said()).toBe(0)
  expect(asked.stdout()).toMatch(
    /the last signal of eth-signal, 3, said flat ETH\/USD \[WETH-USDC\] .* ago: taken/,
  )
  const metrics = await (await fetch(`${again}/metrics`)).text()
  expect(metrics).toContain('perpd_signals_total{result="accepted"} 2\n')
  expect(metrics).toContain('perpd_signals_total{result="replayed"} 1\n')
  daemon.child.kill('SIGTERM')
  await daemon.ended
  const { intents, signals } = await journal()
  expect(intents.filter((each) => each.startsWith('increase'))).toEqual([
    'increase long 1',
    'increase short 2',
  ])
  expect(signals?.received).toBe(3)
  // Neither secret is anywhere but in its own file.
  const saved = join(folder.path, 'bodies')
  const files = readdirSync(folder.path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.parentPath !== saved && entry.name !== 'signal.secret')
    .map((entry) => readFileSync(join(entry.parentPath, entry.name)).toString('latin1'))
  const said = [first, second, daemon, asked].map((each) => each.said())
  for (const text of [...files, ...said, metrics]) {
    expect(text.includes(bodySecret)).toBe(false)
    expect(text.includes(secret.reveal())).toBe(false)
  }
})

test('secrets that others may read, that are short, or that stand twice keep perpd from starting', {
  timeout: 120_000,
}, async () => {
  const refusedWith = async (said: RegExp) => {
    const daemon = start()
    expect(await daemon.ended).toBe(4)
    expect(daemon.said()).toMatch(said)
  }
  writeFileSync(secretFile(), 'short\n', { mode: 0o600 })
  await refusedWith(/signal\.secret holds no signal secret: 32 to 256/)
  writeFileSync(secretFile(), `${bodySecret}\n`)
  await refusedWith(/eth-signal holds the same secret as .*signal\.secret/)

  writeFileSync(secretFile(), `${'another-secret-'.repeat(3)}\n`)

  chmodSync(secretFile(), 0o644)
  await refusedWith(/KEY_FILE_PERMISSIONS|open to others/)
})
