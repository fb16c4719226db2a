/** Signals over real sockets: who may send one, when, how often, and what is said to whoever may not. */
import { readFileSync } from 'node:fs'
import { request } from 'node:http'
import { inspect } from 'node:util'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Secret } from '../../src/base/secret.ts'
import { type ControlServer, createControlServer } from '../../src/control/server.ts'
import { signatureOf } from '../../src/control/signalProof.ts'
import type { Event } from '../../src/domain/event.ts'
import { applySignalEntry, noSignals, type SignalFold } from '../../src/domain/memory/tradeSignal.ts'
import { createMetrics } from '../../src/monitor/metrics/metrics.ts'
import { createSignalInbox, type SignalInbox } from '../../src/operator/port/signalInbox.ts'
import { signal as signalKind } from '../../src/strategy/kinds/signal.ts'
import { trend } from '../../src/strategy/kinds/trend.ts'
import { startMs } from '../support/intents.ts'
import { loadedOf } from '../support/loaded.ts'
import { noticeOf } from '../support/noticeOf.ts'
import { access, asOperator, engine } from './door.ts'

const signing = new Secret('signing-secret-'.repeat(3))
const ownSecret = 'body-secret-of-tv-'.repeat(2)
const eth = 'ETH/USD [WETH-USDC]'
const windowMs = 60_000
const receiver = { profile: 'live', account: '0x00000000000000000000000000000000000000aB' }

let nowMs = startMs
let fold: SignalFold = noSignals
let events: Event[] = []
let isTaking = true
let isShort = false
let inbox: SignalInbox
let server: ControlServer
let metrics: ReturnType<typeof createMetrics>

const accepted = () => events.filter(({ type }) => type === 'signal.accepted')

beforeEach(async () => {
  nowMs = startMs
  fold = noSignals
  events = []
  isTaking = true
  isShort = false
  metrics = createMetrics({ version: '0.1.0', profile: 'paper', chain: 'arbitrum' })
  await listen()
})
afterEach(() => server.close())

/** The inbox of an engine over one fold, behind a listening port. */
async function listen(perSecond = 1_000, requestsPerSecond = 10_000): Promise<void> {
  const emit = (event: Event): void => {
    events.push(event)
    metrics.listen(event)
  }
  const strategies = [
    loadedOf(signalKind, 'tv', [eth]),
    loadedOf(signalKind, 'two', [eth, 'BTC/USD [BTC-USDC]']),
    loadedOf(trend, 'eth-trend', [eth]),
  ]
  const accountJournal = {
    state: () => ({ signals: fold }),
    write: (fact: Parameters<typeof applySignalEntry>[1]) => {
      fold = applySignalEntry(fold, fact, nowMs)
      return Promise.resolve()
    },
  }
  inbox = createSignalInbox({
    clock: { now: () => nowMs },
    emit,
    journal: { isShort: () => isShort },
    strategies: () => strategies,
    trading: { accountJournal },
    isTaking: () => isTaking,
  } as unknown as Parameters<typeof createSignalInbox>[0])
  server = await createControlServer({
    host: '127.0.0.1',
    port: 0,
    engine: { ...engine, signal: inbox.receive },
    metrics,
    health: { live: () => ({ ok: true, reasons: [] }), ready: () => ({ ok: true, reasons: [] }) },
    ...access,
    requestsPerSecond,
    signals: {
      secrets: { signing, inBody: new Map([['tv', new Secret(ownSecret)]]) },
      receiver,
      windowMs,
      perSecond,
      emit,
    },
  })
}

let nonces = 0
const newNonce = () => {
  nonces += 1
  return `nonce-${String(nonces).padStart(12, '0')}`
}
const long = { strategy: 'tv', action: 'long', market: eth }

/** Sends a body with a signature over it; single parts of it otherwise. */
async function send(
  body: unknown,
  {
    timestampMs = nowMs,
    nonce = newNonce(),
    secret = signing,
    sent = JSON.stringify(body),
    to = receiver,
    header = signatureOf(secret, to, { timestampMs, nonce }, Buffer.from(JSON.stringify(body))),
  } = {},
): Promise<readonly [status: number, body: Record<string, unknown>]> {
  return post(sent, { 'x-perpd-signature': header })
}

