import fc from 'fast-check'
import { expect, test } from 'vitest'
import { DecodeError, proves, RefusedError, UnreachableError } from '../../src/api/transport/apiErrors.ts'
import { RequestFailed } from '../../src/api/transport/requestFailed.ts'
import type { Route } from '../../src/api/transport/route.ts'
import type { RequestAttempt } from '../../src/api/transport/transportTypes.ts'
import { failureOf, jumpingClock, type Reply, START_MS, scriptedTransport } from './support.ts'

const read: Route<string, unknown> = {
  path: '/thing',
  method: 'GET',
  service: 'api',
  kind: 'read',
  cacheMs: 1_000,
  query: (name) => ({ name }),
  decode: (body) => body,
}
const { cacheMs: _unused, ...unshared } = read
const oracleRead: Route<string, unknown> = { ...unshared, service: 'oracle', path: '/price' }
const prepare: Route<string, unknown> = {
  ...unshared,
  kind: 'prepare',
  method: 'POST',
  body: (name) => ({ name }),
}
const submit: Route<string, unknown> = { ...prepare, kind: 'submit', path: '/submit' }
const status: Route<string, unknown> = { ...prepare, kind: 'status', path: '/status' }

const notSent = () => new RequestFailed('getaddrinfo ENOTFOUND one', { sent: 'no', code: 'ENOTFOUND' })
const reset = () => new RequestFailed('read ECONNRESET', { sent: 'maybe', code: 'ECONNRESET' })

test('a read gives its value with the moment it left, the host and the host’s clock', async () => {
  const { transport, clock } = scriptedTransport(() => ({
    body: { a: 1 },
    headers: { Date: new Date(START_MS + 2_000).toUTCString() },
  }))
  await clock.advance(700)
  const got = await transport.call(read, 'x')
  expect(got).toEqual({
    value: { a: 1 },
    readAtMs: START_MS + 700,
    serverDateMs: START_MS + 2_000,
    host: 'http://one/v1',
  })
  expect(transport.clockSkewMs('http://one/v1')).toBe(2_000 + 500 - 700)
  expect(transport.clockSkewMs('http://two/v1')).toBeUndefined()
})

test('application reads take turns at the peers, oracle reads stay with the primary', async () => {
  const { transport, seen } = scriptedTransport(() => ({}))
  for (const name of ['a', 'b', 'c']) await transport.call(read, name)
  for (const name of ['a', 'b']) await transport.call(oracleRead, name)
  expect(seen.map(({ url }) => url)).toEqual([
    'http://one/v1/thing?name=a',
    'http://two/v1/thing?name=b',
    'http://one/v1/thing?name=c',
    'http://primary/price?name=a',
    'http://primary/price?name=b',
  ])
})

test('a read that fails is asked elsewhere, after a backoff that doubles', async () => {
  const { transport, clock, seen } = scriptedTransport(
    (_, index) => (index < 3 ? { status: 503 } : { body: '"ok"' }),
    {
      limits: { backoffMs: 100 },
    },
  )
  const got = await clock.drive(transport.call(read, 'x'))
  expect(got.value).toBe('ok')
  expect(got.readAtMs).toBe(START_MS + 50 + 100 + 200)
  expect(seen.map(({ url, atMs }) => [new URL(url).host, atMs])).toEqual([
    ['one', 0],
    ['two', 50],
    ['one', 150],
    ['two', 350],
  ])
})

test('attempts are bounded, and the last failure is thrown whole', async () => {
  const { transport, clock, seen } = scriptedTransport(() => ({
    status: 503,
    body: { code: 'BACKEND_UNAVAILABLE', message: 'no such pool' },
    headers: { 'X-Trace-Id': 't-1' },
  }))
  const error = await clock.drive(failureOf(transport.call(read, 'x')))
  expect(seen).toHaveLength(4)
  expect(error).toBeInstanceOf(UnreachableError)
  expect(String(error)).toMatchInlineSnapshot(`
    "UnreachableError: two answered 503 to GET /thing.
      host: http://two/v1
      attempts: 4
      reached: yes
      means: the request reached a pool that does not serve this route
      serverMessage: BACKEND_UNAVAILABLE: no such pool
      traceId: t-1
      perpd retries at the next need. Check the network and the venue if this persists."
  `)
})

