import { inspect } from 'node:util'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { Secret } from '../../src/base/secret.ts'
import { createRedactor } from '../../src/monitor/log/redact.ts'

const text = 'correct horse battery staple'
const secret = new Secret(text)

test('a secret gives its text to whoever asks for it by name', () => {
  expect(secret.reveal()).toBe(text)
})

test('a secret that is turned into text or a document throws, and names nothing of it', () => {
  const refusal = new TypeError('a secret was to be turned into text; reveal() is the one way to it')
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