async function post(
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
): Promise<readonly [status: number, body: Record<string, unknown>]> {
  const response = await fetch(`${server.url}/api/signals`, { method: 'POST', body, headers })
  return [response.status, (await response.json()) as Record<string, unknown>]
}

/** A signal with its secret in the body, as a charting service sends it. */
const bodyOf = (strategy = 'tv'): string =>
  JSON.stringify({ ...long, strategy, secret: ownSecret, sentAt: nowMs, nonce: newNonce() })

test.each([
  'application/json',
  'application/json; charset=utf-8',
  'text/plain',
  'text/plain; charset=utf-8',
  'TEXT/PLAIN',
  // As a program sends that sets no type: curl -d, and fetch.
  'application/x-www-form-urlencoded',
  'application/octet-stream',
  'no type at all',
  '',
])('JSON is taken whatever type the sender gives it: %s', async (type) => {
  // Bytes, so that fetch adds no type of its own.
  const [status] = await post(Buffer.from(bodyOf()), { 'content-type': type })
  expect(status).toBe(202)
  expect(accepted()).toHaveLength(1)
})

test('a signal without a header of a type is taken', async () => {
  const [status] = await post(Buffer.from(bodyOf()))
  expect(status).toBe(202)
})

test('a mark of the byte order before the JSON changes nothing', async () => {
  const [status] = await post(Buffer.from(`\uFEFF${bodyOf()}`), { 'content-type': 'application/json' })
  expect(status).toBe(202)
})

test.each([
  ['packed', (text: string) => gzipSync(text), { 'content-encoding': 'gzip' }],
  ['packed, and not said so', (text: string) => gzipSync(text), {}],
  ['a form', (text: string) => Buffer.from(`payload=${encodeURIComponent(text)}`), {}],
  ['UTF-16', (text: string) => Buffer.from(`\uFEFF${text}`, 'utf16le'), {}],
  ['bytes that are no text', () => Buffer.from([0xff, 0x00, 0xc3, 0x28]), {}],
  ['a word', () => Buffer.from('long'), {}],
  ['nothing', () => Buffer.from(''), {}],
] as const)(
  'a body that is %s is refused by the answer of a stranger, and the log says why',
  async (_what, made, headers) => {
    const [status, answer] = await post(Buffer.from(made(bodyOf())), headers)
    expect([status, answer.error]).toEqual([401, 'SIGNAL_UNAUTHORIZED'])
    expect(events).toEqual([expect.objectContaining({ type: 'signal.refused', code: 'SIGNAL_NOT_JSON' })])
    expect(inspect(events)).not.toContain(ownSecret)
  },
)

test('a signed signal is accepted once, with what it was read as', async () => {
  const body = {
    ...long,
    name: 'breakout',
    size: { usd: '250.5' },
    stop: '1650',
    target: '1900.25',
    ttlSeconds: 60,
  }
  expect(await send(body)).toEqual([
    202,
    { ok: true, signal: 1, strategy: 'tv', action: 'long', market: eth, expiresAtMs: nowMs + 60_000 },
  ])
  expect(fold.waiting.get('tv')).toEqual([
    {
      number: 1,
      receivedAtMs: nowMs,
      strategy: 'tv',
      action: 'long',
      symbol: eth,
      name: 'breakout',
      size: { usd: 2505n * 10n ** 29n },
      stopPrice: 1650n * 10n ** 30n,
      targetPrice: 190025n * 10n ** 28n,
      sentAtMs: nowMs,
      expiresAtMs: nowMs + 60_000,
    },
  ])
})

test('the market may be left out where there is one, and named short', async () => {
  for (const market of [undefined, 'ETH', 'eth/usd', eth]) {
    const { market: _, ...rest } = long
    const body = market === undefined ? rest : { ...rest, market }
    expect((await send(body))[1]).toMatchObject({ ok: true, market: eth })
  }
  expect(await send({ strategy: 'two', action: 'flat' })).toMatchObject([
    404,
    { error: 'SIGNAL_MARKET_UNKNOWN' },
  ])
  expect(await send({ ...long, market: 'DOGE' })).toMatchObject([404, { error: 'SIGNAL_MARKET_UNKNOWN' }])
})

