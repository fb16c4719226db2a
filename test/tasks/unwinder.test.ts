/** Orders that are to be unwound, over the running engine, with the paper venue in this process. */
import { afterEach, expect, test } from 'vitest'
import type { Engine } from '../../src/daemon/engine.ts'
import type { Event } from '../../src/domain/event.ts'
import type { IntentState } from '../../src/domain/order/intent.ts'
import type { Journal } from '../../src/journal/journal.ts'
import { applyFaults, type Faults } from '../../src/paper/venue/venueFaults.ts'
import { usd } from '../../src/protocol/units.ts'
import type { LoadedStrategy } from '../../src/strategy/files/load.ts'
import { collateralTokenOf, defineStrategy, type StrategyView, z } from '../../src/strategy/strategy.ts'
import type { StrategyDecision } from '../../src/strategy/strategyDecision.ts'
import { loadedOf } from '../support/loaded.ts'
import { testSigner, testTrader } from '../support/trader.ts'
import { type Between, type VenueBench, venueBench } from '../support/venue.ts'

const symbol = 'ETH/USD [WETH-USDC]'
type Decide = (view: StrategyView) => readonly StrategyDecision[]

/** An instance that decisions what the test says, every second. */
function instance(name: string, decide: Decide): LoadedStrategy {
  const strategy = defineStrategy({
    kind: name,
    description: 'Wishes what the test says.',
    params: z.strictObject({}),
    needs: (_params, symbols) => ({ symbols }),
    decide,
  })
  return loadedOf(strategy, name, [symbol], { cadenceMs: 1_000 })
}

interface World extends VenueBench {
  readonly engine: Engine
  readonly journal: Journal
  readonly events: readonly Event[]
  set(faults: Partial<Faults>): void
}

const running: Engine[] = []
afterEach(() => {
  for (const engine of running.splice(0)) engine.abort()
})

function world(
  strategies: readonly LoadedStrategy[],
  options: { readonly bench?: VenueBench; readonly journal?: Journal; readonly between?: Between } = {},
): World {
  const bench =
    options.bench ??
    venueBench({
      settings: { orderDeadlineSeconds: 60, keeperJitterMs: 0 },
      ...(options.between === undefined ? {} : { between: options.between }),
    })
  const {
    trader: engine,
    journal,
    events,
  } = testTrader({
    ...bench,
    strategies,
    ...(options.journal === undefined ? {} : { journal: options.journal }),
    settings: { execution: { statusPollMaxMs: 2_000 } },
  })
  running.push(engine)
  const set = (faults: Partial<Faults>): void => {
    const wrong = applyFaults(bench.venue.faults, faults)
    if (wrong !== undefined) throw new Error(wrong)
  }
  return { ...bench, engine, journal, events, set }
}

function increase(view: StrategyView, more: object = {}): StrategyDecision[] {
  const market = view.market(symbol)
  if (market === undefined) return []
  return [
    {
      kind: 'increase',
      marketToken: market.market.marketToken,
      direction: 'long',
      sizeDeltaUsd: usd(500),
      leverageBps: 50_000,
      collateralToken: collateralTokenOf(market, 'short'),
      reason: 'the test wishes it',
      ...more,
    },
  ]
}

/** Decisions once for all processes of one test. */
function once(more: (view: StrategyView) => object = () => ({})): Decide {
  let isDone = false
  return (view) => {
    if (isDone) return []
    isDone = true
    return increase(view, more(view))
  }
}

const below = (view: StrategyView): object => {
  const price = view.market(symbol)?.oraclePrice?.value.medianPrice ?? 0n
  return { orderType: 'limit', triggerPrice: (price * 7n) / 10n }
}

const of = ({ journal }: World, strategy: string): readonly IntentState[] =>
  journal.recentIntents({ strategy }).toReversed()
const sizes = async ({ api }: World): Promise<readonly bigint[]> =>
  (await api.getPositions({ account: testSigner.address })).value.map(({ sizeInUsd }) => sizeInUsd)
const unwind = ({ engine }: World, intentId: string) =>
  engine.operate(
    { type: 'unwind', intentId, reason: 'the test does not want it' },
    { by: 'ann', via: 'control' },
  )
const ends = ({ events }: World) =>
  events.flatMap((event) => (event.type === 'unwind.ended' ? [`${event.outcome}: ${event.statement}`] : []))

/** An order of `late` that its keeper leaves waiting, beside a position that another strategy holds. */
async function lateOrder(): Promise<{ readonly there: World; readonly intentId: string }> {
  const late = once()
  let isTime = false
  const there = world([instance('holder', once()), instance('late', (view) => (isTime ? late(view) : []))])
  await there.engine.start()
  await there.clock.advance(15_000)
  there.set({ keeperExtraDelayMs: 20_000 })
  isTime = true
  await there.clock.advance(5_000)
  const [order] = of(there, 'late')
  if (order === undefined) throw new Error('nothing was made')
  expect([order.closing, await sizes(there)]).toEqual([undefined, [usd(500)]])
  return { there, intentId: order.intent.intentId }
}