test('a 4xx is never repeated', async () => {
  const { transport, seen } = scriptedTransport(() => ({
    status: 400,
    body: { message: { direction: { message: 'unknown value', value: 'up' } } },
    headers: { 'X-Trace-Id': 't-2' },
  }))
  const error = await failureOf(transport.call(read, 'x'))
  expect(seen).toHaveLength(1)
  expect(error).toBeInstanceOf(RefusedError)
  expect(String(error)).toMatchInlineSnapshot(`
    "RefusedError: one refused GET /thing: direction: unknown value.
      status: 400
      host: http://one/v1
      traceId: t-2
      perpd does not repeat the request. Check its market, token and account."
  `)
})

test('a timeout is counted on the handed-in clock and the request is aborted', async () => {
  const { transport, clock, seen } = scriptedTransport(
    (_, index) => (index === 0 ? 'silence' : { body: '"late"' }),
    {
      limits: { timeoutMs: 3_000, backoffMs: 0 },
    },
  )
  const got = await clock.drive(transport.call(read, 'x'))
  expect(got.value).toBe('late')
  expect(seen.map(({ atMs }) => atMs)).toEqual([0, 3_000])
  expect(clock.sleepers).toBe(0)
})

test('Retry-After rests the host and is waited for when there is no other', async () => {
  const one = { hosts: { api: ['http://one/v1'], oracle: [] } }
  const busy = (_: unknown, index: number): Reply =>
    index === 0 ? { status: 429, headers: { 'Retry-After': '7' } } : { body: '"ok"' }
  const alone = scriptedTransport(busy, one)
  await alone.clock.drive(alone.transport.call(read, 'x'))
  expect(alone.seen.map(({ atMs }) => atMs)).toEqual([0, 7_000])

  const paired = scriptedTransport(busy, { limits: { backoffMs: 100 } })
  await paired.clock.drive(paired.transport.call(read, 'x'))
  expect(paired.seen.map(({ url, atMs }) => [new URL(url).host, atMs])).toEqual([
    ['one', 0],
    ['two', 50],
  ])
  expect(paired.transport.isCoolingDown('http://one/v1')).toBe(true)
  await paired.clock.advance(7_000)
  expect(paired.transport.isCoolingDown('http://one/v1')).toBe(false)
})

test.each([
  [
    'by the host’s own clock, an hour off ours',
    { Date: new Date(START_MS + 3_600_000).toUTCString() },
    3_600_000,
  ],
  ['by ours where the host tells no time', {}, 0],
])('a Retry-After with a date is counted %s', async (_, date, aheadMs) => {
  const until = new Date(START_MS + aheadMs + 7_000).toUTCString()
  const { transport, clock, seen } = scriptedTransport(
    (_seen, index) =>
      index === 0 ? { status: 429, headers: { 'Retry-After': until, ...date } } : { body: '"ok"' },
    { hosts: { api: ['http://one/v1'], oracle: [] } },
  )
  await clock.drive(transport.call(read, 'x'))
  expect(seen.map(({ atMs }) => atMs)).toEqual([0, 7_000])
})

test('a Retry-After beyond the limit is not waited for', async () => {
  const { transport, seen } = scriptedTransport(() => ({ status: 429, headers: { 'Retry-After': '3600' } }), {
    hosts: { api: ['http://one/v1'], oracle: [] },
  })
  const error = await failureOf(transport.call(read, 'x'))
  expect(seen).toHaveLength(1)
  expect(error).toMatchObject({ status: 429, retryAfterMs: 3_600_000 })
})