test('a changed body, time, nonce or code, another secret, and none at all are refused alike', async () => {
  const stamp = { timestampMs: nowMs, nonce: newNonce() }
  const text = JSON.stringify(long)
  const header = signatureOf(signing, receiver, stamp, Buffer.from(text))
  const others = [
    () => send(long, { secret: new Secret('another-secret-'.repeat(3)) }),
    () => send(long, { header, sent: JSON.stringify({ ...long, action: 'short' }) }),
    () => send(long, { header, sent: `${text} ` }),
    () => send(long, { header: header.replace(String(nowMs), String(nowMs + 1)) }),
    () => send(long, { header: header.replace(stamp.nonce, newNonce()) }),
    () => send(long, { header: `${header.slice(0, -1)}${header.endsWith('0') ? '1' : '0'}` }),
    () => send(long, { header: header.replace('mac=', 'mac=00') }),
    () => send(long, { header: 'timestamp=, nonce=, mac=' }),
    () => post(text),
    () => post(text, { authorization: asOperator.authorization }),
    () => post(''),
  ]
  for (const other of others) {
    expect(await other()).toEqual([
      401,
      { error: 'SIGNAL_UNAUTHORIZED', message: 'it has no proof of its sender that holds' },
    ])
  }
  expect(fold.received).toBe(0)
  expect((await send(long, { header }))[0]).toBe(202)
})

test('a signal of another time is refused, before and after ours', async () => {
  for (const offMs of [-windowMs - 1, windowMs + 1]) {
    expect(await send(long, { timestampMs: nowMs + offMs })).toMatchObject([410, { error: 'SIGNAL_STALE' }])
  }
  for (const offMs of [-windowMs, windowMs]) {
    expect((await send(long, { timestampMs: nowMs + offMs }))[0]).toBe(202)
  }
  const late = { ...long, ttlSeconds: 10 }
  expect(await send(late, { timestampMs: nowMs - 10_000 })).toMatchObject([410, { error: 'SIGNAL_EXPIRED' }])
})

test('a signal that was taken is not taken again: not at once, not twice at the same moment, and not with the clock set back', async () => {
  const timestampMs = nowMs
  const nonce = newNonce()
  const both = await Promise.all([send(long, { timestampMs, nonce }), send(long, { timestampMs, nonce })])
  expect(both.map(([status]) => status).sort()).toEqual([202, 409])
  expect(await send({ ...long, action: 'flat' }, { timestampMs, nonce })).toMatchObject([
    409,
    { error: 'SIGNAL_REPLAYED' },
  ])
  // Its nonce is remembered for two days after it is too old, and forgotten with the next signal that is written.
  nowMs += windowMs + 1
  expect((await send(long))[0]).toBe(202)
  expect(fold.nonces.size).toBe(2)
  nowMs = timestampMs
  expect(await send(long, { timestampMs, nonce })).toMatchObject([409, { error: 'SIGNAL_REPLAYED' }])
  nowMs += windowMs + 2 * 86_400_000 + 1
  expect((await send(long))[0]).toBe(202)
  expect([...fold.nonces.keys()].some((each) => each.endsWith(nonce))).toBe(false)
  nowMs = timestampMs
  expect(await send(long, { timestampMs, nonce })).toMatchObject([410, { error: 'SIGNAL_STALE' }])
  expect(accepted()).toHaveLength(3)
})

test('only strategies that run and take signals get them', async () => {
  for (const strategy of ['eth-trend', 'nobody', 'constructor']) {
    expect(await send({ strategy, action: 'long' })).toMatchObject([
      404,
      { error: 'SIGNAL_STRATEGY_UNKNOWN' },
    ])
  }
  isTaking = false
  expect(await send(long)).toMatchObject([503, { error: 'SIGNALS_STOPPED' }])
  isTaking = true
  isShort = true
  expect(await send(long)).toMatchObject([503, { error: 'SIGNALS_STOPPED' }])
})

test('a signal for another account or another profile is nobody’s, though it is signed with the same secret', async () => {
  const others = [
    { ...receiver, profile: 'paper' },
    { ...receiver, account: '0x00000000000000000000000000000000000000ac' },
  ]
  for (const to of others)
    expect(await send(long, { to })).toMatchObject([401, { error: 'SIGNAL_UNAUTHORIZED' }])
  expect(accepted()).toEqual([])
  const lower = { ...receiver, account: receiver.account.toLowerCase() }
  expect((await send(long, { to: lower }))[0]).toBe(202)
})

