/** What the operator set for a process: where evidence comes from, and how often is looked. A start may find it changed. */
import type { EvidenceRules } from '../../src/domain/machine/observation.ts'
import type { Endpoint } from './endpoints.ts'
import type { Random } from './random.ts'
import type { Mode } from './worldTypes.ts'

/** The settings of one process. */
export interface Settings {
  readonly mode: Mode
  readonly rules: EvidenceRules
  readonly endpoints: readonly Endpoint[]
  /** Slowest cadence of looks, ms. */
  readonly pollMaxMs: number
}

const endpointsOf: Readonly<Record<Mode, number>> = { 'chain-1': 1, 'chain-2': 2, api: 0, venue: 0 }

/** Settings of a mode; it has as many of the world's endpoints as it needs. */
export function settingsOf(mode: Mode, random: Random, all: readonly Endpoint[]): Settings {
  const count = endpointsOf[mode]
  return {
    mode,
    rules: {
      source: count > 0 ? 'chain' : 'api',
      trustVenue: mode === 'venue',
      deadlineMarginMs: 5_000,
    },
    endpoints: count === 1 && all.length > 1 ? [random.pick(all)] : all.slice(0, count),
    pollMaxMs: random.pick([5_000, 10_000, 20_000]),
  }
}

/** What the operator may turn to: endpoints are added and taken away; a venue of paper stays one. */
export function otherMode(random: Random): Mode {
  return random.pick(['chain-1', 'chain-2', 'api'] as const)
}
