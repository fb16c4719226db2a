/** The lab's time: it stands while anything registered is under way, however many turns of the event loop that takes, and jumps otherwise. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
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

const recordAt =
  (atMs: number) =>
  (throughSeconds: number): AccountRecord => ({
    kind: 'account.reconciled',
    throughSeconds,
    v: RECORD_VERSION,
    atMs,
    intentId: ACCOUNT_ID,
  })

test('one commit after another is of one moment: a journal registers each, and nobody counts turns', async () => {
  const scheduler = createScheduler()
  const clock = scheduler.clock()
  const journal = openLabJournal(testFolder(), { scheduler, clock, holder: 'test' })
  const at: number[] = []
  const record = recordAt(clock.now())
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

test('a journal that is opened for the next segment keeps a snapshot, so that the one after it reads what is new alone', async () => {
  const scheduler = createScheduler()
  const clock = scheduler.clock()
  const folder = testFolder()
  const record = recordAt(clock.now())
  const live = async (records: number): Promise<number> => {
    const journal = openLabJournal(folder, { scheduler, clock, holder: 'test' })
    const before = journal.summary().records
    const written = Promise.all(Array.from({ length: records }, (_, at) => journal.appendAccount(record(at))))
    await scheduler.runTo(scheduler.nowMs + 1)
    await written
    await journal.close()
    return before
  }
  const newestSnapshot = (): unknown => {
    const db = new DatabaseSync(join(folder, 'journal.db'), { readOnly: true })
    const row = db.prepare('SELECT max(seq) AS seq FROM snapshot').get()
    db.close()
    return row?.seq
  }
  expect(await live(300)).toBe(0)
  expect(newestSnapshot()).toBeNull()
  expect(await live(20)).toBe(300)
  expect(newestSnapshot()).toBe(300)
  expect(await live(0)).toBe(320)
  expect(newestSnapshot()).toBe(300)
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

test('a sleeper with nothing to do yet sleeps on without being woken, in the place of one that began to sleep again then', async () => {
  const live = async (isAsked: boolean) => {
    const scheduler = createScheduler()
    const clock = scheduler.clock()
    const seen: string[] = []
    const note = (name: string) => seen.push(`${name} at ${scheduler.nowMs}`)
    const again = () => (scheduler.nowMs < 90 ? 30 : undefined)
    let wakings = 0
    const pace = async () => {
      for (let ms: number | undefined = 30; ms !== undefined; ms = again()) {
        await clock.sleep(ms, undefined, isAsked ? again : undefined)
        wakings += 1
      }
      note('slept')
    }
    scheduler.after(90, () => note('early'))
    scheduler.after(59, () => scheduler.after(31, () => note('middle')))
    scheduler.after(61, () => scheduler.after(29, () => note('late')))
    const done = pace()
    await scheduler.runTo(200)
    await done
    return { seen, wakings }
  }
  const [asked, woken] = [await live(true), await live(false)]
  expect(asked.seen).toEqual(['early at 90', 'middle at 90', 'slept at 90', 'late at 90'])
  expect(woken.seen).toEqual(asked.seen)
  expect([asked.wakings, woken.wakings]).toEqual([1, 3])
})

test('a signal ends a sleep that goes on and on', async () => {
  const scheduler = createScheduler()
  const ending = new AbortController()
  const woken = scheduler
    .clock()
    .sleep(10, ending.signal, () => 10)
    .then(() => scheduler.nowMs)
  scheduler.after(45, () => ending.abort('test'))
  await scheduler.runTo(100)
  expect(await woken).toBe(45)
})