test('a hundred signals wait for a strategy, and no more', async () => {
  for (let count = 0; count < 100; count += 1) expect((await send(long))[0]).toBe(202)
  expect(await send(long)).toMatchObject([503, { error: 'SIGNAL_QUEUE_FULL' }])
  expect((await send({ strategy: 'two', action: 'long', market: 'ETH' }))[0]).toBe(202)
})

test('proven signals have a rate of their own, which a flood of strangers does not use up', async () => {
  await server.close()
  await listen(3)
  const strangers = await Promise.all(Array.from({ length: 50 }, () => post('{}')))
  expect(strangers.every(([status]) => status === 401)).toBe(true)
  const answers = []
  for (let count = 0; count < 5; count += 1) answers.push((await send(long))[0])
  expect(answers).toEqual([202, 202, 202, 429, 429])
})

test('what nobody proved has a bucket of its address, and a signal with its code goes through the flood', async () => {
  await server.close()
  await listen(1_000, 5)
  const strangers = await Promise.all(Array.from({ length: 50 }, () => post('{}')))
  expect(new Set(strangers.map(([status]) => status))).toEqual(new Set([401, 429]))
  expect(await send(long)).toMatchObject([202, { ok: true }])
})

test('a body that is too large, no JSON, or with other fields is refused, and nothing of it is repeated', async () => {
  const [status, large] = await send({ ...long, name: 'x'.repeat(3_000) })
  expect([status, large.error]).toEqual([413, 'BODY_TOO_LARGE'])
  const hidden = 'HIDDEN-VALUE'
  const wrong: readonly (readonly [unknown, RegExp])[] = [
    [{ ...long, action: hidden }, /^action: /],
    [{ ...long, [hidden]: 1 }, /^the body: a field that does not belong there$/],
    [{ ...long, secret: hidden }, /^the body: a field that does not belong there$/],
    [{ ...long, size: { usd: '1,000' } }, /^size: expected \{"usd"/],
    [{ ...long, size: { usd: '1', shareBps: 1 } }, /^size: expected \{"usd"/],
    [{ ...long, size: { usd: '0.0' } }, /^size/],
    [{ ...long, stop: `${hidden}1` }, /^stop: expected a decimal text/],
    [{ ...long, stop: '1e3' }, /^stop: expected a decimal text/],
    [{ ...long, ttlSeconds: 0 }, /^ttlSeconds: /],
    [{ ...long, ttlSeconds: 100_000 }, /^ttlSeconds: /],
    [{ ...long, name: 'x'.repeat(201) }, /^name: expected a text of 1 to 200/],
    [{ action: 'long' }, /^strategy: /],
    [[], /^the body: /],
    [null, /^the body: /],
  ]
  for (const [body, said] of wrong) {
    const [code, answer] = await send(body)
    expect([code, answer.error]).toEqual([400, 'SIGNAL_MALFORMED'])
    expect(answer.message).toMatch(said)
    expect(JSON.stringify(answer)).not.toContain(hidden)
  }
  const broken = Buffer.from(`{"secret":"${hidden}",`)
  const header = signatureOf(signing, receiver, { timestampMs: nowMs, nonce: newNonce() }, broken)
  expect(await post(broken, { 'x-perpd-signature': header })).toEqual([
    400,
    {
      error: 'SIGNAL_NOT_JSON',
      message:
        'its body: it is not JSON: at line 1 column 26 it ends, and a key in double quotes is expected',
    },
  ])
  expect(inspect(events, { depth: 9 })).not.toContain(hidden)
})

const timenow = () => new Date(nowMs).toISOString().replace(/\.\d+Z$/, 'Z')
const alert = (parts: Record<string, unknown> = {}) => ({
  secret: ownSecret,
  sentAt: timenow(),
  nonce: `Long Entry ${newNonce()} ETHUSD ${timenow()}`,
  ...long,
  ...parts,
})

test('a sender that cannot sign proves itself by the secret of its strategy, under the same checks', async () => {
  const first = alert()
  expect(await post(JSON.stringify(first))).toMatchObject([202, { ok: true, signal: 1 }])
  expect(await post(JSON.stringify(first))).toMatchObject([409, { error: 'SIGNAL_REPLAYED' }])
  expect(await post(JSON.stringify(alert({ sentAt: nowMs - windowMs - 1 })))).toMatchObject([
    410,
    { error: 'SIGNAL_STALE' },
  ])
  const strangers = [
    { secret: `${ownSecret}x` },
    { secret: '' },
    { secret: 7 },
    { strategy: 'two' },
    { strategy: 9 },
  ]
  for (const parts of strangers) {
    expect(await post(JSON.stringify(alert(parts)))).toMatchObject([401, { error: 'SIGNAL_UNAUTHORIZED' }])
  }
  for (const parts of [{ nonce: undefined }, { sentAt: undefined }, { sentAt: 'now' }, { nonce: 'short' }]) {
    expect(await post(JSON.stringify(alert(parts)))).toMatchObject([400, { error: 'SIGNAL_MALFORMED' }])
  }
  expect(inspect([fold, events], { depth: 9 })).not.toContain(ownSecret)
})

/** A kept alert of a charting service, as it is sent now with the right secret. */
const keptAlert = (file: string) =>
  readFileSync(new URL(`../fixtures/typed/${file}`, import.meta.url), 'utf8')
    .replaceAll('TIMENOW', timenow())
    .replace('SECRET', ownSecret)
    .replace('eth-signal', 'tv')

test('an alert is taken with whatever a charting service fills into its own placeholders', async () => {
  expect(await post(keptAlert('alert-close-entry.json.txt'))).toMatchObject([202, { action: 'flat' }])
  const texts = ['Schließen “alles”, 100 %!', '{{strategy.order.id}} \\ |', 'a\u202eb\nline']
  for (const text of texts)
    expect(await post(JSON.stringify(alert({ nonce: `${newNonce()} ${text}`, name: text })))).toMatchObject([
      202,
      {},
    ])
  expect(fold.waiting.get('tv')?.at(-1)?.name).toBe('a\ufffdb\nline')
  const figures = { size: { usd: 250 }, stop: 7.1e-7, target: '1900.25', sentAt: String(nowMs) }
  expect(await post(JSON.stringify(alert(figures)))).toMatchObject([202, {}])
  expect(fold.waiting.get('tv')?.at(-1)).toMatchObject({ stopPrice: 71n * 10n ** 22n, sentAtMs: nowMs })
})

test('a body that is no JSON, or has a key twice, is named in log and counter with its place, and its sender is told as little as before', async () => {
  const bodies = [
    keptAlert('alert-trailing-comma.json.txt'),
    `{"action":"long",${JSON.stringify(alert()).slice(1)}`,
  ]
  for (const body of bodies)
    expect(await post(body)).toEqual([
      401,
      { error: 'SIGNAL_UNAUTHORIZED', message: 'it has no proof of its sender that holds' },
    ])
  expect(events).toMatchObject([
    {
      code: 'SIGNAL_NOT_JSON',
      reason: expect.stringMatching(/line 1 column \d+ a key in double quotes .* none after the last comma/),
    },
    {
      code: 'SIGNAL_NOT_JSON',
      reason: expect.stringContaining('"action" is set twice, at line 1 column 2 and at line 1'),
    },
  ])
  expect(await metrics.render()).toContain('perpd_signals_total{result="not_json"} 2')
  expect(inspect(events)).not.toContain(ownSecret)
})

test('a refused exit is an error for people, any other refusal a warning, and one at the door is an event too', async () => {
  await post(JSON.stringify(alert({ action: 'flat', sentAt: nowMs - windowMs - 1 })))
  await post(JSON.stringify(alert({ action: 'flat', ttlSeconds: 0 })))
  await post(JSON.stringify(alert({ action: 'long', ttlSeconds: 0 })))
  const taken = JSON.stringify(alert({ action: 'flat' }))
  await post(taken)
  await post(taken)
  const at = (headers: Record<string, string>) =>
    new Promise<number | undefined>((resolve, reject) => {
      const options = { port: server.port, host: '127.0.0.1', path: '/api/signals', method: 'POST', headers }
      request(options, (answer) => resolve(answer.resume().statusCode))
        .on('error', reject)
        .end(taken)
    })
  expect([await at({ host: 'perpd.example' }), await at({ origin: 'https://tv.example' })]).toEqual([
    421, 403,
  ])
  const refusals = events.flatMap((event) => (event.type === 'signal.refused' ? [event] : []))
  expect(refusals.map((event) => [event.code, noticeOf(event)?.kind, noticeOf(event)?.level])).toEqual([
    ['SIGNAL_STALE', 'signal-refused', 'error'],
    ['SIGNAL_MALFORMED', 'signal-refused', 'error'],
    ['SIGNAL_MALFORMED', 'signal-refused', 'warn'],
    ['SIGNAL_REPLAYED', 'signal-refused', 'warn'],
    ['SIGNAL_HOST_REFUSED', 'signal-refused', 'warn'],
    ['SIGNAL_ORIGIN_REFUSED', 'signal-refused', 'warn'],
  ])
  expect(await metrics.render()).toMatch(/result="host_refused"\} 1[\s\S]*result="origin_refused"\} 1/)
})

