import { inspect } from 'node:util'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { Secret } from '../../src/base/secret.ts'
import { createRedactor, mayHoldKey, redactUrl } from '../../src/monitor/log/redact.ts'

const text = 'correct horse battery staple'
const secret = new Secret(text)

test('a secret gives its text to whoever asks for it by name', () => {
  expect(secret.reveal()).toBe(text)
})

test('a secret that is turned into text or a document throws, and names nothing of it', () => {
  const refusal = new TypeError('a secret cannot be converted to text; only reveal() returns it')
  const holder = { password: secret }
  for (const attempt of [
    () => `${secret}`,
    () => String(secret),
    () => 'x'.concat(secret as unknown as string),
    () => [secret].join(),
    () => JSON.stringify(secret),
    () => JSON.stringify(holder),
    () => Number(secret),
    () => encodeURIComponent(secret as unknown as string),
    () => new Error(secret as unknown as string),
  ]) {
    expect(attempt).toThrow(refusal)
  }
})

test('a secret that is inspected, copied, listed or logged shows nothing of it', () => {
  const lines: string[] = []
  pino({}, { write: (line: string) => void lines.push(line) }).info({ secret, list: [secret] }, 'hello')
  const shown = [
    inspect(secret),
    inspect({ deep: { list: [secret] } }, { depth: 9, showHidden: true }),
    inspect(secret, { customInspect: false, showHidden: true }),
    inspect(structuredClone({ secret })),
    inspect({ ...secret }),
    inspect(Object.assign({}, secret)),
    String(Object.getOwnPropertyNames(secret)),
    String(Reflect.ownKeys(secret)),
    JSON.stringify(Object.entries(secret)),
    JSON.stringify(createRedactor().value({ a: [secret] })),
    lines.join(''),
  ]
  for (const each of shown) expect(each).not.toMatch(/horse|correct/)
  expect(inspect({ secret })).toBe('{ secret: [secret] }')
  expect(createRedactor().value({ a: [secret] })).toEqual({ a: ['[hidden]'] })
})

test('of an address, the parts that may be keys are hidden wherever they stand', () => {
  const { text: clean } = createRedactor([
    new Secret('https://me:pa55word@rpc.example/v2/0123456789abcdef?apikey=querykey'),
  ])
  expect(clean('GET /v2/0123456789abcdef failed at rpc.example')).toBe(
    'GET /v2/[hidden] failed at rpc.example',
  )
  expect(clean('pa55word, querykey, v2')).toBe('[hidden], [hidden], v2')
})

test('an address of another machine may hold a key unless it is a scheme and a host of words', () => {
  const plain = [
    'https://arb1.example.org',
    'https://arbitrum-mainnet.example.org:8443/',
    'https://203.0.113.7',
    'http://127.0.0.1:8545/arbitrum/rpc/1',
    'none',
  ]
  const keyed = [
    'https://rpc.ankr.com/arbitrum/abcDEF12345',
    'https://rpc.example/rpc',
    'https://rpc.example/?k=1',
    'https://me@rpc.example',
    'https://rpc.example/#k',
    'https://0123456789abcdef.rpc.example',
    'https://app-a1b2c3d4e5f6a7b8c9d0.rpc.example',
    'http://127.0.0.1:8545/v2/0123456789abcdef',
  ]
  expect(plain.filter(mayHoldKey)).toEqual([])
  expect(keyed.filter((address) => !mayHoldKey(address))).toEqual([])
})

test("a key in a host's name is hidden where addresses are shown and where it is said", () => {
  const address = 'https://0123456789abcdef.rpc.example:8443'
  expect(redactUrl(address)).toBe('https://[hidden].rpc.example:8443')
  expect(createRedactor([new Secret(address)]).text('0123456789abcdef.rpc.example failed')).toBe(
    '[hidden].rpc.example failed',
  )
})
