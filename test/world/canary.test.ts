/**
 * Canaries in every place a secret can come from: real daemons trade with them on the paper venue, fail with them in every
 * way there is, and then everything they wrote is searched: standard output and error, log lines of both formats at their
 * most talkative, journals and every other file, and every page of the control port.
 */
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Secret } from '../../src/base/secret.ts'
import { encryptKey } from '../../src/keys/keystore.ts'
import {
  daemonFlags,
  killLeftOver,
  type PaperHosts,
  perpd,
  type Running,
  scratch,
  startPaper,
  until,
  writeOnceStrategy,
} from './processes.ts'

vi.setConfig({ testTimeout: 180_000 })

let folder: ReturnType<typeof scratch>
const closers: (() => void)[] = []
beforeEach(() => {
  folder = scratch()
})
afterEach(async () => {
  await killLeftOver()
  for (const close of closers.splice(0)) close()
  folder.remove()
})

/** A key that is nobody's, as digits without 0x. */
const keyOf = (name: string): string => createHash('sha256').update(`canary ${name}`).digest('hex')
/** A text that occurs nowhere by chance. */
const wordOf = (name: string): string => `canary-${name}-${keyOf(name).slice(0, 24)}`

/** Everything a secret looks like: its own text, and what encoders and printers make of it. */
function formsOf(secret: string): readonly Buffer[] {
  const isKey = /^[0-9a-f]{64}$/.test(secret)
  const bytes = isKey ? Buffer.from(secret, 'hex') : Buffer.from(secret)
  const texts = isKey
    ? [secret.slice(0, 20), secret.slice(-20), String(BigInt(`0x${secret}`))]
    : [secret, encodeURIComponent(secret)]
  const all = [...texts, ...texts.map((each) => each.toUpperCase())]
  const encoded = [
    bytes.toString('base64').replace(/=+$/, '').slice(0, -1),
    bytes.toString('base64url'),
    bytes.toString('hex'),
  ]
  return [...all, ...encoded].map((each) => Buffer.from(each)).concat(isKey ? [bytes] : [])
}

/** Which secrets stand in some bytes, by name. */
function leaksIn(bytes: Buffer, secrets: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(secrets)
    .filter(([, secret]) => formsOf(secret).some((form) => bytes.includes(form)))
    .map(([name]) => name)
}

function filesBelow(path: string): readonly string[] {
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
}

/** A folder of one daemon's own, with its strategy; where secrets are put is another folder. */
function home(name: string): { readonly own: string; readonly given: string } {
  const [own, given] = [join(folder.path, name), join(folder.path, `${name}-given`)]
  for (const path of [own, given]) mkdirSync(path, { mode: 0o700 })
  writeOnceStrategy(own)
  return { own, given }
}

function secretFile(path: string, text: string): string {
  writeFileSync(path, text, { mode: 0o600 })
  return path
}

const cheap = { n: 2 ** 12, r: 8, p: 1 }

async function keystoreFile(path: string, key: string, password: string): Promise<string> {
  const text = await encryptKey(new Secret(`0x${key}`), new Secret(password), cheap)
  return secretFile(path, text.reveal())
}

/** A remote signer that wants a token, and names it when it is not right. */
async function serveSigner(key: string, token: string): Promise<string> {
  const account = privateKeyToAccount(`0x${key}`)
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { id, method, params } = JSON.parse(Buffer.concat(chunks).toString())
    const given = String(request.headers.authorization)
    const sign = async (): Promise<Hex> => {
      const { types, ...rest } = JSON.parse(params[1])
      const { EIP712Domain: _, ...own } = types
      return await account.signTypedData({ ...rest, types: own })
    }
    const body =
      given === `Bearer ${token}`
        ? { result: method === 'eth_accounts' ? [account.address] : await sign() }
        : { error: { code: -1, message: `bad token: ${given}` } }
    response.writeHead(200).end(JSON.stringify({ jsonrpc: '2.0', id, ...body }))
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  closers.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Every page there is, and some there are not, as whoever has each token may see them. */
async function pagesOf(daemon: Running, tokens: readonly string[]): Promise<string> {
  const line = daemon
    .stdout()
    .split('\n')
    .find((each) => each.includes('"event":"daemon.started"'))
  const url = String(JSON.parse(line ?? '{}').status_url)
  const paths = [
    '/',
    '/metrics',
    '/healthz',
    '/livez',
    '/readyz',
    '/api/status',
    '/api/orders',
    '/api/config',
    '/nothing',
  ]
  const texts: string[] = []
  for (const token of [undefined, 'wrong-token', ...tokens]) {
    for (const path of paths) {
      const response = await fetch(
        `${url}${path}`,
        token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } },
      )
      texts.push(`${path} ${response.status} ${[...response.headers]} ${await response.text()}`)
    }
  }
  return texts.join('\n')
}

