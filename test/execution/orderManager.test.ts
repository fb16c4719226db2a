/** The road against the paper venue in this process, on a clock that the test moves. */
import { expect, test } from 'vitest'
import { RequestFailed } from '../../src/api/transport/requestFailed.ts'
import { RECORD_VERSION } from '../../src/domain/accountRecords/recordVersion.ts'
import type { Event } from '../../src/domain/event.ts'
import { type Intent, labelOf } from '../../src/domain/order/intent.ts'
import { createOrderManager, type OrderManager } from '../../src/execution/orderManager.ts'
import type { Journal } from '../../src/journal/journal.ts'
import { createMemoryJournal } from '../../src/journal/memory.ts'
import { createLocalSigner } from '../../src/keys/local.ts'
import { usd } from '../../src/protocol/units.ts'
import { ethMarket, intentOf } from '../support/intents.ts'
import { signingPolicy, testExecution } from '../support/trader.ts'
import { type Between, settle, type VenueBench, venueBench } from '../support/venue.ts'

const signer = createLocalSigner(`0x${'11'.repeat(32)}`)

interface Bench extends VenueBench {
  readonly journal: Journal
  readonly orderManager: OrderManager
  readonly events: Event[]
  readonly signatures: { count: number }
  /** A shell of a new process over the same journal. */
  restart(): OrderManager
}

async function bench(between?: Between): Promise<Bench> {
  const venue = venueBench({
    settings: { orderDeadlineSeconds: 60, keeperJitterMs: 0 },
    ...(between === undefined ? {} : { between }),
  })
  const journal = createMemoryJournal()
  const events: Event[] = []
  const signatures = { count: 0 }
  const context = testExecution({
    api: venue.api,
    clock: venue.clock,
    journal,
    signer: {
      address: signer.address,
      sign: (request) => {
        signatures.count += 1
        return signer.sign(request)
      },
    },
    emit: (event) => void events.push(event),
    signingPolicy: () => ({ ...signingPolicy, priceToleranceBps: 100 }),
  })
  return {
    ...venue,
    journal,
    orderManager: createOrderManager(context),
    events,
    signatures,
    restart: () => createOrderManager(context),
  }
}

async function increase({ api, clock }: Bench): Promise<Intent> {
  const ticker = (await api.getMarketTickers({ addresses: [ethMarket] })).value[0]
  const base = intentOf()
  return intentOf({
    account: signer.address,
    terms: { ...base.terms, referencePrice: ticker?.maxPrice ?? usd(0) },
    acceptedAtMs: clock.now(),
    expiresAtMs: clock.now() + 30_000,
  })
}

const labels = (events: readonly Event[]) =>
  events.flatMap((event) => (event.type === 'order.moved' ? [event.to] : []))

function submitsTo(answer: (next: () => Promise<unknown>) => Promise<never>): Between {
  return async (url, init, next) => {
    if (!url.endsWith('/orders/txns/submit')) return next(url, init)
    return answer(() => next(url, init))
  }
}

test('a market order is prepared, verified, signed, sent once and executed', async () => {
  const world = await bench()
  const intent = await increase(world)
  expect(await world.orderManager.accept(intent)).toBe(true)
  await world.clock.advance(10_000)
  expect(labels(world.events)).toEqual(['planned', 'pending', 'executed'])
  expect(world.venue.record()).toHaveLength(1)
  expect(world.signatures.count).toBe(1)
  expect(world.orderManager.open()).toEqual([])
  expect(world.orderManager.recentlyLanded()).toHaveLength(1)
  const [position] = (await world.api.getPositions({ account: signer.address })).value
  expect(position?.sizeInUsd).toBe(usd(500))
})

test('the same intent is accepted once', async () => {
  const world = await bench()
  const intent = await increase(world)
  const both = await Promise.all([world.orderManager.accept(intent), world.orderManager.accept(intent)])
  expect(both).toEqual([true, false])
  await world.clock.advance(10_000)
  expect(world.venue.record()).toHaveLength(1)
})

