/** Faults on the road and in a scenario, over real sockets: each is provoked, counted, logged, and repeats with its seed. */
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { fitsPattern } from '../../src/paper/http/wireFaultRule.ts'
import { loadScenario, readScenario } from '../../src/paper/server/scenario.ts'
import { startVenue } from './support.ts'

let paper: Awaited<ReturnType<typeof startVenue>>

beforeEach(async () => {
  paper = await startVenue()
})

afterEach(() => paper.close())

const wire = (...faults: readonly Record<string, unknown>[]) =>
  paper.call('POST', `${paper.control}/wire`, faults)
const log = async () => (await paper.call('GET', `${paper.control}/fault-log`)).body
const raw = (path: string, timeoutMs = 5000) =>
  fetch(paper.api + path, { signal: AbortSignal.timeout(timeoutMs) })

test('each status and HTML error page comes as asked, as often as asked', async () => {
  for (const status of [429, 500, 502, 503, 504]) {
    await wire({ id: `s${status}`, kind: 'status', status, times: 1, retryAfterSeconds: 7 })
    const answer = await raw('/markets')
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([status, '7'])
    expect((await answer.json()) as unknown).toHaveProperty('message')
    expect(answer.headers.get('x-trace-id')).toBe(`paper-fault-s${status}`)
    expect((await raw('/markets')).status).toBe(200)
  }
  await wire({ kind: 'html', status: 502, times: 1 })
  const page = await raw('/tokens')
  expect([page.status, page.headers.get('content-type')]).toEqual([502, 'text/html'])
  expect(await page.text()).toContain('<h1>502 Bad Gateway</h1>')
})

test('a rule hits only its host, route and method', async () => {
  await wire({ kind: 'status', host: 'api/1', route: '/orders/*' })
  expect((await paper.get('/markets')).status).toBe(200)
  expect((await paper.call('GET', `${paper.peer}/markets`)).status).toBe(200)
  expect((await paper.call('POST', `${paper.peer}/orders/txns/status`, {})).status).toBe(503)
  expect((await paper.call('GET', `${paper.oracle}/ping`)).status).toBe(200)
  expect(fitsPattern('/orders/*/submit', '/orders/txns/submit')).toBe(true)
  expect(fitsPattern('/orders/*/submit', '/orders/submit')).toBe(false)
  expect(fitsPattern('*', '/')).toBe(true)
})

test('bodies arrive truncated or as garbage', async () => {
  await wire({ kind: 'truncated', times: 1 })
  const half = await (await raw('/markets')).text()
  expect(() => JSON.parse(half)).toThrow()
  expect(half.startsWith('[{"symbol"')).toBe(true)
  await wire({ kind: 'garbage', times: 1 })
  const garbage = await (await raw('/markets')).text()
  expect(() => JSON.parse(garbage)).toThrow()
})

test('a connection is dropped, or never answered, before or after the work', async () => {
  const submitOnce = async (kind: string) => {
    const prepared = (await paper.prepare({})).body
    const body = JSON.stringify(await paper.submitBody(prepared))
    await wire({ kind, route: '/orders/txns/submit', times: 1 })
    const before = paper.venue.record().length
    await expect(
      fetch(`${paper.api}/orders/txns/submit`, {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json' },
        signal: AbortSignal.timeout(1500),
      }),
    ).rejects.toThrow()
    return paper.venue.record().length - before
  }
  expect(await submitOnce('drop-before')).toBe(0)
  expect(await submitOnce('drop-after')).toBe(1)
  expect(await submitOnce('timeout-before')).toBe(0)
  expect(await submitOnce('timeout-after')).toBe(1)
})

test('a request that a proxy sends twice executes once', async () => {
  await wire({ kind: 'duplicate', route: '/orders/txns/submit' })
  const prepared = (await paper.prepare({})).body
  expect((await paper.submit(prepared)).status).toBe(200)
  expect(paper.venue.record().map(({ result }) => result)).toEqual(['accepted', 'repeated'])
  paper.clock.move(2500)
  expect(await paper.positions()).toHaveLength(1)
})

test('the clock of the Date header is wrong when asked', async () => {
  await wire({ kind: 'clock-skew', skewMs: -3_600_000, host: 'api/0' })
  const skewed = Date.parse((await raw('/markets')).headers.get('date') ?? '')
  expect(skewed).toBe(paper.clock.now() - 3_600_000)
})

