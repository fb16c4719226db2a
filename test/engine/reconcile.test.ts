/** The account's watch over lists that are handed in. */
import { expect, test, vi } from 'vitest'
import { createAccountJournal } from '../../src/account/halts/accountJournal.ts'
import { createTrading } from '../../src/account/halts/tradingHalts.ts'
import { createReconciler } from '../../src/account/watch/reconciler.ts'
import type { Event } from '../../src/domain/event.ts'
import type { IntentState } from '../../src/domain/order/intent.ts'
import { createMemoryJournal } from '../../src/journal/memory.ts'
import { usd } from '../../src/protocol/units.ts'
import { account, armedFacts, ethMarket, intentOf, orderKey, startMs, usdc } from '../support/intents.ts'

type Context = Parameters<typeof createReconciler>[0]

/** A watch that finds one execution, while an order of ours is unresolved that was armed at `armedAtMs` by our clock. */
async function watch(armedAtMs: number, executedAtSeconds: number, deadlineSeconds: number) {
  const journal = createMemoryJournal()
  const events: Event[] = []
  const emit = (event: Event) => void events.push(event)
  const clock = { now: () => armedAtMs + 5_000, monotonicMs: () => 5_000, sleep: async () => undefined }
  const read = <T>(value: T) => Promise.resolve({ value, readAtMs: clock.now(), host: 'http://a.test/v1' })
  const trade = {
    id: '1',
    account,
    orderKey,
    transactionHash: `0x${'0b'.repeat(32)}`,
    eventName: 'OrderExecuted',
    orderType: 2,
    timestampSeconds: executedAtSeconds,
    initialCollateralToken: usdc,
    initialCollateralDeltaAmount: 0n,
    marketToken: ethMarket,
    direction: 'long',
    sizeDeltaUsd: usd(500),
  }
  const state: IntentState = {
    intent: intentOf(),
    updatedAtMs: armedAtMs,
    attempts: [
      {
        n: 1,
        lane: 'order-chain',
        host: 'http://a.test/v1',
        phase: 'ACKED',
        armed: armedFacts({ deadlineSeconds }),
        armedAtMs,
        children: [],
      },
    ],
  }
  const context = {
    api: {
      getPositions: () => read([]),
      getOrders: () => read([]),
      searchTrades: () => read({ trades: [trade], hasMore: false }),
    },
    clock,
    emit,
    journal,
    openOrders: {
      open: () => [{ state, label: 'unknown' }],
      recentlyLanded: () => [],
      sawOrders: () => undefined,
    },
    signer: { address: account },
    trading: createTrading({ accountJournal: createAccountJournal({ journal, clock }), emit }),
  } as unknown as Context
  await createReconciler(context).pass({})
  return events.filter(({ type }) => type === 'account.discrepancy')
}

/** A watch that finds a trade by another of now, by a journal whose trades were judged up to `throughSeconds`; and since when it asked. */
async function watchStranger(throughSeconds: number) {
  const journal = createMemoryJournal()
  const events: Event[] = []
  const emit = (event: Event) => void events.push(event)
  const clock = { now: () => startMs, monotonicMs: () => 5_000, sleep: async () => undefined }
  const accountJournal = createAccountJournal({ journal, clock })
  await accountJournal.write({ kind: 'account.reconciled', throughSeconds })
  const read = <T>(value: T) => Promise.resolve({ value, readAtMs: clock.now(), host: 'http://a.test/v1' })
  const trade = {
    id: '1',
    account,
    orderKey,
    transactionHash: `0x${'0b'.repeat(32)}`,
    eventName: 'OrderExecuted',
    orderType: 2,
    timestampSeconds: nowSeconds - 60,
    initialCollateralToken: usdc,
    initialCollateralDeltaAmount: 0n,
    marketToken: ethMarket,
    direction: 'long',
    sizeDeltaUsd: usd(500),
  }
  const context = {
    api: {
      getPositions: () => read([]),
      getOrders: () => read([]),
      searchTrades: () => read({ trades: [trade], hasMore: false }),
    },
    clock,
    emit,
    journal,
    openOrders: { open: () => [], recentlyLanded: () => [], sawOrders: () => undefined },
    signer: { address: account },
    trading: createTrading({ accountJournal, emit }),
  } as unknown as Context
  const reconciler = createReconciler(context)
  clock.now = () => startMs + 1_000
  await reconciler.pass({})
  return {
    found: events.filter(({ type }) => type === 'account.discrepancy').length,
    throughSeconds: journal.account().throughSeconds,
  }
}

const nowSeconds = startMs / 1000

test('a trade by another is found though a clock that was a day ahead judged trades up to tomorrow, and that is put right', async () => {
  expect(await watchStranger(nowSeconds + 86_400)).toEqual({ found: 1, throughSeconds: nowSeconds + 1 })
})

test('a journal whose trades are judged up to a few seconds from now is left as it is', async () => {
  expect((await watchStranger(nowSeconds + 5)).throughSeconds).toBe(nowSeconds + 5)
})

test('an execution while an order of ours is unresolved waits for what becomes of it', async () => {
  expect(await watch(startMs, nowSeconds + 3, nowSeconds + 60)).toEqual([])
})