test('acceptance and the first attempt are durable together', async () => {
  const world = await bench()
  const intent = await increase(world)
  const written = async () => (await world.journal.records(intent.intentId)).map(({ record }) => record.kind)
  await world.orderManager.accept(intent)
  expect(await written()).toEqual(['intent.accepted', 'attempt.preparing'])
})

test('a decision of an earlier process is not taken again, and its story is not gone on with', async () => {
  const world = await bench()
  const intent = await increase(world)
  await world.journal.append({
    v: RECORD_VERSION,
    kind: 'intent.accepted',
    atMs: world.clock.now(),
    intentId: intent.intentId,
    intent,
  })
  expect(await world.restart().accept(intent)).toBe(false)
  await world.clock.advance(10_000)
  expect(await world.journal.records(intent.intentId)).toHaveLength(1)
  expect(world.venue.record()).toEqual([])
})

test('no byte left: the order is refused, and was not sent', async () => {
  const world = await bench(
    submitsTo(async () => {
      throw new RequestFailed('connect ECONNREFUSED', { sent: 'no' })
    }),
  )
  const intent = await increase(world)
  await world.orderManager.accept(intent)
  await world.clock.advance(10_000)
  expect(world.venue.record()).toEqual([])
  expect(world.journal.recentIntent(intent.intentId)?.closing).toMatchObject({
    outcome: 'REFUSED_LOCAL',
    code: 'NOT_SENT',
  })
})

test('a 503 after the work was done is unknown and closes as executed, with one submit', async () => {
  const world = await bench()
  world.venue.faults.submit = '503-after-work'
  await world.orderManager.accept(await increase(world))
  await settle()
  expect(labels(world.events).at(-1)).toBe('unknown')
  await world.clock.advance(15_000)
  expect(labels(world.events).at(-1)).toBe('executed')
  expect(world.venue.record()).toHaveLength(1)
})

test('a 500 before the work was done stays unknown until the deadline has passed by the venue clock', async () => {
  const world = await bench()
  world.venue.faults.submit = '500-before-work'
  await world.orderManager.accept(await increase(world))
  await world.clock.advance(60_000)
  expect(labels(world.events)).toEqual(['planned', 'pending', 'unknown'])
  await world.clock.advance(20_000)
  expect(labels(world.events).at(-1)).toBe('expired')
  expect(world.venue.record()).toHaveLength(1)
})

test('an intent that waits for its host is given up when its time has run, though the clock is set back by a day', async () => {
  const world = await bench(async (url, init, next) => {
    if (!url.endsWith('/orders/txns/prepare')) return next(url, init)
    throw new TypeError('fetch failed')
  })
  await world.orderManager.accept(await increase(world))
  await world.clock.advance(5_000)
  world.clock.setBack(86_400_000)
  await world.clock.advance(5_000)
  expect(labels(world.events).at(-1)).toBe('planned')
  await world.clock.advance(30_000)
  expect(world.orderManager.open()).toEqual([])
  expect(world.signatures.count).toBe(0)
})

test('a connection that broke off is unknown, and a restart neither sends nor forgets', async () => {
  let isCut = true
  const world = await bench(async (url, init, next) => {
    const answer = await next(url, init)
    if (isCut && url.endsWith('/orders/txns/submit'))
      throw new RequestFailed('socket hang up', { sent: 'maybe' })
    return answer
  })
  const intent = await increase(world)
  await world.orderManager.accept(intent)
  await settle()
  expect(labels(world.events).at(-1)).toBe('unknown')
  await world.orderManager.stop()
  isCut = false
  const second = world.restart()
  second.restore(world.journal.openIntents(), [])
  await second.recover()
  await world.clock.advance(15_000)
  const state = world.journal.recentIntent(intent.intentId)
  expect(state && labelOf(state)).toBe('executed')
  expect(world.venue.record()).toHaveLength(1)
})

