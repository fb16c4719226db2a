/** `perpd subaccount revoke` against a venue over real sockets: signed here, signed elsewhere, refused, lost and failed. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hashTypedData, toFunctionSelector } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Secret } from '../../src/base/secret.ts'
import { systemClock } from '../../src/base/systemClock.ts'
import { ownerDigestOf } from '../../src/execution/approval/verifyApproval.ts'
import { encryptKey } from '../../src/keys/keystore.ts'
import { subaccountKey } from '../../src/paper/keeper/subaccountKeys.ts'
import { type ServedVenue, serveVenue } from '../../src/paper/server/serve.ts'
import { createVenue, type Venue } from '../../src/paper/server/venue.ts'
import { hexKey } from '../../src/protocol/address.ts'
import { arbitrum } from '../../src/protocol/chains/arbitrum.ts'
import { minifiedDigestOf } from '../../src/protocol/signing/messages.ts'
import { domainSeparator } from '../../src/protocol/signing/relayRouter.ts'
import { perpd } from './run.ts'

const owner = privateKeyToAccount(`0x${'11'.repeat(32)}`)
const session = privateKeyToAccount(`0x${'22'.repeat(32)}`)
const { subaccountGelatoRelayRouter, subaccountRouter } = arbitrum.contracts
const separator = domainSeparator(arbitrum.chainId, subaccountGelatoRelayRouter)

let cwd: string
let venue: Venue
let served: ServedVenue
beforeEach(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'perpd-revoke-'))
  venue = createVenue({ clock: systemClock, chain: arbitrum, seed: 7, settings: { relayDelayMs: 30 } })
  served = await serveVenue(venue, { hostname: '127.0.0.1', port: 0 })
})
afterEach(async () => {
  await served.close()
  rmSync(cwd, { recursive: true })
})

const stateKey = subaccountKey(owner.address, session.address)
const isActive = () => venue.venueState.subaccounts.get(stateKey)?.isActive
const approveOnChain = (expiresAt = BigInt(Math.floor(Date.now() / 1000) + 86_400)) =>
  venue.venueState.subaccounts.set(stateKey, {
    isActive: true,
    maxAllowedCount: 50n,
    currentActionsCount: 1n,
    expiresAt,
  })

/** A live profile whose hosts are this machine's venue. */
function revoke(...argv: string[]) {
  const hosts = [
    ...served.api.map((host) => `--venue.apiHosts=${host}`),
    ...served.oracle.map((host) => `--venue.oracleHosts=${host}`),
  ]
  const known = ['--profile=arbitrum', `--account.owner=${owner.address}`, `--subaccount=${session.address}`]
  return perpd(cwd, ['subaccount', 'revoke', ...known, ...hosts, ...argv], { CREDENTIALS_DIRECTORY: cwd })
}

const approvalFile = () => join(cwd, 'var', 'arbitrum', 'approval.json')

test("without the owner's key it prints the owner's transaction and sends nothing", async () => {
  approveOnChain()
  const { code, out, err } = await revoke()
  expect(code).toBe(0)
  expect(JSON.parse(out)).toEqual({
    chainId: 42_161,
    to: subaccountRouter,
    data: `${toFunctionSelector('removeSubaccount(address)')}${session.address.slice(2).toLowerCase().padStart(64, '0')}`,
    value: '0',
  })
  expect(err).toContain('only when the owner sends this transaction')
  expect(venue.record()).toEqual([])
  expect(isActive()).toBe(true)
})

test("with the owner's keystore it signs, sends once, and ends when every host says that the key is gone", async () => {
  approveOnChain()
  const keystore = await encryptKey(new Secret(`0x${'11'.repeat(32)}`), new Secret('sesame'), {
    n: 2 ** 10,
    r: 8,
    p: 1,
  })
  writeFileSync(join(cwd, 'owner.json'), keystore.reveal(), { mode: 0o600 })
  writeFileSync(join(cwd, 'perpd-password'), 'sesame\n', { mode: 0o400 })
  const { code, out, err } = await revoke('--owner-keystore=owner.json')
  expect(code, err).toBe(0)
  expect(out.match(/not approved/g)).toHaveLength(served.api.length)
  expect(err).toMatch(/Sending the removal 0x[0-9a-f]{64}; it may land until 2/)
  expect(err).toContain('The key is revoked')
  expect(isActive()).toBe(false)
  expect(venue.record()).toHaveLength(1)
  // Again there is nothing to do.
  const again = await revoke('--owner-keystore=owner.json')
  expect(again).toMatchObject({ code: 0, err: expect.stringContaining('Nothing was sent') })
  expect(venue.record()).toHaveLength(1)
  // A key of somebody else is told at once.
  const stranger = await encryptKey(new Secret(`0x${'33'.repeat(32)}`), new Secret('sesame'), {
    n: 2 ** 10,
    r: 8,
    p: 1,
  })
  writeFileSync(join(cwd, 'owner.json'), stranger.reveal(), { mode: 0o600 })
  const foreign = await revoke('--owner-keystore=owner.json')
  expect(foreign).toMatchObject({ code: 4, err: expect.stringContaining("but the owner's key belongs to") })
})

