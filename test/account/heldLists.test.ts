/** Lists of an account that nothing happens to: handed out again while every endpoint shows no event, and read in any doubt. */
import { expect, test } from 'vitest'
import { heldLists } from '../../src/account/heldLists.ts'
import { defined } from '../../src/base/defined.ts'
import { ACCOUNT_ID } from '../../src/domain/accountRecords/accountRecord.ts'
import type { JournalRecord } from '../../src/domain/records.ts'
import { createMemoryJournal } from '../../src/journal/memory.ts'
import { createLocalSigner } from '../../src/keys/local.ts'
import { storyOf, wholeStory } from '../journal/story.ts'
import { type TestTraderParts, testTrader } from '../support/trader.ts'
import { venueBench } from '../support/venue.ts'

const { address: account } = createLocalSigner(`0x${'11'.repeat(32)}`)

/** An account at the paper venue whose endpoints last saw it quiet `quietAgoMs` ago, and whose lists were empty for half a minute; `asked` has the requests. */
async function quietAccount() {
  const asked: string[] = []
  let isChanged = false
  const facts: { quietAgoMs: number | undefined; leastAgeLimitMs: number } = {
    quietAgoMs: 1_000,
    leastAgeLimitMs: 15_000,
  }
  const { api, clock } = venueBench({
    between: (url, init, next) => {
      const route = new URL(url).pathname.split('/').at(-1) ?? ''
      asked.push(route)
      if (!isChanged || route !== 'positions') return next(url, init)
      return Promise.resolve(new Response('[{}]', { headers: { 'content-type': 'application/json' } }))
    },
  })
  const journal = createMemoryJournal()
  const held = heldLists({
    ...{ api, account, clock, journal },
    quietAgoMs: () => facts.quietAgoMs,
    leastAgeLimitMs: () => facts.leastAgeLimitMs,
  })
  for (const pauseMs of [30_000, 1_000]) {
    await held.getPositions({ account })
    await held.getOrders({ account })
    await held.searchTrades({ account, fromSeconds: 5 })
    await clock.advance(pauseMs)
  }
  // What was held so far is read anew.
  facts.quietAgoMs = undefined
  await held.getPositions({ account })
  await held.getOrders({ account })
  await held.searchTrades({ account, fromSeconds: 5 })
  facts.quietAgoMs = 1_000
  asked.length = 0
  await clock.advance(1)
  const shows = (is: boolean): void => {
    isChanged = is
  }
  return { held, clock, journal, facts, asked, shows }
}

test('empty lists are handed out again, as old as the look that saw nothing happen, for a minute', async () => {
  const { held, clock, asked } = await quietAccount()
  await clock.advance(59_000)
  const again = await held.getPositions({ account })
  expect(again).toMatchObject({ value: [], readAtMs: clock.now() - 1_000 })
  await held.getOrders({ account })
  await held.searchTrades({ account, fromSeconds: 5 })
  expect(asked).toEqual([])
  await held.searchTrades({ account, fromSeconds: 6 })
  expect(asked).toEqual(['search'])
  await clock.advance(2_000)
  expect((await held.getPositions({ account })).readAtMs).toBe(clock.now())
  expect(asked).toEqual(['search', 'positions'])
})

test('an answer that is younger than the look has its own age', async () => {
  const { held, clock, facts, asked } = await quietAccount()
  facts.quietAgoMs = 60_000
  await clock.advance(3_999)
  expect((await held.getOrders({ account })).readAtMs).toBe(clock.now() - 4_000)
  await clock.advance(2_000)
  expect((await held.getOrders({ account })).readAtMs).toBe(clock.now())
  expect(asked).toHaveLength(1)
})

test.each<[string, (each: Awaited<ReturnType<typeof quietAccount>>) => void]>([
  ['the endpoints saw an event, or do not answer', ({ facts }) => (facts.quietAgoMs = undefined)],
  ['their look is old', ({ facts }) => (facts.quietAgoMs = 5_001)],
  ['a limit asks for newer data than is handed out', ({ facts }) => (facts.leastAgeLimitMs = 9_999)],
])('the host is asked where %s', async (_what, change) => {
  const one = await quietAccount()
  await one.clock.advance(10_000)
  await one.held.getPositions({ account })
  expect(one.asked).toEqual([])
  change(one)
  await one.held.getPositions({ account })
  expect(one.asked).toEqual(['positions'])
})

