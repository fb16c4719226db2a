/** Answers that turns of many strategies share are made once, and equal those that are made anew each time. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createHoldings, type HoldingsContext } from '../../src/account/holdings/holdings.ts'
import { lastSides } from '../../src/account/holdings/lastSides.ts'
import { createLiveLimits, type LiveLimits } from '../../src/account/liveLimits.ts'
import { lastChanges } from '../../src/account/watch/lastChanges.ts'
import { filteredTickers } from '../../src/api/markets/tickerFilters.ts'
import { fillsOf } from '../../src/domain/accountRecords/fills.ts'
import { journalSides } from '../../src/domain/accountRecords/held.ts'
import type { Limits } from '../../src/domain/limits/limits.ts'
import type { Child, IntentState } from '../../src/domain/order/intent.ts'
import type { EditTerms } from '../../src/domain/order/orderTerms.ts'
import { createLedger } from '../../src/journal/journalLedger.ts'
import type { Hex } from '../../src/protocol/address.ts'
import type { Ticker } from '../../src/protocol/market.ts'
import { usd } from '../../src/protocol/units.ts'
import { storyOf } from '../journal/story.ts'
import { order, position } from '../risk/world.ts'
import { account, armedFacts, ethMarket, intentOf, orderKey, startMs, usdc } from '../support/intents.ts'
import { manualClock } from '../support/venue.ts'

const limits = fc.record(
  {
    maxOrderSizeUsd: fc.bigInt(1n, 9n),
    maxPositionSizeUsd: fc.bigInt(1n, 9n),
    maxLossPerDayUsd: fc.bigInt(1n, 9n),
    maxSlippageBps: fc.integer({ min: 1, max: 9 }),
    maxOrdersPerHour: fc.integer({ min: 1, max: 9 }),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<Limits>
const configured = fc
  .record({ account: limits, m: limits, n: limits, a: limits, b: limits })
  .map(({ account, m, n, a, b }) => ({
    account,
    markets: { m, n },
    strategies: { a, b },
    breakers: { sets: {} },
  }))

test('limits that are asked again are those of limits that nobody asked before, whatever was taken over between', () => {
  const step = fc.oneof(
    fc.tuple(fc.constant('replace' as const), configured, fc.boolean()),
    fc.tuple(fc.constant('run' as const), fc.constantFrom('a', 'b'), fc.option(limits, { nil: undefined })),
  )
  fc.assert(
    fc.property(configured, fc.array(step, { maxLength: 6 }), (first, steps) => {
      const live = createLiveLimits(first)
      const answersOf = (asked: LiveLimits, symbol: string | undefined, name: string) => [
        [symbol, name],
        [asked.on(symbol, name), asked.ownOn(name), asked.countedOn(symbol)],
      ]
      const askAll = () =>
        [undefined, 'm', 'n'].flatMap((symbol) => ['a', 'b'].map((name) => answersOf(live, symbol, name)))
      const askAnew = () =>
        [undefined, 'm', 'n'].flatMap((symbol) =>
          ['a', 'b'].map((name) => answersOf(createLiveLimits(live.current()), symbol, name)),
        )
      for (const [kind, ...given] of steps) {
        expect(askAll()).toEqual(askAnew())
        if (kind === 'replace') live.replace(...(given as Parameters<typeof live.replace>))
        else live.run(...(given as Parameters<typeof live.run>))
      }
      expect(askAll()).toEqual(askAnew())
      expect(askAll()).toEqual(askAnew())
    }),
    { seed: 36, numRuns: 100 },
  )
})

const stateOf = (size: bigint, phase: Child['phase']): IntentState => ({
  intent: intentOf(),
  attempts: [
    {
      n: 1,
      lane: 'order-chain',
      host: 'http://127.0.0.1:1/v1',
      phase: 'LANDED',
      armed: armedFacts(),
      children: [
        { index: 0, orderKey, phase, role: 'main', settlement: { sizeDeltaUsd: usd(Number(size)) } },
      ],
    },
  ],
  updatedAtMs: startMs,
})
const side = { marketToken: ethMarket, direction: 'long', collateralToken: usdc } as const
const fill = (size: number) => ({ ...side, sizeDeltaUsd: usd(size) })

test('sizes by the journal that are asked again change with every fill, every order and every discrepancy', () => {
  const pool = {
    fills: [fill(1), fill(2), fill(3)],
    states: [stateOf(10n, 'EXECUTED'), stateOf(20n, 'OPEN'), stateOf(40n, 'EXECUTED')],
    discrepancies: [new Map(), new Map()],
  }
  const pick = fc.record({
    closed: fc.subarray(pool.fills),
    open: fc.subarray(pool.states),
    discrepancies: fc.constantFrom(...pool.discrepancies),
  })
  fc.assert(
    fc.property(fc.array(pick, { minLength: 1, maxLength: 8 }), (asked) => {
      const sidesOf = lastSides()
      for (const { closed, open, discrepancies } of asked)
        for (const _ of [1, 2])
          expect(sidesOf([...closed], [...open], { discrepancies })).toEqual(
            journalSides([...closed, ...open.flatMap(fillsOf)], { discrepancies }),
          )
    }),
    { seed: 36, numRuns: 200 },
  )
})

test('changes of orders that are asked again are there from the record that closes them, and of the list that is asked alone', () => {
  const ledger = createLedger()
  const changesOf = lastChanges(ledger)
  const make = (n: number) => {
    const maker = storyOf(n)
    const records = [maker.accepted(), maker.preparing(), maker.armed(), maker.sent(), maker.landed()]
    for (const record of records) ledger.fold(record)
    const state = ledger.state(maker.intentId)
    const made = state?.attempts[0]?.children[0]?.orderKey
    if (state === undefined || made === undefined) throw new Error('it landed with an order')
    return { state, made }
  }
  const change = (n: number, changed: Hex, sizeDeltaUsd: bigint) => {
    const edit = storyOf(n, {
      kind: 'edit',
      terms: { ...storyOf(n).intent.terms, edit: { orderKey: changed } as EditTerms },
    })
    const update = { key: changed, sizeDeltaUsd } as never
    const armed = edit.armed(1, { updates: [update] })
    for (const record of [edit.accepted(), edit.preparing(), armed, edit.landed(), edit.childExecuted()])
      ledger.fold(record)
    return () => ledger.fold(edit.closed())
  }
  const [one, other] = [make(1), make(2)]
  const open = [one.state, other.state]
  const close = change(3, one.made, 7n)
  expect(changesOf(open)).toEqual(new Map())
  // The list of open intents stays as it was until the order that closed is taken out of it.
  close()
  expect([...changesOf(open).keys()]).toEqual([one.made])
  expect(changesOf(open)).toBe(changesOf(open))
  change(4, other.made, 8n)()
  expect(changesOf(open).get(other.made)).toMatchObject({ sizeDeltaUsd: 8n })
  for (const each of [one, other]) expect([...changesOf([each.state]).keys()]).toEqual([each.made])
})

test('one market is found in the list of all as a filter of several finds it, and one that is listed twice is the venue’s to say', () => {
  const tickers = ['a', 'b', 'c', 'c'].map((symbol) => ({
    symbol,
    marketToken: `0x${symbol}`,
  })) as unknown as Ticker[]
  // The same market twice is a filter of one too, and goes the longer way.
  for (const symbol of ['a', 'b', 'c', 'd'])
    for (const _ of [1, 2])
      expect(filteredTickers(tickers, { symbols: [symbol] })).toEqual(
        filteredTickers(tickers, { symbols: [symbol, symbol] }),
      )
  expect(filteredTickers(tickers, { symbols: ['a'] })).toEqual([tickers[0]])
})

/** A world of lists, fills, orders and time, and the holdings over it. `handed` gives a list as it is read: the same again, or a copy. */
function heldWorld(handed: <Row>(list: readonly Row[]) => readonly Row[]) {
  const clock = manualClock(startMs)
  const now = {
    closed: [] as readonly ReturnType<typeof fill>[],
    states: [] as readonly IntentState[],
    discrepancies: new Map(),
    rows: [] as readonly ReturnType<typeof position>[],
  }
  type OpenList = ReturnType<HoldingsContext['openOrders']['open']>
  const listed = new Map<readonly IntentState[], OpenList>()
  const openOf = () => {
    const known: OpenList =
      listed.get(now.states) ?? now.states.map((state) => ({ state, label: 'resting' as const }))
    listed.set(now.states, known)
    return handed(known)
  }
  const holdings = createHoldings(
    {
      clock,
      api: {
        hosts: { api: ['h'] },
        isCoolingDown: () => false,
        getPositions: () => Promise.resolve({ value: handed(now.rows), host: 'h', readAtMs: clock.now() }),
      },
      journal: { closedFills: () => handed(now.closed) },
      openOrders: { open: openOf, recentlyLanded: () => [], closedAgoMs: () => Number.POSITIVE_INFINITY },
      trading: { accountJournal: { state: () => ({ discrepancies: now.discrepancies }) } },
      prices: { lastOf: () => undefined },
    } as unknown as HoldingsContext,
    account,
  )
  return { clock, now, holdings }
}

