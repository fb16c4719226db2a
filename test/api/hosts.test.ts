/**
 * Which hosts are asked when one hangs, asks to be left alone, or has prices that are stale; and rows that cannot be
 * read.
 */
import { expect, test } from 'vitest'
import { getOrders, getPositions } from '../../src/api/accounts/accountReads.ts'
import { getCandles, getPrices } from '../../src/api/feeds/oracle.ts'
import { getMarkets, getMarketTickers } from '../../src/api/markets/marketReads.ts'
import { getGmUserEarnings } from '../../src/api/markets/poolYields.ts'
import { getTokensInfo } from '../../src/api/markets/tokens.ts'
import { UnreachableError } from '../../src/api/transport/apiErrors.ts'
import type { MissingRows } from '../../src/api/transport/transportTypes.ts'
import { failureOf, fixtureText, type Reply, type Seen, START_MS, scriptedTransport } from './support.ts'

const account = '0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A'
const nameOf = ({ url }: Seen) => new URL(url).host
const three = { api: ['http://one/v1', 'http://two/v1'], oracle: ['http://a', 'http://b', 'http://c'] }

/** Prices as the fixture has them, made this many seconds before the clock stands there. */
function pricesOf(nowMs: number, ageSeconds: number): Reply {
  const rows = JSON.parse(fixtureText('oracle-tickers')) as Record<string, unknown>[]
  const updatedAt = Math.floor((START_MS + nowMs) / 1000) - ageSeconds
  const headers = { Date: new Date(START_MS + nowMs).toUTCString() }
  return { headers, body: rows.map((row) => ({ ...row, updatedAt })) }
}

test('a primary whose prices stand still is left for its fallbacks, told once, and taken again when they go on', async () => {
  let ages: Record<string, number> = { a: 600, b: 600, c: 1 }
  const told: unknown[] = []
  const { transport, clock, seen } = scriptedTransport(
    (request) => pricesOf(request.atMs, ages[nameOf(request)] ?? 0),
    { hosts: three, onPrices: ({ host, isStale }) => told.push([host, isStale]) },
  )
  for (let second = 0; second < 30; second += 1) {
    const read = await clock.drive(getPrices(transport, () => 18))
    expect(read.host).toBe('http://c')
    await clock.advance(1_000)
  }
  expect(told).toEqual([
    ['http://a', true],
    ['http://b', true],
  ])
  // Ever more seldom: at 0, 5 and 15 s.
  expect(seen.filter((each) => nameOf(each) === 'a')).toHaveLength(3)
  ages = { a: 1, b: 1, c: 1 }
  await clock.advance(60_000)
  expect((await clock.drive(getPrices(transport, () => 18))).host).toBe('http://a')
  expect(told.slice(2)).toEqual([['http://a', false]])
})

test('where no host has young prices the freshest of any host is the answer, and it is not asked of all each time', async () => {
  const ages: Record<string, number> = { a: 600, b: 90, c: 300 }
  const { transport, clock, seen } = scriptedTransport(
    (request) => pricesOf(request.atMs, ages[nameOf(request)] ?? 0),
    { hosts: three },
  )
  for (let second = 0; second < 60; second += 1) {
    const { host } = await clock.drive(getPrices(transport, () => 18))
    expect([second, host]).toEqual([second, 'http://b'])
    await clock.advance(1_000)
  }
  expect(seen.length).toBeLessThan(60 + 2 * 6)
})

test('an answer of yesterday is old whatever date the proxy that serves it says', async () => {
  const { transport, clock } = scriptedTransport(
    (request) => pricesOf(nameOf(request) === 'a' ? request.atMs - 86_400_000 : request.atMs, 1),
    { hosts: three },
  )
  expect((await clock.drive(getPrices(transport, () => 18))).host).toBe('http://b')
})

test('a hung host costs one timeout, and then nobody waits for it: it is probed ever more seldom beside other reads', async () => {
  const { transport, clock, seen } = scriptedTransport((request) =>
    nameOf(request) === 'one' ? 'silence' : { body: '[]' },
  )
  let longestMs = 0
  let waitedMs = 0
  for (let second = 0; second < 600; second += 1) {
    const before = clock.monotonicMs()
    await clock.drive(getOrders(transport, { account }))
    const tookMs = clock.monotonicMs() - before
    if (second > 0) longestMs = Math.max(longestMs, tookMs)
    waitedMs += tookMs
    await clock.advance(1_000)
  }
  expect(longestMs).toBe(0)
  expect(waitedMs).toBeLessThanOrEqual(transport.limits.timeoutMs + 250)
  expect(seen.filter((each) => nameOf(each) === 'one').length).toBeLessThan(10)
})

test('a hung host that answers again is found by a probe and takes its turns again', async () => {
  let isHung = true
  const { transport, clock, seen } = scriptedTransport((request) =>
    isHung && nameOf(request) === 'one' ? 'silence' : { body: '[]' },
  )
  await clock.drive(getOrders(transport, { account }))
  isHung = false
  await clock.advance(10_000)
  await clock.drive(getOrders(transport, { account }))
  seen.length = 0
  for (let second = 0; second < 4; second += 1) {
    await clock.advance(1_000)
    await clock.drive(getOrders(transport, { account }))
  }
  expect(seen.map(nameOf).sort()).toEqual(['one', 'one', 'two', 'two'])
})

test('a 503 that says how long is heeded, whoever is asked meanwhile', async () => {
  let isBusy = true
  const { transport, clock, seen } = scriptedTransport((request) =>
    isBusy && nameOf(request) === 'one' ? { status: 503, headers: { 'Retry-After': '30' } } : { body: '[]' },
  )
  for (let second = 0; second < 29; second += 1) {
    await clock.drive(getOrders(transport, { account }))
    await clock.advance(1_000)
  }
  expect(seen.filter((each) => nameOf(each) === 'one')).toHaveLength(1)
  isBusy = false
  await clock.advance(3_000)
  seen.length = 0
  for (let second = 0; second < 2; second += 1) {
    await clock.drive(getOrders(transport, { account }))
    await clock.advance(1_000)
  }
  expect(seen.map(nameOf).sort()).toEqual(['one', 'two'])
})

