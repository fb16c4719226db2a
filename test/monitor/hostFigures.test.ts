/** What is told of hosts and endpoints is what they did lately. */
import { expect, test } from 'vitest'
import { createHostBook, silentHosts } from '../../src/monitor/hostFigures.ts'

const host = 'https://arbitrum.gmxapi.io/v1'
const attempt = (durationMs: number, outcome = 'ok') =>
  ({ type: 'host.attempt', route: '/markets', method: 'GET', host, attempt: 1, durationMs, outcome }) as const

test('a host is told with its pace, its failures and its rest, until that is over', () => {
  let nowMs = 1_000
  const book = createHostBook(() => nowMs)
  for (const durationMs of [30, 10, 20]) book.listen(attempt(durationMs))
  book.listen(attempt(400, 'timeout'))
  book.listen({ type: 'host.cooldown', host, cooldownMs: 500, reason: 'timeout' })
  const told = {
    kind: 'host',
    name: host,
    medianMs: 20,
    slowestMs: 400,
    asked: 4,
    failed: 1,
    lastAtMs: 1_000,
    lastFailure: { atMs: 1_000, outcome: 'timeout', reason: 'timeout' },
  }
  expect(book.all()).toEqual([{ ...told, rests: { untilMs: 1_500, reason: 'timeout' } }])
  nowMs = 1_500
  expect(book.all()).toEqual([told])
})

test('a good answer ends a rest, but for one that lasts all the same', () => {
  const book = createHostBook(() => 0)
  book.listen({ type: 'host.cooldown', host, cooldownMs: 500, reason: 'it failed' })
  book.listen({ ...attempt(5), isResting: true })
  expect(book.all()).toMatchObject([{ rests: { reason: 'it failed' } }])
  book.listen(attempt(5))
  expect(book.all()[0]).not.toHaveProperty('rests')
})

test('those are silent that rest or did not answer when they were asked last, with the newest reason; one that answers again is none', () => {
  let nowMs = 0
  const book = createHostBook(() => nowMs)
  const silent = () => silentHosts(book.all())
  const reason = 'venue could not be reached for GET /markets: its certificate is not trusted (CERT).'
  book.listen(attempt(5, 'not-sent'))
  book.listen({ type: 'host.cooldown', host, cooldownMs: 500, reason })
  const endpoint = { type: 'chain.read', endpoint: 'rpc.example', durationMs: 12 } as const
  book.listen({ ...endpoint, outcome: 'RPC_UNANSWERED', error: 'It did not answer.' })
  const both = [
    { name: host, reason },
    { name: 'rpc.example', reason: 'It did not answer.' },
  ]
  expect(silent()).toEqual(both)
  // The rest is over, and it failed once more.
  nowMs = 600
  book.listen(attempt(5, 'not-sent'))
  expect(silent()).toEqual(both)
  nowMs = 700
  book.listen(attempt(5))
  book.listen({ ...endpoint, outcome: 'ok' })
  expect(silent()).toEqual([])
})

test('an order that the venue refused is an answer of its host, and old prices are told until they go on', () => {
  const book = createHostBook(() => 0)
  book.listen(attempt(5, 'refused'))
  book.listen({ type: 'host.prices', host, isStale: true, ageMs: 60_000 })
  expect(book.all()).toMatchObject([{ failed: 0, isStale: true }])
  book.listen({ type: 'host.prices', host, isStale: false, ageMs: 0 })
  expect(book.all()).toMatchObject([{ isStale: false }])
})

test('endpoints of the chain come after hosts, with how far they are behind and how their clocks differ', () => {
  const book = createHostBook(() => 7)
  const read = {
    type: 'chain.read',
    endpoint: 'rpc.example',
    durationMs: 12,
    latest: 10n,
    final: 8n,
  } as const
  book.listen({ ...read, outcome: 'catching-up', lagBlocks: 3 })
  book.listen({ ...read, outcome: 'RPC_UNREADABLE', durationMs: 30 })
  book.listen({
    type: 'chain.time',
    endpoint: 'rpc.example',
    aheadSeconds: -1.5,
    isSetAside: false,
    healthy: 1,
  })
  book.listen(attempt(1))
  expect(book.all().map(({ name }) => name)).toEqual([host, 'rpc.example'])
  expect(book.all()[1]).toEqual({
    kind: 'endpoint',
    name: 'rpc.example',
    medianMs: 12,
    slowestMs: 30,
    asked: 2,
    failed: 1,
    lastAtMs: 7,
    lastFailure: { atMs: 7, outcome: 'RPC_UNREADABLE' },
    lagBlocks: 3,
    aheadSeconds: -1.5,
  })
})

test('of each only the newest answers say how fast it is, and no more names are kept than a configuration has', () => {
  const book = createHostBook(() => 0)
  for (let at = 0; at < 64; at += 1) book.listen(attempt(1_000))
  for (let at = 0; at < 64; at += 1) book.listen(attempt(2))
  expect(book.all()).toMatchObject([{ medianMs: 2, slowestMs: 2, asked: 128 }])
  for (let at = 0; at < 100; at += 1) book.listen({ ...attempt(1), host: `https://${at}.example` })
  expect(book.all()).toHaveLength(64)
})
