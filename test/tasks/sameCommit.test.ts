/** What a step decides and the step itself are durable together: commits of the file, as SQLite is asked for them. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync, StatementSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { inOneCommit, throwFirst } from '../../src/execution/oneCommit.ts'
import { createSqliteJournal } from '../../src/journal/sqlite/openSqlite.ts'
import { halfDone } from '../support/halfDoneTasks.ts'

const kinds =
  /^(intent\.accepted|attempt\.preparing|task\.(started|changed|ended)|operator\.command|trading\.state)$/

/** Kinds of the records of each commit, as far as they are named above. */
async function commitsOf(work: () => Promise<void>): Promise<readonly (readonly string[])[]> {
  const commits: string[][] = []
  let group: string[] = []
  const { exec } = DatabaseSync.prototype
  const { run } = StatementSync.prototype
  DatabaseSync.prototype.exec = function (this: DatabaseSync, sql: string) {
    exec.call(this, sql)
    if (!sql.trim().toUpperCase().startsWith('COMMIT')) return
    commits.push(group)
    group = []
  }
  StatementSync.prototype.run = function (this: StatementSync, ...args: unknown[]) {
    group.push(...args.filter((each): each is string => typeof each === 'string' && kinds.test(each)))
    return Reflect.apply(run, this, args)
  } as typeof run
  try {
    await work()
  } finally {
    Object.assign(DatabaseSync.prototype, { exec })
    Object.assign(StatementSync.prototype, { run })
  }
  return commits
}

test('a decision of a task is accepted in the commit of its step, and a kill replaced in that of the new one', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'perpd-commits-'))
  const path = join(directory, 'journal.db')
  const commits = await commitsOf(async () => {
    const { journal } = await halfDone((clockNow) => createSqliteJournal({ path, clockNow, holder: 'test' }))
    await journal.close()
  })
  rmSync(directory, { recursive: true })
  const steps = commits.filter((group) => group.includes('task.changed'))
  expect(steps.length).toBeGreaterThanOrEqual(3)
  for (const step of steps) expect(step).toEqual(['intent.accepted', 'attempt.preparing', 'task.changed'])
  expect(commits).toContainEqual(['task.started', 'task.ended'])
})

test('writes of one commit are all begun before any of them is done, whatever one of them throws', async () => {
  const begun: string[] = []
  const failing = new Error('it is not written')
  const results = await inOneCommit(
    async () => {
      begun.push('one')
      await Promise.resolve()
      begun.push('one is done')
      return 1
    },
    () => {
      throw failing
    },
    async () => {
      begun.push('three')
    },
  )
  expect(begun).toEqual(['one', 'three', 'one is done'])
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect(() => throwFirst(results)).toThrow(failing)
  expect(() => throwFirst(results.slice(0, 1))).not.toThrow()
})
