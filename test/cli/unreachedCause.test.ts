/** The cause that `perpd doctor` names of a host that it cannot reach, from real connections where this machine can make them. */
import { type AddressInfo, createServer as createListener } from 'node:net'
import { expect, test } from 'vitest'
import { createApi } from '../../src/api/client.ts'
import { createNodeFetch } from '../../src/api/transport/nodeFetch.ts'
import { RequestFailed } from '../../src/api/transport/requestFailed.ts'
import type { Fetch } from '../../src/api/transport/route.ts'
import { systemClock } from '../../src/base/systemClock.ts'
import { checkHosts } from '../../src/cli/doctor/hostChecks.ts'
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
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'certificate is of another name', 'typing error'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'certificate is not trusted', 'NODE_EXTRA_CA_CERTS'],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'certificate is not trusted', 'NODE_EXTRA_CA_CERTS'],
  ['ENOTFOUND', 'name is not found', 'getent hosts'],
  ['EAI_AGAIN', 'no name server answers', 'resolv.conf'],
  ['ECONNREFUSED', 'refuses the connection', 'port'],
  ['ENETUNREACH', 'no route leads to it', 'ip route'],
  ['ETIMEDOUT', 'does not answer in time', 'firewall'],
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
    expect.stringContaining('name is not found (ENOTFOUND)'),
    expect.stringContaining('speaks no TLS'),
  ])
})

test('a host that answers with a fault of its own keeps its words: no cause of the way there is named', async () => {
  const answer = { status: 503, headers: { get: () => null }, text: () => Promise.resolve('{}') }
  const line = await lineOf(() => Promise.resolve(answer))
  expect(line).toMatchObject({ level: 'fail', statement: expect.stringContaining('503') })
})
