/** Records of tasks: their fields and their fold. */
import { expect, test } from 'vitest'
import {
  ACCOUNT_ID,
  type AccountRecord,
  applyAccountRecord,
  emptyAccountState,
} from '../../src/domain/accountRecords/accountRecord.ts'
import { RECORD_VERSION } from '../../src/domain/accountRecords/recordVersion.ts'
import { decodeAnyRecord, encodeRecord } from '../../src/domain/records.ts'
import {
  TASK_STATE_MOST_BYTES,
  type TaskEntry,
  type TaskState,
} from '../../src/domain/taskStates/taskRecord.ts'
import { stateIn, taskChanged, taskStarted } from '../../src/tasks/taskFacts.ts'
import { startMs } from '../support/intents.ts'

/** The fold of entries, each read back as a journal has it, a millisecond apart. */
function foldOf(entries: readonly TaskEntry[]) {
  return entries.reduce((state, entry, index) => {
    const stamp = { v: RECORD_VERSION, atMs: startMs + index, intentId: ACCOUNT_ID } as const
    const record = decodeAnyRecord(encodeRecord({ ...stamp, ...entry }))
    expect(record).toEqual({ ...stamp, ...entry })
    return applyAccountRecord(state, record as AccountRecord)
  }, emptyAccountState)
}

const started = (taskId: string, more: Partial<Extract<TaskEntry, { kind: 'task.started' }>> = {}) =>
  ({
    kind: 'task.started',
    taskId,
    taskKind: 'memory',
    version: 3,
    by: 'Ada',
    params: { of: 'grid' },
    state: { step: 1n, seen: new Map([['a', 2n]]) },
    ...more,
  }) as const

test('a task is what its records say, amounts and maps as they were, until it ends', () => {
  const changed = { kind: 'task.changed', taskId: 'one', version: 4, state: { step: 2n } } as const
  const running = foldOf([started('one'), started('two'), changed])
  expect(running.tasks?.get('one')).toEqual({
    taskId: 'one',
    taskKind: 'memory',
    version: 4,
    by: 'Ada',
    params: { of: 'grid' },
    state: { step: 2n },
    sinceMs: startMs,
  })
  expect(running.tasks?.get('two')?.state).toEqual({ step: 1n, seen: new Map([['a', 2n]]) })
  const over = foldOf([
    started('one'),
    changed,
    { kind: 'task.ended', taskId: 'one', outcome: 'done', by: 'perpd' },
  ])
  expect(over.tasks?.get('one')).toMatchObject({ end: { atMs: startMs + 2, outcome: 'done', by: 'perpd' } })
  expect(over.tasks?.get('one')).not.toHaveProperty('state')
  expect(emptyAccountState).not.toHaveProperty('tasks')
})

test('a task begins once and ends once, and nothing changes one that does not run', () => {
  const end = (outcome: string, taskId = 'one'): TaskEntry => ({
    kind: 'task.ended',
    taskId,
    outcome,
    by: 'perpd',
  })
  const state = foldOf([
    started('one'),
    started('one', { by: 'Bob', params: {} }),
    end('flat'),
    { kind: 'task.changed', taskId: 'one', version: 3, state: { step: 9n } },
    end('given-up'),
    started('one', { by: 'Bob' }),
    end('flat', 'unknown'),
    { kind: 'task.changed', taskId: 'unknown', version: 3, state: {} },
  ])
  expect([...(state.tasks?.values() ?? [])]).toMatchObject([
    { taskId: 'one', by: 'Ada', params: { of: 'grid' }, end: { outcome: 'flat' } },
  ])
})

test('what does not fit a record is refused with its size, and nothing of it is made', () => {
  const fits = 'x'.repeat(TASK_STATE_MOST_BYTES - 2)
  const { kind: _, ...parts } = started('one', { state: fits })
  expect(taskStarted(parts)).toEqual(started('one', { state: fits }))
  for (const make of [
    () => taskStarted({ ...parts, state: `${fits}x` }),
    () => taskChanged({ taskId: 'one', version: 3, state: `${fits}x` }),
    () => taskStarted({ ...parts, params: `${fits}x` }),
  ]) {
    expect(make).toThrow(
      expect.objectContaining({
        code: 'TASK_STATE_TOO_LARGE',
        facts: expect.objectContaining({ task: 'one', bytes: 65_537, most: 65_536 }),
      }),
    )
  }
})

test('a state of an older version is raised, and one of a newer perpd is not gone on with', () => {
  const task: TaskState = { ...started('one'), sinceMs: startMs, version: 1, state: { step: 1 } }
  const raising = (version: number, state: unknown) => ({
    step: BigInt((state as { step: number }).step),
    version,
  })
  expect(stateIn(task, { version: 2, upcast: raising })).toEqual({ step: 1n, version: 1 })
  expect(stateIn(task, { version: 1 })).toEqual({ step: 1 })
  expect(() => stateIn(task, { version: 0 })).toThrow(expect.objectContaining({ code: 'JOURNAL_TASK_NEWER' }))
  expect(() => stateIn(task, { version: 2 })).toThrow(
    expect.objectContaining({ code: 'JOURNAL_TASK_UNREADABLE' }),
  )
})
