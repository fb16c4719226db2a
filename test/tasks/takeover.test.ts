/** A journal with an unwind and a kill under way, taken over at a start. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Journal } from '../../src/journal/journal.ts'
import { verifySqliteJournal } from '../../src/journal/service/verifyJournal.ts'
import { createSqliteJournal } from '../../src/journal/sqlite/openSqlite.ts'
import { killOf, killTask } from '../../src/tasks/killTask.ts'
import { tasksOf } from '../../src/tasks/taskFacts.ts'
import { unwindStateOf, unwindTask } from '../../src/tasks/unwindTask.ts'
import { halfDone } from '../support/halfDoneTasks.ts'
import { testSigner, testTrader } from '../support/trader.ts'

let directory = ''
let path = ''
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'perpd-takeover-'))
  path = join(directory, 'journal.db')
})
afterEach(() => rmSync(directory, { recursive: true }))

const open = (clockNow: () => number): Journal =>
  createSqliteJournal({ path, clockNow, holder: 'the one after' })
const made = (journal: Journal) =>
  journal
    .recentIntents({ strategy: '@operator' })
    .toReversed()
    .map(({ intent, closing }) => [intent.decisionKey, intent.kind, closing?.outcome])

test('an unwind and a kill that a process left are what they were, and go on to their ends: the second try counts, nothing is closed twice', async () => {
  const { clock, api, venue, set, journal: before } = await halfDone(open)
  await before.close()
  const journal = open(() => clock.now())
  const { tasks } = journal.account()
  const unwinds = tasksOf(unwindTask, tasks)
  const [first = '', second = ''] = unwinds.map((task) => unwindStateOf(task).intentId)
  expect(unwinds.map(unwindStateOf)).toMatchObject([
    { by: 'ann', reason: 'too late', outcome: 'flat' },
    { by: 'ann', reason: 'too late' },
  ])
  expect(unwinds.map(({ end }) => end?.by)).toEqual(['perpd', undefined])
  const kills = tasksOf(killTask, tasks)
  expect(kills.map(({ by, params, end }) => [by, params, end?.outcome])).toEqual([
    ['ann', { close: false }, 'done'],
    ['ann', { close: false }, 'abandoned'],
    ['bob', { close: false }, 'replaced'],
    ['ann', { close: true }, undefined],
  ])
  expect(killOf(tasks)).toMatchObject({ by: 'ann', close: true })
  const tries = [
    [`unwind:${first}`, 'close', 'EXECUTED'],
    [`unwind:${second}`, 'close', 'CANCELLED'],
    [`unwind:${second}#2`, 'close', undefined],
  ]
  expect(made(journal)).toEqual(tries)
  const { trader: engine, events } = testTrader({ clock, api, journal, settings: {} })
  set({ keeperExtraDelayMs: 0 })
  await engine.start()
  expect(engine.status()).toMatchObject({
    kill: { by: 'ann', close: true },
    unwinds: [{ intentId: second, by: 'ann' }],
  })
  for (let turn = 0; turn < 400 && engine.status().kill?.endedAtMs === undefined; turn += 1)
    await clock.advance(500)
  await clock.advance(2_000)
  engine.abort()
  await clock.advance(1_000)
  expect(engine.status()).toMatchObject({ kill: { close: true, outcome: 'done' }, unwinds: [] })
  expect(
    events.flatMap((event) => (event.type === 'unwind.ended' ? [[event.intentId, event.outcome]] : [])),
  ).toEqual([[second, 'flat']])
  expect(made(journal)).toEqual([...tries.slice(0, 2), [`unwind:${second}#2`, 'close', 'EXECUTED']])
  expect((await api.getPositions({ account: testSigner.address })).value).toEqual([])
  expect(venue.record().length).toBeGreaterThan(0)
  await journal.close()
  expect(verifySqliteJournal(path).problems).toEqual([])
})