test('signed elsewhere it is sent when the signature is the owner’s over that message, whole or minified', async () => {
  approveOnChain()
  const written = await revoke('--out=ask.json')
  expect(written.code, written.err).toBe(0)
  const typedData = JSON.parse(readFileSync(join(cwd, 'ask.json'), 'utf8'))
  expect(hashTypedData(typedData)).toBe(written.out)
  expect(typedData).toMatchObject({
    primaryType: 'RemoveSubaccount',
    domain: { chainId: 42_161, verifyingContract: subaccountGelatoRelayRouter },
    message: { subaccount: session.address },
  })
  const bring = () => revoke('--request=ask.json', '--signature=answer')
  const asked = readFileSync(join(cwd, 'ask.json'), 'utf8')

  writeFileSync(join(cwd, 'answer'), await session.signTypedData(typedData))
  expect(await bring()).toMatchObject({ code: 1, err: expect.stringContaining('signature: expected of') })
  writeFileSync(join(cwd, 'answer'), 'nothing')
  expect(await bring()).toMatchObject({ code: 1, err: expect.stringContaining('found of nobody') })
  rmSync(join(cwd, 'answer'))
  expect(await bring()).toMatchObject({ code: 4, err: expect.stringContaining('cannot be read') })

  writeFileSync(join(cwd, 'answer'), await owner.signTypedData(typedData))
  const changes: readonly (readonly [string, string, number, string])[] = [
    [`"deadline": "${typedData.perpd.deadline}"`, '"deadline": "1"', 4, 'relayParams is not the hash'],
    ['"feeAmount": "1000000"', '"feeAmount": "9000000"', 4, 'relayParams is not the hash'],
    [`"userNonce": "${typedData.perpd.userNonce}"`, `"userNonce": "${'9'.repeat(78)}"`, 4, 'no whole number'],
    [session.address, owner.address, 1, 'message.subaccount: expected'],
    ['"perpd"', '"other"', 4, 'perpd subaccount revoke --out did not write it'],
  ]
  for (const [from, to, code, says] of changes) {
    expect(asked).toContain(from)
    writeFileSync(join(cwd, 'ask.json'), asked.replaceAll(from, to))
    expect(await bring(), says).toMatchObject({ code, err: expect.stringContaining(says) })
  }
  expect(venue.record()).toEqual([])
  expect(isActive()).toBe(true)

  writeFileSync(join(cwd, 'ask.json'), asked)
  writeFileSync(
    join(cwd, 'answer'),
    await owner.sign({ hash: minifiedDigestOf(separator, written.out as `0x${string}`) }),
  )
  const done = await bring()
  expect(done.code, done.err).toBe(0)
  expect(isActive()).toBe(false)
  // The same word is used once: it does not end another approval.
  approveOnChain()
  expect(await bring()).toMatchObject({
    code: 1,
    err: expect.stringMatching(/InvalidUserDigest(?:.|\n)*NOT CONFIRMED/),
  })
  expect(await revoke('--request=ask.json')).toMatchObject({
    code: 4,
    err: expect.stringContaining('go together'),
  })
})

