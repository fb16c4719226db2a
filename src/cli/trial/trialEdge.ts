/**
 * `protect.minEdgeBps` in a trial: entries are held to it with the fees of the trial's own fills as their only cost. What is denied here is
 * denied at a venue of the same fees whatever its impact, gas and rates are. Pure.
 */
import type { Protections } from '../../domain/limits/protection.ts'
import type { Denial, Intent } from '../../domain/order/intent.ts'
import { BPS_ONE, ONE_USD } from '../../protocol/units.ts'
import { checkEdge } from '../../risk/checks/edgeCheck.ts'
import { TRIAL_FEE_BPS } from './trialAccount.ts'

const feeFactor = (BigInt(TRIAL_FEE_BPS) * ONE_USD) / BigInt(BPS_ONE)
const fees = { impact: { value: { positionFeeFactors: { balancing: feeFactor, unbalancing: feeFactor } } } }

/** Why an entry of a trial is not worth its fees by the rules of its file; undefined: it is, or the file has no such rule. */
export function trialEdgeDenial(intent: Intent, protect: Protections | undefined): Denial | undefined {
  return protect && checkEdge(intent, protect, fees, undefined)
}