test('a host that keeps failing rests, is probed by one request, and rests longer when the probe fails', async () => {
  let isSick = true
  const rests: unknown[] = []
  const { transport, clock, seen } = scriptedTransport(
    ({ url }) => (isSick && url.startsWith('http://primary') ? { status: 500 } : {}),
    {
      limits: { failuresToCooldown: 2, cooldownMs: 1_000, backoffMs: 0, attempts: 2 },
      onCooldown: ({ host, cooldownMs, outcome }) => rests.push([host, cooldownMs, outcome]),
    },
  )
  const ask = (name: string) => clock.drive(transport.call(oracleRead, name))
  await ask('a')
  await ask('b')
  expect(rests).toEqual([['http://primary', 1_000, 'not-now']])
  seen.length = 0
  await ask('c')
  expect(seen.map(({ url }) => new URL(url).host)).toEqual(['spare'])

  await clock.advance(1_000)
  seen.length = 0
  await clock.drive(Promise.all([transport.call(oracleRead, 'd'), transport.call(oracleRead, 'e')]))
  expect(seen.map(({ url }) => new URL(url).host)).toEqual(['primary', 'spare', 'spare'])
  expect(rests.at(-1)).toEqual(['http://primary', 2_000, 'not-now'])

  isSick = false
  await clock.advance(2_000)
  seen.length = 0
  await ask('f')
  await ask('g')
  expect(seen.map(({ url }) => new URL(url).host)).toEqual(['primary', 'primary'])
})

test('a good answer ends a rest after failures, and none that follows from a payload that is not trusted', async () => {
  let isSick = true
  const rests: unknown[] = []
  const told: unknown[] = []
  // On a real clock no two readings are the same.
  const clock = jumpingClock()
  let readings = 0
  const ticking = { ...clock, monotonicMs: () => clock.monotonicMs() + ++readings / 1_000 }
  const { transport } = scriptedTransport(() => (isSick ? { status: 500 } : {}), {
    clock: ticking,
    limits: { failuresToCooldown: 1, cooldownMs: 60_000, backoffMs: 0, attempts: 2 },
    onCooldown: ({ host, isLast = false }) => rests.push([host, isLast]),
    onAttempt: ({ host, outcome, isResting = false }) => told.push([host, outcome, isResting]),
  })
  const [one, two] = ['http://one/v1', 'http://two/v1']
  const resting = () => [one, two].map((host) => transport.isCoolingDown(host))
  await clock.drive(failureOf(transport.call(read, 'a')))
  expect([rests, resting()]).toEqual([
    [
      [one, false],
      [two, true],
    ],
    [true, true],
  ])
  isSick = false
  await clock.drive(transport.call(read, 'b'))
  expect(resting().filter((isResting) => !isResting)).toHaveLength(1)
  expect(told.at(-1)).toMatchObject([expect.any(String), 'ok', false])

  transport.coolDown(one, 60_000, 'it sent a poisoned payload')
  transport.coolDown(two, 60_000, 'it sent a poisoned payload')
  await clock.drive(transport.call(read, 'c'))
  expect(resting()).toEqual([true, true])
  expect(told.at(-1)).toMatchObject([expect.any(String), 'ok', true])
})

test('when every host rests, reads are still asked and distrusted hosts get no new order', async () => {
  const { transport, clock, seen } = scriptedTransport(() => ({}))
  transport.coolDown('http://one/v1/', 60_000, 'it sent a poisoned payload')
  await transport.call(prepare, 'x')
  expect(seen.map(({ url }) => new URL(url).host)).toEqual(['two'])
  transport.coolDown('http://two/v1', 90_000, 'it sent a poisoned payload')
  await transport.call(read, 'x')
  expect(seen.map(({ url }) => new URL(url).host)).toEqual(['two', 'one'])

  const error = await clock.drive(failureOf(transport.call(prepare, 'x')))
  expect(seen).toHaveLength(2)
  expect(proves(error)).toBe('not-sent')
  expect(String(error)).toMatchInlineSnapshot(`
    "UnreachableError: one and its peers are in cooldown, so no request was sent for POST /thing.
      host: http://one/v1, http://two/v1
      attempts: 0
      reached: no, nothing was sent
      Nothing was signed. A later decision may retry."
  `)
})

