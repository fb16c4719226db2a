/** The remote signer over real sockets: one that signs as it should, and many that do not. */
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Hex, hashTypedData } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterEach, expect, test } from 'vitest'
import { createNodeFetch } from '../../src/api/transport/nodeFetch.ts'
import { Secret } from '../../src/base/secret.ts'
import type { Signer, SignRequest } from '../../src/domain/signer.ts'
import { connectRemoteSigner, RemoteSignerError } from '../../src/keys/remote.ts'
import { arbitrum } from '../../src/protocol/chains/arbitrum.ts'
import { messageDigestOf } from '../../src/protocol/signing/messages.ts'
import { fieldsOfStruct, primaryTypes, typesOfMessage } from '../../src/protocol/signing/messageTypes.ts'
import { domainSeparator, relayRouterDomain } from '../../src/protocol/signing/relayRouter.ts'

const account = privateKeyToAccount(`0x${'11'.repeat(32)}`)
const stranger = privateKeyToAccount(`0x${'12'.repeat(32)}`)
const token = new Secret('canary-token-0123456789')

const typedData = {
  domain: { name: 'x', version: '1', chainId: 42161, verifyingContract: `0x${'ab'.repeat(20)}` as Hex },
  types: {
    Inner: [{ name: 'amount', type: 'uint256' }],
    Batch: [
      { name: 'who', type: 'address' },
      { name: 'inner', type: 'Inner[]' },
    ],
  },
  primaryType: 'Batch',
  message: { who: `0x${'cd'.repeat(20)}`, inner: [{ amount: 2n ** 256n - 1n }, { amount: 0n }] },
} as const
const request: SignRequest = { digest: hashTypedData(typedData), typedData }

interface Question {
  readonly method: string
  readonly params: readonly unknown[]
  readonly id: number
  readonly headers: IncomingMessage['headers']
}
type Answer = { readonly status?: number; readonly body: string } | 'hang' | 'stall' | 'cut'

const closers: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

