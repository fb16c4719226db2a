/** Resting orders for `perpd orders`: by the running daemon, or by the journal alone where none answers. */

import { runningTaskOf } from '../../account/runningTasks.ts'
import { CommandError } from '../../config/exit.ts'
import { withJournal } from '../../daemon/journalFile.ts'
import { sideKeyOf } from '../../domain/accountRecords/accountRecord.ts'
import { listedOrders } from '../../domain/accountRecords/changedOrders.ts'
import { fillsOf } from '../../domain/accountRecords/fills.ts'
import { journalSides } from '../../domain/accountRecords/held.ts'
import { signedOrderAmong } from '../../domain/order/signedOrder.ts'
import { toPlain } from '../../domain/summaries/orderView.ts'
import { restingRows } from '../../domain/summaries/restingRow.ts'
import { hexKey } from '../../protocol/address.ts'
import type { Call } from '../call/command.ts'
import { queryStatus } from '../call/daemonClient.ts'
import type { PlainResting } from '../output/restingTable.ts'

/** Rows, and whether a daemon gave them: the journal alone knows no mark price and no order of another client. */
export interface RestingAnswer {
  readonly rows: readonly PlainResting[]
  readonly isOfDaemon: boolean
}

/** Reads the rows. `strategy`: only those of this owner. */
export async function readResting({ loaded }: Call, strategy?: string): Promise<RestingAnswer> {
  const told = await ofDaemon(loaded)
  const rows = told ?? (await ofJournal(loaded))
  return {
    rows: strategy === undefined ? rows : rows.filter(({ owner }) => owner === strategy),
    isOfDaemon: told !== undefined,
  }
}

async function ofDaemon(loaded: Call['loaded']): Promise<readonly PlainResting[] | undefined> {
  try {
    return (await queryStatus(loaded)).restingOrders
  } catch (error) {
    if (error instanceof CommandError) return undefined
    throw error
  }
}

async function ofJournal({ config }: Call['loaded']): Promise<readonly PlainResting[]> {
  return await withJournal(config, async (journal) => {
    const open = await journal.intents({ openOnly: true })
    if (open.length === 0) return []
    const account = await journal.account()
    const stories = await journal.intents()
    const sides = journalSides(stories.flatMap(fillsOf), account)
    const changed = listedOrders(account)
    const rows = restingRows({
      open: open.map((state) => ({
        state,
        signedOf: (orderKey) => signedOrderAmong(stories, state, orderKey),
        listedOf: (orderKey) => changed.get(hexKey(orderKey)),
      })),
      others: [],
      heldUsd: (side) => sides.get(sideKeyOf(side))?.sizeUsd,
      markOf: () => undefined,
      symbolOf: () => undefined,
      indexDecimals: () => undefined,
      taskOf: (decisionKey) => runningTaskOf(account.tasks, decisionKey),
    })
    return toPlain(rows)
  })
}
