/** Sessions of the console under attack, over real sockets: what is not the console's own page gets a clear refusal. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createLoginThrottle } from '../../src/control/console/loginThrottle.ts'
import { newNonce, proofOf } from '../../src/control/guard/proof.ts'
import type { ControlServer } from '../../src/control/server.ts'
import type { OperatorCommand } from '../../src/operator/commands/index.ts'
import { type Answer, ask, type Browser, begin, browserOf, handClock, logIn, openConsole } from './browser.ts'
import { access, asOperator, asReader, engine, operateToken, readToken } from './door.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
let commands: OperatorCommand[]
let clock: ReturnType<typeof handClock>
let server: ControlServer

async function open(publicUrl?: string): Promise<void> {
  server = await openConsole(
    { clock, typedSizeBps: 2_500, ...(publicUrl === undefined ? {} : { publicUrl }) },
    {
      engine: {
        ...engine,
        operate: (command) => {
          commands.push(command)
          return Promise.resolve({ ok: true, statement: 'done' })
        },
      },
    },
  )
}

beforeEach(async () => {
  commands = []
  clock = handClock()
  await open()
})
afterEach(() => server.close())

const json = { 'content-type': 'application/json' }
const halt = JSON.stringify({ state: 'halted', by: 'ann' })
const shown = async (asked: Promise<Answer>) => {
  const { status, error } = await asked
  return error === undefined ? [status] : [status, error]
}
const command = (headers: Readonly<Record<string, string>>) =>
  shown(ask(server, 'POST', '/api/trading', headers, halt))
const read = (headers: Readonly<Record<string, string>>) => shown(ask(server, 'GET', '/api/status', headers))
const guess = (token: string) =>
  shown(ask(server, 'POST', '/console/session', json, JSON.stringify({ token })))
const keyOf = (url: string) => new URLSearchParams(new URL(url).hash.slice(1)).get('key') ?? ''
const enter = (key: string) => begin(server, '/console/enter', { key })
const cookieName = () => `perpd_session_${server.port}`
const without = (browser: Browser, ...names: string[]) =>
  Object.fromEntries(Object.entries(browser.writing).filter(([name]) => !names.includes(name)))

test('a session of either token sees the account, and only one of the operate token commands', async () => {
  const reader = await logIn(server, readToken)
  const operator = await logIn(server, operateToken)
  expect(await read(reader.reading)).toEqual([200])
  expect(await read(operator.reading)).toEqual([200])
  expect(await command(reader.writing)).toEqual([403, 'FORBIDDEN'])
  expect(commands).toEqual([])
  expect(await command(operator.writing)).toEqual([200])
  expect(commands).toEqual([
    { type: 'trading', scope: 'global', state: 'halted', reason: expect.any(String) },
  ])
  const { text } = await ask(server, 'GET', '/console/session', reader.reading)
  expect(JSON.parse(text)).toEqual({
    role: 'read',
    expiresAtMs: clock.now() + hourMs,
    typedSizeBps: 2_500,
  })
})

test('the cookie is kept from scripts and other sites, and goes over TLS alone behind a proxy that has it', async () => {
  const set = async () =>
    (await ask(server, 'POST', '/console/session', json, JSON.stringify({ token: readToken }))).headers[
      'set-cookie'
    ]?.[0]
  expect(await set()).toMatch(
    /^perpd_session_\d+=[\w-]{43}; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict$/,
  )
  await server.close()
  await open('https://perpd.example.org')
  expect(await set()).toMatch(/; HttpOnly; Secure; SameSite=Strict$/)
})

test('a link opens one session, once, within ten minutes, by a key that no browser sends by itself', async () => {
  const { url = '' } = server.console?.link('operate') ?? {}
  expect(url).toMatch(new RegExp(`^http://127\\.0\\.0\\.1:${server.port}/console/#key=[\\w-]{43}$`))
  const entered = await enter(keyOf(url))
  expect([entered.status, JSON.parse(entered.text)]).toEqual([
    200,
    { role: 'operate', pageKey: expect.stringMatching(/^[\w-]{43}$/), expiresAtMs: clock.now() + hourMs },
  ])
  expect(entered.headers['referrer-policy']).toBe('no-referrer')
  const { writing } = browserOf(server, entered)
  expect(await command(writing)).toEqual([200])

  const again = await enter(keyOf(url))
  expect([again.status, again.error, again.cookie]).toEqual([410, 'LINK_OVER', undefined])
  const late = keyOf(server.console?.link('operate').url ?? '')
  clock.pass(10 * minuteMs)
  expect((await enter(late)).error).toBe('LINK_OVER')
  const inTime = keyOf(server.console?.link('read').url ?? '')
  clock.pass(10 * minuteMs - 1)
  expect((await enter(inTime)).status).toBe(200)
})

test('a link is made for a token, of its role or less, and to no session', async () => {
  const link = async (headers: Readonly<Record<string, string>>, body = '{}') => {
    const { status, text, error } = await ask(
      server,
      'POST',
      '/api/console/link',
      { ...json, ...headers },
      body,
    )
    return status === 200 ? [status, (JSON.parse(text) as { role: string }).role] : [status, error]
  }
  expect(await link(asReader)).toEqual([200, 'read'])
  expect(await link(asOperator)).toEqual([200, 'operate'])
  expect(await link(asOperator, '{"role":"read"}')).toEqual([200, 'read'])
  expect(await link(asReader, '{"role":"operate"}')).toEqual([403, 'FORBIDDEN'])
  expect(await link({})).toEqual([401, 'UNAUTHORIZED'])
  expect(await link((await logIn(server, operateToken)).writing)).toEqual([403, 'TOKEN_NEEDED'])
})

test('the body of a link that was proven is the one that was sent', async () => {
  const { challenge } = JSON.parse((await ask(server, 'GET', '/api/challenge', asReader)).text) as {
    challenge: string
  }
  const authorization = proofOf(access.tokens.operate, {
    role: 'operate',
    method: 'POST',
    path: '/api/console/link',
    nonce: newNonce(),
    challenge,
    bodyDigest: '0'.repeat(64),
  })
  expect(await shown(ask(server, 'POST', '/api/console/link', { ...json, authorization }, '{}'))).toEqual([
    400,
    'BAD_COMMAND',
  ])
})

test('the cookie alone gives nothing, and the page key alone nothing, to whoever has got it', async () => {
  const operator = await logIn(server, operateToken)
  const other = await logIn(server, operateToken)
  const key = 'x-perpd-page-key'
  const halves = [
    without(operator, key),
    { ...operator.writing, [key]: '' },
    { ...operator.writing, [key]: other.writing[key] ?? '' },
    { ...operator.writing, [key]: operator.cookie.split('=')[1] ?? '' },
    { ...other.writing, [key]: operator.writing[key] ?? '' },
    without(operator, 'cookie'),
  ]
  for (const headers of halves) {
    expect(await command(headers)).toEqual([401, 'UNAUTHORIZED'])
    expect(await shown(ask(server, 'DELETE', '/console/session', headers))).toEqual([401, 'UNAUTHORIZED'])
    expect(await read(headers)).toEqual([401, 'UNAUTHORIZED'])
    expect(await shown(ask(server, 'GET', '/api/stream', headers))).toEqual([401, 'UNAUTHORIZED'])
    expect((await ask(server, 'GET', '/console/session', headers)).text).toBe('{"role":null}')
  }
  expect(await read(operator.reading)).toEqual([200])
  expect(commands).toEqual([])
})

test('whoever may only read ends no session of operators, eats none of their links, and fills none of their streams', async () => {
  const operator = await logIn(server, operateToken)
  const { url = '' } = server.console?.link('operate') ?? {}
  const first = await logIn(server, readToken)
  for (let at = 0; at < 70; at++) {
    clock.pass(1)
    await logIn(server, readToken)
    await ask(server, 'POST', '/api/console/link', { ...json, ...asReader }, '{}')
  }
  expect(await read(operator.reading)).toEqual([200])
  expect(await read(first.reading)).toEqual([401, 'UNAUTHORIZED'])
  expect((await enter(keyOf(url))).status).toBe(200)
})

test('a flood by whoever may only read leaves the bucket of operators full', async () => {
  await server.close()
  server = await openConsole({ clock }, { requestsPerSecond: 5 })
  const answers = await Promise.all(
    Array.from({ length: 40 }, () => shown(ask(server, 'GET', '/api/status', asReader))),
  )
  expect(answers.filter(([status]) => status === 429).length).toBeGreaterThan(20)
  expect(await shown(ask(server, 'GET', '/api/status', asOperator))).toEqual([200])
})

test('a page of another origin or site gets nothing with the session of a browser', async () => {
  const operator = await logIn(server, operateToken)
  for (const origin of [
    'http://evil.example',
    'null',
    'http://127.0.0.1:1',
    `https://127.0.0.1:${server.port}`,
  ]) {
    expect(await command({ ...operator.writing, origin })).toEqual([403, 'ORIGIN_NOT_ALLOWED'])
    expect(await read({ ...operator.reading, origin })).toEqual([403, 'ORIGIN_NOT_ALLOWED'])
  }
  // Another port of this machine is the same site, and its pages have the browser send the cookie.
  for (const site of ['cross-site', 'same-site']) {
    const from = { 'sec-fetch-site': site }
    expect(await command({ ...operator.writing, ...from })).toEqual([403, 'ORIGIN_NOT_ALLOWED'])
    expect(await read({ ...operator.reading, ...from })).toEqual([403, 'ORIGIN_NOT_ALLOWED'])
    expect(await shown(ask(server, 'GET', '/console/session', { ...operator.reading, ...from }))).toEqual([
      403,
      'ORIGIN_NOT_ALLOWED',
    ])
    expect(await shown(ask(server, 'POST', '/console/session', { ...json, ...from }, '{}'))).toEqual([
      403,
      'ORIGIN_NOT_ALLOWED',
    ])
    const script = { ...from, 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'script' }
    expect(await shown(ask(server, 'GET', '/console/any.ts', script))).toEqual([403, 'ORIGIN_NOT_ALLOWED'])
  }
  // A browser that says nothing of where a request came from: it changes nothing.
  expect(await command(without(operator, 'origin', 'sec-fetch-site'))).toEqual([403, 'ORIGIN_NOT_ALLOWED'])
  expect(commands).toEqual([])
  const link = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
  expect(await shown(ask(server, 'GET', '/console/', link))).toEqual([200])
})

test('under a foreign name nothing is served, session or not', async () => {
  const operator = await logIn(server, operateToken)
  for (const host of ['evil.example', `evil.example:${server.port}`, '127.0.0.1.evil.example']) {
    const refused = [421, 'HOST_NOT_ALLOWED']
    expect(await shown(ask(server, 'GET', '/console/', { host }))).toEqual(refused)
    expect(await read({ ...operator.reading, host })).toEqual(refused)
    expect(await command({ ...operator.writing, host, origin: `http://${host}` })).toEqual(refused)
    expect(await shown(ask(server, 'POST', '/console/session', { ...json, host }, '{}'))).toEqual(refused)
  }
  expect(commands).toEqual([])
})

test('nothing is shown in a frame', async () => {
  const operator = await logIn(server, operateToken)
  for (const dest of ['iframe', 'frame', 'embed', 'object', 'fencedframe']) {
    const framed = { 'sec-fetch-dest': dest, 'sec-fetch-mode': 'navigate' }
    expect(await shown(ask(server, 'GET', '/console/', framed))).toEqual([403, 'FRAME_REFUSED'])
    expect(await read({ ...operator.reading, ...framed })).toEqual([403, 'FRAME_REFUSED'])
  }
})

test('guesses at a token are throttled by address, and keep nobody out who has one', async () => {
  for (let at = 0; at < 5; at++) expect(await guess(`wrong-${at}`)).toEqual([401, 'UNAUTHORIZED'])
  expect(await guess('wrong-6')).toEqual([429, 'LOGIN_THROTTLED'])
  expect(await guess(operateToken)).toEqual([200])
  expect((await enter('x'.repeat(43))).error).toBe('LINK_OVER')
  clock.pass(minuteMs)
  expect(await guess('wrong-7')).toEqual([401, 'UNAUTHORIZED'])
})

test('guesses at a link are throttled, and keep nobody out who has one', async () => {
  for (let at = 0; at < 5; at++) expect((await enter('x'.repeat(43))).error).toBe('LINK_OVER')
  expect((await enter('x'.repeat(43))).error).toBe('LOGIN_THROTTLED')
  expect((await enter(keyOf(server.console?.link('read').url ?? ''))).status).toBe(200)
  expect(await guess(operateToken)).toEqual([200])
})

test('many guesses at once are no more than a few', async () => {
  const answers = await Promise.all(Array.from({ length: 40 }, (_, at) => guess(`wrong-${at}`)))
  expect(answers.filter(([status]) => status === 401)).toHaveLength(5)
  expect(answers.filter(([status]) => status === 429)).toHaveLength(35)
})

test('guesses from many addresses are throttled together, and what is kept of them is little', () => {
  const throttle = createLoginThrottle(clock.monotonicMs)
  for (let at = 0; at < 30; at++) {
    expect(throttle.isOpen(`10.0.0.${at}`)).toBe(true)
    throttle.failed(`10.0.0.${at}`)
  }
  expect(throttle.isOpen('10.0.1.1')).toBe(false)
  clock.pass(minuteMs)
  expect(throttle.isOpen('10.0.1.1')).toBe(true)
})

test('a body that is no log-in, or is too large, is refused', async () => {
  for (const body of ['', '{', 'null', '{}', '{"token":1}', `{"token":"${readToken}","role":"operate"}`])
    expect([body, ...(await shown(ask(server, 'POST', '/console/session', json, body)))]).toEqual([
      body,
      400,
      'BAD_LOGIN',
    ])
  expect(
    await shown(
      ask(server, 'POST', '/console/session', { 'content-type': 'text/plain' }, `{"token":"${readToken}"}`),
    ),
  ).toEqual([400, 'BAD_LOGIN'])
  expect(await guess('x'.repeat(2_000))).toEqual([413, 'BODY_TOO_LARGE'])
})

test('a session ends after an hour without a request, and after twelve in any case', async () => {
  const idle = await logIn(server, readToken)
  clock.pass(hourMs - 1)
  expect(await read(idle.reading)).toEqual([200])
  clock.pass(hourMs)
  expect(await read(idle.reading)).toEqual([401, 'UNAUTHORIZED'])

  const busy = await logIn(server, readToken)
  for (let halves = 1; halves < 24; halves++) {
    clock.pass(hourMs / 2)
    expect(await read(busy.reading)).toEqual([200])
  }
  clock.pass(hourMs / 2)
  expect(await read(busy.reading)).toEqual([401, 'UNAUTHORIZED'])
})

test('a session and a link last no longer where the clock is set back by a day', async () => {
  const { reading } = await logIn(server, operateToken)
  const key = keyOf(server.console?.link('read').url ?? '')
  clock.setBack(24 * hourMs)
  expect(await read(reading)).toEqual([200])
  clock.pass(hourMs)
  expect(await read(reading)).toEqual([401, 'UNAUTHORIZED'])
  expect((await enter(key)).error).toBe('LINK_OVER')
})

test('a request that is refused keeps no session alive', async () => {
  const { reading } = await logIn(server, readToken)
  clock.pass(hourMs / 2)
  expect(await read({ ...reading, 'sec-fetch-site': 'same-site' })).toEqual([403, 'ORIGIN_NOT_ALLOWED'])
  clock.pass(hourMs / 2)
  expect(await read(reading)).toEqual([401, 'UNAUTHORIZED'])
})

test('whoever logs out is out, and an operator sees and ends the sessions of others', async () => {
  const reader = await logIn(server, readToken)
  const operator = await logIn(server, operateToken)
  const list = async () => {
    const { text } = await ask(server, 'GET', '/api/console/sessions', asReader)
    expect(text).not.toContain(reader.cookie.split('=')[1] ?? '')
    return JSON.parse(text) as { id: string; role: string }[]
  }
  const rows = await list()
  expect(rows).toEqual(
    ['read', 'operate'].map((role) => ({
      id: expect.stringMatching(/^[0-9a-f]{12}$/),
      role,
      begunAtMs: clock.now(),
      lastUsedAtMs: clock.now(),
      expiresAtMs: clock.now() + hourMs,
      address: '127.0.0.1',
      isOwn: false,
    })),
  )
  const [first, second] = rows.map(({ id }) => `/api/console/sessions/${id}`)
  expect(await shown(ask(server, 'DELETE', second ?? '', reader.writing))).toEqual([403, 'FORBIDDEN'])
  expect(await shown(ask(server, 'DELETE', first ?? '', operator.writing))).toEqual([200])
  expect(await shown(ask(server, 'DELETE', first ?? '', asOperator))).toEqual([404, 'SESSION_NOT_FOUND'])
  expect(await read(reader.reading)).toEqual([401, 'UNAUTHORIZED'])

  const out = await ask(server, 'DELETE', '/console/session', operator.writing)
  expect([out.status, out.headers['set-cookie']?.[0]]).toEqual([
    200,
    `${cookieName()}=; Max-Age=0; Path=/; HttpOnly; SameSite=Strict`,
  ])
  expect(await read(operator.reading)).toEqual([401, 'UNAUTHORIZED'])
  expect(await list()).toEqual([])
})

test('a cookie that is none of ours, or two of them, are no session', async () => {
  const { cookie, reading } = await logIn(server, readToken)
  for (const wrong of [
    `${cookieName()}=`,
    `${cookieName()}=${'x'.repeat(43)}`,
    `${cookie}x`,
    `${cookie}; ${cookieName()}=${'x'.repeat(43)}`,
    cookie.replace('perpd_session', 'PERPD_SESSION'),
    `${cookieName()}=${readToken}`,
  ])
    expect([wrong, ...(await read({ ...reading, cookie: wrong }))]).toEqual([wrong, 401, 'UNAUTHORIZED'])
  // That there is no session is an answer, to nobody's page but our own.
  for (const headers of [{}, { cookie: 'theme=dark' }, { cookie: `${cookie}x` }]) {
    const { status, text } = await ask(server, 'GET', '/console/session', headers)
    expect([status, text]).toEqual([200, '{"role":null}'])
  }
  const foreign = await ask(server, 'GET', '/console/session', { 'sec-fetch-site': 'cross-site' })
  expect([foreign.status, foreign.error]).toEqual([403, 'ORIGIN_NOT_ALLOWED'])
  expect(await read({ ...reading, cookie: `theme=dark; ${cookie}` })).toEqual([200])
})

test('the cookie is named by its port, so that two daemons of one machine do not log each other out', async () => {
  const second = await openConsole({ clock })
  try {
    const [one, other] = [await logIn(server, readToken), await logIn(second, readToken)]
    expect(one.cookie.split('=')[0]).not.toBe(other.cookie.split('=')[0])
    // A browser sends both to both.
    const cookie = `${one.cookie}; ${other.cookie}`
    expect(await read({ ...one.reading, cookie })).toEqual([200])
    expect((await ask(second, 'GET', '/api/status', { ...other.reading, cookie })).status).toBe(200)
  } finally {
    await second.close()
  }
})

test('limits in force are read by whoever may read, and by nobody else', async () => {
  const { reading } = await logIn(server, readToken)
  const { text } = await ask(server, 'GET', '/api/limits', reading)
  expect(JSON.parse(text)).toEqual(engine.limits())
  expect(await shown(ask(server, 'GET', '/api/limits'))).toEqual([401, 'UNAUTHORIZED'])
})

test('a token counts before a cookie, whatever the cookie may', async () => {
  const operator = await logIn(server, operateToken)
  expect(await command({ ...operator.writing, ...asReader })).toEqual([403, 'FORBIDDEN'])
  expect(await command({ ...operator.writing, authorization: 'Bearer wrong' })).toEqual([401, 'UNAUTHORIZED'])
  expect(commands).toEqual([])
})

test('behind a proxy that ends TLS its name and origin are ours, and the same name without TLS is not', async () => {
  await server.close()
  await open('https://perpd.example.org')
  const host = 'perpd.example.org'
  const operator = await logIn(server, operateToken)
  const through = { ...operator.writing, host, origin: 'https://perpd.example.org' }
  expect(await command(through)).toEqual([200])
  expect(await command({ ...through, origin: 'http://perpd.example.org' })).toEqual([
    403,
    'ORIGIN_NOT_ALLOWED',
  ])
  expect(server.console?.link('read').url).toMatch(/^https:\/\/perpd\.example\.org\/console\/#key=/)
})

test('a refusal is an answer to who asks for that, so that a browser logs no fault; the guard and faults keep their status', async () => {
  await server.close()
  const settings = { clock, typedSizeBps: 2_500 }
  const operate = () => Promise.resolve({ ok: false, code: 'NO_POSITION', reason: 'No position.' } as const)
  const fault = () => Promise.reject(new Error('gone'))
  server = await openConsole(settings, { engine: { ...engine, operate, balance: fault } })
  const { writing } = await logIn(server, operateToken)
  const asked = { ...writing, 'x-perpd-refusals': 'answered' }
  const both = async (method: string, path: string, body?: string) =>
    await Promise.all([writing, asked].map((headers) => ask(server, method, path, headers, body)))
  for (const [method, path, body, status, error] of [
    ['POST', '/api/trading', halt, 409, 'NO_POSITION'],
    ['POST', '/api/trading', '{}', 400, 'BAD_COMMAND'],
    ['GET', '/api/orders/none', undefined, 404, 'NOT_FOUND'],
  ] as const) {
    const [plain, answered] = await both(method, path, body)
    expect([plain?.status, plain?.error, answered?.status]).toEqual([status, error, 200])
    expect(JSON.parse(answered?.text ?? '')).toEqual({ ok: false, status, ...JSON.parse(plain?.text ?? '') })
  }
  const faults = await both('GET', '/api/balance')
  expect(faults.map((each) => each.status)).toEqual([500, 500])
  expect(await command({ 'x-perpd-refusals': 'answered' })).toEqual([401, 'UNAUTHORIZED'])
  expect(await command({ ...asked, origin: 'http://evil.example' })).toEqual([403, 'ORIGIN_NOT_ALLOWED'])
})

test('a port without a console serves none of it', async () => {
  await server.close()
  server = await openConsole(undefined)
  expect(server.console).toBeUndefined()
  for (const path of ['/console/', '/console/session', '/console/enter', '/api/stream'])
    expect([path, ...(await shown(ask(server, 'GET', path)))]).toEqual([path, 401, 'UNAUTHORIZED'])
  expect(await shown(ask(server, 'GET', '/api/stream', asReader))).toEqual([404, 'NOT_FOUND'])
  const own = { ...asReader, origin: `http://127.0.0.1:${server.port}` }
  expect(await read(own)).toEqual([403, 'ORIGIN_NOT_ALLOWED'])
})