test('when every host asks to be left alone for long, nobody is asked', async () => {
  const { transport, clock, seen } = scriptedTransport(() => ({
    status: 503,
    headers: { 'Retry-After': '60' },
  }))
  await clock.drive(failureOf(getOrders(transport, { account })))
  const before = seen.length
  const error = await clock.drive(failureOf(getOrders(transport, { account }, { isFresh: true })))
  expect(error).toBeInstanceOf(UnreachableError)
  expect(error).toMatchObject({ silence: 'resting' })
  expect(seen).toHaveLength(before)
})

const lists = [
  ['positions', (to: Parameters<typeof getOrders>[0]) => getPositions(to, { account }), 'sizeInUsd'],
  ['orders', (to: Parameters<typeof getOrders>[0]) => getOrders(to, { account }), 'sizeDeltaUsd'],
  ['markets', getMarkets, 'minPositionSizeUsd'],
  ['markets-tickers', getMarketTickers, 'markPrice'],
  ['tokens-info', getTokensInfo, 'decimals'],
] as const

test.each(lists)(
  '%s: a row that cannot be read costs itself alone, and the list says so',
  async (name, ask, field) => {
    const good = (JSON.parse(fixtureText(name)) as Record<string, unknown>[]).slice(0, 1)
    const bad = good.map((row) => ({ ...row, [field]: '1.5' }))
    const told: MissingRows[] = []
    const { transport, clock } = scriptedTransport(() => ({ body: [...bad, ...good] }), {
      onMissing: (missing) => told.push(missing),
    })
    const read = await clock.drive<{ value: readonly unknown[]; missing?: readonly unknown[] }>(
      ask(transport),
    )
    expect(read.value).toHaveLength(1)
    expect(read.missing).toMatchObject([{ problem: expect.stringContaining(`[0].${field} is not`) }])
    expect(told[0]?.rows).toEqual(read.missing)
  },
)

test('a peer that can be read whole is asked before a row is done without', async () => {
  const rows = JSON.parse(fixtureText('orders')) as Record<string, unknown>[]
  const { transport, clock, seen } = scriptedTransport((request) => ({
    body: nameOf(request) === 'one' ? [...rows, {}] : rows,
  }))
  const read = await clock.drive(getOrders(transport, { account }))
  expect([seen.map(nameOf), read.host, read.missing]).toEqual([['one', 'two'], 'http://two/v1', undefined])
})

test('earnings of another wallet, and candles of another period, are a fault of their host', async () => {
  const other = '0x1563915e194D8CfBA1943570603F7606A3115508'
  const earnings = scriptedTransport((request) => {
    const body = JSON.parse(fixtureText('gm-user-earnings')) as object
    return { body: { ...body, account: nameOf(request) === 'one' ? account : other } }
  })
  const read = await earnings.clock.drive(getGmUserEarnings(earnings.transport, { account: other }))
  expect([read.host, read.value.account]).toEqual(['http://two/v1', other])
  const rests: string[] = []
  const candles = scriptedTransport(() => ({ body: fixtureText('oracle-candles') }), {
    limits: { failuresToCooldown: 1 },
    onCooldown: ({ host }) => rests.push(host),
  })
  const query = { tokenSymbol: 'ETH', period: '1h', limit: 9 } as const
  const error = await candles.clock.drive(failureOf(getCandles(candles.transport, query)))
  expect(error).toMatchObject({ path: 'period', value: '5m', isOfAnother: true })
  expect(rests).toEqual(['http://primary', 'http://spare'])
  const own = await candles.clock.drive(getCandles(candles.transport, { ...query, period: '5m' }))
  expect(own.value.length).toBeGreaterThan(0)
})

test('rows of another account are an answer to another question', async () => {
  const { transport, clock } = scriptedTransport(() => ({ body: fixtureText('orders') }))
  const other = '0x1563915e194D8CfBA1943570603F7606A3115508'
  const error = await clock.drive(failureOf(getOrders(transport, { account: other })))
  expect(error).toMatchObject({ path: '[0].account', isOfAnother: true })
})

test('while a read hangs the next ones go to the peer, before its time is up', async () => {
  const { transport, clock, seen } = scriptedTransport((request) =>
    nameOf(request) === 'one' ? 'silence' : { body: '[]' },
  )
  const first = getOrders(transport, { account })
  await clock.advance(2_000)
  for (let second = 0; second < 5; second += 1) {
    await getOrders(transport, { account }, { isFresh: true })
    await clock.advance(1_000)
  }
  expect(seen.filter((each) => nameOf(each) === 'one')).toHaveLength(1)
  await clock.drive(first)
})

test('no order goes to a host that hung before it answered again', async () => {
  let isHung = true
  const { transport, clock } = scriptedTransport((request) =>
    isHung && nameOf(request) === 'one' ? 'silence' : { body: '[]' },
  )
  await clock.drive(getOrders(transport, { account }))
  for (let second = 0; second < 60; second += 1) {
    expect([second, transport.isCoolingDown('http://one/v1')]).toEqual([second, true])
    await clock.advance(1_000)
    await clock.drive(getOrders(transport, { account }))
  }
  isHung = false
  for (let second = 0; second < 125; second += 1) {
    await clock.advance(1_000)
    await clock.drive(getOrders(transport, { account }))
  }
  expect(transport.isCoolingDown('http://one/v1')).toBe(false)
})