function isExecuted(daemon: Running): true | undefined {
  return (
    daemon
      .stdout()
      .split('\n')
      .some((line) => /"event":"order.moved".*"state_to":"executed"/.test(line)) || undefined
  )
}

/** Whether a file is where the control port keeps a token, which is a secret of the daemon's own making. */
const isTokenFile = (path: string): boolean => /control\.token(\.read)?$/.test(path)

test('no secret is in anything that trading daemons write or serve', async () => {
  const venue = await startPaper()
  const secrets = {
    keystoreKey: keyOf('keystore'),
    password: wordOf('password'),
    remoteKey: keyOf('remote'),
    remoteToken: wordOf('token'),
    variableKey: keyOf('variable'),
    fileKey: keyOf('file'),
    rpcKey: wordOf('rpc'),
    socketKey: wordOf('socket'),
    paperKey: keyOf('paper'),
  }
  const rpcFlags = (hosts: PaperHosts): string[] => [
    `--rpc.http=${hosts.rpc[0]}?apikey=${secrets.rpcKey}`,
    // Nobody answers there, so that its troubles are told.
    `--rpc.ws=ws://127.0.0.1:9/v2/${secrets.socketKey}`,
  ]
  const start = (
    name: string,
    profile: string,
    flags: readonly string[],
    env: Record<string, string> = {},
  ) => {
    const { own } = homes[name as keyof typeof homes]
    const args = [...daemonFlags(own, venue.hosts), ...rpcFlags(venue.hosts), `--profile=${profile}`]
    return perpd(['run', ...args, '--log.level=debug', ...flags], { cwd: own, env })
  }
  const homes = {
    keystore: home('keystore'),
    remote: home('remote'),
    variable: home('variable'),
    file: home('file'),
    paper: home('paper'),
  }
  const at = (name: keyof typeof homes, file: string): string => join(homes[name].given, file)
  const keystore = await keystoreFile(at('keystore', 'key.json'), secrets.keystoreKey, secrets.password)
  secretFile(at('keystore', 'perpd-password'), secrets.password)
  const tokenFile = secretFile(at('remote', 'token'), `${secrets.remoteToken}\n`)
  const keyFile = secretFile(at('file', 'key'), `0x${secrets.fileKey}\n`)
  const paperKey = secretFile(at('paper', 'key'), `perpd paper key: play money only\n0x${secrets.paperKey}\n`)
  const signerUrl = await serveSigner(secrets.remoteKey, secrets.remoteToken)
  const { address } = privateKeyToAccount(`0x${secrets.remoteKey}`)

  const daemons = {
    keystore: start('keystore', 'arbitrum', [`--account.keystore=${keystore}`], {
      CREDENTIALS_DIRECTORY: homes.keystore.given,
    }),
    remote: start('remote', 'arbitrum', [
      `--account.remoteSigner=${signerUrl}`,
      `--account.remoteSignerTokenFile=${tokenFile}`,
      `--account.address=${address}`,
    ]),
    variable: start('variable', 'arbitrum', ['--account.acceptRawKey'], {
      PERPD_PRIVATE_KEY: `0x${secrets.variableKey}`,
    }),
    file: start('file', 'arbitrum', [`--account.keyFile=${keyFile}`, '--account.acceptRawKey']),
    paper: start('paper', 'paper', [`--paper.keyFile=${paperKey}`]),
  }
  const written: [where: string, bytes: Buffer][] = []
  for (const [name, daemon] of Object.entries(daemons)) {
    await until(`${name} executes an order`, () => isExecuted(daemon), {
      seen: daemon.said,
      timeoutMs: 120_000,
    })
    const tokens = filesBelow(folder.path)
      .filter(isTokenFile)
      .map((path) => readFileSync(path, 'utf8').trim())
    written.push([`pages of ${name}`, Buffer.from(await pagesOf(daemon, tokens))])
  }
  const bare = [daemons.variable, daemons.file].map((daemon) => daemon.stdout().includes('BARE KEY'))
  expect(bare).toEqual([true, true])
  for (const [name, daemon] of Object.entries(daemons)) {
    daemon.child.kill('SIGINT')
    expect(await daemon.ended, daemon.said()).toBe(0)
    written.push([`output of ${name}`, Buffer.from(daemon.said())])
  }
  const ownTokens = filesBelow(folder.path)
    .filter(isTokenFile)
    .map((path, index): [string, string] => [`controlToken${index}`, readFileSync(path, 'utf8').trim()])
  // One to read and one to operate, of each daemon.
  expect(ownTokens).toHaveLength(2 * Object.keys(homes).length)
  for (const { own } of Object.values(homes)) {
    const files = filesBelow(own).filter((path) => !isTokenFile(path))
    expect(files.some((path) => path.includes('journal.sqlite') && statSync(path).size > 0)).toBe(true)
    written.push(...files.map((path): [string, Buffer] => [path, readFileSync(path)]))
  }
  const all = { ...secrets, ...Object.fromEntries(ownTokens) }
  const leaks = written.flatMap(([where, bytes]) => leaksIn(bytes, all).map((name) => `${name} in ${where}`))
  expect(leaks).toEqual([])
  // A signature moves money until its deadline: the journal needs it, nobody else.
  const shown = written.filter(([where]) => /^(pages|output) of/.test(where))
  expect(
    shown.filter(([, bytes]) => /0x[0-9a-fA-F]{130}\b/.test(bytes.toString())).map(([where]) => where),
  ).toEqual([])
  // The search finds what is there.
  expect(leaksIn(readFileSync(keyFile), all)).toEqual(['fileKey'])
  expect(leaksIn(Buffer.from(Buffer.from(secrets.password).toString('base64')), all)).toEqual(['password'])
  venue.child.kill('SIGTERM')
  await venue.ended
})

