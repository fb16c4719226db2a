/**
 * The remote signer over TLS, from processes of their own: a certificate of an own authority that was named to Node is
 * taken; without it, or for another name, not a byte of the token or of a message leaves.
 */
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { type Hex, hashTypedData } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { hasOpenssl, makeAuthority } from '../support/certificates.ts'

const account = privateKeyToAccount(`0x${'11'.repeat(32)}`)
let folder: string
let server: Server
let port: number
const seen: { readonly method: string; readonly authorization: string | undefined }[] = []

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'perpd-signer-tls-'))
  if (!hasOpenssl) return
  const tls = makeAuthority(folder).certify('localhost', 2)
  server = createServer({ ...tls }, async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { id, method, params } = JSON.parse(Buffer.concat(chunks).toString())
    seen.push({ method, authorization: request.headers.authorization })
    const result = method === 'eth_accounts' ? [account.address] : await signText(params[1])
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result }))
  })
  server.on('tlsClientError', () => {})
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  port = (server.address() as AddressInfo).port
})
afterAll(async () => {
  rmSync(folder, { recursive: true })
  if (!hasOpenssl) return
  server.closeAllConnections()
  await new Promise((done) => void server.close(done))
})

/** Signs what it was sent, which it parses and hashes itself. */
async function signText(text: string): Promise<Hex> {
  const { types, ...rest } = JSON.parse(text)
  const { EIP712Domain: _, ...own } = types
  return await account.sign({ hash: hashTypedData({ ...rest, types: own }) })
}

const source = (name: string) => JSON.stringify(resolve(import.meta.dirname, '..', '..', 'src', name))
const script = `
import { createNodeFetch } from ${source('api/transport/nodeFetch.ts')}
import { arbitrum } from ${source('protocol/chains/arbitrum.ts')}
import { Secret } from ${source('base/secret.ts')}
import { removalTypedData } from ${source('daemon/signers/removalFile.ts')}
import { removalOf } from ${source('execution/approval/removal.ts')}
import { connectRemoteSigner } from ${source('keys/remote.ts')}
const { fetch, close } = createNodeFetch()
const address = ${JSON.stringify(account.address)}
const removal = removalOf(arbitrum, { subaccount: address, feeAmount: 1n, userNonce: 2n ** 255n, deadline: 3n })
try {
  const token = new Secret('canary-token-tls')
  const signer = await connectRemoteSigner({ url: process.argv[1], address, token, timeoutMs: 5_000, fetch })
  console.log(await signer.sign({ digest: removal.digest, typedData: removalTypedData(arbitrum, removal) }))
} catch (error) {
  console.log(error.code, error.message)
}
close()
`

function signed(url: string, env: Record<string, string> = {}): Promise<string> {
  return new Promise((done, fail) => {
    const args = ['--input-type=module-typescript', '--eval', script, url]
    const options = { env: { PATH: process.env.PATH ?? '', ...env } }
    execFile(process.execPath, args, options, (error, stdout, stderr) => {
      if (error === null) done(stdout.trim())
      else fail(new Error(stderr))
    })
  })
}

test.skipIf(!hasOpenssl)(
  'a signer with a certificate of an own authority signs when that authority is named',
  async () => {
    const own = { NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem') }
    expect(await signed(`https://localhost:${port}`, own)).toMatch(/^0x[0-9a-f]{130}$/)
    expect(seen.map(({ method }) => method)).toEqual(['eth_accounts', 'eth_signTypedData'])
    for (const { authorization } of seen) expect(authorization).toBe('Bearer canary-token-tls')

    seen.length = 0
    const [unnamed, other, plain] = await Promise.all([
      signed(`https://localhost:${port}`),
      signed(`https://127.0.0.1:${port}`, own),
      signed(`http://localhost:${port}`, own),
    ])
    expect(unnamed).toMatch(
      /^REMOTE_SIGNER_UNREACHABLE .*unable to (?:verify|get)|^REMOTE_SIGNER_UNREACHABLE .*self-signed/,
    )
    expect(other).toMatch(/^REMOTE_SIGNER_UNREACHABLE .*does not match/)
    expect(plain).toMatch(/^REMOTE_SIGNER_UNREACHABLE /)
    for (const text of [unnamed, other, plain]) expect(text).not.toContain('canary')
    expect(seen).toEqual([])
  },
  60_000,
)