test('what an unwanted order opened is closed when it executed, once, and nothing else of the position', async () => {
  const { there, intentId } = await lateOrder()
  expect(await unwind(there, intentId.slice(0, 8))).toEqual({
    ok: true,
    statement: `${intentId} (increase long ${symbol}) will be unwound: if it lands, perpd closes what it opens; by ann`,
  })
  expect(there.engine.status()).toMatchObject({ unwinds: [{ intentId, by: 'ann' }] })
  expect((await there.engine.intents())[0]).toMatchObject({ unwantedBy: 'ann' })
  // It stays the account's exposure until it is proven; nothing is done that would be wrong if it never lands.
  await there.clock.advance(5_000)
  expect(of(there, '@operator')).toEqual([])
  there.set({ keeperExtraDelayMs: 0 })
  await there.clock.advance(60_000)
  expect(await sizes(there)).toEqual([usd(500)])
  const made = of(there, '@operator')
  expect(made.map(({ intent, closing }) => [intent.decisionKey, intent.kind, closing?.outcome])).toEqual([
    [`unwind:${intentId}`, 'decrease', 'EXECUTED'],
  ])
  expect(made[0]?.intent.terms).toMatchObject({ sizeDeltaUsd: usd(500), keepLeverage: true })
  expect(ends(there)).toEqual(['flat: the long of $500.00 that it opened is closed'])
  expect(there.engine.status().unwinds).toEqual([])
})

test('it happens once however often the daemon is started anew, at every second of it', async () => {
  const { there: first, intentId } = await lateOrder()
  await unwind(first, intentId)
  first.set({ keeperExtraDelayMs: 2_000 })
  let there = first
  for (let start = 0; start < 40; start += 1) {
    there.engine.abort()
    there = world([], { bench: first, journal: first.journal })
    await there.engine.start()
    await there.clock.advance(1_300)
  }
  await there.clock.advance(40_000)
  expect(of(there, '@operator').map(({ intent }) => intent.decisionKey)).toEqual([`unwind:${intentId}`])
  expect(await sizes(there)).toEqual([usd(500)])
  expect(there.engine.status().unwinds).toEqual([])
})

test('what of an unwanted order rests is cancelled, in a halt too', async () => {
  const there = world([instance('late', once(below))])
  await there.engine.start()
  await there.clock.advance(15_000)
  const [order] = of(there, 'late')
  const intentId = order?.intent.intentId ?? ''
  expect(there.engine.status().openIntents).toMatchObject([{ label: 'resting' }])
  await there.engine.operate(
    { type: 'trading', scope: 'global', state: 'halted', reason: 'x' },
    { by: 'ann', via: 'control' },
  )
  await unwind(there, intentId)
  await there.clock.advance(30_000)
  expect(of(there, '@operator').map(({ intent }) => [intent.decisionKey, intent.kind])).toEqual([
    [`unwind-cancel:${intentId}`, 'cancel'],
  ])
  expect((await there.api.getOrders({ account: testSigner.address })).value).toEqual([])
  expect(ends(there)).toEqual([expect.stringMatching(/^nothing-landed: it opened nothing: /)])
})

test('nothing is done for an order that never lands', async () => {
  const there = world([instance('late', once())])
  there.set({ relay: 'never-lands' })
  await there.engine.start()
  await there.clock.advance(5_000)
  const intentId = of(there, 'late')[0]?.intent.intentId ?? ''
  await unwind(there, intentId)
  await there.clock.advance(150_000)
  expect(of(there, 'late')[0]?.closing?.outcome).toBe('DEAD')
  expect(of(there, '@operator')).toEqual([])
  expect(ends(there)).toEqual([expect.stringMatching(/^nothing-landed: it opened nothing: /)])
})

test('an order that is not signed yet when nobody wants it any more is not signed', async () => {
  const held = Promise.withResolvers<void>()
  const there = world([instance('late', once())], {
    between: async (url, init, next) => {
      if (url.includes('/prepare')) await held.promise
      return next(url, init)
    },
  })
  await there.engine.start()
  await there.clock.advance(1_000)
  const intentId = of(there, 'late')[0]?.intent.intentId ?? ''
  await unwind(there, intentId)
  held.resolve()
  await there.clock.advance(5_000)
  expect(of(there, 'late')[0]?.closing).toMatchObject({ outcome: 'REFUSED_LOCAL', code: 'NOT_WANTED' })
  expect(there.venue.record()).toEqual([])
  expect(ends(there)).toHaveLength(1)
})

