/**
 * Proof that a look at the world gives about an attempt. The rule of which evidence counts stands here alone: with chain endpoints the chain alone
 * closes anything. Without them, hosts and own lists close what they positively show (docs/reference/evidence.md, "What closes an order").
 */
import type { Attempt, Child, Evidence, IntentState } from '../order/intent.ts'
import { apiDeath, apiEnd, apiLanding } from './apiEvidence.ts'
import {
  type ChainEnd,
  chainDeath,
  chainEnd,
  chainLanding,
  chainUnlanding,
  chainVoid,
} from './chainEvidence.ts'
import type { EvidenceRules, Landing, Observation } from './observation.ts'

/** A proof that the attempt can never land, or that its digest was used up by somebody else. */
export interface Loss {
  readonly kind: 'dead' | 'void'
  readonly evidence: Evidence
  /** The venue's last word, which decides between reverted, failed and expired. */
  readonly observedStatus?: string
}

/** The orders that the attempt created, or undefined while that is not shown. */
export function landingOf(
  state: IntentState,
  attempt: Attempt,
  observation: Observation,
  rules: EvidenceRules,
): Landing | undefined {
  const { chain, explained, atMs } = observation
  if (rules.source === 'api') return apiLanding(state, observation)
  return chain === undefined ? undefined : chainLanding(state, attempt, chain, explained, atMs)
}

/** Proof that a provisional landing was taken back, or undefined. */
export function unlandingOf(
  attempt: Attempt,
  landing: Landing | undefined,
  { chain, atMs }: Observation,
  rules: EvidenceRules,
): Evidence | undefined {
  return rules.source === 'api' || chain === undefined
    ? undefined
    : chainUnlanding(attempt, chain, landing, atMs)
}

/** Returns the present state of a created order, when that is shown; a known end is returned unchanged. */
export function endOf(
  state: IntentState,
  child: Child,
  observation: Observation,
  rules: EvidenceRules,
): ChainEnd | undefined {
  if (rules.source === 'api') return apiEnd(state, child, observation)
  return observation.chain === undefined ? undefined : chainEnd(child, observation.chain, observation.atMs)
}

/** Proof that the attempt will never create its orders, or undefined. */
export function lossOf(
  state: IntentState,
  attempt: Attempt,
  observation: Observation,
  rules: EvidenceRules,
): Loss | undefined {
  const { answer, chain, atMs } = observation
  if (rules.source === 'api') {
    const death = apiDeath(state, attempt, observation, rules)
    return death === undefined ? undefined : { kind: 'dead', ...death }
  }
  if (chain === undefined) return undefined
  // The word counts for the label alone: which of reverted, failed and expired the operator reads.
  const said = answer.kind === 'status' ? answer.status : undefined
  const foreign = chainVoid(chain, atMs)
  if (foreign !== undefined) return lossBy('void', foreign, said)
  const death = chainDeath(attempt, chain, atMs)
  return death === undefined ? undefined : lossBy('dead', death, said)
}

function lossBy(kind: Loss['kind'], evidence: Evidence, said: string | undefined): Loss {
  return said === undefined
    ? { kind, evidence }
    : { kind, evidence: { ...evidence, status: said }, observedStatus: said }
}