test('what becomes of signals is counted, under labels that nobody outside can add to', async () => {
  await send(long)
  await send({ ...long, strategy: 'nobody' })
  await send({ ...long, action: 'moon' })
  await post('{}')
  const text = await metrics.render()
  const counts = [...text.matchAll(/^perpd_signals_total\{result="(\w+)"\} (\d+)$/gm)]
    .filter(([, , count]) => count !== '0')
    .map(([, result, count]) => `${result} ${count}`)
  expect(counts).toEqual(['accepted 1', 'unauthorized 1', 'malformed 1', 'strategy_unknown 1'])
})

test('pages of other origins and foreign names get nothing, with a signature neither', async () => {
  const text = JSON.stringify(long)
  const header = signatureOf(signing, receiver, { timestampMs: nowMs, nonce: newNonce() }, Buffer.from(text))
  const statusOf = (headers: Record<string, string>) =>
    new Promise((resolve, reject) => {
      request(
        {
          port: server.port,
          host: '127.0.0.1',
          path: '/api/signals',
          method: 'POST',
          headers: { 'x-perpd-signature': header, ...headers },
        },
        (response) => resolve(response.resume().statusCode),
      )
        .on('error', reject)
        .end(text)
    })
  expect(await statusOf({ origin: 'https://evil.example' })).toBe(403)
  expect(await statusOf({ host: 'evil.example' })).toBe(421)
  expect(await statusOf({})).toBe(202)
})

