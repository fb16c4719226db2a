/** The dead man's switch over a real socket. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createNodeFetch } from '../../src/api/transport/nodeFetch.ts'
import { Secret } from '../../src/base/secret.ts'
import { beatOf } from '../../src/daemon/notices/openHeartbeat.ts'
import type { Event } from '../../src/domain/event.ts'
import { type Beat, createHeartbeat } from '../../src/notify/heartbeat.ts'

let server: Server
let url: string
let paths: string[]
let events: Event[]

beforeEach(async () => {
  paths = []
  events = []
  server = createServer((request, response) => {
    paths.push(request.url ?? '')
    response.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/ping/hushhush`
})
afterEach(() => {
  server.closeAllConnections()
  server.close()
})

/** A heart that has these beats, and then rests until it is stopped. */
async function beats(list: readonly Beat[], address = url) {
  const left = [...list]
  const rests = Promise.withResolvers<void>()
  const heartbeat = createHeartbeat({
    url: new Secret(address),
    periodMs: 60_000,
    timeoutMs: 5_000,
    post: createNodeFetch().fetch,
    clock: {
      sleep: (_, signal) => {
        if (left.length > 0) return Promise.resolve()
        rests.resolve()
        return new Promise((resolve) => signal?.addEventListener('abort', () => resolve(), { once: true }))
      },
    },
    emit: (event) => void events.push(event),
    look: () => left.shift() ?? 'silent',
  })
  await rests.promise
  return heartbeat
}

test('it beats while all is well, is silent when nothing is sure, and says so when something is wrong', async () => {
  await (await beats(['well', 'silent', 'fail', 'well'])).stop()
  expect(paths).toEqual(['/ping/hushhush', '/ping/hushhush/fail', '/ping/hushhush'])
})

test('a crash is said before it ends', async () => {
  const heartbeat = await beats(['well'])
  heartbeat.fail()
  await heartbeat.stop()
  expect(paths).toEqual(['/ping/hushhush', '/ping/hushhush/fail'])
})

test('an address that is not there is told without the address, and it goes on', async () => {
  await (await beats(['well', 'well'], 'http://127.0.0.1:1/ping/hushhush')).stop()
  expect(events).toHaveLength(2)
  expect(JSON.stringify(events)).toContain('ECONNREFUSED')
  expect(JSON.stringify(events)).not.toContain('hush')
})

test('a halt by a breaker is a failure, one by a person is not, and a loop that hangs is silent', () => {
  const halt = (cause: 'operator' | 'kill' | 'drawdown', state: 'halted' | 'reducing' = 'halted') => ({
    cause,
    state,
  })
  expect(beatOf(true, [])).toBe('well')
  expect(beatOf(true, [halt('operator'), halt('kill'), halt('drawdown', 'reducing')])).toBe('well')
  expect(beatOf(true, [halt('drawdown')])).toBe('fail')
  expect(beatOf(false, [halt('drawdown')])).toBe('silent')
})
