/** The cause that `perpd doctor` names of a host or a chain endpoint that it cannot reach, from real connections where this machine can make them. */

import { once } from 'node:events'
import { type AddressInfo, createServer as createListener } from 'node:net'
import { expect, test } from 'vitest'
import { WebSocketServer } from 'ws'
import { createApi } from '../../src/api/client.ts'
import { createNodeFetch } from '../../src/api/transport/nodeFetch.ts'
import { RequestFailed } from '../../src/api/transport/requestFailed.ts'
import type { Fetch } from '../../src/api/transport/route.ts'
import { Secret } from '../../src/base/secret.ts'
import { systemClock } from '../../src/base/systemClock.ts'
import { checkChain } from '../../src/cli/doctor/chainChecks.ts'
import { checkHosts } from '../../src/cli/doctor/hostChecks.ts'
import type { Config } from '../../src/config/configTypes.ts'
import type { EvidenceChoice } from '../../src/daemon/evidence/evidenceSource.ts'
import { arbitrum } from '../../src/protocol/chains/arbitrum.ts'

async function lineOf(fetch: Fetch, host = 'https://venue.example') {
  const api = createApi({
    chain: arbitrum,
    hosts: { api: [`${host}/v1`], oracle: [host] },
    fetch,
    clock: systemClock,
    random: () => 0.5,
  })
  const [first] = await checkHosts(api)
  return first
}

const failing =
  (code: string): Fetch =>
  () =>
    Promise.reject(new RequestFailed('it failed', { sent: 'no', code }))

test.each([
  ['CERT_HAS_EXPIRED', 'certificate is out of date', 'timedatectl'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'certificate is for another name', 'typing error'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'certificate is not trusted', 'NODE_EXTRA_CA_CERTS'],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'certificate is not trusted', 'NODE_EXTRA_CA_CERTS'],
  ['ENOTFOUND', 'name cannot be resolved', 'getent hosts'],
  ['EAI_AGAIN', 'no name server answers', 'resolv.conf'],
  ['ECONNREFUSED', 'refuses the connection', 'port'],
  ['ENETUNREACH', 'there is no network route to it', 'ip route'],
  ['ETIMEDOUT', 'does not respond in time', 'firewall'],
])('a host that fails with %s has its own words and one remedy', async (code, text, remedy) => {
  const line = await lineOf(failing(code))
  expect(line).toMatchObject({
    level: 'fail',
    statement: expect.stringContaining(text),
    remedy: expect.stringContaining(remedy),
  })
  expect(line?.statement).toContain(`(${code})`)
})

test('a closed port, a name that is nowhere, and a port without TLS are told apart on real connections', async () => {
  const mute = createListener((socket) => void socket.on('error', () => {}).end('no TLS here\n'))
  await new Promise<void>((done) => void mute.listen(0, '127.0.0.1', done))
  const { port } = mute.address() as AddressInfo
  const { fetch, close } = createNodeFetch({
    resolve: (name, _options, done) =>
      done(Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: 'ENOTFOUND' }), []),
  })
  const hosts = ['http://127.0.0.1:9', 'https://no-such-host.invalid', `https://127.0.0.1:${port}`]
  const said = await Promise.all(hosts.map(async (host) => (await lineOf(fetch, host))?.statement))
  close()
  mute.close()
  expect(said).toEqual([
    expect.stringContaining('refuses the connection (ECONNREFUSED)'),
    expect.stringContaining('name cannot be resolved (ENOTFOUND)'),
    expect.stringContaining('does not support a compatible TLS version'),
  ])
})

test('a host that answers with a fault of its own keeps its words: no cause of the way there is named', async () => {
  const answer = { status: 503, headers: { get: () => null }, text: () => Promise.resolve('{}') }
  const line = await lineOf(() => Promise.resolve(answer))
  expect(line).toMatchObject({ level: 'fail', statement: expect.stringContaining('503') })
})

async function endpointLines(http: readonly string[], ws: readonly string[], fetch: Fetch) {
  const evidence = {
    ...{ source: 'chain', endpoints: [], text: '', isWeak: false },
    ...{ http: http.map((url) => new Secret(url)), ws: ws.map((url) => new Secret(url)) },
  } as const
  const config = { rpc: { timeoutMs: 1_000 }, venue: { chain: arbitrum }, account: {} } as unknown as Config
  const found = await checkChain(config, evidence as unknown as EvidenceChoice, fetch)
  return found.filter(({ check }) => check === 'endpoint')
}

test('an endpoint of the chain has the same words, over HTTP and over a socket, and no whole address is in them', async () => {
  const mute = createListener(() => undefined)
  await new Promise<void>((done) => void mute.listen(0, '127.0.0.1', done))
  const { port } = mute.address() as AddressInfo
  const { fetch, close } = createNodeFetch({
    resolve: (name, _options, done) =>
      done(Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: 'ENOTFOUND' }), []),
  })
  const lines = await endpointLines(
    ['http://127.0.0.1:9/hush', 'https://no-such-host.invalid/hush', `http://127.0.0.1:${port}/hush`],
    ['ws://127.0.0.1:9/hush', 'ws://169.254.169.254/hush'],
    fetch,
  )
  close()
  mute.close()
  expect(lines.map(({ statement }) => statement)).toEqual([
    expect.stringContaining('refuses the connection (ECONNREFUSED)'),
    expect.stringContaining('name cannot be resolved (ENOTFOUND)'),
    expect.stringContaining('does not respond in time'),
    expect.stringContaining('refuses the connection (ECONNREFUSED)'),
    expect.stringContaining('link-local or metadata'),
  ])
  expect(lines.map(({ remedy }) => remedy)).toEqual([
    expect.stringContaining('port'),
    expect.stringContaining('getent hosts'),
    expect.stringContaining('firewall'),
    expect.stringContaining('port'),
    expect.stringContaining('getent hosts'),
  ])
  expect(JSON.stringify(lines)).not.toContain('hush')
})

test('an endpoint whose certificate is not trusted is told as that', async () => {
  const [line] = await endpointLines(['https://rpc.example'], [], failing('DEPTH_ZERO_SELF_SIGNED_CERT'))
  expect(line).toMatchObject({
    level: 'fail',
    statement: expect.stringContaining('certificate is not trusted (DEPTH_ZERO_SELF_SIGNED_CERT)'),
    remedy: expect.stringContaining('NODE_EXTRA_CA_CERTS'),
  })
})

test('an open socket is asked once its connection stands, and its answer is the line', async () => {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
  server.on('connection', (socket) => {
    socket.on('message', (data) => {
      const { id, method } = JSON.parse(String(data))
      const block = { number: '0x1', timestamp: `0x${Math.floor(Date.now() / 1000).toString(16)}` }
      const result = method === 'eth_chainId' ? '0xa4b1' : method === 'eth_getBlockByNumber' ? block : '0x0'
      socket.send(JSON.stringify({ jsonrpc: '2.0', id, result }))
    })
  })
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const [line] = await endpointLines([], [`ws://127.0.0.1:${port}/`], failing('ENOTFOUND'))
  server.close()
  expect(line).toMatchObject({ level: 'warn', statement: expect.stringContaining('block 1,') })
})