/** A server that answers `eth_accounts` rightly unless told otherwise, and the rest as the test says. */
async function serve(
  answer: (question: Question) => Answer | Promise<Answer>,
): Promise<{ readonly url: string; readonly questions: Question[] }> {
  const questions: Question[] = []
  const server: Server = createServer(async (incoming, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk as Buffer)
    const question = {
      ...JSON.parse(Buffer.concat(chunks).toString()),
      headers: incoming.headers,
    } as Question
    questions.push(question)
    const given = await answer(question)
    if (given === 'hang') return
    if (given === 'stall') return void response.writeHead(200).write('{"jsonrpc":')
    if (given === 'cut') return void response.destroy()
    response.writeHead(given.status ?? 200, { 'content-type': 'application/json' }).end(given.body)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  closers.push(() => {
    server.closeAllConnections()
    return new Promise<void>((done) => void server.close(() => done()))
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, questions }
}

const result = (id: number, value: unknown): Answer => ({
  body: JSON.stringify({ jsonrpc: '2.0', id, result: value }),
})
const accountsThen =
  (sign: (question: Question) => Answer | Promise<Answer>) =>
  (question: Question): Answer | Promise<Answer> =>
    question.method === 'eth_accounts'
      ? result(question.id, [stranger.address, account.address])
      : sign(question)

function connect(url: string, options: { timeoutMs?: number; token?: Secret } = {}): Promise<Signer> {
  const { fetch, close } = createNodeFetch({ maxBodyBytes: 65_536 })
  closers.push(close)
  const { timeoutMs = 5_000 } = options
  return connectRemoteSigner({ url, address: account.address, token: options.token, timeoutMs, fetch })
}

async function faultOf(work: Promise<unknown>): Promise<RemoteSignerError> {
  const error = await work.catch((thrown: unknown) => thrown)
  if (error instanceof RemoteSignerError) return error
  throw new Error(`no RemoteSignerError: ${String(error)}`)
}

/** Signs as Web3Signer does: from the typed data it was sent, which it parses and hashes itself. */
async function signText(text: unknown): Promise<Hex> {
  const { types, ...rest } = JSON.parse(String(text))
  const { EIP712Domain: _, ...own } = types
  return await account.signTypedData({ ...rest, types: own })
}

test('the signer hashes the message it is sent itself, and its signature is the one over our digest', async () => {
  const { url, questions } = await serve(
    accountsThen(async ({ id, params }) => result(id, await signText(params[1]))),
  )
  const signer = await connect(url, { token })
  expect(signer.address).toBe(account.address)
  expect(await signer.sign(request)).toBe(await account.sign({ hash: request.digest }))
  const [accounts, sign] = questions
  expect([accounts?.method, accounts?.params]).toEqual(['eth_accounts', []])
  expect([sign?.method, sign?.params[0]]).toEqual(['eth_signTypedData', account.address])
  expect(JSON.parse(String(sign?.params[1]))).toEqual({
    ...typedData,
    types: {
      EIP712Domain: [
        { name: 'name', type: 'string' },
        { name: 'version', type: 'string' },
        { name: 'chainId', type: 'uint256' },
        { name: 'verifyingContract', type: 'address' },
      ],
      ...typedData.types,
    },
    message: { ...typedData.message, inner: [{ amount: String(2n ** 256n - 1n) }, { amount: '0' }] },
  })
  for (const { headers } of questions) expect(headers.authorization).toBe(`Bearer ${token.reveal()}`)
})

test('without a token none is sent; v of 0 or 1 and capitals become the one form that is used', async () => {
  const right = await account.sign({ hash: request.digest })
  const v = Number.parseInt(right.slice(-2), 16) - 27
  const odd = `0x${right.slice(2, 130).toUpperCase()}0${v}`
  const { url, questions } = await serve(accountsThen(({ id }) => result(id, odd)))
  expect(await (await connect(url)).sign(request)).toBe(right)
  expect(questions.some(({ headers }) => headers.authorization !== undefined)).toBe(false)
})

test('a signature of another key, over another message, with a high s, or malformed is thrown away', async () => {
  const right = await account.sign({ hash: request.digest })
  const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
  const highS = (order - BigInt(`0x${right.slice(66, 130)}`)).toString(16).padStart(64, '0')
  const flipped = right.endsWith('1b') ? '1c' : '1b'
  const wrong: readonly (readonly [given: unknown, reason: RegExp])[] = [
    [await stranger.sign({ hash: request.digest }), new RegExp(`it is the signature of ${stranger.address}`)],
    [await account.sign({ hash: `0x${'77'.repeat(32)}` }), /it is the signature of 0x/],
    [await account.signMessage({ message: { raw: request.digest } }), /it is the signature of 0x/],
    [`${right.slice(0, 66)}${highS}${flipped}`, /its s is in the upper half/],
    [`${right.slice(0, 66)}${highS}${right.slice(130)}`, /its s is in the upper half/],
    [`${right.slice(0, 130)}1d`, /v of a signature is/],
    [`0x${'00'.repeat(65)}`, /v of a signature|r and s/],
    [`0x${'00'.repeat(64)}1b`, /r and s are 1 to the order/],
    [right.slice(0, 130), /not 65 bytes/],
    [`${right}00`, /not 65 bytes/],
    [right.slice(2), /not 65 bytes/],
    ['', /not 65 bytes/],
    [null, /not 65 bytes/],
    [{ signature: right }, /not 65 bytes/],
    [[right], /not 65 bytes/],
  ]
  let given: unknown
  const { url } = await serve(accountsThen(({ id }) => result(id, given)))
  const signer = await connect(url)
  for (const [signature, reason] of wrong) {
    given = signature
    const fault = await faultOf(signer.sign(request))
    expect([fault.code, fault.shortMessage]).toEqual([
      'REMOTE_SIGNER_SIGNATURE',
      expect.stringMatching(reason),
    ])
    expect(fault.message).not.toContain(right.slice(2, 130))
  }
})

/** A value of a type of the venue's messages: every integer as large as it may be, two items in a list. */
function full(type: string): unknown {
  if (type.endsWith('[]')) return [full(type.slice(0, -2)), full(type.slice(0, -2))]
  switch (type) {
    case 'address':
      return `0x${'cd'.repeat(20)}`
    case 'bytes32':
      return `0x${'ef'.repeat(32)}`
    case 'bytes':
      return '0x'
    case 'bool':
      return true
    case 'uint256':
      return 2n ** 256n - 1n
    default:
      return Object.fromEntries((fieldsOfStruct(type) ?? []).map((field) => [field.name, full(field.type)]))
  }
}

test('every message of the venue, sent as text, is signed over the digest that was computed here', async () => {
  const { url } = await serve(accountsThen(async ({ id, params }) => result(id, await signText(params[1]))))
  const signer = await connect(url)
  const router = arbitrum.contracts.subaccountGelatoRelayRouter
  const domain = relayRouterDomain(arbitrum.chainId, router)
  for (const primaryType of primaryTypes) {
    const message = full(primaryType) as Record<string, unknown>
    const digest = messageDigestOf(domainSeparator(arbitrum.chainId, router), primaryType, message)
    const document = { domain, types: typesOfMessage(primaryType), primaryType, message }
    expect(await signer.sign({ digest, typedData: document }), primaryType).toBe(
      await account.sign({ hash: digest }),
    )
  }
})

test('a signer without the account, and one that is none, are refused before anything is signed', async () => {
  let accounts: unknown = [stranger.address]
  const { url, questions } = await serve(({ id }) => result(id, accounts))
  expect((await faultOf(connect(url))).message).toBe(
    [
      'The remote signer does not hold the key of the account.',
      `  signer: ${url}`,
      `  account: ${account.address}`,
      '  accounts: 1',
      '  Nothing was signed. Give it that key, or correct account.address.',
    ].join('\n'),
  )
  for (const odd of [null, 'x', {}, [1], [[account.address]], undefined]) {
    accounts = odd
    expect((await faultOf(connect(url))).code).toBe('REMOTE_SIGNER_ANSWER')
  }
  expect(questions.every(({ method }) => method === 'eth_accounts')).toBe(true)
})

test('a slow, silent, cut or absent signer is given up in time', async () => {
  const { url } = await serve(
    accountsThen(({ params }) => {
      const text = String(params[1])
      return text.includes('slow') ? 'hang' : text.includes('half') ? 'stall' : 'cut'
    }),
  )
  const slow = {
    ...request,
    typedData: { ...request.typedData, domain: { ...typedData.domain, name: 'slow' } },
  }
  const half = {
    ...request,
    typedData: { ...request.typedData, domain: { ...typedData.domain, name: 'half' } },
  }
  const impatient = await connect(url, { timeoutMs: 300 })
  const startedMs = performance.now()
  expect((await faultOf(impatient.sign(slow))).code).toBe('REMOTE_SIGNER_UNREACHABLE')
  expect((await faultOf(impatient.sign(half))).code).toBe('REMOTE_SIGNER_UNREACHABLE')
  expect(performance.now() - startedMs).toBeLessThan(5_000)
  expect((await faultOf(impatient.sign(request))).code).toBe('REMOTE_SIGNER_UNREACHABLE')
  const gone = await serve(() => 'cut')
  const address = gone.url
  await closers.pop()?.()
  expect((await faultOf(connect(address))).facts).toMatchObject({ signer: address, method: 'eth_accounts' })
})

test('errors are told shortly, and never with the token', async () => {
  const says = (answer: Answer) =>
    serve(accountsThen(() => answer)).then(({ url }) => connect(url, { token }))
  const error = { code: -32000, message: `no\nway ${'x'.repeat(500)} ${token.reveal()}` }
  const signers = await Promise.all([
    says({ body: JSON.stringify({ jsonrpc: '2.0', id: 2, error }) }),
    says({ status: 500, body: JSON.stringify({ jsonrpc: '2.0', id: 2, error: `bad ${token.reveal()}` }) }),
    says({ status: 401, body: `<html>${token.reveal()}</html>` }),
    says({
      body: JSON.stringify({ jsonrpc: '2.0', id: 2, error: { message: `you said ${token.reveal()}` } }),
    }),
    // A redirect is not followed: the token would go along.
    says({ status: 307, body: '' }),
  ])
  for (const signer of signers) {
    const fault = await faultOf(signer.sign(request))
    expect(fault.code).toBe('REMOTE_SIGNER_REFUSED')
    expect(fault.message).not.toContain(token.reveal())
    expect(String(fault.facts.says).length).toBeLessThanOrEqual(200)
    expect(fault.facts.says).not.toMatch(/\n/)
  }
})

test('an answer to another question, of another shape or too large is none', async () => {
  const right = await account.sign({ hash: request.digest })
  const codes: string[] = []
  for (const body of [
    'nonsense',
    '[]',
    'null',
    '{}',
    JSON.stringify({ jsonrpc: '2.0', id: 99, result: right }),
    JSON.stringify({ id: 2, result: right }),
    JSON.stringify([{ jsonrpc: '2.0', id: 2, result: right }]),
    JSON.stringify({ jsonrpc: '2.0', id: 2, result: right, pad: 'x'.repeat(70_000) }),
  ]) {
    const { url } = await serve(accountsThen(() => ({ body })))
    codes.push((await faultOf((await connect(url)).sign(request))).code)
  }
  expect(codes).toEqual([...Array(7).fill('REMOTE_SIGNER_ANSWER'), 'REMOTE_SIGNER_UNREACHABLE'])
})
