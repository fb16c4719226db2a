/** Hosts over TLS, from a process to which an authority of the user's own was named: which certificates it takes, and its words for the others. */
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { hasOpenssl, makeAuthority, type ServerCertificate, selfSigned } from '../support/certificates.ts'

let folder: string
const servers: Server[] = []
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'perpd-tls-'))
})
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
  rmSync(folder, { recursive: true })
})

async function serve(certificate: ServerCertificate): Promise<number> {
  const server = createServer({ ...certificate }, (_, response) => response.end('[]'))
  servers.push(server)
  server.on('tlsClientError', () => {})
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return (server.address() as AddressInfo).port
}

const source = (name: string) => JSON.stringify(resolve(import.meta.dirname, '..', '..', 'src', name))
/** Asks each address that it is given, and prints what came of it. */
const script = `
import { createApi } from ${source('api/client.ts')}
import { createNodeFetch } from ${source('api/transport/nodeFetch.ts')}
import { systemClock } from ${source('base/systemClock.ts')}
import { arbitrum } from ${source('protocol/chains/arbitrum.ts')}
const { fetch, close } = createNodeFetch()
for (const host of process.argv.slice(1)) {
  const hosts = { api: [host], oracle: [host] }
  const api = createApi({ chain: arbitrum, hosts, fetch, clock: systemClock, random: () => 0.5 })
  const said = await api.getTokens({ attempts: 1 }).then(() => 'ok', (error) => error.shortMessage)
  console.log(said)
}
close()
`

test.skipIf(!hasOpenssl)(
  'a host is taken whose authority NODE_EXTRA_CA_CERTS names; one that signed for itself, is out of date or of another name is told as that',
  async () => {
    const authority = makeAuthority(folder)
    const ports = [
      await serve(authority.certify('localhost', 2)),
      await serve(selfSigned(folder, 'localhost')),
      await serve(authority.certify('localhost', -1)),
      await serve(authority.certify('other.example', 2)),
    ]
    const urls = ports.map((port) => `https://localhost:${port}/v1`)
    const args = ['--input-type=module-typescript', '--eval', script, ...urls]
    const env = { PATH: process.env.PATH ?? '', NODE_EXTRA_CA_CERTS: authority.path }
    const { stdout } = await promisify(execFile)(process.execPath, args, { env })
    expect(stdout.trim().split('\n')).toEqual([
      'ok',
      expect.stringContaining('certificate is not trusted (DEPTH_ZERO_SELF_SIGNED_CERT).'),
      expect.stringContaining(
        'certificate is out of date, or the clock of this machine is wrong (CERT_HAS_EXPIRED).',
      ),
      expect.stringContaining('certificate is for another name (ERR_TLS_CERT_ALTNAME_INVALID).'),
    ])
  },
)