test('what is held by lists that many turns share is what each turn makes of a copy of its own, whatever changed between', async () => {
  const rowsOf = (sizes: readonly number[]) =>
    sizes.map((size) => position({ ...side, sizeInUsd: usd(size) }))
  const pool = {
    rows: [rowsOf([]), rowsOf([100]), rowsOf([40])],
    missing: [undefined, [{ index: 0, problem: 'torn', ...side, sizeInUsd: usd(7) }]],
    orders: [[], [order({ orderKey })]],
    closed: [[], [fill(100)], [fill(40)]],
    states: [[], [stateOf(60n, 'OPEN')], [stateOf(60n, 'EXECUTED')]],
  }
  const step = fc.record({
    rows: fc.constantFrom(...pool.rows),
    missing: fc.constantFrom(...pool.missing),
    orders: fc.constantFrom(...pool.orders),
    closed: fc.constantFrom(...pool.closed),
    states: fc.constantFrom(...pool.states),
    othersRows: fc.option(fc.constantFrom(...pool.rows), { nil: undefined }),
    afterMs: fc.constantFrom(0, 1_000, 40_000),
  })
  // An order leaves the list, and the position with it: first that is lag, then it is hidden.
  const hides = { missing: undefined, closed: pool.closed[1] ?? [], states: pool.states[1] ?? [] }
  const gone = { ...hides, rows: pool.rows[0] ?? [], orders: pool.orders[0] ?? [], othersRows: undefined }
  const leftAndHidden = [
    { ...gone, rows: pool.rows[1] ?? [], orders: pool.orders[1] ?? [], afterMs: 40_000 as const },
    { ...gone, afterMs: 1_000 as const },
    { ...gone, afterMs: 40_000 as const },
  ]
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 10 }), async (steps) => {
      const worlds = [heldWorld((list) => list), heldWorld((list) => [...list])]
      for (const { rows, missing, orders, closed, states, othersRows, afterMs } of steps) {
        const answers = await Promise.all(
          worlds.map(async ({ clock, now, holdings }, index) => {
            const own = <Row>(list: readonly Row[]) => (index === 0 ? list : [...list])
            await clock.advance(afterMs)
            Object.assign(now, { closed, states })
            if (othersRows !== undefined) {
              now.rows = othersRows
              await holdings.refresh()
            }
            const unread = missing === undefined ? {} : { missing: own(missing) }
            const lists = {
              positions: { value: own(rows), atMs: clock.now(), ...unread },
              orders: { value: own(orders), atMs: clock.now() },
            }
            const snapshot = { ...lists, atMs: clock.now(), account, markets: new Map() }
            return [
              holdings.held(snapshot),
              holdings.hiddenIn(lists.positions),
              holdings.unlistedIn(lists.positions),
              holdings.withOthers(lists.positions.value),
              holdings.heldMarkets(),
              holdings.exposure(lists, own(states)),
            ]
          }),
        )
        expect(answers[0]).toEqual(answers[1])
        const isUnknown = rows.length + closed.length + states.length === 0 && othersRows?.length === 0
        if (isUnknown && missing !== undefined) expect(answers[0]?.[2]).toHaveLength(1)
      }
    }),
    { seed: 36, numRuns: 150, examples: [[leftAndHidden]] },
  )
})
