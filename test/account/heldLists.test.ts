/** Lists of an account that nothing happens to: handed out again while every endpoint shows no event, and read in any doubt. */
import { expect, test } from 'vitest'
import { heldLists } from '../../src/account/heldLists.ts'
import { ACCOUNT_ID } from '../../src/domain/accountRecords/accountRecord.ts'
import type { JournalRecord } from '../../src/domain/records.ts'
import { createMemoryJournal } from '../../src/journal/memory.ts'
import { createLocalSigner } from '../../src/keys/local.ts'
import { storyOf } from '../journal/story.ts'
import { venueBench } from '../support/venue.ts'

const { address: account } = createLocalSigner(`0x${'11'.repeat(32)}`)

/** An account at the paper venue whose endpoints last saw it quiet `quietAgoMs` ago; `asked` has the requests. */
function quietAccount() {
  const asked: string[] = []
  const facts: { quietAgoMs: number | undefined; leastAgeLimitMs: number } = {
    quietAgoMs: 1_000,
    leastAgeLimitMs: 15_000,
  }
  const { api, clock } = venueBench({
    between: (url, init, next) => {
      asked.push(new URL(url).pathname.split('/').at(-1) ?? '')
      return next(url, init)
    },
  })
  const journal = createMemoryJournal()
  const held = heldLists({
    ...{ api, account, clock, journal },
    quietAgoMs: () => facts.quietAgoMs,
    leastAgeLimitMs: () => facts.leastAgeLimitMs,
  })
  return { held, clock, journal, facts, asked }
}

test('empty lists are handed out again, as old as the look that saw nothing happen, for a minute', async () => {
  const { held, clock, asked } = quietAccount()
  const first = await held.getPositions({ account })
  await held.getOrders({ account })
  await held.searchTrades({ account, fromSeconds: 5 })
  expect(asked).toEqual(['positions', 'orders', 'search'])
  await clock.advance(59_000)
  const again = await held.getPositions({ account })
  expect(again).toEqual({ ...first, readAtMs: clock.now() - 1_000 })
  await held.getOrders({ account })
  await held.searchTrades({ account, fromSeconds: 5 })
  expect(asked).toHaveLength(3)
  await held.searchTrades({ account, fromSeconds: 6 })
  expect(asked).toHaveLength(4)
  await clock.advance(2_000)
  const { readAtMs } = await held.getPositions({ account })
  expect(readAtMs).toBe(clock.now())
  expect(asked).toHaveLength(5)
})

test('an answer that is younger than the look has its own age', async () => {
  const { held, clock, facts, asked } = quietAccount()
  facts.quietAgoMs = 60_000
  const { readAtMs } = await held.getOrders({ account })
  await clock.advance(4_000)
  expect((await held.getOrders({ account })).readAtMs).toBe(readAtMs)
  await clock.advance(2_000)
  expect((await held.getOrders({ account })).readAtMs).toBe(clock.now())
  expect(asked).toHaveLength(2)
})

test.each<[string, (each: ReturnType<typeof quietAccount>) => void]>([
  ['the endpoints saw an event, or do not answer', ({ facts }) => (facts.quietAgoMs = undefined)],
  ['their look is old', ({ facts }) => (facts.quietAgoMs = 5_001)],
  ['a limit asks for newer data than is handed out', ({ facts }) => (facts.leastAgeLimitMs = 9_999)],
])('the host is asked where %s', async (_what, change) => {
  const one = quietAccount()
  await one.held.getPositions({ account })
  await one.clock.advance(10_000)
  change(one)
  await one.held.getPositions({ account })
  expect(one.asked).toEqual(['positions', 'positions'])
})

test('a read that must not be older than its call goes to the host, and so does one of another host', async () => {
  const { held, clock, asked } = quietAccount()
  await held.getOrders({ account })
  await clock.advance(10_000)
  await held.getOrders({ account }, { isFresh: true })
  await held.getOrders({ account }, { host: held.hosts.api[1] ?? '' })
  expect(asked).toHaveLength(3)
  await held.getOrders({ account })
  expect(asked).toHaveLength(3)
})

test('while an order of the account is open nothing is held, and what was read before it is not handed out after it', async () => {
  const { held, clock, journal, asked } = quietAccount()
  await held.getPositions({ account })
  const story = storyOf(1)
  await journal.append(story.accepted())
  await clock.advance(10_000)
  await held.getPositions({ account })
  await clock.advance(10_000)
  await held.getPositions({ account })
  expect(asked).toHaveLength(3)
  for (const record of [story.preparing(), story.armed(), story.sent(), story.dead(), story.closed()])
    await journal.append(record)
  await clock.advance(10_000)
  await held.getPositions({ account })
  expect(asked).toHaveLength(4)
  await clock.advance(10_000)
  await held.getPositions({ account })
  expect(asked).toHaveLength(4)
})

test('while a task runs, such as a kill, nothing is held', async () => {
  const { held, clock, journal, asked } = quietAccount()
  await held.getPositions({ account })
  const stamp = { v: 1, atMs: clock.now(), intentId: ACCOUNT_ID }
  const began = { kind: 'task.started', taskId: 'k', taskKind: 'kill', version: 1, by: 'Ada' }
  await journal.append({ ...stamp, ...began, params: {}, state: {} } as unknown as JournalRecord)
  for (let n = 0; n < 2; n += 1) {
    await clock.advance(10_000)
    await held.getPositions({ account })
  }
  expect(asked).toHaveLength(3)
})
