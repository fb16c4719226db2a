/** E-mail over real sockets: TLS and STARTTLS, what is told to whom, rate limits, outages, and a password that stays where it is. */
import { afterEach, beforeAll, expect, test } from 'vitest'
import { Secret } from '../../src/base/secret.ts'
import { systemClock } from '../../src/base/systemClock.ts'
import type { Event } from '../../src/domain/event.ts'
import { createIncidents } from '../../src/monitor/incidents/incidents.ts'
import { createNotifier } from '../../src/notify/notifier.ts'
import { createPostMail } from '../../src/notify/sendMail.ts'
import type { OpenSink } from '../../src/notify/sinkRequest.ts'
import { sinkSettings } from '../../src/notify/sinkSettings.ts'
import {
  makeCertificate,
  type SmtpRules,
  type SmtpServer,
  startSmtp,
  type TestCertificate,
} from '../support/smtpServer.ts'

let certificate: TestCertificate
let server: SmtpServer | undefined
beforeAll(() => {
  certificate = makeCertificate()
}, 60_000)
afterEach(() => server?.close())

const password = 'hush hush'
const written = {
  type: 'email',
  name: 'mail',
  host: 'localhost',
  username: 'ann@example.org',
  passwordFile: '/x',
  from: 'perpd@example.org',
  to: ['ann@example.org', 'bob@example.org'],
} as const
const shape = sinkSettings(() => true)

async function start(rules: Partial<SmtpRules> = {}): Promise<SmtpServer> {
  server = await startSmtp({ security: 'tls', certificate, ...rules })
  return server
}

/** Tells a sink of the fake server, with waits that do not last; gives the waits and the events. */
async function tell({
  security = 'tls',
  isTrusted = true,
  text = 'trading is halted',
  timeoutMs = 20_000,
  over = {},
}: {
  readonly security?: 'tls' | 'starttls' | 'none'
  readonly isTrusted?: boolean
  readonly text?: string
  readonly timeoutMs?: number
  readonly over?: object
} = {}) {
  const settings = shape.parse({ ...written, port: server?.port, security, ...over })
  const sink: OpenSink = { settings, secrets: new Map([['passwordFile', new Secret(password)]]) }
  const waits: number[] = []
  const events: Event[] = []
  const one = createNotifier({
    incidents: createIncidents({ now: () => 0 }),
    sinks: [sink],
    post: () => Promise.reject(new Error('a letter is not posted')),
    postMail: createPostMail(isTrusted ? { ca: certificate.cert } : {}),
    clock: {
      ...systemClock,
      sleep: (ms, signal) => {
        if (ms === 60_000) return systemClock.sleep(ms, signal)
        waits.push(ms)
        return new Promise((resolve) => setImmediate(resolve))
      },
    },
    emit: (event) => void events.push(event),
    redact: (said) => said,
    maxWaiting: 10,
    timeoutMs,
    profile: 'paper',
  })
  one.tell({ kind: 'trading-state', level: 'error', cause: 'c', text, action: 'Look.' })
  await one.close(60_000)
  return { waits, events }
}

test.each(['tls', 'starttls'] as const)(
  'a letter goes to all its readers by %s, and nothing of it in the open',
  async (security) => {
    const { heard, letters } = await start({ security })
    const { events } = await tell({ security })
    expect(events).toEqual([{ type: 'notice.ended', sink: 'mail', kind: 'trading-state', result: 'sent' }])
    expect(letters).toHaveLength(1)
    expect(letters[0]).toMatch(/^Subject: perpd paper: trading state$/m)
    expect(letters[0]).toContain('Action needed: Look.')
    expect(heard.filter(({ line }) => line.startsWith('RCPT')).map(({ line }) => line)).toEqual([
      'RCPT TO:<ann@example.org>',
      'RCPT TO:<bob@example.org>',
    ])
    const open = heard.filter(({ isSafe }) => !isSafe).map(({ line }) => line.split(' ')[0])
    expect(open).toEqual(security === 'tls' ? [] : ['EHLO', 'STARTTLS'])
    const login = heard.find(({ line }) => line.startsWith('AUTH PLAIN'))?.line ?? ''
    expect(Buffer.from(login.split(' ')[2] ?? '', 'base64').toString()).toBe(`\0ann@example.org\0${password}`)
  },
)