test('the same seed draws the same hits, and the log tells them', async () => {
  const hitsOf = async () => {
    const one = await startVenue()
    await one.call('POST', `${one.control}/wire`, { kind: 'status', probability: 0.3 })
    const answers: number[] = []
    for (let i = 0; i < 40; i += 1) answers.push((await one.get('/markets')).status)
    const logged = (await one.call('GET', `${one.control}/fault-log`)).body
    await one.close()
    return { answers, logged }
  }
  const first = await hitsOf()
  expect(first.answers).toContain(503)
  expect(first.answers).toContain(200)
  expect(first.logged).toHaveLength(first.answers.filter((status) => status === 503).length)
  expect(await hitsOf()).toEqual(first)
})

test('a rule that makes no sense is refused with what is wrong', async () => {
  const refusal = async (rule: unknown) =>
    (await paper.call('POST', `${paper.control}/wire`, rule)).body.message
  expect(await refusal({ kind: 'nothing' })).toBe(
    'kind must be one of latency, timeout-before, timeout-after, drop-before, drop-after, duplicate, status, backend-unavailable, html, truncated, garbage, clock-skew, edit',
  )
  expect(await refusal({ kind: 'status', status: 418 })).toBe('status must be one of 429, 500, 502, 503, 504')
  expect(await refusal({ kind: 'status', probability: 2 })).toBe('probability must be a number from 0 to 1')
  expect(await refusal([])).toBeUndefined()
})

test('the relay never lands, does not know, or reverts with the error asked for', async () => {
  const faults = (change: Record<string, unknown>) => paper.call('POST', `${paper.control}/faults`, change)
  await faults({ relay: 'never-lands' })
  const lost = (await paper.prepare({})).body
  await paper.submit(lost)
  paper.clock.move(60_000)
  expect((await paper.status(lost.requestId)).body.status).toBe('relay_submitted')
  await faults({ relay: 'none', relayReverts: 'InvalidUserDigest' })
  expect((await paper.trade({})).status).toBe('relay_reverted')
  await faults({ relayReverts: '', keeperFails: 'InsufficientReserve' })
  expect((await paper.trade({})).status).toBe('cancelled')
  await faults({ keeperFails: '', keeperExtraDelayMs: 5000 })
  const slow = await paper.trade({})
  expect(slow.status).toBe('created')
  paper.clock.move(5000)
  expect((await paper.status(slow.requestId)).body.status).toBe('executed')
  expect((await faults({ keeperFails: 'Nonsense' })).body.message).toBe(
    'keeperFails must be empty or the name of a custom error of the protocol, as EmptyPosition',
  )
})

test('a scenario file plays its faults at their times and takes them back', async () => {
  const path = join(mkdtempSync(join(tmpdir(), 'perpd-')), 'scenario.yaml')
  writeFileSync(
    path,
    [
      'faults:',
      '  - atMs: 1000',
      '    forMs: 2000',
      '    set: { down: [api/0] }',
      '  - { atMs: 5000, forMs: 1000, wire: { kind: status, status: 504, host: api/* } }',
    ].join('\n'),
  )
  const one = await startVenue({ scenario: loadScenario(path) })
  const state = () =>
    one.get('/markets').then(
      ({ status }) => status,
      () => 'cut',
    )
  expect(await state()).toBe(200)
  one.clock.move(1000)
  expect(await state()).toBe('cut')
  one.clock.move(2000)
  expect(await state()).toBe(200)
  one.clock.move(2000)
  expect(await state()).toBe(504)
  one.clock.move(1000)
  expect(await state()).toBe(200)
  await one.close()
  expect(readScenario([{ atMs: -1, set: {} }])).toBe('step 1: atMs must be a whole number of milliseconds')
  expect(readScenario([{ set: { prepare: 'late' } }])).toBe(
    'step 1: prepare must be one of none, foreign-receiver, batch-copy, relay-copy, unavailable',
  )
  expect(() => loadScenario('/nowhere.yaml')).toThrow('The scenario file cannot be used')
  expect(await log()).toEqual([])
})

test('fields of a good answer are put, taken away and added to, and a bad answer stays as it is', async () => {
  const before = (await paper.get('/markets')).body as Record<string, unknown>[]
  await wire({
    kind: 'edit',
    route: '/markets',
    edits: [
      { path: '/0/symbol', set: 7 },
      { path: '/*/indexTokenAddress', remove: true },
      { path: '/1', remove: true },
    ],
  })
  const after = (await paper.get('/markets')).body as Record<string, unknown>[]
  expect(after).toHaveLength(before.length - 1)
  expect(after[0]).toMatchObject({ symbol: 7, marketTokenAddress: before[0]?.marketTokenAddress })
  expect(after.some((row) => 'indexTokenAddress' in row)).toBe(false)
  const refused = await paper.call('POST', `${paper.control}/wire`, { kind: 'edit', edits: [{ path: 'x' }] })
  expect([refused.status, refused.body]).toMatchObject([
    400,
    { message: expect.stringContaining('path of an edit') },
  ])
})
