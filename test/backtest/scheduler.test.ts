/** The lab's time: it stands while anything registered is under way, however many turns of the event loop that takes, and jumps otherwise. */
import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { openLabJournal } from '../../src/backtest/lab/labJournal.ts'
import { createLife, createScheduler } from '../../src/backtest/lab/scheduler.ts'
import { ACCOUNT_ID, type AccountRecord } from '../../src/domain/accountRecords/accountRecord.ts'
import { RECORD_VERSION } from '../../src/domain/accountRecords/recordVersion.ts'
import { testFolder } from './runKit.ts'

test('time stands while registered work reads a real file, and goes on where it ended', async () => {
  const scheduler = createScheduler()
  const clock = scheduler.clock()
  const at: number[] = []
  const work = async () => {
    await clock.sleep(1_000)
    at.push(scheduler.nowMs)
    for (let times = 0; times < 20; times += 1) await scheduler.busy(() => readFile(import.meta.filename))
    at.push(scheduler.nowMs)
    await clock.sleep(500)
    at.push(scheduler.nowMs)
  }
  scheduler.every(100, () => undefined)
  const done = work()
  await scheduler.runTo(3_000)
  await done
  expect(at).toEqual([1_000, 1_000, 1_500])
  expect(scheduler.nowMs).toBe(3_000)
})

test('one commit after another is of one moment: a journal registers each, and nobody counts turns', async () => {
  const scheduler = createScheduler()
  const clock = scheduler.clock()
  const journal = openLabJournal(testFolder(), { scheduler, clock, holder: 'test' })
  const at: number[] = []
  const record = (throughSeconds: number): AccountRecord => ({
    kind: 'account.reconciled',
    throughSeconds,
    v: RECORD_VERSION,
    atMs: clock.now(),
    intentId: ACCOUNT_ID,
  })
  const work = async () => {
    for (let number = 0; number < 12; number += 1) {
      await journal.appendAccount(record(number))
      at.push(scheduler.nowMs)
    }
  }
  // Time has somewhere to go at each moment.
  scheduler.every(1, () => undefined)
  const done = work()
  await scheduler.runTo(50)
  await done
  expect(at).toEqual(Array.from({ length: 12 }, () => 0))
  expect(journal.summary().records).toBe(12)
  await journal.close()
})

test('what is to run soon runs once all that was woken waits, together, and before time moves', async () => {
  const scheduler = createScheduler()
  const seen: string[] = []
  scheduler.after(10, () => {
    seen.push('woken')
    scheduler.soon(() => seen.push(`soon at ${scheduler.nowMs}`))
    void Promise.resolve().then(() => seen.push('promised'))
  })
  scheduler.after(10, () => seen.push('second'))
  await scheduler.runTo(20)
  expect(seen).toEqual(['woken', 'promised', 'soon at 10', 'second'])
})

test('answers of other threads come in the order in which they were asked, whichever was first, and failures among them', async () => {
  const scheduler = createScheduler()
  const slow = Promise.withResolvers<string>()
  const seen: string[] = []
  const take = (answer: Promise<string>) =>
    void answer.then(
      (text) => seen.push(text),
      (error: Error) => seen.push(error.message),
    )
  scheduler.after(5, () => {
    take(scheduler.aside(() => slow.promise))
    take(scheduler.aside(() => Promise.reject(new Error('second'))))
    take(
      scheduler.aside(async () => {
        setImmediate(() => slow.resolve('first'))
        return 'third'
      }),
    )
  })
  scheduler.after(6, () => void seen.push('later'))
  await scheduler.runTo(10)
  expect(seen).toEqual(['first', 'second', 'third', 'later'])
})

test('what is fatal ends the life, and its time', async () => {
  const scheduler = createScheduler()
  const { fatal, until } = createLife(scheduler)
  scheduler.after(10, () => fatal(new Error('a mistake of ours')))
  await expect(until(1_000)).rejects.toThrow('a mistake of ours')
})