test('an approval that was never used is told, for it can bring the key back', async () => {
  approveOnChain()
  const seconds = BigInt(Math.floor(Date.now() / 1000) + 3_600)
  const message = {
    subaccount: session.address,
    shouldAdd: true,
    expiresAt: seconds,
    maxAllowedCount: 90n,
    actionType: '0x2a0791687fd34f2095c484a9fa4e25057d3ef79a97fcd8c61436047a7bdf4cbe',
    nonce: 0n,
    desChainId: 42_161n,
    deadline: seconds,
    integrationId: `0x${'00'.repeat(32)}`,
  } as const
  const signature = await owner.sign({ hash: ownerDigestOf(arbitrum, message) })
  const text = JSON.stringify({ ...message, signature }, (_, value) =>
    typeof value === 'bigint' ? String(value) : value,
  )
  writeFileSync(join(cwd, 'approval.json'), text)
  const approval = '--account.approvalFile=approval.json'
  const written = await revoke('--out=ask.json', approval)
  expect(written.err).toContain('was removed: orders no longer carry it')
  expect(existsSync(join(cwd, 'approval.json'))).toBe(false)
  writeFileSync(join(cwd, 'approval.json'), text)
  writeFileSync(
    join(cwd, 'answer'),
    await owner.signTypedData(JSON.parse(readFileSync(join(cwd, 'ask.json'), 'utf8'))),
  )
  const done = await revoke('--request=ask.json', '--signature=answer', approval)
  expect(done).toMatchObject({ code: 0, err: expect.stringContaining('can restore the key until') })
  expect(existsSync(approvalFile())).toBe(false)
  expect(venue.venueState.approvalNonces.get(hexKey(owner.address))).toBeUndefined()
})

test('a relay that gives up or reverts is told with its reason, exit code 1; a lost answer is followed all the same', async () => {
  approveOnChain()
  const ask = async () => {
    await revoke('--out=ask.json')
    const typedData = JSON.parse(readFileSync(join(cwd, 'ask.json'), 'utf8'))
    writeFileSync(join(cwd, 'answer'), await owner.signTypedData(typedData))
    return await revoke('--request=ask.json', '--signature=answer')
  }
  venue.venueState.dataFaults.relay = 'fails'
  expect(await ask()).toMatchObject({
    code: 1,
    err: expect.stringMatching(/failed The relay gave up(?:.|\n)*NOT CONFIRMED/),
  })
  venue.venueState.dataFaults.relay = 'none'
  venue.venueState.dataFaults.relayReverts = 'InsufficientRelayFee'
  expect(await ask()).toMatchObject({ code: 1, err: expect.stringContaining('InsufficientRelayFee') })
  venue.venueState.dataFaults.relayReverts = ''
  expect(isActive()).toBe(true)
  // It landed, and its answer never came.
  venue.wire.add({ kind: 'drop-after', route: '/relay/submit' })
  const lost = await ask()
  expect(lost, lost.err).toMatchObject({
    code: 0,
    err: expect.stringMatching(/inconclusive(?:.|\n)*The key is revoked/),
  })
  expect(isActive()).toBe(false)
})

test('one host alone that calls the key gone ends nothing', async () => {
  approveOnChain()
  const lying = createServer((request, response) => {
    request.resume()
    const zeros = { maxAllowedCount: '0', currentActionsCount: '0', remainingActions: '0', expiresAt: '0' }
    const nonces = { approvalNonce: '0', multichainApprovalNonce: '0', integrationId: null }
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ active: false, ...zeros, ...nonces }))
  })
  await new Promise<void>((done) => lying.listen(0, '127.0.0.1', done))
  const { port } = lying.address() as AddressInfo
  const hosts = [served.api[0], `http://127.0.0.1:${port}/v1`].map((host) => `--venue.apiHosts=${host}`)
  const known = ['--profile=arbitrum', `--account.owner=${owner.address}`, `--subaccount=${session.address}`]
  const argv = ['subaccount', 'revoke', ...known, ...hosts, `--venue.oracleHosts=${served.oracle[0]}`]
  await perpd(cwd, [...argv, '--out=ask.json'])
  const typedData = JSON.parse(readFileSync(join(cwd, 'ask.json'), 'utf8'))
  writeFileSync(join(cwd, 'answer'), await session.signTypedData(typedData))
  // It goes on to the signature, which is not the owner's, instead of believing that there is nothing to do.
  const { code, err } = await perpd(cwd, [...argv, '--request=ask.json', '--signature=answer'])
  expect({ code, err }).toMatchObject({ code: 1, err: expect.stringContaining('signature: expected of') })
  await new Promise((done) => void lying.close(done))
})

