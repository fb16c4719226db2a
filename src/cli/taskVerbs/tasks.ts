/** `perpd task start`, `task list` and `task stop`: orders that take time. */
import { isatty } from 'node:tty'
import { defined } from '../../base/defined.ts'
import { CommandError, exitCodes } from '../../config/exit.ts'
import type { Plain } from '../../domain/summaries/orderView.ts'
import type { TaskReport } from '../../domain/summaries/taskReport.ts'
import { money, span } from '../../monitor/text.ts'
import type { Call } from '../call/command.ts'
import { type CommandAnswer, queryDaemon } from '../call/daemonClient.ts'
import { commander, confirm, idOf } from '../call/whoAsks.ts'
import { wrapped } from '../output/screen.ts'
import { table } from '../output/table.ts'
import { ask, askAgain, isRefusal, previewOn } from '../verbs/manualOrderCommand.ts'
import { startBody, withKind } from './startBody.ts'

const path = '/api/tasks'

/** Starts a task, after a confirmation; a kind that is not given is asked for at a terminal. */
export async function start(given: Call): Promise<number> {
  const call = await withKind(given)
  const { flags, out, err } = call
  const id = idOf(flags)
  const asked = { id, ...startBody(call), by: commander(call) }
  let body: object = asked
  if (!flags.has('yes')) {
    if (!isatty(0))
      throw new CommandError(
        'No terminal to confirm the task; nothing was sent. To send it: --yes',
        exitCodes.error,
      )
    const { preview, body: previewed } = await previewOn(call, path, asked)
    // The market and the fees that were shown are the ones that are sent.
    body = { ...previewed, ...defined({ market: preview.market, maxFees: preview.maxFees }) }
    const show = flags.has('json') ? err : out
    show(wrapped('', `${preview.statement}.`).join('\n'))
    if (!(await confirm(feesQuestion(preview.maxFees)))) {
      show('Nothing was sent.')
      return exitCodes.error
    }
  }
  let answer: CommandAnswer
  try {
    answer = await ask(call, path, body)
  } catch (error) {
    // Nothing was begun where nobody runs, and by a refusal.
    if (error instanceof CommandError && !isRefusal(error) && !error.message.startsWith('No perpd runs'))
      err(askAgain(id))
    throw error
  }
  // Everything else was just shown and agreed to.
  if (!flags.has('yes') && answer.taskId !== undefined && !flags.has('json')) {
    out(`task ${answer.taskId} started (perpd task list)`)
    return exitCodes.ok
  }
  return told(call, answer)
}

/** The question about fees that exceed what nobody is asked about; undefined: they do not. */
function feesQuestion(maxFees: string | undefined): string | undefined {
  return maxFees === undefined ? undefined : `Its fees may reach $${maxFees}. Start it all the same?`
}

/** Lists tasks. */
export async function list({ loaded, flags, width, out }: Call): Promise<number> {
  const rows = await queryDaemon(loaded, path, isTasks)
  if (flags.has('json')) out(JSON.stringify(rows, undefined, 2))
  else
    out(rows.length === 0 ? 'No tasks. Start one with perpd task start.' : tasksText(rows, width, Date.now()))
  return exitCodes.ok
}

/** Tasks as a table. `nowMs`: Unix ms. */
export function tasksText(rows: readonly Plain<TaskReport>[], width: number, nowMs: number): string {
  const cells = rows.map((row) => {
    const { taskId, what, doneUsd, sizeUsd, orders, feesUsd, exitOrders, exitFeesUsd, budget } = row
    const [isExited, ofExits] = [exitOrders > 0, money(BigInt(exitFeesUsd))]
    const leftMs = Math.max(0, budget.untilMs - nowMs)
    const isOver = row.standing === 'ended'
    return [
      taskId,
      isOver ? (row.outcome ?? '') : row.standing,
      what,
      `${money(BigInt(doneUsd))} of ${money(BigInt(sizeUsd))}`,
      `${orders} of ${budget.orders}${isExited ? `, exits ${exitOrders}` : ''}`,
      `${money(BigInt(feesUsd))} of ${money(BigInt(budget.feesUsd))}${isExited ? `, exits ${ofExits}` : ''}`,
      isOver ? '' : span(leftMs),
      isOver ? (row.statement ?? '') : row.waits === undefined ? '' : `waits: ${row.waits}`,
    ]
  })
  return table(
    [
      { title: 'TASK', rank: 0 },
      { title: 'STATE', rank: 0 },
      { title: 'WHAT', rank: 2 },
      { title: 'DONE', rank: 1, word: 'done' },
      { title: 'ORDERS', rank: 3, word: 'orders', isFigure: true },
      { title: 'FEES AT MOST', rank: 4, word: 'fees at most', isFigure: true },
      { title: 'TIME LEFT', rank: 5, word: 'time left' },
      { title: 'WHY', rank: 6, isProse: true },
    ],
    cells,
    width,
  )
}

function told({ flags, out }: Call, { statement }: CommandAnswer): number {
  out(flags.has('json') ? JSON.stringify({ statement }) : wrapped('', `${statement}.`).join('\n'))
  return exitCodes.ok
}

function isTasks(body: unknown): body is readonly Plain<TaskReport>[] {
  return (
    Array.isArray(body) && body.every((row) => typeof row === 'object' && row !== null && 'taskId' in row)
  )
}
