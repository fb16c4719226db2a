/**
 * The rules of the road, each a sentence of the documents. Those that the transport's own tests hold already are not said
 * twice: transport.test.ts has rotation, rest and probe, rate, Retry-After and what every attempt reports.
 */
import { expect, test } from 'vitest'
import { getOrders } from '../../src/api/accounts/accountReads.ts'
import { getPrices } from '../../src/api/feeds/oracle.ts'
import { getMarketTickers } from '../../src/api/markets/marketReads.ts'
import { getGmUserEarnings } from '../../src/api/markets/poolYields.ts'
import { capacityUnavailableReason, liquidityShortfall } from '../../src/api/orders/capacityFacts.ts'
import {
  getOrderStatus,
  type OrderTicket,
  prepareOrder,
  submitOrder,
} from '../../src/api/orders/expressOrders.ts'
import type { EditRequest } from '../../src/api/orders/orderChangeRequest.ts'
import type { PrepareRequest } from '../../src/api/orders/prepareRequest.ts'
import { getRelayStatus, submitRelay } from '../../src/api/orders/relayRequests.ts'
import { proves, RefusedError } from '../../src/api/transport/apiErrors.ts'
import { RequestFailed } from '../../src/api/transport/requestFailed.ts'
import { failureOf, fixtureText, type Reply, type Seen, scriptedTransport } from './support.ts'

const account = '0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A'
const signature = `0x${'1b'.repeat(65)}` as const
const order: PrepareRequest = {
  kind: 'increase',
  orderType: 'limit',
  from: account,
  symbol: 'ETH/USD [WETH-USDC]',
  direction: 'long',
  sizeDeltaUsd: 1n,
  slippageBps: 100,
  collateralToken: 'USDC',
  collateralToPay: { amount: 1n, token: 'USDC' },
}
const hostsOf = (seen: readonly Seen[]) => seen.map(({ url }) => new URL(url).host)
const ok: Reply = { body: fixtureText('oracle-tickers') }

const failures: readonly (readonly [string, Reply])[] = [
  ['timeout', 'silence'],
  ['network error', new RequestFailed('read ECONNRESET', { sent: 'maybe', code: 'ECONNRESET' })],
  ['429', { status: 429 }],
  ['429 with Retry-After', { status: 429, headers: { 'Retry-After': '30' } }],
  ['500', { status: 500, body: { message: 'Internal Server Error' } }],
  ['502', { status: 502, body: '<html>' }],
  ['503', { status: 503 }],
  ['503 of BACKEND_UNAVAILABLE', { status: 503, body: { code: 'BACKEND_UNAVAILABLE' } }],
  ['504', { status: 504 }],
]

test.each(failures)(
  'on a %s the oracle is asked again with backoff, at its fallback host',
  async (_, failure) => {
    const { transport, clock, seen } = scriptedTransport((_seen, index) => (index === 0 ? failure : ok))
    const read = await clock.drive(getPrices(transport, () => 18))
    expect(hostsOf(seen)).toEqual(['primary', 'spare'])
    expect(read.host).toBe('http://spare')
    const waited = (seen[1]?.atMs ?? 0) - (failure === 'silence' ? 10_000 : 0)
    expect(waited).toBe(125)
  },
)

test.each(failures)(
  'on a %s the application API is asked again with backoff, at the peer',
  async (_, failure) => {
    const body = fixtureText('orders')
    const { transport, clock, seen } = scriptedTransport((_seen, index) => (index === 0 ? failure : { body }))
    const read = await clock.drive(getOrders(transport, { account }))
    expect(hostsOf(seen)).toEqual(['one', 'two'])
    expect(read.host).toBe('http://two/v1')
    const waited = (seen[1]?.atMs ?? 0) - (failure === 'silence' ? transport.limits.timeoutMs : 0)
    expect(waited).toBe(125)
  },
)

test('backoff is drawn evenly below a bound that doubles', async () => {
  const waits = async (random: number) => {
    const { transport, clock, seen } = scriptedTransport(() => ({ status: 503 }), { random: () => random })
    await clock.drive(failureOf(getPrices(transport, () => 18)))
    return seen.map(({ atMs }) => atMs)
  }
  expect(await waits(0)).toEqual([0, 0, 0, 0])
  expect(await waits(0.999)).toEqual([0, 249.75, 749.25, 1748.25])
})