test('with chain endpoints the hosts alone end nothing: the chain must have used the removal', async () => {
  let isSent = false
  const lying = createServer(async (request, response) => {
    for await (const _ of request);
    const zeros = { currentActionsCount: '0', remainingActions: '9', expiresAt: '1900000000' }
    const nonces = { approvalNonce: '0', multichainApprovalNonce: '0', integrationId: null }
    const taskId = `0x${'0a'.repeat(32)}`
    const path = request.url ?? ''
    if (path.endsWith('/relay/submit')) isSent = true
    const answer = path.includes('/relay/')
      ? { taskId, status: isSent && path.endsWith('/status') ? 'failed' : 'pending' }
      : { active: !isSent, maxAllowedCount: '9', ...zeros, ...nonces }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
  })
  await new Promise<void>((done) => lying.listen(0, '127.0.0.1', done))
  const { port } = lying.address() as AddressInfo
  const known = ['--profile=arbitrum', `--account.owner=${owner.address}`, `--subaccount=${session.address}`]
  const hosts = [`--venue.apiHosts=http://127.0.0.1:${port}/v1`, `--venue.oracleHosts=${served.oracle[0]}`]
  const argv = ['subaccount', 'revoke', ...known, ...hosts]
  const bring = async (...more: string[]) => {
    isSent = false
    await perpd(cwd, [...argv, '--out=ask.json'])
    const typedData = JSON.parse(readFileSync(join(cwd, 'ask.json'), 'utf8'))
    writeFileSync(join(cwd, 'answer'), await owner.signTypedData(typedData))
    return await perpd(cwd, [...argv, '--request=ask.json', '--signature=answer', ...more])
  }
  expect(await bring()).toMatchObject({ code: 0 })
  const denied = await bring(`--rpc.http=${served.rpc[0]}`)
  expect(denied).toMatchObject({
    code: 1,
    out: expect.stringMatching(/the chain +the removal is not used \(1 of 1 endpoints\)/),
    err: expect.stringContaining('NOT CONFIRMED'),
  })
  await new Promise((done) => void lying.close(done))

  // The venue that tells the truth, with its chain.
  approveOnChain()
  await revoke('--out=ask.json')
  const typedData = JSON.parse(readFileSync(join(cwd, 'ask.json'), 'utf8'))
  writeFileSync(join(cwd, 'answer'), await owner.signTypedData(typedData))
  const done = await revoke('--request=ask.json', '--signature=answer', `--rpc.http=${served.rpc[0]}`)
  expect(done, done.err).toMatchObject({
    code: 0,
    out: expect.stringMatching(/the chain +the removal is used \(1 of 1 endpoints\)/),
  })
})

test('at a high gas price the removal offers what the formula needs, where an endpoint tells it', async () => {
  const offered = async (gasPriceWei: bigint) => {
    const dear = createVenue({ clock: systemClock, chain: arbitrum, seed: 7, settings: { gasPriceWei } })
    const sockets = await serveVenue(dear, { hostname: '127.0.0.1', port: 0 })
    const known = [
      '--profile=arbitrum',
      `--account.owner=${owner.address}`,
      `--subaccount=${session.address}`,
    ]
    const hosts = [`--venue.apiHosts=${sockets.api[0]}`, `--venue.oracleHosts=${sockets.oracle[0]}`]
    const argv = ['subaccount', 'revoke', ...known, ...hosts, '--out=ask.json']
    const feeOf = async (...more: string[]) => {
      const { code, err } = await perpd(cwd, [...argv, ...more])
      if (code !== 0) return err
      return BigInt(JSON.parse(readFileSync(join(cwd, 'ask.json'), 'utf8')).perpd.feeAmount)
    }
    const fees = {
      apiOnly: await feeOf(),
      withEndpoint: await feeOf(`--rpc.http=${sockets.rpc[0]}`),
      silentEndpoint: await feeOf('--rpc.http=http://127.0.0.1:9'),
    }
    await sockets.close()
    return fees
  }
  expect(await offered(20_000_000n)).toEqual({
    apiOnly: 1_000_000n,
    withEndpoint: 1_000_000n,
    silentEndpoint: 1_000_000n,
  })

  const spike = await offered(2_000_000_000n)
  expect(spike).toMatchObject({ apiOnly: 1_000_000n, silentEndpoint: 1_000_000n })
  // 3 million gas or so at 2 gwei with its buffers, an ETH of some thousand dollars.
  expect(spike.withEndpoint).toBeGreaterThan(10_000_000n)
  expect(spike.withEndpoint).toBeLessThan(100_000_000n)
})
