/**
 * What a trial does for the exits of its file, at each turn as a running perpd does: the engine keeps them over what the trial's venue holds
 * and lists, and what has lost its position is cancelled. Pure.
 */
import { noPart } from '../../domain/books/sideParts.ts'
import type { CancelDecision, Decision } from '../../domain/order/decision.ts'
import type { IntentState } from '../../domain/order/intent.ts'
import { marketOf, type Snapshot } from '../../domain/snapshot.ts'
import { keepExits } from '../../engine/keepExits.ts'
import { exposureOf } from '../../risk/exposure/accountExposure.ts'
import { orphanCancels } from '../../risk/orphans.ts'
import { keptExitsNow } from '../../strategy/fileExits.ts'
import type { LoadedStrategy } from '../../strategy/files/load.ts'

/** What `exit:` of the file calls for now, in the order in which it is to be taken. `states`: open intents of the trial. */
export function trialExits(
  { exits, strategy }: Pick<LoadedStrategy, 'exits' | 'strategy'>,
  snapshot: Snapshot,
  states: readonly IntentState[],
): readonly Decision[] {
  if (exits === undefined || !strategy.opensPositions) return []
  // All that a trial holds is the file's own: a part is the whole position, and its size is what its tokens cost.
  const parts = snapshot.positions.value.map(
    ({ marketToken, direction, collateralToken, sizeInUsd, sizeInTokens, collateralAmount }) => ({
      ...noPart,
      marketToken,
      direction,
      collateralToken,
      sizeUsd: sizeInUsd,
      sizeInTokens,
      costUsd: sizeInUsd,
      collateral: collateralAmount,
    }),
  )
  return keepExits({
    exitsOn: (marketToken) => keptExitsNow(exits, marketOf(snapshot, marketToken), snapshot.atMs),
    snapshot,
    states,
    parts,
    // The venue's list says when a position was last added to, and nobody else adds to it.
    enteredMs: () => undefined,
    // A trial's venue loses no stop: only the kind itself takes one away, and what rests tells where the others are.
    nearestStop: () => undefined,
  })
}

/** The cancels of exits whose entry was cancelled or whose position is gone. */
export function trialOrphans(snapshot: Snapshot, states: readonly IntentState[]): readonly CancelDecision[] {
  return orphanCancels(snapshot, states, exposureOf(snapshot, states))
}
