/** `perpd subaccount approve` against hosts that lie about what a key has used: what is signed are the operator's figures. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { encodeAbiParameters, keccak256 } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Secret } from '../../src/base/secret.ts'
import { systemClock } from '../../src/base/systemClock.ts'
import { subaccountActionCountKey } from '../../src/chain/approvalCounts.ts'
import { encryptKey } from '../../src/keys/keystore.ts'
import { paperSigner, readPaperKey } from '../../src/keys/local.ts'
import { subaccountKey } from '../../src/paper/keeper/subaccountKeys.ts'
import { type ServedVenue, serveVenue } from '../../src/paper/server/serve.ts'
import { createVenue, type Venue } from '../../src/paper/server/venue.ts'
import { arbitrum } from '../../src/protocol/chains/arbitrum.ts'
import { SUBACCOUNT_ORDER_ACTION } from '../../src/protocol/signing/approvalTypes.ts'
import { perpd } from './run.ts'

const ownerSecret = `0x${'11'.repeat(32)}` as const
const owner = privateKeyToAccount(ownerSecret)
const session = privateKeyToAccount(`0x${'22'.repeat(32)}`)

let cwd: string
let venue: Venue
let served: ServedVenue
let proxies: Server[]
let keystore: string
beforeEach(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'perpd-approve-'))
  venue = createVenue({ clock: systemClock, chain: arbitrum, seed: 7 })
  served = await serveVenue(venue, { hostname: '127.0.0.1', port: 0 })
  proxies = []
  const password = new Secret('a password of nobody')
  keystore ??= (await encryptKey(new Secret(ownerSecret), password)).reveal()
  writeFileSync(join(cwd, 'owner.json'), keystore, { mode: 0o600 })
  writeFileSync(join(cwd, 'perpd-password'), `${password.reveal()}\n`, { mode: 0o600 })
})
afterEach(async () => {
  for (const proxy of proxies) await new Promise((done) => proxy.close(done))
  await served.close()
  rmSync(cwd, { recursive: true })
})

/** A host that says what the venue says, but for how many actions were used. */
async function liar(usedActions: string): Promise<string> {
  const base = new URL(served.api[0] ?? '')
  const proxy = createServer(async (request, response) => {
    let body = ''
    for await (const text of request.setEncoding('utf8')) body += text
    const answer = await fetch(`${base.origin}${request.url}`, {
      method: request.method ?? 'GET',
      headers: { 'content-type': 'application/json' },
      ...(body === '' ? {} : { body }),
    })
    const said = await answer.text()
    const isStatus = request.url?.endsWith('/subaccounts/status') === true
    response.writeHead(answer.status, { 'content-type': 'application/json' })
    response.end(isStatus ? JSON.stringify({ ...JSON.parse(said), currentActionsCount: usedActions }) : said)
  }).listen(0, '127.0.0.1')
  await new Promise((done) => proxy.once('listening', done))
  proxies.push(proxy)
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}${base.pathname}`
}

const usedOnChain = (count: bigint): void =>
  void venue.venueState.subaccounts.set(subaccountKey(owner.address, session.address), {
    isActive: true,
    maxAllowedCount: count + 5n,
    currentActionsCount: count,
    expiresAt: 1n,
  })

/** Options that name hosts of the application API, and the served oracle. */
const at = (hosts: readonly string[]) => [
  ...hosts.map((host) => `--venue.apiHosts=${host}`),
  ...served.oracle.map((host) => `--venue.oracleHosts=${host}`),
]

/** The paper profile at the served hosts. */
const paper = (...argv: string[]) => perpd(cwd, [...argv, ...at(served.api)])

/** A live profile at these hosts. */
async function approve(hosts: readonly string[], ...argv: string[]) {
  const ran = await perpd(
    cwd,
    [
      ...['subaccount', 'approve', '--profile=arbitrum', `--subaccount=${session.address}`],
      ...at(hosts),
      ...argv,
    ],
    { CREDENTIALS_DIRECTORY: cwd },
  )
  const path = join(cwd, 'var', 'arbitrum', 'approval.json')
  const kept = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : undefined
  return { ...ran, count: kept?.maxAllowedCount as string | undefined }
}

const here = ['--owner-keystore=owner.json', '--actions=300']
const rpc = () => served.rpc.map((url) => `--rpc.http=${url}`)

test('one host of two that adds to the count gets nothing signed', async () => {
  const hosts = [await liar('1000000000000'), served.api[0] ?? '']
  const { code, err, count } = await approve(hosts, ...here)
  expect([code, count]).toEqual([1, undefined])
  expect(err).toContain('The hosts disagree on the number of used actions')
  expect(err).toContain('1000000000000 actions used')
})

test('hosts that all add to the count get nothing signed here, and the operator’s own total is signed as it stands', async () => {
  const hosts = [await liar('1000000000000')]
  const refused = await approve(hosts, ...here)
  expect([refused.code, refused.count]).toEqual([1, undefined])
  expect(refused.err).toContain('no endpoint of the chain proves it')
  expect(refused.err).toContain('--up-to 1000000000300')
  expect((await approve(hosts, '--owner-keystore=owner.json', '--up-to=300')).err).toContain(
    'would allow none',
  )
  const both = await approve(hosts, ...here, '--up-to=300')
  expect(both).toMatchObject({ code: 4, err: expect.stringContaining('exclude each other') })
  usedOnChain(40n)
  const said = await approve([served.api[0] ?? ''], '--owner-keystore=owner.json', '--up-to=340')
  expect([said.code, said.count]).toEqual([0, '340'])

  // Signed elsewhere, the figures stand in words with a warning, and nothing without an end is given to the owner's wallet.
  const byOwner = [`--account.owner=${owner.address}`, '--out=ask.json']
  const out = await approve(hosts, ...byOwner, '--actions=300')
  expect(out.code).toBe(1)
  expect(existsSync(join(cwd, 'ask.json'))).toBe(false)
  expect(out.err).toMatch(
    /up to number 1000000000300 in total: 300 more than the 1000000000000 used so far, as 1 host says/,
  )
  expect(out.err).toContain('WARNING: maxAllowedCount is 1,000,000,000,300')
  const honest = await approve([served.api[0] ?? ''], ...byOwner, '--actions=300')
  expect(honest.code).toBe(0)
  expect(existsSync(join(cwd, 'ask.json'))).toBe(true)
})

test('with an endpoint the count is the chain’s, whatever the hosts say', async () => {
  usedOnChain(12n)
  const { code, err, count } = await approve([await liar('1000000000000')], ...rpc(), ...here)
  expect([code, count], err).toEqual([0, '312'])
  expect(err).toContain(
    'up to number 312 in total: 300 more than the 12 used so far, as the chain (2 endpoints) says',
  )
  expect(err).not.toContain('WARNING')
})

test('an endpoint that is configured and does not answer is not passed over', async () => {
  const { code, err, count } = await approve(served.api, '--rpc.http=http://127.0.0.1:1', ...rpc(), ...here)
  expect([code, count]).toEqual([1, undefined])
  expect(err).toContain('The endpoints disagree')
  expect(err).toContain('did not answer')
})

test('honest hosts that agree on a new key have the operator’s figure signed', async () => {
  const { code, err, count } = await approve(served.api, ...here)
  expect([code, count], err).toEqual([0, '300'])
})

test('the key of the DataStore is the one of the protocol’s Keys library', () => {
  const seed = keccak256(encodeAbiParameters([{ type: 'string' }], ['SUBACCOUNT_ACTION_COUNT']))
  const words = [{ type: 'bytes32' }, { type: 'address' }, { type: 'address' }, { type: 'bytes32' }] as const
  expect(subaccountActionCountKey(owner.address, session.address)).toBe(
    keccak256(encodeAbiParameters(words, [seed, owner.address, session.address, SUBACCOUNT_ORDER_ACTION])),
  )
})

test('on paper an owner that perpd did not make is refused, before anything is built, kept or run', async () => {
  expect((await perpd(cwd, ['init'])).code).toBe(0)
  const made = await paper('subaccount', 'create')
  expect(made.code).toBe(0)
  const real = `--account.owner=${owner.address}`
  for (const argv of [
    ['subaccount', 'approve', real, '--out=ask.json'],
    ['subaccount', 'approve', real],
    ['subaccount', 'revoke', real, '--out=end.json'],
    ['subaccount', 'status', real],
    ['check', real],
    ['run', real, '--control.port=0'],
  ]) {
    const { code, err } = await paper(...argv)
    expect([argv, code]).toEqual([argv, 4])
    expect(err).toMatch(/on paper the owner is the key that perpd (makes|made)/)
  }
  expect(existsSync(join(cwd, 'ask.json'))).toBe(false)
  // Its own owner goes on.
  const own = await paper('subaccount', 'approve')
  expect(own.code, own.err).toBe(0)
  const [, address] = /--account\.owner (0x[0-9a-fA-F]{40})/.exec(own.err) ?? []
  expect((await paper('subaccount', 'status', `--account.owner=${address}`)).code).toBe(0)
  expect((await paper('subaccount', 'approve', real)).err).toContain('made: ')
})

test('on paper no owner is made for an account that trades with its own key: the way to a delegated key is named', async () => {
  expect((await perpd(cwd, ['init'])).code).toBe(0)
  for (const word of ['approve', 'status'])
    expect((await paper('subaccount', word)).err).toContain(
      'There is no key in CWD/var/paper/account.key yet',
    )
  const folder = join(cwd, 'var', 'paper')
  paperSigner(join(folder, 'account.key'))
  for (const word of ['approve', 'status', 'revoke']) {
    const { code, err } = await paper('subaccount', word)
    expect([word, code]).toEqual([word, 4])
    expect(err).toContain("There is no owner's key in CWD/var/paper/owner.key")
    expect(err).toContain('perpd subaccount create')
  }
  expect(existsSync(join(folder, 'owner.key'))).toBe(false)
  expect(existsSync(join(folder, 'approval.json'))).toBe(false)
  // Once another key was approved for the account, it is named.
  const made = await paper('subaccount', 'create')
  const [, flags = ''] = /perpd subaccount approve (.*)/.exec(made.err) ?? []
  const words = flags.replaceAll('CWD', cwd).split(' ')
  expect((await paper('subaccount', 'approve', ...words)).code).toBe(0)
  for (const word of ['approve', 'status']) expect((await paper('subaccount', word)).err).toContain(flags)
})

test('on paper each subaccount create makes another key, and the account that there was can be its owner', async () => {
  expect((await perpd(cwd, ['init'])).code).toBe(0)
  const keyFile = join(cwd, 'var', 'paper', 'account.key')
  // As a daemon made it that trades with its own key.
  const own = paperSigner(keyFile).address
  const second = await paper('subaccount', 'create')
  const third = await paper('subaccount', 'create')
  expect(new Set([own, second.out, third.out]).size).toBe(3)
  expect(readPaperKey(keyFile).address).toBe(own)
  const file = join(cwd, 'var', 'paper', 'delegated-1.key')
  expect(readPaperKey(file).address).toBe(second.out)
  expect(second.err).toContain(
    'perpd subaccount approve --paper.keyFile CWD/var/paper/delegated-1.key --paper.ownerKeyFile CWD/var/paper/account.key',
  )
  const flags = [`--paper.keyFile=${file}`, `--paper.ownerKeyFile=${keyFile}`]
  const approved = await paper('subaccount', 'approve', ...flags)
  expect(approved.code, approved.err).toBe(0)
  expect(approved.err).toContain(`--account.owner ${own}`)
  const status = (await paper('subaccount', 'status', ...flags, `--account.owner=${own}`)).out
  const words = status.replaceAll(cwd, 'CWD').replace(/\s+/g, ' ')
  // Which key is in use, and what became of the other one.
  expect(words).toContain(
    `delegated key ${second.out}, in use: CWD/var/paper/delegated-1.key (paper.keyFile, flag --paper.keyFile)`,
  )
  expect(words).toContain(
    `another key ${third.out}, in CWD/var/paper/delegated-2.key: not in use, and not approved, so harmless. To use it instead: perpd subaccount approve --paper.keyFile CWD/var/paper/delegated-2.key --paper.ownerKeyFile CWD/var/paper/account.key`,
  )
  expect(words).not.toMatch(/another key.*another key/)
  // Without the names of these keys the approval is not written over: they are named.
  const keys = flags.join(' ').replaceAll('=', ' ').replaceAll(cwd, 'CWD')
  expect((await paper('subaccount', 'status')).err).toContain(`name them, ${keys}`)
  paperSigner(join(cwd, 'var', 'paper', 'owner.key'))
  expect(await paper('subaccount', 'status')).toMatchObject({
    code: 4,
    err: expect.stringContaining(`perpd subaccount status ${keys}`),
  })
  // A file that is there is nobody's to replace.
  expect((await paper('subaccount', 'create', `--file=${file}`)).code).not.toBe(0)
  expect(readPaperKey(file).address).toBe(second.out)
})