test('a route with a documented timeout is never waited for longer', async () => {
  const limits = { timeoutMs: 60_000, attempts: 1 }
  const { transport, clock } = scriptedTransport(() => 'silence', { limits })
  const error = await clock.drive(failureOf(getPrices(transport, () => 18)))
  expect(error).toMatchObject({ silence: 'timeout' })
  expect(clock.monotonicMs()).toBe(10_000)
})

test('a hundred strategies cost the venue what one costs', async () => {
  const body = fixtureText('markets-tickers')
  const { transport, clock, seen } = scriptedTransport(() => ({ body }))
  for (let second = 0; second < 10; second++) {
    await Promise.all(Array.from({ length: 100 }, () => getMarketTickers(transport)))
    await clock.advance(1_000)
  }
  expect(seen).toHaveLength(10)
})

test('earnings are shared per account, not between accounts', async () => {
  const body = JSON.parse(fixtureText('gm-user-earnings')) as object
  const { transport, seen } = scriptedTransport(({ url }) => ({
    body: { ...body, account: new URL(url).searchParams.get('account') },
  }))
  await getGmUserEarnings(transport, { account })
  await getGmUserEarnings(transport, { account })
  await getGmUserEarnings(transport, { account: '0x1563915e194D8CfBA1943570603F7606A3115508' })
  expect(seen).toHaveLength(2)
})

function chain(submit: Reply, status: Reply) {
  return scriptedTransport(({ url }, index) => {
    // The first host is down for prepare, so that the chain begins at the second.
    if (index === 0) return { status: 503 }
    if (url.endsWith('/prepare')) return { body: fixtureText('prepare') }
    return url.endsWith('/submit') ? submit : status
  })
}

test.each<readonly [string, Reply, Reply]>([
  ['all is well', { body: fixtureText('submit') }, { body: fixtureText('status') }],
  ['submit is not answered', 'silence', { body: fixtureText('status') }],
  ['submit is answered 503', { status: 503 }, { status: 503 }],
  [
    'status is answered 404',
    { body: fixtureText('submit') },
    { status: 404, body: { message: 'Transaction not found' } },
  ],
])(
  'prepare may change host; then the order chain stays where it was prepared: %s',
  async (_, submit, status) => {
    const { transport, clock, seen } = chain(submit, status)
    const { value: prepared } = await clock.drive(prepareOrder(transport, order))
    expect([prepared.host, hostsOf(seen)]).toEqual(['http://two/v1', ['one', 'two']])
    const quiet = () => {}
    const submission = { from: account, signature, echo: prepared.echo } as const
    await clock.drive(submitOrder(transport, prepared, submission).then(quiet, quiet))
    await clock.drive(getOrderStatus(transport, prepared).then(quiet, quiet))
    expect(new Set(hostsOf(seen.slice(2)))).toEqual(new Set(['two']))
    expect(seen.filter(({ url }) => url.endsWith('/submit'))).toHaveLength(1)
  },
)

test('a resting host is no reason to leave an order chain', async () => {
  const { transport, clock, seen } = chain({ body: fixtureText('submit') }, { body: fixtureText('status') })
  const { value: prepared } = await clock.drive(prepareOrder(transport, order))
  transport.coolDown(prepared.host, 60_000, 'it failed')
  await getOrderStatus(transport, prepared)
  expect(hostsOf(seen).at(-1)).toBe('two')
})

test('a blocking 400 on prepare is not repeated, at the peer neither', async () => {
  const refusal = { code: 'INSUFFICIENT_COLLATERAL', message: 'below the minimum' }
  const { transport, seen } = scriptedTransport(() => ({ status: 400, body: refusal }))
  expect(await failureOf(prepareOrder(transport, order))).toBeInstanceOf(RefusedError)
  expect(seen).toHaveLength(1)
})

const taskId = `0x${'ab'.repeat(32)}`

test('/relay/* may be asked at any host: a status moves on, a submit is sent once', async () => {
  const asking = scriptedTransport((_, index) =>
    index === 0 ? { status: 503 } : { body: { taskId, status: 'executed' } },
  )
  await asking.clock.drive(getRelayStatus(asking.transport, { taskId }))
  expect(hostsOf(asking.seen)).toEqual(['one', 'two'])
  const handing = scriptedTransport(() => ({ status: 503 }))
  const call = { to: account, data: '0x01' } as const
  const error = await handing.clock.drive(failureOf(submitRelay(handing.transport, call)))
  expect(hostsOf(handing.seen)).toEqual(['one'])
  expect(proves(error)).toBe('nothing')
})