test('a host that is silent on prepare is left for its peer, and nothing is signed twice', async () => {
  const asked: string[] = []
  const world = await bench(async (url, init, next) => {
    if (!url.endsWith('/orders/txns/prepare')) return next(url, init)
    asked.push(url)
    if (asked.length <= 2) throw new RequestFailed('connect ECONNREFUSED', { sent: 'no' })
    return next(url, init)
  })
  await world.orderManager.accept(await increase(world))
  await world.clock.advance(20_000)
  expect(new Set(asked).size).toBe(2)
  expect(labels(world.events).at(-1)).toBe('executed')
  expect(world.signatures.count).toBe(1)
})

test('a payload with a foreign receiver never reaches the key', async () => {
  const world = await bench()
  world.venue.faults.prepare = 'foreign-receiver'
  await world.orderManager.accept(await increase(world))
  await world.clock.advance(5_000)
  expect(labels(world.events).at(-1)).toBe('refused')
  expect(world.signatures.count).toBe(0)
  expect(world.venue.record()).toEqual([])
})

test('an increase that the venue warns about is dropped before it is signed', async () => {
  const world = await bench(async (url, init, next) => {
    const answer = await next(url, init)
    if (!url.endsWith('/orders/txns/prepare')) return answer
    const body = JSON.parse(await answer.text()) as Record<string, unknown>
    body.validationWarnings = [
      { code: 'TRADING_CAPACITY_UNAVAILABLE', message: 'stale', details: { reason: 'STALE_MARKET_DATA' } },
    ]
    return { status: answer.status, headers: answer.headers, text: async () => JSON.stringify(body) }
  })
  const intent = await increase(world)
  await world.orderManager.accept(intent)
  await world.clock.advance(5_000)
  expect(world.journal.recentIntent(intent.intentId)?.closing).toMatchObject({ code: 'PREPARE_WARNED' })
  expect(world.signatures.count).toBe(0)
  expect(world.events.some(({ type }) => type === 'order.warned')).toBe(true)
})

test('a blocking 400 is not repeated', async () => {
  const asked = { count: 0 }
  const world = await bench(async (url, init, next) => {
    if (url.endsWith('/orders/txns/prepare')) asked.count += 1
    return next(url, init)
  })
  const intent = await increase(world)
  const terms = { ...intent.terms, sizeDeltaUsd: (usd(10) ** 2n / usd(1)) * 10n ** 10n }
  await world.orderManager.accept({ ...intent, terms })
  await world.clock.advance(5_000)
  expect(asked.count).toBe(1)
  expect(world.journal.recentIntent(intent.intentId)?.closing).toMatchObject({ outcome: 'REFUSED_LOCAL' })
})

test.each([
  ['decrease that leaves its collateral', 'decrease', 200, 300, false],
  ['decrease that keeps leverage', 'decrease', 200, 300, true],
  ['close', 'close', 500, 0, false],
] as const)('a %s walks the same road', async (_what, kind, sizeUsd, leftUsd, keepLeverage) => {
  const world = await bench()
  const opened = await increase(world)
  await world.orderManager.accept(opened)
  await world.clock.advance(10_000)
  const ticker = (await world.api.getMarketTickers({ addresses: [ethMarket] })).value[0]
  const { terms } = opened
  const [held] = (await world.api.getPositions({ account: signer.address })).value
  const share = ((held?.collateralAmount ?? 0n) * BigInt(sizeUsd)) / 500n + 1n
  const intent: Intent = {
    ...opened,
    intentId: 'f00d00000000000000000002',
    decisionKey: 'eth-trend@2027-01-15T08:00:10.000Z#0',
    kind,
    decision: { ...opened.decision, kind, keepLeverage } as Intent['decision'],
    terms: {
      ...terms,
      sizeDeltaUsd: usd(sizeUsd),
      collateralDelta: keepLeverage ? share : 0n,
      keepLeverage,
      referencePrice: ticker?.minPrice ?? 0n,
    },
    reservationUsd: 0n,
    acceptedAtMs: world.clock.now(),
    expiresAtMs: world.clock.now() + 30_000,
  }
  await world.orderManager.accept(intent)
  await world.clock.advance(10_000)
  const closing = world.journal.recentIntent(intent.intentId)?.closing
  expect(closing).toMatchObject({ outcome: 'EXECUTED', settlement: { sizeDeltaUsd: usd(sizeUsd) } })
  expect(typeof closing?.settlement?.pnlUsd).toBe('bigint')
  const positions = (await world.api.getPositions({ account: signer.address })).value
  expect(positions.map(({ sizeInUsd }) => sizeInUsd)).toEqual(leftUsd === 0 ? [] : [usd(leftUsd)])
})

