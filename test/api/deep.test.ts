/** Bodies that nest or count more than any answer of the venue: a failure of the answer, never of the process. */
import { expect, test } from 'vitest'
import { DecodeError, RefusedError, UnreachableError } from '../../src/api/transport/apiErrors.ts'
import { bodyOf, names, readOf } from './decoders.ts'
import { failureOf, transportAnsweringStatus } from './support.ts'

const deepList = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth)
const deepObject = (depth: number): string => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`

test.each(names)(
  '%s: a body of 10 kB that nests 5,000 deep is an answer that cannot be read',
  async (name) => {
    for (const body of [deepList(5_000), deepObject(5_000), `{"a":1.5,"b":${deepList(5_000)}}`]) {
      expect(await failureOf(readOf(name, transportAnsweringStatus(200, body)))).toBeInstanceOf(DecodeError)
    }
  },
)

test.each(names)(
  '%s: a deep value in any field of an honest answer is an answer that cannot be read',
  async (name) => {
    const body = bodyOf(name).trim()
    const last = body.lastIndexOf('}')
    const poisoned = `${body.slice(0, last)},"warnings":${deepList(5_000)},"payload":${deepObject(5_000)}${body.slice(last)}`
    expect(await failureOf(readOf(name, transportAnsweringStatus(200, poisoned)))).toBeInstanceOf(DecodeError)
  },
)

test.each([400, 401, 404, 422])(
  'a %i with a deep body refuses, and says nothing of its own',
  async (status) => {
    for (const inner of [deepList(5_000), deepObject(5_000)]) {
      for (const body of [
        inner,
        `{"message":"no","details":${inner}}`,
        `{"message":{"from":${inner}}}`,
        `{"message":{"from":{"message":"no","value":${inner}}}}`,
        `{"errors":${inner}}`,
      ]) {
        const error = await failureOf(readOf('prepare', transportAnsweringStatus(status, body)))
        expect(error).toBeInstanceOf(RefusedError)
        expect(error).toMatchObject({ isOwnBody: false })
        expect((error as RefusedError).message.length).toBeLessThan(3_000)
      }
    }
  },
)

test('a 503 with a deep body says "not now"', async () => {
  const error = await failureOf(readOf('markets', transportAnsweringStatus(503, deepList(5_000))))
  expect(error).toBeInstanceOf(UnreachableError)
})

test('a body of two million values is refused before it is parsed', async () => {
  const body = `[${'0,'.repeat(2_000_000)}0]`
  const started = performance.now()
  const error = await failureOf(readOf('trades', transportAnsweringStatus(200, body)))
  expect(error).toBeInstanceOf(DecodeError)
  expect((error as DecodeError).shortMessage).toContain('values')
  expect(performance.now() - started).toBeLessThan(2_000)
})
