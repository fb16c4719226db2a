/** Returns a task's share of a side, and the precedence among tasks of one owner. Pure except for its reads. */

import type { BookReads } from '../books/books.ts'
import { UNATTRIBUTED } from '../books/sideParts.ts'
import { type PositionSide, sideKeyOf } from '../domain/accountRecords/accountRecord.ts'
import type { Booked } from '../tasks/executorView.ts'
import { type ExecutorTask, exitSideOf } from '../tasks/taskRows.ts'

/** Returns the owner's and others' parts of a side by the books. */
export function bookedBy(books: BookReads, owner: string, side: PositionSide): Booked {
  const key = sideKeyOf(side)
  const othersUsd = books
    .all()
    .filter((book) => book.strategy !== owner && book.strategy !== UNATTRIBUTED && sideKeyOf(book) === key)
    .reduce((sum, { sizeUsd }) => sum + sizeUsd, 0n)
  return { ownUsd: books.heldBy(owner, side), othersUsd }
}

/** Those of the running tasks of the same owner that keep exits on the same side and began before a task; none where it keeps no exits. */
export function olderOnSide(running: readonly ExecutorTask[], taskId: string): readonly ExecutorTask[] {
  const own = running.find((task) => task.taskId === taskId)
  const key = own === undefined ? undefined : exitKeyOf(own)
  if (own === undefined || key === undefined) return []
  return running.filter(
    (task) => task.params.owner === own.params.owner && isOlder(task, own) && exitKeyOf(task) === key,
  )
}

function exitKeyOf({ taskKind, params }: ExecutorTask): string | undefined {
  const side = exitSideOf(taskKind, params)
  return side === undefined ? undefined : sideKeyOf(side)
}

function isOlder(one: ExecutorTask, other: ExecutorTask): boolean {
  if (one.sinceMs !== other.sinceMs) return one.sinceMs < other.sinceMs
  return one.taskId < other.taskId
}