test('a read that must not be older than its call goes to the host, and so does one of another host', async () => {
  const { held, clock, asked } = await quietAccount()
  await clock.advance(10_000)
  await held.getOrders({ account }, { isFresh: true })
  await held.getOrders({ account }, { host: held.hosts.api[1] ?? '' })
  expect(asked).toHaveLength(2)
  await clock.advance(3_000)
  await held.getOrders({ account })
  expect(asked).toHaveLength(2)
})

test('a list that was not empty for half a minute before is read each time', async () => {
  const { held, clock, asked, shows } = await quietAccount()
  shows(true)
  await held.getPositions({ account }, { isFresh: true })
  shows(false)
  asked.length = 0
  for (let n = 0; n < 4; n += 1) {
    await clock.advance(10_000)
    await held.getPositions({ account })
  }
  expect(asked).toHaveLength(4)
  // It has been empty for half a minute now.
  await clock.advance(10_000)
  await held.getPositions({ account })
  expect(asked).toHaveLength(4)
})

test('while an order of the account is open nothing is held, and what was read before it is not handed out after it', async () => {
  const { held, clock, journal, asked } = await quietAccount()
  const story = storyOf(1)
  await journal.append(story.accepted())
  for (let n = 1; n <= 2; n += 1) {
    await clock.advance(10_000)
    await held.getPositions({ account })
    expect(asked).toHaveLength(n)
  }
  for (const record of [story.preparing(), story.armed(), story.sent(), story.dead(), story.closed()])
    await journal.append(record)
  await clock.advance(10_000)
  await held.getPositions({ account })
  expect(asked).toHaveLength(3)
  await clock.advance(10_000)
  await held.getPositions({ account })
  expect(asked).toHaveLength(3)
})

test('while the journal holds a position, or a task runs, such as a kill, nothing is held', async () => {
  const one = await quietAccount()
  for (const record of wholeStory(1)) await one.journal.append(record)
  const other = await quietAccount()
  const stamp = { v: 1, atMs: other.clock.now(), intentId: ACCOUNT_ID }
  const began = { kind: 'task.started', taskId: 'k', taskKind: 'kill', version: 1, by: 'Ada' }
  await other.journal.append({ ...stamp, ...began, params: {}, state: {} } as unknown as JournalRecord)
  for (const { held, clock, asked } of [one, other]) {
    for (let n = 0; n < 3; n += 1) {
      await clock.advance(10_000)
      await held.getPositions({ account })
    }
    expect(asked).toHaveLength(3)
  }
})

test('a trader reads its lists once a minute while nothing happens, and each time where a limit of a strategy wants newer data', async () => {
  const readInAMinute = async (limits: TestTraderParts['limits']): Promise<number> => {
    const asked: string[] = []
    const { api, clock } = venueBench({
      between: (url, init, next) => {
        asked.push(new URL(url).pathname.split('/').at(-1) ?? '')
        return next(url, init)
      },
    })
    const chainReader = {
      configured: 1,
      latestBlocks: async () => [],
      poll: async () => [],
      quietAgoMs: () => 0,
    }
    const { trader } = testTrader({ api, clock, chainReader, ...defined({ limits }) })
    await trader.start()
    await clock.advance(120_000)
    asked.length = 0
    await clock.advance(60_000)
    trader.abort()
    return asked.filter((route) => route === 'orders').length
  }
  const seldom = await readInAMinute({ account: { maxDataAgeMs: 15_000 } })
  const often = await readInAMinute({ strategies: { fast: { maxDataAgeMs: 9_000 } } })
  expect(seldom).toBeLessThanOrEqual(4)
  expect(often).toBeGreaterThanOrEqual(10)
})
