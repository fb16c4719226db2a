/** Ends a task before it is done. */

import { z } from 'zod'
import { line, reason } from '../../base/bodyFields.ts'
import type { Commander } from '../../domain/accountRecords/tradingState.ts'
import { byFlag, json, reasonFlag } from '../commandLine.ts'
import { type CommandOf, type CommandRow, reasonField } from '../commandRow.ts'
import { type OperatorAnswer, refusal } from '../operatorAnswer.ts'
import type { OperatorContext } from '../operatorContext.ts'

const body = z.strictObject({
  /** A task's id, or its first characters. */
  task: line(120),
  reason,
})

/** The command. */
type StopTaskCommand = CommandOf<'task-stop', typeof body>

/** Its row. */
export const stopTask: CommandRow<StopTaskCommand> = {
  type: 'task-stop',
  route: '/api/tasks/stop',
  body,
  run,
  api: {
    example: { task: 'twap:a1b5', reason: '...' },
    note: 'the first characters of an id are enough',
  },
  forms: {
    stopTask: {
      title: 'Stop task {task}',
      effects: [
        'Ends: {asked}.',
        'What rests of it is cancelled; what was filled stays. A task that was stopped does not go on.',
      ],
      fields: [reasonField],
      send: 'Stop task',
      isDanger: true,
    },
  },
  cli: [
    {
      name: 'task stop',
      isForRunning: true,
      summary: 'End a task: it makes no more orders, and perpd cancels its resting ones.',
      positional: {
        name: 'ID',
        among: 'tasks',
        doc: "a task's id, or its first characters (perpd task list)",
        field: 'task',
      },
      flags: [reasonFlag, byFlag, json],
      examples: ['perpd task stop 3f2a --reason "no more of it"'],
    },
  ],
}

async function run(
  { tasks: { executors } }: OperatorContext,
  { task, reason: why }: StopTaskCommand,
  { by }: Commander,
): Promise<OperatorAnswer> {
  const running = executors.running()
  const found = running.filter(({ taskId }) => taskId === task || taskId.startsWith(task))
  const [one] = found.length === 1 ? found : found.filter(({ taskId }) => taskId === task)
  if (one === undefined) {
    const problem = found.length === 0 ? 'no task runs' : `${found.length} tasks run`
    const ids = running.map(({ taskId }) => taskId).join(', ')
    return refusal(
      'TASK_NOT_FOUND',
      `${problem} whose id begins with ${task}; ${ids === '' ? 'none runs' : `there are ${ids}`}`,
    )
  }
  await executors.stop(one.taskId, { by, reason: why })
  return {
    ok: true,
    statement: `task ${one.taskId} is ending: it makes no more orders, and perpd cancels its resting ones`,
  }
}