test('an order of ours is no stranger, however far ahead our clock stood when it was armed', async () => {
  expect(await watch(startMs + 1_800_000, nowSeconds + 3, nowSeconds + 60)).toEqual([])
})

test('what was executed before the order of ours can have been signed is told at once', async () => {
  expect(await watch(startMs, nowSeconds - 7_200, nowSeconds + 60)).toHaveLength(1)
})

/**
 * A watch over a filled increase whose take-profit rests by the journal; no position shows, and these orders do, at each of
 * these seconds.
 */
async function watchExit(listed: readonly string[], passesAtSeconds: readonly number[] = [0, 5]) {
  const journal = createMemoryJournal()
  const events: Event[] = []
  const emit = (event: Event) => void events.push(event)
  let atSeconds = 0
  const clock = {
    now: () => startMs + 3_600_000 + atSeconds * 1000,
    monotonicMs: () => atSeconds * 1000,
    sleep: async () => undefined,
  }
  const read = <T>(value: T) => Promise.resolve({ value, readAtMs: clock.now(), host: 'http://a.test/v1' })
  let looks = 0
  const exitKey = `0x${'0c'.repeat(32)}` as const
  const state: IntentState = {
    intent: intentOf(),
    updatedAtMs: startMs,
    attempts: [
      {
        n: 1,
        lane: 'order-chain',
        host: 'http://a.test/v1',
        phase: 'LANDED',
        armed: armedFacts(),
        armedAtMs: startMs,
        children: [
          {
            index: 0,
            orderKey,
            phase: 'EXECUTED',
            role: 'main',
            settlement: { sizeDeltaUsd: usd(500) },
          },
          { index: 1, orderKey: exitKey, phase: 'OPEN', role: 'take-profit' },
        ],
      },
    ],
  }
  vi.spyOn(journal, 'explains').mockReturnValue(true)
  const orders = listed.map((key) => ({ orderKey: key, marketToken: ethMarket }))
  const context = {
    api: {
      getPositions: () => read([]),
      getOrders: () => read(orders),
      searchTrades: () => read({ trades: [], hasMore: false }),
    },
    clock,
    emit,
    journal,
    openOrders: {
      open: () => [{ state, label: 'resting' }],
      recentlyLanded: () => [],
      sawOrders: () => undefined,
      pollSoon: () => {
        looks += 1
      },
    },
    signer: { address: account },
    trading: createTrading({ accountJournal: createAccountJournal({ journal, clock }), emit }),
  } as unknown as Context
  const reconciler = createReconciler(context)
  for (const each of passesAtSeconds) {
    atSeconds = each
    await reconciler.pass({})
  }
  return { looks, discrepancies: events.filter(({ type }) => type === 'account.discrepancy') }
}

test('a position that an exit of ours just closed is no discrepancy while the chain has not shown the exit to us, which is asked soon', async () => {
  expect(await watchExit([])).toEqual({ looks: 2, discrepancies: [] })
})

const restingKey = `0x${'0C'.repeat(32)}`

test('a position that is gone while our exit still rests by a list that may be late is no discrepancy, and the chain is asked', async () => {
  expect(await watchExit([restingKey], [0, 5, 10, 25])).toEqual({ looks: 4, discrepancies: [] })
})

test('a position that is gone for longer than lists lag while our exit still rests is a discrepancy', async () => {
  const { discrepancies } = await watchExit([restingKey], [0, 5, 10, 25, 31])
  expect(discrepancies).toHaveLength(1)
})

test('an order that the journal matches after the look that listed it is no order of others any more', async () => {
  const journal = createMemoryJournal()
  const clock = { now: () => startMs, monotonicMs: () => 0, sleep: async () => undefined }
  const read = <T>(value: T) => Promise.resolve({ value, readAtMs: clock.now(), host: 'http://a.test/v1' })
  const row = {
    marketToken: ethMarket,
    direction: 'long',
    orderType: 6,
    sizeDeltaUsd: usd(500),
    updatedAtSeconds: nowSeconds,
  }
  const listed = [orderKey, restingKey].map((key) => ({ ...row, orderKey: key }))
  const context = {
    api: {
      getPositions: () => read([]),
      getOrders: () => read(listed),
      searchTrades: () => read({ trades: [], hasMore: false }),
    },
    ...{ clock, journal, emit: () => undefined },
    openOrders: { open: () => [], recentlyLanded: () => [], sawOrders: () => undefined },
    signer: { address: account },
    trading: createTrading({
      accountJournal: createAccountJournal({ journal, clock }),
      emit: () => undefined,
    }),
  } as unknown as Context
  const matched = new Set<string>()
  vi.spyOn(journal, 'explains').mockImplementation((key) => matched.has(key))
  const reconciler = createReconciler(context)
  expect(reconciler.othersOrders()).toBeUndefined()
  await reconciler.pass({})
  expect(reconciler.othersOrders()).toHaveLength(2)
  matched.add(restingKey.toLowerCase())
  expect(reconciler.othersOrders()?.map((order) => order.orderKey)).toEqual([orderKey])
})