test('callers of one question within the venue’s cache window share one request and its age', async () => {
  const { transport, clock, seen } = scriptedTransport(() => ({}))
  const [one, two] = await Promise.all([transport.call(read, 'x'), transport.call(read, 'x')])
  await clock.advance(999)
  const three = await transport.call(read, 'x')
  expect(seen).toHaveLength(1)
  expect([one.readAtMs, two.readAtMs, three.readAtMs]).toEqual([START_MS, START_MS, START_MS])

  await transport.call(read, 'y')
  await transport.call(read, 'x', { host: 'http://two/v1' })
  await transport.call(read, 'x', { isFresh: true })
  expect(seen).toHaveLength(4)
  await clock.advance(1_000)
  await transport.call(read, 'x')
  expect(seen).toHaveLength(5)
})

test('a caller that gives up sooner does not give up for others', async () => {
  const { transport, clock, seen } = scriptedTransport((_, index) => (index < 2 ? { status: 503 } : {}))
  const hasty = failureOf(transport.call(read, 'x', { attempts: 1 }))
  const patient = transport.call(read, 'x')
  await clock.drive(Promise.all([hasty, patient]))
  expect(seen).toHaveLength(3)
})

test('a failed read is not shared with later callers', async () => {
  const { transport, clock, seen } = scriptedTransport((_, index) => (index === 0 ? { status: 400 } : {}))
  const both = [transport.call(read, 'x'), transport.call(read, 'x')]
  await clock.drive(Promise.allSettled(both))
  expect(seen).toHaveLength(1)
  await transport.call(read, 'x')
  expect(seen).toHaveLength(2)
})

test('reads keep to the rate of a host, and writes do not wait behind them', async () => {
  const { transport, clock, seen } = scriptedTransport(() => ({}), {
    hosts: { api: ['http://one/v1'], oracle: [] },
    limits: { requestsPerSecondPerHost: 2, burstPerHost: 3 },
  })
  const reads = ['a', 'b', 'c', 'd', 'e'].map((name) => transport.call(read, name))
  await transport.call(submit, 'order', { host: 'http://one/v1' })
  await clock.drive(Promise.all(reads))
  expect(seen.map(({ method, atMs }) => `${method} ${atMs}`)).toEqual([
    'GET 0',
    'GET 0',
    'GET 0',
    'POST 0',
    'GET 500',
    'GET 1000',
  ])
})

test('only so many reads are in flight at one host, writes not counted', async () => {
  const { transport, clock, seen } = scriptedTransport(() => 'silence', {
    hosts: { api: ['http://one/v1'], oracle: [] },
    limits: { concurrencyPerHost: 2, attempts: 1, timeoutMs: 1_000 },
  })
  const reads = ['a', 'b', 'c'].map((name) => failureOf(transport.call(read, name)))
  const write = failureOf(transport.call(submit, 'order', { host: 'http://one/v1' }))
  await clock.drive(Promise.all([...reads, write]))
  expect(seen.map(({ method, atMs }) => `${method} ${atMs}`).sort()).toEqual([
    'GET 0',
    'GET 0',
    'GET 1000',
    'POST 0',
  ])
})

test('a full queue refuses further reads without sending them', async () => {
  const { transport, clock, seen } = scriptedTransport(() => 'silence', {
    hosts: { api: ['http://one/v1'], oracle: [] },
    limits: { concurrencyPerHost: 1, queuePerHost: 2, attempts: 1, timeoutMs: 100 },
  })
  const results = await clock.drive(
    Promise.allSettled(['a', 'b', 'c'].map((name) => transport.call(read, name))),
  )
  const third = results[2]?.status === 'rejected' ? results[2].reason : undefined
  expect(third).toMatchObject({ silence: 'queue', sent: 'no' })
  expect(seen).toHaveLength(2)
})