test('a 404 right after an accepted submission is transient: it proves nothing', async () => {
  const { transport } = scriptedTransport(() => ({ status: 404, body: { message: 'no relay operation' } }))
  expect(proves(await failureOf(getRelayStatus(transport, { taskId })))).toBe('nothing')
  const ticket: OrderTicket = { host: 'http://one/v1', requestId: 'r-1' }
  expect(proves(await failureOf(getOrderStatus(transport, ticket)))).toBe('nothing')
})

test.each(['unknown', 'paused'])('a relay status of %s is inconclusive, not failed', async (word) => {
  const { transport } = scriptedTransport(() => ({ body: { taskId, status: word } }))
  const { status } = (await getRelayStatus(transport, { taskId })).value
  expect(status).toBe(word === 'unknown' ? 'unknown' : 'unrecognised')
})

test('a reverted operation keeps its reason and the chain’s revert bytes', async () => {
  const body = { taskId, status: 'reverted', reason: 'paused', revertData: '0x3044992f' }
  const { transport } = scriptedTransport(() => ({ body }))
  expect((await getRelayStatus(transport, { taskId })).value).toEqual(body)
})

const room = JSON.parse(fixtureText('trading-capacity')) as Record<string, unknown>

test('too little liquidity blocks a market increase and warns of a resting one, with the same numbers', async () => {
  const said = { code: 'INSUFFICIENT_LIQUIDITY', message: 'too large' }
  const details = { ...room, requestedSizeUsd: '7' }
  const blocked = scriptedTransport(() => ({ status: 400, body: { ...said, details } }))
  const refusal = await failureOf(prepareOrder(blocked.transport, order))
  const prepared = { ...JSON.parse(fixtureText('prepare')), validationWarnings: [{ ...said, details }] }
  const warned = scriptedTransport(() => ({ body: prepared }))
  const [warning] = (await prepareOrder(warned.transport, order)).value.validationWarnings
  const shortfall = liquidityShortfall(refusal as RefusedError)
  expect(shortfall).toMatchObject({
    requestedSizeUsd: 7n,
    capacity: { availableLiquidity: BigInt(String(room.availableLiquidity)) },
  })
  expect(warning && liquidityShortfall(warning)).toEqual(shortfall)
  expect(liquidityShortfall({ ...said, details: { requestedSizeUsd: '7' } })).toBeUndefined()
  expect(liquidityShortfall({ code: 'OTHER', message: '', details })).toBeUndefined()
})

test('why the capacity could not be checked is one of four reasons, or unrecognised', () => {
  const reasonOf = (details: unknown, code = 'TRADING_CAPACITY_UNAVAILABLE') =>
    capacityUnavailableReason({ code, details })
  for (const reason of [
    'STALE_MARKET_DATA',
    'JIT_DATA_UNAVAILABLE',
    'JIT_ACCOUNT_ELIGIBILITY_UNKNOWN',
    'COLLATERAL_SWAP',
  ]) {
    expect(reasonOf({ reason })).toBe(reason)
  }
  expect([reasonOf({ reason: 'MOON' }), reasonOf({}), reasonOf(undefined), reasonOf({ reason: 1 })]).toEqual(
    Array(4).fill('unrecognised'),
  )
  expect(reasonOf({ reason: 'COLLATERAL_SWAP' }, 'OTHER')).toBeUndefined()
})

test('the types keep an order from another host, an edit from being empty, a status from being moved', () => {
  // @ts-expect-error a ticket names the host that prepared
  const ticket: OrderTicket = { requestId: 'r-1' }
  // @ts-expect-error an edit changes something
  const edit: EditRequest = { from: account, orderKeys: [`0x${'0b'.repeat(32)}`] }
  const moving = (to: Parameters<typeof getOrderStatus>[0]) =>
    // @ts-expect-error the host is the ticket's
    getOrderStatus(to, { host: 'http://one/v1', requestId: 'r-1' }, { host: 'http://two/v1' })
  expect([ticket, edit, moving]).toHaveLength(3)
})