test('a close that the keeper cancels is tried again when that is proven, and given up loudly after five times', async () => {
  const { there, intentId } = await lateOrder()
  await unwind(there, intentId)
  while (of(there, 'late')[0]?.closing === undefined) await there.clock.advance(250)
  there.set({ keeperExtraDelayMs: 0, keeperFails: 'OrderNotFulfillableAtAcceptablePrice' })
  await there.clock.advance(150_000)
  const made = of(there, '@operator')
  expect(made.map(({ intent, closing }) => [intent.decisionKey, closing?.outcome])).toEqual(
    ['', '#2', '#3', '#4', '#5'].map((ending) => [`unwind:${intentId}${ending}`, 'CANCELLED']),
  )
  // One at a time: each begins after the one before it is proven to have had no effect.
  for (const [index, { intent }] of made.entries()) {
    expect(intent.acceptedAtMs).toBeGreaterThanOrEqual(made[index - 1]?.closedAtMs ?? 0)
  }
  expect(await sizes(there)).toEqual([usd(1_000)])
  expect(ends(there)).toEqual(['given-up: closing the long of $500.00 that it opened failed 5 times'])
})

test('a strategy undoes an order of its own that it sees unresolved, and no other’s', async () => {
  const asks: StrategyDecision[] = []
  const wish = once()
  let intentId = ''
  const there = world([
    instance('late', (view) => {
      const doubtful = view.openIntents.find(({ isUnresolved, isUnwanted }) => isUnresolved && !isUnwanted)
      if (doubtful === undefined) return wish(view)
      return [{ kind: 'unwind', intentId: doubtful.intentId, reason: 'it took too long' }]
    }),
    instance('other', () => asks.splice(0)),
  ])
  there.set({ status: 'unavailable' })
  await there.engine.start()
  await there.clock.advance(1_500)
  intentId = of(there, 'late')[0]?.intent.intentId ?? ''
  asks.push(
    { kind: 'unwind', intentId, reason: 'it is not mine' },
    { kind: 'unwind', intentId: 'beef', reason: 'there is none' },
    { kind: 'unwind', intentId, reason: '' },
  )
  await there.clock.advance(5_000)
  there.set({ status: 'none' })
  await there.clock.advance(60_000)
  expect(
    there.events.flatMap((event) =>
      event.type === 'decision.denied' || event.type === 'decision.invalid' ? [event.denial.code] : [],
    ),
  ).toEqual(['ORDER_NOT_OWN', 'ORDER_NOT_FOUND', 'DECISION_INVALID'])
  expect(there.events.filter(({ type }) => type === 'unwind.requested')).toMatchObject([
    { by: 'late', reason: 'it took too long', intent: { intentId } },
  ])
  expect(of(there, '@operator').map(({ intent }) => [intent.decisionKey, intent.kind])).toEqual([
    [`unwind:${intentId}`, 'close'],
  ])
  expect(await sizes(there)).toEqual([])
})

test('a position that went away by itself is not reduced', async () => {
  const wish = once()
  let isClosing = false
  const there = world([
    instance('late', (view) => {
      if (!isClosing || view.positions(symbol).length === 0) return wish(view)
      return view.positions(symbol).map(({ marketToken, direction, collateralToken }) => ({
        kind: 'close' as const,
        marketToken,
        direction,
        collateralToken,
        reason: 'the strategy closes it itself',
      }))
    }),
  ])
  there.set({ keeperExtraDelayMs: 3_000 })
  await there.engine.start()
  await there.clock.advance(2_000)
  await unwind(there, of(there, 'late')[0]?.intent.intentId ?? '')
  there.set({ keeperExtraDelayMs: 0 })
  isClosing = true
  await there.clock.advance(90_000)
  expect(await sizes(there)).toEqual([])
  const closes = [...of(there, 'late'), ...of(there, '@operator')].filter(
    ({ intent }) => intent.kind === 'close',
  )
  expect(closes.filter(({ closing }) => closing?.outcome === 'EXECUTED')).toHaveLength(1)
  expect(ends(there)).toEqual([expect.stringMatching(/^flat: the long of \$500.00 that it opened /)])
})

test('an order that is over, or that is none, is refused', async () => {
  const there = world([instance('late', once())])
  await there.engine.start()
  await there.clock.advance(20_000)
  const [order] = of(there, 'late')
  expect(order?.closing?.outcome).toBe('EXECUTED')
  const answer = await unwind(there, order?.intent.intentId ?? '')
  expect(answer).toMatchObject({ ok: false, code: 'ORDER_NOT_FOUND' })
  expect(await sizes(there)).toEqual([usd(500)])
})