test('without secrets the route is not there', async () => {
  await server.close()
  server = await createControlServer({
    host: '127.0.0.1',
    port: 0,
    engine,
    metrics,
    health: { live: () => ({ ok: true, reasons: [] }), ready: () => ({ ok: true, reasons: [] }) },
    ...access,
  })
  expect((await send(long))[0]).toBe(401)
  expect((await post(JSON.stringify(long), asOperator))[0]).toBe(404)
})

test('whatever a body holds, it is answered with a reason and taken only when it is a whole signal of its sender', async () => {
  const field = fc.constantFrom(
    'strategy',
    'action',
    'market',
    'name',
    'size',
    'stop',
    'target',
    'ttlSeconds',
    'secret',
    'sentAt',
    'nonce',
    '__proto__',
    'constructor',
  )
  const changed = fc
    .tuple(
      fc.boolean(),
      fc.array(fc.tuple(field, fc.oneof(fc.jsonValue(), fc.constant(undefined))), { maxLength: 3 }),
    )
    .map(([isSigned, changes]) => ({ isSigned, changes }))
  const any = fc.oneof(fc.json(), fc.string(), fc.uint8Array({ maxLength: 200 }))
  await fc.assert(
    fc.asyncProperty(changed, any, fc.boolean(), async ({ isSigned, changes }, other, isWhole) => {
      const base: Record<string, unknown> = isSigned ? { ...long } : alert()
      for (const [name, value] of changes) base[name] = value
      const bytes = Buffer.from(isWhole ? JSON.stringify(base) : other)
      const headers: Record<string, string> = isSigned
        ? {
            'x-perpd-signature': signatureOf(
              signing,
              receiver,
              { timestampMs: nowMs, nonce: newNonce() },
              bytes,
            ),
          }
        : {}
      // A strategy's queue is not what this is about.
      fold = { ...fold, waiting: new Map() }
      const before = fold.received
      const [status, answer] = await post(bytes, headers)
      expect([202, 400, 401, 404, 409, 410, 413]).toContain(status)
      expect(fold.received - before).toBe(status === 202 ? 1 : 0)
      expect(JSON.stringify(answer)).not.toContain(ownSecret)
      if (status !== 202) expect(answer.error).toMatch(/^[A-Z_]+$/)
    }),
    { numRuns: 400, seed: 15 },
  )
})
