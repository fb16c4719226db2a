/**
 * Maintains at each turn what a running perpd maintains. These are the file's exits over the venue's positions and orders, resting entries that the
 * file withdraws, and exits whose position is gone. Pure.
 */
import { noPart } from '../../books/sideParts.ts'
import type { CancelDecision, Decision } from '../../domain/order/decision.ts'
import type { ExitPlan } from '../../domain/order/exitPlan.ts'
import type { IntentState } from '../../domain/order/intent.ts'
import { marketOf, type Snapshot } from '../../domain/snapshot.ts'
import { entryCancels } from '../../exits/entriesTakenBack.ts'
import { syncExits } from '../../exits/syncExits.ts'
import { exposureOf } from '../../risk/exposure/accountExposure.ts'
import type { Protection } from '../../risk/exposure/admissionContext.ts'
import { orphanCancels } from '../../risk/orphans.ts'
import { keptExitsNow } from '../../strategy/fileExits.ts'
import type { LoadedStrategy } from '../../strategy/files/load.ts'

/** Decisions that `exit:` and `protect:` of the file require now, in the order to take them. `states`: open intents of the trial. */
export function trialKept(
  { exits, strategy }: Pick<LoadedStrategy, 'exits' | 'strategy'>,
  protection: Protection | undefined,
  snapshot: Snapshot,
  states: readonly IntentState[],
): readonly Decision[] {
  if (!strategy.opensPositions) return []
  return [...exitsKept(exits, snapshot, states), ...entryCancels(protection, snapshot, states, snapshot.atMs)]
}

function exitsKept(
  exits: ExitPlan | undefined,
  snapshot: Snapshot,
  states: readonly IntentState[],
): readonly Decision[] {
  if (exits === undefined) return []
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
  return syncExits({
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