test('an answer that comes after the stop is left to the next start', async () => {
  const late = Promise.withResolvers<void>()
  const world = await bench(async (url, init, next) => {
    const answer = await next(url, init)
    if (url.endsWith('/orders/txns/submit')) await late.promise
    return answer
  })
  const intent = await increase(world)
  await world.orderManager.accept(intent)
  await settle()
  await world.orderManager.stop()
  await world.journal.close()
  late.resolve()
  await settle()
  expect((await world.journal.records(intent.intentId)).at(-1)?.record.kind).toBe('attempt.armed')
})

test('what an operator calls executed is remembered as a fill that lists may not show yet', async () => {
  const world = await bench(async (url, init, next) => {
    if (url.endsWith('/orders/txns/submit')) throw new TypeError('fetch failed')
    return next(url, init)
  })
  const [executed, dead] = [await increase(world), await increase(world)]
  await world.orderManager.accept(executed)
  await world.orderManager.accept({
    ...dead,
    intentId: `${dead.intentId.slice(0, -1)}e`,
    decisionKey: 'other',
  })
  await world.clock.advance(2_000)
  const open = world.orderManager.open().map(({ state }) => state.intent.intentId)
  expect(open).toHaveLength(2)
  expect(await world.orderManager.resolve(open[0] ?? '', 'executed', 'ann')).toBe(true)
  expect(await world.orderManager.resolve(open[1] ?? '', 'dead', 'ann')).toBe(true)
  expect(world.orderManager.recentlyLanded().map(({ intent }) => intent.intentId)).toEqual([open[0]])
  world.clock.setBack(3_600_000)
  await world.clock.advance(5_000)
  expect(world.orderManager.closedAgoMs(open[0] ?? '')).toBe(5_000)
  expect(world.orderManager.closedAgoMs(open[1] ?? '')).toBe(Number.POSITIVE_INFINITY)
})

test('two looks of one moment never give one order to two intents', async () => {
  let first: { readonly url: string; readonly init: Parameters<Between>[1] } | undefined
  const there = await bench(async (url, init, next) => {
    if (!url.endsWith('/orders/txns/status')) return next(url, init)
    // Hosts that mix up two requests: whichever is asked for, they tell of the first in its name.
    first ??= { url, init }
    const answer = await next(first.url, first.init)
    const told = JSON.parse(await answer.text()) as object
    const { requestId } = JSON.parse(String(init.body)) as { readonly requestId: string }
    return {
      status: answer.status,
      headers: answer.headers,
      text: async () => JSON.stringify({ ...told, requestId }),
    }
  })
  // As a disk does, the journal takes its time: neither landing is durable when the other is judged.
  const append = there.journal.append.bind(there.journal)
  there.journal.append = async (record) => {
    if (record.kind === 'landed') await settle(100)
    return append(record)
  }
  const one = await increase(there)
  const twin = { ...one, intentId: 'twin', decisionKey: 'twin#0', strategy: 'twin' }
  await Promise.all([there.orderManager.accept(one), there.orderManager.accept(twin)])
  await there.clock.advance(20_000)
  const states = [one, twin].map(({ intentId }) => there.journal.recentIntent(intentId))
  const keys = states.flatMap((state) => state?.attempts.flatMap(({ children }) => children) ?? [])
  expect(keys).toHaveLength(1)
  expect(states.filter((state) => state?.closing?.outcome === 'EXECUTED')).toHaveLength(1)
  // The other's order is there too; what its host says of it shows nothing, and it holds its reservation.
  expect(states.filter((state) => state?.closing === undefined)).toHaveLength(1)
  const positions = (await there.api.getPositions({ account: signer.address })).value
  expect(positions.map(({ sizeInUsd }) => sizeInUsd)).toEqual([usd(1_000)])
})
