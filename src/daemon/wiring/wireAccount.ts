/** Wires the account: what is known and watched of it, and how a snapshot is read. */
import { heldMarketsOf } from '../../account/holdings/priceWatch.ts'
import { createReachedTriggers } from '../../account/watch/reachedTriggers.ts'
import { createWatchedAccount } from '../../account/watch/watchedAccount.ts'
import { defined } from '../../base/defined.ts'
import type { Snapshot } from '../../domain/snapshot.ts'
import { readSnapshot } from '../../engine/snapshotReader.ts'
import { accountOf } from '../../execution/context/executionContext.ts'
import { windingDown } from '../../running/windDown.ts'
import type { Needs } from '../../strategy/strategy.ts'
import type { EngineBase } from './wireBase.ts'

/** The account, and the reading of its snapshots. */
export type EngineAccount = ReturnType<typeof wireAccount>

/** Wires the account over the base. */
export function wireAccount({
  parts,
  market,
  execution,
  context,
  isDeciding,
  before,
  startedAtMs,
}: EngineBase) {
  const { catalogue, limits, marks, openOrders, strategies } = context
  const account = createWatchedAccount({
    ...{ ...parts, catalogue, execution, limits, marks, openOrders, strategies },
    ...{ isDeciding, before, startedAtMs },
    windingDown: () => windingDown(parts),
  })
  const { feeds, holdings, prices } = account
  const lookAtReached = createReachedTriggers(openOrders)
  const owner = accountOf(execution)
  async function read(needs: Needs): Promise<Snapshot> {
    const { heldMarkets } = holdings
    const { maxMarketValuesAgeMs } = parts.engineSettings
    const snapshot = await readSnapshot(
      {
        ...{ ...market, clock: execution.clock, account: owner, heldMarkets, ...feeds },
        ...defined({ maxMarketValuesAgeMs }),
      },
      needs,
    )
    openOrders.sawOrders(snapshot.orders)
    lookAtReached(snapshot)
    await prices.look(heldMarketsOf(snapshot))
    return holdings.held(snapshot)
  }
  return { ...account, read }
}
