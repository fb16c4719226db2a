/** The orders that rest now, by the journal's open intents, the newest list of the account's orders, and the newest marks. */
import type { HasCatalogue, HasMarks, HasTrading } from '../../account/accountParts.ts'
import { runningTaskOf } from '../../account/runningTasks.ts'
import { sideKeyOf } from '../../domain/accountRecords/accountRecord.ts'
import { type RestingRow, restingRows } from '../../domain/summaries/restingRow.ts'
import { hexKey, sameHex } from '../../protocol/address.ts'
import type { Order, Position } from '../../protocol/position.ts'
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
