/** Takes one decision: judges it by the facts of this moment, and hands it to execution. */

import type { Decision } from '../../domain/order/decision.ts'
import type { Denial, Intent } from '../../domain/order/intent.ts'
import type { Snapshot } from '../../domain/snapshot.ts'
import type { HasEmit } from '../../execution/context/executionParts.ts'
import { isDenial } from '../../risk/exposure/admissionContext.ts'
import type { Accept } from './accept.ts'
import { type DecisionSource, judge } from './judgeDecision.ts'

/**
 * Admits one decision and hands it to execution, or returns the denial. `beside` writes records that must be durable together with its acceptance.
 */
export async function admitDecision(
  accept: Accept,
  source: DecisionSource,
  snapshot: Snapshot,
  decision: Decision,
  decisionKey: string,
  beside?: () => Promise<void>,
): Promise<Denial | undefined> {
  const intent = judge(accept.facts(snapshot, source), { source, decision, decisionKey })
  if (isDenial(intent)) return intent
  tellAdmitted(accept, intent)
  if (await accept.accept(intent, beside)) return undefined
  return DUPLICATE
}

/** Denial of a decision that was accepted before. */
export const DUPLICATE: Denial = {
  code: 'DUPLICATE_DECISION',
  reason: 'this decision was accepted before; perpd does not accept it twice',
}

/** Reports an admitted intent, before it is handed to the road. */
export function tellAdmitted({ emit }: HasEmit, intent: Intent): void {
  emit({ type: 'decision.admitted', intent })
  const { sizing, terms } = intent
  if (sizing.contested !== undefined)
    emit({ type: 'price.contested', symbol: terms.symbol, contested: sizing.contested })
  if (sizing.priceSource === undefined) return
  const { priceSource: source, dataAgeMs: ageMs } = sizing
  emit({ type: 'price.fallback', symbol: terms.symbol, source, ageMs })
}