test('a server without TLS, or with a certificate that nobody trusts, hears neither name nor letter', async () => {
  const plain = await start({ security: 'none' })
  const refused = await tell({ security: 'starttls' })
  expect(refused.events).toMatchObject([{ result: 'refused', reason: 'it offers no TLS (ETLS)' }])
  plain.close()
  const strange = await start()
  const untrusted = await tell({ isTrusted: false })
  expect(untrusted.events).toMatchObject([{ result: 'failed' }])
  expect([...plain.heard, ...strange.heard].some(({ line }) => /AUTH|MAIL|DATA/.test(line))).toBe(false)
})

test('a rate limit of the server (4yz) is tried again, a refusal (5yz) is not, and no reason holds what it said', async () => {
  const limits = ['450 slow down', '421 too many', undefined]
  await start({ answer: (word) => (word === 'MAIL' ? limits.shift() : undefined) })
  const limited = await tell()
  expect(limited.waits).toEqual([1_000, 4_000])
  expect(limited.events).toMatchObject([{ result: 'sent' }])
  server?.close()
  await start({ answer: (word, line) => (word === 'AUTH' ? `535 no: ${line} ${password}` : undefined) })
  const refused = await tell()
  expect(refused.waits).toEqual([])
  expect(refused.events).toMatchObject([{ result: 'refused', reason: 'it responded 535' }])
})

test('a reader whom the server refuses is told of, though others got the letter', async () => {
  const { letters } = await start({ answer: (_, line) => (line.includes('bob') ? '550 nobody' : undefined) })
  const { events } = await tell()
  expect(events).toMatchObject([{ result: 'refused', reason: 'it refused 1 of 2 recipients' }])
  expect(letters).toHaveLength(1)
})

test.each(['GREETING', 'EHLO', 'AUTH', 'END'])(
  'a server that is silent from %s on costs its timeout and no more',
  async (silent) => {
    await start({ answer: (word) => (word === silent ? 'never' : undefined) })
    const { waits, events } = await tell({ timeoutMs: 150 })
    expect(waits).toEqual([1_000, 4_000, 16_000, 64_000, 256_000])
    expect(events).toMatchObject([{ result: 'failed', reason: 'no response in 150 ms' }])
  },
)

test('an outage is tried again, and its reason holds no address', async () => {
  await start()
  server?.close()
  const { waits, events } = await tell()
  expect(waits).toHaveLength(5)
  expect(events).toMatchObject([
    { result: 'failed', reason: expect.stringMatching(/^not reached \(E[A-Z]+\)$/) },
  ])
  expect(JSON.stringify(events)).not.toMatch(/localhost|hush|127\.0/)
})

test('what a host wrote makes no header, no other reader, and no end of the letter', async () => {
  const { heard, letters } = await start()
  await tell({ text: 'said\r\n.\r\nMAIL FROM:<eve@example.org>\r\nBcc: eve@example.org' })
  expect(letters).toHaveLength(1)
  expect(letters[0]?.split('\n\n')[0]).not.toContain('eve')
  expect(heard.filter(({ line }) => /^(?:MAIL|RCPT)/.test(line) && line.includes('TO:<eve'))).toEqual([])
})

test('settings that would give a password away, or have half a login, are refused', () => {
  const isTaken = (over: object) => shape.safeParse({ ...written, ...over }).success
  expect(isTaken({})).toBe(true)
  expect(isTaken({ security: 'none' })).toBe(true)
  expect(isTaken({ security: 'none', host: 'smtp.example' })).toBe(false)
  expect(isTaken({ passwordFile: undefined })).toBe(false)
  expect(isTaken({ username: undefined })).toBe(false)
  expect(isTaken({ to: ['ann@example.org\r\nBcc: eve@example.org'] })).toBe(false)
  expect(isTaken({ to: [] })).toBe(false)
})
