/** Strictness on the socket itself: whatever is no good request gets the documented form, and never a 5xx. */
import { connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Any, startVenue, trader } from './support.ts'

let paper: Awaited<ReturnType<typeof startVenue>>
let api: string

beforeAll(async () => {
  paper = await startVenue()
  api = new URL(paper.api).pathname
})
afterAll(async () => {
  await paper.close()
})

/** An answer read from the socket. */
interface RawAnswer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

function parsed(raw: string): RawAnswer {
  const [head = '', ...rest] = raw.split('\r\n\r\n')
  const [first = '', ...lines] = head.split('\r\n')
  return {
    status: Number(first.split(' ')[1]),
    headers: new Headers(lines.map((line) => line.split(/: ?(.*)/s).slice(0, 2) as [string, string])),
    text: rest.join('\r\n\r\n'),
  }
}

/** Writes bytes as they are and reads until the venue closes. */
function send(bytes: string): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const socket = connect(paper.served.port, '127.0.0.1')
    let text = ''
    socket.setEncoding('utf8')
    socket.on('data', (chunk) => {
      text += chunk
    })
    socket.on('error', reject)
    socket.on('close', () => resolve(parsed(text)))
    socket.write(bytes)
  })
}

function expectFailure(answer: RawAnswer, status: number): void {
  expect(answer.status).toBe(status)
  expect(answer.headers.get('x-trace-id')).toMatch(/^paper-/)
  expect(answer.headers.get('access-control-expose-headers')).toBe('X-Trace-Id')
  expect(answer.headers.get('access-control-allow-origin')).toBe('*')
  expect(answer.headers.get('content-type')).toBe('application/json')
}

test.each([
  ['a request line that is none', () => `GET ${api}/x y HTTP/1.1\r\nHost: a\r\n\r\n`, 400],
  [
    'headers without end',
    () => `GET ${api}/orders HTTP/1.1\r\nHost: a\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`,
    431,
  ],
  [
    'a host that is none',
    () => `GET ${api}/orders HTTP/1.1\r\nHost: a b<>\r\nConnection: close\r\n\r\n`,
    400,
  ],
  ['no path', () => 'OPTIONS * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n', 400],
  [
    'a body in broken chunks',
    () => `POST ${api}/orders/txns/status HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc`,
    400,
  ],
  [
    'an upgrade where there is no WebSocket',
    () =>
      `GET ${api}/orders HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n`,
    404,
  ],
  ['a wrong method', () => `DELETE ${api}/orders HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`, 404],
  [
    'a method nobody serves',
    () => `TRACE ${api}/orders HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`,
    404,
  ],
])('%s gets a JSON message and a trace id', async (_name, bytes, status) => {
  const answer = await send(bytes())
  expectFailure(answer, status)
  expect(typeof (JSON.parse(answer.text) as Any).message).toBe('string')
})

test('HTTP/1.0 without a host is served, and its connection closed', async () => {
  const answer = await send(`GET ${new URL(paper.oracle).pathname}/ping HTTP/1.0\r\n\r\n`)
  expect([answer.status, answer.text]).toEqual([200, '{"ok":true}'])
})

test('two requests in one write are answered in order on one connection', async () => {
  const one = `GET ${api}/orders/0x01 HTTP/1.1\r\nHost: a\r\n\r\n`
  const last = `GET ${api}/orders HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`
  const { text } = await send(one + last)
  expect(text.indexOf('Order not found')).toBeGreaterThan(-1)
  expect(text.indexOf("'address' is required")).toBeGreaterThan(text.indexOf('Order not found'))
})

