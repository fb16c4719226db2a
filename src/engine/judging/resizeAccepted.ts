/** Sizes an accepted increase anew, by everything that is read anew. */
import type { LookAtAccount } from '../../account/facts.ts'
import { defined } from '../../base/defined.ts'
import type { Denial, Intent } from '../../domain/order/intent.ts'
import type { Snapshot } from '../../domain/snapshot.ts'
import type { HasApi } from '../../execution/context/executionParts.ts'
import type { Usd } from '../../protocol/units.ts'
import { resizeIncrease } from '../../risk/resize.ts'
import type { Needs } from '../../strategy/strategy.ts'
import { exposuresOf } from './ownPart.ts'

/** Parts that it reads. */
export interface ResizeParts extends HasApi {
  readonly facts: LookAtAccount
  readonly read: (needs: Needs) => Promise<Snapshot>
}

/** Returns the size that it may have, at most `atMostUsd` less headroom, or the reason why there is none. Rejects as reading does. */
export async function resizeAccepted(
  { api, facts: factsOn, read }: ResizeParts,
  intent: Intent,
  atMostUsd: Usd,
): Promise<Usd | Denial> {
  const { symbol, direction } = intent.terms
  // An answer to a request from before the warning does not count: the snapshot then shares this one.
  await api.getTradingCapacity({ symbol, direction }, { isFresh: true })
  const snapshot = await read({ symbols: [symbol] })
  const facts = factsOn(snapshot, { name: intent.strategy })
  const unseen = facts.orders.unseen.filter((state) => state.intent.intentId !== intent.intentId)
  return resizeIncrease(intent, atMostUsd, {
    snapshot,
    limits: { ...facts.limits.on(symbol, intent.strategy), ...defined({ desk: facts.desk }) },
    ...exposuresOf({ ...facts, orders: { ...facts.orders, unseen } }, intent.strategy, snapshot),
    ...defined({ equity: facts.equity }),
  })
}
