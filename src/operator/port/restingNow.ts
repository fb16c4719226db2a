/** The orders that rest now, and notes on what is held, by the journal's open intents, the newest list of the account's orders, and the newest marks. */
import type { HasCatalogue, HasMarks, HasTrading } from '../../account/accountParts.ts'
import { runningTaskOf } from '../../account/runningTasks.ts'
import { UNATTRIBUTED } from '../../books/sideParts.ts'
import { sideKeyOf } from '../../domain/accountRecords/accountRecord.ts'
import { OPERATOR } from '../../domain/accountRecords/operatorName.ts'
import { type HeldFacts, type HeldRow, heldRows, type Owner } from '../../domain/summaries/heldRow.ts'
import { type RestingRow, restingRows } from '../../domain/summaries/restingRow.ts'
import type { TaskState } from '../../domain/taskStates/taskRecord.ts'
import type { HasJournal } from '../../execution/context/executionParts.ts'
import { hexKey, sameHex } from '../../protocol/address.ts'
import type { Order, Position } from '../../protocol/position.ts'
import { exitSideOf, isExecutor } from '../../tasks/taskRows.ts'
import type { LabelledIntent } from './engineStatus.ts'

/** Lists of one moment that rows are made of. */
export interface RestingLists {
  readonly open: readonly LabelledIntent[]
  /** Orders of other clients; undefined before the first look at the orders: none is shown. */
  readonly others: readonly Order[] | undefined
  readonly positions: readonly Position[]
  /** Market symbol by lower-cased market token. */
  readonly symbols: Readonly<Record<string, string>>
}

/** Returns the rows. A side that is held has the mark of its position, every other market that of the newest tickers. */
export function restingNow(
  { catalogue, marks, trading }: HasCatalogue & HasMarks & HasTrading,
  { open, others = [], positions, symbols }: RestingLists,
): readonly RestingRow[] {
  const bySide = new Map(positions.map((position) => [sideKeyOf(position), position]))
  const { markets, tokens } = catalogue.facts()
  const { tasks } = trading.accountJournal.state()
  return restingRows({
    open,
    others,
    heldUsd: (side) => bySide.get(sideKeyOf(side))?.sizeInUsd,
    markOf: ({ marketToken, direction }) =>
      positions.find((each) => each.direction === direction && sameHex(each.marketToken, marketToken))
        ?.markPrice ?? marks.of(marketToken),
    symbolOf: (marketToken) => symbols[hexKey(marketToken)] ?? markets.get(hexKey(marketToken))?.symbol,
    indexDecimals(marketToken) {
      const index = markets.get(hexKey(marketToken))?.indexToken
      return index === undefined ? undefined : tokens.get(hexKey(index))?.decimals
    },
    taskOf: (decisionKey) => runningTaskOf(tasks, decisionKey),
  })
}

/** Lists of one moment that the notes on positions are made of. */
export interface HeldLists {
  readonly positions: readonly Position[]
  readonly restingOrders: readonly RestingRow[]
  /** Undefined before the first look at the orders. */
  readonly withoutStop?: HeldFacts['withoutStop']
  readonly symbols: Readonly<Record<string, string>>
  readonly tasks: readonly TaskState[]
}

/** Returns the notes. Owners are the books with a part of the side, and running tasks that keep exits of it. */
export function heldNow(
  { catalogue, journal }: HasCatalogue & HasJournal,
  { positions, restingOrders, withoutStop, symbols, tasks }: HeldLists,
): readonly HeldRow[] {
  const { tokens } = catalogue.facts()
  const books = journal.books().all()
  return heldRows({
    ...{ positions, withoutStop, resting: restingOrders },
    symbolOf: ({ marketToken }) => symbols[hexKey(marketToken)],
    tokenOf: ({ collateralToken }) => tokens.get(hexKey(collateralToken)),
    ownersOf(side) {
      const key = sideKeyOf(side)
      const parts = books.filter((book) => book.sizeUsd > 0n && sideKeyOf(book) === key)
      const keeping = tasks.filter((task) => {
        const of =
          task.end === undefined && isExecutor(task) ? exitSideOf(task.taskKind, task.params) : undefined
        return of !== undefined && sideKeyOf(of) === key
      })
      return [
        ...parts.map(({ strategy }) => ownerOf(strategy)),
        ...keeping.map(({ taskId }): Owner => ({ kind: 'task', name: taskId })),
      ]
    },
  })
}

function ownerOf(strategy: string): Owner {
  if (strategy === UNATTRIBUTED) return { kind: 'others', name: '' }
  return { kind: strategy === OPERATOR ? 'hand' : 'instance', name: strategy }
}
