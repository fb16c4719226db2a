/** Traces of orders, to a collector over a real socket. */

import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { openTraces } from '../../src/daemon/logging/openTraces.ts'
import { traceHeaders } from '../../src/daemon/logging/traceHeaders.ts'
import type { Event } from '../../src/domain/event.ts'
import type { Intent } from '../../src/domain/order/intent.ts'
import { createOrderTraces, MOST_TRACES, type OpenSpan } from '../../src/monitor/log/orderTraces.ts'
import { startMs } from '../support/intents.ts'
import { armedState, everyEvent, executedState, intent } from './events.ts'

interface Sent {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] }
    readonly scopeSpans: readonly { readonly spans: readonly SentSpan[] }[]
  }[]
}
interface Attribute {
  readonly key: string
  readonly value: { readonly stringValue?: string }
}
interface SentSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: readonly Attribute[]
  readonly events: readonly { readonly name: string }[]
}

const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})

/** A collector that answers as it is told; gives what it was sent. */
async function collector(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const bodies: string[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8')
    request.on('data', (text: string) => {
      body += text
    })
    request.on('end', () => {
      bodies.push(body)
      answer(request, response)
    })
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const spans = () =>
    bodies.flatMap((body) =>
      (JSON.parse(body) as Sent).resourceSpans.flatMap(({ scopeSpans }) =>
        scopeSpans.flatMap((each) => each.spans),
      ),
    )
  return { endpoint: `http://127.0.0.1:${port}/v1/traces`, bodies, spans }
}

const takes = (_request: IncomingMessage, response: ServerResponse): void => {
  response.setHeader('content-type', 'application/json')
  response.end('{}')
}

const { decisionKey } = intent
const made = everyEvent.find((event) => event.type === 'decision.made')

/** The road of one order, as the engine tells it, with the time of each. */
function road(of: Intent = intent): readonly (readonly [atMs: number, event: Event])[] {
  const { intentId } = of
  const timing = (
    step: 'prepare' | 'verify' | 'sign' | 'arm' | 'submit' | 'total',
    durationMs: number,
  ): Event => ({
    type: 'order.timing',
    intentId,
    step,
    durationMs,
  })
  const secret = 'https://user:hunter2@rpc.example/v2/0123456789abcdef'
  return [
    [0, { ...made, decisionKey } as Event],
    [2, { type: 'decision.admitted', intent: of }],
    [12, timing('prepare', 10)],
    [13, timing('verify', 1)],
    [15, timing('sign', 2)],
    [16, timing('arm', 1)],
    [30, timing('submit', 14)],
    [30, timing('total', 28)],
    [
      31,
      { type: 'order.moved', intent: of, from: 'planned', to: 'pending', reason: secret, state: armedState },
    ],
    [
      900,
      {
        type: 'order.observed',
        intent: of,
        attempt: 1,
        status: 'relay_accepted',
        host: secret,
        reason: secret,
      },
    ],
    [
      1_600,
      {
        type: 'order.moved',
        intent: of,
        from: 'pending',
        to: 'executed',
        reason: secret,
        state: executedState,
      },
    ],
  ]
}

test("an order's road reaches a collector as one trace: each step with its time, below the order, without a secret", async () => {
  const { endpoint, bodies, spans } = await collector(takes)
  let nowMs = 0
  const told: string[] = []
  const traces = await openTraces({
    endpoint,
    profile: 'paper',
    chain: 'arbitrum',
    now: () => nowMs,
    failed: (reason) => told.push(reason),
  })
  for (const [atMs, event] of road()) {
    nowMs = startMs + atMs
    traces.listen(event)
  }
  await traces.close()
  expect(told).toEqual([])
  const all = spans()
  const order = all.find(({ name }) => name === 'order')
  expect(new Set(all.map(({ traceId }) => traceId)).size).toBe(1)
  const nanos = (ms: number) => String(BigInt(startMs + ms) * 1_000_000n)
  const steps = all
    .filter(({ name }) => name !== 'order')
    .map((span) => {
      expect(span.parentSpanId).toBe(order?.spanId)
      return [span.name, span.startTimeUnixNano, span.endTimeUnixNano]
    })
  expect(steps).toEqual([
    ['decide', nanos(0), nanos(2)],
    ['prepare', nanos(2), nanos(12)],
    ['verify', nanos(12), nanos(13)],
    ['sign', nanos(13), nanos(15)],
    ['arm', nanos(15), nanos(16)],
    ['submit', nanos(16), nanos(30)],
    ['status', nanos(30), nanos(1_600)],
    ['executed', nanos(1_600), nanos(1_600)],
  ])
  expect(all.find(({ name }) => name === 'status')?.events.map(({ name }) => name)).toEqual(['status'])
  expect(
    Object.fromEntries((order?.attributes ?? []).map(({ key, value }) => [key, value.stringValue])),
  ).toEqual({
    'perpd.intent_id': intent.intentId,
    'perpd.strategy': intent.strategy,
    'perpd.market': intent.terms.symbol,
    'perpd.direction': 'long',
    'perpd.kind': 'increase',
    'perpd.outcome': 'EXECUTED',
    'perpd.code': 'EXECUTED',
  })
  expect(bodies.join('')).toContain('"service.name"')
  for (const secret of ['hunter2', '0123456789abcdef', 'signature'])
    expect(bodies.join('')).not.toContain(secret)
})

test('a collector that never answers delays nothing, holds a bounded queue, and the end does not wait for it', async () => {
  const { endpoint, bodies } = await collector(() => undefined)
  const traces = await openTraces({
    endpoint,
    profile: 'p',
    chain: 'c',
    now: () => startMs,
    failed: () => undefined,
  })
  const beganMs = performance.now()
  for (let n = 0; n < 2_000; n += 1) {
    for (const [, event] of road({ ...intent, intentId: `order-${n}` })) traces.listen(event)
  }
  // 22,000 events; nothing of it waits for a socket.
  expect(bodies.length).toBeLessThanOrEqual(1)
  const toldMs = performance.now() - beganMs
  const closingMs = performance.now()
  await traces.close()
  expect(performance.now() - closingMs).toBeLessThan(5_000)
  expect(toldMs).toBeLessThan(10_000)
})

test('a collector that refuses is told of once, and its answer changes nothing', async () => {
  const { endpoint } = await collector((_request, response) => {
    response.statusCode = 400
    response.end('no')
  })
  const told: string[] = []
  const traces = await openTraces({
    endpoint,
    profile: 'p',
    chain: 'c',
    now: () => startMs,
    failed: (reason) => told.push(reason),
  })
  for (let n = 0; n < 100; n += 1) {
    for (const [, event] of road({ ...intent, intentId: `order-${n}` })) traces.listen(event)
  }
  await traces.close()
  expect(told).toEqual([expect.stringMatching(/^traces cannot be sent: .*Orders are not affected$/)])
})

test('orders that never end are let go, the oldest first, and all of them at the end', () => {
  const open = new Set<string>()
  const span = (name: string): OpenSpan => {
    open.add(name)
    return {
      child: (inner) => span(`${name} ${inner}`),
      note: () => undefined,
      end: () => void open.delete(name),
    }
  }
  const traces = createOrderTraces(
    (_name, _startMs, facts) => span(String(facts['perpd.intent_id'])),
    () => startMs,
  )
  for (let n = 0; n < MOST_TRACES + 5; n += 1) {
    for (const [, event] of road({ ...intent, intentId: `order-${n}` }).slice(0, -1)) traces.listen(event)
  }
  const orders = () => [...open].filter((name) => !name.includes(' '))
  expect([orders().length, orders()[0]]).toEqual([MOST_TRACES, 'order-5'])
  traces.close()
  expect(open.size).toBe(0)
})

test('an order of before the start, and what belongs to no order, is no trace', () => {
  let begun = 0
  const traces = createOrderTraces(
    () => {
      begun += 1
      throw new Error('a trace began')
    },
    () => startMs,
  )
  for (const event of everyEvent.filter(({ type }) => type !== 'decision.admitted')) traces.listen(event)
  expect(begun).toBe(0)
})

test('headers of a file that others cannot read are sent with each export, and a line that is none is told without its value', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'perpd-headers-'))
  try {
    const file = join(folder, 'otel.headers')
    writeFileSync(file, '# of the collector\nauthorization: Bearer s3cret-token\n\nx-scope: perpd \n', {
      mode: 0o600,
    })
    const headers = traceHeaders(file, false)
    expect(headers).toEqual({ authorization: 'Bearer s3cret-token', 'x-scope': 'perpd' })
    const seen: IncomingMessage['headers'][] = []
    const { endpoint, spans } = await collector((request, response) => {
      seen.push(request.headers)
      takes(request, response)
    })
    let nowMs = 0
    const named = { endpoint, headers, profile: 'paper', chain: 'arbitrum' }
    const traces = await openTraces({ ...named, now: () => nowMs, failed: () => undefined })
    for (const [atMs, event] of road()) {
      nowMs = startMs + atMs
      traces.listen(event)
    }
    await traces.close()
    expect(spans().length).toBeGreaterThan(0)
    expect(seen[0]).toMatchObject({ authorization: 'Bearer s3cret-token', 'x-scope': 'perpd' })

    for (const line of [
      'authorization s3cret-token',
      'Host: s3cret-token',
      'a: s3cret\u0007',
      ': s3cret-token',
    ]) {
      writeFileSync(file, `x-scope: perpd\n${line}\n`)
      let told = ''
      try {
        traceHeaders(file, false)
      } catch (error) {
        told = String(error)
      }
      expect(told).toMatch(/otel\.headers:2 .*otel\.headersFile names it/)
      expect(told).not.toContain('s3cret')
    }
    chmodSync(file, 0o644)
    expect(() => traceHeaders(file, false)).toThrow(/otel\.headersFile|others/)
  } finally {
    rmSync(folder, { recursive: true })
  }
})
