/** Breakers over a wall clock that is set back: what the simulation found. */
import { expect, test } from 'vitest'
import { createAccountJournal } from '../../src/account/halts/accountJournal.ts'
import { createTrading } from '../../src/account/halts/tradingHalts.ts'
import { createBreakers } from '../../src/account/watch/breakerWatch.ts'
import { RECORD_VERSION } from '../../src/domain/accountRecords/recordVersion.ts'
import type { Closing } from '../../src/domain/order/intent.ts'
import type { JournalRecord } from '../../src/domain/records.ts'
import { createOrderManager } from '../../src/execution/orderManager.ts'
import { createMemoryJournal } from '../../src/journal/memory.ts'
import { createLocalSigner } from '../../src/keys/local.ts'
import type { BreakerSettings } from '../../src/risk/breakers/circuitBreakers.ts'
import { storyOf } from '../journal/story.ts'
import { testExecution } from '../support/trader.ts'
import { venueBench } from '../support/venue.ts'

const twoHoursMs = 7_200_000

function bench(settings: Partial<BreakerSettings>) {
  const { api, clock } = venueBench()
  const journal = createMemoryJournal()
  const signer = createLocalSigner(`0x${'11'.repeat(32)}`)
  const trading = createTrading({ accountJournal: createAccountJournal({ journal, clock }), emit: () => {} })
  const openOrders = createOrderManager(testExecution({ api, clock, journal, signer }))
  const breakers = createBreakers(
    { api, clock, emit: () => undefined, journal, openOrders, signer, trading },
    () => ({
      sets: {},
      ...settings,
    }),
  )
  return { clock, journal, trading, openOrders, look: () => breakers.check(false) }
}

test('what an operator lifted stays lifted when the clock was set back, and what ends after it counts all the same', async () => {
  const { clock, journal, trading, look } = bench({ rejectsInRow: 3 })
  const refuse = async (n: number) => {
    const atMs = clock.now()
    const evidence = { level: 'local', atMs, statement: 'nothing was signed' } as const
    const closing: Closing = { outcome: 'REFUSED_LOCAL', code: 'ANY', reason: 'refused', evidence }
    const { accepted, intentId } = storyOf(n, { acceptedAtMs: atMs })
    await journal.append(accepted())
    const closed: JournalRecord = { v: RECORD_VERSION, atMs, intentId, kind: 'intent.closed', closing }
    await journal.append(closed)
  }
  const causes = () => trading.halts().map(({ cause }) => cause)
  for (const n of [1, 2, 3]) await refuse(n)
  await look()
  expect(causes()).toEqual(['rejects'])
  clock.setBack(twoHoursMs)
  for (const halt of trading.halts()) await trading.release(halt, 'Ada', 'the endpoint is mended')
  await look()
  expect(causes()).toEqual([])
  for (const n of [4, 5, 6]) await refuse(n)
  await look()
  expect(causes()).toEqual(['rejects'])
})

test('an order stays as old as it is when the clock is set back or forth', async () => {
  const { clock, journal, trading, openOrders, look } = bench({ unknownAgeMs: 30_000 })
  const { accepted, preparing, armed, sent } = storyOf(1, { acceptedAtMs: clock.now() })
  for (const record of [accepted(), preparing(), armed(), sent()]) await journal.append(record)
  openOrders.restore(journal.openIntents(), [])
  const held = async () => {
    await look()
    return trading.halts().map(({ cause }) => cause)
  }
  expect(await held()).toEqual([])
  clock.setBack(-twoHoursMs)
  expect(await held()).toEqual([])
  clock.setBack(twoHoursMs)
  await clock.advance(31_000)
  expect(await held()).toEqual(['unknowns'])
  clock.setBack(twoHoursMs)
  expect(await held()).toEqual(['unknowns'])
})

test('an order that was signed right before the clock stepped forth is no older than the look before it', async () => {
  const { clock, journal, trading, openOrders, look } = bench({ unknownAgeMs: 30_000 })
  const heldNow = async () => {
    await look()
    return trading.halts().map(({ cause }) => cause)
  }
  expect(await heldNow()).toEqual([])
  const { accepted, preparing, armed, sent } = storyOf(1, { acceptedAtMs: clock.now() })
  for (const record of [accepted(), preparing(), armed(), sent()]) await journal.append(record)
  openOrders.restore(journal.openIntents(), [])
  clock.setBack(-twoHoursMs)
  expect(await heldNow()).toEqual([])
  await clock.advance(31_000)
  expect(await heldNow()).toEqual(['unknowns'])
})

test('a hold until the next day that a clock a day ahead put on ends with today, and one of before a step of hours stays', async () => {
  const { clock, trading, look } = bench({})
  const hold = async () => {
    const reason = 'the account lost'
    await trading.halt({
      scope: 'account',
      cause: 'daily-loss',
      state: 'reducing',
      reason,
      releasedBy: 'next-day',
      by: 'perpd',
    })
  }
  const causes = async () => {
    await look()
    return trading.halts().map(({ cause }) => cause)
  }
  const untilMidnightMs = 86_400_000 - (clock.now() % 86_400_000)
  const hoursOf = (n: number) => n * 3_600_000
  await clock.advance(untilMidnightMs + hoursOf(10))
  await hold()
  clock.setBack(86_400_000)
  expect(await causes()).toEqual(['daily-loss'])
  await clock.advance(hoursOf(14) - 1_000)
  expect(await causes()).toEqual(['daily-loss'])
  await clock.advance(2_000)
  expect(await causes()).toEqual([])
  // By a clock that went wrongly back over midnight.
  await hold()
  clock.setBack(hoursOf(2))
  expect(await causes()).toEqual(['daily-loss'])
  await clock.advance(hoursOf(2) - 1_500)
  expect(await causes()).toEqual(['daily-loss'])
  await clock.advance(hoursOf(24) + 2_000)
  expect(await causes()).toEqual([])
})
