/** After a restart the line of the journal names the tasks that go on. */
import { expect, test } from 'vitest'
import { runningTaskNames } from '../../src/daemon/announce.ts'
import type { TaskState } from '../../src/domain/taskStates/taskRecord.ts'

test('tasks that make orders and have not ended are named with what they were asked for, and no others', () => {
  const task = (taskId: string, over: Partial<TaskState> = {}): [string, TaskState] => [
    taskId,
    {
      ...{ taskId, taskKind: 'twap', version: 1, by: 'anna', sinceMs: 0 },
      params: { asked: `twap of ${taskId}` },
      ...over,
    },
  ]
  const end = { outcome: 'done', by: 'perpd', statement: 'done', atMs: 1 } as unknown as NonNullable<
    TaskState['end']
  >
  const tasks = new Map([task('a'), task('b', { end }), task('c', { taskKind: 'kill' }), task('d')])
  expect(runningTaskNames(tasks)).toEqual(['a (twap of a)', 'd (twap of d)'])
  expect(runningTaskNames(undefined)).toEqual([])
})