test('a body nested past all use is refused, not stumbled over', async () => {
  const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`
  for (const path of [
    '/orders/txns/prepare',
    '/orders/txns/submit',
    '/orders/txns/status',
    '/relay/submit',
    '/subaccounts/status',
    '/gmx-account/withdraw/cross-chain/submit',
    '/trades/search',
  ]) {
    const { status, headers, body } = await paper.post(path, `{"from":${deep}}`)
    expect([path, status]).toEqual([path, 400])
    expect(body.message).toContain('nests deeper than 64 levels')
    expect(headers.get('x-trace-id')).not.toBeNull()
  }
  // Brackets within a text are no nesting.
  const text = await paper.post('/orders/txns/status', JSON.stringify({ requestId: '["{'.repeat(500) }))
  expect([text.status, text.body.message]).toEqual([404, 'Transaction not found'])
})

test('a body larger than a megabyte is refused, with its length stated or not', async () => {
  const large = JSON.stringify({ requestId: 'x'.repeat(2_000_000) })
  const stated = await paper.post('/orders/txns/status', large)
  expect([stated.status, stated.body.message]).toEqual([
    400,
    'The request body is too large: at most 1048576 bytes',
  ])
  const chunked = await fetch(`${paper.api}/orders/txns/status`, {
    method: 'POST',
    body: new Blob([large]).stream(),
    duplex: 'half',
  } as RequestInit)
  expect(chunked.status).toBe(400)
  expect(((await chunked.json()) as Any).message).toContain('too large')
})

test('bytes that are no UTF-8, no body and a body that says it is compressed are a 400', async () => {
  for (const init of [
    { body: new Uint8Array([0xff, 0xfe, 0x7b]) },
    {},
    { body: '{}', headers: { 'content-encoding': 'gzip' } },
  ]) {
    const response = await fetch(`${paper.api}/orders/txns/status`, { method: 'POST', ...init })
    expect(response.status).toBe(400)
    expect(response.headers.get('x-trace-id')).not.toBeNull()
    await response.arrayBuffer()
  }
})

test('HEAD answers as GET does, without the body', async () => {
  for (const [url, status] of [
    [`${paper.api}/tokens`, 200],
    [`${paper.oracle}/ping`, 200],
    [`${paper.api}/orders`, 400],
    [`${paper.api}/nothing`, 404],
  ] as const) {
    const response = await fetch(url, { method: 'HEAD' })
    expect([url, response.status, await response.text()]).toEqual([url, status, ''])
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(response.headers.has('x-trace-id')).toBe(status >= 400)
  }
})

test('a preflight is allowed on every host, and says what may be sent', async () => {
  for (const url of [`${paper.api}/orders/txns/prepare`, `${paper.peer}/markets`, `${paper.oracle}/tokens`]) {
    const { status, headers } = await fetch(url, {
      method: 'OPTIONS',
      headers: { origin: 'http://app.test', 'access-control-request-method': 'POST' },
    })
    expect(status).toBe(200)
    expect(headers.get('access-control-allow-origin')).toBe('*')
    expect(headers.get('access-control-allow-methods')).toContain('POST')
    expect(headers.get('access-control-allow-headers')).toContain('Content-Type')
  }
})

test('the version segment is v1 and nothing else, paths are exact', async () => {
  const base = paper.api.replace(/\/v1$/, '')
  for (const path of [
    '/markets',
    '/v2/markets',
    '/v1',
    '/v1/',
    '/v1/markets/',
    '/v1//markets',
    '/V1/markets',
  ]) {
    const { status, body, headers } = await paper.call('GET', base + path)
    expect([path, status, body]).toEqual([path, 404, { message: 'Not Found' }])
    expect(headers.get('x-trace-id')).not.toBeNull()
  }
  for (const url of ['/oracle/3/ping', '/api/2/v1/markets', '/nothing', '/']) {
    expect((await paper.call('GET', `http://127.0.0.1:${paper.served.port}${url}`)).status).toBe(404)
  }
})

test('trace ids differ from failure to failure', async () => {
  const ids = new Set<string | null>()
  for (let i = 0; i < 20; i += 1) ids.add((await paper.get('/orders')).headers.get('x-trace-id'))
  expect(ids.size).toBe(20)
  expect(ids.has(null)).toBe(false)
})

test('an allowance is asked of the router or of an address, anything else is a 400', async () => {
  const of = (spender: string) => paper.get(`/allowances?address=${trader.address}${spender}`)
  expect((await of('&spender=router')).status).toBe(200)
  const other = await of(`&spender=${trader.address.toLowerCase()}`)
  expect([other.status, new Set(other.body.map((row: Any) => row.allowance))]).toEqual([200, new Set(['0'])])
  expect((await of('')).body).toEqual({ message: { spender: { message: "'spender' is required" } } })
  const bad = await of('&spender=zz')
  expect([bad.status, bad.body]).toEqual([
    400,
    { message: { spender: { message: "'spender' is not an address", value: 'zz' } } },
  ])
})

test.each([
  ['keepLeverage', 'false'],
  ['autoCancel', 1],
  ['uiFeeReceiver', '0x12'],
  ['acceptablePriceImpactBps', '-1'],
  ['manualSwapPath', '0x70d95587d40A2caf56bd97485aB3Eec10Bee6336'],
  ['manualSwapPath', [7]],
  ['collateralToken', 7],
  ['receiveToken', {}],
  ['gasPaymentToken', []],
  ['referralCode', 7],
] as const)('an optional field of prepare that means nothing is refused: %s %j', async (field, value) => {
  const { status, body } = await paper.prepare({ [field]: value })
  expect([status, Object.keys(body.message), body.message[field].value]).toEqual([400, [field], value])
  expect(body.code).toBeUndefined()
  expect((await paper.prepare({ [field]: null })).status).toBe(200)
})

test('collateral/prepare takes its optional fields as asked, and refuses those that mean nothing', async () => {
  const own = await startVenue()
  await own.trade({})
  const [{ key }] = (await own.positions()) as [Any]
  const withdraw = (fields: Record<string, unknown>) =>
    own.post('/orders/txns/collateral/prepare', {
      operation: 'withdraw',
      positionKey: key,
      amount: '1000000',
      mode: 'express',
      from: trader.address,
      ...fields,
    })
  const receiver = '0x00000000000000000000000000000000000000b8'
  const { body } = await withdraw({ uiFeeReceiver: receiver, slippage: 10_000, executionFeeBufferBps: 0 })
  const [order] = body.payload.typedData.message.createOrderParamsList
  expect(order.addresses.uiFeeReceiver.toLowerCase()).toBe(receiver)
  expect(order.numbers.acceptablePrice).toBe('0')
  for (const [field, value] of [
    ['slippage', 10_001],
    ['slippage', -1],
    ['slippage', 'much'],
    ['executionFeeBufferBps', -1],
    ['uiFeeReceiver', '0x12'],
  ] as const) {
    const refused = await withdraw({ [field]: value })
    expect([field, value, refused.status, Object.keys(refused.body.message)]).toEqual([
      field,
      value,
      400,
      [field],
    ])
  }
  await own.close()
})