const history: Route<string, unknown> = { ...read, path: '/history', isHistory: true }

test('many reads of history do not hold up the reads of now: neither in rate, nor in places, nor in the queue', async () => {
  const one = { hosts: { api: ['http://one/v1'], oracle: [] } }
  const names = Array.from({ length: 12 }, (_, index) => String(index))
  const paced = scriptedTransport(() => ({}), {
    ...one,
    limits: { requestsPerSecondPerHost: 10, burstPerHost: 4 },
  })
  const past = names.map((name) => paced.transport.call(history, name))
  await paced.clock.drive(paced.transport.call(read, 'now'))
  await paced.clock.drive(Promise.all(past))
  const times = (path: string) => paced.seen.filter(({ url }) => url.includes(path)).map(({ atMs }) => atMs)
  expect(times('/thing')).toEqual([0])
  expect(times('/history')).toEqual([0, 0, ...names.slice(2).map((_, index) => (index + 1) * 200)])

  const slow = scriptedTransport(() => 'silence', {
    ...one,
    limits: { concurrencyPerHost: 4, queuePerHost: 12, attempts: 1, timeoutMs: 1_000 },
  })
  const stuck = names.map((name) => failureOf(slow.transport.call(history, name)))
  const now = ['a', 'b'].map((name) => failureOf(slow.transport.call(read, name)))
  const refused = await failureOf(slow.transport.call(history, 'one too many'))
  expect(refused).toMatchObject({ silence: 'queue', sent: 'no' })
  await slow.clock.drive(Promise.all([...stuck, ...now]))
  expect(slow.seen.filter(({ url }) => url.includes('/thing')).map(({ atMs }) => atMs)).toEqual([0, 0])
  expect(slow.seen.filter(({ atMs }) => atMs === 0)).toHaveLength(4)
})

test('prepare changes host after silence, and names the host that answered', async () => {
  const { transport, clock, seen } = scriptedTransport((_, index) => (index === 0 ? reset() : {}))
  const got = await clock.drive(transport.call(prepare, 'x'))
  expect(got.host).toBe('http://two/v1')
  expect(seen.map(({ method, body }) => [method, body])).toEqual([
    ['POST', '{"name":"x"}'],
    ['POST', '{"name":"x"}'],
  ])
})

test('a submit is one POST to its host under any answer', async () => {
  const replies = fc.oneof(
    fc.constant<Reply>('silence'),
    fc.constantFrom<() => Reply>(notSent, reset, () => new TypeError('fetch failed')).map((make) => make()),
    fc.record({
      status: fc.oneof(
        fc.integer({ min: 200, max: 599 }),
        fc.constantFrom(301, 308, 408, 409, 425, 429, 503),
      ),
      body: fc.oneof(fc.json(), fc.string(), fc.constant('{"message":"no"}'), fc.constant('')),
      headers: fc.constantFrom<Record<string, string>>(
        {},
        { 'Retry-After': '1' },
        { Location: 'http://two/v1/submit' },
      ),
    }),
  )
  await fc.assert(
    fc.asyncProperty(replies, async (reply) => {
      const { transport, clock, seen } = scriptedTransport(() => reply)
      await clock.drive(
        transport.call(submit, 'x', { host: 'http://two/v1', attempts: 5 }).then(
          () => {},
          () => {},
        ),
      )
      expect(seen.map(({ url, method }) => [method, url])).toEqual([['POST', 'http://two/v1/submit?name=x']])
    }),
    { seed: 20261120, numRuns: 300 },
  )
})

test('a status is asked again at its own host and nowhere else', async () => {
  const { transport, clock, seen } = scriptedTransport((_, index) =>
    index === 0 ? { status: 500 } : index === 1 ? 'silence' : index === 2 ? notSent() : { body: '"there"' },
  )
  const got = await clock.drive(transport.call(status, 'x', { host: 'http://two/v1' }))
  expect(got.value).toBe('there')
  expect(new Set(seen.map(({ url }) => url))).toEqual(new Set(['http://two/v1/status?name=x']))
  expect(seen).toHaveLength(4)
})

