/** The account's watch over lists that are handed in. */
import { expect, test } from 'vitest'
import type { Event } from '../../src/domain/event.ts'
import type { IntentState } from '../../src/domain/intent.ts'
import { usd } from '../../src/domain/units.ts'
import { createAccountBook } from '../../src/engine/accountBook.ts'
import { createReconciler } from '../../src/engine/reconcile.ts'
import { createTrading } from '../../src/engine/trading.ts'
import { createMemoryJournal } from '../../src/journal/memory.ts'
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
      getTrades: () => read({ trades: [trade], hasMore: false }),
    },
    clock,
    emit,
    journal,
    shell: { open: () => [{ state, label: 'unknown' }], recentlyLanded: () => [] },
    signer: { address: account },
    trading: createTrading({ book: createAccountBook({ journal, clock }), emit }),
  } as unknown as Context
  await createReconciler(context).pass({})
  return events.filter(({ type }) => type === 'account.finding')
}

const nowSeconds = startMs / 1000

test('an execution while an order of ours is unresolved waits for what becomes of it', async () => {
  expect(await watch(startMs, nowSeconds + 3, nowSeconds + 60)).toEqual([])
})

test('an order of ours is no stranger, however far ahead our clock stood when it was armed', async () => {
  expect(await watch(startMs + 1_800_000, nowSeconds + 3, nowSeconds + 60)).toEqual([])
})

test('what was executed before the order of ours can have been signed is told at once', async () => {
  expect(await watch(startMs, nowSeconds - 7_200, nowSeconds + 60)).toHaveLength(1)
})
