/** Sinks over real sockets: what each service is sent, its rate limits, its outages, and that none of it holds up who tells. */
import { createHmac } from 'node:crypto'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createNodeFetch } from '../../src/api/transport/nodeFetch.ts'
import { Secret } from '../../src/base/secret.ts'
import { systemClock } from '../../src/base/systemClock.ts'
import type { Event } from '../../src/domain/event.ts'
import type { Notice } from '../../src/monitor/events/notice.ts'
import { createIncidents } from '../../src/monitor/incidents/incidents.ts'
import { createNotifier, type NotifierOptions } from '../../src/notify/notifier.ts'
import { createPostMail } from '../../src/notify/sendMail.ts'
import type { OpenSink } from '../../src/notify/sinkRequest.ts'
import type { SecretField, SinkSettings } from '../../src/notify/sinkSettings.ts'

interface Asked {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}
interface Said {
  readonly status: number
  readonly headers?: Record<string, string>
  readonly body?: string
}

let server: Server
let url: string
let asked: Asked[]
/** Called when an answer is on its way. */
let answered: () => void
/** Answers in their order; 200 when there is none left, and none at all for `never`. */
let answers: (Said | 'never')[]
let events: Event[]
const net = createNodeFetch()

beforeEach(async () => {
  asked = []
  answers = []
  answered = () => undefined
  events = []
  server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => {
      body += String(chunk)
    })
    request.on('end', () => {
      asked.push({ path: request.url ?? '', headers: request.headers, body })
      const answer = answers.shift() ?? { status: 200 }
      if (answer === 'never') return
      response.once('finish', () => answered())
      response.writeHead(answer.status, answer.headers).end(answer.body ?? '')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterEach(() => {
  server.closeAllConnections()
  server.close()
})

const secret = 'of-the-webhook-'.repeat(3)
const common = { name: 'one', level: 'info', events: {} } as const
const open = (settings: SinkSettings, secrets: Partial<Record<SecretField, string>> = {}): OpenSink => ({
  settings,
  secrets: new Map(Object.entries(secrets).map(([field, text]) => [field as SecretField, new Secret(text)])),
})
const webhook = (over: Partial<SinkSettings> = {}) =>
  open({ type: 'webhook', ...common, url: `${url}/hook`, secretFile: '/x', ...over } as SinkSettings, {
    secretFile: secret,
  })
const notifier = (sinks: readonly OpenSink[], over: Partial<NotifierOptions> = {}) =>
  createNotifier({
    incidents: createIncidents({ now: () => 0 }),
    sinks,
    post: net.fetch,
    postMail: createPostMail(),
    clock: systemClock,
    emit: (event) => void events.push(event),
    redact: (text) => text,
    maxWaiting: 10,
    timeoutMs: 60_000,
    profile: 'paper',
    ...over,
  })
const notice = (over: Partial<Notice> = {}): Notice => ({
  kind: 'trading-state',
  level: 'warn',
  cause: 'c',
  text: 'trading is halted: <ann> says so & goes',
  ...over,
})
/** Tells and waits until all is told, with a clock whose wait is real. */
async function tellAll(
  sinks: readonly OpenSink[],
  notices: readonly Notice[],
  over: Partial<NotifierOptions> = {},
) {
  const waits: number[] = []
  const one = notifier(sinks, {
    clock: {
      ...systemClock,
      sleep: (ms, signal) => {
        if (ms === 60_000) return systemClock.sleep(ms, signal)
        waits.push(ms)
        return new Promise((resolve) => setImmediate(resolve))
      },
    },
    ...over,
  })
  for (const each of notices) one.tell(each)
  await one.close(60_000)
  return waits
}
const results = () => events.map((event) => (event.type === 'notice.ended' ? event.result : event.type))

test('a webhook is signed over time and body', async () => {
  await tellAll([webhook()], [notice({ action: 'Look.' })])
  const [{ headers, body, path } = { headers: {}, body: '', path: '' }] = asked
  const [, timestamp, mac] =
    /^timestamp=(\d+), mac=([0-9a-f]{64})$/.exec(String(headers['x-perpd-signature'])) ?? []
  expect(mac).toBe(createHmac('sha256', secret).update(`${timestamp}\n${body}`).digest('hex'))
  expect(path).toBe('/hook')
  expect(JSON.parse(body)).toMatchObject({ event: 'trading-state', level: 'warn', count: 1, action: 'Look.' })
  expect(results()).toEqual(['sent'])
})

test('a notice of one of several accounts names the account in the command that it asks for', async () => {
  const text = 'trading is halted. Resume it: perpd trading active'
  await tellAll([webhook()], [notice({ text, action: text })], { account: 'beta' })
  const named = 'Resume it: perpd trading --account beta active'
  const { text: told, action } = JSON.parse(asked[0]?.body ?? '') as Record<string, string>
  expect([told, action]).toEqual([expect.stringContaining(named), expect.stringContaining(named)])
})

test('each service is told in its own words, silently where its rule says so', async () => {
  const silent = { ...common, events: { 'trading-state': 'silent' } } as const
  const token = '123:abcdefgh'
  await tellAll(
    [open({ type: 'telegram', ...silent, url, tokenFile: '/x', chatId: '-100' }, { tokenFile: token })],
    [notice()],
  )
  await tellAll(
    [open({ type: 'ntfy', ...silent, url, topicFile: '/x' }, { topicFile: 'mine', tokenFile: 'tk_1' })],
    [notice()],
  )
  await tellAll([open({ type: 'discord', ...silent, urlFile: '/x' }, { urlFile: `${url}/d` })], [notice()])
  await tellAll([open({ type: 'slack', ...silent, urlFile: '/x' }, { urlFile: `${url}/s` })], [notice()])
  const [telegram, ntfy, discord, slack] = asked.map(({ body, ...rest }) => ({
    ...rest,
    body: JSON.parse(body),
  }))
  expect(telegram).toMatchObject({
    path: `/bot${token}/sendMessage`,
    body: { chat_id: '-100', disable_notification: true },
  })
  expect(ntfy).toMatchObject({
    path: '/',
    headers: { authorization: 'Bearer tk_1' },
    body: { topic: 'mine', priority: 1 },
  })
  expect(discord).toMatchObject({ path: '/d', body: { allowed_mentions: { parse: [] }, flags: 4_096 } })
  expect(slack?.body.text).toContain('&lt;ann&gt; says so &amp; goes')
})

test('what a service asks to wait is waited for, by header or by body, and nothing is lost', async () => {
  answers = [
    { status: 429, headers: { 'retry-after': '7' } },
    { status: 429, body: '{"ok":false,"parameters":{"retry_after":3}}' },
    { status: 200 },
  ]
  expect(await tellAll([webhook()], [notice(), notice({ cause: 'd' })])).toEqual([7_000, 3_000])
  expect(asked.map(({ body }) => JSON.parse(body).cause)).toEqual(['c', 'c', 'c', 'd'])
  expect(results()).toEqual(['sent', 'sent'])
})

test('an outage is tried again with growing waits, and given up in the end; a refusal is not tried again', async () => {
  answers = Array.from({ length: 6 }, () => ({ status: 503 }))
  expect(await tellAll([webhook()], [notice()])).toEqual([1_000, 4_000, 16_000, 64_000, 256_000])
  answers = [{ status: 404 }]
  await tellAll([webhook()], [notice()])
  expect(results()).toEqual(['failed', 'refused'])
})

test('a good status whose body says that it is none is no delivery, and is tried again where a wait is named', async () => {
  answers = [
    { status: 200, body: '{"ok":false,"error_code":400,"description":"Bad Request: chat not found"}' },
    { status: 200, body: '{"ok":false,"parameters":{"retry_after":3}}' },
    { status: 200, body: '{"ok":true}' },
    { status: 200, body: 'ok' },
  ]
  const told = [notice(), notice({ cause: 'd' }), notice({ cause: 'e' })]
  expect(await tellAll([webhook()], told)).toEqual([3_000])
  expect(results()).toEqual(['refused', 'sent', 'sent'])
})

test('why a service refuses is told in phrases of ours, and nothing that it wrote', async () => {
  answers = [
    { status: 400, body: '{"ok":false,"description":"Bad Request: CHAT NOT FOUND for 123:hushhush"}' },
    { status: 403, body: 'https://hooks.example/T0/hushhush' },
  ]
  await tellAll([webhook()], [notice(), notice({ cause: 'd' })])
  const reasons = events.flatMap((event) => (event.type === 'notice.ended' ? [event.reason] : []))
  expect(reasons).toEqual(['it responded 400: chat not found', 'it responded 403'])
})

test('a topic of a forum is told in', async () => {
  const telegram = { type: 'telegram', ...common, url, tokenFile: '/x', chatId: '-100', topicId: 7 } as const
  await tellAll([open(telegram, { tokenFile: '123:abcdefgh' })], [notice()])
  expect(JSON.parse(asked[0]?.body ?? '')).toMatchObject({ chat_id: '-100', message_thread_id: 7 })
})

test('nobody there is a failure whose reason holds neither address nor secret', async () => {
  const sink = open(
    { type: 'slack', ...common, urlFile: '/x' },
    { urlFile: 'http://127.0.0.1:1/services/T0/B0/hushhush' },
  )
  await tellAll([sink], [notice()])
  expect(results()).toEqual(['failed'])
  expect(JSON.stringify(events)).not.toMatch(/hush|127\.0\.0\.1/)
  expect(JSON.stringify(events)).toContain('ECONNREFUSED')
})

test('a server that never answers costs a timeout of its own: who tells goes on at once, and other sinks are told', async () => {
  answers = Array.from({ length: 6 }, () => 'never' as const)
  const fast = createServer((_, response) => response.end())
  await new Promise<void>((resolve) => fast.listen(0, '127.0.0.1', resolve))
  const fastUrl = `http://127.0.0.1:${(fast.address() as AddressInfo).port}/`
  const told = Promise.withResolvers<void>()
  const sinks = [webhook({ name: 'slow' }), webhook({ name: 'fast', url: fastUrl } as Partial<SinkSettings>)]
  const one = notifier(sinks, {
    timeoutMs: 5_000,
    emit: (event) => {
      events.push(event)
      if (event.type === 'notice.ended' && event.sink === 'fast') told.resolve()
    },
  })
  one.tell(notice())
  // Not one byte was written in the turn that told.
  expect([asked.length, events.length]).toEqual([0, 0])
  await told.promise
  await one.close(1)
  fast.close()
  expect(events).toContainEqual({ type: 'notice.ended', sink: 'fast', kind: 'trading-state', result: 'sent' })
  expect(
    events.some((event) => event.type === 'notice.ended' && event.sink === 'slow' && event.result === 'sent'),
  ).toBe(false)
})

test('an answer that came while the process was held up counts, and nothing is told twice', async () => {
  // Longer than the timeout, with the answer in the socket.
  answered = () => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_100)
  await tellAll([webhook()], [notice()], { timeoutMs: 2_000 })
  expect(asked).toHaveLength(1)
  expect(results()).toEqual(['sent'])
})

test('what a slow sink has no room for is counted, and what matters most is kept', async () => {
  const levels = ['error', 'info', 'warn', 'error'] as const
  const notices = levels.map((level, at) => notice({ level, cause: `c${at}` }))
  await tellAll([webhook()], notices, { maxWaiting: 2 })
  expect(results()).toEqual(['notice.dropped', 'notice.dropped', 'sent', 'sent'])
  expect(asked.map(({ body }) => JSON.parse(body).cause)).toEqual(['c0', 'c3'])
})

test('whatever of a notice leaves is cleaned of secrets before: its text, action and cause, what they are put into, and the link', async () => {
  const said = notice({ text: 'it said hushhush', action: 'Look at hushhush.', cause: 'from hushhush' })
  const telegram = open(
    {
      ...{ type: 'telegram', ...common, url, chatId: '-100', tokenFile: '/x' },
      template: '{title}: {text} {action} {link} hushhush',
    },
    { tokenFile: '12345678:t' },
  )
  await tellAll([webhook(), telegram], [said], {
    redact: (text) => text.replaceAll('hushhush', '[hidden]'),
    profile: 'hushhush',
    consoleUrl: 'https://perpd.example/hushhush',
  })
  expect(asked).toHaveLength(2)
  const [hook = '', chat = ''] = [...asked]
    .sort((one) => (one.path === '/hook' ? -1 : 1))
    .map(({ body }) => body)
  expect(hook + chat).not.toContain('hushhush')
  expect(JSON.parse(hook)).toMatchObject({
    title: 'perpd [hidden]: trading state',
    text: 'it said [hidden]',
    action: 'Look at [hidden].',
    cause: 'from [hidden]',
    message: 'it said [hidden]\nAction needed: Look at [hidden].\nhttps://perpd.example/[hidden]',
  })
  expect(chat).toContain('https://perpd.example/[hidden] [hidden]')
})

test('causes that differ by a secret alone stay two, as ends find what they end', async () => {
  const one = notice({ cause: 'hushhush' })
  await tellAll([webhook()], [one, notice({ cause: '[hidden]' }), { ...one, isEnd: true }, one], {
    redact: (text) => text.replaceAll('hushhush', '[hidden]'),
  })
  expect(asked.map(({ body }) => JSON.parse(body).isEnd)).toEqual([false, false, true, false])
})