test('what one failed submit proves', async () => {
  const proofOf = async (reply: Reply, route = submit) => {
    const { transport, clock } = scriptedTransport(() => reply)
    return proves(
      await clock.drive(failureOf(transport.call(route, 'x', { host: 'http://one/v1', attempts: 1 }))),
    )
  }
  const own = { message: 'Transaction not found' }
  expect(await proofOf(notSent())).toBe('not-sent')
  expect(await proofOf(reset())).toBe('nothing')
  expect(await proofOf('silence')).toBe('nothing')
  expect(await proofOf({ status: 400, body: own })).toBe('refused')
  expect(await proofOf({ status: 404, body: own })).toBe('refused')
  expect(await proofOf({ status: 410, body: { code: 'REQUEST_EXPIRED' } })).toBe('refused')
  expect(await proofOf({ status: 404, body: own }, status)).toBe('nothing')
  expect(await proofOf({ status: 400, body: '<html>proxy</html>' })).toBe('nothing')
  expect(await proofOf({ status: 403, body: '[]' })).toBe('nothing')
  for (const inconclusive of [302, 308, 408, 409, 425, 429, 500, 502, 503, 504]) {
    expect(await proofOf({ status: inconclusive, body: own })).toBe('nothing')
  }
  expect(await proofOf({ status: 200, body: 'not json' })).toBe('nothing')
  expect(proves(new Error('another'))).toBe('nothing')
})

test('an earlier attempt that may have been sent is not forgotten by a later one that was not', async () => {
  const { transport, clock } = scriptedTransport((_, index) => (index === 0 ? reset() : notSent()))
  const error = await clock.drive(failureOf(transport.call(prepare, 'x')))
  expect(error).toMatchObject({ sent: 'maybe', attempts: 4 })
})

test('an answer that cannot be read is asked for once more elsewhere, then thrown', async () => {
  const { transport, clock, seen } = scriptedTransport(() => ({ body: '<html>' }))
  const error = await clock.drive(failureOf(transport.call(read, 'x')))
  expect(seen.map(({ url }) => new URL(url).host)).toEqual(['one', 'two'])
  expect(error).toBeInstanceOf(DecodeError)
  expect(String(error)).toMatchInlineSnapshot(`
    "DecodeError: The answer of two to GET /thing cannot be read: the body is not JSON.
      host: http://two/v1
      value: "<html>"
      perpd ignored this response. If it persists, the venue changed its API: look for a newer perpd."
  `)
})

test('every attempt is reported with what became of it', async () => {
  const attempts: RequestAttempt[] = []
  const replies: Reply[] = [
    notSent(),
    'silence',
    { status: 503, body: { message: 'Internal Server Error', traceId: 'in-body' } },
    { headers: { 'X-Trace-Id': 't-9' } },
  ]
  const { transport, clock } = scriptedTransport((_, index) => replies[index] ?? {}, {
    onAttempt: (attempt) => attempts.push(attempt),
    limits: { timeoutMs: 1_000, backoffMs: 0 },
  })
  await clock.drive(transport.call(read, 'x'))
  const same = { route: '/thing', method: 'GET' }
  expect(attempts).toEqual([
    { ...same, host: 'http://one/v1', attempt: 1, durationMs: 0, outcome: 'not-sent' },
    { ...same, host: 'http://two/v1', attempt: 2, durationMs: 1_000, outcome: 'timeout' },
    {
      ...same,
      host: 'http://one/v1',
      attempt: 3,
      status: 503,
      durationMs: 0,
      traceId: 'in-body',
      outcome: 'not-now',
    },
    { ...same, host: 'http://two/v1', attempt: 4, status: 200, durationMs: 0, traceId: 't-9', outcome: 'ok' },
  ])
})