test('no secret is in what a start that fails says, nor in what the other commands print', async () => {
  const { own, given } = home('failing')
  const secrets = {
    key: keyOf('failing'),
    password: wordOf('right'),
    wrong: wordOf('wrong'),
    token: wordOf('bad-token'),
    rpcKey: wordOf('failing-rpc'),
    bareLetters: wordOf('letters'),
    // What a parser quotes of it, short of the end.
    quoted: wordOf('letters').slice(0, 9),
  }
  const at = (name: string): string => join(given, name)
  const bareKey = `0x${secrets.key}`
  const keystore = await keystoreFile(at('key.json'), secrets.key, secrets.password)
  const mislaid = secretFile(at('mislaid.json'), `${bareKey}\n`)
  // Begins with a letter, which is what a parser of JSON would quote.
  const letters = secretFile(at('letters'), `${secrets.bareLetters}\n`)
  const keyed = [`--account.keystore=${keystore}`, `--account.owner=0x${'12'.repeat(20)}`]
  const halved = secretFile(at('halved'), `${bareKey.slice(0, 40)}\n`)
  const token = secretFile(at('token'), secrets.token)
  secretFile(at('perpd-password'), secrets.wrong)
  const signerUrl = await serveSigner(secrets.key, 'another')
  const live = [
    '--profile=arbitrum',
    '--control.port=0',
    `--rpc.http=https://rpc.example/v2/${secrets.rpcKey}`,
  ]
  const strategies = `--strategies.paths=${join(own, 'once.yaml')}`
  const credentials = { CREDENTIALS_DIRECTORY: given }
  const remote = [
    `--account.remoteSigner=${signerUrl}`,
    `--account.address=${privateKeyToAccount(`0x${secrets.key}`).address}`,
  ]
  const variable = { PERPD_PRIVATE_KEY: bareKey }
  const tries: readonly (readonly [code: number, argv: readonly string[], env?: Record<string, string>])[] = [
    [4, ['run', ...live, strategies, `--account.keystore=${keystore}`], credentials],
    [4, ['run', ...live, strategies, `--account.keystore=${mislaid}`], credentials],
    [4, ['run', ...live, strategies, `--account.keyFile=${halved}`, '--account.acceptRawKey']],
    [1, ['run', ...live, strategies, ...remote, `--account.remoteSignerTokenFile=${token}`]],
    [4, ['run', ...live, strategies], variable],
    [4, ['run', ...live, strategies, '--account.acceptRawKey'], { PERPD_PRIVATE_KEY: bareKey.slice(0, 60) }],
    [4, ['run', strategies, '--control.port=0'], variable],
    [4, ['keys', 'address', '--file', mislaid]],
    [4, ['keys', 'address', '--file', keystore, '--verify'], credentials],
    [1, ['keys', 'export', '--file', keystore], credentials],
    // A key's file where a message, its request or its signature belongs.
    [1, ['message', ...live, letters, ...keyed]],
    [4, ['subaccount', 'approve', ...live, ...keyed, `--request=${letters}`, `--signature=${letters}`]],
    [4, ['subaccount', 'revoke', ...live, ...keyed, `--request=${letters}`, `--signature=${letters}`]],
    [0, ['config', ...live, '--json'], variable],
    [0, ['check', ...live, strategies, '--account.acceptRawKey', '--json'], variable],
    [0, ['check', ...live, strategies, `--account.keystore=${keystore}`], credentials],
  ]
  const leaks: string[] = []
  const attempt = async ([code, argv, env]: (typeof tries)[number]): Promise<void> => {
    const running = perpd(argv, { cwd: own, ...(env === undefined ? {} : { env }) })
    expect(await running.ended, running.said()).toBe(code)
    leaks.push(...leaksIn(Buffer.from(running.said()), secrets).map((name) => `${name} in ${argv.join(' ')}`))
  }
  const waiting = [...tries]
  const worker = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await attempt(next)
  }
  await Promise.all([worker(), worker(), worker()])
  leaks.push(
    ...filesBelow(own).flatMap((path) =>
      leaksIn(readFileSync(path), secrets).map((name) => `${name} in ${path}`),
    ),
  )
  expect(leaks).toEqual([])
})
