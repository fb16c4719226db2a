/** HTTP answers as nock gives them, over the global fetch. Alone in its file: nock replaces the connections of a whole process. */
import nock from 'nock'
import { afterAll, afterEach, expect, test } from 'vitest'
import { getTokens } from '../../src/api/markets/tokens.ts'
import { getOrderStatus, submitOrder } from '../../src/api/orders/expressOrders.ts'
import { proves } from '../../src/api/transport/apiErrors.ts'
import type { Fetch } from '../../src/api/transport/route.ts'
import { createTransport } from '../../src/api/transport/transport.ts'
import { failureOf, realClock } from './support.ts'

// The client's own connections are undici's, which nock does not see; its global fetch it does.
const fetch: Fetch = (url, init) => globalThis.fetch(url, init)
const one = 'http://one.test/v1'
const two = 'http://two.test/v1'
const ticket = { host: one, requestId: '6f1c-a', idempotencyKey: 'b2d4-a' }
const submission = {
  from: '0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A',
  signature: `0x${'1b'.repeat(65)}`,
  echo: { batchParams: { createOrderParams: [] }, relayParams: { deadline: '1800003600' } },
} as const

afterEach(() => nock.cleanAll())
afterAll(() => nock.restore())

function transport(submitTimeoutMs = 10_000) {
  return createTransport({
    hosts: { api: [one, two], oracle: [] },
    fetch,
    clock: realClock,
    random: () => 0,
    limits: { submitTimeoutMs },
  })
}

test('a submit is posted once, to the host of its ticket, with the echo as it came', async () => {
  const scope = nock('http://one.test')
    .post('/v1/orders/txns/submit', {
      mode: 'express',
      requestId: '6f1c-a',
      idempotencyKey: 'b2d4-a',
      from: submission.from,
      signature: submission.signature,
      eip712Data: submission.echo,
    })
    .reply(200, { requestId: '6f1c-a', status: 'relay_accepted', taskId: `0x${'ab'.repeat(32)}` })
  const { value } = await submitOrder(transport(), ticket, submission)
  expect(value).toMatchObject({ status: 'relay_accepted', taskId: `0x${'ab'.repeat(32)}` })
  scope.done()
})

test('no answer to a submit brings a second POST', async () => {
  const answers: readonly (readonly [number, string, string])[] = [
    [503, '{"message":"Internal Server Error"}', 'nothing'],
    [429, '{"message":"slow down"}', 'nothing'],
    [409, '{"message":"conflict"}', 'nothing'],
    [408, '', 'nothing'],
    [307, '', 'nothing'],
    [200, '{"requestId":"6f1c-a"', 'nothing'],
    [200, '{"requestId":"another","status":"executed"}', 'nothing'],
    [400, '{"code":"INVALID_SIGNATURE","message":"wrong signer"}', 'refused'],
    [404, '{"message":"Transaction not found"}', 'refused'],
    [404, '<h1>nginx</h1>', 'nothing'],
  ]
  for (const [status, body, proof] of answers) {
    let posts = 0
    for (const host of ['http://one.test', 'http://two.test']) {
      nock(host)
        .persist()
        .post('/v1/orders/txns/submit')
        .reply(() => {
          posts += 1
          return [status, body, { 'Retry-After': '0', Location: '/v1/orders/txns/submit' }]
        })
    }
    const error = await failureOf(submitOrder(transport(), ticket, submission))
    expect([status, body, proves(error), posts]).toEqual([status, body, proof, 1])
    nock.cleanAll()
  }
})

test('a submit that is not answered in time brings no second POST', async () => {
  let posts = 0
  nock('http://one.test')
    .persist()
    .post('/v1/orders/txns/submit')
    .delay(2_000)
    .reply(() => {
      posts += 1
      return [200, '{}']
    })
  const error = await failureOf(submitOrder(transport(50), ticket, submission))
  expect(proves(error)).toBe('nothing')
  expect(posts).toBeLessThanOrEqual(1)
  nock.abortPendingRequests()
})

test('a status of the wrong host is a refusal that proves nothing, and the peer is not asked', async () => {
  nock('http://one.test')
    .post('/v1/orders/txns/status', { requestId: '6f1c-a' })
    .reply(404, { message: 'Transaction not found' }, { 'X-Trace-Id': 'tr-7' })
  const error = await failureOf(getOrderStatus(transport(), ticket))
  expect(proves(error)).toBe('nothing')
  expect(error).toMatchObject({ status: 404, traceId: 'tr-7', serverMessage: 'Transaction not found' })
})

test('a read goes to the peer when a host answers 503', async () => {
  nock('http://one.test').get('/v1/tokens').reply(503, { code: 'BACKEND_UNAVAILABLE' })
  nock('http://two.test').get('/v1/tokens').reply(200, [])
  const read = await getTokens(transport())
  expect([read.host, read.value]).toEqual([two, []])
})
