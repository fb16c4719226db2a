/** The lanes that a whole close may take: one with our own deadline comes first, because its unknowns are proven in minutes. */

import { madeOnce } from '../../base/madeOnce.ts'
import { type IntentState, lastAttempt } from '../../domain/order/intent.ts'
import { describeLane, type LaneName, laneNames } from '../../domain/order/laneTable.ts'
import type { HasJournal, HasRules } from '../../execution/context/executionParts.ts'
import type { HasEngineSettings } from '../accountParts.ts'

/** A lane that refused a message is not preferred for this long, ms. */
const REFUSED_MS = 3_600_000
/** Newest intents among which refusals of a lane are looked for. */
const intentsRead = 40

/**
 * Returns the lanes in the order in which a whole close prefers them. Without chain endpoints only the account's lane: there, a lane with our own
 * deadline has no name by which a lost answer could be queried.
 */
export function closeLanesOf(
  {
    rules,
    journal,
    engineSettings,
  }: HasEngineSettings &
    HasRules & {
      readonly journal: HasJournal['journal']
    },
  nowMs: number,
): readonly LaneName[] {
  const { lane: own } = engineSettings
  if (rules.source !== 'chain') return [own]
  const refused = refusedIn(journal.recentIntents({ limit: intentsRead }))
  const usable = laneNames.filter((name) => name === own || !refused.some(refusedBy(name, nowMs)))
  return usable.toSorted((one, other) => rankOf(one) - rankOf(other))
}

/** Intents whose newest message was refused; made once for a list: each decision asks. */
const refusedIn = madeOnce((states: readonly IntentState[]) =>
  states.filter((state) => lastAttempt(state)?.send?.result === 'refused'),
)

function rankOf(lane: LaneName): number {
  return describeLane(lane).signsOwnDeadline ? 0 : 1
}

/** Judges whether a refused message was of that lane and lately: the host may not serve the lane at all. */
function refusedBy(lane: LaneName, nowMs: number): (state: IntentState) => boolean {
  return (state) => {
    const attempt = lastAttempt(state)
    return attempt?.lane === lane && Math.abs(nowMs - state.intent.acceptedAtMs) < REFUSED_MS
  }
}
