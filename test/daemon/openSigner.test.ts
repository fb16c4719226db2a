/** Which key signs, as configured: opened with `openSigner`, and judged unopened with `reportSigner`. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { privateKeyToAddress } from 'viem/accounts'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { BaseError } from '../../src/base/errors.ts'
import { Secret } from '../../src/base/secret.ts'
import { exitCodeOf, exitCodes } from '../../src/config/exit.ts'
import { loadConfig } from '../../src/config/loadConfig.ts'
import { takeKeySources } from '../../src/daemon/signers/keySources.ts'
import { openSigner, reportSigner } from '../../src/daemon/signers/openSigner.ts'
import { encryptKey } from '../../src/keys/keystore.ts'

const key = `0x${'2b'.repeat(32)}` as const
const address = privateKeyToAddress(key)
const other = `0x${'19'.repeat(20)}`

let cwd: string
beforeEach(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'perpd-signer-'))
  const keystore = await encryptKey(new Secret(key), new Secret('open sesame'), { n: 2 ** 10, r: 8, p: 1 })
  writeFileSync(join(cwd, 'key.json'), keystore.reveal(), { mode: 0o600 })
  writeFileSync(join(cwd, 'raw'), key, { mode: 0o600 })
  writeFileSync(join(cwd, 'perpd-password'), 'open sesame\n', { mode: 0o400 })
})
afterEach(() => rmSync(cwd, { recursive: true }))

const config = (...argv: string[]) =>
  loadConfig({ argv: ['--profile', 'arbitrum', ...argv], env: {}, cwd }).config
const sources = (env: Record<string, string> = {}) => takeKeySources(env, undefined)
const credentials = () => sources({ CREDENTIALS_DIRECTORY: cwd })

async function opened(argv: string[], keys = sources()) {
  try {
    const { signer, warning, close } = await openSigner(config(...argv), keys)
    close()
    return [signer.address, warning?.split(',')[0]]
  } catch (error) {
    return (error as Error).message.split('\n')[0]
  }
}

test('a keystore is opened with the credential, and its address must be the configured one', async () => {
  const keystore = ['--account.keystore', 'key.json']
  expect(await opened(keystore, credentials())).toEqual([address, undefined])
  expect(await opened([...keystore, '--account.address', address.toLowerCase()], credentials())).toEqual([
    address,
    undefined,
  ])
  expect(await opened([...keystore, '--account.address', other], credentials())).toBe(
    `account.address is ${other}, but the key is that of ${address}`,
  )
  expect(await opened(keystore)).toBe('The password of the keystore is missing.')
})

test('a bare key, accepted, opens with a warning; the variable is gone from the environment', async () => {
  const env = { PERPD_PRIVATE_KEY: key, HOME: '/' }
  const keys = takeKeySources(env, undefined)
  expect(env).toEqual({ HOME: '/' })
  const accept = ['--account.acceptRawKey']
  expect(await opened(accept, keys)).toEqual([
    address,
    'BARE KEY: PERPD_PRIVATE_KEY holds the key without a password',
  ])
  expect(await opened([...accept, '--account.keyFile', 'raw'])).toEqual([
    address,
    'BARE KEY: account.keyFile holds the key without a password',
  ])
  expect(await opened([], keys)).toMatch(/^account\.acceptRawKey is false/)
  expect(await opened(accept, sources({ PERPD_PRIVATE_KEY: 'horse' }))).toBe(
    'PERPD_PRIVATE_KEY holds no private key: 0x and 64 hex digits are expected',
  )
  expect(await opened([...accept, '--account.keyFile', 'raw'], keys)).toMatch(
    /^account\.keyFile \/\S+\/raw and PERPD_PRIVATE_KEY \(env\) are set; keep only one\./,
  )
})

test('a remote signer is asked for the account at the start, with its token', async () => {
  const seen: (string | undefined)[] = []
  const server = createServer((request, response) => {
    seen.push(request.headers.authorization)
    response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, result: [address] }))
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  writeFileSync(join(cwd, 'token'), 'tok-en\n', { mode: 0o600 })
  writeFileSync(join(cwd, 'odd'), 'two words', { mode: 0o600 })
  const remote = ['--account.remoteSigner', `${url}/`, '--account.remoteSignerTokenFile', 'token']
  expect(await opened([...remote, '--account.address', address])).toEqual([address, undefined])
  expect(await opened([...remote, '--account.address', other])).toBe(
    'The remote signer does not hold the key of the account.',
  )
  const odd = ['--account.remoteSigner', url, '--account.remoteSignerTokenFile', 'odd']
  expect(await opened([...odd, '--account.address', address])).toBe('The file holds no token.')
  server.closeAllConnections()
  await new Promise((done) => server.close(done))
  expect(seen).toEqual(['Bearer tok-en', 'Bearer tok-en'])
})

test('a service manager may try again when the remote signer is down, not when it is another one', () => {
  const ends = (code: string, cause?: unknown) => exitCodeOf(new BaseError('No.', { code, cause }))
  expect(ends('REMOTE_SIGNER_UNREACHABLE')).toBe(exitCodes.error)
  expect(ends('REMOTE_SIGNER_UNREACHABLE', new DOMException('', 'TimeoutError'))).toBe(exitCodes.timeout)
  expect(ends('REMOTE_SIGNER_REFUSED')).toBe(exitCodes.error)
  expect(ends('REMOTE_SIGNER_ADDRESS')).toBe(exitCodes.configuration)
  expect(ends('KEYSTORE_PASSWORD')).toBe(exitCodes.configuration)
})

test('check says where the key is and what opens it, without opening it', () => {
  const report = (argv: string[], keys = sources()) => {
    const { source, problems, warnings } = reportSigner(config(...argv), keys)
    return [source, problems.map((each) => each.split('\n')[0]), warnings.map((each) => each.split(':')[0])]
      .flat()
      .map((each) => each?.replaceAll(cwd, 'CWD'))
  }
  const keystore = ['--account.keystore', 'key.json']
  expect(report(keystore, credentials())).toEqual([
    `the keystore CWD/key.json of ${address}, opened by the systemd credential perpd-password`,
  ])
  expect(report([...keystore, '--account.passwordFd', '3'])).toEqual([
    `the keystore CWD/key.json of ${address}, opened by file descriptor 3`,
  ])
  expect(report(keystore)).toEqual([
    `the keystore CWD/key.json of ${address}, opened by a password`,
    'no source of the password is visible here',
  ])
  expect(report([...keystore, '--account.address', other], credentials())[1]).toBe(
    `account.address is ${other}, but the keystore is that of ${address}`,
  )
  expect(report(['--account.remoteSigner', 'https://signer.example', '--account.address', other])).toEqual([
    `the remote signer https://signer.example, for ${other}`,
  ])
  expect(report(['--account.acceptRawKey'], sources({ PERPD_PRIVATE_KEY: key }))).toEqual([
    `the bare key of ${address} in PERPD_PRIVATE_KEY`,
    'BARE KEY',
  ])
  expect(report(['--account.keystore', 'raw'])).toEqual([
    'none that can be used',
    'The file is no keystore that perpd reads.',
  ])
  expect(report([])[1]).toMatch(/^no key is configured/)
})
